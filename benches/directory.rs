//! The speed of the directory: microseconds for a page of 20 out of 10,000 cards, by the filter, beside a search of every
//! text that may match. `cargo bench --bench directory`
#![allow(clippy::disallowed_types, clippy::std_instead_of_core, reason = "a program that reads the clock")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a program that nobody else runs")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use narrows::directory::{Bounds, Directory, Question};
use narrows::json;

const CARDS: u32 = 10_000;
const LIMIT: u64 = 20;

/// How often the candidates take turns; the fastest turn of each counts.
const TURNS: u32 = 5;

const TRADES: [&str; 8] = ["travel", "billing", "weather", "kitchen", "translation", "shipping", "research", "support"];

/// A name and a card of about 600 bytes.
fn card(number: u32) -> (String, String) {
    let name = format!("agent-{:05}-{}", number.wrapping_mul(7919) % CARDS, TRADES[number as usize % 8]);
    let about = format!("Answers questions of {} about {}.", number % 97, TRADES[number as usize / 8 % 8]).repeat(8);
    let card = format!(
        r#"{{"name":"{name}","description":"{about}","url":"https://{name}.example.com/a2a","version":"1.0.{number}","protocolVersion":"0.3.0","capabilities":{{"streaming":true}},"skills":[{{"id":"s","name":"S","tags":["{}","t{}"]}}]}}"#,
        TRADES[number as usize / 64 % 8],
        number % 500
    );
    (name, card)
}

/// The fastest turn of two candidates, in nanoseconds each.
fn race(mut one: impl FnMut() -> usize, mut other: impl FnMut() -> usize, time: Duration) -> [u128; 2] {
    let mut best = [u128::MAX; 2];
    for _ in 0..TURNS {
        for (best, run) in best.iter_mut().zip([&mut one as &mut dyn FnMut() -> usize, &mut other]) {
            let (start, mut rounds) = (Instant::now(), 0_u32);
            while rounds == 0 || start.elapsed() < time {
                black_box(run());
                rounds += 1;
            }
            *best = (*best).min(start.elapsed().as_nanos() / u128::from(rounds));
        }
    }
    best
}

fn main() {
    let quick = !std::env::args().any(|argument| argument == "--bench");
    let time = if quick { Duration::ZERO } else { Duration::from_millis(100) };
    let bounds = Bounds { cards: u64::from(CARDS), bytes: 1 << 30, depth: 128 };
    let (mut directory, mut texts) = (Directory::default(), Vec::new());
    let start = Instant::now();
    for (name, card) in (0..CARDS).map(card) {
        directory.register("me", Some(&name), &card, bounds).unwrap();
        texts.push(card.to_lowercase());
    }
    println!("{CARDS} cards taken in: {} us each", start.elapsed().as_micros() / u128::from(CARDS));
    texts.sort();
    println!("{:22}{:>8}{:>12}{:>12}{:>10}", "filter", "found", "ns a page", "ns a search", "ratio");
    for filter in ["", "agent", "kitchen", "09999-", "billing about", "t499", "zq", "~", "no such words"] {
        let question = Question { filter: filter.into(), limit: Some(LIMIT), cursor: None };
        let found = json::elements(directory.page(&question).unwrap().cards.raw()).unwrap().len();
        let [page, search] = race(
            || directory.page(black_box(&question)).unwrap().cards.as_str().len(),
            || texts.iter().filter(|text| text.contains(black_box(filter))).take(21).count(),
            time,
        );
        println!("{filter:22}{found:>8}{page:>12}{search:>12}{:>9}%", page * 100 / search.max(1));
    }
}
