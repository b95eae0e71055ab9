//! The fuzz targets, given what the fuzzer found worth keeping: `tests/fuzz/README.md`.
#![allow(
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

#[path = "fuzz/properties/mod.rs"]
mod properties;
mod support;

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use narrows::json;
use support::memory;
use support::text::{at, raw};

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

/// The inputs of a target: one a line, a JSON string or, where it is no text, an object with its base64.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(format!("{name}.jsonl"));
    let lines = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    let read = |line: &str| match at(line, &["base64"]) {
        Some(text) => STANDARD.decode(json::string(raw(&text)).unwrap()).unwrap(),
        None => json::string(raw(line)).unwrap().into_bytes(),
    };
    lines.lines().map(read).collect()
}

#[test]
fn every_target_holds_for_its_corpus() {
    for (name, target) in properties::TARGETS {
        let inputs = corpus(name);
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for bytes in inputs {
            // Told when something fails; without a failure the runner keeps it to itself.
            println!("{name}: {}", bytes.escape_ascii());
            target(&bytes);
        }
    }
}
