//! The speed of the taint scan: nanoseconds per KB of arguments, by what they hold.
//! `cargo bench --bench policy`, as it is shipped in the wasm: made small. A native program makes it fast:
//! `cargo bench --bench policy --config profile.bench.opt-level=3`. Behind `--` kinds may be named, such as `base64`.
#![allow(clippy::disallowed_types, clippy::std_instead_of_core, reason = "a program that reads the clock")]
#![allow(clippy::unwrap_used, reason = "a program that nobody else runs")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use narrows::json::{self, Json, Object};
use narrows::policy::{Rules, Sink, check_outbound_json};

const BYTES: usize = 64 << 10;

/// How often each is measured; the fastest turn counts.
const TURNS: usize = 7;

fn arguments(unit: &str) -> Json {
    let mut out = Object::new();
    out.string("path", "/srv/ada/notes.txt").string("content", &unit.repeat(BYTES / unit.len()));
    out.finish()
}

/// Arguments of calls, none of which holds a secret.
fn samples() -> Vec<(&'static str, Json)> {
    let prose = "The quick brown fox jumps over the lazy dog; nobody knows why, and few have ever asked. ";
    let code = "    let found = text.get(at..end).map(|part| part.len() + 1); // counts at most 1024 of them\n";
    let ids = "task 550e8400-e29b-41d4-a716-446655440000 at 2025-11-03T10:15:30Z from 192.168.1.100, commit 7c1d09e2b4a3\n";
    let paths = "/usr/lib/node_modules/@scope/package/dist/index.js https://example.com/docs/getting-started?page=2\n";
    let umlauts = "Grüße aus München: fünf Äpfel, zwölf Nüsse und ein Stück Käse für die Füchse. ";
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg";
    let rows = r#"{"id":12345,"name":"Ada","tags":["a","b"],"ok":true,"at":1747123456}"#;
    let list = format!("[{}]", vec![rows; BYTES / rows.len()].join(","));
    vec![
        ("prose", arguments(prose)),
        ("code", arguments(code)),
        ("ids and dates", arguments(ids)),
        ("paths and URLs", arguments(paths)),
        ("other letters", arguments(umlauts)),
        ("base64", arguments(&format!("data:image/png;base64,{image} "))),
        ("small values", Json::parse(&list, 8).unwrap()),
    ]
}

fn main() {
    let quick = !std::env::args().any(|argument| argument == "--bench");
    let turn = if quick { Duration::ZERO } else { Duration::from_millis(60) };
    println!("{:16}{:>10}", "arguments", "ns per KB");
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (kind, arguments) in samples() {
        if !named.is_empty() && !named.iter().any(|name| name == kind) {
            continue;
        }
        let raw = json::parse(arguments.as_str(), 8).unwrap();
        let mut best = u128::MAX;
        for _ in 0..TURNS {
            let (began, mut rounds) = (Instant::now(), 0);
            while rounds == 0 || began.elapsed() < turn {
                let report = check_outbound_json(black_box(raw), Sink::McpToolCall, Rules::NONE);
                assert!(!report.blocks(), "{kind}: {report:?}");
                rounds += 1;
            }
            best = best.min(began.elapsed().as_nanos() / rounds);
        }
        println!("{kind:16}{:>10}", best * 1024 / arguments.as_str().len() as u128);
    }
}
