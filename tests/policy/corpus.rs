//! How much of a corpus of secrets is found, and what fires on clean text. The figures are printed and held.

use narrows::json;
use narrows::policy::{Finding, Rule, Rules, Sink, check_outbound_text};

use super::data;

fn fired(text: &str) -> Vec<Rule> {
    let findings = check_outbound_text(text, Sink::McpToolCall, Rules::NONE);
    findings.into_iter().map(|Finding { rule, .. }| rule).collect()
}

/// A rule of the corpus, how many of a hundred of its secrets are found at least.
const RECALL: [(&str, usize); 8] = [
    ("well_known_prefix", 100),
    ("key_value_secret", 100),
    ("authorization_literal", 100),
    ("opaque_token", 95),
    ("pii_email", 100),
    ("pii_phone", 100),
    ("pii_credit_card", 100),
    ("pii_ssn", 100),
];

#[test]
fn secrets_of_the_corpus_are_found() {
    let text = data("corpus/secrets.jsonl");
    let rows: Vec<Vec<String>> = text.lines().map(|line| json::strings(json::parse(line, 2).unwrap()).unwrap()).collect();
    let (mut all, mut total) = (0, 0);
    let mut low = Vec::new();
    for (rule, least) in RECALL {
        let of_rule: Vec<String> = rows.iter().filter(|row| row[0] == rule).map(|row| row[1..].concat()).collect();
        let wanted = Rule::named(rule).unwrap();
        let missed: Vec<String> = of_rule.iter().filter(|text| !fired(text).contains(&wanted)).cloned().collect();
        let found = of_rule.len() - missed.len();
        println!("{rule}: {found} of {} found", of_rule.len());
        (all, total) = (all + found, total + of_rule.len());
        if found * 100 < of_rule.len() * least {
            low.push((rule, missed));
        }
    }
    println!("recall: {all} of {total}");
    assert!(low.is_empty(), "{low:#?}");
    assert_eq!(total, rows.len());
}

#[test]
fn nothing_fires_on_clean_text() {
    let text = data("corpus/clean.txt");
    let lines: Vec<&str> = text.lines().collect();
    let wrong: Vec<(&str, Vec<Rule>)> =
        lines.iter().map(|line| (*line, fired(line))).filter(|(_, fired)| !fired.is_empty()).collect();
    println!("false positives: {} of {}", wrong.len(), lines.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Lock files are full of hashes, sources of names and numbers.
#[test]
fn nothing_fires_on_lock_files_and_documents() {
    let mut wrong = Vec::new();
    for name in [
        "../../Cargo.lock",
        "../fuzz/Cargo.lock",
        "../conformance/package-lock.json",
        "../../ARCHITECTURE.md",
        "../../src/url.rs",
    ] {
        for line in data(name).lines() {
            let fired = fired(line);
            if !fired.is_empty() {
                wrong.push((name, line.to_string(), fired));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
