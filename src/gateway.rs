//! The three doors of the machine, and routing.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::call::{Call, CallId};
use crate::config::Config;
use crate::exchange::{BodyTaken, Delivery, Exchanges, Owner, Report};
use crate::ground::Ground;
use crate::incoming::Incoming;
use crate::io::{Deadline, ExchangeId, Input, Misuse, Output, PeerId, Reason, RequestId};
use crate::link::{Links, Outside};
use crate::list::gather;
use crate::mcp::session::Session;
use crate::metrics::Metrics;
use crate::scope::Scope;
use crate::served::ServedTasks;
use crate::snapshot::Keeper;
pub use crate::snapshot::{RestoreError, Secrets};
use crate::sse::Decoder;
use crate::table::{Table, Tracked};
use crate::time::{Instant, WallTime};
use crate::trace::Trace;
pub use explaining::Question;

mod agent;
mod approving;
mod asking;
mod card;
mod configuring;
mod delivering;
mod directory;
mod explaining;
pub(crate) mod furnishing;
mod granting;
mod linking;
mod noting;
mod parking;
mod peers;
mod pinning;
mod plain;
mod posting;
mod refusing;
mod relaying;
mod responding;
mod routing;
mod serving;
mod sessions;
mod streams;
mod tooling;
mod watching;

/// What a gateway is born with.
#[derive(Clone, Copy, Debug)]
pub struct Genesis {
    /// randomness of the host; a host that repeats a seed repeats its ids, those of a snapshot apart
    pub seed: [u8; 32],
    /// the moment of birth on the host's monotonic clock
    pub now: Instant,
    /// the wall-clock time at that moment
    pub unix_ms: WallTime,
}

/// The gateway: a state machine without I/O, clock or callbacks.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) ground: Ground,
    pub(crate) peers: Tracked<PeerId, Session>,
    pub(crate) scopes: Tracked<String, Scope>,
    pub(crate) calls: Table<CallId, Box<Call>>,
    pub(crate) touched_calls: Table<CallId, ()>,
    timers: Table<(Instant, CallId), ()>,
    exchanges: Exchanges,
    pub(crate) incoming: Incoming,
    accesses: Table<RequestId, noting::Access>,
    metrics: Metrics,
    pub(crate) served: ServedTasks,
    pub(crate) links: Links,
    idle_patterns: Vec<String>,
    pub(crate) trace: Trace,
    pub(crate) keeper: Keeper,
}

impl Gateway {
    /// A gateway without peers and agents.
    #[must_use]
    pub fn new(genesis: Genesis, config: Config) -> Self {
        let trace = Trace::new(&genesis, &config);
        let served = ServedTasks::new(&config.limits);
        let links = Links::new(&config, genesis.now);
        Self {
            ground: Ground::new(genesis.seed, genesis.now, genesis.unix_ms, config),
            peers: Tracked::default(),
            scopes: Tracked::default(),
            calls: Table::new(),
            touched_calls: Table::new(),
            timers: Table::new(),
            exchanges: Exchanges::default(),
            incoming: Incoming::default(),
            accesses: Table::new(),
            metrics: Metrics::default(),
            served,
            links,
            idle_patterns: Vec::new(),
            trace,
            keeper: Keeper::default(),
        }
    }

    /// Takes in what happened.
    ///
    /// # Errors
    /// [`Misuse`], a fault of the host; nothing changed.
    pub fn handle_input(&mut self, now: Instant, input: Input) -> Result<(), Misuse> {
        let (awaits, hides) = (|exchange| self.exchanges.awaits(exchange), |exchange| self.exchanges.hides(exchange));
        let traced = self.trace.begin(&input, awaits, hides);
        let before = self.ground.outputs.len();
        let earlier = self.ground.now;
        self.ground.now = earlier.max(now);
        self.ground.trace_context = self.trace_of(&input);
        self.ground.held.turn_to("");
        let handled = self.take(input);
        match handled {
            Ok(()) => {
                self.do_what_is_due();
                self.wake_the_waiting();
                self.sweep_served();
                self.drive_links();
                self.take_relayed();
                self.tell_progress();
                self.tell_watchers();
                self.route();
                self.keep_alive();
                self.note_served(before);
                self.save(before);
            }
            Err(_) => self.ground.now = earlier,
        }
        core::mem::take(&mut self.ground.untraced).iter().for_each(|secret| self.trace.learn_secret(secret));
        self.trace.end(now, traced, handled.as_ref().err(), self.ground.outputs.iter().skip(before), &self.scopes);
        handled
    }

    fn take(&mut self, input: Input) -> Result<(), Misuse> {
        match input {
            Input::Open { peer, scope } => self.open(peer, scope),
            Input::Message { peer, text } => self.message(peer, &text),
            Input::MessageTooLong { peer, start, end, bytes } => self.message_too_long(peer, &start, &end, bytes),
            Input::Closed { peer } => self.closed(peer),
            Input::Head { exchange, status, headers } => {
                let delivery = self.exchanges.head(&mut self.ground, exchange, status, headers)?;
                self.deliver(delivery);
                Ok(())
            }
            Input::Body { exchange, bytes } => self.body(exchange, bytes),
            Input::End { exchange } => {
                let delivery = self.exchanges.finish(&mut self.ground, exchange)?;
                self.deliver(delivery);
                Ok(())
            }
            Input::Failed { exchange, cause, detail } => {
                if self.exchanges.awaits(exchange) {
                    self.metrics.add("narrows_exchange_failures_total", &[("cause", cause.name())], 1);
                }
                let delivery = self.exchanges.failed(&mut self.ground, exchange, cause, detail)?;
                self.deliver(delivery);
                Ok(())
            }
            Input::Request { request, method, target, headers } => self.request_head(request, &method, &target, headers),
            Input::RequestBody { request, bytes } => {
                self.request_body(request, &bytes);
                Ok(())
            }
            Input::RequestEnd { request } => {
                self.request_end(request);
                Ok(())
            }
            Input::RequestGone { request } => {
                self.note(request, true);
                self.request_gone(request);
                Ok(())
            }
            Input::Update { work, text } => self.update(work, &text),
            Input::WorkEnd { work } => self.work_end(work),
            Input::WorkFailed { work, detail } => self.work_failed(work, &detail),
            Input::Link { link, event } => {
                let mut out = Outside { ground: &mut self.ground, exchanges: &mut self.exchanges };
                self.links.event(&mut out, link, event)
            }
            Input::Authorize { server, event } => {
                let mut out = Outside { ground: &mut self.ground, exchanges: &mut self.exchanges };
                self.links.authorize(&mut out, server, event)
            }
            Input::Directory(input) => self.directory_input(input),
            Input::Pins(input) => self.pins_input(input),
            Input::Decision { approval, approved, reason } => {
                self.host_decides(&approval, approved, reason);
                Ok(())
            }
            Input::Configure { config } => {
                self.configure(*config);
                Ok(())
            }
            Input::Stop => {
                self.stop_serving();
                Ok(())
            }
            Input::Tick => Ok(()),
        }
    }

    fn body(&mut self, exchange: ExchangeId, bytes: Vec<u8>) -> Result<(), Misuse> {
        match self.exchanges.body(&mut self.ground, exchange, bytes)? {
            BodyTaken::Kept => {}
            BodyTaken::Ended(delivery) => self.deliver(Some(delivery)),
            BodyTaken::Stream { owner, first, decoder, bytes } => self.deliver_events(owner, first, decoder, &bytes),
        }
        Ok(())
    }

    fn deliver(&mut self, delivery: Option<Delivery>) {
        if let Some((owner, exchange, report)) = delivery {
            self.deliver_report(owner, exchange, report);
        }
    }

    fn deliver_report(&mut self, owner: Owner, exchange: ExchangeId, report: Report<'_>) {
        match owner {
            Owner::Nobody => {}
            Owner::Call(call) => self.work(call, |work, run| work.report(run, exchange, report)),
            Owner::Link(server) => {
                let mut out = Outside { ground: &mut self.ground, exchanges: &mut self.exchanges };
                self.links.exchange(&mut out, server, exchange, report);
            }
        }
    }

    fn deliver_events(&mut self, owner: Owner, first: ExchangeId, mut decoder: Decoder, bytes: &[u8]) {
        for event in decoder.feed(bytes) {
            match event {
                Ok(event) => self.deliver_report(owner, first, Report::Event(event)),
                Err(limit) => {
                    let delivery = self.exchanges.overflow(&mut self.ground, first, limit);
                    self.deliver(delivery);
                }
            }
            if !self.exchanges.runs(first) {
                return;
            }
        }
        let delivery = self.exchanges.keep(&mut self.ground, first, decoder);
        self.deliver(delivery);
    }

    /// Runs each call whose time has come once, in the order of their times.
    fn do_what_is_due(&mut self) {
        let now = self.ground.now;
        let due = gather(self.timers.iter().take_while(|((at, _), ())| *at <= now).map(|((_, call), ())| *call));
        for call in due {
            self.work(call, crate::call::Work::due);
        }
        self.exchanges.expire(&mut self.ground);
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.ground.outputs.pop_front()
    }

    /// Whether there is something to do.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.ground.outputs.is_empty()
    }

    /// When to come back at the latest, with [`Input::Tick`] if nothing else happened.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let call = self.timers.first().and_then(|((_, call), ())| self.calls.get(call)).and_then(|call| call.timer);
        let expiry = self.exchanges.expiry().map(|at| Deadline { at, reason: Reason::CancelTimeout });
        let comment = self.incoming.keep_alive.first().map(|((at, _), ())| Deadline { at: *at, reason: Reason::KeepAlive });
        let sweep = self.served.sweep_at().map(|at| Deadline { at: self.ground.instant_of(at), reason: Reason::TaskExpiry });
        let links = self.links.deadline();
        [call, expiry, comment, sweep, links].into_iter().flatten().min_by_key(|deadline| deadline.at)
    }

    /// Starts or stops writing the trace.
    pub fn set_trace(&mut self, on: bool) {
        self.trace.set(on);
    }

    /// The next line of the trace: JSON, secrets replaced by placeholders.
    pub fn poll_trace(&mut self) -> Option<String> {
        self.trace.poll()
    }
}
