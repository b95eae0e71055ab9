//! Random worlds of servers that ask while they are called, of clients in sessions and of clients without: answers come
//! late, twice, of somebody else, to another question, after a restart, or never. Whoever was asked is the caller, an answer
//! reaches the question that it answers and nothing else, once, and every request has one answer.

use std::collections::{BTreeMap, BTreeSet};

use narrows::io::{Input, LinkEvent, LinkId, PeerId};
use narrows::json;

use crate::asking::{ALL, shake};
use crate::chance::{Chance, seeds};
use crate::world::{World, at, servers, string_at};

/// One with a handshake, which asks by requests of its own, and one without, which asks by results.
const SERVERS: [&str; 2] = ["old", "new"];
/// The first two are in sessions, the others are not.
const PEERS: [u64; 4] = [1, 2, 3, 4];
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"#;

fn is_modern(peer: u64) -> bool {
    peer > 2
}

/// A peer, and how often it came before.
type Client = (u64, u64);

struct Call {
    by: Client,
    server: usize,
}

/// A question of a server.
struct Question {
    call: u64,
    /// its process; `None` for one of an earlier life
    link: Option<LinkId>,
    /// the id of its request, or the key in its result
    name: String,
    /// an answer reached it
    answered: bool,
}

/// What a client was asked: by a request, which has an id, or by a result, which has a state.
#[derive(Clone)]
struct Asked {
    of: Client,
    call: u64,
    /// the id, or the state, literally
    handle: String,
    /// the keys of the questions; none in a request
    questions: Vec<(String, u64)>,
    /// the keys of what is to be done before the call is made once more
    links: Vec<String>,
}

/// What a client said to a question; or to nothing that it was asked.
struct Answer {
    by: Client,
    /// in which call
    call: u64,
    question: Option<u64>,
}

struct Dialogue {
    chance: Chance,
    world: World,
    /// how often each peer came
    visits: BTreeMap<u64, u64>,
    numbers: u64,
    calls: BTreeMap<u64, Call>,
    /// requests that are to be answered: of which call each is
    open: BTreeMap<(u64, u64), u64>,
    /// calls that servers work at, by their request
    running: BTreeMap<(LinkId, String), u64>,
    /// how often each call may go out
    allowed: BTreeMap<u64, u64>,
    went_out: BTreeMap<u64, u64>,
    questions: BTreeMap<u64, Question>,
    asked: Vec<Asked>,
    answers: BTreeMap<u64, Answer>,
    delivered: BTreeSet<u64>,
    opened: BTreeSet<LinkId>,
    dead: BTreeSet<LinkId>,
    counts: BTreeMap<String, u64>,
}

fn numbers_after(text: &str, word: &str) -> Vec<u64> {
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.split(word).skip(1).filter_map(digits).collect()
}

fn config() -> String {
    let servers = servers(&SERVERS);
    format!(r#"{},"mcp":{{"pins":false}}}}"#, servers.strip_suffix('}').unwrap())
}

impl Dialogue {
    fn new(seed: u64) -> Self {
        let mut dialogue = Self {
            chance: Chance::new(seed),
            world: World::new(&config()),
            visits: BTreeMap::new(),
            numbers: 0,
            calls: BTreeMap::new(),
            open: BTreeMap::new(),
            running: BTreeMap::new(),
            allowed: BTreeMap::new(),
            went_out: BTreeMap::new(),
            questions: BTreeMap::new(),
            asked: Vec::new(),
            answers: BTreeMap::new(),
            delivered: BTreeSet::new(),
            opened: BTreeSet::new(),
            dead: BTreeSet::new(),
            counts: BTreeMap::new(),
        };
        PEERS.into_iter().for_each(|peer| dialogue.comes(peer));
        dialogue.serve();
        dialogue
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn client(&self, peer: u64) -> Client {
        (peer, self.visits[&peer])
    }

    fn comes(&mut self, peer: u64) {
        *self.visits.entry(peer).or_default() += 1;
        self.world.open(peer);
        if !is_modern(peer) {
            shake(&mut self.world, peer, ALL);
        }
        self.look();
    }

    fn step(&mut self) {
        match self.chance.below(24) {
            0..=4 => self.call(),
            5..=10 => self.go_on(),
            11..=18 => self.answer(),
            19 => self.cancel(),
            20 => {
                let ms = *self.chance.pick(&[100, 5000, 40_000, 400_000]);
                self.world.advance(ms);
            }
            21 if self.chance.one_in(3) => {
                let peer = *self.chance.pick(&PEERS);
                self.world.input(Input::Closed { peer: PeerId(peer) });
                self.look();
                self.open.retain(|(of, _), _| *of != peer);
                self.comes(peer);
                self.count("came again");
            }
            22 if self.chance.one_in(4) => self.restart(),
            23 if self.chance.one_in(3) => self.die(),
            _ => {}
        }
        self.look();
        self.serve();
    }

    fn call(&mut self) {
        let (call, server, peer) = (self.number(), self.chance.index(2), *self.chance.pick(&PEERS));
        let by = self.client(peer);
        self.calls.insert(call, Call { by, server });
        self.allowed.insert(call, 1);
        self.request(peer, call, call, "");
    }

    /// Makes a call, or makes it again.
    fn request(&mut self, peer: u64, id: u64, call: u64, more: &str) {
        let server = SERVERS[self.calls[&call].server];
        let meta = if is_modern(peer) { format!(r#","_meta":{{{META}{ALL}}}"#) } else { String::new() };
        let params = format!(r#"{{"name":"mcp_{server}_x","arguments":{{"call":{call}}}{meta}{more}}}"#);
        self.open.insert((peer, id), call);
        self.world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
    }

    fn lives(&self, link: LinkId) -> bool {
        self.opened.contains(&link) && !self.dead.contains(&link) && !self.world.closed.contains(&link)
    }

    /// A server goes on with a call: it asks, takes a question back, answers or fails.
    fn go_on(&mut self) {
        let running: Vec<_> = self.running.iter().filter(|((link, _), _)| self.lives(*link)).collect();
        if running.is_empty() {
            return;
        }
        let ((link, id), call) = *self.chance.pick(&running);
        let (link, id, call) = (*link, id.clone(), *call);
        let server = self.calls[&call].server;
        match self.chance.below(8) {
            0..=4 => self.asks(server, link, &id, call),
            5 => {
                let open = self.questions.values().filter(|question| question.link == Some(link) && !question.answered);
                let open: Vec<String> = open.map(|question| question.name.clone()).collect();
                if server == 0 && !open.is_empty() {
                    let params = format!(r#"{{"requestId":{}}}"#, self.chance.pick(&open));
                    let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
                    self.line(link, &text);
                    self.count("taken back");
                }
            }
            6 if server == 0 && self.chance.one_in(2) => self.wants_links(link, &id, call),
            6 => {
                self.running.remove(&(link, id.clone()));
                self.line(link, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"no"}}}}"#));
            }
            _ => {
                self.running.remove(&(link, id.clone()));
                let content = format!(r#"[{{"type":"text","text":"done-{call}."}}]"#);
                self.line(link, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{content}}}}}"#));
            }
        }
    }

    fn asks(&mut self, server: usize, link: LinkId, id: &str, call: u64) {
        let count = self.chance.between(1, 3);
        let mut parts = Vec::new();
        for _ in 0..count {
            let number = self.number();
            let name = if server == 0 { format!("\"q{number}\"") } else { format!("k{number}") };
            let params = format!(r#"{{"message":"question-{number}.","requestedSchema":{{"type":"object","properties":{{}}}}}}"#);
            self.questions.insert(number, Question { call, link: Some(link), name: name.clone(), answered: false });
            self.count(&format!("a server asks: {}", SERVERS[server]));
            if server == 0 {
                let text = format!(r#"{{"jsonrpc":"2.0","id":{name},"method":"elicitation/create","params":{params}}}"#);
                self.line(link, &text);
            } else {
                parts.push(format!(r#""{name}":{{"method":"elicitation/create","params":{params}}}"#));
            }
        }
        if server == 1 {
            self.running.remove(&(link, id.to_owned()));
            let state = if self.chance.one_in(2) { format!(r#","requestState":"state-of-{call}""#) } else { String::new() };
            let result = format!(r#"{{"resultType":"input_required","inputRequests":{{{}}}{state}}}"#, parts.join(","));
            *self.allowed.get_mut(&call).unwrap() += u64::from(!is_modern(self.calls[&call].by.0));
            self.line(link, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
    }

    /// A server with a handshake ends a call because its user is to open a link first, or as those without handshakes do,
    /// whatever else it asked before.
    fn wants_links(&mut self, link: LinkId, id: &str, call: u64) {
        self.running.remove(&(link, id.to_owned()));
        let words = format!(r#""message":"link-of-{call}.""#);
        let outcome = if self.chance.one_in(3) {
            let ask = format!(
                r#"{{"method":"elicitation/create","params":{{{words},"requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#
            );
            format!(r#""result":{{"resultType":"input_required","inputRequests":{{"k":{ask}}}}}"#)
        } else {
            let link = format!(r#"{{"mode":"url","elicitationId":"e","url":"https://bank.test/pay",{words}}}"#);
            format!(r#""error":{{"code":-32042,"message":"first pay","data":{{"elicitations":[{link}]}}}}"#)
        };
        self.count("a server wants a link opened");
        self.line(link, &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    }

    fn line(&mut self, link: LinkId, text: &str) {
        if self.lives(link) {
            self.world.input(Input::Link { link, event: LinkEvent::Line(text.to_owned()) });
            self.look();
        }
    }

    /// Somebody answers something that somebody was asked, most of the time who was asked.
    fn answer(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let newest = self.asked.len().saturating_sub(4);
        let from = if self.chance.one_in(3) { 0 } else { newest };
        let asked = self.asked[from + self.chance.index(self.asked.len() - from)].clone();
        let peer = if self.chance.one_in(6) { *self.chance.pick(&PEERS) } else { asked.of.0 };
        if peer != asked.of.0 {
            self.count("a stranger answers");
        }
        if asked.questions.iter().any(|(key, _)| key.is_empty()) {
            let content = self.content(peer, asked.call, Some(asked.questions[0].1));
            let outcome = if self.chance.one_in(6) {
                format!(r#""error":{{"code":-1,"message":"{content}"}}"#)
            } else {
                format!(r#""result":{{"action":"accept","content":{{"a":"{content}"}}}}"#)
            };
            return self.world.say(peer, &format!(r#"{{"jsonrpc":"2.0","id":{},{outcome}}}"#, asked.handle));
        }
        if !is_modern(peer) {
            return;
        }
        let mut responses = Vec::new();
        for (key, question) in &asked.questions {
            if !self.chance.one_in(6) {
                let content = self.content(peer, asked.call, Some(*question));
                responses.push(format!(r#""{key}":{{"action":"accept","content":{{"a":"{content}"}}}}"#));
            }
        }
        if self.chance.one_in(6) {
            // To a question that was not asked here.
            let content = self.content(peer, asked.call, None);
            responses.push(format!(r#""other":{{"action":"accept","content":{{"a":"{content}"}}}}"#));
        }
        for key in &asked.links {
            if !self.chance.one_in(6) {
                responses.push(format!(r#""{key}":{{"action":"accept"}}"#));
            }
        }
        let state = if self.chance.one_in(12) { asked.handle.replacen('e', "f", 1) } else { asked.handle.clone() };
        let id = self.number();
        if !asked.links.is_empty() && peer == asked.of.0 {
            // The call is made anew, by whoever the peer is now.
            self.calls.get_mut(&asked.call).unwrap().by = self.client(peer);
        }
        if self.calls[&asked.call].server == 1 || !asked.links.is_empty() {
            *self.allowed.get_mut(&asked.call).unwrap() += 1;
        }
        let more = format!(r#","requestState":{state},"inputResponses":{{{}}}"#, responses.join(","));
        self.request(peer, id, asked.call, &more);
    }

    /// Words that nobody said before.
    fn content(&mut self, peer: u64, call: u64, question: Option<u64>) -> String {
        let (number, by) = (self.number(), self.client(peer));
        self.answers.insert(number, Answer { by, call, question });
        format!("answer-{number}.")
    }

    fn cancel(&mut self) {
        let open: Vec<_> = self.open.keys().copied().collect();
        if open.is_empty() {
            return;
        }
        let (peer, id) = *self.chance.pick(&open);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        self.world.say(peer, &text);
        self.look();
        self.open.remove(&(peer, id));
    }

    fn die(&mut self) {
        let running: Vec<LinkId> = self.world.running.values().copied().filter(|link| self.lives(*link)).collect();
        if !running.is_empty() {
            let link = *self.chance.pick(&running);
            self.dead.insert(link);
            self.world.input(Input::Link { link, event: LinkEvent::Closed("ended".into()) });
            self.count("died");
        }
    }

    /// The gateway ends and goes on from its snapshot.
    fn restart(&mut self) {
        self.look();
        // Processes have numbers of their own in each life.
        (self.opened, self.dead) = (BTreeSet::new(), BTreeSet::new());
        self.running.clear();
        self.questions.values_mut().for_each(|question| question.link = None);
        self.world = self.world.restarted(8, &config());
        self.count("restarted");
    }

    /// Servers start, and say what is asked of them but for calls.
    fn serve(&mut self) {
        for _ in 0..20 {
            let starting = self
                .world
                .running
                .values()
                .copied()
                .filter(|link| !self.opened.contains(link) && !self.dead.contains(link) && !self.world.closed.contains(link));
            for link in starting.collect::<Vec<_>>() {
                self.opened.insert(link);
                self.world.input(Input::Link { link, event: LinkEvent::Opened });
            }
            if !self.look() {
                break;
            }
        }
    }

    /// Takes note of what the gateway said and wrote; whether it wrote anything.
    fn look(&mut self) -> bool {
        let written = std::mem::take(&mut self.world.written);
        let any = !written.is_empty();
        for (link, text) in written {
            let server = self.world.started.iter().find(|(known, _)| *known == link).map(|(_, process)| process.server.clone());
            let server = SERVERS.iter().position(|name| server.as_deref() == Some(*name)).expect("a server");
            for number in numbers_after(&text, "answer-") {
                self.reaches(server, link, &text, number);
            }
            if self.lives(link) {
                self.reads(server, link, &text);
            }
        }
        for (PeerId(peer), text) in std::mem::take(&mut self.world.said) {
            self.hears(peer, &text);
        }
        any
    }

    /// An answer is written to a server.
    fn reaches(&mut self, server: usize, link: LinkId, text: &str, number: u64) {
        assert!(self.delivered.insert(number), "an answer goes out twice: {text}");
        let answer = &self.answers[&number];
        let Some(question) = answer.question else {
            // A server that keeps nothing is told what its client says, and knows itself what it asked.
            assert_eq!((server, answer.by.0), (1, self.calls[&answer.call].by.0), "an answer to nothing goes out: {text}");
            assert_eq!(at(text, &["params", "arguments", "call"]), Some(answer.call.to_string()), "of another call: {text}");
            return;
        };
        let question = self.questions.get_mut(&question).unwrap();
        let call = &self.calls[&question.call];
        assert_eq!(call.server, server, "an answer goes to another server: {text}");
        let is_stateless = server == 1 && is_modern(call.by.0);
        assert_eq!(answer.by.0, call.by.0, "somebody else answers: {text}");
        assert!(is_stateless || answer.by == call.by, "an answer of another session: {text}");
        assert!(is_stateless || !question.answered, "a question is answered twice: {text}");
        question.answered = true;
        if server == 0 {
            assert_eq!(Some(link), question.link, "an answer goes to another process: {text}");
            assert_eq!(at(text, &["id"]).as_ref(), Some(&question.name), "an answer to another question: {text}");
        } else {
            assert_eq!(at(text, &["params", "arguments", "call"]), Some(question.call.to_string()), "of another call: {text}");
            let told = at(text, &["params", "inputResponses", &question.name]).unwrap_or_default();
            assert_eq!(numbers_after(&told, "answer-"), [number], "an answer to another question: {text}");
        }
        let pair = (if is_modern(call.by.0) { "modern" } else { "legacy" }, SERVERS[server]);
        self.count(&format!("answered: {pair:?}"));
    }

    fn reads(&mut self, server: usize, link: LinkId, text: &str) {
        let (method, id) = (string_at(text, &["method"]).unwrap_or_default(), at(text, &["id"]));
        if method == "notifications/cancelled" {
            let id = at(text, &["params", "requestId"]).unwrap_or_default();
            self.running.remove(&(link, id));
        }
        let Some(id) = id else { return };
        let outcome = match method.as_str() {
            "server/discover" if server == 0 => r#""error":{"code":-32601,"message":"no"}"#.to_owned(),
            "server/discover" => {
                r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#.to_owned()
            }
            "initialize" => r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#.to_owned(),
            "tools/list" => r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#.to_owned(),
            "ping" => r#""result":{}"#.to_owned(),
            "tools/call" => {
                let call: u64 = at(text, &["params", "arguments", "call"]).unwrap().parse().unwrap();
                let times = self.went_out.entry(call).or_default();
                *times += 1;
                assert!(*times <= self.allowed[&call], "call {call} goes out {times} times");
                assert!(self.open.values().any(|open| *open == call), "call {call} goes out for nobody");
                self.running.insert((link, id), call);
                return;
            }
            _ => return,
        };
        self.world.input(Input::Link { link, event: LinkEvent::Line(format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#)) });
    }

    /// A client is told something.
    fn hears(&mut self, peer: u64, text: &str) {
        let of = self.client(peer);
        let asked = numbers_after(text, "question-");
        for number in &asked {
            let call = &self.calls[&self.questions[number].call];
            assert_eq!(call.by.0, peer, "somebody else is asked: {text}");
            assert!(call.by == of || is_modern(peer) && call.server == 1, "another session is asked: {text}");
        }
        for number in numbers_after(text, "link-of-").into_iter().chain(numbers_after(text, "done-")) {
            assert_eq!(self.calls[&number].by.0, peer, "somebody else is answered: {text}");
        }
        let id = at(text, &["id"]);
        if string_at(text, &["method"]).is_some() {
            if let (Some(handle), [question]) = (id, asked.as_slice()) {
                let call = self.questions[question].call;
                self.asked.push(Asked { of, call, handle, questions: vec![(String::new(), *question)], links: Vec::new() });
                self.count("asked by a request");
            }
            return;
        }
        let Some(id) = id.and_then(|id| id.parse::<u64>().ok()).filter(|id| *id > 0) else { return };
        let call = self.open.remove(&(peer, id)).unwrap_or_else(|| panic!("{peer} does not wait for {text}"));
        if at(text, &["error", "code"]).as_deref() == Some("-32602") {
            self.count("refused");
        }
        let requests = at(text, &["result", "inputRequests"]).unwrap_or_default();
        let Some(members) = json::parse(&requests, 64).ok().and_then(json::members) else { return };
        let handle = at(text, &["result", "requestState"]).expect("a state");
        let (links, questions): (Vec<_>, Vec<_>) = members.iter().partition(|(_, raw)| raw.get().contains("link-of-"));
        let links = links.into_iter().map(|(key, _)| key.to_owned()).collect();
        let questions = questions.into_iter().map(|(key, raw)| (key.to_owned(), numbers_after(raw.get(), "question-")[0]));
        self.asked.push(Asked { of, call, handle, questions: questions.collect(), links });
        self.count("asked by a result");
    }
}

#[test]
fn answers_reach_the_questions_that_they_answer_once() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds(150) {
        println!("seed {seed}");
        let mut dialogue = Dialogue::new(seed);
        for _ in 0..120 {
            dialogue.step();
        }
        // Nobody says anything any more.
        dialogue.world.advance(1_500_000);
        dialogue.look();
        assert!(dialogue.open.is_empty(), "seed {seed}: never answered: {:?}", dialogue.open);
        for (what, count) in dialogue.counts {
            *counts.entry(what).or_default() += count;
        }
    }
    println!("{counts:?}");
    let pairs = ["legacy", "modern"].into_iter().flat_map(|era| SERVERS.map(|server| format!("answered: {:?}", (era, server))));
    let others = [
        "a server wants a link opened",
        "a stranger answers",
        "asked by a request",
        "asked by a result",
        "came again",
        "died",
        "refused",
        "restarted",
        "taken back",
    ];
    for what in pairs.chain(others.map(str::to_owned)) {
        assert!(counts.get(&what).is_some_and(|count| *count > 0), "it never came to this: {what}: {counts:?}");
    }
}
