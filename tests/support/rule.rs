//! Which promise is being checked, so that a failure can say what was broken.

use std::cell::Cell;

/// What a world is held to: the seven guarantees, the reference model, the output schemas, and the life of served tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    OneAnswer,
    NothingMore,
    Drains,
    SameBytes,
    Bounds,
    Secrets,
    Restore,
    Model,
    Schemas,
    Served,
}

thread_local! {
    static NOW: Cell<Rule> = const { Cell::new(Rule::OneAnswer) };
}

/// The rule that this thread checks now, or was checking when it panicked.
pub fn current() -> Rule {
    NOW.with(Cell::get)
}

/// Checks something under a rule.
pub fn under<T>(rule: Rule, check: impl FnOnce() -> T) -> T {
    let before = NOW.with(|now| now.replace(rule));
    let outcome = check();
    NOW.with(|now| now.set(before));
    outcome
}

thread_local! {
    static REPORT: Cell<String> = const { Cell::new(String::new()) };
}

/// Keeps what a world tells of itself when it fails.
pub fn report(text: String) {
    REPORT.set(text);
}

/// What the last world that failed on this thread told.
pub fn take_report() -> String {
    REPORT.take()
}

/// Begins a world.
pub fn reset() {
    NOW.with(|now| now.set(Rule::OneAnswer));
}
