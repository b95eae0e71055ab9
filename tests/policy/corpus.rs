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

/// What is cut, glued together or stands alone, and what only looks like it.
#[test]
fn secrets_in_odd_shapes_are_found_and_what_looks_like_them_is_not() {
    // Put together here, so that no token stands in this file in one piece.
    let base64 = ["Z2hwX0ExYjJDM2Q0RTVm", "Nkc3aDhJOWowSzFsMk0z", "bjRPNXA2UTdyOA=="];
    let wrapped = |between: &str| base64.join(between);
    let key = ["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYEXAMPLEKEY"].concat();
    for (text, rule) in [
        ("PGPASSWORD=s3cr3tpassw0rd psql".to_owned(), Rule::KeyValueSecret),
        ("export SECRET_KEY_BASE=0f8e2c1b7a".to_owned(), Rule::KeyValueSecret),
        (["use Bear", "er abcdef0123456789abcdef"].concat(), Rule::AuthorizationLiteral),
        (wrapped("\n"), Rule::WellKnownPrefix),
        (wrapped("\r\n  "), Rule::WellKnownPrefix),
        (format!("data: {}", wrapped("\n")), Rule::WellKnownPrefix),
        (key, Rule::OpaqueToken),
    ] {
        assert!(fired(&text).contains(&rule), "{text}");
    }
    for text in [
        "the bearer of this letter, bearer tokens, Bearer <token>, Bearer authentication-required",
        "COMPASS=north1234 BYPASS=everything",
        "one\ntwo\nthree\nalphabetical\nlisting\nof\nwords",
        "src/Components/Header2/Index/MainView.tsx",
    ] {
        assert!(fired(text).is_empty(), "{text}: {:?}", fired(text));
    }
}

/// A token that is cut into the texts of a list is one where they are put together again.
#[test]
fn a_token_in_pieces_of_a_list_is_found() {
    let token = ["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let letters: Vec<String> = token.chars().map(|letter| format!("\"{letter}\"")).collect();
    let (head, tail) = token.split_at(17);
    let found = |text: &str| {
        let report = narrows::policy::check_outbound_json(json::parse(text, 8).unwrap(), Sink::McpToolCall, Rules::NONE);
        report.findings.into_iter().map(|finding| (finding.path, finding.rule)).collect::<Vec<_>>()
    };
    let at = |path: &str| vec![(path.to_owned(), Rule::WellKnownPrefix)];
    assert_eq!(found(&format!(r#"{{"a":["x","{head}","{tail}"]}}"#)), at("$.a[2]"));
    assert!(!found(&format!("[{}]", letters.join(","))).is_empty());
    for apart in [
        format!(r#"{{"a":["{head}"],"b":["{tail}"]}}"#),
        format!(r#"["{head}",1,"{tail}"]"#),
        r#"["ASIA","EUROPE","AMERICA","MEA"]"#.to_owned(),
    ] {
        assert_eq!(found(&apart), [], "{apart}");
    }
}
