//! Worlds of two gateways that are agents: callers over HTTP, functions, an inbox, tasks relayed from one to the other,
//! webhooks, connections that are lost, processes that end in the middle of what they say.

use std::collections::{BTreeMap, VecDeque};

use narrows::io::{Cause, ExchangeId, Headers, Input, Output, Request, RequestId, WorkId};
use serde_json::{Value, json};

use super::judge::Counts;
use super::world::META;
use crate::support::chance::Chance;
use crate::support::rule::{self, Rule, under};

mod acts;
mod book;
mod caller;
mod ending;
mod node;
mod wire;

use book::{Book, Seen, text};
use caller::{Ask, What};
use node::{HOSTS, Node, token};
use wire::{Event, Link};

const HOOK: &str = "http://hook.test/";

/// Work that a function was given and has not finished.
#[derive(Clone, Debug)]
struct Work {
    task: String,
    said: u64,
}

/// What arrived at a webhook, in order.
#[derive(Debug, Default)]
struct Delivered {
    node: usize,
    task: String,
    states: Vec<String>,
}

pub struct World {
    chance: Chance,
    clock: u64,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    nodes: [Node; 2],
    books: [Book; 2],
    asks: BTreeMap<(usize, u64), Ask>,
    works: BTreeMap<(usize, u64), Work>,
    links: Vec<Link>,
    hooks: BTreeMap<String, Delivered>,
    /// how often what happened
    counts: Counts,
    /// how many connections are lost: one in so many; none where it is 0
    lossy: u64,
    restarts: bool,
    is_closing: bool,
    /// a number for each thing that is said
    words: u64,
    /// what happened last, for whoever reads of a failure
    last: VecDeque<String>,
}

/// Tells of the last steps where the world breaks.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            rule::report(self.last.iter().cloned().collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Runs a world to its end and checks it after every input.
pub fn run(seed: u64, counts: &mut Counts) {
    rule::reset();
    let mut chance = Chance::new(seed ^ 0x5eed);
    let lossy = *chance.pick(&[0, 0, 8, 2]);
    let restarts = chance.one_in(2);
    let nodes = [0, 1].map(|node| Node::new(node, seed.wrapping_mul(2) + node as u64));
    let mut world = World {
        chance,
        clock: 0,
        queue: BTreeMap::new(),
        queued: 0,
        nodes,
        books: [Book::default(), Book::default()],
        asks: BTreeMap::new(),
        works: BTreeMap::new(),
        links: Vec::new(),
        hooks: BTreeMap::new(),
        counts: Counts::new(),
        lossy,
        restarts,
        is_closing: false,
        words: 0,
        last: VecDeque::new(),
    };
    world.live();
    under(Rule::Served, || world.check_end());
    for (what, count) in std::mem::take(&mut world.counts) {
        *counts.entry(what).or_default() += count;
    }
}

impl World {
    fn count(&mut self, what: &str) {
        *self.counts.entry(format!("served: {what}")).or_default() += 1;
    }

    fn later(&mut self, wait: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((self.clock + wait, self.queued), event);
    }

    fn live(&mut self) {
        let mut at = 0;
        for _ in 0..30 {
            at += self.chance.below(4000);
            self.later(at, Event::Act);
        }
        for round in 0..12 {
            self.later(at + 60_000 + round * 40_000, Event::Close);
        }
        let end = at + 1_500_000;
        let mut steps = 0;
        while let Some(at) = self.next().filter(|at| *at <= end) {
            self.clock = self.clock.max(at);
            self.go_on();
            steps += 1;
            assert!(steps < 20_000, "the world does not come to rest");
        }
        self.clock = end;
    }

    fn next(&mut self) -> Option<u64> {
        let event = self.queue.first_key_value().map(|((at, _), _)| *at);
        let wakes: Vec<u64> = self.nodes.iter_mut().filter_map(Node::wake).collect();
        event.into_iter().chain(wakes).min()
    }

    fn go_on(&mut self) {
        for node in 0..2 {
            if self.nodes[node].wake().is_some_and(|at| at <= self.clock) {
                return self.give(node, Input::Tick);
            }
        }
        let Some((_, event)) = self.queue.pop_first() else { return };
        match event {
            Event::Act => self.act(),
            Event::Close => self.close(),
            Event::Asked(link, input) => self.asked(link, input),
            Event::Answered(link, input) => self.answered(link, input),
            Event::Cut(link) => self.cut(link),
            Event::Hook(node, life, exchange, status) => self.hook(node, life, exchange, status),
            Event::Work(node, life, work) if self.nodes[node].life == life => self.go_on_with(node, work),
            Event::Work(..) => {}
            Event::Up(node) => {
                let seed = self.chance.next();
                let outputs = self.nodes[node].restart(self.clock, seed);
                self.note(format!("{} {node} is up again: {outputs:?}", self.clock));
                self.take(node, outputs, None);
                self.check(node, false);
            }
        }
    }

    fn note(&mut self, mut line: String) {
        line.truncate(line.char_indices().nth(1500).map_or(line.len(), |(at, _)| at));
        self.last.push_back(line);
        if self.last.len() > 24 {
            self.last.pop_front();
        }
    }

    /// Gives an input. Now and then the process ends before its host has done all that it was told to.
    fn give(&mut self, node: usize, input: Input) {
        let line = format!("{} {node} < {}", self.clock, input.to_json().as_str());
        let outputs = self.nodes[node].give(self.clock, input);
        self.note(line);
        self.note(format!("{} {node} > {outputs:?}", self.clock));
        let ends = self.restarts && !self.is_closing && self.chance.one_in(120);
        let cut = ends.then(|| self.chance.index(outputs.len() + 1));
        self.take(node, outputs, cut);
        self.check(node, ends);
        if ends {
            self.down(node);
        } else {
            self.nodes[node].check_storage(self.clock);
        }
    }

    /// Does what a gateway says, up to where its process ends.
    fn take(&mut self, node: usize, outputs: Vec<Output>, cut: Option<usize>) {
        for output in outputs.into_iter().take(cut.unwrap_or(usize::MAX)) {
            match output {
                Output::Save(save) => {
                    self.books[node].save(&save);
                    self.nodes[node].storage.keep(save);
                }
                Output::ResponseHead { request, status, headers } => self.head(node, request, status, headers),
                Output::ResponseBody { request, text } => self.body(node, request, text),
                Output::ResponseEnd { request } => self.end(node, request),
                Output::Fetch { exchange, request } => self.fetch(node, exchange, request),
                Output::Abort { exchange } => self.abort(node, exchange),
                Output::Work { work, order } => self.order(node, work, order.as_str()),
                Output::WorkAbort { work } => {
                    assert!(self.works.remove(&(node, work.0)).is_some(), "work that runs is aborted");
                }
                Output::Notice(notice) => self.check_secrets(notice.fields.as_str()),
                Output::Message { .. } | Output::Link { .. } | Output::Lookup(_) | Output::Tokens { .. } => {
                    panic!("nobody asked for that: {output:?}")
                }
            }
        }
    }

    fn check_secrets(&self, text: &str) {
        under(Rule::Secrets, || assert!(!text.contains("token-") && !text.contains("hook-secret"), "a secret in {text}"));
    }

    /// What holds between two inputs.
    fn check(&mut self, node: usize, was_cut: bool) {
        let book = &self.books[node];
        under(Rule::Served, || {
            for ((_, _), ask) in self.asks.iter_mut().filter(|((of, _), _)| *of == node) {
                if was_cut { ask.check_cut(book) } else { ask.check(book) }
            }
        });
        self.asks.retain(|_, ask| !ask.ended);
        let book = &mut self.books[node];
        let mut expected = std::mem::take(&mut book.expected);
        under(Rule::Served, || {
            for (id, seen) in &mut expected {
                let Some(kept) = book.tasks.get(id) else { continue };
                let by_others = kept.seen.artifacts == seen.artifacts
                    && (matches!(kept.seen.state.as_str(), "CANCELED" | "WORKING")
                        || kept.seen.state == "FAILED" && kept.seen.words.contains("restarted"));
                assert!(
                    was_cut || kept.seen == *seen || by_others,
                    "a task is what its function made of it: {kept:?}, not {seen:?}"
                );
                *seen = kept.seen.clone();
            }
        });
        expected.retain(|id, _| book.tasks.contains_key(id));
        book.expected = expected;
    }

    /// A process ends: everything that it had open is lost.
    fn down(&mut self, node: usize) {
        self.count("down");
        self.note(format!("{} {node} is down", self.clock));
        self.books[node].is_cut();
        self.nodes[node].life += 1;
        self.nodes[node].is_down = true;
        self.asks.retain(|(of, _), _| *of != node);
        self.works.retain(|(of, _), _| *of != node);
        for link in 0..self.links.len() {
            let Link { from, to, asks, answers, exchange, request, .. } = self.links[link].clone();
            if from == node && asks {
                self.links[link].asks = false;
                if answers {
                    self.later(200, Event::Asked(link, Input::RequestGone { request }));
                }
            }
            if to == node && answers {
                self.links[link].answers = false;
            }
            if to == node && self.links[link].asks {
                let (cause, detail) = (Cause::Reset, String::new());
                self.later(50, Event::Answered(link, Input::Failed { exchange, cause, detail }));
            }
        }
        let away = *self.chance.pick(&[0, 0, 1000, 20_000]);
        self.later(away, Event::Up(node));
    }

    fn head(&mut self, node: usize, request: RequestId, status: u16, headers: Headers) {
        if let Some(ask) = self.asks.get_mut(&(node, request.0)) {
            under(Rule::OneAnswer, || assert_eq!(ask.status.replace(status), None, "one head"));
            ask.is_stream = headers.iter().any(|(name, value)| name == "Content-Type" && value == "text/event-stream");
            return;
        }
        let Some(link) = self.link_to(node, request) else { return self.nobody(node, request) };
        let exchange = self.links[link].exchange;
        self.answer(link, Input::Head { exchange, status, headers });
    }

    fn body(&mut self, node: usize, request: RequestId, text: String) {
        self.check_secrets_of_response(node, request, &text);
        if let Some(ask) = self.asks.get_mut(&(node, request.0)) {
            return under(Rule::OneAnswer, || ask.take(&text));
        }
        let Some(link) = self.link_to(node, request) else { return self.nobody(node, request) };
        let exchange = self.links[link].exchange;
        for bytes in self.chance.cut(text.as_bytes(), 3) {
            self.answer(link, Input::Body { exchange, bytes });
        }
    }

    fn end(&mut self, node: usize, request: RequestId) {
        if let Some(ask) = self.asks.get_mut(&(node, request.0)) {
            under(Rule::OneAnswer, || assert!(ask.status.is_some() && !ask.ended, "one end"));
            ask.ended = true;
            let ask = ask.clone();
            under(Rule::Served, || ask.check_answer(&self.books[node]));
            return self.learn(node, &ask);
        }
        let Some(link) = self.link_to(node, request) else { return self.nobody(node, request) };
        let exchange = self.links[link].exchange;
        self.answer(link, Input::End { exchange });
        self.links[link].answers = false;
    }

    fn nobody(&self, node: usize, request: RequestId) {
        under(Rule::NothingMore, || panic!("{node} answers request {} of nobody", request.0));
    }

    /// What a receiver of deliveries is known by is told to whoever gave it, and to nobody else.
    fn check_secrets_of_response(&self, node: usize, request: RequestId, text: &str) {
        let given = self.asks.get(&(node, request.0)).is_some_and(|ask| matches!(ask.what, What::Push(..)));
        under(Rule::Secrets, || {
            assert!(!text.contains("token-"), "a token is told: {text}");
            assert!(given || !text.contains("hook-secret"), "a secret is told: {text}");
        });
    }

    fn link_to(&self, node: usize, request: RequestId) -> Option<usize> {
        self.links.iter().rposition(|link| link.to == node && link.request == request && link.answers)
    }

    /// Something on its way back.
    fn answer(&mut self, link: usize, input: Input) {
        if !self.links[link].asks {
            return;
        }
        let at = self.links[link].last_at.max(self.clock + self.chance.below(60));
        self.links[link].last_at = at;
        self.later(at - self.clock, Event::Answered(link, input));
    }

    /// A request of a gateway, to the other one or to a webhook.
    fn fetch(&mut self, from: usize, exchange: ExchangeId, request: Request) {
        let all = format!("{:?} {:?}", request.headers, request.body);
        if request.url.starts_with(HOOK) {
            under(Rule::Secrets, || assert!(!all.contains("token-"), "a token is delivered: {all}"));
            return self.delivery(from, exchange, &request);
        }
        let to = HOSTS.iter().position(|host| request.url.starts_with(&format!("http://{host}/"))).expect("a known host");
        under(Rule::Secrets, || {
            assert!(!all.contains("hook-secret"), "a secret of a webhook is passed on: {all}");
            let other = all.replace(&token(to, "relay"), "");
            assert!(!other.contains("token-"), "a token is passed on: {all}");
        });
        let target = request.url.trim_start_matches("http://").trim_start_matches(HOSTS[to]).to_owned();
        let number = RequestId(self.nodes[to].request());
        let (asks, answers, last_at) = (true, false, self.clock);
        self.links.push(Link { from, exchange, to, request: number, asks, answers, last_at });
        let link = self.links.len() - 1;
        let mut headers = request.headers.clone();
        headers.push(("Host".to_owned(), HOSTS[to].to_owned()));
        let method = request.method.name().to_owned();
        let mut at = self.chance.below(60);
        self.later(at, Event::Asked(link, Input::Request { request: number, method, target, headers }));
        if let Some(body) = request.body {
            for bytes in self.chance.cut(body.as_bytes(), 2) {
                at += self.chance.below(20);
                self.later(at, Event::Asked(link, Input::RequestBody { request: number, bytes }));
            }
        }
        self.later(at, Event::Asked(link, Input::RequestEnd { request: number }));
        if self.lossy > 0 && !self.is_closing && self.chance.one_in(self.lossy) {
            let wait = self.chance.below(8000);
            self.later(wait, Event::Cut(link));
        }
    }

    fn abort(&mut self, node: usize, exchange: ExchangeId) {
        let Some(link) = self.links.iter().rposition(|link| link.from == node && link.exchange == exchange) else { return };
        self.links[link].asks = false;
        let request = self.links[link].request;
        self.later(20, Event::Asked(link, Input::RequestGone { request }));
    }

    /// Something arrives at the gateway that is asked.
    fn asked(&mut self, link: usize, input: Input) {
        let Link { to, asks, answers, exchange, .. } = self.links[link].clone();
        let begins = matches!(input, Input::Request { .. });
        if self.nodes[to].is_down {
            if asks && begins {
                let (cause, detail) = (Cause::Refused, "connection refused".to_owned());
                self.answer(link, Input::Failed { exchange, cause, detail });
            }
            return;
        }
        // Of one who left before anything arrived nothing does.
        if !begins && !answers || begins && !asks {
            return;
        }
        self.links[link].answers = !matches!(input, Input::RequestGone { .. });
        self.give(to, input);
    }

    /// Something arrives at the gateway that asked.
    fn answered(&mut self, link: usize, input: Input) {
        if !self.links[link].asks {
            return;
        }
        if matches!(input, Input::End { .. } | Input::Failed { .. }) {
            self.links[link].asks = false;
        }
        self.give(self.links[link].from, input);
    }

    /// A connection is lost; either end hears of it in its own time.
    fn cut(&mut self, link: usize) {
        let Link { asks, answers, exchange, request, .. } = self.links[link].clone();
        if !asks && !answers {
            return;
        }
        self.count("cut");
        let lag = self.chance.below(3000);
        if answers {
            self.later(lag, Event::Asked(link, Input::RequestGone { request }));
        }
        if asks {
            let (cause, detail) = (Cause::Reset, String::new());
            self.answered(link, Input::Failed { exchange, cause, detail });
        }
    }

    fn delivery(&mut self, node: usize, exchange: ExchangeId, request: &Request) {
        let status = if self.lossy > 0 && !self.is_closing && self.chance.one_in(self.lossy) {
            *self.chance.pick(&[None, Some(503)])
        } else {
            Some(200)
        };
        if status == Some(200) || self.chance.one_in(2) {
            let body: Value = serde_json::from_str(request.body.as_deref().unwrap_or_default()).expect("JSON");
            let id = request.url.trim_start_matches(HOOK).to_owned();
            let delivered = self.hooks.get_mut(&id).expect("a receiver that was named");
            let given = request.headers.iter().any(|(_, value)| value.ends_with(&format!("hook-secret-{id}")));
            assert!(given, "a delivery has its credentials: {:?}", request.headers);
            let update = body.get("statusUpdate").or_else(|| body.get("task"));
            delivered.states.extend(update.map(|update| text(update, "/status/state").replace("TASK_STATE_", "")));
        }
        let (life, wait) = (self.nodes[node].life, self.chance.below(500));
        self.later(wait, Event::Hook(node, life, exchange, status));
    }

    fn hook(&mut self, node: usize, life: u64, exchange: ExchangeId, status: Option<u16>) {
        if self.nodes[node].life != life || self.nodes[node].is_down {
            return;
        }
        let Some(status) = status else {
            let (cause, detail) = (Cause::Reset, String::new());
            return self.give(node, Input::Failed { exchange, cause, detail });
        };
        self.give(node, Input::Head { exchange, status, headers: Headers::new() });
        if self.nodes[node].life == life {
            self.give(node, Input::End { exchange });
        }
    }

    /// A function is given work.
    fn order(&mut self, node: usize, work: WorkId, order: &str) {
        let order: Value = serde_json::from_str(order).expect("JSON");
        let task = text(&order, "/task/id");
        self.books[node].expected.remove(&task);
        self.works.insert((node, work.0), Work { task, said: 0 });
        let (life, wait) = (self.nodes[node].life, self.chance.below(4000));
        self.later(wait, Event::Work(node, life, work.0));
    }

    /// A function says something, or ends.
    fn go_on_with(&mut self, node: usize, number: u64) {
        let Some(Work { task, said }) = self.works.get(&(node, number)).cloned() else { return };
        self.words += 1;
        let (work, words, life) = (WorkId(number), format!("word-{} ", self.words), self.nodes[node].life);
        let what = if self.is_closing { 10 } else { self.chance.below(11) };
        let parts = json!([{ "text": words }]);
        let status = |state: &str| json!({"statusUpdate": {"status": {"state": format!("TASK_STATE_{state}"), "message": {"role": "ROLE_AGENT", "parts": parts}}}});
        let event = match what {
            0..=2 => status("WORKING"),
            3..=5 => {
                let (id, append) = (*self.chance.pick(&["a", "b"]), self.chance.one_in(2));
                json!({"artifactUpdate": {"artifact": {"artifactId": id, "parts": parts}, "append": append}})
            }
            6 => status("INPUT_REQUIRED"),
            7 => status("AUTH_REQUIRED"),
            8 => status(self.chance.pick::<&str>(&["COMPLETED", "FAILED", "REJECTED"])),
            9 if said == 0 => json!({"message": {"role": "ROLE_AGENT", "parts": parts}}),
            _ => return self.end_work(node, work, &task),
        };
        let ends = event.get("message").is_some() || what == 8;
        if let Some(kept) = self.books[node].tasks.get(&task) {
            let mut seen = kept.seen.clone();
            match event.get("message") {
                Some(_) => (seen.state, seen.words) = ("COMPLETED".to_owned(), words),
                None => seen.apply(&event),
            }
            self.books[node].expected.insert(task.clone(), seen);
        }
        if ends {
            self.works.remove(&(node, number));
        } else {
            self.works.insert((node, number), Work { task, said: said + 1 });
            let wait = self.chance.below(6000);
            self.later(wait, Event::Work(node, life, number));
        }
        self.count("update");
        self.give(node, Input::Update { work, text: event.to_string() });
    }

    fn end_work(&mut self, node: usize, work: WorkId, task: &str) {
        self.works.remove(&(node, work.0));
        let fails = self.chance.one_in(4);
        let others = self.works.iter().any(|((of, _), other)| *of == node && other.task == task);
        if let Some(kept) = self.books[node].tasks.get(task) {
            let mut seen = kept.seen.clone();
            if fails {
                (seen.state, seen.words) = ("FAILED".to_owned(), "the function broke".to_owned());
            } else if !others && !seen.is_interrupted() {
                (seen.state, seen.words) = ("COMPLETED".to_owned(), String::new());
            }
            self.books[node].expected.insert(task.to_owned(), seen);
        }
        self.count(if fails { "function failed" } else { "function ended" });
        let detail = "the function broke".to_owned();
        self.give(node, if fails { Input::WorkFailed { work, detail } } else { Input::WorkEnd { work } });
    }
}
