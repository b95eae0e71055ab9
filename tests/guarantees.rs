//! The seven guarantees, each over many random worlds. A failure prints its seed and the last steps; run it alone with
//! `SEED=<seed> cargo test --test guarantees <name>`. `WORLDS=<n>` runs more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_core)]

mod support;

use std::collections::BTreeMap;

use narrows::io::Output;
use support::chance::seeds;
use support::text::string_at;
use support::world::{Kind, kind, run};

/// What calls ended in, with how often: `result`, `error`, or the code of a tool's error.
fn count_ends(counts: &mut BTreeMap<String, u64>, outputs: &[Output]) {
    for output in outputs {
        let Output::Message { text, .. } = output else { continue };
        let code = string_at(text, &["result", "structuredContent", "error", "code"]);
        let state = string_at(text, &["result", "structuredContent", "task", "status", "state"]);
        *counts.entry(code.or(state).unwrap_or_else(|| "other".to_owned())).or_default() += 1;
    }
}

#[test]
fn every_accepted_call_gets_exactly_one_answer() {
    let mut counts = BTreeMap::new();
    for seed in seeds(300) {
        let world = run(seed, Kind { restarts: seed.is_multiple_of(2), ..kind(seed) });
        for step in &world.host.steps {
            count_ends(&mut counts, &step.outputs);
        }
    }
    println!("{counts:#?}");
    panic!();
}
