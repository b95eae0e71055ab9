//! Worlds in which everybody wants all there is: replies, tasks of calls, inboxes, sessions, cards, bodies, served tasks,
//! tools of servers and the directory run to their limits at once. What is held is never more than the sum of the limits,
//! and what one input asks for is in proportion to what it says and leads to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{ExchangeId, Input, LinkId, LinkOrder, Output, PeerId, Request, RequestId, WorkId};
use narrows::time::Instant;
use serde_json::{Value, json};

use super::judge::Counts;
use crate::support::chance::Chance;
use crate::support::host::genesis;
use crate::support::memory;
use crate::support::rule::{self, Rule, under};

mod acts;
mod bounds;

pub use bounds::NEEDED;
use bounds::{Bounds, Cost};

/// What a crowd wants most of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greed {
    /// calls with large arguments
    Calls,
    /// bodies of replies that do not end
    Replies,
    /// artifacts of tasks that do not end
    Tasks,
    /// outcomes that nobody reads
    Inbox,
    /// agents with large cards
    Cards,
    /// events of sessions that nobody reads
    Sessions,
    /// bodies of requests that do not end
    Bodies,
    /// tasks served to others
    Served,
    /// changes of tasks for receivers that do not take them
    Hooks,
    /// tools of a server
    Tools,
    /// cards in the directory
    Directory,
}

pub const GREEDS: [Greed; 11] = [
    Greed::Calls,
    Greed::Replies,
    Greed::Tasks,
    Greed::Inbox,
    Greed::Cards,
    Greed::Sessions,
    Greed::Bodies,
    Greed::Served,
    Greed::Hooks,
    Greed::Tools,
    Greed::Directory,
];

/// How much happens.
const ACTS: u64 = 260;
/// Refusals and words that say that a limit was reached.
const TELLING: [&str; 12] = [
    "agents_per_scope",
    "artifact_bytes",
    "calls_per_peer",
    "calls_per_server",
    "card_bytes",
    "directory_bytes",
    "held_bytes",
    "inbox_bytes",
    "incoming_bytes",
    "message_bytes",
    "task_bytes",
    "tool_list_bytes",
];

pub struct Crowd {
    chance: Chance,
    greed: Greed,
    gateway: Gateway,
    config: Config,
    clock: u64,
    bounds: Bounds,
    /// the bytes that the gateway holds
    held: i64,
    numbers: u64,
    /// requests of the gateway that nobody answered yet
    fetches: VecDeque<(ExchangeId, Request)>,
    /// replies that began and go on; whether they are streams
    replies: Vec<(ExchangeId, bool, Value)>,
    /// exchanges that the gateway gave up
    gone: BTreeSet<ExchangeId>,
    links: BTreeMap<String, LinkId>,
    opened: BTreeSet<LinkId>,
    /// what was written to processes and not read yet
    written: VecDeque<(LinkId, String)>,
    /// sessions: whose, and their names
    sessions: Vec<(&'static str, String)>,
    /// requests whose response is not complete, with who asked
    requests: BTreeMap<RequestId, Begun>,
    /// calls of peers that were not answered
    open: BTreeSet<(PeerId, u64)>,
    cards: u64,
    /// tasks of functions, and their work
    tasks: Vec<(&'static str, String)>,
    works: Vec<WorkId>,
    counts: Counts,
    last: VecDeque<String>,
}

/// A request over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    owner: &'static str,
    /// whether it begins a session
    shakes: bool,
}

/// Tells of the last inputs where the world breaks.
impl Drop for Crowd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            rule::report(self.last.iter().cloned().collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Runs a world of one greed.
pub fn run(seed: u64, greed: Greed, counts: &mut Counts) {
    run_without("", seed, greed, counts);
}

/// Runs a world whose gateway does not know one of the limits.
pub fn run_without(lifted: &str, seed: u64, greed: Greed, counts: &mut Counts) {
    rule::reset();
    let mut crowd = Crowd::new(seed, greed, lifted);
    crowd.begin();
    for _ in 0..ACTS {
        crowd.act();
    }
    crowd.end();
    for (what, count) in std::mem::take(&mut crowd.counts) {
        *counts.entry(format!("crowd: {what}")).or_default() += count;
    }
}

impl Crowd {
    fn new(seed: u64, greed: Greed, lifted: &str) -> Self {
        let chance = Chance::new(seed ^ 0xc0_ffee);
        let [config, known] = ["", lifted].map(|lifted| bounds::configuration(greed, lifted));
        let [config, known] = [config, known].map(|text| Config::from_json(&text).expect("a configuration"));
        let before = memory::held();
        let gateway = Gateway::new(genesis(seed, 0, 0), known);
        let held = memory::held() - before;
        Self {
            chance,
            greed,
            gateway,
            bounds: Bounds::of(&config.limits),
            config,
            clock: 0,
            held,
            numbers: 0,
            fetches: VecDeque::new(),
            replies: Vec::new(),
            gone: BTreeSet::new(),
            links: BTreeMap::new(),
            opened: BTreeSet::new(),
            written: VecDeque::new(),
            sessions: Vec::new(),
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            cards: 0,
            tasks: Vec::new(),
            works: Vec::new(),
            counts: Counts::new(),
            last: VecDeque::new(),
        }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    /// Gives an input and holds what it costs against the limits.
    fn give(&mut self, input: Input) {
        let said = input.to_json().into_string();
        let start: String = said.chars().take(300).collect();
        self.last.push_back(format!("{} {start} ({} bytes)", self.clock, said.len()));
        if self.last.len() > 12 {
            self.last.pop_front();
        }
        let now = Instant::from_ms(self.clock);
        memory::take_peak();
        let (before, asked) = (memory::held(), memory::asked());
        let outcome = self.gateway.handle_input(now, input.clone());
        let (peak, worked) = (memory::take_peak() - before, i64::try_from(memory::asked() - asked).unwrap());
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        let grown = memory::held() - before;
        assert_eq!(outcome, Ok(()));
        self.take(&outputs);
        let with = memory::held();
        drop(outputs);
        let told = with - memory::held();
        let peak = self.held + peak;
        self.held += grown - told;
        let moved = told + i64::try_from(said.len()).unwrap();
        let cost = Cost { held: self.held, peak, worked, moved };
        under(Rule::Bounds, || self.bounds.check(&cost));
        let due = self.gateway.poll_timeout().map(|deadline| deadline.at.as_ms());
        assert!(due.is_none_or(|at| at > self.clock), "something stays due");
    }

    fn take(&mut self, outputs: &[Output]) {
        for output in outputs {
            match output {
                Output::Fetch { exchange, request } => self.fetches.push_back((*exchange, request.clone())),
                Output::Abort { exchange } => {
                    self.gone.insert(*exchange);
                    self.fetches.retain(|(known, _)| known != exchange);
                    self.replies.retain(|(known, ..)| known != exchange);
                }
                Output::Message { peer, text } => {
                    self.tells(text);
                    let answer: Value = serde_json::from_str(text).expect("JSON");
                    let Some(id) = answer["id"].as_u64().filter(|_| answer.get("method").is_none()) else { continue };
                    under(Rule::OneAnswer, || assert!(self.open.remove(&(*peer, id)), "nobody asked: {id}"));
                }
                Output::Notice(notice) => self.tells(notice.fields.as_str()),
                Output::ResponseHead { request, status, headers } => {
                    self.count(&format!("status {status}"));
                    let begun = *self.requests.get(request).expect("a request that runs");
                    let name = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
                    if let Some((_, name)) = name.filter(|_| begun.shakes) {
                        self.sessions.push((begun.owner, name.clone()));
                    }
                }
                Output::ResponseBody { request, text } => {
                    self.tells(text);
                    let body: Value = serde_json::from_str(text).unwrap_or_default();
                    let owner = self.requests.get(request).expect("a request that runs").owner;
                    let id = body.pointer("/result/task/id").and_then(Value::as_str);
                    self.tasks.extend(id.map(|id| (owner, id.to_owned())));
                }
                Output::ResponseEnd { request } => drop(self.requests.remove(request).expect("a request that runs")),
                Output::Link { link, order: LinkOrder::Open(process) } => {
                    self.links.insert(process.server.clone(), *link);
                }
                Output::Link { link, order: LinkOrder::Write(text) } => self.written.push_back((*link, text.clone())),
                Output::Link { link, order: LinkOrder::Close } => {
                    self.links.retain(|_, known| known != link);
                    self.written.retain(|(known, _)| known != link);
                }
                Output::Work { work, .. } => self.works.push(*work),
                Output::WorkAbort { work } => self.works.retain(|known| known != work),
                Output::Tokens { .. } | Output::Lookup(_) => {
                    panic!("nobody asked for that: {output:?}")
                }
                Output::Save(_) => {}
            }
        }
    }

    /// Counts the limits that are told of.
    fn tells(&mut self, text: &str) {
        if text.len() < 20_000 {
            for name in TELLING.iter().filter(|name| text.contains(**name)) {
                self.count(name);
            }
        }
    }

    /// Whoever waits is answered, and what nobody wants any more is given back.
    fn end(&mut self) {
        for request in self.requests.keys().copied().collect::<Vec<_>>() {
            if self.requests.remove(&request).is_some() {
                self.give(Input::RequestGone { request });
            }
        }
        for _ in 0..5_000 {
            let Some(deadline) = self.gateway.poll_timeout() else { break };
            self.clock = self.clock.max(deadline.at.as_ms());
            if self.clock > 3_000_000 {
                break;
            }
            self.give(Input::Tick);
        }
        under(Rule::OneAnswer, || assert_eq!(self.open, BTreeSet::new(), "every call is answered"));
        let pieces = self.gateway.snapshot(Secrets::Keep);
        let kept: usize = pieces.iter().map(String::len).sum();
        let kept = i64::try_from(kept).unwrap();
        under(Rule::Bounds, || self.bounds.check_kept(kept));
    }
}
