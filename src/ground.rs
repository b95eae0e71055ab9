//! What every part of the machine stands on: time, randomness, configuration, and the queue of outputs.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::a2a::Event;
use crate::call::{CallId, outgoing};
use crate::config::Config;
use crate::directory::Directory;
use crate::directory::lookups::Lookups;
use crate::held::{Pool, Shared};
use crate::ids::Random;
use crate::incoming::{Message, is_http};
use crate::io::{ExchangeId, Level, Notice, Output, PeerId};
use crate::json::{Json, Object};
use crate::jsonrpc::Id;
use crate::link::Job;
use crate::link::catalog::Catalog;
use crate::link::pins::Pins;
use crate::mcp::seal::Seal;
use crate::policy::taint::PathPattern;
use crate::policy::{Approvals, Rules};
use crate::served::TaskNumber;
use crate::time::{Instant, WallTime};
use crate::trace_context::TraceContext;

/// Shared by all parts, handed down by mutable reference.
#[derive(Debug)]
pub struct Ground {
    /// the time of the current input
    pub now: Instant,
    /// random numbers
    pub random: Random,
    /// the configuration
    pub config: Config,
    /// what is to be done, in order
    pub outputs: VecDeque<Output>,
    /// what was said to peers of the HTTP face and is to be routed
    pub outbox: Vec<Message>,
    /// the tools that are offered in each era, once they were asked for
    pub tools_lists: [OnceCell<Json>; 2],
    /// what agents said about tasks that are relayed to them, and in which call
    pub relayed: VecDeque<(TaskNumber, CallId, Event)>,
    /// what was said to the callers of calls that belong to a task
    pub unheard: VecDeque<(CallId, Json)>,
    /// what the trace is to replace from now on, and nothing else
    pub untraced: Vec<String>,
    /// the tools of the servers behind the gateway
    pub catalog: Catalog,
    /// what those tools were when they were first listed or accepted
    pub pins: Pins,
    /// the calls that wait for a person
    pub approvals: Approvals,
    /// what calls want of those servers
    pub link_jobs: VecDeque<Job>,
    /// look-ups of cards that ended, by scope and alias
    pub looked_up: VecDeque<(String, String)>,
    /// the cards that are registered here
    pub directory: Directory,
    /// looks into the directory of the host
    pub lookups: Lookups,
    /// which trace the current input belongs to
    pub trace_context: Option<TraceContext>,
    /// where in a message long random texts are no tokens
    pub random_places: Vec<(PathPattern, Rules)>,
    /// what is held of what others say to calls that run
    pub held: Shared,
    /// what inboxes and histories hold
    pub inboxes: Pool,
    /// what the sessions over HTTP keep for clients that come back
    pub kept_events: Pool,
    /// what the cards of agents take
    pub cards: Pool,
    /// when this machine began
    pub born: Instant,
    /// wall-clock time minus the host's clock
    wall_offset_ms: i64,
    next_exchange: u64,
    next_call: u64,
    /// what an earlier process signed with
    seal: Option<Seal>,
}

impl Ground {
    /// The ground of a new machine.
    #[must_use]
    pub fn new(seed: [u8; 32], now: Instant, wall: WallTime, config: Config) -> Self {
        let at = i64::try_from(now.as_ms()).unwrap_or(i64::MAX);
        let wall_offset_ms = wall.0.saturating_sub(at);
        Self {
            now,
            random: Random::new(seed),
            config,
            outputs: VecDeque::new(),
            outbox: Vec::new(),
            tools_lists: [const { OnceCell::new() }; 2],
            relayed: VecDeque::new(),
            unheard: VecDeque::new(),
            untraced: Vec::new(),
            catalog: Catalog::default(),
            pins: Pins::default(),
            approvals: Approvals::default(),
            link_jobs: VecDeque::new(),
            looked_up: VecDeque::new(),
            directory: Directory::default(),
            lookups: Lookups::default(),
            trace_context: None,
            random_places: outgoing::random_places(),
            held: Shared::default(),
            inboxes: Pool::default(),
            kept_events: Pool::default(),
            cards: Pool::default(),
            born: now,
            wall_offset_ms,
            next_exchange: 1,
            next_call: 1,
            seal: None,
        }
    }

    /// Signs what clients bring back.
    #[must_use]
    pub fn seal(&self) -> Seal {
        self.seal.clone().unwrap_or_else(|| Seal::new(self.random.key()))
    }

    /// Goes on with the seal of a snapshot.
    pub fn restore_seal(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    /// The wall-clock time of the current input.
    #[must_use]
    pub fn wall(&self) -> WallTime {
        self.wall_of(self.now)
    }

    /// The wall-clock time of a moment.
    #[must_use]
    pub fn wall_of(&self, at: Instant) -> WallTime {
        WallTime(i64::try_from(at.as_ms()).unwrap_or(i64::MAX).saturating_add(self.wall_offset_ms))
    }

    /// The moment of a wall-clock time; the clock's zero where it lies before that.
    #[must_use]
    pub fn instant_of(&self, wall: WallTime) -> Instant {
        Instant::from_ms(u64::try_from(wall.0.saturating_sub(self.wall_offset_ms)).unwrap_or(0))
    }

    /// The next exchange id.
    pub fn exchange_id(&mut self) -> ExchangeId {
        let id = ExchangeId(self.next_exchange);
        self.next_exchange += 1;
        id
    }

    /// Whether this exchange was ever asked for.
    #[must_use]
    pub fn asked(&self, id: ExchangeId) -> bool {
        id.0 > 0 && id.0 < self.next_exchange
    }

    /// The next number of a call.
    pub fn call_number(&mut self) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        number
    }

    /// The counters, for a snapshot.
    #[must_use]
    pub fn counters(&self) -> (u64, u64) {
        (self.next_exchange, self.next_call)
    }

    /// Takes up the counters of a snapshot; they never go back.
    pub fn restore_counters(&mut self, exchange: u64, call: u64) {
        self.next_exchange = self.next_exchange.max(exchange);
        self.next_call = self.next_call.max(call);
    }

    /// Says something to a peer; `about` is the request it belongs to.
    pub fn say(&mut self, peer: PeerId, about: Option<&Id>, last: bool, code: Option<i64>, text: Json) {
        if is_http(peer) {
            let about = about.map(|id| String::from(id.as_json().as_str()));
            self.outbox.push(Message { peer, about, last, code, text });
        } else {
            self.outputs.push_back(Output::Message { peer, text: text.into_string() });
        }
    }

    /// Writes a notice.
    pub fn notice(&mut self, level: Level, event: &'static str, fields: Object) {
        self.outputs.push_back(Output::Notice(Notice { level, event, fields: fields.finish() }));
    }
}
