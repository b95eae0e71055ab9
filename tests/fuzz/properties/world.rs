//! A world in which bytes decide everything: who asks what and how, what agents answer, when time passes, when the
//! gateway is stopped and restored.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Misuse, Output, PeerId, Request, RequestId, read_input};
use narrows::json;
use narrows::time::Instant;

use super::super::support::host::genesis;
use super::super::support::text::{at, string_at};
use super::is_json;
use super::steps::Steps;
use super::words::{self, SECRET};

/// Longer than every deadline that a call of ours names.
const LONGEST_MS: u64 = 200_000;

/// How often the gateway is woken in one stretch of time.
const WAKINGS: usize = 400;

pub fn open(gateway: &mut Gateway, peer: u64) {
    let input = Input::Open { peer: PeerId(peer), scope: "one".to_owned() };
    gateway.handle_input(Instant::from_ms(0), input).unwrap();
}

/// Who asked, and what became of it.
#[derive(Debug)]
struct Call {
    /// a peer of the border, or a request over HTTP
    from: From,
    answers: u64,
    /// its caller gave it up or left
    dropped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Peer(PeerId),
    Http(RequestId),
}

/// An incoming request.
#[derive(Debug, Default)]
struct Asking {
    begun: bool,
    ended: bool,
    gone: bool,
    body_over: bool,
    body: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Begun,
    Over,
}

/// What is given to a gateway.
enum Given {
    Input(Instant, Input, Result<(), Misuse>),
    Restart(Genesis),
}

pub struct World<'a> {
    steps: Steps<'a>,
    config: Config,
    gateway: Gateway,
    now: u64,
    given: Vec<Given>,
    said: Vec<Output>,
    peers: BTreeSet<PeerId>,
    /// by their ids, which no bytes guess
    calls: BTreeMap<String, Call>,
    asking: BTreeMap<RequestId, Asking>,
    sessions: Vec<String>,
    exchanges: BTreeMap<ExchangeId, (Phase, Request)>,
    waiting: VecDeque<ExchangeId>,
    count: u64,
}

/// Everything at once: whatever the bytes say, every call is answered once, no credential leaves, what is said is
/// JSON, and the same inputs give the same bytes, whenever they are taken.
pub fn inputs(bytes: &[u8]) {
    let mut world = World::new(bytes);
    while !world.steps.is_over() && world.given.len() < 500 {
        world.step();
    }
    world.end();
    world.replay();
}

impl<'a> World<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut steps = Steps::new(bytes);
        let config = Config::from_json(steps.pick(&words::CONFIGS)).unwrap();
        let gateway = Gateway::new(genesis(5, 0, 0), config.clone());
        let mut world = Self {
            steps,
            config,
            gateway,
            now: 0,
            given: Vec::new(),
            said: Vec::new(),
            peers: BTreeSet::new(),
            calls: BTreeMap::new(),
            asking: BTreeMap::new(),
            sessions: Vec::new(),
            exchanges: BTreeMap::new(),
            waiting: VecDeque::new(),
            count: 0,
        };
        world.furnish();
        world
    }

    /// A peer, and an agent that has its credential.
    fn furnish(&mut self) {
        self.give(Input::Open { peer: PeerId(1), scope: "one".to_owned() });
        self.peers.insert(PeerId(1));
        let arguments = format!(r#"{{"alias":"bob","agent_url":"https://bob.test/a","headers":{{"X-Key":"{SECRET}"}}}}"#);
        let (id, text) = self.call_text("connect_agent", &arguments, "{}");
        self.calls.insert(id, Call { from: From::Peer(PeerId(1)), answers: 0, dropped: false });
        self.give(Input::Message { peer: PeerId(1), text });
        self.answer_whole();
    }

    fn step(&mut self) {
        match self.steps.byte() % 20 {
            0 => self.peer(),
            1..=3 => self.message(),
            4 => self.cancel(),
            5..=8 => self.answer_whole(),
            9 => self.head(),
            10 => self.piece(),
            11 => self.last(),
            12 => self.pass(),
            13 | 14 => self.ask(),
            15 => self.body(),
            16 => self.body_over(),
            17 => self.leave(),
            18 => self.report_late(),
            _ => self.turn(),
        }
    }

    /// Gives an input, and checks all that comes of it.
    fn give(&mut self, input: Input) -> bool {
        assert_eq!(read_input(input.to_json().as_str()).as_ref(), Ok(&input), "the border's JSON");
        let now = Instant::from_ms(self.now);
        let before = self.gateway.poll_timeout();
        let outcome = self.gateway.handle_input(now, input.clone());
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        if outcome.is_err() {
            assert!(outputs.is_empty() && self.gateway.poll_timeout() == before, "a misuse changes nothing: {input:?}");
        }
        self.given.push(Given::Input(now, input, outcome.clone()));
        self.take(outputs);
        if let Some(deadline) = self.gateway.poll_timeout() {
            assert!(deadline.at > now || outcome.is_err(), "{deadline:?} is not after {now:?}");
        }
        outcome.is_ok()
    }

    fn take(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            let text = output.to_json();
            assert!(is_json(text.as_str()), "{text:?}");
            let to_bob = matches!(&output, Output::Fetch { request, .. } if request.url.starts_with("https://bob.test/"));
            assert!(to_bob || !text.as_str().contains(SECRET), "a credential leaves: {text:?}");
            match &output {
                Output::Fetch { exchange, request } => {
                    assert!(self.exchanges.last_key_value().is_none_or(|(id, _)| id < exchange), "exchange ids grow");
                    self.exchanges.insert(*exchange, (Phase::Waiting, request.clone()));
                    self.waiting.push_back(*exchange);
                }
                Output::Abort { exchange } => {
                    let known = self.exchanges.get_mut(exchange).expect("an exchange that was asked for");
                    assert_ne!(std::mem::replace(&mut known.0, Phase::Over), Phase::Over, "an exchange that runs");
                }
                Output::Message { peer, text } => {
                    assert!(self.peers.contains(peer), "{peer:?} is gone and is told {text}");
                    self.heard(From::Peer(*peer), text);
                }
                Output::ResponseHead { request, headers, .. } => {
                    let asking = self.asking.get_mut(request).expect("somebody asked");
                    assert!(!asking.gone && !std::mem::replace(&mut asking.begun, true), "one head for {request:?}");
                    let named = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
                    self.sessions.extend(named.map(|(_, name)| name.clone()));
                }
                Output::ResponseBody { request, text } => {
                    let asking = self.asking.get_mut(request).expect("somebody asked");
                    assert!(asking.begun && !asking.ended && !asking.gone, "a body of {request:?} between head and end");
                    asking.body.push_str(text);
                }
                Output::ResponseEnd { request } => {
                    let asking = self.asking.get_mut(request).expect("somebody asked");
                    let first = !std::mem::replace(&mut asking.ended, true);
                    assert!(asking.begun && !asking.gone && first, "one end of {request:?}");
                }
                Output::Work { .. }
                | Output::WorkAbort { .. }
                | Output::Link { .. }
                | Output::Tokens { .. }
                | Output::Lookup(_)
                | Output::Save(_)
                | Output::Notice(_) => {}
            }
            self.said.push(output);
        }
    }

    /// A message that somebody got. An answer of ours is the only one.
    fn heard(&mut self, from: From, text: &str) {
        assert!(is_json(text) && !text.contains('\n'), "{text}");
        let Some(id) = string_at_id(text) else { return };
        if let Some(call) = self.calls.get_mut(&id) {
            assert_eq!(call.from, from, "an answer goes to whoever asked: {text}");
            assert!(!call.dropped, "nobody waits any more: {text}");
            call.answers += 1;
            assert_eq!(call.answers, 1, "one answer: {text}");
        }
    }

    fn peer(&mut self) {
        let peer = PeerId(u64::from(self.steps.byte() % 4));
        if self.steps.is() {
            self.peers.remove(&peer);
            for call in self.calls.values_mut().filter(|call| call.from == From::Peer(peer) && call.answers == 0) {
                call.dropped = true;
            }
            self.give(Input::Closed { peer });
        } else {
            let scope = self.steps.pick(&["one", "two", "é"]).to_owned();
            if self.give(Input::Open { peer, scope }) {
                self.peers.insert(peer);
            }
        }
    }

    /// The id of a call, and its text. Bytes that could guess the id could cancel the call.
    fn call_text(&mut self, tool: &str, arguments: &str, meta: &str) -> (String, String) {
        let id = self.fresh();
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}"#);
        (id.clone(), format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{params}}}"#))
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("call-{:016x}", self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn message(&mut self) {
        let peer = PeerId(u64::from(self.steps.pick(&[1_u8, 1, 1, 2, 0])));
        let (tool, arguments) = self.steps.pick(&words::CALLS);
        let meta = self.steps.pick(&["{}", r#"{"progressToken":7}"#, words::META, "null"]);
        let (id, text) = self.call_text(tool, arguments, meta);
        match self.steps.byte() % 4 {
            0 => {
                let raw = self.steps.pick(&words::MESSAGES);
                let bytes = self.steps.damaged(raw);
                self.give(Input::Message { peer, text: String::from_utf8_lossy(&bytes).into_owned() });
            }
            1 => {
                // Damage may give a credential to another origin, where it is right, and an id to another call.
                let bytes = self.steps.damaged(&text.replace(&id, "free").replace(SECRET, "another-credential"));
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let start: String = text.chars().take(100).collect();
                let too_long = Input::MessageTooLong { peer, end: start.clone(), start, bytes: 1 << 40 };
                let given = if self.steps.byte() == 255 { too_long } else { Input::Message { peer, text } };
                self.give(given);
            }
            _ => {
                if self.peers.contains(&peer) {
                    self.calls.insert(id, Call { from: From::Peer(peer), answers: 0, dropped: false });
                }
                self.give(Input::Message { peer, text });
            }
        }
    }

    fn cancel(&mut self) {
        let running: Vec<String> =
            self.calls.iter().filter(|(_, call)| call.answers == 0 && !call.dropped).map(|(id, _)| id.clone()).collect();
        if running.is_empty() {
            return;
        }
        let id = running[self.steps.index(running.len())].clone();
        if let From::Peer(peer) = self.calls[&id].from {
            self.calls.get_mut(&id).unwrap().dropped = true;
            let params = format!(r#"{{"requestId":"{id}"}}"#);
            self.give(Input::Message {
                peer,
                text: format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#),
            });
        }
    }

    /// The exchange that is answered next; of several sometimes the last one.
    fn exchange(&mut self) -> Option<ExchangeId> {
        let exchanges = &self.exchanges;
        self.waiting.retain(|id| exchanges[id].0 != Phase::Over);
        let last = self.steps.byte() >= 192;
        if last { self.waiting.back().copied() } else { self.waiting.front().copied() }
    }

    fn answer_whole(&mut self) {
        let Some(exchange) = self.exchange() else { return };
        let request = self.exchanges[&exchange].1.clone();
        let (kind, proper) = words::proper(&mut self.steps, &request);
        let body = self.steps.damaged(&proper);
        if self.exchanges[&exchange].0 == Phase::Waiting {
            let status = self.steps.pick(&[200, 200, 200, 200, 200, 404, 429, 500]);
            self.give_head(exchange, status, vec![("Content-Type".to_owned(), kind.to_owned())]);
        }
        let size = usize::from(self.steps.byte()).max(1) * 16;
        for piece in body.chunks(size) {
            self.give(Input::Body { exchange, bytes: piece.to_vec() });
        }
        if self.steps.byte() < 240 {
            self.finish(exchange, Input::End { exchange });
        }
    }

    fn give_head(&mut self, exchange: ExchangeId, status: u16, headers: Vec<(String, String)>) {
        self.exchanges.get_mut(&exchange).unwrap().0 = Phase::Begun;
        self.give(Input::Head { exchange, status, headers });
    }

    fn finish(&mut self, exchange: ExchangeId, input: Input) {
        // What is reported after an abort is late, and no misuse.
        self.exchanges.get_mut(&exchange).unwrap().0 = Phase::Over;
        self.give(input);
    }

    fn head(&mut self) {
        let Some(exchange) = self.exchange().filter(|id| self.exchanges[id].0 == Phase::Waiting) else { return };
        let status = self.steps.pick(&[200, 200, 204, 301, 302, 307, 308, 401, 404, 405, 415, 429, 500, 503, 100, 999]);
        let (name, value) = self.steps.pick(&words::FIELDS);
        let value = String::from_utf8_lossy(&self.steps.damaged(value)).into_owned();
        let kind = self.steps.pick(&["application/json", "text/event-stream", "text/html", ""]);
        let headers = vec![("Content-Type".to_owned(), kind.to_owned()), (name.to_owned(), value)];
        self.give_head(exchange, status, headers);
    }

    fn piece(&mut self) {
        let Some(exchange) = self.exchange().filter(|id| self.exchanges[id].0 == Phase::Begun) else { return };
        let bytes = self.steps.some().to_vec();
        self.give(Input::Body { exchange, bytes });
    }

    fn last(&mut self) {
        let Some(exchange) = self.exchange() else { return };
        if self.exchanges[&exchange].0 == Phase::Begun && self.steps.is() {
            self.finish(exchange, Input::End { exchange });
        } else {
            let cause = self.steps.pick(&Cause::NAMES).0;
            let detail = self.steps.text();
            self.finish(exchange, Input::Failed { exchange, cause, detail });
        }
    }

    fn report_late(&mut self) {
        let Some(exchange) = self.exchanges.iter().find(|(_, (phase, _))| *phase == Phase::Over).map(|(id, _)| *id) else {
            return;
        };
        let bytes = self.steps.some().to_vec();
        let reports = [
            Input::Body { exchange, bytes },
            Input::End { exchange },
            Input::Head { exchange, status: 200, headers: Vec::new() },
        ];
        let said = self.said.len();
        let due = self.gateway.poll_timeout().is_some_and(|deadline| deadline.at.as_ms() <= self.now);
        let report = reports[self.steps.index(3)].clone();
        assert!(self.give(report) && (due || self.said.len() == said), "a late report causes nothing");
    }

    fn pass(&mut self) {
        let ms = self.steps.pick(&[1, 250, 1000, 5000, 30_000, 61_000]);
        match self.gateway.poll_timeout() {
            Some(deadline) if ms < 1000 => self.now = self.now.max(deadline.at.as_ms()),
            Some(_) | None => self.now += ms,
        }
        self.give(Input::Tick);
    }

    /// Somebody asks over HTTP.
    fn ask(&mut self) {
        self.count += 1;
        let request = RequestId(self.count);
        let method = self.steps.pick(&["POST", "POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT"]);
        let session = self.sessions.get(self.steps.index(4)).cloned();
        let modern = session.is_none();
        let (tool, arguments) = self.steps.pick(&words::CALLS);
        let (id, text) = self.call_text(tool, arguments, if modern { words::META } else { r#"{"progressToken":7}"# });
        let mut fields = words::request_fields(session.as_deref(), tool);
        let way = self.steps.byte() % 8;
        if way == 1 {
            let (name, value) = self.steps.pick(&words::ASKED_FIELDS);
            let value = String::from_utf8_lossy(&self.steps.damaged(value)).into_owned();
            fields.push((name.to_owned(), value));
        }
        self.asking.insert(request, Asking::default());
        let target = self.steps.pick(&["/mcp", "/mcp", "/mcp", "/mcp/", "/healthz", "/mcp?x=1", "/"]).to_owned();
        let plain = method == "POST" && target == "/mcp" && way > 2 && modern;
        self.give(Input::Request { request, method: method.to_owned(), target, headers: fields });
        if way == 2 {
            return;
        }
        let bytes = match way {
            3 => words::INITIALIZE.as_bytes().to_vec(),
            4 => {
                let raw = self.steps.pick(&words::MESSAGES);
                self.steps.damaged(raw)
            }
            _ => text.into_bytes(),
        };
        if plain && way > 4 && !self.asking[&request].ended {
            self.calls.insert(id, Call { from: From::Http(request), answers: 0, dropped: false });
        }
        self.give(Input::RequestBody { request, bytes });
        self.asking.get_mut(&request).unwrap().body_over = true;
        self.give(Input::RequestEnd { request });
    }

    fn some_request(&mut self) -> Option<RequestId> {
        let open: Vec<RequestId> =
            self.asking.iter().filter(|(_, asking)| !asking.gone && !asking.ended).map(|(id, _)| *id).collect();
        (!open.is_empty()).then(|| open[self.steps.index(open.len())])
    }

    fn body(&mut self) {
        let Some(request) = self.some_request().filter(|id| !self.asking[id].body_over) else { return };
        let bytes = self.steps.some().to_vec();
        self.give(Input::RequestBody { request, bytes });
    }

    fn body_over(&mut self) {
        let Some(request) = self.some_request().filter(|id| !self.asking[id].body_over) else { return };
        self.asking.get_mut(&request).unwrap().body_over = true;
        self.give(Input::RequestEnd { request });
    }

    fn leave(&mut self) {
        let Some(request) = self.some_request() else { return };
        self.asking.get_mut(&request).unwrap().gone = true;
        for call in self.calls.values_mut().filter(|call| call.from == From::Http(request)) {
            call.dropped = true;
        }
        self.give(Input::RequestGone { request });
    }

    /// A gateway that is stopped, or one that goes on from the other's snapshot.
    fn turn(&mut self) {
        match self.steps.byte() % 16 {
            0 => {
                self.give(Input::Stop);
            }
            1 | 2 => self.restart(),
            _ => {
                let handed_on = self.gateway.snapshot(Secrets::Drop);
                assert!(handed_on.iter().all(|piece| is_json(piece) && !piece.contains(SECRET)));
            }
        }
    }

    fn restart(&mut self) {
        let pieces = self.gateway.snapshot(Secrets::Keep);
        let genesis = genesis(self.count, self.now, self.now);
        self.gateway = Gateway::restore(genesis, self.config.clone(), &pieces).expect("its own snapshot");
        self.given.push(Given::Restart(genesis));
        // Sockets do not outlive the process.
        for (phase, _) in self.exchanges.values_mut() {
            *phase = Phase::Over;
        }
        for asking in self.asking.values_mut() {
            asking.gone = true;
        }
        for call in self.calls.values_mut().filter(|call| matches!(call.from, From::Http(_))) {
            call.dropped = true;
        }
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        self.take(outputs);
        self.no_peer_waits();
    }

    fn no_peer_waits(&self) {
        for (id, call) in self.calls.iter().filter(|(_, call)| matches!(call.from, From::Peer(_))) {
            assert!(call.dropped || call.answers == 1, "{id} is not answered");
        }
    }

    /// Time passes until every deadline of ours is over; then everybody is answered.
    fn end(&mut self) {
        let until = self.now + LONGEST_MS;
        for _ in 0..WAKINGS {
            let Some(deadline) = self.gateway.poll_timeout().filter(|deadline| deadline.at.as_ms() <= until) else { break };
            self.now = self.now.max(deadline.at.as_ms());
            self.give(Input::Tick);
        }
        self.now = until;
        self.give(Input::Tick);
        self.no_peer_waits();
        let open: Vec<RequestId> = self.asking.iter().filter(|(_, asking)| !asking.body_over).map(|(id, _)| *id).collect();
        for request in open {
            self.give(Input::RequestEnd { request });
        }
        self.give(Input::Stop);
        for (id, asking) in &self.asking {
            assert!(asking.gone || asking.ended, "{id:?} is not answered: {asking:?}");
        }
        for (id, call) in &self.calls {
            let From::Http(request) = call.from else { continue };
            let answers = self.asking[&request].body.matches(&format!("\"id\":\"{id}\"")).count();
            assert!(call.dropped || answers == 1, "{id} has {answers} answers: {:?}", self.asking[&request]);
        }
        for peer in std::mem::take(&mut self.peers) {
            self.give(Input::Closed { peer });
        }
    }

    /// The same inputs in a new gateway, whose outputs are taken at the end alone.
    fn replay(self) {
        let mut gateway = Gateway::new(genesis(5, 0, 0), self.config.clone());
        let mut said = Vec::new();
        for given in self.given {
            match given {
                Given::Input(now, input, outcome) => assert_eq!(gateway.handle_input(now, input), outcome),
                Given::Restart(genesis) => {
                    said.extend(std::iter::from_fn(|| gateway.poll_output()));
                    let pieces = gateway.snapshot(Secrets::Keep);
                    gateway = Gateway::restore(genesis, self.config.clone(), &pieces).unwrap();
                }
            }
        }
        said.extend(std::iter::from_fn(|| gateway.poll_output()));
        assert!(said == self.said, "the same inputs give the same outputs");
    }
}

/// The id of a response, where it is a text.
fn string_at_id(text: &str) -> Option<String> {
    let response = at(text, &["method"]).is_none();
    if response && json::parse(text, 200).is_ok() { string_at(text, &["id"]) } else { None }
}
