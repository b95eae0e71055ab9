//! A second gateway beside the first: it is told the same, in the JSON form of the border, is drained late, often or in
//! between, and its memory is counted.

use std::collections::VecDeque;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::held::FREE_BYTES;
use narrows::io::{Misuse, Output, read_input};

use crate::support::chance::Chance;
use crate::support::memory;
use crate::support::rule::{Rule, under};
use crate::support::watch::Step;

/// How a host drains.
#[derive(Clone, Copy, Debug)]
enum Habit {
    AfterEach,
    /// a few of them now and then
    Few,
    /// all of them, but seldom
    Late,
}

pub struct Twin {
    gateway: Gateway,
    config: Config,
    habit: Habit,
    chance: Chance,
    /// what the first gateway said and this one has not said yet
    awaited: VecDeque<Output>,
    /// the bytes that it holds, and those of them that wait to be drained
    held: i64,
    undrained: i64,
    bound: i64,
    /// all that it was ever told
    heard: i64,
}

/// What a gateway holds that heard of nothing yet, and lists and patterns that it makes once.
const BORN: i64 = 120_000;

/// The bytes that a gateway may hold between two inputs, beside what was not drained: about twice what is held in worlds
/// where the limits are tight.
fn bound(config: &Config) -> i64 {
    let limits = &config.limits;
    let call = limits.header_bytes + limits.message_bytes;
    let answers = limits.reply_bytes + limits.event_bytes + limits.artifact_bytes;
    let agent = limits.card_bytes + limits.message_bytes;
    let calls = 3 * limits.calls_per_peer;
    let principals = config.server.tokens.len().max(1) as u64;
    let (requests, sessions) = (principals * limits.requests.min(8), principals * limits.sessions.min(64));
    let agents = (2 + principals + sessions) * (limits.agents_per_scope + limits.cards_by_url);
    let bodies = principals * limits.incoming_bytes + requests * limits.header_bytes;
    let served = bodies + sessions * limits.session_event_bytes + principals * limits.task_bytes.min(1 << 20);
    // What is held of answers is bounded in all, beside the little that each may have.
    let held = (calls * answers).min(2 * limits.held_bytes + calls * 3 * FREE_BYTES) + limits.inbox_bytes.min(calls * answers);
    i64::try_from(60_000 + calls * call + held + agents * agent + served).unwrap()
}

/// The bytes that one input may ask for: about twice what is asked for where the limits are tight. Whatever was taken in
/// before may be read by it, whatever it leads to is written.
fn work(config: &Config, told: i64) -> i64 {
    let limits = &config.limits;
    16 * (told + i64::try_from(2000 + limits.reply_bytes + limits.header_bytes).unwrap())
}

impl Twin {
    pub fn new(genesis: Genesis, config: &Config, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let habit = *chance.pick(&[Habit::AfterEach, Habit::Few, Habit::Few, Habit::Late]);
        let before = memory::held();
        let gateway = Gateway::new(genesis, config.clone());
        let (held, bound) = (memory::held() - before, bound(config));
        Self { gateway, config: config.clone(), habit, chance, awaited: VecDeque::new(), held, undrained: 0, bound, heard: 0 }
    }

    /// The same happens to this one. Whatever it says is what the other said, in the same order.
    pub fn follow(&mut self, step: &Step) {
        let text = step.input.to_json();
        let input = read_input(text.as_str());
        // Numbers that JavaScript cannot hold have no JSON form.
        let readable = !matches!(step.outcome, Err(Misuse::OutOfRange(_)));
        under(Rule::SameBytes, || assert!(!readable || input.as_ref() == Ok(&step.input), "{text:?}"));
        let said: i64 = step.outputs.iter().map(size).sum();
        self.awaited.extend(step.outputs.iter().cloned());
        let (before, asked) = (memory::held(), memory::asked());
        memory::take_peak();
        let outcome = self.gateway.handle_input(step.now, step.input.clone());
        let (peak, worked) = (memory::take_peak() - before, i64::try_from(memory::asked() - asked).unwrap());
        let held = self.held - self.undrained;
        self.held += memory::held() - before;
        self.undrained += said;
        let told = said + i64::try_from(text.as_str().len()).unwrap();
        // Nothing is held that was not said, and of that never more than the limits allow.
        let bound = self.bound.min(BORN + 4 * self.heard);
        self.heard += told;
        under(Rule::Bounds, || {
            assert!(held < bound, "{held} bytes are held, and not {bound}, before {text:?}");
            assert!(held + peak < bound + 4 * told, "{} bytes are held at {text:?}", held + peak);
            assert!(worked < work(&self.config, told), "{worked} bytes are asked for by {text:?}");
        });
        under(Rule::SameBytes, || assert_eq!(outcome, step.outcome));
        self.drain();
    }

    fn drain(&mut self) {
        let count = match self.habit {
            Habit::AfterEach => usize::MAX,
            Habit::Few => self.chance.index(4),
            Habit::Late if self.chance.one_in(30) => usize::MAX,
            Habit::Late => 0,
        };
        if self.chance.one_in(40) {
            let _ = (self.gateway.poll_timeout(), self.gateway.snapshot(Secrets::Keep));
        }
        self.take(count);
    }

    fn take(&mut self, count: usize) {
        for _ in 0..count {
            let before = memory::held();
            let output = self.gateway.poll_output();
            self.held += memory::held() - before;
            let Some(output) = output else { break };
            // What it allocated is freed outside of the count.
            self.held -= size(&output);
            self.undrained -= size(&output);
            let awaited = self.awaited.pop_front();
            under(Rule::Drains, || assert_eq!(Some(output), awaited, "drained {:?}", self.habit));
        }
        if count == usize::MAX {
            under(Rule::Drains, || assert_eq!(self.awaited, [], "drained {:?}", self.habit));
        }
    }

    /// Nothing is left unsaid.
    pub fn finish(&mut self) {
        self.take(usize::MAX);
    }

    /// Another gateway goes on from its snapshot. What it said goes with it.
    pub fn restart(&mut self, genesis: Genesis, pieces: &[String], outputs: &[Output]) {
        self.take(usize::MAX);
        let before = memory::held();
        let gateway = Gateway::restore(genesis, self.config.clone(), pieces).expect("its own snapshot");
        self.heard += i64::try_from(pieces.iter().map(String::len).sum::<usize>()).unwrap();
        (self.held, self.undrained) = (memory::held() - before, outputs.iter().map(size).sum());
        self.gateway = gateway;
        self.awaited.extend(outputs.iter().cloned());
        self.take(usize::MAX);
    }
}

/// The bytes that an output holds.
fn size(output: &Output) -> i64 {
    let before = memory::held();
    let copy = output.clone();
    let size = memory::held() - before;
    drop(copy);
    size
}
