//! Asking a directory for agents.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::task::TIMEOUT_MS;
use super::{Ended, Run, Work, fault};
use crate::directory::listing::{HELP, Listing};
use crate::directory::lookups::Asker;
use crate::directory::{BadCursor, Question};
use crate::exchange::{Plan, Reply, Report};
use crate::io::{Deadline, ExchangeId, Headers, LookupId, Method, Output, Reason};
use crate::json::{self, Array, Fault, Json, Kind, Members, Object, Raw};
use crate::list::gather;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::redirect;
use crate::registry::Credentials;
use crate::text;
use crate::time::Instant;
use crate::url::Url;

/// Names under which directories list their cards.
const LISTS: [&str; 4] = ["cards", "agents", "items", "data"];
/// Names under which directories name the next page.
const TOKENS: [&str; 6] = ["next_token", "next_cursor", "nextToken", "nextCursor", "nextPageToken", "next_page_token"];

/// A discover_agents.
#[derive(Debug)]
pub struct AskDirectory {
    /// absent where it is the directory of this gateway
    url: Option<Url>,
    help: bool,
    cursor: Option<String>,
    exchange: Option<ExchangeId>,
    lookup: Option<LookupId>,
    until: Instant,
}

impl AskDirectory {
    /// Asks for the page of a cursor, or the first one. `url` has its query; `registered` is the directory as it was given.
    ///
    /// # Errors
    /// Where the directory's address is not called.
    pub fn start(
        run: &mut Run<'_>,
        registered: Url,
        url: Url,
        credentials: Option<Credentials>,
        help: bool,
        cursor: Option<String>,
    ) -> Result<Started, ToolError> {
        let plan = Plan {
            method: Method::Get,
            url,
            headers: alloc::vec![("Accept".to_string(), "application/json".to_string())],
            body: None,
            credentials,
            registered: registered.clone(),
            by_public: false,
            want: run.reply(),
        };
        let until = run.ground.now.plus_ms(TIMEOUT_MS);
        let label = label(&registered);
        let exchange = run.start(plan).map_err(|failure| fault::failure(run, &label, &failure))?;
        let work = Self { url: Some(registered), help, cursor, exchange: Some(exchange), lookup: None, until };
        Ok(Started::Running(Box::new(Work::Directory(work))))
    }

    /// Asks the directory of this gateway, or of its host.
    ///
    /// # Errors
    /// A cursor that it did not give for that filter.
    pub fn built_in(run: &mut Run<'_>, question: Question, help: bool) -> Result<Started, BadCursor> {
        if help {
            let help = Json::trusted(HELP.to_string());
            return Ok(Started::Done(help_result(Some(help.raw()))));
        }
        let Some(store) = run.ground.config.directory.store else {
            return run.ground.directory.page(&question).map(|listing| Started::Done(listed(&listing)));
        };
        let lookup = run.ground.lookups.begin(store, Asker::Call(run.caller.call), question)?;
        let until = run.ground.now.plus_ms(TIMEOUT_MS);
        let work = Self { url: None, help, cursor: None, exchange: None, lookup: Some(lookup.lookup), until };
        run.ground.outputs.push_back(Output::Lookup(lookup));
        Ok(Started::Running(Box::new(Work::Directory(work))))
    }

    /// Takes in what the host found, or whether the cursor was at fault and why nothing was found.
    pub fn found(&mut self, lookup: LookupId, found: Result<Listing, (bool, String)>) -> Option<Ended> {
        if self.lookup != Some(lookup) {
            return None;
        }
        self.lookup = None;
        Some(match found {
            Ok(listing) => Ok(listed(&listing)),
            Err((true, detail)) => Err(ToolError::new(Code::InvalidArgument, format!("`cursor`: {detail}"))),
            Err((false, detail)) => Err(ToolError::new(Code::Unreachable, format!("{}: {detail}", self.label()))),
        })
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        if self.exchange != Some(exchange) {
            return None;
        }
        self.exchange = None;
        Some(match report {
            Report::Reply(reply) if (200..300).contains(&reply.status) => self.page(&reply, run.ground.config.limits.depth()),
            Report::Reply(reply) => {
                let problem = crate::a2a::Fault::of_status(reply.status, &fault::clean(run, &reply.body));
                Err(fault::answer(&self.label(), &problem, " (it wants credentials: give them as headers of this call)"))
            }
            Report::Failed(failure) => Err(fault::failure(run, &self.label(), &failure)),
            Report::Event(_) | Report::Closed(_) => return None,
        })
    }

    fn page(&self, reply: &Reply, depth: u32) -> Ended {
        let unreadable = |why: &str| {
            let message = format!("the {} does not answer with a list of agent cards: {why}", self.label());
            ToolError::new(Code::ProtocolError, message)
        };
        let text = String::from_utf8_lossy(&reply.body);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // One card that nests too deep loses itself alone: each is looked at once more, by itself.
        let is_deep = json::parse(text, depth) == Err(Fault::Depth);
        let raw = json::parse(text, if is_deep { u32::MAX } else { depth }).map_err(|_| unreadable("it is no JSON"))?;
        let (cards, next, help) = match json::kind(raw) {
            Kind::Array => (json::elements(raw).unwrap_or_default(), Ok(None), None),
            Kind::Null => (Vec::new(), Ok(None), None),
            Kind::Object => {
                let members = json::members(raw).unwrap_or_default();
                let help = members.get("help").filter(|_| self.help);
                let list = LISTS.iter().find_map(|name| members.get(name)).map(json::elements);
                let cards = match list {
                    Some(Some(cards)) => cards,
                    None if help.is_some() => Vec::new(),
                    Some(None) | None => return Err(unreadable("none of cards, agents, items and data is a list")),
                };
                (cards, token_of(&members), help)
            }
            Kind::Boolean | Kind::Number | Kind::String => return Err(unreadable("it is neither a list nor an object")),
        };
        if self.help {
            return match help {
                Some(raw) if is_deep && json::parse(raw.get(), depth).is_err() => Err(ToolError::new(
                    Code::TooLarge,
                    format!("the help of the {} nests deeper than json_depth allows", self.label()),
                )),
                help => Ok(help_result(help)),
            };
        }
        let next = match next {
            Ok(None) => linked(&reply.headers, &reply.url, self.url.as_ref().unwrap_or(&reply.url)),
            next => next,
        };
        // Whoever followed it would be given the same page for ever.
        let next = match next {
            Ok(Some(token)) if self.cursor.as_ref() == Some(&token) => {
                Err("the next page has the cursor that this one was asked for with".to_string())
            }
            next => next,
        };
        // Around it stand the list and the object.
        Ok(cards_result(&cards, next, if is_deep { depth.saturating_sub(2) } else { u32::MAX }))
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        self.stop(run);
        Some(Err(ToolError::new(Code::Timeout, format!("the {} did not answer in 30s", self.label()))))
    }

    /// When the time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    fn label(&self) -> String {
        self.url.as_ref().map_or_else(|| String::from("directory of this gateway"), label)
    }

    /// Stops.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
        if let Some(lookup) = self.lookup.take() {
            run.ground.lookups.forget(lookup);
        }
    }
}

fn label(url: &Url) -> String {
    format!("directory {}", url.as_str())
}

/// The answer with a page of this gateway's own directory.
fn listed(listing: &Listing) -> ToolResult {
    cards_result(&json::elements(listing.cards.raw()).unwrap_or_default(), Ok(listing.next.clone()), u32::MAX)
}

/// The token of the next page, which may be empty.
///
/// # Errors
/// Why it cannot be asked for.
fn token_of(members: &Members<'_>) -> Result<Option<String>, String> {
    let Some((name, raw)) = TOKENS.iter().find_map(|name| Some((name, members.get(name)?))) else { return Ok(None) };
    json::string(raw).map(Some).ok_or_else(|| format!("{name} is {}, not a string", json::kind(raw).name()))
}

/// The next page of the `Link` fields (RFC 8288 §3): its cursor where the URL has nothing else, or the whole URL.
///
/// # Errors
/// A page on another origin than the directory, of which a call with this directory's address is not to ask.
fn linked(headers: &Headers, from: &Url, registered: &Url) -> Result<Option<String>, String> {
    for (_, line) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link")) {
        let mut rest = line.as_str();
        while let Some((target, after)) = rest.split_once('<').and_then(|(_, link)| link.split_once('>')) {
            let (mut parameters, after) = cut(after, b',');
            rest = after;
            while !parameters.is_empty() {
                let (parameter, more) = cut(parameters, b';');
                parameters = more;
                let (name, value) = parameter.split_once('=').unwrap_or_default();
                let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
                if name.trim().eq_ignore_ascii_case("rel") && relations.any(|known| known.eq_ignore_ascii_case("next")) {
                    let Ok(url) = from.join(target) else { return Ok(None) };
                    let url = redirect::on_https(url, registered);
                    let is_plain = url.origin() == from.origin() && url.path() == from.path();
                    let is_plain = is_plain && url.query().is_some_and(|query| !text::holds(query, "&"));
                    return match url.query_value("cursor").filter(|_| is_plain) {
                        Some(cursor) => Ok(Some(cursor)),
                        None if url.origin() == registered.origin() => Ok(Some(url.as_str().to_string())),
                        None => Err(format!("it is {}, which is another directory_url", url.as_str())),
                    };
                }
            }
        }
    }
    Ok(None)
}

/// What stands before a mark outside of quotes, and what stands after it (RFC 9110 §5.6.4).
fn cut(text: &str, mark: u8) -> (&str, &str) {
    let (mut quoted, mut escaped) = (false, false);
    let at = text.bytes().position(|byte| {
        let plain = !core::mem::take(&mut escaped);
        escaped = quoted && plain && byte == b'\\';
        quoted ^= plain && byte == b'"';
        !quoted && byte == mark
    });
    at.map_or((text, ""), |at| (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()))
}

/// Help as an object: a text alone becomes its description, anything else is none.
fn help_result(help: Option<Raw<'_>>) -> ToolResult {
    let mut out = Object::new();
    let text = match help.map(|help| (json::kind(help), help)) {
        Some((Kind::Object, help)) => {
            out.json("help", &Json::from_raw(help));
            let members = json::members(help).unwrap_or_default();
            let line = |name: &str| members.string(name).map(|text| format!("{name}: {text}"));
            let lines = gather(["description", "syntax"].into_iter().filter_map(line));
            if lines.is_empty() { help.get().to_string() } else { text::joined(&lines, "\n") }
        }
        Some((Kind::String, help)) => {
            let mut described = Object::new();
            described.json("description", &Json::from_raw(help));
            out.nested("help", described);
            json::string(help).unwrap_or_default()
        }
        Some((Kind::Null | Kind::Boolean | Kind::Number | Kind::Array, _)) | None => {
            out.nested("agents", Array::new());
            "The directory offers no help.".to_string()
        }
    };
    ToolResult::new(text, out)
}

/// How many entries that cannot be read are told by their place; of the others there is the number.
const PROBLEMS: u64 = 100;

fn cards_result(cards: &[Raw<'_>], next: Result<Option<String>, String>, depth: u32) -> ToolResult {
    let (mut agents, mut problems, mut lines) = (Array::new(), Array::new(), Vec::new());
    let (mut refused, mut places) = (0_u64, Vec::new());
    for (index, card) in (0_u64..).zip(cards) {
        let members = json::members(*card).unwrap_or_default();
        let is_deep = depth < u32::MAX && json::parse(card.get(), depth).is_err();
        match members.string("name").filter(|name| !is_deep && !name.trim().is_empty()) {
            Some(name) => {
                agents.json(&Json::from_raw(*card));
                let description = members.string("description").unwrap_or_default();
                let url = members.string("url").or_else(|| {
                    let first = json::elements(members.get("supportedInterfaces")?)?.into_iter().next()?;
                    json::members(first)?.string("url")
                });
                let mut line = format!("{name} ({}): {description}", url.as_deref().unwrap_or("no URL"));
                let skills = crate::a2a::skills(&members);
                if !skills.is_empty() {
                    line = format!("{line} Skills: {}.", text::joined(&skills, ", "));
                }
                lines.push(line);
            }
            None => {
                refused += 1;
                if refused <= PROBLEMS {
                    let mut problem = Object::new();
                    places.push(index.to_string());
                    let why = if is_deep { "it nests deeper than json_depth allows" } else { "it is no object with a name" };
                    problem.integer("index", index).string("why", why);
                    problems.nested(problem);
                }
            }
        }
    }
    if refused > 0 {
        lines.push(format!("{refused} entries could not be read, among them: {}.", text::joined(&places, ", ")));
    }
    let mut out = Object::new();
    out.nested("agents", agents);
    match &next {
        Ok(None) => {}
        Ok(Some(token)) => {
            out.string("next_token", token);
            lines.push(format!("There is more: call again with the same arguments and cursor {}", Json::string(token).as_str()));
        }
        Err(why) => {
            let mut problem = Object::new();
            problem.string("why", why);
            problems.nested(problem);
            lines.push(format!("There may be more, which cannot be asked for: {why}."));
        }
    }
    if refused > 0 || next.is_err() {
        out.nested("problems", problems);
    }
    let text = if lines.is_empty() { "The directory lists no agents for that.".to_string() } else { text::joined(&lines, "\n") };
    ToolResult::new(text, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_in_whatever_grammar_allows() {
        let from = Url::parse("https://dir.test/agents?x").unwrap();
        let next = |lines: &[&str]| {
            let headers: Headers = lines.iter().map(|line| ("link".to_string(), line.to_string())).collect();
            linked(&headers, &from, &from).unwrap_or_else(Some)
        };
        for lines in [
            &["<?cursor=3>; rel=next"][..],
            &["<?a>; rel=prev", "<?cursor=3>; rel=next"],
            &["<?a>; rel=prev; title=\"x, <y>; rel=next\", <?cursor=3>; title=\"a, \\\"b\"; Rel=\"foo NEXT\""],
            &["<?cursor=3> ; rel = \"next\""],
            &[", ,<?cursor=3>;;rel=next;"],
        ] {
            assert_eq!(next(lines).as_deref(), Some("3"), "{lines:?}");
        }
        for (target, whole) in [
            ("?page=2", "https://dir.test/agents?page=2"),
            ("?filter=f&cursor=3", "https://dir.test/agents?filter=f&cursor=3"),
            ("/more?cursor=3", "https://dir.test/more?cursor=3"),
            ("http://dir.test/agents?page=2", "https://dir.test/agents?page=2"),
            ("https://other.test/agents?cursor=3", "it is https://other.test/agents?cursor=3, which is another directory_url"),
            ("http://other.test/", "it is http://other.test/, which is another directory_url"),
        ] {
            assert_eq!(next(&[format!("<{target}>; rel=next").as_str()]).as_deref(), Some(whole));
        }
        for lines in
            [&["<?cursor=3>; rel=nextish"][..], &["<?cursor=3>; title=\"rel=next\""], &["<?cursor=3"], &[], &["rel=next"]]
        {
            assert_eq!(next(lines), None, "{lines:?}");
        }
    }
}
