//! The JSON form of inputs, read.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use super::{
    AuthorizeEvent, Cause, DirectoryInput, ExchangeId, Headers, Input, LinkEvent, LinkId, LookupId, Misuse, PeerId, PinsInput,
    RequestId, WorkId,
};
use crate::base64;
use crate::config::Config;
use crate::json::{self, Members, Raw};

/// The largest integer that JavaScript holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Nesting of an input: an object with a configuration.
const DEPTH: u32 = 20;

/// Reads an input from its JSON form.
///
/// # Errors
/// [`Misuse::Unreadable`] or [`Misuse::OutOfRange`], naming the member.
pub fn read_input(text: &str) -> Result<Input, Misuse> {
    let members = json::parse(text, DEPTH).ok().and_then(json::members).ok_or(Misuse::Unreadable("input"))?;
    let reader = Reader { members, fault: Cell::new(None) };
    let input = match reader.text("type").as_str() {
        "open" => Input::Open { peer: reader.peer(), scope: reader.text("scope") },
        "message" => Input::Message { peer: reader.peer(), text: reader.text("text") },
        "message_too_long" => Input::MessageTooLong {
            peer: reader.peer(),
            start: reader.text("start"),
            end: reader.text("end"),
            bytes: reader.number("bytes"),
        },
        "closed" => Input::Closed { peer: reader.peer() },
        "head" => Input::Head { exchange: reader.exchange(), status: reader.status(), headers: reader.headers() },
        "body" => Input::Body { exchange: reader.exchange(), bytes: reader.bytes() },
        "end" => Input::End { exchange: reader.exchange() },
        "failed" => Input::Failed {
            exchange: reader.exchange(),
            cause: reader.cause(),
            detail: reader.members.string("detail").unwrap_or_default(),
        },
        "request" => Input::Request {
            request: reader.request(),
            method: reader.text("method"),
            target: reader.text("target"),
            headers: reader.headers(),
        },
        "request_body" => Input::RequestBody { request: reader.request(), bytes: reader.bytes() },
        "request_end" => Input::RequestEnd { request: reader.request() },
        "request_gone" => Input::RequestGone { request: reader.request() },
        "update" => Input::Update { work: reader.work(), text: reader.text("text") },
        "work_end" => Input::WorkEnd { work: reader.work() },
        "work_failed" => Input::WorkFailed { work: reader.work(), detail: reader.members.string("detail").unwrap_or_default() },
        "decision" => Input::Decision {
            approval: reader.text("approval"),
            approved: reader.found(reader.members.get("approved").and_then(json::boolean), Misuse::Unreadable("approved")),
            reason: reader.members.string("reason"),
        },
        "configure" => {
            let config = reader.members.get("config").ok_or(Misuse::Unreadable("config"))?;
            Input::Configure { config: Config::from_json(config.get()).map_err(Misuse::Config)?.into() }
        }
        "stop" => Input::Stop,
        "tick" => Input::Tick,
        other => of_servers(&reader, other)?,
    };
    reader.fault.take().map_or(Ok(input), Err)
}

/// What is about the servers behind the gateway, the pins of their tools, and the directory.
fn of_servers(reader: &Reader<'_>, kind: &str) -> Result<Input, Misuse> {
    Ok(match kind {
        "link_opened" => reader.link(LinkEvent::Opened),
        "link_line" => reader.link(LinkEvent::Line(reader.text("text"))),
        "link_line_too_long" => reader.link(LinkEvent::LineTooLong {
            start: reader.text("start"),
            end: reader.text("end"),
            bytes: reader.number("bytes"),
        }),
        "link_stderr" => reader.link(LinkEvent::Stderr(reader.text("text"))),
        "link_closed" => reader.link(LinkEvent::Closed(reader.members.string("detail").unwrap_or_default())),
        "log_in" => reader.authorize(AuthorizeEvent::LogIn { redirect_uri: reader.text("redirect_uri") }),
        "came_back" => reader.authorize(AuthorizeEvent::CameBack { query: reader.text("query") }),
        "tokens" => reader.authorize(AuthorizeEvent::Tokens { record: reader.members.string("record") }),
        "register" => Input::Directory(DirectoryInput::Register { card: reader.text("card") }),
        "unregister" => Input::Directory(DirectoryInput::Unregister { name: reader.text("name") }),
        "found" => Input::Directory(DirectoryInput::Found { lookup: reader.lookup(), text: reader.text("text") }),
        "lookup_failed" => Input::Directory(DirectoryInput::Failed {
            lookup: reader.lookup(),
            bad_cursor: reader.members.get("bad_cursor").and_then(json::boolean).unwrap_or_default(),
            detail: reader.members.string("detail").unwrap_or_default(),
        }),
        "pinned" => {
            let pieces = reader.members.get("pieces").and_then(json::strings);
            Input::Pins(PinsInput::Pinned { pieces: reader.found(pieces, Misuse::Unreadable("pieces")) })
        }
        "accept" => Input::Pins(PinsInput::Accept {
            server: reader.text("server"),
            tool: reader.text("tool"),
            digest: reader.text("digest"),
        }),
        _ => return Err(Misuse::Unreadable("type")),
    })
}

/// The members of an input. The first that cannot be read is told at the end: a way out at each would be most of the code.
struct Reader<'a> {
    members: Members<'a>,
    fault: Cell<Option<Misuse>>,
}

impl Reader<'_> {
    fn found<T: Default>(&self, value: Option<T>, fault: Misuse) -> T {
        value.unwrap_or_else(|| {
            self.fault.set(self.fault.take().or(Some(fault)));
            T::default()
        })
    }

    fn text(&self, name: &'static str) -> String {
        self.found(self.members.string(name), Misuse::Unreadable(name))
    }

    fn number(&self, name: &'static str) -> u64 {
        let value = self.members.get(name).and_then(|raw| json::integer(raw.get()));
        let value = self.found(value, Misuse::Unreadable(name));
        self.found(u64::try_from(value).ok().filter(|value| *value <= MAX_SAFE_INTEGER), Misuse::OutOfRange(name))
    }

    fn lookup(&self) -> LookupId {
        LookupId(self.number("lookup"))
    }

    fn peer(&self) -> PeerId {
        PeerId(self.number("peer"))
    }

    fn exchange(&self) -> ExchangeId {
        ExchangeId(self.number("exchange"))
    }

    fn request(&self) -> RequestId {
        RequestId(self.number("request"))
    }

    fn work(&self) -> WorkId {
        WorkId(self.number("work"))
    }

    fn link(&self, event: LinkEvent) -> Input {
        Input::Link { link: LinkId(self.number("link")), event }
    }

    fn authorize(&self, event: AuthorizeEvent) -> Input {
        Input::Authorize { server: self.text("server"), event }
    }

    fn status(&self) -> u16 {
        self.found(u16::try_from(self.number("status")).ok(), Misuse::OutOfRange("status"))
    }

    fn cause(&self) -> Cause {
        let name = self.text("cause");
        let cause = Cause::NAMES.iter().find(|(_, known)| *known == name).map(|(cause, _)| Some(*cause));
        self.found(cause, Misuse::Unreadable("cause")).unwrap_or(Cause::Other)
    }

    fn bytes(&self) -> Vec<u8> {
        match self.members.string("text") {
            Some(text) => text.into_bytes(),
            None => self.found(base64::decode(&self.text("base64")), Misuse::Unreadable("base64")),
        }
    }

    fn headers(&self) -> Headers {
        self.found(self.members.get("headers").and_then(pairs), Misuse::Unreadable("headers"))
    }
}

fn pairs(raw: Raw<'_>) -> Option<Headers> {
    let mut list = Headers::new();
    for pair in json::elements(raw)? {
        let mut texts = json::strings(pair)?.into_iter();
        let (Some(name), Some(value), None) = (texts.next(), texts.next(), texts.next()) else { return None };
        list.push((name, value));
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_survives_its_json_form() {
        let link = |event| Input::Link { link: LinkId(6), event };
        let authorize = |event| Input::Authorize { server: "s".into(), event };
        let inputs = [
            Input::Open { peer: PeerId(1), scope: "stdio".into() },
            Input::Message { peer: PeerId(1), text: "{\"id\":\"\\u2028\"}\u{2028}".into() },
            Input::MessageTooLong { peer: PeerId(MAX_SAFE_INTEGER), start: "{".into(), end: "}".into(), bytes: 40_000_000 },
            Input::Closed { peer: PeerId(0) },
            Input::Head { exchange: ExchangeId(3), status: 200, headers: alloc::vec![("A".into(), "b".into())] },
            Input::Body { exchange: ExchangeId(3), bytes: b"data: x\n\n".to_vec() },
            Input::Body { exchange: ExchangeId(3), bytes: alloc::vec![0xff, 0, 1] },
            Input::End { exchange: ExchangeId(3) },
            Input::Failed { exchange: ExchangeId(3), cause: Cause::Tls, detail: "expired".into() },
            Input::Request {
                request: RequestId(4),
                method: "POST".into(),
                target: "/mcp?x=1".into(),
                headers: alloc::vec![("Host".into(), "localhost".into())],
            },
            Input::RequestBody { request: RequestId(4), bytes: b"{}".to_vec() },
            Input::RequestEnd { request: RequestId(4) },
            Input::RequestGone { request: RequestId(4) },
            Input::Update { work: WorkId(5), text: r#"{"message":{}}"#.into() },
            Input::WorkEnd { work: WorkId(5) },
            Input::WorkFailed { work: WorkId(5), detail: "the oven broke".into() },
            link(LinkEvent::Opened),
            link(LinkEvent::Line("{\u{2028}}".into())),
            link(LinkEvent::LineTooLong { start: "{".into(), end: "}".into(), bytes: 20_000_000 }),
            link(LinkEvent::Stderr("oops\nagain".into())),
            link(LinkEvent::Closed("exit code 1".into())),
            authorize(AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:1/x".into() }),
            authorize(AuthorizeEvent::CameBack { query: "code=a&state=b".into() }),
            authorize(AuthorizeEvent::Tokens { record: Some("{}".into()) }),
            authorize(AuthorizeEvent::Tokens { record: None }),
            Input::Directory(DirectoryInput::Register { card: r#"{"name":"a"}"#.into() }),
            Input::Directory(DirectoryInput::Unregister { name: "a".into() }),
            Input::Directory(DirectoryInput::Found { lookup: LookupId(6), text: "[]".into() }),
            Input::Directory(DirectoryInput::Failed { lookup: LookupId(6), bad_cursor: true, detail: "no".into() }),
            Input::Pins(PinsInput::Pinned { pieces: alloc::vec!["{}".into()] }),
            Input::Pins(PinsInput::Accept { server: "s".into(), tool: "t".into(), digest: "d".into() }),
            Input::Decision { approval: "a".into(), approved: true, reason: Some("fine".into()) },
            Input::Decision { approval: "a".into(), approved: false, reason: None },
            Input::Configure { config: Config { name: "other".into(), ..Config::default() }.into() },
            Input::Stop,
            Input::Tick,
        ];
        for input in inputs {
            assert_eq!(read_input(input.to_json().as_str()), Ok(input));
        }
    }

    #[test]
    fn faults_name_the_member() {
        assert_eq!(read_input("{}"), Err(Misuse::Unreadable("type")));
        assert_eq!(read_input(r#"{"type":"closed","peer":9007199254740992}"#), Err(Misuse::OutOfRange("peer")));
        let Err(Misuse::Config(faults)) = read_input(r#"{"type":"configure","config":{"nmae":"x","history":{"depht":1}}}"#)
        else {
            panic!("faults")
        };
        assert_eq!(faults.0.len(), 2);
        assert_eq!(read_input(r#"{"type":"configure"}"#), Err(Misuse::Unreadable("config")));
        assert_eq!(read_input(r#"{"type":"closed","peer":1.5}"#), Err(Misuse::Unreadable("peer")));
        assert_eq!(read_input(r#"{"type":"head","exchange":1,"status":70000,"headers":[]}"#), Err(Misuse::OutOfRange("status")));
    }
}
