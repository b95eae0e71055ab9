//! The trace: every input and output as one JSON line, which replays. Secrets are placeholders.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::config::Config;
use crate::gateway::Genesis;
use crate::io::{AuthorizeEvent, ExchangeId, Headers, Input, Misuse, Output, RequestId};
use crate::json::{self, Json, Object, Raw};
use crate::oauth;
use crate::redact::{Secrets, at_end};
use crate::scope::Scope;
use crate::table::Table;
use crate::text;
use crate::time::Instant;

/// Nesting of a message that is looked into.
const DEPTH: u32 = 128;

/// Fields of incoming requests that hold a credential. The name of a session is none: it comes from the seed, which the
/// trace begins with.
const CREDENTIALS: [&str; 3] = ["Authorization", "Cookie", "Proxy-Authorization"];

/// The lines that were not fetched yet.
#[derive(Debug)]
pub struct Trace {
    on: bool,
    birth: Option<String>,
    lines: VecDeque<String>,
    secrets: Secrets,
    /// bodies that come in
    held: Table<ExchangeId, Held>,
    /// incoming bodies that are not complete
    bodies: Table<RequestId, Vec<u8>>,
    /// the latest moment so far
    now: Instant,
}

/// What a body that comes in has told.
#[derive(Debug)]
struct Held {
    /// its end, which may be the beginning of a secret
    bytes: Vec<u8>,
    /// when it was told last that something of it came
    told: Instant,
}

/// An input that waits for its outcome.
#[derive(Debug)]
pub enum Kept {
    /// bytes of a body
    Body(ExchangeId, Vec<u8>),
    /// bytes of a body whose secrets are known when it was read
    Secret(ExchangeId, Vec<u8>),
    /// the head of an incoming request
    Request(RequestId, Json),
    /// bytes of an incoming body
    RequestBody(RequestId, Vec<u8>),
    /// the end of a request, and whether its body was complete
    RequestDone(RequestId, bool, Json),
    /// another input in its JSON form, and the exchange that it is about
    Whole(Option<ExchangeId>, Json),
}

fn learn_config(config: &Config, secrets: &mut Secrets) {
    let mut known = Secrets::new();
    for (name, value) in config.external_agents.iter().flat_map(|agent| &agent.headers) {
        known.learn(name, value);
    }
    config.server.tokens.iter().for_each(|token| known.add(&token.token));
    config.mcp_servers.iter().for_each(|server| server.teach(&mut known));
    known.iter().for_each(|secret| secrets.add_related(secret));
}

impl Trace {
    /// The trace of a new machine, off.
    #[must_use]
    pub fn new(genesis: &Genesis, config: &Config) -> Self {
        let mut secrets = Secrets::new();
        learn_config(config, &mut secrets);
        let seed = genesis.seed.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut born = Object::new();
        born.string("seed", &seed).integer("now", genesis.now.as_ms()).integer("unix_ms", genesis.unix_ms.0);
        let mut line = Object::new();
        line.nested("genesis", born).json("config", &config.to_json());
        let birth = Some(secrets.placeholders_json(line.finish()).into_string());
        Self { on: false, birth, lines: VecDeque::new(), secrets, held: Table::new(), bodies: Table::new(), now: genesis.now }
    }

    /// Of a machine that has state already: what comes cannot be replayed from its birth.
    pub fn forget_birth(&mut self) {
        self.birth = None;
    }

    /// Starts or stops. A trace that starts before the first input begins with the birth and so replays.
    pub fn set(&mut self, on: bool) {
        self.on = on;
        if on {
            self.lines.extend(self.birth.take());
        } else {
            self.lines.clear();
        }
    }

    /// Keeps an input before it is consumed. What a report that nobody awaits holds is not told.
    pub fn begin(
        &mut self,
        input: &Input,
        is_awaited: impl Fn(ExchangeId) -> bool,
        hides: impl Fn(ExchangeId) -> bool,
    ) -> Option<Kept> {
        if !self.on {
            self.birth = None;
            return None;
        }
        let emptied = |exchange: ExchangeId, input: Input| Kept::Whole(Some(exchange), input.to_json());
        Some(match input {
            Input::Body { exchange, bytes } if hides(*exchange) => Kept::Secret(*exchange, bytes.clone()),
            Input::Body { exchange, bytes } if is_awaited(*exchange) => Kept::Body(*exchange, bytes.clone()),
            &Input::Body { exchange, .. } => emptied(exchange, Input::Body { exchange, bytes: Vec::new() }),
            &Input::Head { exchange, status, .. } if !is_awaited(exchange) => {
                emptied(exchange, Input::Head { exchange, status, headers: Vec::new() })
            }
            &Input::Failed { exchange, cause, .. } if !is_awaited(exchange) => {
                emptied(exchange, Input::Failed { exchange, cause, detail: String::new() })
            }
            Input::Head { exchange, .. } | Input::End { exchange } | Input::Failed { exchange, .. } => {
                Kept::Whole(Some(*exchange), input.to_json())
            }
            Input::RequestBody { request, bytes } => Kept::RequestBody(*request, bytes.clone()),
            Input::RequestEnd { request } => Kept::RequestDone(*request, true, input.to_json()),
            Input::RequestGone { request } => Kept::RequestDone(*request, false, input.to_json()),
            Input::Request { request, headers, .. } => {
                self.learn(headers);
                Kept::Request(*request, input.to_json())
            }
            Input::Message { peer, text } => {
                let text = self.message(text).into();
                Kept::Whole(None, Input::Message { peer: *peer, text }.to_json())
            }
            Input::MessageTooLong { peer, start, end, bytes } => {
                let (start, end) = (self.message(start).into(), self.message(end).into());
                Kept::Whole(None, Input::MessageTooLong { peer: *peer, start, end, bytes: *bytes }.to_json())
            }
            Input::Authorize { server, event } => {
                let event = self.authorization(event);
                Kept::Whole(None, Input::Authorize { server: server.clone(), event }.to_json())
            }
            Input::Open { .. }
            | Input::Closed { .. }
            | Input::Update { .. }
            | Input::WorkEnd { .. }
            | Input::WorkFailed { .. }
            | Input::Link { .. }
            | Input::Directory(_)
            | Input::Pins(_)
            | Input::Decision { .. }
            | Input::Configure { .. }
            | Input::Stop
            | Input::Tick => Kept::Whole(None, input.to_json()),
        })
    }

    /// Learns the header values and the user information of URLs in a message, whatever becomes of it. One that cannot be
    /// read is told up to where they may begin.
    fn message<'t>(&mut self, text: &'t str) -> &'t str {
        let Ok(raw) = json::parse(text, DEPTH) else {
            let end = ["headers", "://"].iter().filter_map(|words| text::find(text, words)).min();
            return end.and_then(|at| text.get(..at)).unwrap_or(text);
        };
        let mut known = Secrets::new();
        learn_within(raw, &mut known);
        known.iter().for_each(|secret| self.secrets.add_related(secret));
        text
    }

    /// Replaces the credentials of another configuration from now on.
    pub fn learn_config(&mut self, config: &Config) {
        learn_config(config, &mut self.secrets);
    }

    /// Replaces a credential from now on that no scope knows.
    pub fn learn_secret(&mut self, secret: &str) {
        let mut known = Secrets::new();
        known.learn("Authorization", secret);
        known.iter().for_each(|secret| self.secrets.add_related(secret));
    }

    /// Learns what in such an event is a secret. A record that cannot be read is not told.
    fn authorization(&mut self, event: &AuthorizeEvent) -> AuthorizeEvent {
        let secrets = oauth::secrets_in(event);
        secrets.iter().flatten().for_each(|secret| self.learn_secret(secret));
        match event {
            AuthorizeEvent::Tokens { .. } if secrets.is_none() => AuthorizeEvent::Tokens { record: None },
            AuthorizeEvent::LogIn { .. } | AuthorizeEvent::CameBack { .. } | AuthorizeEvent::Tokens { .. } => event.clone(),
        }
    }

    fn learn(&mut self, headers: &Headers) {
        let mut known = Secrets::new();
        for (name, value) in headers.iter().filter(|(name, _)| CREDENTIALS.iter().any(|known| name.eq_ignore_ascii_case(known))) {
            known.learn(name, value);
        }
        known.iter().for_each(|secret| self.secrets.add_related(secret));
    }

    /// Writes an input and what came of it. Secrets are known only now: the input may have brought them.
    pub fn end<'o>(
        &mut self,
        now: Instant,
        input: Option<Kept>,
        misuse: Option<&Misuse>,
        outputs: impl Iterator<Item = &'o Output> + Clone,
        scopes: &Table<String, Scope>,
    ) {
        let Some(input) = input else { return };
        let mut outputs = outputs.peekable();
        for secret in scopes.values().flat_map(|scope| scope.secrets.iter()) {
            self.secrets.add_related(secret);
        }
        match input {
            Kept::Body(exchange, bytes) if misuse.is_some() => self.input(now, &self.body_json(exchange, &bytes), misuse),
            Kept::Body(exchange, bytes) => self.body(now, exchange, &bytes, outputs.peek().is_some(), false),
            Kept::Secret(exchange, bytes) => self.body(now, exchange, &bytes, outputs.peek().is_some(), true),
            Kept::Whole(exchange, input) => {
                let about = exchange.filter(|_| misuse.is_none());
                if let Some((exchange, held)) = about.and_then(|exchange| Some((exchange, self.held.remove(&exchange)?))) {
                    self.flush(exchange, held);
                }
                self.input(now, &input, misuse);
            }
            Kept::Request(request, input) => {
                if misuse.is_none() {
                    self.bodies.insert(request, Vec::new());
                }
                self.input(now, &input, misuse);
            }
            Kept::RequestBody(request, bytes) => {
                let first = outputs.clone().find(|output| !matches!(output, Output::Save(_)));
                self.request_body(now, request, &bytes, first);
            }
            Kept::RequestDone(request, was_read, input) => {
                self.request_done(request, was_read);
                self.input(now, &input, misuse);
            }
        }
        self.now = self.now.max(now);
        for output in outputs {
            if let Output::Abort { exchange } = output {
                self.held.remove(exchange);
            } else if let Output::ResponseHead { request, .. } = output {
                self.bodies.remove(request);
            }
            let output = match output {
                // The numbers of secrets are not those of a replay, whose placeholders hide others.
                Output::Save(save) if save.key.split('/').nth(2) == Some("secret") => continue,
                Output::Save(save) => save.to_trace(),
                Output::Message { .. }
                | Output::Fetch { .. }
                | Output::Abort { .. }
                | Output::ResponseHead { .. }
                | Output::ResponseBody { .. }
                | Output::ResponseEnd { .. }
                | Output::Work { .. }
                | Output::WorkAbort { .. }
                | Output::Link { .. }
                | Output::Tokens { .. }
                | Output::Lookup(_)
                | Output::Notice(_) => output.to_json(),
            };
            let mut line = Object::new();
            line.json("output", &output);
            self.write(line);
        }
    }

    /// Bytes of a body. A secret that two reports share is to be seen in neither of them: its beginning waits for the
    /// rest, and all of a body waits whose secrets are known when it was read. No event is late for that, as no secret
    /// holds a line end. Placeholders wait as secrets do, so that the trace of a replay, where they are the secrets, is
    /// the same. Where all of them wait, it is told that something came, as whoever is silent for long is given up: once
    /// for each moment, and before what was due.
    fn body(&mut self, now: Instant, exchange: ExchangeId, bytes: &[u8], was_due: bool, is_secret: bool) {
        let (mut all, told) = self.held.remove(&exchange).map_or((Vec::new(), None), |held| (held.bytes, Some(held.told)));
        all.extend_from_slice(bytes);
        let (shown, bytes) = if is_secret {
            (Vec::new(), all)
        } else {
            let mut shown = self.secrets.placeholders_in_bytes(&all);
            let begun = |text: &[u8]| self.secrets.begun_at_end(text).max(placeholder_at_end(text));
            let rest = split_end(&mut shown, |text| at_end(text, begun));
            (shown, rest)
        };
        let moment = self.now.max(now);
        if bytes.is_empty() || !shown.is_empty() || was_due || told != Some(moment) {
            self.input(now, &Input::Body { exchange, bytes: shown }.to_json(), None);
        }
        self.held.insert(exchange, Held { bytes, told: moment });
    }

    /// Bytes of an incoming body. What in it is a secret is known when it is complete and was read, so it waits until
    /// then. Where it is refused, nobody reads it and its length alone matters.
    fn request_body(&mut self, now: Instant, request: RequestId, bytes: &[u8], first: Option<&Output>) {
        let refused = matches!(first, Some(Output::ResponseHead { request: answered, .. }) if *answered == request);
        match self.bodies.get_mut(&request) {
            Some(all) if !refused => {
                all.extend_from_slice(bytes);
                if first.is_some() || now > self.now {
                    self.input(now, &Input::Tick.to_json(), None);
                }
            }
            before => {
                let length = before.map_or(0, |all| all.len()) + bytes.len();
                self.input(now, &Input::RequestBody { request, bytes: blank(length) }.to_json(), None);
            }
        }
    }

    /// The end of an incoming body, or of its request.
    fn request_done(&mut self, request: RequestId, was_read: bool) {
        let Some(all) = self.bodies.remove(&request).filter(|all| !all.is_empty()) else { return };
        let bytes = match core::str::from_utf8(&all) {
            Ok(text) if was_read => {
                let text = self.message(text);
                self.secrets.placeholders_in_bytes(text.as_bytes())
            }
            Err(_) if was_read => alloc::vec![0xff],
            Ok(_) | Err(_) => blank(all.len()),
        };
        self.input(self.now, &Input::RequestBody { request, bytes }.to_json(), None);
    }

    /// The end of a body that waited in vain. A beginning that is long enough to be redacted is told as the secret. What
    /// would wait once more in a replay is a line of its own. All of it is told of the moment before, as what is due now
    /// is due after the end and not after those bytes; that something came then, too, is told as a replay tells it.
    fn flush(&mut self, exchange: ExchangeId, Held { bytes: mut shown, told }: Held) {
        let is_told = told == self.now || shown.is_empty();
        self.secrets.complete_at_end(&mut shown);
        let rest = split_end(&mut shown, |text| at_end(text, placeholder_at_end));
        let pieces = [shown, rest].into_iter().filter(|bytes| !bytes.is_empty());
        for bytes in (!is_told).then(Vec::new).into_iter().chain(pieces) {
            self.input(self.now, &Input::Body { exchange, bytes }.to_json(), None);
        }
    }

    fn body_json(&self, exchange: ExchangeId, bytes: &[u8]) -> Json {
        Input::Body { exchange, bytes: self.secrets.placeholders_in_bytes(bytes) }.to_json()
    }

    fn input(&mut self, now: Instant, input: &Json, misuse: Option<&Misuse>) {
        let mut line = Object::new();
        line.integer("now", now.as_ms()).json("input", input);
        if let Some(misuse) = misuse {
            line.string("misuse", &misuse.to_string());
        }
        self.write(line);
    }

    fn write(&mut self, line: Object) {
        self.lines.push_back(self.secrets.placeholders_json(line.finish()).into_string());
    }

    /// The next line.
    pub fn poll(&mut self) -> Option<String> {
        self.lines.pop_front()
    }
}

/// Learns the credentials anywhere in a message, under whatever name a URL stands: what is refused is traced too.
fn learn_within(raw: Raw<'_>, known: &mut Secrets) {
    if let Some(members) = json::members(raw) {
        known.learn_arguments(&members);
        members.iter().for_each(|(_, value)| learn_within(value, known));
    } else if let Some(elements) = json::elements(raw) {
        elements.into_iter().for_each(|element| learn_within(element, known));
    } else if let Some(text) = json::string(raw).filter(|text| text::holds(text, "://") && !text.contains(' ')) {
        known.learn_url(&text);
    }
}

/// So many blanks.
fn blank(length: usize) -> Vec<u8> {
    alloc::vec![b' '; length]
}

/// Takes from the end of a text whatever `begun` measures there, again and again.
fn split_end(text: &mut Vec<u8>, begun: impl Fn(&[u8]) -> usize) -> Vec<u8> {
    let mut length = text.len();
    loop {
        match begun(text.get(..length).unwrap_or_default()) {
            0 => return text.split_off(length),
            more => length -= more,
        }
    }
}

/// How many bytes at the end of a text may be a placeholder or the beginning of one.
fn placeholder_at_end(text: &[u8]) -> usize {
    const START: &[u8] = b"secret:";
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = text.get(..text.len() - digits).unwrap_or_default();
    if before.ends_with(START) {
        return START.len() + digits;
    }
    (1..=START.len()).rev().find(|length| START.get(..*length).is_some_and(|start| text.ends_with(start))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Gateway;
    use crate::time::WallTime;

    /// The trace of a gateway that is told these messages by a peer.
    fn told(messages: &[&str]) -> String {
        let genesis = Genesis { seed: [1; 32], now: Instant::from_ms(0), unix_ms: WallTime(0) };
        let mut gateway = Gateway::new(genesis, Config::default());
        gateway.set_trace(true);
        let peer = crate::io::PeerId(1);
        gateway.handle_input(Instant::from_ms(1), Input::Open { peer, scope: "stdio".into() }).unwrap();
        for text in messages {
            gateway.handle_input(Instant::from_ms(1), Input::Message { peer, text: (*text).into() }).unwrap();
        }
        core::iter::from_fn(|| gateway.poll_trace()).collect()
    }

    #[test]
    fn the_user_information_of_a_url_stands_in_no_line() {
        let call = |tool: &str, arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"{tool}","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
            )
        };
        for message in [
            call("connect_agent", r#"{"alias":"a","agent_url":"http://ada:hunter2hunter2@a.test"}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"http://hunter2hunter2@a.test"}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"http:/ada:hunter2hunter2@a.test"}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"HTTPS://ada:hun%74er2hunter2@a.test/x?y#z"}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"https://ada:hunter2/hunter2@a.test/"}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"x","agent_url":"https://ada:hunter2hunter2@a.test/"}"#),
            call("connect_agent", r#"{"alias":"a","agentUrl":["https://ada:hunter2hunter2@a.test/"]}"#),
            call("connect_agent", r#"{"alias":"a","agent_url":"ftp:\u002f\u002fada:hunter2hunter2\u0040a.test/"}"#),
            call("send_message", r#"{"agent":"ada:hunter2hunter2@a.test","message":"x"}"#),
            call("get_task", r#"{"agent":"http://ada:hunter2hunter2@a.test","task_id":"t"}"#),
            call("discover_agents", r#"{"directory_url":"https://ada:hunter2hunter2@a.test"}"#),
            call("create_caller_card", r#"{"name":"n","description":"d","url":"https://ada:hunter2hunter2@a.test"}"#),
            call("send_message", r#"{"agent":"https://a.test","parts":[{"url":"https://ada:hunter2hunter2@a.test/f"}]}"#),
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"url":"http://ada:hunter2hunter2@a.test""#.to_string(),
        ] {
            let trace = told(&[&message]);
            assert!(!trace.contains("hunter2") && !trace.contains("er2hunter2"), "{message}: {trace}");
        }
    }

    #[test]
    fn a_trace_of_user_information_is_the_trace_of_its_replay() {
        let text = |user: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"connect_agent","arguments":{{"alias":"a","agent_url":"http://{user}@a.test"}}}}}}"#
            )
        };
        for user in ["ada:hunter2hunter2", "ada:hunter2", "hunter2hunter2", "ada:hunter2%40hunter2"] {
            assert_eq!(told(&[&text(user)]), told(&[&text("secret:1")]), "{user}");
        }
    }

    #[test]
    fn a_configured_credential_stands_in_no_line() {
        let text = r#"{"external_agents":[{"name":"a","url":"https://agent.test","headers":{"Authorization":"Bearer hunter2hunter2"}}]}"#;
        let genesis = Genesis { seed: [1; 32], now: Instant::from_ms(0), unix_ms: WallTime(0) };
        let mut gateway = Gateway::new(genesis, Config::from_json(text).unwrap());
        gateway.set_trace(true);
        let open = Input::Open { peer: crate::io::PeerId(1), scope: "stdio".into() };
        gateway.handle_input(Instant::from_ms(1), open).unwrap();
        let mut lines = 0;
        while let Some(line) = gateway.poll_trace() {
            lines += 1;
            assert!(!line.contains("hunter2"), "{line}");
        }
        let fetched =
            core::iter::from_fn(|| gateway.poll_output()).any(|output| output.to_json().as_str().contains("hunter2hunter2"));
        assert!(lines >= 3 && fetched);
    }
}
