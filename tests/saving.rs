//! What a host with a storage is told to keep.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_alloc)]
#![allow(dead_code, unreachable_pub, clippy::std_instead_of_core, reason = "the worlds of tests/sim, of which this needs a part")]

#[path = "sim/client.rs"]
mod client;
#[path = "sim/judge.rs"]
mod judge;
#[path = "sim/mischief.rs"]
mod mischief;
#[path = "sim/model.rs"]
mod model;
#[path = "sim/network.rs"]
mod network;
mod support;
#[path = "sim/twin.rs"]
mod twin;
#[path = "sim/view.rs"]
mod view;
#[path = "sim/visits.rs"]
mod visits;
#[path = "sim/wish.rs"]
mod wish;
#[path = "sim/world.rs"]
mod world;

use std::collections::BTreeSet;

use narrows::a2a::Dialect;
use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId};
use narrows::json;
use narrows::time::Instant;
use support::chance::{Chance, seeds};
use support::host::{Host, genesis};
use support::storage::Storage;
use support::text::{at, quoted, raw};
use support::wire;
use world::{FURNISHED, Kind, STORED, kind, run};

/// The saves among some outputs, by their keys.
fn keys(outputs: &[Output]) -> Vec<String> {
    let saves = outputs.iter().filter_map(|output| match output {
        Output::Save(save) => Some(if save.record.is_some() { save.key.clone() } else { format!("-{}", save.key) }),
        Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => None,
        Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
        Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } | Output::Tokens { .. } | Output::Lookup(_) => None,
    });
    saves.collect()
}

fn last_keys(host: &Host) -> Vec<String> {
    keys(&host.steps.last().unwrap().outputs)
}

fn check(host: &Host) -> Vec<Output> {
    host.storage.check(&host.gateway, genesis(9, 0, host.clock), &host.config)
}

#[test]
fn after_every_input_what_is_kept_is_the_state() {
    for seed in seeds(6) {
        let config = if seed.is_multiple_of(2) { STORED } else { FURNISHED };
        let world = run(seed, Kind { config, restarts: seed.is_multiple_of(3), ..kind(seed) });
        let host = &world.host;
        check(host);
        if seed.is_multiple_of(3) {
            continue;
        }
        let mut gateway = Gateway::new(host.genesis, host.config.clone());
        let mut storage = Storage::default();
        for (number, step) in host.steps.iter().enumerate() {
            let _ = gateway.handle_input(step.now, step.input.clone());
            let mut others = false;
            while let Some(output) = gateway.poll_output() {
                match output {
                    Output::Save(save) => {
                        assert!(!others, "what an input changed is kept before anything else is done");
                        storage.keep(save);
                    }
                    Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => others = true,
                    Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => others = true,
                    Output::Work { .. }
                    | Output::WorkAbort { .. }
                    | Output::Link { .. }
                    | Output::Tokens { .. }
                    | Output::Lookup(_) => others = true,
                }
            }
            let wall = step.now.as_ms().max(host.watch.now.as_ms());
            storage.check(&gateway, genesis(seed + number as u64, wall, wall), &host.config);
        }
    }
}

#[test]
fn a_host_without_a_storage_is_told_nothing() {
    for seed in seeds(8) {
        let stored = run(seed, Kind { config: STORED, restarts: false, ..kind(seed) });
        let mut config = stored.host.config.clone();
        config.storage = false;
        let said = support::replay::outputs(stored.host.genesis, &config, &stored.host.steps, support::replay::Drain::AfterEach);
        let others = stored.host.steps.iter().flat_map(|step| &step.outputs).filter(|output| !matches!(output, Output::Save(_)));
        assert!(others.eq(said.iter()));
    }
}

fn host(config: &str) -> Host {
    let mut host = Host::new(1, config);
    host.open(1, "stdio");
    host
}

fn connect(host: &mut Host, alias: &str) {
    let arguments =
        format!(r#"{{"alias":"{alias}","agent_url":"https://{alias}.test","headers":{{"X-Key":"secret-{alias}-x"}}}}"#);
    let call = host.call(1, "connect_agent", &arguments);
    let (exchange, request) = host.fetch();
    let url = request.url.replace("/.well-known/agent-card.json", "/");
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, &url, false, true, alias));
    host.result(call);
}

fn send(host: &mut Host, alias: &str, more: &str) -> ExchangeId {
    host.call(1, "send_message", &format!(r#"{{"agent":"{alias}","message":"hi"{more}}}"#));
    host.fetch().0
}

/// Answers a send, whose head was answered already, with a message in a context.
fn answer_body(host: &mut Host, exchange: ExchangeId, text: &str) {
    let asked = host.steps.iter().flat_map(|step| &step.outputs).find_map(|output| match output {
        Output::Fetch { exchange: known, request } if *known == exchange => at(request.body.as_ref()?, &["id"]),
        Output::Fetch { .. } | Output::Message { .. } | Output::Abort { .. } | Output::Save(_) | Output::Notice(_) => None,
        Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => None,
        Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } | Output::Tokens { .. } | Output::Lookup(_) => None,
    });
    let (id, text) = (asked.unwrap(), quoted(text));
    let message = format!(r#"{{"role":"ROLE_AGENT","messageId":"m","contextId":"c","parts":[{{"text":{text}}}]}}"#);
    host.body(exchange, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"message":{message}}}}}"#).as_bytes());
    host.end(exchange);
}

fn answer(host: &mut Host, exchange: ExchangeId, text: &str) {
    host.head(exchange, 200, &[("content-type", "application/json")]);
    answer_body(host, exchange, text);
}

#[test]
fn what_did_not_change_is_not_kept_again() {
    let mut host = host(r#"{"storage":true,"history":{"depth":2}}"#);
    assert_eq!(last_keys(&host), ["counters", "peer/1"]);
    for alias in ["ann", "bob", "cyd"] {
        connect(&mut host, alias);
    }
    let call = host.call(1, "list_agents", "{}");
    assert_eq!(last_keys(&host), ["counters"]);
    host.result(call);
    for number in 0..3 {
        let exchange = send(&mut host, "bob", "");
        assert_eq!(last_keys(&host), ["counters".to_owned(), format!("call/{}", 5 + 2 * number)]);
        host.head(exchange, 200, &[("content-type", "application/json")]);
        assert_eq!(last_keys(&host), [""; 0]);
        answer_body(&mut host, exchange, "ok");
        let mut expected = vec!["scope/stdio/agent/bob".to_owned()];
        if number > 0 {
            expected.clear();
        }
        if number == 2 {
            expected.push("-scope/stdio/agent/bob/0".to_owned());
        }
        expected.push(format!("scope/stdio/agent/bob/{number}"));
        expected.push(format!("-call/{}", 5 + 2 * number));
        assert_eq!(last_keys(&host), expected);
    }
    host.call(1, "disconnect_agent", r#"{"alias":"bob"}"#);
    assert_eq!(last_keys(&host), ["-scope/stdio/agent/bob", "counters"]);
    assert!(!host.storage.keys().iter().any(|key| key.contains("bob")), "{:?}", host.storage.keys());
    assert_eq!(keys(&check(&host)), [""; 0], "what is kept already is not kept again after a restart");
    host.input(Input::Closed { peer: PeerId(1) }).unwrap();
    assert_eq!(last_keys(&host), ["-peer/1"]);
}

#[test]
fn outcomes_and_running_calls_are_kept() {
    let mut host = host(r#"{"storage":true}"#);
    connect(&mut host, "bob");
    let exchange = send(&mut host, "bob", r#","async":true"#);
    assert!(host.storage.keys().iter().any(|key| key.starts_with("call/")));
    answer(&mut host, exchange, "done");
    assert!(last_keys(&host).contains(&"scope/stdio/inbox/0".to_owned()), "{:?}", last_keys(&host));
    send(&mut host, "bob", r#","async":true"#);
    let lost = check(&host);
    assert!(keys(&lost).contains(&"scope/stdio/inbox/1".to_owned()) && keys(&lost).iter().any(|key| key.starts_with("-call/")));
    host.restart(3);
    assert_eq!(keys(&check(&host)), [""; 0]);
    let call = host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
    assert_eq!(last_keys(&host), ["-scope/stdio/inbox/0", "-scope/stdio/inbox/1", "counters"]);
    assert_eq!(json::elements(raw(&at(&host.result(call), &["structuredContent", "messages"]).unwrap())).unwrap().len(), 2);
}

#[test]
fn what_is_longer_than_a_piece_is_kept_in_several() {
    let mut host = host(r#"{"storage":true}"#);
    connect(&mut host, "bob");
    let before = host.storage.pieces().len();
    let exchange = send(&mut host, "bob", r#","async":true"#);
    answer(&mut host, exchange, &"long \"\\ text".repeat(100_000));
    assert!(host.storage.pieces().len() > before + 4);
    check(&host);
    let mut pieces = host.storage.pieces();
    Chance::new(5).shuffle(&mut pieces);
    let again = Gateway::restore(genesis(2, 0, host.clock), host.config.clone(), &pieces).unwrap();
    assert_eq!(again.snapshot(Secrets::Keep), host.gateway.snapshot(Secrets::Keep));
    host.call(1, "read_inbox", r#"{"alias":"bob"}"#);
    assert!(host.storage.pieces().len() < before + 4);
    check(&host);
}

#[test]
fn a_storage_that_begins_later_is_told_everything() {
    let mut host = host("{}");
    connect(&mut host, "bob");
    let exchange = send(&mut host, "bob", "");
    host.fail(exchange, Cause::Reset);
    let config = Config { storage: true, ..host.config.clone() };
    let mut gateway = Gateway::restore(genesis(2, 0, host.clock), config.clone(), &host.gateway.snapshot(Secrets::Keep)).unwrap();
    let mut storage = Storage::default();
    while let Some(output) = gateway.poll_output() {
        if let Output::Save(save) = output {
            storage.keep(save);
        }
    }
    let kinds: BTreeSet<&str> = storage.keys().into_iter().filter_map(|key| key.split('/').next()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["counters", "peer", "scope"]);
    storage.check(&gateway, genesis(4, 0, host.clock), &config);
}

/// A session with a stream in it.
const SESSION: [&str; 4] = [
    r#"{"narrows":1,"records":[{"kind":"peer","peer":9007199254740995,"scope":"http/local/3","modern":false,"listens":[]}]}"#,
    r#"{"narrows":1,"records":[{"kind":"http_session","name":"s","principal":"local","peer":9007199254740995,"next_stream":2}]}"#,
    r#"{"narrows":1,"records":[{"kind":"stream","session":"s","number":1,"next_event":3,"standing":false,"awaited":["7"]}]}"#,
    r#"{"narrows":1,"records":[{"kind":"event","session":"s","stream":1,"number":2,"wire":"id: 1-2\ndata:\n\n"}]}"#,
];

/// The text with one of its numbers replaced.
fn with_other_number(chance: &mut Chance, text: &str) -> String {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..text.len()).filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1))).collect();
    let start = *chance.pick(&starts);
    let end = (start..).find(|at| !is_digit(*at)).unwrap();
    let other = chance.pick(&["0", "1", "2", "9007199254740991", "9007199254740997", "18446744073709551615", "1e30", "-1"]);
    format!("{}{other}{}", &text[..start], &text[end..])
}

#[test]
fn numbers_that_nobody_wrote_do_no_harm() {
    let world = run(2, Kind { config: STORED, ..kind(2) });
    let mut pieces = world.host.storage.pieces();
    pieces.extend(SESSION.map(str::to_owned));
    let restore = |pieces: &[String]| Gateway::restore(genesis(1, 0, world.host.clock), world.host.config.clone(), pieces);
    assert!(restore(&pieces).is_ok());
    let mut taken = 0;
    for seed in seeds(300) {
        let mut chance = Chance::new(seed);
        let mut pieces = pieces.clone();
        for _ in 0..2 {
            let at = chance.index(pieces.len());
            pieces[at] = with_other_number(&mut chance, &pieces[at]);
        }
        let Ok(mut gateway) = restore(&pieces) else { continue };
        taken += 1;
        gateway.handle_input(Instant::from_ms(1), Input::Open { peer: PeerId(900), scope: "one".to_owned() }).unwrap();
        for tool in ["check_inbox", "list_agents"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":"{tool}","method":"tools/call","params":{{"name":"{tool}"}}}}"#);
            gateway.handle_input(Instant::from_ms(1), Input::Message { peer: PeerId(900), text }).unwrap();
        }
        let own = gateway.snapshot(Secrets::Keep);
        assert!(restore(&own).is_ok(), "SEED={seed}: {own:?}");
    }
    assert!(taken > 30, "{taken}");
}

#[test]
fn a_bucket_as_large_as_one_can_be_is_taken_up() {
    let mut host = host(r#"{"storage":true}"#);
    for (alias, burst) in [("one", "1000000000"), ("two", "999999999")] {
        let url = format!(r#""agent_url":"https://{alias}.test","rate_limit_rps":0.000001,"rate_limit_burst":{burst}"#);
        host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}",{url}}}"#));
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Refused);
        check(&host);
        host.call(1, "send_message", &format!(r#"{{"agent":"{alias}","message":"hi","async":true}}"#));
        let (exchange, _) = host.fetch();
        host.fail(exchange, Cause::Refused);
        check(&host);
    }
}
