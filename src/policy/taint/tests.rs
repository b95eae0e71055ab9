//! Each rule with what it fires on and its near-misses, and the walk over JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;

/// Tokens are put together here, so that none stands in this file in one piece.
const BODY: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

fn github() -> String {
    ["gh", "p_", BODY].concat()
}

fn rules(text: &str) -> Vec<&'static str> {
    fire(text, Rules::ALL).list().into_iter().map(Rule::name).collect()
}

fn report(text: &str) -> Vec<(String, &'static str)> {
    let report = check_outbound_json(json::parse(text, 200).unwrap(), Sink::McpToolCall, Rules::NONE);
    report.findings.into_iter().map(|finding| (finding.path, finding.rule.name())).collect()
}

#[test]
fn tokens_with_known_prefixes_are_found_anywhere() {
    for token in [
        github(),
        ["sk", "-proj-", BODY].concat(),
        ["sk", "-ant-oat01-", BODY].concat(),
        ["github", "_pat_", BODY, "_", BODY].concat(),
        ["glpat", "-", "A1b2C3d4E5f6G7h8I9j0"].concat(),
        ["xox", "b-1234567890-", "A1b2C3d4E5f6G7h8"].concat(),
        ["AK", "IA", "A1B2C3D4E5F6G7H8"].concat(),
        ["AS", "IA", "A1B2C3D4E5F6G7H8"].concat(),
        ["AI", "za", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r"].concat(),
        ["ya", "29.", "A1b2C3d4E5f6G7h8I9j0"].concat(),
        ["np", "m_", BODY].concat(),
        ["py", "pi-", BODY].concat(),
        ["h", "f_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"].concat(),
        ["sk", "_live_", "A1b2C3d4E5f6G7h8"].concat(),
        ["rk", "_live_", "A1b2C3d4E5f6G7h8"].concat(),
        ["SG", ".A1b2C3d4E5f6G7h8I9j0K1.", BODY].concat(),
        ["eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2ln"].concat(),
        ["-----BEGIN RSA", " PRIVATE KEY-----"].concat(),
        ["-----BEGIN", " PRIVATE KEY-----\nMIIE"].concat(),
    ] {
        let shapes = ["{}", "please use {} for it", "https://x.test/?key={}&a=1", "a\\n{}", "[{}]", "x-{}", "'{}'", "é{}"];
        for shape in shapes.map(|shape| shape.replace("{}", &token)) {
            assert!(rules(&shape).contains(&"well_known_prefix"), "{shape}");
        }
    }
}

#[test]
fn what_only_begins_like_a_token_passes() {
    for text in [
        "task-based risk-free desk-top ask-me",
        "pip install sk-learn",
        "sk-",
        "sk-learn-contrib-imbalanced-learning-toolkit",
        "ghp_short",
        "xoxb-123",
        "AKIA and ASIA are prefixes",
        &["AKIA", "IOSFODNN7EXAMPLE"].concat(),
        &["AKIA", "A1B2C3D4E5F6G7H8", "I9J0"].concat(),
        "npm_config_registry and hf_hub_download",
        "pypi-publish-action-for-trusted-releases",
        "ya29.com",
        "SG.1",
        "eyJ.a.b",
        "-----BEGIN PUBLIC KEY-----",
        "sk_live_",
    ] {
        assert_eq!(rules(text), [""; 0], "{text}");
    }
}

#[test]
fn credentials_after_authorization_are_found_and_prose_is_not() {
    for text in [
        "Authorization: Bearer abc123def456",
        "authorization:Basic dXNlcjpwYXNz",
        "-H 'Authorization: Token 9944b09199c62bcf9418ad846dd0e4bb'",
        r#"{"Authorization":"Bearer abc123def456"}"#,
        r#"{\"Authorization\": \"Bearer abc123def456\"}"#,
        "Proxy-Authorization = Digest username=\"ada\", realm=\"x\"",
        "Authorization: ApiKey k3y-v4lue",
        "ａｕｔｈｏｒｉｚａｔｉｏｎ: Bearer abc123def456",
        "https://u:hunter2xyz@files.test/x",
    ] {
        assert!(rules(text).contains(&"authorization_literal"), "{text}");
    }
    for text in [
        "the authorization: bearer tokens are explained below",
        "Authorization: Basic authentication is not supported",
        "Authorization: required",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer YOUR_ACCESS_TOKEN",
        "authorization is a matter of policy",
        "https://user:password@files.test/x",
        "https://files.test/a:b@c",
    ] {
        assert_eq!(rules(text), [""; 0], "{text}");
    }
}

#[test]
fn secrets_after_their_names_are_found_and_neighbours_are_not() {
    for text in [
        "password=hunter2xyz",
        "password: hunter2xyz",
        "password   =   \"hunter2xyz\"",
        "DB_PASSWORD=hunter2xyz",
        "api key: k3yv4lue",
        r#"{"apiKey":"k3yv4lue"}"#,
        r#"{\"client_secret\" : \"k3yv4lue\"}"#,
        "token => 'k3yv4lue'",
        "secret := `k3yv4lue`",
        "password=swordfish",
        "password: swordfish",
        "?access_token=k3yv4lue&x=1",
        "рassword=hunter2xyz",
        "ｐａｓｓｗｏｒｄ=hunter2xyz",
        "pass\u{200b}word=hunter2xyz",
    ] {
        assert!(rules(text).contains(&"key_value_secret"), "{text}");
    }
    for text in [
        "next_token=abcdef123456",
        "password: required",
        "password=short",
        "max_tokens: 100000",
        "token_count=1234567",
        "The secret: everything is made of small steps",
        "password: \"<your password>\"",
        "password = ${DB_PASSWORD}",
        "password=%PASSWORD%",
        "password: ********",
        "token = request.headers.token",
        "token = getToken(request)",
        "apiKey: process.env.API_KEY,",
        "api_key=os.environ[\"API_KEY\"]",
        "password = config['db']",
        "password=$_POST[\"password\"]",
        "api_key: YOUR_API_KEY",
        "secretary: hunter2xyz",
        "\"auth-token\": \"^6.0.0\",",
        "password=",
        "secret: https://docs.test/secrets",
    ] {
        assert_eq!(rules(text), [""; 0], "{text}");
    }
}

#[test]
fn personal_data_is_told_from_other_numbers() {
    for (text, want) in [
        ("write to ada.lovelace+x@mail.example.com.", "pii_email"),
        ("mailto:ada@example.org", "pii_email"),
        ("<ada@example.co.uk>", "pii_email"),
        ("call +49 30 1234567", "pii_phone"),
        ("+14155552671", "pii_phone"),
        ("+1 (415) 555-2671", "pii_phone"),
        ("+49 (0)30 1234567", "pii_phone"),
        ("(415) 555-2671", "pii_phone"),
        ("tel:415-555-2671", "pii_phone"),
        ("415.555.2671", "pii_phone"),
        ("1-800-555-0199", "pii_phone"),
        ("030 1234567", "pii_phone"),
        ("06 12 34 56 78", "pii_phone"),
        ("020 7946 0958", "pii_phone"),
        ("4111 1111 1111 1111", "pii_credit_card"),
        ("4111111111111111", "pii_credit_card"),
        ("pay 12 4111-1111-1111-1111 12/30", "pii_credit_card"),
        ("3782 822463 10005", "pii_credit_card"),
        ("378282246310005", "pii_credit_card"),
        ("card_5555555555554444", "pii_credit_card"),
        ("6011000990139424", "pii_credit_card"),
        ("123-45-6789", "pii_ssn"),
        ("SSN 123 45 6789", "pii_ssn"),
    ] {
        assert_eq!(rules(text), [want], "{text}");
    }
}

#[test]
fn ids_dates_and_addresses_are_not_personal() {
    for text in [
        "192.168.1.100",
        "10.255.255.254:8080",
        "1747123456",
        "1747123456789",
        "20260416",
        "123456789",
        "us.vendor.model-20250514-v1:0",
        "Order 10000001 shipped",
        "v1.2.3-beta.4 and 0.10.12345",
        "2025-11-03T10:15:30.123+01:00",
        "03-11-2025 10:30",
        "01/02/2024 03/04/2024",
        "4111 1111 1111 1112",
        "1234567890123456",
        "000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000",
        "123-45-6789-0",
        "git@github.com:ada/narrows.git",
        "narrows@1.2.3 @scope/package user@localhost",
        "https://ada@files.test/x",
        "3.14159265358979 0.4111111111111111",
        "01 02 03 04 05 06 07 08",
        "978-3-16-148410-0",
        "C++20240101 +0200 1e+10000000",
        "550e8400-e29b-41d4-a716-446655440000",
    ] {
        assert_eq!(rules(text), [""; 0], "{text}");
    }
}

#[test]
fn encodings_are_taken_off_twice() {
    let token = github();
    let base64 = crate::base64::encode(token.as_bytes());
    let url = base64.replace('+', "-").replace('/', "_").replace('=', "");
    let hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let html: String = token.bytes().map(|byte| format!("&#{byte};")).collect();
    let tags: String = token.chars().filter_map(|char| char::from_u32(0xe_0000 + u32::from(char))).collect();
    let twice = crate::base64::encode(hex.as_bytes());
    for text in [
        &base64,
        &url,
        &hex,
        &hex.to_uppercase(),
        &percent,
        &html,
        &twice,
        &tags,
        &format!("path/{base64}"),
        &format!("%67{}", &token[1..]),
        &format!("&#x67;{}", &token[1..]),
        &format!("\\u0067{}", &token[1..]),
        &crate::base64::encode(format!("é so it is: {token}, ü").as_bytes()),
        &crate::base64::encode(percent.as_bytes()),
    ] {
        assert!(rules(text).contains(&"well_known_prefix"), "{text}");
    }
    let thrice = crate::base64::encode(twice.as_bytes());
    assert!(!rules(&thrice).contains(&"well_known_prefix"));
}

#[test]
fn decoding_ends_at_its_bound() {
    let token = github();
    let near = crate::base64::encode((".".repeat(60_000) + " " + &token).as_bytes());
    assert!(rules(&near).contains(&"well_known_prefix"));
    let far = crate::base64::encode((".".repeat(70_000) + " " + &token).as_bytes());
    assert!(!rules(&far).contains(&"well_known_prefix"));
}

#[test]
fn every_leaf_key_and_number_is_looked_at() {
    let token = github();
    let text = format!(
        r#"{{"a":["x",{{"b c":"{token}"}}],"{token}":{{"d":"ada@example.org"}},"n":4111111111111111,"m":4.111111111111111e15,
        "e.f":"{token}","password":"x","empty":{{"password":"","secret":null,"api_key":{{}},"bearer":[ ]}},
        "db_password":"x","reset_password":true,"secret":{{"v":1}}}}"#
    );
    let (prefix, key) = ("well_known_prefix", "sensitive_key_name");
    let want = [
        ("$.a[1].b c", prefix),
        ("$[\"…\"]", prefix),
        ("$[\"…\"].d", "pii_email"),
        ("$.n", "pii_credit_card"),
        ("$.m", "pii_credit_card"),
        ("$[\"e.f\"]", prefix),
        ("$.password", key),
        ("$.db_password", key),
        ("$.secret", key),
    ];
    assert_eq!(report(&text), want.map(|(path, rule)| (String::from(path), rule)));
}

#[test]
fn rules_are_muted_by_place_and_softened_by_set() {
    let text = format!(r#"{{"a":"{} {BODY}","b":["ada@example.org","{}"]}}"#, github(), github());
    let raw = json::parse(&text, 8).unwrap();
    let prefix = Rules::only(Rule::WellKnownPrefix);
    let paths =
        [(PathPattern::read("$.a").unwrap(), prefix), (PathPattern::read("$.b[*]").unwrap(), Rules::only(Rule::OpaqueToken))];
    let mut scanned = Scanned { rules: Rules::ALL, paths: &paths, actions: Vec::new() };
    let seen = |scanned: &Scanned<'_>| {
        check(raw, scanned).findings.into_iter().map(|it| (it.path, it.rule, it.action)).collect::<Vec<_>>()
    };
    let a = (String::from("$.a"), Rule::OpaqueToken, Action::Block);
    let email = |action| (String::from("$.b[0]"), Rule::PiiEmail, action);
    let last = |action| (String::from("$.b[1]"), Rule::WellKnownPrefix, action);
    assert_eq!(seen(&scanned), [a.clone(), email(Action::Block), last(Action::Block)]);
    scanned.actions = Vec::from([(Rules::only(Rule::PiiEmail), Action::Warn), (prefix, Action::Log), (prefix, Action::Warn)]);
    assert_eq!(seen(&scanned), [a, email(Action::Warn), last(Action::Warn)]);
    assert!(check(raw, &scanned).blocks());
    scanned.rules = scanned.rules.without(Rules::only(Rule::OpaqueToken));
    assert!(!check(raw, &scanned).blocks());
}

#[test]
fn what_is_nested_too_deep_is_refused_without_a_word_of_it() {
    let nested = |depth: usize| format!("{}\"{}\"{}", r#"{"n":"#.repeat(depth), github(), "}".repeat(depth));
    for (depth, deep) in [(1, false), (64, false), (65, true), (10_000, true)] {
        let text = nested(depth);
        let report = check_outbound_json(json::parse(&text, 20_000).unwrap(), Sink::AgentMessage, Rules::NONE);
        assert_eq!((report.too_deep.is_some(), report.blocks()), (deep, true), "{depth}");
        assert!(!format!("{report:?}").contains(BODY));
    }
}

#[test]
fn a_flood_of_findings_is_bounded_and_hides_none_that_blocks() {
    let mut text = String::from("[");
    for _ in 0..1000 {
        text += "\"ada@example.org\",";
    }
    text += &format!("\"{}\"]", github());
    let scanned = Scanned { rules: Rules::ALL, paths: &[], actions: Vec::from([(Rules::only(Rule::PiiEmail), Action::Log)]) };
    let report = check(json::parse(&text, 4).unwrap(), &scanned);
    assert!(report.blocks() && report.findings.len() <= FINDINGS + 1);
}

#[test]
fn messages_to_agents_are_looked_at_for_secrets_alone() {
    assert!(check_outbound_text("ada@example.org 4111111111111111", Sink::AgentMessage, Rules::NONE).is_empty());
    assert_eq!(check_outbound_text(&github(), Sink::AgentMessage, Rules::NONE).len(), 1);
    assert!(check_outbound_text(&github(), Sink::NetFetch, Rules::SECRETS).is_empty());
}

#[test]
fn texts_are_redacted_by_word_line_or_whole() {
    let token = github();
    for (text, want) in [
        (format!("use {token}, please"), "use [redacted: well_known_prefix], please"),
        ("a\nAuthorization: Bearer abc123def456\nb".into(), "a\n[redacted: authorization_literal]\nb"),
        ("mail ada@example.org\n(now)".into(), "mail [redacted: pii_email]\n(now)"),
        (
            ["x\n-----BEGIN", " PRIVATE KEY-----\nabc\ndef\n-----END", " PRIVATE KEY-----\ny"].concat(),
            "x\n[redacted: well_known_prefix]\ny",
        ),
    ] {
        assert_eq!(redacted(&text, Rules::ALL).unwrap().0, want, "{text}");
    }
    assert_eq!(redacted("nothing here", Rules::ALL), None);
    let split = token.chars().map(|char| format!("&#{};", u32::from(char))).collect::<Vec<_>>().concat();
    let (text, _) = redacted(&split, Rules::ALL).unwrap();
    assert!(fire(&text, Rules::ALL).is_empty());
}

#[test]
fn json_is_redacted_and_stays_json() {
    let text = format!(
        r#"{{"a" : ["say {}",1, 4111111111111111],"password": {{"x":[1,"]"]}},"b":{{"api_key":"x","c":"ada@example.org"}}}}"#,
        github()
    );
    let (json, fired) = redacted_json(json::parse(&text, 16).unwrap(), Rules::ALL).unwrap();
    let want = concat!(
        r#"{"a":["say [redacted: well_known_prefix]",1,"[redacted: pii_credit_card]"],"#,
        r#""password":"[redacted: sensitive_key_name]","b":{"api_key":"[redacted: sensitive_key_name]","c":"[redacted: pii_email]"}}"#
    );
    assert_eq!(json.as_str(), want);
    assert!(fired.has(Rule::PiiEmail) && fired.has(Rule::SensitiveKeyName));
    assert_eq!(redacted_json(json::parse("{\"a\":[1,true,null]}", 8).unwrap(), Rules::ALL), None);
}
