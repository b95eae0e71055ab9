//! Many worlds on every core, run once for all tests that look at them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use narrows::config::Config;
use narrows::tools::offered;

use super::crowd::{self, GREEDS, NEEDED};
use super::inbound;
use super::judge::{Counts, judge};
use super::world::{kind, run};
use crate::support::chance::seeds;
use crate::support::rule::{self, Rule};

/// How many worlds there are where nothing is said.
const WORLDS: u64 = 40;
/// After so many failures no more worlds are begun.
const ENOUGH: usize = 20;
/// Worlds that found something once, whatever others there are.
const KEPT: [u64; 2] = [12_031, 19_396];
/// One in so many worlds has a crowd in it, and so many of the first.
const CROWDS: u64 = 40;

#[derive(Default)]
struct Found {
    breaches: BTreeMap<Rule, Vec<String>>,
    counts: Counts,
}

static FOUND: LazyLock<Found> = LazyLock::new(|| {
    let (seeds, found) = (seeds(WORLDS), Mutex::new(Found::default()));
    let seeds: Vec<u64> = KEPT.into_iter().filter(|seed| !seeds.contains(seed)).chain(seeds.clone()).collect();
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            // A stack as the main thread has it.
            let worker = || work(&next, &seeds, &found);
            thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, worker).expect("a thread");
        }
    });
    found.into_inner().unwrap()
});

fn work(next: &AtomicUsize, seeds: &[u64], found: &Mutex<Found>) {
    let mut counts = Counts::new();
    while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
        if found.lock().unwrap().breaches.values().map(Vec::len).sum::<usize>() >= ENOUGH {
            break;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut world = run(seed, kind(seed));
            judge(&mut world, seed, &mut counts);
            drop(world);
            inbound::run(seed, &mut counts);
            // A crowd takes as long as many other worlds.
            if seed < CROWDS || seed.is_multiple_of(CROWDS) {
                let greed = GREEDS[usize::try_from((seed + seed / CROWDS) % GREEDS.len() as u64).unwrap()];
                crowd::run(seed, greed, &mut counts);
            }
        }));
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            let text: String = text.chars().take(600).collect();
            let line = format!("SEED={seed}: {text}\n{}\n", rule::take_report());
            found.lock().unwrap().breaches.entry(rule::current()).or_default().push(line);
        }
    }
    let mut found = found.lock().unwrap();
    for (what, count) in counts {
        *found.counts.entry(what).or_default() += count;
    }
}

/// Fails with every world that broke a rule.
pub fn holds(rule: Rule) {
    let breaches = FOUND.breaches.get(&rule).map(Vec::as_slice).unwrap_or_default();
    assert!(breaches.is_empty(), "{} worlds:\n{}", breaches.len(), breaches.join("\n"));
}

/// Without any one of its limits a gateway is found out.
pub fn needs_limits() {
    let holds = |greed, lifted| {
        let run = |seed| catch_unwind(AssertUnwindSafe(|| crowd::run_without(lifted, seed, greed, &mut Counts::new())));
        (1..=3).all(|seed| run(seed).is_ok() || rule::current() != Rule::Bounds)
    };
    let unneeded: Vec<_> = NEEDED.into_iter().filter(|(greed, lifted)| holds(*greed, lifted)).collect();
    assert_eq!(unneeded, [], "these may be lifted and nobody notices");
}

/// Calls end in every way, and requests too. Too few worlds prove nothing of this.
pub fn is_varied() {
    let expected = [
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
        "resumed",
        "status 200",
        "status 202",
        "status 204",
        "status 400",
        "status 401",
        "status 403",
        "status 404",
        "status 405",
        "status 406",
        "status 413",
        "status 415",
        "status 431",
        "status 503",
        "crowd: agents_per_scope",
        "crowd: calls_per_peer",
        "crowd: card_bytes",
        "crowd: directory_bytes",
        "crowd: held_bytes",
        "crowd: incoming_bytes",
        "crowd: message_bytes",
        "crowd: task_bytes",
        "crowd: tool_list_bytes",
    ];
    let counts = &FOUND.counts;
    println!("{counts:?}");
    let config = Config::default();
    let results = offered(&config).map(|tool| format!("result of {}", tool.name));
    let expected = expected.into_iter().map(str::to_owned).chain(results);
    let missing: Vec<String> = expected.filter(|what| !counts.contains_key(what.as_str())).collect();
    assert!(missing.is_empty() || seeds(WORLDS).count() < 100, "nothing ended in {missing:?}: {counts:?}");
}
