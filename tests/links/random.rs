//! Random worlds: links that hang, die, lie and flood, approvals that come late, twice, of whoever asked, after a restart,
//! for other arguments or under another policy, and tasks whose work is a call. No call goes out without its approval, none
//! goes out twice, each is answered once, and every task ends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows::config::Config;
use narrows::io::{Input, LinkEvent, LinkId, PeerId, RequestId};

use narrows::json;

use crate::asking::ALL;
use crate::chance::{Chance, seeds};
use crate::world::{MODERN, World, at, string_at};

const SERVERS: [&str; 3] = ["a", "b", "c"];
/// What waits for a person under each of the policies, as the beginnings and ends of names.
const POLICIES: [(&str, &str, &str); 4] =
    [(r#"["mcp_*_write"]"#, "mcp_", "_write"), (r#"["mcp_a_*"]"#, "mcp_a_", ""), ("true", "", ""), (r#"["none"]"#, "none", "")];
const FALLBACKS: [&str; 3] = [r#""deny""#, r#""skip""#, r#"{"escalate":{"extra_timeout_secs":20}}"#];
/// Callers over HTTP, who both decide, but not about their own calls.
const CALLERS: [&str; 2] = ["ada", "bob"];

/// Peers of the era without sessions, which are asked for approvals by the results of their calls.
const ASKABLE: [u64; 2] = [3, 4];

/// A call that such a peer was asked about: by whom it was made, its number and tool, and what brings it back.
#[derive(Clone)]
struct Parked {
    peer: u64,
    call: u64,
    tool: String,
    key: String,
    state: String,
}

/// A request for an approval: of which call, by whom, with the tool as it was then.
struct Asked {
    call: u64,
    session: String,
    definition: Option<String>,
}

struct Story {
    chance: Chance,
    world: World,
    policy: usize,
    fallback: usize,
    calls: u64,
    requests: u64,
    /// calls of peers that are to be answered
    open: BTreeSet<u64>,
    asked: BTreeMap<String, Asked>,
    /// requests that somebody said yes to who may
    yes: BTreeSet<String>,
    /// calls that were allowed, with the tool as it was when they were asked about
    allowed: BTreeMap<u64, Option<String>>,
    went_out: BTreeSet<u64>,
    /// how often each server's tools became others
    definitions: BTreeMap<String, u64>,
    /// what was written to servers and not read yet
    unread: VecDeque<(String, LinkId, String)>,
    opened: BTreeSet<LinkId>,
    dead: BTreeSet<LinkId>,
    /// calls over HTTP: number, caller and tool; and those that waited when the gateway ended
    posted: Vec<(u64, &'static str, String)>,
    left: Vec<(u64, &'static str, String)>,
    /// requests of peers that can be asked: which peer, which call and which tool
    made: BTreeMap<u64, (u64, u64, String)>,
    parked: Vec<Parked>,
    /// requests that bring back what is not theirs
    foreign: BTreeSet<u64>,
    tasks: BTreeSet<String>,
    counts: BTreeMap<&'static str, u64>,
}

fn config(policy: usize, fallback: usize, servers: usize) -> String {
    let list: Vec<String> = SERVERS[..servers]
        .iter()
        .map(|name| {
            format!(
                r#"{{"name":"{name}","transport":{{"type":"stdio","command":"{name}"}},"timeout_secs":20,"health_check":{{"interval_secs":15,"unhealthy_threshold":2}}}}"#
            )
        })
        .collect();
    let tokens: Vec<String> =
        CALLERS.iter().map(|name| format!(r#"{{"token":"token-of-{name}","principal":"{name}","may_approve":true}}"#)).collect();
    format!(
        r#"{{"mcp_servers":[{}],"storage":true,"mcp":{{"pins":false}},"a2a":{{"responder":"tool"}},"auth":{{"tokens":[{}]}},"approval":{{"require_approval":{},"timeout_secs":30,"timeout_fallback":{},"cache_approvals_per_session":false,"elicitation":true}}}}"#,
        list.join(","),
        tokens.join(","),
        POLICIES[policy].0,
        FALLBACKS[fallback]
    )
}

impl Story {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let (policy, fallback) = (chance.index(POLICIES.len()), chance.index(FALLBACKS.len()));
        let mut world = World::new(&config(policy, fallback, 3));
        for peer in [1, 2] {
            world.open(peer);
            world.say(
                peer,
                r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
            );
        }
        ASKABLE.into_iter().for_each(|peer| world.open(peer));
        Self {
            chance,
            world,
            policy,
            fallback,
            calls: 0,
            requests: 0,
            open: BTreeSet::new(),
            asked: BTreeMap::new(),
            yes: BTreeSet::new(),
            allowed: BTreeMap::new(),
            went_out: BTreeSet::new(),
            definitions: BTreeMap::new(),
            unread: VecDeque::new(),
            opened: BTreeSet::new(),
            dead: BTreeSet::new(),
            posted: Vec::new(),
            left: Vec::new(),
            made: BTreeMap::new(),
            parked: Vec::new(),
            foreign: BTreeSet::new(),
            tasks: BTreeSet::new(),
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn waits(&self, name: &str) -> bool {
        let (_, start, end) = POLICIES[self.policy];
        name.starts_with(start) && name.ends_with(end)
    }

    fn step(&mut self) {
        match self.chance.below(24) {
            0..=5 => self.call(),
            6..=8 => self.decide_as_host(),
            9..=10 => self.decide_over_http(),
            11 => self.cancel(),
            12..=13 => {
                let ms = self.chance.below(25_000);
                self.world.advance(ms);
            }
            14 => self.fall(),
            15 if self.chance.one_in(3) => self.restart(),
            16 if self.chance.one_in(2) => self.configure(),
            17 => self.change_tools(),
            18 => self.repeat(),
            19..=21 => self.come_back(),
            22 => self.send(),
            23 if self.chance.one_in(2) => self.leave(),
            _ => {}
        }
        self.look();
        self.serve(3);
    }

    /// A call with a number that no other one has, of a peer or over HTTP.
    fn call(&mut self) {
        self.calls += 1;
        let (call, server) = (self.calls, *self.chance.pick(&SERVERS));
        let tool = *self.chance.pick(&["read", "write"]);
        let params = format!(r#""name":"mcp_{server}_{tool}","arguments":{{"call":{call}}}"#);
        if self.chance.one_in(3) {
            let peer = *self.chance.pick(&ASKABLE);
            self.make(peer, call, call, &format!("mcp_{server}_{tool}"), "");
        } else if self.chance.one_in(3) {
            let name = *self.chance.pick(&CALLERS);
            self.posted.push((call, name, format!("mcp_{server}_{tool}")));
            self.call_alone(call, name, &format!("mcp_{server}_{tool}"));
        } else {
            self.open.insert(call);
            let peer = self.chance.between(1, 2);
            self.world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{{{params}}}}}"#));
        }
    }

    fn call_alone(&mut self, call: u64, name: &str, tool: &str) {
        let params = format!(r#"{{"name":"{tool}","arguments":{{"call":{call}}},"_meta":{{{MODERN}}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{call},"method":"tools/call","params":{params}}}"#);
        let more = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        self.post("/mcp", name, &body, &more);
    }

    /// A peer that can be asked makes a call, or makes it again.
    fn make(&mut self, peer: u64, id: u64, call: u64, tool: &str, more: &str) {
        self.open.insert(id);
        self.made.insert(id, (peer, call, tool.to_owned()));
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{ALL}"#
        );
        let params = format!(r#"{{"name":"{tool}","arguments":{{"call":{call}}},"_meta":{{{meta}}}{more}}}"#);
        self.world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
    }

    /// Somebody brings a call back that its peer was asked about: late, twice, after a restart, with other arguments, or
    /// who did not make it.
    fn come_back(&mut self) {
        if self.parked.is_empty() {
            return;
        }
        let Parked { peer, call, tool, key, state } = self.chance.pick(&self.parked).clone();
        self.calls += 1;
        let id = self.calls;
        let (by, told) = match self.chance.below(6) {
            0 => (peer, id),
            1 => (ASKABLE[usize::from(peer == ASKABLE[0])], call),
            _ => (peer, call),
        };
        let said = *self.chance.pick(&["true", "true", "false", ""]);
        if (by, told) != (peer, call) {
            self.foreign.insert(id);
        } else if said == "true" {
            self.yes.extend(self.asked.iter().filter(|(_, asked)| asked.call == call).map(|(approval, _)| approval.clone()));
        }
        let answer = match said {
            "" => String::new(),
            said => format!(r#""{key}":{{"action":"accept","content":{{"approve":{said}}}}}"#),
        };
        self.make(by, id, told, &tool, &format!(r#","requestState":{state},"inputResponses":{{{answer}}}"#));
    }

    /// A peer that can be asked leaves, and comes again. Nothing is decided by that.
    fn leave(&mut self) {
        let (peer, before) = (*self.chance.pick(&ASKABLE), self.pending());
        self.world.input(Input::Closed { peer: PeerId(peer) });
        self.look();
        let made = &self.made;
        self.open.retain(|id| made.get(id).is_none_or(|(by, ..)| *by != peer));
        assert_eq!(self.pending(), before, "what waits for {peer} outlives that it left");
        self.world.open(peer);
        self.count("left");
    }

    /// The requests for approvals that wait, as whoever decides is told.
    fn pending(&mut self) -> String {
        let before = self.world.responses.len();
        self.request("GET", "/api/approvals?state=pending", "ada", "", &[]);
        let list = at(&self.world.responses[before].1, &["items"]).expect("a list");
        let list = json::elements(json::parse(&list, 64).unwrap()).unwrap();
        list.iter().map(|item| string_at(item.get(), &["id"]).unwrap() + " ").collect()
    }

    /// A task whose work is a call; now and then its server is gone just then, and the policy another one before it is back.
    fn send(&mut self) {
        self.calls += 1;
        let (call, server, tool) = (self.calls, *self.chance.pick(&SERVERS), *self.chance.pick(&["read", "write"]));
        let is_gone = self.chance.one_in(3) && self.running().iter().any(|name| name == server);
        if is_gone {
            self.ends(server, "ended with exit code 1");
        }
        let message = format!(r#"{{"messageId":"m-{call}","role":"ROLE_USER","parts":[{{"data":{{"call":{call}}}}}]}}"#);
        let more = r#""configuration":{"returnImmediately":true}"#;
        let params = format!(r#"{{"message":{message},{more},"metadata":{{"skill":"mcp_{server}_{tool}"}}}}"#);
        let answer = self.rpc("SendMessage", &params);
        self.tasks.extend(string_at(&answer, &["result", "task", "id"]));
        if is_gone {
            self.configure();
        }
    }

    fn rpc(&mut self, method: &str, params: &str) -> String {
        let before = self.world.responses.len();
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        self.post("/a2a", "ada", &body, &[("A2A-Version", "1.0")]);
        self.world.responses[before].1.clone()
    }

    fn check_tasks(&mut self) {
        for id in std::mem::take(&mut self.tasks) {
            let task = self.rpc("GetTask", &format!(r#"{{"id":"{id}"}}"#));
            let state = string_at(&task, &["result", "status", "state"]).unwrap_or_else(|| panic!("{task}"));
            let state = state.trim_start_matches("TASK_STATE_");
            assert!(["COMPLETED", "FAILED", "REJECTED", "CANCELED"].contains(&state), "a task never ends: {task}");
            self.count("a task ended");
        }
    }

    /// A caller whose connection went with the gateway makes its call again, once, or another one with the same tool.
    fn repeat(&mut self) {
        let Some((mut call, name, tool)) = self.left.pop() else { return };
        if self.chance.one_in(3) {
            self.calls += 1;
            call = self.calls;
            self.count("left with other arguments");
        }
        let asked = self.counts.get("asked").copied();
        self.call_alone(call, name, &tool);
        self.look();
        self.count(if self.counts.get("asked").copied() == asked { "joined" } else { "asked anew" });
    }

    /// A request over HTTP; the status of its response, where it came at once.
    fn post(&mut self, target: &str, name: &str, body: &str, more: &[(&str, &str)]) -> Option<u16> {
        self.request("POST", target, name, body, more)
    }

    fn request(&mut self, method: &str, target: &str, name: &str, body: &str, more: &[(&str, &str)]) -> Option<u16> {
        self.requests += 1;
        let request = RequestId(self.requests);
        let before = self.world.responses.len();
        let mut headers = vec![
            ("Host".to_owned(), "localhost".to_owned()),
            ("Authorization".to_owned(), format!("Bearer token-of-{name}")),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.world.input(Input::Request { request, method: method.into(), target: target.into(), headers });
        if method == "POST" {
            self.world.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
            self.world.input(Input::RequestEnd { request });
        }
        self.world.responses.get(before).map(|(status, _)| *status)
    }

    /// Any request for an approval, decided or not, or one that never was.
    fn some_request(&mut self) -> String {
        let known: Vec<&String> = self.asked.keys().collect();
        if known.is_empty() || self.chance.one_in(20) { "nothing".to_owned() } else { (*self.chance.pick(&known)).clone() }
    }

    fn decide_as_host(&mut self) {
        let (id, approved) = (self.some_request(), !self.chance.one_in(4));
        if approved {
            self.yes.insert(id.clone());
        }
        let told = self.world.notices.len();
        self.world.input(Input::Decision { approval: id.clone(), approved, reason: None });
        let refused = self.world.notices[told..].iter().any(|(event, _)| event == "approval_not_decided");
        self.count(if refused { "refused" } else { "decided" });
    }

    fn decide_over_http(&mut self) {
        let (id, name) = (self.some_request(), *self.chance.pick(&CALLERS));
        let verb = if self.chance.one_in(4) { "reject" } else { "approve" };
        let own = self.asked.get(&id).is_some_and(|asked| asked.session.starts_with(&format!("http/{name}")));
        if verb == "approve" && !own {
            self.yes.insert(id.clone());
        }
        let status = self.post(&format!("/api/approvals/{id}/{verb}"), name, "{}", &[]);
        if own {
            assert_ne!(status, Some(200), "whoever asks does not decide");
            self.count("own");
        }
    }

    fn cancel(&mut self) {
        let open: Vec<u64> = self.open.iter().copied().collect();
        if open.is_empty() {
            return;
        }
        let call = *self.chance.pick(&open);
        for peer in 1..=4 {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{call}}}}}"#);
            self.world.say(peer, &text);
        }
        self.look();
        self.open.remove(&call);
    }

    /// The servers whose process runs.
    fn running(&self) -> Vec<String> {
        let runs = |link: &LinkId| self.opened.contains(link) && !self.dead.contains(link) && !self.world.closed.contains(link);
        self.world.running.iter().filter(|(_, link)| runs(link)).map(|(name, _)| name.clone()).collect()
    }

    fn ends(&mut self, server: &str, detail: &str) {
        self.dead.insert(self.world.running[server]);
        self.world.event(server, LinkEvent::Closed(detail.into()));
    }

    /// A server dies, says nonsense, or floods.
    fn fall(&mut self) {
        let running = self.running();
        if running.is_empty() {
            return;
        }
        let server = self.chance.pick(&running).clone();
        match self.chance.below(3) {
            0 => self.ends(&server, "ended with exit code 1"),
            1 => self.world.event(&server, LinkEvent::LineTooLong { start: "{".into(), end: "}".into(), bytes: 1 << 30 }),
            _ => {
                for number in 0..50 {
                    let text = match number % 4 {
                        0 => r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.to_owned(),
                        1 => r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#
                            .to_owned(),
                        2 => format!(r#"{{"jsonrpc":"2.0","id":"x{number}","method":"ping"}}"#),
                        _ => "no JSON at all".to_owned(),
                    };
                    if self.running().contains(&server) {
                        self.world.line(&server, &text);
                    }
                }
            }
        }
    }

    /// The tools of a server are described otherwise from here on.
    fn change_tools(&mut self) {
        let running = self.running();
        if running.is_empty() {
            return;
        }
        let server = self.chance.pick(&running).clone();
        *self.definitions.entry(server.clone()).or_default() += 1;
        self.world.line(&server, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    }

    fn configure(&mut self) {
        self.look();
        self.policy = self.chance.index(POLICIES.len());
        let servers = usize::try_from(self.chance.between(2, 3)).unwrap();
        let config = Config::from_json(&config(self.policy, self.fallback, servers)).unwrap();
        self.world.input(Input::Configure { config: config.into() });
        self.count("configured");
    }

    /// The gateway ends and goes on from its snapshot; the processes of its servers are gone.
    fn restart(&mut self) {
        self.look();
        let asked: BTreeSet<u64> = self.asked.values().map(|asked| asked.call).collect();
        let waited = |(call, ..): &(u64, &'static str, String)| asked.contains(call) && !self.went_out.contains(call);
        self.left = std::mem::take(&mut self.posted).into_iter().filter(waited).collect();
        self.world = self.world.restarted(8, &config(self.policy, self.fallback, 3));
        self.unread.clear();
        self.count("restarted");
    }

    /// Servers start, read what they were sent, and most of the time do as they should.
    fn serve(&mut self, most: usize) {
        let waits = |link: &LinkId| !self.opened.contains(link) && !self.dead.contains(link) && !self.world.closed.contains(link);
        let starting = self.world.running.iter().filter(|(_, link)| waits(link)).map(|(name, link)| (name.clone(), *link));
        for (server, link) in starting.collect::<Vec<_>>() {
            if !self.chance.one_in(8) {
                self.opened.insert(link);
                self.world.event(&server, LinkEvent::Opened);
                self.look();
            }
        }
        for _ in 0..most {
            let Some((server, link, text)) = self.unread.pop_front() else { return };
            if self.world.running.get(&server) == Some(&link) && self.running().contains(&server) {
                self.read(&server, &text);
                self.look();
            }
        }
    }

    fn read(&mut self, server: &str, text: &str) {
        let (method, id) = (string_at(text, &["method"]).unwrap_or_default(), at(text, &["id"]));
        let Some(id) = id else { return };
        let definition = self.definitions.get(server).copied().unwrap_or_default();
        let result = match method.as_str() {
            "initialize" => r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}"#.to_owned(),
            "tools/list" => {
                let tool =
                    |name| format!(r#"{{"name":"{name}","description":"as of {definition}","inputSchema":{{"type":"object"}}}}"#);
                format!(r#"{{"tools":[{},{}]}}"#, tool("read"), tool("write"))
            }
            "server/discover" => {
                return self
                    .world
                    .line(server, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
            }
            _ => r#"{"content":[]}"#.to_owned(),
        };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let what = self.chance.below(16);
        match what {
            0 => {}
            1 => self.ends(server, "ended by SIGKILL"),
            2 => {
                self.world.line(server, &answer);
                if self.running().iter().any(|name| name == server) {
                    self.world.line(server, &answer);
                }
            }
            3 => self.world.line(server, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"no"}}}}"#)),
            _ => self.world.line(server, &answer),
        }
    }

    /// Takes note of what the gateway said and wrote since the last look: which is after every input.
    fn look(&mut self) {
        for (event, fields) in std::mem::take(&mut self.world.notices) {
            match event.as_str() {
                "approval_proposed" => self.proposed(&fields),
                "approval_decided" if string_at(&fields, &["state"]).as_deref() == Some("approved") => {
                    let id = string_at(&fields, &["id"]).unwrap();
                    assert!(self.yes.contains(&id), "{id} is approved and nobody said so");
                    let asked = &self.asked[&id];
                    self.allowed.insert(asked.call, asked.definition.clone());
                }
                _ => {}
            }
        }
        for (link, text) in std::mem::take(&mut self.world.written) {
            let server = self.world.running.iter().find(|(_, known)| **known == link).map(|(name, _)| name.clone());
            let Some(server) = server else { continue };
            if string_at(&text, &["method"]).as_deref() == Some("tools/call") {
                self.goes_out(&server, &text);
            }
            self.unread.push_back((server, link, text));
        }
        self.read_answers();
    }

    fn proposed(&mut self, fields: &str) {
        let read = |name| string_at(fields, &[name]).unwrap();
        let (id, session, summary) = (read("id"), read("session"), read("summary"));
        let number = summary.rsplit(':').next().unwrap().trim_end_matches('}');
        let call = number.parse().unwrap_or_else(|_| panic!("{summary}"));
        let definition = self.described(&read("tool"));
        self.asked.insert(id, Asked { call, session, definition });
        self.count("asked");
    }

    /// How the gateway describes a tool now.
    fn described(&mut self, name: &str) -> Option<String> {
        self.world.say(1, r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#);
        let found = self.world.said.iter().position(|(_, text)| string_at(text, &["id"]).as_deref() == Some("list"));
        let (_, list) = self.world.said.remove(found.unwrap()).unwrap();
        let at = list.find(&format!(r#""name":"{name}""#))?;
        Some(list[at..].split('}').next().unwrap().to_owned())
    }

    /// A call was written to a server: it may be, and was not before.
    fn goes_out(&mut self, server: &str, text: &str) {
        let call: u64 = at(text, &["params", "arguments", "call"]).unwrap().parse().unwrap();
        let name = format!("mcp_{server}_{}", string_at(text, &["params", "name"]).unwrap());
        assert!(self.went_out.insert(call), "call {call} of {name} goes out twice");
        if self.waits(&name) {
            let now = self.described(&name);
            assert_eq!(self.allowed.get(&call), Some(&now), "call {call} of {name} goes out as nobody allowed it");
            self.count("approved");
        }
        self.count("out");
    }

    fn read_answers(&mut self) {
        for (PeerId(peer), text) in std::mem::take(&mut self.world.said) {
            let Some(call) = at(&text, &["id"]).and_then(|id| id.parse::<u64>().ok()).filter(|call| *call > 0) else { continue };
            if string_at(&text, &["method"]).is_some() {
                continue;
            }
            assert!(self.open.remove(&call), "call {call} of peer {peer} has an answer that nobody waits for: {text}");
            if self.foreign.remove(&call) {
                let is_fault = at(&text, &["error", "code"]).as_deref() == Some("-32602");
                assert!(is_fault || text.contains(r#""isError":true"#), "what is not theirs is refused: {text}");
                self.count("not theirs");
            }
            let requests = at(&text, &["result", "inputRequests"]).unwrap_or_default();
            let Some(members) = json::parse(&requests, 64).ok().and_then(json::members) else { continue };
            let key = members.iter().next().expect("a question").0.to_owned();
            let state = at(&text, &["result", "requestState"]).expect("a state");
            let (peer, call, tool) = self.made[&call].clone();
            self.parked.push(Parked { peer, call, tool, key, state });
        }
    }
}

#[test]
fn no_call_goes_out_without_its_approval_and_none_twice() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds(100) {
        println!("seed {seed}");
        let mut story = Story::new(seed);
        for _ in 0..150 {
            story.step();
        }
        // Everything comes to its end: nobody decides any more, and every server is silent.
        story.world.advance(600_000);
        story.look();
        assert!(story.open.is_empty(), "seed {seed}: never answered: {:?}", story.open);
        story.check_tasks();
        for (what, count) in &story.counts {
            *counts.entry(what).or_default() += count;
        }
    }
    println!("{counts:?}");
    let decisions = ["out", "approved", "asked", "decided", "refused", "own", "not theirs", "left"];
    let others = ["restarted", "configured", "joined", "asked anew", "left with other arguments", "a task ended"];
    for what in decisions.into_iter().chain(others) {
        assert!(counts.get(what).is_some_and(|count| *count > 0), "it never came to this: {what}: {counts:?}");
    }
}
