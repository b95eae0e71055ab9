//! The inputs of a run given once more.

use std::collections::BTreeMap;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis};
use narrows::io::{Input, Output, read_input};
use narrows::json;
use narrows::time::{Instant, WallTime};

use super::chance::Chance;
use super::text::{at, string_at};
use super::watch::Step;

/// When outputs are taken.
#[derive(Clone, Debug)]
pub enum Drain {
    AfterEach,
    AtTheEnd,
    /// some of them, now and then, with the other doors opened in between
    Anyhow(Chance),
}

/// The outputs of the same inputs in a new gateway.
pub fn outputs(genesis: Genesis, config: &Config, steps: &[Step], mut drain: Drain) -> Vec<Output> {
    let mut gateway = Gateway::new(genesis, config.clone());
    let mut all = Vec::new();
    for step in steps {
        assert_eq!(gateway.handle_input(step.now, step.input.clone()), step.outcome);
        let count = match &mut drain {
            Drain::AfterEach => usize::MAX,
            Drain::AtTheEnd => 0,
            Drain::Anyhow(chance) => {
                let _ = gateway.poll_timeout();
                if chance.one_in(20) {
                    let _ = gateway.snapshot(narrows::gateway::Secrets::Keep);
                }
                chance.index(4)
            }
        };
        all.extend(std::iter::from_fn(|| gateway.poll_output()).take(count));
    }
    all.extend(std::iter::from_fn(|| gateway.poll_output()));
    all
}

/// The trace of the same inputs in a new gateway.
pub fn trace<'s>(genesis: Genesis, config: Config, inputs: impl Iterator<Item = (Instant, Input)> + 's) -> Vec<String> {
    let mut gateway = Gateway::new(genesis, config);
    gateway.set_trace(true);
    let mut lines = Vec::new();
    for (now, input) in inputs {
        let _ = gateway.handle_input(now, input);
        while gateway.poll_output().is_some() {}
        lines.extend(std::iter::from_fn(|| gateway.poll_trace()));
    }
    lines
}

/// Fails where the trace of these inputs does not replay to itself.
pub fn check(genesis: Genesis, config: &Config, inputs: impl Iterator<Item = (Instant, Input)>) {
    let lines = trace(genesis, config.clone(), inputs);
    let (genesis, config, inputs) = read(&lines);
    let again = comparable(trace(genesis, config, inputs.into_iter()));
    let lines = comparable(lines);
    if let Some(index) = (0..lines.len().max(again.len())).find(|index| lines.get(*index) != again.get(*index)) {
        let (line, other) = (lines.get(index).map_or("", String::as_str), again.get(index).map_or("", String::as_str));
        let same = line.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
        let tail = |text: &str| -> String { text.chars().skip(same.saturating_sub(60)).take(160).collect() };
        panic!("a trace replays to itself; line {index}\nwas …{}\ncame …{}", tail(line), tail(other));
    }
}

/// A secret that is spelled anew changes the record that holds it, but not its placeholder. A body is traced when it is
/// complete, so how long a request took that was refused before is not known to its trace; nor is how many bytes a response
/// had that told a secret.
fn comparable(mut lines: Vec<String>) -> Vec<String> {
    for line in lines.iter_mut().filter(|line| line.contains("\"event\":\"request_served\"")) {
        for number in ["\"ms\":", "\"bytes\":"] {
            if let Some((before, after)) = line.split_once(number) {
                *line = format!("{before}{}", after.trim_start_matches(|char: char| char.is_ascii_digit()));
            }
        }
    }
    let mut last = BTreeMap::new();
    lines.retain(|line| match string_at(line, &["output", "key"]) {
        Some(key) => last.insert(key, line.clone()).as_ref() != Some(line),
        None => true,
    });
    lines
}

/// Random ids (UUIDs) replaced by their number in the order of their first appearance.
pub fn with_numbered_ids(lines: &[String]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    let is_id = |text: &str| {
        text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let mut numbered = |line: &String| {
        let (mut out, mut at) = (String::new(), 0);
        while at < line.len() {
            match line.get(at..at + 36).filter(|text| is_id(text)) {
                Some(id) => {
                    let number = known.iter().position(|seen| seen == id).unwrap_or_else(|| {
                        known.push(id.to_owned());
                        known.len() - 1
                    });
                    out.push_str(&format!("<id {number}>"));
                    at += 36;
                }
                None => {
                    let char = line[at..].chars().next().unwrap();
                    out.push(char);
                    at += char.len_utf8();
                }
            }
        }
        out
    };
    lines.iter().map(&mut numbered).collect()
}

/// Reads a trace back: genesis, configuration and inputs.
pub fn read(lines: &[String]) -> (Genesis, Config, Vec<(Instant, Input)>) {
    let (first, rest) = lines.split_first().expect("a trace begins with the birth");
    let number = |text: &str, path: &[&str]| json::integer(&at(text, path).unwrap()).unwrap();
    let seed = string_at(first, &["genesis", "seed"]).unwrap();
    let seed: Vec<u8> =
        seed.as_bytes().chunks(2).map(|hex| u8::from_str_radix(std::str::from_utf8(hex).unwrap(), 16).unwrap()).collect();
    let instant = |ms: i64| Instant::from_ms(u64::try_from(ms).unwrap());
    let now = instant(number(first, &["genesis", "now"]));
    let genesis = Genesis { seed: seed.try_into().unwrap(), now, unix_ms: WallTime(number(first, &["genesis", "unix_ms"])) };
    let config = Config::from_json(&at(first, &["config"]).unwrap()).unwrap();
    let inputs = rest.iter().filter_map(|line| {
        let input = at(line, &["input"])?;
        Some((instant(number(line, &["now"])), read_input(&input).unwrap_or_else(|misuse| panic!("{misuse}: {line}"))))
    });
    (genesis, config, inputs.collect())
}
