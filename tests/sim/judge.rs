//! A world looked at after its end.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use narrows::config::{Config, ExternalAgent};
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId};
use narrows::json;
use narrows::time::Instant;

use super::world::{TIGHT, World};
use crate::support::agent::{self, Agent, Normal};
use crate::support::chance::Chance;
use crate::support::host::{Host, genesis};
use crate::support::rule::{Rule, under};
use crate::support::text::{at, holds, quoted, raw, shortened, string_at};
use crate::support::{replay, wire};

/// How often what happened.
pub type Counts = BTreeMap<String, u64>;

/// Checks what can be told of a whole life, and counts what happened in it.
pub fn judge(world: &mut World, seed: u64, counts: &mut Counts) {
    count(world, counts);
    under(Rule::NothingMore, || nothing_more(&mut world.host));
    if world.kind.traced && !world.kind.restarts {
        under(Rule::SameBytes, || replays(&world.host));
    }
    if world.kind.traced {
        under(Rule::Secrets, || tells_nothing(&world.host));
    }
    under(Rule::Restore, || {
        goes_on(&mut world.host, seed);
        is_handed_on(&world.host, seed);
    });
}

fn count(world: &World, counts: &mut Counts) {
    for (tool, results) in &world.results {
        *counts.entry(format!("result of {tool}")).or_default() += results;
    }
    let mut note = |what: String| *counts.entry(what).or_default() += 1;
    for output in world.host.steps.iter().flat_map(|step| &step.outputs) {
        match output {
            Output::Message { text, .. } | Output::ResponseBody { text, .. } => {
                let data = text.split("data: ").last().unwrap_or_default().trim_end();
                let code = string_at(data, &["result", "structuredContent", "error", "code"]);
                let state = string_at(data, &["result", "structuredContent", "task", "status", "state"]);
                code.or(state).into_iter().for_each(&mut note);
            }
            Output::ResponseHead { status, .. } => note(format!("status {status}")),
            Output::Fetch { .. } | Output::Abort { .. } | Output::ResponseEnd { .. } | Output::Notice(_) => {}
            Output::Save(_)
            | Output::Work { .. }
            | Output::WorkAbort { .. }
            | Output::Link { .. }
            | Output::Tokens { .. }
            | Output::Lookup(_) => {}
        }
    }
    for step in &world.host.steps {
        let Input::Request { headers, .. } = &step.input else { continue };
        let resumes = headers.iter().any(|(name, _)| name == "Last-Event-ID");
        let streams = step.outputs.iter().any(|output| matches!(output, Output::ResponseHead { status: 200, .. }));
        if resumes && streams {
            note("resumed".to_owned());
        }
    }
}

fn nothing_more(host: &mut Host) {
    let newest = host.steps.iter().flat_map(|step| &step.outputs).filter_map(|output| match output {
        Output::Fetch { exchange, .. } => Some(exchange.0),
        Output::Message { .. } | Output::Abort { .. } | Output::Save(_) | Output::Notice(_) => None,
        Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } | Output::Tokens { .. } | Output::Lookup(_) => None,
        Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
    });
    for exchange in (1..=newest.max().unwrap_or(0)).map(ExchangeId) {
        for late in late_reports(exchange) {
            host.input(late).unwrap();
            assert_eq!(host.steps.last().unwrap().outputs, []);
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

/// A trace replays to itself.
fn replays(host: &Host) {
    // A limit counts bytes, and a placeholder is shorter than what it stands for.
    if host.config.limits == Config::from_json(TIGHT).unwrap().limits {
        return;
    }
    replay::check(host.genesis, &host.config, host.steps.iter().map(|step| (step.now, step.input.clone())));
}

fn tells_nothing(host: &Host) {
    let needles: Vec<&String> = host.watch.secrets.iter().flat_map(|secret| &secret.needles).collect();
    host.trace.iter().for_each(|line| check_line(line, &needles));
    for piece in &host.handed_on {
        for needle in &needles {
            assert!(!holds(piece, needle), "{needle} in a snapshot: {}", shortened(piece));
        }
    }
    check_bodies(host, &needles);
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
    let mut agents: Vec<Agent> = (0..4).map(|number| agent::random(&mut chance, number)).collect();
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

/// A gateway that is restored goes on as this one does.
fn goes_on(host: &mut Host, seed: u64) {
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

fn is_handed_on(host: &Host, seed: u64) {
    let pieces = host.gateway.snapshot(Secrets::Drop);
    let config = Config { storage: false, ..host.config.clone() };
    let mut gateway = Gateway::restore(genesis(seed, 0, host.clock), config, &pieces).unwrap();
    // The agents of the configuration are connected anew, as it has the credentials that were left out.
    while let Some(output) = gateway.poll_output() {
        let Output::Fetch { request, .. } = &output else { panic!("{output:?}") };
        let is_configured = |agent: &ExternalAgent| request.url.starts_with(agent.url.as_str());
        assert!(host.config.external_agents.iter().any(is_configured), "{request:?}");
    }
    let secret = quoted("headers");
    assert!(pieces.iter().all(|piece| !piece.contains(&format!("{secret}:{{\""))), "no header field is handed on");
}
