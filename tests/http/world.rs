//! A host without sockets: requests go in, responses are gathered, one agent answers what it is told to.

use std::collections::BTreeMap;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis};
use narrows::io::{ExchangeId, Input, Lookup, Notice, Output, Request, RequestId, WorkId};
use narrows::json;
use narrows::time::{Instant, WallTime};

use super::storage::Storage;

pub const LEGACY: &str = "2025-11-25";

/// What a client got.
#[derive(Clone, Debug, Default)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub ended: bool,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }
}

pub struct World {
    pub gateway: Gateway,
    pub now: u64,
    pub responses: BTreeMap<u64, Response>,
    pub fetches: Vec<(ExchangeId, Request)>,
    pub aborts: Vec<ExchangeId>,
    /// what the gateway had kept
    pub storage: Storage,
    /// bytes that it had kept so far
    pub written: usize,
    pub config: Config,
    inputs: usize,
    /// work for a function of the host: its number and its order
    pub works: Vec<(WorkId, String)>,
    pub work_aborts: Vec<WorkId>,
    /// whether what is kept is read after an input; not where that is megabytes
    pub checks: bool,
    /// looks into the directory of the host
    pub lookups: Vec<Lookup>,
    pub notices: Vec<Notice>,
    requests: u64,
}

pub fn genesis(now: u64) -> Genesis {
    let unix_ms = 1_800_000_000_000 + i64::try_from(now).unwrap();
    Genesis { seed: [7; 32], now: Instant::from_ms(now), unix_ms: WallTime(unix_ms) }
}

impl World {
    pub fn new(config: &str) -> Self {
        let config = Config { storage: true, ..Config::from_json(config).unwrap() };
        Self::with(Gateway::new(genesis(0), config.clone()), config)
    }

    /// A gateway whose host keeps what it is told to.
    pub fn with(gateway: Gateway, config: Config) -> Self {
        let (responses, fetches, aborts) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (works, work_aborts, lookups, notices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (storage, now, inputs, requests, checks, written) = (Storage::default(), 0, 0, 0, true, 0);
        Self {
            gateway,
            now,
            responses,
            fetches,
            aborts,
            works,
            work_aborts,
            lookups,
            notices,
            checks,
            storage,
            written,
            config,
            inputs,
            requests,
        }
    }

    pub fn input(&mut self, input: Input) {
        self.gateway.handle_input(Instant::from_ms(self.now), input).unwrap();
        self.drain();
        self.inputs += 1;
        // All of it is read each time: of much, now and then is enough.
        let records = self.storage.keys().len();
        if self.checks && (records < 16 || self.inputs.is_multiple_of(records)) {
            self.storage.check(&self.gateway, genesis(self.now), &self.config);
        }
    }

    pub fn drain(&mut self) {
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::ResponseHead { request, status, headers } => {
                    let response = Response { status, headers, ..Response::default() };
                    assert!(self.responses.insert(request.0, response).is_none(), "one head");
                }
                Output::ResponseBody { request, text } => {
                    let response = self.responses.get_mut(&request.0).expect("the head comes first");
                    assert!(!response.ended, "nothing comes after the end");
                    response.body.push_str(&text);
                }
                Output::ResponseEnd { request } => {
                    let response = self.responses.get_mut(&request.0).expect("the head comes first");
                    assert!(!std::mem::replace(&mut response.ended, true), "one end");
                }
                Output::Fetch { exchange, request } => self.fetches.push((exchange, request)),
                Output::Abort { exchange } => self.aborts.push(exchange),
                Output::Message { .. } => panic!("nobody speaks MCP here but over HTTP"),
                Output::Save(save) => {
                    self.written += save.pieces().iter().map(String::len).sum::<usize>();
                    self.storage.keep(save);
                }
                Output::Work { work, order } => self.works.push((work, order.into_string())),
                Output::WorkAbort { work } => self.work_aborts.push(work),
                Output::Link { .. } | Output::Tokens { .. } => {}
                Output::Lookup(lookup) => self.lookups.push(lookup),
                Output::Notice(notice) => self.notices.push(notice),
            }
        }
    }

    /// A head; its host is `localhost` where the fields name none.
    pub fn head(&mut self, method: &str, target: &str, fields: &[(&str, &str)]) -> u64 {
        self.requests += 1;
        let request = RequestId(self.requests);
        let mut headers: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            headers.push(("Host".into(), "localhost:4545".into()));
        }
        self.input(Input::Request { request, method: method.into(), target: target.into(), headers });
        self.requests
    }

    /// A whole request.
    pub fn send(&mut self, method: &str, target: &str, fields: &[(&str, &str)], body: &str) -> u64 {
        let request = self.head(method, target, fields);
        if !body.is_empty() {
            self.input(Input::RequestBody { request: RequestId(request), bytes: body.into() });
        }
        self.input(Input::RequestEnd { request: RequestId(request) });
        request
    }

    /// A POST to the MCP endpoint with the fields that it needs, and these.
    pub fn post(&mut self, fields: &[(&str, &str)], body: &str) -> u64 {
        let mut all = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        all.extend_from_slice(fields);
        self.send("POST", "/mcp", &all, body)
    }

    /// The complete response to a request.
    pub fn done(&self, request: u64) -> Response {
        let response = self.responses.get(&request).expect("there is a response").clone();
        assert!(response.ended, "the response is complete: {response:?}");
        response
    }

    pub fn answer(&mut self, fields: &[(&str, &str)], body: &str) -> Response {
        let request = self.post(fields, body);
        self.done(request)
    }

    pub fn body(&self, request: u64) -> &str {
        self.responses.get(&request).map_or("", |response| &response.body)
    }

    pub fn gone(&mut self, request: u64) {
        self.input(Input::RequestGone { request: RequestId(request) });
    }

    pub fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.input(Input::Tick);
    }

    /// A session of that version; its name.
    pub fn session(&mut self, version: &str, fields: &[(&str, &str)]) -> String {
        let response = self.answer(fields, &initialize(version));
        assert_eq!(response.status, 200, "{response:?}");
        response.header("mcp-session-id").expect("a session is named").to_owned()
    }

    /// A request in a session, complete or not.
    pub fn legacy(&mut self, session: &str, id: &str, method: &str, params: &str) -> u64 {
        self.post(&[("Mcp-Session-Id", session)], &rpc(id, method, params))
    }

    /// A modern request with everything that it needs.
    pub fn modern(&mut self, id: &str, method: &str, name: &str, params: &str) -> u64 {
        self.modern_as(&[], id, method, name, params)
    }

    pub fn modern_as(&mut self, fields: &[(&str, &str)], id: &str, method: &str, name: &str, params: &str) -> u64 {
        let mut all = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
        if !name.is_empty() {
            all.push(("Mcp-Name", name));
        }
        all.extend_from_slice(fields);
        self.post(&all, &rpc(id, method, &with_meta(params)))
    }

    /// Connects the agent, asked by `post`; a task of its runs behind the next call.
    pub fn connect(&mut self, post: impl FnOnce(&mut Self) -> u64) -> u64 {
        let request = post(self);
        let (exchange, fetch) = self.fetches.pop().expect("the card is fetched");
        assert!(fetch.url.ends_with("agent-card.json"));
        self.reply(exchange, "application/json", CARD);
        assert!(self.done(request).body.contains("\"alias\""), "{}", self.body(request));
        request
    }

    pub fn reply(&mut self, exchange: ExchangeId, kind: &str, body: &str) {
        self.reply_head(exchange, kind);
        self.input(Input::Body { exchange, bytes: body.into() });
        self.input(Input::End { exchange });
    }

    fn reply_head(&mut self, exchange: ExchangeId, kind: &str) {
        self.input(Input::Head { exchange, status: 200, headers: vec![("Content-Type".into(), kind.into())] });
    }

    /// The agent begins to stream: a task that works.
    pub fn begin_stream(&mut self) -> Stream {
        let (exchange, fetch) = self.fetches.pop().expect("a message is sent");
        let id = id_of(&fetch);
        self.reply_head(exchange, "text/event-stream");
        let stream = Stream { exchange, id };
        self.event(&stream, r#"{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}"#);
        stream
    }

    pub fn event(&mut self, stream: &Stream, result: &str) {
        let text = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n\n", stream.id);
        self.input(Input::Body { exchange: stream.exchange, bytes: text.into() });
    }

    /// A word of the agent while it works.
    pub fn work(&mut self, stream: &Stream, words: &str) {
        let message = format!(r#"{{"messageId":"m","role":"ROLE_AGENT","parts":[{{"text":"{words}"}}]}}"#);
        let status = format!(r#"{{"state":"TASK_STATE_WORKING","message":{message}}}"#);
        self.event(stream, &format!(r#"{{"statusUpdate":{{"taskId":"t1","contextId":"c1","status":{status}}}}}"#));
    }

    /// The task completes: the stream says so and ends, and whoever asks again hears it.
    pub fn complete(&mut self, stream: &Stream) {
        let status = r#""status":{"state":"TASK_STATE_COMPLETED"}"#;
        self.event(stream, &format!(r#"{{"statusUpdate":{{"taskId":"t1","contextId":"c1",{status}}}}}"#));
        self.input(Input::End { exchange: stream.exchange });
        let asked = self.fetches.pop_if(|(_, fetch)| fetch.body.as_ref().is_some_and(|body| body.contains("GetTask")));
        if let Some((exchange, fetch)) = asked {
            let id = id_of(&fetch);
            let task = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":"t1","contextId":"c1",{status}}}}}"#);
            self.reply(exchange, "application/json", &task);
        }
    }
}

/// The id of a JSON-RPC request to the agent.
fn id_of(fetch: &Request) -> String {
    let body = json::parse(fetch.body.as_ref().unwrap(), 64).unwrap();
    json::members(body).unwrap().get("id").unwrap().get().to_owned()
}

/// A stream of the agent.
pub struct Stream {
    pub exchange: ExchangeId,
    id: String,
}

const CARD: &str = r#"{"name":"Agent","description":"d","version":"1","supportedInterfaces":[{"url":"https://agent.test/rpc",
"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],
"defaultOutputModes":["text/plain"],"skills":[]}"#;

pub const CONNECT: &str = r#"{"name":"connect_agent","arguments":{"alias":"agent","agent_url":"https://agent.test/"}}"#;
pub const SEND: &str = r#"{"name":"send_message","arguments":{"agent":"agent","message":"hi"}}"#;
pub const SEND_WITH_PROGRESS: &str =
    r#"{"name":"send_message","arguments":{"agent":"agent","message":"hi"},"_meta":{"progressToken":0}}"#;
pub const LIST_AGENTS: &str = r#"{"name":"list_agents","arguments":{}}"#;

pub fn rpc(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

pub fn initialize(version: &str) -> String {
    rpc("0", "initialize", &format!(r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t"}}}}"#))
}

/// Parameters with the envelope of the modern era.
pub fn with_meta(params: &str) -> String {
    let envelope = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    if let Some((start, end)) = params.split_once(r#""_meta":{"#) {
        return format!(r#"{start}"_meta":{{{envelope},{end}"#);
    }
    let inner = params.trim_start_matches('{');
    let comma = if inner == "}" { "" } else { "," };
    format!(r#"{{"_meta":{{{envelope}}}{comma}{inner}"#)
}
