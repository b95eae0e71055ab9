//! A random world: peers that call, over streams and over HTTP, agents that answer or do not, clocks that jump, restarts.

use std::collections::BTreeMap;

use narrows::config::Config;
use narrows::io::{ExchangeId, Input, PeerId, Request, RequestId};
use narrows::limits::Limits;
use narrows::time::Instant;

use super::client::Client;
use super::mischief::{self, Weather};
use super::model::Model;
use super::network::{Arrival, Network};
use super::twin::Twin;
use super::visits::word;
use super::wish::{self, About, Patience, Wish};
use crate::support::agent::{self, Agent};
use crate::support::chance::Chance;
use crate::support::host::{self, Host};
use crate::support::rule::{self, Rule};
use crate::support::schema;
use crate::support::secret::{Secret, origin};
use crate::support::served;
use crate::support::text::{at, quoted, string_at};
use crate::support::watch::{Call, Life};
use crate::support::wire::{self, Ask};

/// What kind of world it is.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub weather: Weather,
    /// the gateway is stopped and restored from time to time
    pub restarts: bool,
    pub config: &'static str,
    /// the trace and snapshots without credentials are kept
    pub traced: bool,
    /// clients over HTTP
    pub clients: usize,
    /// the gateway stops serving now and then
    pub stops: bool,
    /// how much the peers do
    pub actions: u64,
}

pub const ROOMY: &str = r#"{"inbox_ttl_seconds":1000000}"#;
/// The host keeps what it is told to.
pub const STORED: &str = r#"{"inbox_ttl_seconds":1000000,"storage":true}"#;
/// Two principals.
pub const GUARDED: &str = r#"{"inbox_ttl_seconds":1000000,"server":{"cors_origins":["https://app.test"]},"auth":{"tokens":[{"token":"alpha-token-ada","principal":"ada"},{"token":"beta-token-bob","principal":"bob"}]}}"#;
/// Agents that are there from the start, one of them with a credential; the host keeps what it is told to.
pub const FURNISHED: &str = r#"{"storage":true,"inbox_ttl_seconds":1000000,"rate_limit":{"rps":100,"burst":3},"history":{"depth":2},"external_agents":[{"name":"ext","url":"https://a0.test/","headers":{"X-Api-Key":"secret-0-external"}},{"name":"a3","url":"http://127.0.0.1:9003/x"}]}"#;
/// Little patience and little room.
pub const TIGHT: &str = r#"{"inbox_ttl_seconds":1000000,"poll_timeout_seconds":5,"stream_timeout_seconds":9,"auth":{"tokens":[{"token":"alpha-token-ada","principal":"ada"},{"token":"beta-token-bob","principal":"bob"}]},"limits":{"reply_bytes":3000,"card_bytes":2000,"event_bytes":1500,"stream_bytes":6000,"artifact_bytes":500,"message_bytes":2000,"calls_per_peer":3,"agents_per_scope":2,"header_bytes":600,"redirects":1,"cards_by_url":1,"json_depth":20,"requests":5,"sessions":2,"request_bytes":1500,"incoming_bytes":2500,"session_event_bytes":2500}}"#;

/// Limits that are not reached by accident, and that are not far away either.
pub fn near() -> Limits {
    Limits {
        reply_bytes: 64 << 10,
        held_bytes: 256 << 10,
        inbox_bytes: 256 << 10,
        card_bytes: 4_000,
        event_bytes: 64 << 10,
        stream_bytes: 256 << 10,
        artifact_bytes: 32 << 10,
        message_bytes: 4_000,
        answer_bytes: 64 << 10,
        calls_per_peer: 16,
        agents_per_scope: 6,
        header_bytes: 4_000,
        cards_by_url: 4,
        request_bytes: 6_000,
        incoming_bytes: 20_000,
        requests: 30,
        sessions: 4,
        session_event_bytes: 1 << 20,
        tasks_per_principal: 60,
        task_bytes: 256 << 10,
        ..Limits::default()
    }
}

/// The kind of world that goes with a seed.
pub fn kind(seed: u64) -> Kind {
    let mut chance = Chance::new(!seed);
    let weather = *chance.pick(&[Weather::Calm, Weather::Fair, Weather::Rough, Weather::Rough]);
    let config = *chance.pick(&[TIGHT, ROOMY, GUARDED, STORED, FURNISHED]);
    let clients = *chance.pick(&[0, 1, 2, 4]);
    let (restarts, traced, stops) = (chance.one_in(3), chance.one_in(4), clients > 0 && chance.one_in(6));
    Kind { weather, restarts, config, traced, clients, stops, actions: if clients > 0 { 60 } else { 40 } }
}

pub enum Event {
    Act,
    /// calls without limit are given up
    GiveUp,
    /// a connection of a client is lost
    Lose(usize, RequestId),
    /// what broke off is taken up again, and nothing goes wrong any more
    Settle,
    /// clients over HTTP leave
    Leave,
}

struct Peer {
    scope: &'static str,
    open: bool,
    modern: bool,
}

pub struct World {
    pub host: Host,
    pub kind: Kind,
    pub chance: Chance,
    pub network: Network,
    pub twin: Twin,
    model: Model,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    pub agents: Vec<Agent>,
    peers: Vec<Peer>,
    pub clients: Vec<Client>,
    /// how many sessions there were
    pub sessions: u64,
    /// tasks that agents named: the agent, the number, and the scope that was told
    pub tasks: Vec<(usize, u64, String)>,
    /// what each call asked for: its method and its parameters
    pub said: BTreeMap<u64, (String, String)>,
    /// how many results there were of each tool
    pub results: BTreeMap<String, u64>,
    settled: bool,
    /// clients over HTTP are gone
    pub left: bool,
}

pub const META: &str =
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// Runs a world to its end and checks it after every input.
pub fn run(seed: u64, kind: Kind) -> World {
    let mut world = World::new(seed, kind);
    world.live();
    world.check_end();
    world
}

impl World {
    fn new(seed: u64, kind: Kind) -> Self {
        rule::reset();
        let mut chance = Chance::new(seed);
        let agents = (0..4).map(|number| agent::random(&mut chance, number)).collect();
        let peers = ["one", "one", "two"].map(|scope| Peer { scope, open: false, modern: chance.one_in(3) }).into();
        let mut config = Config::from_json(kind.config).expect("the test's configuration is right");
        // A limit counts bytes, and in a trace a placeholder is shorter than what it stands for: a trace that is to be the
        // same again comes to no limit.
        if kind.config != TIGHT && !kind.traced {
            config.limits = near();
        }
        let mut host = Host::with(seed, config);
        host.name = format!("world-{seed}");
        let twin = Twin::new(host.genesis, &host.config, seed);
        let model = Model::new(&host.config, seed.is_multiple_of(4));
        if kind.traced {
            host.begin_trace();
        }
        for agent in &host.config.external_agents {
            let (name, value) = agent.headers.first().cloned().unwrap_or_default();
            let (scope, needles) = (String::new(), vec![value.clone()].into_iter().filter(|value| !value.is_empty()).collect());
            host.watch.secrets.push(Secret { scope, origin: origin(agent.url.as_str()), name, value, needles });
        }
        for known in &host.config.server.tokens {
            let (name, value, needles) = ("Authorization".to_owned(), known.token.clone(), vec![known.token.clone()]);
            host.watch.secrets.push(Secret { scope: String::new(), origin: "nowhere".to_owned(), name, value, needles });
        }
        host.watch.served.words.extend(["one", "two"].map(|scope| (scope.to_owned(), word(scope))));
        let (queue, tasks, said, clients) = (BTreeMap::new(), Vec::new(), BTreeMap::new(), Vec::new());
        let network = Network::default();
        let mut world = Self {
            host,
            kind,
            chance,
            network,
            twin,
            model,
            queue,
            queued: 0,
            agents,
            peers,
            clients,
            sessions: 0,
            tasks,
            said,
            results: BTreeMap::new(),
            settled: false,
            left: false,
        };
        world.invite(kind.clients);
        world
    }

    /// Whether something goes wrong now.
    pub fn is_bad_now(&mut self) -> bool {
        !self.settled && self.kind.weather.is_bad_now(&mut self.chance)
    }

    pub fn later(&mut self, wait: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((self.host.clock + wait, self.queued), event);
    }

    fn live(&mut self) {
        for peer in 0..self.peers.len() {
            self.open(peer);
        }
        for number in 0..6 {
            let peer = if number % 2 == 0 { 0 } else { 2 };
            self.wish(peer, number % 4);
        }
        let mut at = 1000;
        for _ in 0..self.kind.actions {
            at += if self.chance.one_in(3) { 0 } else { self.chance.below(2500) };
            self.later(at, Event::Act);
        }
        self.later(at + 100_000, Event::GiveUp);
        for round in 0..4 {
            self.later(at + 230_000 + round * 10_000, Event::Settle);
        }
        self.later(at + 280_000, Event::Leave);
        while self.go_on() {
            assert!(self.host.steps.len() < 50_000, "the world does not come to rest");
        }
    }

    /// Whatever comes next: an event of the world, an arrival, or the moment that the gateway asked for.
    fn go_on(&mut self) -> bool {
        let event = self.queue.first_key_value().map(|((at, _), _)| *at);
        let arrival = self.network.next_at();
        let next = [event, arrival].into_iter().flatten().min();
        match (next, self.host.timeout()) {
            (Some(at), timeout) if timeout.is_none_or(|timeout| at <= timeout) => {
                self.host.clock = self.host.clock.max(at);
                if arrival == Some(at) {
                    self.arrive();
                } else if let Some((_, event)) = self.queue.pop_first() {
                    self.happen(event);
                }
            }
            (_, Some(timeout)) => {
                let late = if self.chance.one_in(6) { self.chance.below(3000) } else { 0 };
                self.host.clock = self.host.clock.max(timeout) + late;
                self.give(Input::Tick);
            }
            (None | Some(_), None) => return false,
        }
        self.ask_agents();
        self.deliver();
        true
    }

    fn arrive(&mut self) {
        let watch = &self.host.watch;
        match self.network.poll(self.host.clock, |exchange| watch.is_running(exchange)) {
            Some(Arrival::Asked(Input::Request { .. })) if self.left => {}
            Some(Arrival::Report(input) | Arrival::Asked(input)) => self.give(input),
            Some(Arrival::Told(request, told)) => self.read(request, told),
            None => {}
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Act => self.act(),
            Event::GiveUp => {
                self.settled = true;
                let unlimited = self.host.watch.calls.iter().filter(|(_, call)| call.life == Life::Running && call.due.is_none());
                for number in unlimited.map(|(number, _)| *number).collect::<Vec<_>>() {
                    self.cancel(number);
                }
            }
            Event::Lose(client, request) => self.lose_one(client, request),
            Event::Settle => {
                for client in 0..self.clients.len() {
                    while !self.clients[client].torn.is_empty() && self.clients[client].session.is_some() {
                        self.resume(client);
                    }
                }
            }
            Event::Leave => {
                self.left = true;
                self.disconnect_all();
                for request in self.host.watch.served.running() {
                    self.give(Input::RequestGone { request });
                }
                self.end_sessions();
            }
        }
    }

    /// Gives an input, now and then with a clock that went back.
    pub fn give(&mut self, input: Input) {
        let now = self.host.now();
        let back = if self.chance.one_in(12) { *self.chance.pick(&[1, 700, 5000, u64::MAX]) } else { 0 };
        let now = if input == Input::Tick { now } else { Instant::from_ms(now.as_ms().saturating_sub(back)) };
        let _ = self.host.input_at(now, input);
        self.twin.follow(self.host.steps.last().unwrap());
        self.model.follow(&self.host, &self.said);
        self.model.take_ended().into_iter().for_each(|number| self.host.watch.has_ended(number));
        self.check_results();
        for exchange in std::mem::take(&mut self.host.aborted) {
            // The host closes the connection at once, after a while, or never.
            if let Some(lag) = *self.chance.pick(&[Some(0), Some(50), Some(2000), None]) {
                self.network.close(self.host.clock + lag, exchange);
            }
        }
    }

    /// What tools answered in the last step matches the schemas that they are listed with.
    fn check_results(&mut self) {
        for (number, text) in &self.host.watch.answered {
            let called = self.said.get(number).filter(|(method, _)| method == "tools/call");
            let tool = called.and_then(|(_, params)| string_at(params, &["name"]));
            let (Some(tool), Some(result)) = (tool, at(text, &["result", "structuredContent"])) else { continue };
            rule::under(Rule::Schemas, || schema::check_result(&tool, &result));
            if at(&result, &["error"]).is_none() {
                *self.results.entry(tool).or_default() += 1;
            }
        }
    }

    /// Another gateway goes on from a snapshot; every connection is lost.
    fn restart(&mut self) {
        // Some hosts begin with the same seed each time.
        let seed = if self.chance.one_in(3) { 7 } else { self.chance.next() };
        self.host.restart(seed);
        self.twin.restart(self.host.genesis, &self.host.last_pieces, &self.host.last_outputs);
        self.model.restarted(&self.host);
        self.check_results();
        self.disconnect_all();
    }

    /// Hands the gateway's requests to the agents.
    fn ask_agents(&mut self) {
        while let Some((exchange, request)) = self.host.fetches.pop_front() {
            let echo = self.echo(&request);
            let asked = wire::asked(&request);
            let index = self.agents.iter().position(|agent| request.url.starts_with(&agent.origin));
            let index = index.unwrap_or_else(|| self.chance.index(self.agents.len()));
            let normal = self.agents[index].answer(&mut self.chance, &request, &asked, &echo);
            if let (Ask::Send | Ask::Stream, Some(call)) = (asked.ask, asked.call) {
                self.host.watch.tasks.entry(call).or_default().insert(call);
                let peer = self.host.watch.calls[&call].peer;
                self.tasks.push((index, call, self.host.watch.served.scopes[&peer].clone()));
            }
            let script = mischief::script(&mut self.chance, self.kind.weather, &asked, &normal, &echo);
            self.network.answer(self.host.clock, exchange, script);
        }
    }

    /// A credential of the request that the agent may repeat.
    fn echo(&mut self, request: &Request) -> String {
        let given = |value: &str| request.headers.iter().any(|(_, known)| known == value);
        let known = self.host.watch.secrets.iter().filter(|secret| given(&secret.value));
        let needles: Vec<String> = known.flat_map(|secret| secret.needles.clone()).collect();
        if needles.is_empty() || self.chance.one_in(2) { String::new() } else { self.chance.pick(&needles).clone() }
    }

    fn act(&mut self) {
        if !self.clients.is_empty() && self.chance.one_in(2) {
            return self.visit();
        }
        match self.chance.below(25) {
            0 => {
                let jump = *self.chance.pick(&[1000, 30_000, 30_000, 700_000, 700_000, 2_000_000, 1_000_000_000_000]);
                self.jump(jump);
            }
            1 | 2 => {
                if let Some(number) = self.some_call() {
                    self.cancel(number);
                }
            }
            3 => {
                let peer = self.chance.index(self.peers.len());
                if self.peers[peer].open {
                    self.close(peer);
                }
            }
            4 => self.noise(),
            5 if self.kind.restarts => self.restart(),
            6 if self.kind.stops => self.give(Input::Stop),
            what => {
                let peer = self.chance.index(self.peers.len());
                if self.peers[peer].open {
                    self.wish(peer, what);
                } else {
                    self.open(peer);
                }
            }
        }
    }

    /// The machine slept: what was on its way arrives late, what its people do comes later.
    fn jump(&mut self, ms: u64) {
        self.host.clock += ms;
        self.queue = std::mem::take(&mut self.queue).into_iter().map(|((at, count), event)| ((at + ms, count), event)).collect();
    }

    fn some_call(&mut self) -> Option<u64> {
        let known: Vec<u64> = match self.chance.below(4) {
            0 => self.host.watch.calls.keys().copied().collect(),
            _ => self.host.watch.open_calls(),
        };
        (!known.is_empty()).then(|| *self.chance.pick(&known))
    }

    fn open(&mut self, peer: usize) {
        let scope = self.peers[peer].scope.to_owned();
        self.give(Input::Open { peer: PeerId(peer as u64), scope });
        self.peers[peer].open = true;
        if !self.peers[peer].modern {
            let version = *self.chance.pick(&["2025-11-25", "2025-06-18", "2025-03-26"]);
            self.request(
                peer,
                "initialize",
                &format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#),
                Patience::None,
            );
            if self.chance.one_in(2) {
                self.request(peer, "logging/setLevel", r#"{"level":"info"}"#, Patience::None);
            }
        }
    }

    fn close(&mut self, peer: usize) {
        self.give(Input::Closed { peer: PeerId(peer as u64) });
        self.peers[peer].open = false;
    }

    fn cancel(&mut self, number: u64) {
        let call = self.host.watch.calls[&number].clone();
        if let Some(client) = self.clients.iter().position(|client| client.numbers.values().any(|known| *known == number)) {
            return self.cancel_of(client, number);
        }
        if call.peer.0 >= served::FIRST {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"enough"}}"#, call.id);
        let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        self.give(Input::Message { peer: call.peer, text });
    }

    fn wish(&mut self, peer: usize, what: u64) {
        let number = self.host.number();
        let default_ms = self.host.config.poll_timeout_ms.max(self.host.config.stream_timeout_ms);
        let (scope, agents) = (self.peers[peer].scope, &self.agents);
        let own = self.tasks.iter().filter(|(.., told)| told == scope);
        let tasks: Vec<(usize, u64)> = own.map(|(index, task, _)| (*index, *task)).collect();
        let word = word(scope);
        let about = About { number, scope, agents, tasks: &tasks, default_ms, word: &word };
        let wish = wish::random(&mut self.chance, what, &about);
        self.call(peer, number, wish);
    }

    fn call(&mut self, peer: usize, number: u64, wish: Wish) {
        self.knows(number, &wish);
        self.host.watch.secrets.extend(wish.secrets);
        let token = self.chance.one_in(2).then(|| format!("\"token-{number}\""));
        let mut meta: Vec<String> = token.iter().map(|token| format!(r#""progressToken":{token}"#)).collect();
        if self.peers[peer].modern {
            meta.push(META.to_owned());
        }
        let params = format!(r#"{{"name":"{}","arguments":{},"_meta":{{{}}}}}"#, wish.tool, wish.arguments, meta.join(","));
        self.said.insert(number, ("tools/call".to_owned(), params.clone()));
        self.send(peer, number, "tools/call", &params, wish.patience, token);
    }

    /// A call knows the tasks that it names.
    pub fn knows(&mut self, number: u64, wish: &Wish) {
        for task in wish.tasks() {
            self.host.watch.tasks.entry(task).or_default().insert(number);
        }
    }

    fn request(&mut self, peer: usize, method: &str, params: &str, patience: Patience) {
        let number = self.host.number();
        self.send(peer, number, method, params, patience, None);
    }

    fn send(&mut self, peer: usize, number: u64, method: &str, params: &str, patience: Patience, token: Option<String>) {
        let detached = params.contains(r#""async":true"#);
        let id = self
            .chance
            .pick(&[format!("{number}"), format!("\"{number}\""), format!("\"r-{number}\""), format!("{number}.0")])
            .clone();
        let now = self.host.watch.now.max(self.host.now());
        let due = patience.ms().map(|ms| now.plus_ms(ms));
        self.host.watch.expect(number, Call { detached, ..host::call(peer as u64, &id, token, due) });
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.give(Input::Message { peer: PeerId(peer as u64), text });
    }

    /// Inputs that nobody should send.
    fn noise(&mut self) {
        let peer = self.chance.index(self.peers.len());
        let id = PeerId(peer as u64);
        if !self.peers[peer].open {
            return self.give(Input::Message { peer: id, text: "{}".to_owned() });
        }
        match self.chance.below(13) {
            12 => self.broken_message(peer),
            8 if self.peers[peer].modern => {
                let params = format!(r#"{{"notifications":{{}},"_meta":{{{META}}}}}"#);
                self.request(peer, "subscriptions/listen", &params, Patience::Unlimited);
            }
            9 => {
                // An id that is taken already.
                let own = self.host.watch.calls.values().find(|call| call.peer == id && call.life == Life::Running);
                let Some(call) = own.map(|call| call.id.clone()) else { return };
                let text = format!(r#"{{"jsonrpc":"2.0","id":{call},"method":"tools/list"}}"#);
                self.give(Input::Message { peer: id, text });
            }
            10 => {
                let request = RequestId(self.chance.below(50));
                let input = self.chance.pick(&[Input::RequestEnd { request }, Input::RequestGone { request }]).clone();
                self.give(input);
            }
            11 if !self.kind.traced => self.give(Input::Request {
                request: RequestId(1 << 53),
                method: "GET".to_owned(),
                target: "/mcp".to_owned(),
                headers: Vec::new(),
            }),
            0 => self.give(Input::Open { peer: id, scope: "three".to_owned() }),
            1 => self.give(Input::Closed { peer: PeerId(77) }),
            2 => {
                let exchange = ExchangeId(*self.chance.pick(&[0, 1_000_000]));
                self.give(Input::End { exchange });
            }
            3 => self.give(Input::Message { peer: id, text: "INFO ready".to_owned() }),
            4 => self.give(Input::Message { peer: id, text: r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned() }),
            5 => self.give(Input::MessageTooLong {
                peer: id,
                start: "{\"params\":{".to_owned(),
                end: String::new(),
                bytes: 40_000_000,
            }),
            6 => self.give(Input::Message { peer: id, text: r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned() }),
            7 => self.request(peer, "no/such", "{}", Patience::None),
            _ => self.request(peer, "tools/list", "{}", Patience::None),
        }
    }

    /// A message that nobody can read, or that is refused whole, with a credential in it.
    fn broken_message(&mut self, peer: usize) {
        let number = self.host.number();
        let secret = Secret::new(&mut self.chance, number * 10, self.peers[peer].scope, &self.agents[0].origin);
        let (name, value) = (quoted(&secret.name), quoted(&secret.value));
        let arguments = format!(r#"{{"alias":"x","agent_url":"https://a0.test","headers":{{{name}:{value}}}}}"#);
        let params = format!(r#"{{"name":"connect_agent","arguments":{arguments}}}"#);
        self.host.watch.secrets.push(secret);
        let id = PeerId(peer as u64);
        let text = match self.chance.below(4) {
            0 => format!(r#"{{"jsonrpc":"1.0","method":"tools/call","params":{params}}}"#),
            1 => format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{params}"#),
            2 => format!(r#"[[{{"jsonrpc":"2.0","method":"x","params":{params}}}]]"#),
            _ => {
                let start = format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{params},"#);
                return self.give(Input::MessageTooLong { peer: id, start, end: String::new(), bytes: 50_000_000 });
            }
        };
        self.give(Input::Message { peer: id, text });
    }

    fn check_end(&mut self) {
        let open: Vec<u64> =
            self.host.watch.open_calls().into_iter().filter(|call| !self.host.watch.calls[call].unread).collect();
        assert_eq!(open, [0; 0], "every call ends");
        self.check_clients();
        self.twin.finish();
        assert_eq!(self.host.watch.running(), [], "every exchange ends");
        assert_eq!(self.host.timeout(), None, "nothing is left to be done");
    }
}
