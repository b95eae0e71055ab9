//! The speed of the stream decoder: nanoseconds per event, by the size of the reads, beside a mere copy of the bytes.
//! `cargo bench --bench sse`
//!
//! `benches/peer` puts the crate `sseer` into the same table.
#![allow(clippy::disallowed_types, clippy::std_instead_of_core, reason = "a program that reads the clock")]
#![allow(clippy::indexing_slicing, reason = "a program that nobody else runs")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use narrows::sse::Decoder;

const EVENTS: u32 = 2_000;

const READS: [usize; 5] = [1, 64, 256, 4096, 16_384];

/// How often the candidates take turns; the fastest turn of each counts.
const TURNS: usize = 5;

/// Counts the events of a stream that comes in reads of a given size.
pub type Decode = fn(&[u8], usize) -> u32;

/// Streams as agents send them: words of a text, and whole tasks, with a comment now and then.
#[must_use]
pub fn streams() -> [(&'static str, Vec<u8>); 2] {
    let of = |length: usize| {
        let text = "word ".repeat(length / 5);
        let event = |number: u32| {
            let comment = if number.is_multiple_of(16) { ": keep-alive\n\n" } else { "" };
            format!("{comment}data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"text\":\"{text}\",\"n\":{number}}}}}\n\n")
        };
        (0..EVENTS).flat_map(|number| event(number).into_bytes()).collect()
    };
    [("short events", of(10)), ("long events", of(2_000))]
}

/// Prints a table for each stream; the first candidate is the measure of the others.
pub fn report(candidates: &[(&str, Decode)]) {
    let quick = !std::env::args().any(|argument| argument == "--bench");
    let turn = if quick { Duration::ZERO } else { Duration::from_millis(60) };
    for (kind, stream) in streams() {
        println!("{kind}, {} bytes each: ns an event (times {})", stream.len() / EVENTS as usize, candidates[0].0);
        println!("{:8}{}", "reads of", READS.map(|size| format!("{size:>18}")).concat());
        let seen = READS.map(|size| {
            let mut best = vec![u128::MAX; candidates.len()];
            for _ in 0..TURNS {
                for ((_, decode), best) in candidates.iter().zip(&mut best) {
                    *best = (*best).min(picoseconds(*decode, &stream, size, turn));
                }
            }
            best
        });
        for (number, (name, _)) in candidates.iter().enumerate() {
            let cells = seen.iter().map(|best| {
                let (cost, percent) = (best[number], best[number] * 100 / best[0].max(1));
                format!("{:>10} ({:2}.{:02})", cost / 1000, percent / 100, percent % 100)
            });
            println!("{name:8}{}", cells.collect::<String>());
        }
    }
}

/// What one event takes.
fn picoseconds(decode: Decode, stream: &[u8], size: usize, time: Duration) -> u128 {
    let (start, mut rounds) = (Instant::now(), 0_u32);
    while rounds == 0 || start.elapsed() < time {
        assert_eq!(decode(black_box(stream), size), EVENTS);
        rounds += 1;
    }
    start.elapsed().as_nanos() * 1000 / u128::from(rounds) / u128::from(EVENTS)
}

/// The decoder of this package.
pub fn narrows(stream: &[u8], size: usize) -> u32 {
    let mut decoder = Decoder::new(1 << 20, 1 << 30);
    let events = |chunk| decoder.feed(chunk).map(|event| black_box(event).map_or(0, |_| 1)).sum::<u32>();
    stream.chunks(size).map(events).sum()
}

/// The least that anyone can do: copying the bytes.
pub fn copying(stream: &[u8], size: usize) -> u32 {
    let mut copy = Vec::with_capacity(stream.len());
    stream.chunks(size).for_each(|chunk| copy.extend_from_slice(black_box(chunk)));
    black_box(copy);
    EVENTS
}

fn main() {
    report(&[("narrows", narrows), ("copying", copying)]);
}
