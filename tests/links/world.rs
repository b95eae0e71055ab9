//! A host whose processes are played by the test: what the gateway writes to them is gathered, what they say is given.

use std::collections::{BTreeMap, VecDeque};

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{ExchangeId, Input, LinkEvent, LinkId, LinkOrder, Misuse, Output, PeerId, Process, Request, TokenOrder};
use narrows::json;
use narrows::time::{Instant, WallTime};

pub const MODERN: &str =
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// The members of a JSON text at a path, as text.
pub fn at(text: &str, path: &[&str]) -> Option<String> {
    let mut raw = json::parse(text, 64).ok()?;
    for step in path {
        raw = match step.parse::<usize>() {
            Ok(index) if json::elements(raw).is_some() => *json::elements(raw)?.get(index)?,
            _ => json::members(raw)?.get_any(step)?,
        };
    }
    Some(raw.get().to_owned())
}

pub fn string_at(text: &str, path: &[&str]) -> Option<String> {
    let found = at(text, path)?;
    json::string(json::parse(&found, 64).ok()?)
}

/// The moment at which the clocks of all worlds stand at 0, in milliseconds since 1970.
const BIRTH_MS: i64 = 1_800_000_000_000;

pub fn genesis(now: u64) -> Genesis {
    Genesis { seed: [7; 32], now: Instant::from_ms(now), unix_ms: WallTime(BIRTH_MS) }
}

/// The birth of a gateway at that moment, with the chance of its life of that number.
pub fn birth(life: u8, now: u64) -> Genesis {
    Genesis { seed: [life; 32], now: Instant::from_ms(now), unix_ms: WallTime(BIRTH_MS + i64::try_from(now).unwrap()) }
}

/// A configuration of servers that say nothing else of themselves.
pub fn servers(names: &[&str]) -> String {
    let list: Vec<String> =
        names.iter().map(|name| format!(r#"{{"name":"{name}","transport":{{"type":"stdio","command":"{name}"}}}}"#)).collect();
    format!(r#"{{"mcp_servers":[{}]}}"#, list.join(","))
}

pub struct World {
    pub gateway: Gateway,
    pub now: u64,
    /// the processes that were started, the latest of each server
    pub running: BTreeMap<String, LinkId>,
    pub started: Vec<(LinkId, Process)>,
    pub closed: Vec<LinkId>,
    /// what was written to processes and not read yet
    pub written: VecDeque<(LinkId, String)>,
    /// what peers were told and have not read yet
    pub said: VecDeque<(PeerId, String)>,
    pub notices: Vec<(String, String)>,
    /// the latest pieces under each key
    pub saved: BTreeMap<String, Vec<String>>,
    /// requests that were not answered yet
    pub fetches: VecDeque<(ExchangeId, Request)>,
    pub aborted: Vec<ExchangeId>,
    /// statuses and bodies of the responses to incoming requests
    pub responses: Vec<(u16, String)>,
    /// the name of the session that was begun last
    pub session: Option<String>,
    /// how many responses are complete
    pub ended: usize,
    /// what the store of tokens was told and has not done yet, by the name of the server
    pub orders: VecDeque<(String, TokenOrder)>,
}

impl World {
    pub fn new(config: &str) -> Self {
        Self::with(Gateway::new(genesis(0), Config::from_json(config).unwrap()))
    }

    /// The gateway that goes on from what this one is, with a configuration, in its life of that number.
    pub fn restarted(&self, life: u8, config: &str) -> Self {
        let pieces = self.gateway.snapshot(Secrets::Keep);
        let config = Config::from_json(config).unwrap();
        let mut world = Self::with(Gateway::restore(birth(life, self.now), config, &pieces).unwrap());
        world.now = self.now;
        world.input(Input::Tick);
        world
    }

    pub fn with(gateway: Gateway) -> Self {
        let (running, started, closed) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (written, said, notices) = (VecDeque::new(), VecDeque::new(), Vec::new());
        let (fetches, aborted, responses, orders) = (VecDeque::new(), Vec::new(), Vec::new(), VecDeque::new());
        let (session, ended, saved) = (None, 0, BTreeMap::new());
        let mut world = Self {
            gateway,
            now: 0,
            running,
            started,
            closed,
            written,
            said,
            notices,
            fetches,
            aborted,
            responses,
            session,
            ended,
            saved,
            orders,
        };
        world.drain();
        world
    }

    /// A world with one client in a session of the newest version with a handshake.
    pub fn shaken(config: &str) -> Self {
        let mut world = Self::new(config);
        world.open(1);
        world.say(
            1,
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
        );
        world.said.clear();
        world
    }

    pub fn input(&mut self, input: Input) {
        self.try_input(input).unwrap();
    }

    pub fn try_input(&mut self, input: Input) -> Result<(), Misuse> {
        let outcome = self.gateway.handle_input(Instant::from_ms(self.now), input);
        self.drain();
        assert!(self.gateway.poll_timeout().is_none_or(|deadline| deadline.at.as_ms() > self.now), "nothing stays due");
        outcome
    }

    fn drain(&mut self) {
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::Link { link, order: LinkOrder::Open(process) } => {
                    assert!(self.started.last().is_none_or(|(last, _)| link > *last), "numbers of links grow");
                    self.running.insert(process.server.clone(), link);
                    self.started.push((link, *process));
                }
                Output::Link { link, order: LinkOrder::Write(text) } => {
                    assert!(!self.closed.contains(&link), "nothing is written to a link that was closed");
                    assert!(!text.contains('\n') && json::parse(&text, 128).is_ok(), "{text}");
                    self.written.push_back((link, text));
                }
                Output::Link { link, order: LinkOrder::Close } => {
                    assert!(!self.closed.contains(&link), "a link is closed once");
                    self.closed.push(link);
                }
                Output::Message { peer, text } => self.said.push_back((peer, text)),
                Output::Notice(notice) => self.notices.push((notice.event.to_owned(), notice.fields.into_string())),
                Output::Fetch { exchange, request } => self.fetches.push_back((exchange, request)),
                Output::Abort { exchange } => {
                    self.fetches.retain(|(known, _)| *known != exchange);
                    self.aborted.push(exchange);
                }
                Output::Save(save) => {
                    self.saved.insert(save.key.clone(), save.pieces());
                }
                Output::ResponseHead { status, headers, .. } => {
                    let named = headers.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
                    self.session = named.map(|(_, value)| value).or(self.session.take());
                    self.responses.push((status, String::new()));
                }
                Output::ResponseBody { text, .. } => self.responses.last_mut().unwrap().1.push_str(&text),
                Output::ResponseEnd { .. } => self.ended += 1,
                Output::Tokens { server, order, .. } => self.orders.push_back((server, order)),
                Output::Work { .. } | Output::WorkAbort { .. } | Output::Lookup(_) => {}
            }
        }
    }

    pub fn open(&mut self, peer: u64) {
        self.input(Input::Open { peer: PeerId(peer), scope: format!("scope-{peer}") });
    }

    pub fn say(&mut self, peer: u64, text: &str) {
        self.input(Input::Message { peer: PeerId(peer), text: text.to_owned() });
    }

    pub fn event(&mut self, server: &str, event: LinkEvent) {
        let link = self.running[server];
        self.input(Input::Link { link, event });
    }

    pub fn line(&mut self, server: &str, text: &str) {
        self.event(server, LinkEvent::Line(text.to_owned()));
    }

    /// What was written to a server, the oldest first; the others' stay.
    pub fn read(&mut self, server: &str) -> String {
        let link = self.running[server];
        let found = self.written.iter().position(|(to, _)| *to == link).unwrap_or_else(|| panic!("{server} was told nothing"));
        self.written.remove(found).unwrap().1
    }

    pub fn is_quiet(&self, server: &str) -> bool {
        self.written.iter().all(|(to, _)| *to != self.running[server])
    }

    /// Reads a request and gives its id.
    pub fn asked(&mut self, server: &str, method: &str) -> String {
        let text = self.read(server);
        assert_eq!(string_at(&text, &["method"]).as_deref(), Some(method), "{text}");
        at(&text, &["id"]).unwrap_or_default()
    }

    /// Answers the next request, which has that method.
    pub fn answer(&mut self, server: &str, method: &str, outcome: &str) {
        let id = self.asked(server, method);
        self.line(server, &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    }

    /// A server that wants a handshake, with these tools, until it is ready.
    pub fn legacy(&mut self, server: &str, tools: &[&str]) {
        self.event(server, LinkEvent::Opened);
        self.answer(server, "server/discover", r#""error":{"code":-32601,"message":"no"}"#);
        self.handshake(server, tools);
    }

    pub fn handshake(&mut self, server: &str, tools: &[&str]) {
        self.answer(
            server,
            "initialize",
            r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}"#,
        );
        assert_eq!(self.asked(server, "notifications/initialized"), "");
        self.list(server, tools);
    }

    pub fn list(&mut self, server: &str, tools: &[&str]) {
        let tools: Vec<_> = tools.iter().map(|name| (*name, "")).collect();
        self.describe(server, &tools);
    }

    /// Tools with their descriptions.
    pub fn describe(&mut self, server: &str, tools: &[(&str, &str)]) {
        let described = |words: &str| if words.is_empty() { String::new() } else { format!(r#","description":"{words}""#) };
        let told = |(name, words): &(&str, &str)| {
            format!(r#"{{"name":"{name}"{},"inputSchema":{{"type":"object"}}}}"#, described(words))
        };
        let tools: Vec<String> = tools.iter().map(told).collect();
        self.answer(server, "tools/list", &format!(r#""result":{{"tools":[{}]}}"#, tools.join(",")));
    }

    /// The server says that its tools are others, which are then these.
    pub fn change(&mut self, server: &str, tools: &[(&str, &str)]) {
        self.advance(1000);
        self.line(server, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        self.describe(server, tools);
    }

    /// A server without handshakes, with these tools, until it is ready.
    pub fn modern(&mut self, server: &str, tools: &[&str]) {
        self.event(server, LinkEvent::Opened);
        let discovered = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
        self.answer(server, "server/discover", discovered);
        self.list(server, tools);
        self.asked(server, "subscriptions/listen");
    }

    /// The names that a client of the handshake era is offered beside the gateway's own.
    pub fn offered(&mut self) -> Vec<String> {
        self.said.clear();
        self.say(1, r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#);
        let list = at(&self.said.pop_front().unwrap().1, &["result", "tools"]).unwrap();
        let elements = json::elements(json::parse(&list, 64).unwrap()).unwrap();
        let names = elements.iter().map(|tool| string_at(tool.get(), &["name"]).unwrap());
        names.filter(|name| name.starts_with("mcp_")).collect()
    }

    pub fn call(&mut self, id: u64, tool: &str, more: &str) {
        self.say(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{more}}}}}"#));
    }

    /// The answer to a request.
    pub fn answered(&mut self, id: u64) -> String {
        let id = id.to_string();
        let found = self.said.iter().position(|(_, text)| at(text, &["id"]).as_deref() == Some(id.as_str()));
        self.said.remove(found.unwrap_or_else(|| panic!("{id} has no answer: {:?}", self.said))).unwrap().1
    }

    /// The code of the tool error that a request was answered with, and its words.
    pub fn error(&mut self, id: u64) -> (String, String) {
        let text = self.answered(id);
        let read = |path: &[&str]| string_at(&text, path).unwrap_or_else(|| panic!("no tool error: {text}"));
        (read(&["result", "structuredContent", "error", "code"]), read(&["result", "content", "0", "text"]))
    }

    /// The next request over HTTP.
    pub fn fetch(&mut self) -> (ExchangeId, Request) {
        self.fetches.pop_front().expect("a request")
    }

    /// A whole answer of HTTP.
    pub fn reply(&mut self, exchange: ExchangeId, status: u16, headers: &[(&str, &str)], body: &str) {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        self.input(Input::Head { exchange, status, headers });
        if !self.aborted.contains(&exchange) {
            self.more(exchange, body);
            self.input(Input::End { exchange });
        }
    }

    /// The beginning of a stream.
    pub fn events(&mut self, exchange: ExchangeId, headers: &[(&str, &str)], body: &str) {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("content-type".to_owned(), "text/event-stream".to_owned()));
        self.input(Input::Head { exchange, status: 200, headers });
        self.more(exchange, body);
    }

    pub fn more(&mut self, exchange: ExchangeId, body: &str) {
        self.input(Input::Body { exchange, bytes: body.as_bytes().to_vec() });
    }

    /// Lets time pass, with a tick whenever the gateway wants one.
    pub fn advance(&mut self, ms: u64) {
        let until = self.now + ms;
        while let Some(at) = self.gateway.poll_timeout().map(|deadline| deadline.at.as_ms()).filter(|at| *at <= until) {
            self.now = at;
            self.input(Input::Tick);
        }
        self.now = until;
        self.input(Input::Tick);
    }
}
