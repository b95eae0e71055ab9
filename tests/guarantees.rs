//! The seven guarantees, each over many random worlds. A failure prints its seed and the last steps; run it alone with
//! `SEED=<seed> cargo test --test guarantees <name>`. `WORLDS=<n>` runs more.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId};
use narrows::json;
use narrows::time::Instant;
use support::agent::{Agent, Normal};
use support::chance::{Chance, seeds};
use support::host::{Host, genesis};
use support::mischief::Weather;
use support::replay::{self, Drain};
use support::text::{at, holds, quoted, raw, shortened, string_at};
use support::world::{Kind, TIGHT, World, kind, run};
use support::{memory, wire};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

const WORLDS: u64 = 150;

/// The texts of messages to peers.
fn told(outputs: &[Output]) -> impl Iterator<Item = &String> {
    outputs.iter().filter_map(|output| match output {
        Output::Message { text, .. } => Some(text),
        Output::Fetch { .. } | Output::Abort { .. } | Output::Save(_) | Output::Notice(_) => None,
        Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
        Output::Work { .. } | Output::WorkAbort { .. } => None,
    })
}

/// What became of the calls that nobody waited for.
#[derive(Default)]
struct Dispatched {
    begun: BTreeSet<String>,
    delivered: BTreeSet<String>,
    disconnected: bool,
}

impl Dispatched {
    fn read(&mut self, text: &str) {
        let Some(result) = at(text, &["result", "structuredContent"]) else { return };
        self.begun.extend(string_at(&result, &["async", "call_id"]));
        let results = at(&result, &["results"]);
        for (_, entry) in results.iter().flat_map(|results| json::members(raw(results)).unwrap().keep()) {
            self.begun.extend(string_at(entry.as_str(), &["call_id"]));
        }
        let messages = at(&result, &["messages"]);
        for entry in messages.iter().flat_map(|messages| json::elements(raw(messages)).unwrap()) {
            let id = string_at(entry.get(), &["call_id"]).unwrap();
            assert!(self.delivered.insert(id), "an inbox entry is delivered once");
        }
        self.disconnected |= at(&result, &["aborted"]).is_some();
    }

    /// Every one of them is in the inbox or was read from it.
    fn check(&self, host: &mut Host) {
        let mut waiting = BTreeSet::new();
        for (peer, scope) in [(100, "one"), (101, "two")] {
            host.open(peer, scope);
            host.advance(60_000);
            let call = host.call(peer, "check_inbox", "{}");
            let result = host.result(call);
            assert_eq!(at(&result, &["structuredContent", "pending"]).as_deref(), Some("[]"));
            let entries = at(&result, &["structuredContent", "entries"]).unwrap();
            let ids = json::elements(raw(&entries)).unwrap();
            waiting.extend(ids.into_iter().filter_map(|entry| string_at(entry.get(), &["call_id"])));
        }
        assert!(waiting.is_disjoint(&self.delivered));
        let known: BTreeSet<String> = waiting.union(&self.delivered).cloned().collect();
        if !self.disconnected {
            assert_eq!(known, self.begun, "every dispatched call has one entry");
        }
    }
}

#[test]
fn every_accepted_call_gets_exactly_one_answer() {
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let seeds = seeds(WORLDS);
    let many = seeds.clone().count() >= 100;
    for seed in seeds {
        let mut world = run(seed, Kind { restarts: seed.is_multiple_of(2), ..kind(seed) });
        let mut dispatched = Dispatched::default();
        for text in world.host.steps.iter().flat_map(|step| told(&step.outputs)) {
            dispatched.read(text);
            let code = string_at(text, &["result", "structuredContent", "error", "code"]);
            let state = string_at(text, &["result", "structuredContent", "task", "status", "state"]);
            *ends.entry(code.or(state).unwrap_or_else(|| "other".to_owned())).or_default() += 1;
        }
        dispatched.check(&mut world.host);
    }
    // The worlds are worth something only where calls end in every way.
    let codes = [
        "agent_error",
        "blocked",
        "busy",
        "canceled",
        "http_status",
        "invalid_argument",
        "protocol_error",
        "rate_limited",
        "task_canceled",
        "task_failed",
        "task_not_found",
        "task_rejected",
        "timeout",
        "too_large",
        "unknown_agent",
        "unreachable",
        "unsupported",
    ];
    let missing: Vec<&&str> = codes.iter().filter(|code| !ends.contains_key(**code)).collect();
    assert!(missing.is_empty() || !many, "no call ended in {missing:?}: {ends:?}");
}

#[test]
fn after_its_answer_a_call_causes_nothing_more() {
    for seed in seeds(WORLDS) {
        // What is made for a call that was answered is seen by the watch, after every input.
        let mut world = run(seed, Kind { actions: 60, ..kind(seed) });
        let newest = world.host.steps.iter().flat_map(|step| &step.outputs).filter_map(|output| match output {
            Output::Fetch { exchange, .. } => Some(exchange.0),
            Output::Message { .. } | Output::Abort { .. } | Output::Save(_) | Output::Notice(_) => None,
            Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
            Output::Work { .. } | Output::WorkAbort { .. } => None,
        });
        for exchange in (1..=newest.max().unwrap_or(0)).map(ExchangeId) {
            for late in late_reports(exchange) {
                world.host.input(late).unwrap();
                assert_eq!(world.host.steps.last().unwrap().outputs, []);
            }
        }
    }
}

fn late_reports(exchange: ExchangeId) -> [Input; 4] {
    [
        Input::Head { exchange, status: 307, headers: vec![("location".to_owned(), "/late".to_owned())] },
        Input::Body { exchange, bytes: b"data: {}\n\n".to_vec() },
        Input::End { exchange },
        Input::Failed { exchange, cause: Cause::Refused, detail: String::new() },
    ]
}

#[test]
fn outputs_depend_on_inputs_and_not_on_when_they_are_drained() {
    for seed in seeds(WORLDS) {
        let world = run(seed, kind(seed));
        let (genesis, config, steps) = (world.host.genesis, &world.host.config, &world.host.steps);
        let said: Vec<&Output> = steps.iter().flat_map(|step| &step.outputs).collect();
        for drain in [Drain::AfterEach, Drain::AtTheEnd, Drain::Anyhow(Chance::new(seed))] {
            let again = replay::outputs(genesis, config, steps, drain.clone());
            assert_eq!(again.iter().collect::<Vec<_>>(), said, "{drain:?}");
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    for seed in seeds(WORLDS) {
        let world = run(seed, kind(seed));
        let host = &world.host;
        for step in &host.steps {
            let text = step.input.to_json();
            assert_eq!(narrows::io::read_input(text.as_str()).as_ref(), Ok(&step.input), "{text:?}");
        }
        let again = replay::outputs(host.genesis, &host.config, &host.steps, Drain::AfterEach);
        let said = host.steps.iter().flat_map(|step| &step.outputs);
        assert!(said.map(Output::to_json).eq(again.iter().map(Output::to_json)));
        let inputs = host.steps.iter().map(|step| (step.now, step.input.clone()));
        let trace = replay::trace(host.genesis, host.config.clone(), inputs);
        // A limit counts bytes, and a placeholder is shorter than what it stands for.
        if host.config.limits != Config::from_json(TIGHT).unwrap().limits {
            let (genesis, config, inputs) = replay::read(&trace);
            let again = replay::trace(genesis, config, inputs.into_iter());
            if let Some(index) = (0..trace.len().max(again.len())).find(|index| trace.get(*index) != again.get(*index)) {
                let before = trace[index.saturating_sub(6)..].iter().take(7).map(|line| shortened(line)).collect::<Vec<_>>();
                panic!("a trace replays to itself; after {}\ncame {:?}", before.join("\n"), again.get(index));
            }
        }
    }
}

/// The bytes that a gateway may hold, by what its limits say.
fn bound(config: &Config) -> i64 {
    let limits = &config.limits;
    let call = limits.reply_bytes + limits.event_bytes + limits.artifact_bytes + limits.header_bytes + limits.message_bytes;
    let agent = limits.card_bytes + limits.message_bytes;
    let calls = 3 * limits.calls_per_peer * 2;
    let agents = 2 * (limits.agents_per_scope + limits.cards_by_url);
    i64::try_from(300_000 + 8 * (calls * call + agents * agent)).unwrap()
}

#[test]
fn work_and_memory_are_bounded_by_limits() {
    for seed in seeds(WORLDS) {
        let world = run(seed, Kind { weather: Weather::Rough, config: TIGHT, ..kind(seed) });
        let (config, steps) = (&world.host.config, &world.host.steps);
        let before = memory::held();
        let mut gateway = Gateway::new(world.host.genesis, config.clone());
        for step in steps {
            let (input, asked) = (step.input.clone(), memory::asked());
            memory::take_peak();
            let _ = gateway.handle_input(step.now, input);
            let grown = memory::take_peak() - before;
            assert!(grown < bound(config), "{grown} bytes are held after {:?}", step.input);
            let worked = memory::asked() - asked;
            assert!(i64::try_from(worked).unwrap() < bound(config), "{worked} bytes are asked for by {:?}", step.input);
            while gateway.poll_output().is_some() {}
        }
    }
}

/// Fails where a line of a trace holds a credential, in base64 too.
fn check_line(line: &str, needles: &[&String]) {
    let body = line.contains("\"base64\"").then(|| string_at(line, &["input", "base64"])).flatten();
    let body = body.map(|text| String::from_utf8_lossy(&STANDARD.decode(text).unwrap()).into_owned());
    for needle in needles {
        let leaks = holds(line, needle) || body.as_ref().is_some_and(|body| holds(body, needle));
        assert!(!leaks, "{needle} in the trace: {}", shortened(line));
    }
}

#[test]
fn no_secret_leaves_except_to_its_origin() {
    for seed in seeds(WORLDS) {
        // Requests, messages and notices are seen by the watch, after every input.
        let world = run(seed, Kind { restarts: seed.is_multiple_of(3), traced: true, ..kind(seed) });
        let host = &world.host;
        let needles: Vec<&String> = host.watch.secrets.iter().flat_map(|secret| &secret.needles).collect();
        host.trace.iter().for_each(|line| check_line(line, &needles));
        for piece in &host.handed_on {
            for needle in &needles {
                assert!(!holds(piece, needle), "{needle} in a snapshot: {}", shortened(piece));
            }
        }
        check_bodies(host, &needles);
    }
}

/// A body that is cut in the middle of a credential does not show it in two lines of the trace either.
fn check_bodies(host: &Host, needles: &[&String]) {
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for line in &host.trace {
        let Some(exchange) = at(line, &["input", "exchange"]) else { continue };
        if string_at(line, &["input", "type"]).as_deref() != Some("body") {
            bodies.remove(&exchange);
            continue;
        }
        let text = string_at(line, &["input", "text"]).map(String::into_bytes);
        let bytes = text.unwrap_or_else(|| STANDARD.decode(string_at(line, &["input", "base64"]).unwrap()).unwrap());
        let body = bodies.entry(exchange).or_default();
        body.extend(bytes);
        let text = String::from_utf8_lossy(&body[body.len().saturating_sub(2000)..]);
        for needle in needles {
            assert!(!holds(&text, needle), "{needle} in the bodies of the trace: {}", shortened(&text));
        }
    }
}

/// Says the same things to a gateway, with agents that answer at once and never leave a task running.
fn future(gateway: &mut Gateway, mut now: u64, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed);
    let mut agents: Vec<Agent> = (0..4).map(|number| support::agent::random(&mut chance, number)).collect();
    let mut lines = Vec::new();
    let mut give = |gateway: &mut Gateway, input: Input| {
        now += 700;
        gateway.handle_input(Instant::from_ms(now), input).unwrap();
        while let Some(output) = gateway.poll_output() {
            // What is kept of a bucket says since when, which a restore sets anew.
            if matches!(output, Output::Save(_)) {
                continue;
            }
            lines.push(output.to_json().into_string());
            let Output::Fetch { exchange, request } = output else { continue };
            let asked = wire::asked(&request);
            let index = agents.iter().position(|agent| request.url.starts_with(&agent.origin)).unwrap_or(0);
            let normal = agents[index].answer(&mut chance, &request, &asked, "");
            let (status, kind, body) = match normal {
                Normal::Plain { status, kind, body } => (status, kind, body),
                Normal::Events(events) => {
                    (200, "text/event-stream", events.iter().map(|event| format!("data: {event}\n\n")).collect())
                }
            };
            let headers = vec![("content-type".to_owned(), kind.to_owned())];
            let body = body.replace("working", "completed").replace("WORKING", "COMPLETED");
            let body = body.replace("submitted", "completed").replace("SUBMITTED", "COMPLETED");
            let body = body.replace("dreaming", "completed").replace("DREAMING", "COMPLETED");
            let body = body.replace("unknown", "completed").replace("UNKNOWN", "COMPLETED");
            let inputs = [
                Input::Head { exchange, status, headers },
                Input::Body { exchange, bytes: body.into_bytes() },
                Input::End { exchange },
            ];
            inputs.into_iter().for_each(|input| gateway.handle_input(Instant::from_ms(now), input).unwrap());
        }
    };
    for (peer, scope) in [(200, "one"), (201, "two")] {
        let peer = PeerId(peer);
        give(gateway, Input::Open { peer, scope: scope.to_owned() });
        for (id, (tool, arguments)) in later_calls().into_iter().enumerate() {
            let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
            give(gateway, Input::Message { peer, text });
        }
        give(gateway, Input::Closed { peer });
    }
    lines
}

fn later_calls() -> Vec<(&'static str, String)> {
    let mut calls =
        vec![("list_agents", "{}".to_owned()), ("view_caller_card", "{}".to_owned()), ("check_inbox", "{}".to_owned())];
    for alias in ["a0", "a1", "a2", "a3", "shared", "ext"] {
        calls.push(("get_history", format!(r#"{{"agent":"{alias}"}}"#)));
        calls.push(("read_inbox", format!(r#"{{"alias":"{alias}"}}"#)));
        for _ in 0..3 {
            calls.push(("send_message", format!(r#"{{"agent":"{alias}","message":"call-9"}}"#)));
        }
        calls.push(("get_agent_card", format!(r#"{{"agent":"{alias}"}}"#)));
    }
    calls.push(("send_message", r#"{"agent":"https://a0.test","message":"call-9"}"#.to_owned()));
    calls
}

fn list(text: &str) -> Vec<String> {
    json::elements(raw(text)).unwrap().into_iter().map(|element| element.get().to_owned()).collect()
}

#[test]
fn a_restored_gateway_goes_on() {
    for seed in seeds(WORLDS) {
        let mut world: World = run(seed, Kind { restarts: seed.is_multiple_of(2), ..kind(seed) });
        let host = &mut world.host;
        host.input(Input::Tick).unwrap();
        let mut pieces = host.gateway.snapshot(Secrets::Keep);
        assert!(pieces.iter().all(|piece| piece.len() < 1 << 20));
        let clock = host.clock;
        let restore = |pieces: &[String]| Gateway::restore(genesis(seed + 1, 5000, clock), host.config.clone(), pieces).unwrap();
        assert_eq!(restore(&pieces).snapshot(Secrets::Keep), pieces, "a snapshot of a restored gateway is the same");
        // Records in another order are the same state.
        let mut chance = Chance::new(seed);
        let mut records: Vec<String> = pieces.iter().flat_map(|piece| list(&at(piece, &["records"]).unwrap())).collect();
        chance.shuffle(&mut records);
        pieces = records.iter().map(|record| format!(r#"{{"narrows":1,"records":[{record}]}}"#)).collect();
        let mut restored = restore(&pieces);
        let now = host.watch.now.as_ms();
        let (mine, its) = (future(&mut host.gateway, now, seed), future(&mut restored, 5000, seed));
        let (mine, its) = (replay::with_numbered_ids(&mine), replay::with_numbered_ids(&its));
        for (mine, its) in mine.iter().zip(&its) {
            assert_eq!(mine, its, "after a restore");
        }
        assert_eq!(mine.len(), its.len());
    }
}

#[test]
fn a_handed_on_snapshot_is_taken_up() {
    for seed in seeds(WORLDS) {
        let world = run(seed, kind(seed));
        let pieces = world.host.gateway.snapshot(Secrets::Drop);
        let config = Config { storage: false, ..world.host.config.clone() };
        let mut gateway = Gateway::restore(genesis(seed, 0, world.host.clock), config, &pieces).unwrap();
        assert_eq!(gateway.poll_output(), None);
        let secret = quoted("headers");
        assert!(pieces.iter().all(|piece| !piece.contains(&format!("{secret}:{{\""))), "no header field is handed on");
    }
}
