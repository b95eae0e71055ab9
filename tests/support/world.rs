//! A random world: peers that call, agents that answer or do not, clocks that jump, restarts.

use std::collections::BTreeMap;

use narrows::io::{ExchangeId, Input, PeerId, Request};
use narrows::time::Instant;

use super::agent::{self, Agent};
use super::chance::Chance;
use super::host::{self, Host};
use super::mischief::{self, Piece, Weather};
use super::secret::{Secret, origin};
use super::watch::{Call, Life};
use super::wire::{self, Ask};
use super::wish::{self, About, Patience, Wish};

/// What kind of world it is.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub weather: Weather,
    /// the gateway is stopped and restored from time to time
    pub restarts: bool,
    pub config: &'static str,
    /// the trace and snapshots without credentials are kept
    pub traced: bool,
    /// how much the peers do
    pub actions: u64,
}

pub const ROOMY: &str = r#"{"inbox_ttl_seconds":1000000}"#;
/// The host keeps what it is told to.
pub const STORED: &str = r#"{"inbox_ttl_seconds":1000000,"storage":true}"#;
/// Agents that are there from the start, one of them with a credential; the host keeps what it is told to.
pub const FURNISHED: &str = r#"{"storage":true,"inbox_ttl_seconds":1000000,"rate_limit":{"rps":100,"burst":3},"history":{"depth":2},"external_agents":[{"name":"ext","url":"https://a0.test/","headers":{"X-Api-Key":"secret-0-external"}},{"name":"a3","url":"http://127.0.0.1:9003/x"}]}"#;
/// Little patience and little room.
pub const TIGHT: &str = r#"{"inbox_ttl_seconds":1000000,"poll_timeout_seconds":5,"stream_timeout_seconds":9,"limits":{"reply_bytes":3000,"card_bytes":2000,"event_bytes":1500,"stream_bytes":6000,"artifact_bytes":500,"message_bytes":2000,"calls_per_peer":3,"agents_per_scope":2,"header_bytes":400,"redirects":1,"cards_by_url":1,"json_depth":20}}"#;

/// The kind of world that goes with a seed.
pub fn kind(seed: u64) -> Kind {
    let weather = [Weather::Calm, Weather::Fair, Weather::Rough, Weather::Rough][usize::try_from(seed % 4).unwrap()];
    let config = [TIGHT, ROOMY, STORED, FURNISHED][usize::try_from(seed / 4 % 4).unwrap()];
    Kind { weather, restarts: false, config, traced: false, actions: 40 }
}

enum Event {
    Act,
    Piece(ExchangeId, Piece),
    /// calls without limit are given up
    GiveUp,
}

struct Peer {
    scope: &'static str,
    open: bool,
    modern: bool,
}

pub struct World {
    pub host: Host,
    kind: Kind,
    chance: Chance,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    agents: Vec<Agent>,
    peers: Vec<Peer>,
    /// tasks that agents named: the agent, the number, and the scope that was told
    tasks: Vec<(usize, u64, String)>,
}

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// Runs a world to its end and checks it after every input.
pub fn run(seed: u64, kind: Kind) -> World {
    let mut world = World::new(seed, kind);
    // Told when something fails; without a failure the runner keeps it to itself.
    println!("SEED={seed}");
    world.live();
    world.check_end();
    world
}

impl World {
    fn new(seed: u64, kind: Kind) -> Self {
        let mut chance = Chance::new(seed);
        let agents = (0..4).map(|number| agent::random(&mut chance, number)).collect();
        let peers = ["one", "one", "two"].map(|scope| Peer { scope, open: false, modern: chance.one_in(3) }).into();
        let mut host = Host::new(seed, kind.config);
        if kind.traced {
            host.begin_trace();
        }
        for agent in &host.config.external_agents {
            let (name, value) = agent.headers.first().cloned().unwrap_or_default();
            let (scope, needles) = (String::new(), vec![value.clone()].into_iter().filter(|value| !value.is_empty()).collect());
            host.watch.secrets.push(Secret { scope, origin: origin(agent.url.as_str()), name, value, needles });
        }
        let (queue, tasks) = (BTreeMap::new(), Vec::new());
        Self { host, kind, chance, queue, queued: 0, agents, peers, tasks }
    }

    fn later(&mut self, wait: u64, event: Event) {
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
        while self.go_on() {
            assert!(self.host.steps.len() < 50_000, "the world does not come to rest");
        }
    }

    /// Whatever comes next: an event of the world, or the moment that the gateway asked for.
    fn go_on(&mut self) -> bool {
        let event = self.queue.first_key_value().map(|((at, _), _)| *at);
        match (event, self.host.timeout()) {
            (Some(at), timeout) if timeout.is_none_or(|timeout| at <= timeout) => {
                self.host.clock = self.host.clock.max(at);
                let (_, event) = self.queue.pop_first().unwrap();
                self.happen(event);
            }
            (_, Some(timeout)) => {
                let late = if self.chance.one_in(6) { self.chance.below(3000) } else { 0 };
                self.host.clock = self.host.clock.max(timeout) + late;
                self.give(Input::Tick);
            }
            (None | Some(_), None) => return false,
        }
        self.ask_agents();
        true
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Act => self.act(),
            Event::GiveUp => {
                let unlimited = self.host.watch.calls.iter().filter(|(_, call)| call.life == Life::Running && call.due.is_none());
                for number in unlimited.map(|(number, _)| *number).collect::<Vec<_>>() {
                    self.cancel(number);
                }
            }
            Event::Piece(exchange, piece) => self.report(exchange, piece),
        }
    }

    /// Gives an input, now and then with a clock that went back.
    fn give(&mut self, input: Input) {
        let now = self.host.now();
        let back = if self.chance.one_in(12) { self.chance.below(5000) } else { 0 };
        let now = if input == Input::Tick { now } else { Instant::from_ms(now.as_ms().saturating_sub(back)) };
        let _ = self.host.input_at(now, input);
    }

    fn report(&mut self, exchange: ExchangeId, piece: Piece) {
        let input = match piece {
            Piece::Head(status, headers) => Input::Head { exchange, status, headers },
            Piece::Body(bytes) => Input::Body { exchange, bytes },
            Piece::End => Input::End { exchange },
            Piece::Failed(cause, detail) => Input::Failed { exchange, cause, detail },
            Piece::Endless(bytes, every) => {
                if !self.host.watch.is_running(exchange) {
                    return;
                }
                self.later(every, Event::Piece(exchange, Piece::Endless(bytes.clone(), every)));
                Input::Body { exchange, bytes }
            }
        };
        self.give(input);
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
                let peer = usize::try_from(self.host.watch.calls[&call].peer.0).unwrap();
                self.tasks.push((index, call, self.peers[peer].scope.to_owned()));
            }
            let script = mischief::script(&mut self.chance, self.kind.weather, &asked, &normal, &echo);
            let mut wait = 0;
            for (after, piece) in script {
                wait += after;
                self.later(wait, Event::Piece(exchange, piece));
            }
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
        match self.chance.below(25) {
            0 => self.host.clock += *self.chance.pick(&[1000, 30_000, 700_000]),
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
            5 if self.kind.restarts => {
                let seed = self.chance.next();
                self.host.restart(seed);
            }
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
        let wish = wish::random(&mut self.chance, what, &About { number, scope, agents, tasks: &tasks, default_ms });
        self.call(peer, number, wish);
    }

    fn call(&mut self, peer: usize, number: u64, wish: Wish) {
        self.host.watch.secrets.extend(wish.secrets);
        let token = self.chance.one_in(2).then(|| format!("\"token-{number}\""));
        let mut meta: Vec<String> = token.iter().map(|token| format!(r#""progressToken":{token}"#)).collect();
        if self.peers[peer].modern {
            meta.push(META.to_owned());
        }
        let params = format!(r#"{{"name":"{}","arguments":{},"_meta":{{{}}}}}"#, wish.tool, wish.arguments, meta.join(","));
        self.send(peer, number, "tools/call", &params, wish.patience, token);
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
        let due = match patience {
            Patience::None => Some(now),
            Patience::Milliseconds(ms) => Some(now.plus_ms(ms)),
            Patience::Unlimited => None,
        };
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
        match self.chance.below(9) {
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

    fn check_end(&self) {
        assert_eq!(self.host.watch.open_calls(), [0; 0], "every call ends");
        assert_eq!(self.host.watch.running(), [], "every exchange ends");
        assert_eq!(self.host.timeout(), None, "nothing is left to be done");
    }
}
