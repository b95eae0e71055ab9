//! The taint scan: secrets and personal data in what is about to leave.
//!
//! A text is looked at in one pass, each run of token characters once; what is not plain ASCII is looked at in a copy in
//! which nothing is invisible and nothing only looks like a letter. Tokens that are the base64 or hex of something, percent
//! encoding and character references are taken off twice, up to 64 KiB, and searched for tokens with known prefixes. A
//! finding says where and which rule, never what.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::rule::{Action, Rule, Rules, Sink};
use crate::json::{self, Raw};

mod names;
mod nested;
mod normal;
mod numbers;
mod opaque;
mod pairs;
mod path;
mod prefixes;
mod redact;
mod scan;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use normal::is_unseen;
pub use path::{EXPECTED as EXPECTED_PATH, PathPattern};
pub use redact::{redacted, redacted_json};

use path::Step;
use walk::{Met, Visit};

/// How many steps may lead to a value; `$` is none.
pub const DEPTH: usize = 64;
/// How many findings are told of one payload.
const FINDINGS: usize = 256;

/// A rule that fired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// where, as a path from `$`; keys that hold a secret themselves are not shown
    pub path: String,
    /// which rule
    pub rule: Rule,
    /// what is to be done about it
    pub action: Action,
}

/// What is to be looked for in the arguments of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned<'a> {
    /// the rules that hold
    pub rules: Rules,
    /// rules that are muted at some places; those of all patterns that fit add up
    pub paths: &'a [(PathPattern, Rules)],
    /// what is done about some rules instead of blocking; of several the strictest counts
    pub actions: Vec<(Rules, Action)>,
}

impl Scanned<'_> {
    /// These rules everywhere, all of which block.
    #[must_use]
    pub const fn everywhere(rules: Rules) -> Self {
        Self { rules, paths: &[], actions: Vec::new() }
    }

    fn action(&self, rule: Rule) -> Action {
        let sets = self.actions.iter().filter(|(rules, _)| rules.has(rule));
        sets.map(|(_, action)| *action).max().unwrap_or(Action::Block)
    }
}

/// What came of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// every rule that fired, with each of its places; 256 at most
    pub findings: Vec<Finding>,
    /// where the value is nested more than [`DEPTH`] deep, if it is; what lies there was not looked at
    pub too_deep: Option<String>,
}

impl Report {
    /// Whether the payload may not leave.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.too_deep.is_some() || self.findings.iter().any(|finding| finding.action == Action::Block)
    }
}

/// The rules that fire on a text that is going somewhere. The path of each finding is `$`.
#[must_use]
pub fn check_outbound_text(payload: &str, sink: Sink, skip_rules: Rules) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in fire(payload, sink.rules().without(skip_rules)).list() {
        findings.push(Finding { path: "$".into(), rule, action: Action::Block });
    }
    findings
}

/// As [`check_outbound_text`] for JSON: every string, key and number in it.
#[must_use]
pub fn check_outbound_json(payload: Raw<'_>, sink: Sink, skip_rules: Rules) -> Report {
    check(payload, &Scanned::everywhere(sink.rules().without(skip_rules)))
}

/// Scans JSON for what is to be looked for in it.
#[must_use]
pub fn check(payload: Raw<'_>, scanned: &Scanned<'_>) -> Report {
    let mut collected = Collected { scanned, report: Report::default(), row: Row::default() };
    walk::walk(payload, DEPTH, &mut collected);
    collected.report
}

/// The rules, of those that are wanted, that fire on a text.
pub(super) fn fire(text: &str, wanted: Rules) -> Rules {
    let wanted = wanted.without(Rules::only(Rule::SensitiveKeyName));
    if wanted.is_empty() || text.len() < SHORTEST {
        return Rules::NONE;
    }
    let (copy, hidden) = normal::normalised(text);
    let mut budget = nested::BYTES;
    let found = scan::scan(copy.as_bytes(), wanted, 0, &mut budget);
    if hidden.is_empty() {
        return found;
    }
    let prefixes = wanted.and(Rules::only(Rule::WellKnownPrefix));
    found.with(scan::scan(hidden.as_bytes(), prefixes, 1, &mut budget))
}

/// Shorter texts hold nothing that any rule fires on.
const SHORTEST: usize = 6;

/// What fires on keys and numbers, beside the names of keys.
const BARE: Rules = Rules::only(Rule::WellKnownPrefix).with(Rules::only(Rule::PiiCreditCard));

struct Collected<'s> {
    scanned: &'s Scanned<'s>,
    report: Report,
    row: Row,
}

/// How much of the texts of a list is kept for what comes after them.
const KEPT: usize = 128;

/// The end of the texts that stand side by side in a list: a token may be cut into several of them.
#[derive(Default)]
struct Row {
    depth: usize,
    index: u64,
    text: String,
    /// Where the last of them begins.
    last: usize,
}

impl Row {
    /// Takes one more text; whether a token stands in several that does not stand in it alone.
    fn joined(&mut self, steps: &[Step<'_>], text: &str) -> bool {
        let Some(Step::Index(index)) = steps.last() else {
            self.text.clear();
            return false;
        };
        if self.depth != steps.len() || self.index.checked_add(1) != Some(*index) {
            self.text.clear();
        }
        (self.depth, self.index) = (steps.len(), *index);
        let (alone, last) = (self.text.is_empty(), self.last.min(self.text.len()));
        let begins = self.text.len();
        let head = text.char_indices().nth(KEPT).map_or(text.len(), |(at, _)| at);
        self.text.push_str(text.get(..head).unwrap_or_default());
        let found = !alone && (holds(&self.text) || self.text.get(last..).is_some_and(holds));
        if head < text.len() {
            self.text.clear();
            self.text.push_str(text);
        }
        self.last = if head < text.len() { 0 } else { begins };
        let start = self.text.char_indices().rev().nth(KEPT).map_or(0, |(at, _)| at);
        self.text.drain(..start);
        self.last = self.last.saturating_sub(start);
        found
    }
}

/// Whether a token stands in texts that were put together; a row of words is none.
fn holds(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && !fire(text, Rules::only(Rule::WellKnownPrefix)).is_empty()
}

impl Visit for Collected<'_> {
    fn meet(&mut self, steps: &[Step<'_>], met: Met<'_>) -> bool {
        let muted = self.scanned.paths.iter().filter(|(pattern, _)| pattern.matches(steps));
        let wanted = self.scanned.rules.without(muted.fold(Rules::NONE, |muted, (_, rules)| muted.with(*rules)));
        let (fired, hidden) = match met {
            Met::Text(text) => {
                let mut fired = fire(&text, wanted);
                if self.row.joined(steps, &text) && wanted.has(Rule::WellKnownPrefix) {
                    fired.add(Rule::WellKnownPrefix);
                }
                (fired, false)
            }
            Met::Number(number) => (wanted.and(fired_by_number(number)), false),
            Met::Key(key, value) => {
                let fired = fire(&key, Rules::ALL);
                let named = if is_sensitive(&key, value) { Rules::only(Rule::SensitiveKeyName) } else { Rules::NONE };
                (wanted.and(fired.and(BARE).with(named)), !fired.is_empty())
            }
        };
        if !fired.is_empty() {
            self.tell(steps, fired, hidden);
        }
        hidden
    }

    fn too_deep(&mut self, steps: &[Step<'_>]) {
        self.report.too_deep = Some(path::written(steps));
    }
}

impl Collected<'_> {
    fn tell(&mut self, steps: &[Step<'_>], fired: Rules, hidden: bool) {
        let mut steps = Cow::Borrowed(steps);
        if hidden && let Some(Step::Key { hidden, .. }) = steps.to_mut().last_mut() {
            *hidden = true;
        }
        let path = path::written(&steps);
        for rule in fired.list() {
            let finding = Finding { path: path.clone(), rule, action: self.scanned.action(rule) };
            // One that blocks is always told, so that a flood of others hides none.
            let room = self.report.findings.len() < FINDINGS;
            let first = finding.action == Action::Block && !self.report.blocks();
            if (room || first) && !self.report.findings.contains(&finding) {
                self.report.findings.push(finding);
            }
        }
    }
}

/// A number that is one of a payment card, whatever its spelling.
fn fired_by_number(number: &str) -> Rules {
    let Some(value) = json::integer(number) else { return Rules::NONE };
    let digits = crate::json::Json::integer(value);
    if numbers::is_card_number(digits.as_str().as_bytes()) { Rules::only(Rule::PiiCreditCard) } else { Rules::NONE }
}

/// A key that names a secret and has a value: any for a name that is nothing else, a text for the end of a longer one.
pub(super) fn is_sensitive(key: &str, value: &str) -> bool {
    let (copy, _) = normal::normalised(key);
    let Some(whole) = names::is_sensitive_key(copy.as_bytes()) else { return false };
    let bytes = value.as_bytes();
    let inside = value.get(1..).unwrap_or_default().trim_ascii_start().as_bytes().first();
    match bytes.first() {
        Some(b'"') => bytes.get(1) != Some(&b'"'),
        Some(b'{') => whole && inside != Some(&b'}'),
        Some(b'[') => whole && inside != Some(&b']'),
        Some(b'n') | None => false,
        Some(_) => whole,
    }
}
