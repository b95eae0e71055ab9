//! The speed of the stream decoder: nanoseconds per event, by the size of the reads. `cargo bench --bench sse`
//!
//! `benches/peer` measures the crate `sseer` with the same streams.
#![allow(clippy::disallowed_types, clippy::std_instead_of_core, reason = "a program that reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use narrows::sse::Decoder;

const EVENTS: u32 = 2_000;

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

/// Prints a line for each stream; `decode` counts the events of a stream that comes in reads of a given size.
pub fn report(name: &str, decode: impl Fn(&[u8], usize) -> u32) {
    let quick = !std::env::args().any(|argument| argument == "--bench");
    let time = if quick { Duration::ZERO } else { Duration::from_millis(300) };
    for (kind, stream) in streams() {
        print!("{name:8} {kind:12} {:5} bytes each:", stream.len() / EVENTS as usize);
        for size in [1, 64, 256, 4096, 16_384] {
            let (start, mut rounds) = (Instant::now(), 0_u32);
            while rounds == 0 || start.elapsed() < time {
                assert_eq!(decode(black_box(&stream), size), EVENTS);
                rounds += 1;
            }
            print!("  {:7} ns at {size}", start.elapsed().as_nanos() / u128::from(rounds) / u128::from(EVENTS));
        }
        println!();
    }
}

/// The decoder of this package.
pub fn narrows() {
    report("narrows", |stream, size| {
        let mut decoder = Decoder::new(1 << 20, 1 << 30);
        let events = |chunk| decoder.feed(chunk).map(|event| black_box(event).map_or(0, |_| 1)).sum::<u32>();
        stream.chunks(size).map(events).sum()
    });
}

/// The least that anyone can do: copying the bytes.
pub fn copying() {
    report("memcpy", |stream, size| {
        let mut copy = Vec::with_capacity(stream.len());
        stream.chunks(size).for_each(|chunk| copy.extend_from_slice(black_box(chunk)));
        black_box(copy);
        EVENTS
    });
}

fn main() {
    copying();
    narrows();
}
