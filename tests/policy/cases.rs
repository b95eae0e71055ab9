//! Cases of the field: patterns of approvals, and what scans for secrets got wrong.

use narrows::base64;
use narrows::config::Config;
use narrows::ids::Random;
use narrows::json::{self, Json, Kind, Object, Raw};
use narrows::policy::approvals::{Decider, Decision, Proposal, Refusal};
use narrows::policy::evaluation::Risk;
use narrows::policy::glob::{self, Names};
use narrows::policy::rule::Rules;
use narrows::policy::taint::{Scanned, check};
use narrows::policy::{Approvals, Facts, Rule, Settings, Sink, Verdict, check_outbound_json, check_outbound_text, evaluate};
use narrows::time::WallTime;

use super::data;

fn at<'a>(raw: Raw<'a>, place: &str) -> Raw<'a> {
    place.split('/').fold(raw, |raw, name| match name.parse::<usize>() {
        Ok(index) => json::elements(raw).unwrap()[index],
        Err(_) => json::members(raw).unwrap().get_any(name).unwrap_or_else(|| panic!("no {name} in {raw}")),
    })
}

fn has(raw: Raw<'_>, name: &str) -> bool {
    json::members(raw).unwrap().has(name)
}

/// A value with its operators done: `$join` puts a string together, `$nest` wraps a value in objects.
fn built(raw: Raw<'_>) -> Json {
    match json::kind(raw) {
        Kind::Object if has(raw, "$join") => Json::string(&json::strings(at(raw, "$join")).unwrap().concat()),
        Kind::Object if has(raw, "$nest") => {
            let count: usize = at(raw, "$nest").get().parse().unwrap();
            let text = [r#"{"n":"#.repeat(count), built(at(raw, "leaf")).into_string(), "}".repeat(count)].concat();
            Json::parse(&text, u32::MAX).unwrap()
        }
        Kind::Object => {
            let mut out = Object::new();
            for (name, value) in json::members(raw).unwrap().iter() {
                out.json(name, &built(value));
            }
            out.finish()
        }
        Kind::Array => {
            let items: Vec<String> = json::elements(raw).unwrap().into_iter().map(|item| built(item).into_string()).collect();
            Json::parse(&format!("[{}]", items.join(",")), u32::MAX).unwrap()
        }
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String => Json::from_raw(raw),
    }
}

/// The cases of a file by their ids; each has to be asked for.
struct Cases(Vec<(String, Json, Json)>);

impl Cases {
    fn read(file: &str) -> Self {
        let text = data(&format!("cases/{file}"));
        let list = json::elements(json::parse(&text, 64).unwrap()).unwrap().into_iter();
        let id = |raw| json::string(at(raw, "id")).unwrap();
        Self(list.map(|raw| (id(raw), built(at(raw, "input")), Json::from_raw(at(raw, "expected")))).collect())
    }

    fn take(&mut self, id: &str) -> (Json, Json) {
        let at = self.0.iter().position(|(known, ..)| known == id).unwrap_or_else(|| panic!("{id}"));
        let (_, input, expected) = self.0.remove(at);
        (input, expected)
    }

    fn all_taken(self) {
        let left: Vec<String> = self.0.into_iter().map(|(id, ..)| id).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn strings(raw: Raw<'_>) -> Vec<String> {
    json::strings(raw).unwrap()
}

fn verdict(settings: &Settings, name: &str, approved_before: bool) -> Verdict {
    let names = Names { offered: name, composed: name };
    let facts = Facts { names, server: "acct", agent: None, sender: None, channel: None, approved_before };
    evaluate(settings, &facts).verdict
}

fn asks(settings: &Settings, name: &str, approved_before: bool) -> bool {
    matches!(verdict(settings, name, approved_before), Verdict::Ask { .. })
}

fn requiring(patterns: Raw<'_>) -> Settings {
    Config::from_json(&format!(r#"{{"approval":{{"require_approval":{patterns}}}}}"#)).unwrap().policy
}

#[test]
fn patterns_and_approvals() {
    let mut cases = Cases::read("approval-globs.json");
    let (input, _) = cases.take("appr-001");
    for row in json::elements(at(input.raw(), "pattern_name_match")).unwrap() {
        let (pattern, name) = (json::string(at(row, "0")).unwrap(), json::string(at(row, "1")).unwrap());
        assert_eq!(glob::matches(&pattern, &name), json::boolean(at(row, "2")).unwrap(), "{row}");
    }
    let (input, expected) = cases.take("appr-002");
    let list = format!(r#"{{"users":[{{"id":"u","tool_policy":{{"allow":{}}}}}]}}"#, at(input.raw(), "tool_allowlist"));
    let settings = Config::from_json(&list).unwrap().policy;
    let kept = strings(at(input.raw(), "tools")).into_iter().filter(|tool| {
        let names = Names { offered: tool, composed: tool };
        let facts = Facts { names, server: "a", agent: None, sender: Some("u"), channel: None, approved_before: false };
        evaluate(&settings, &facts).verdict == Verdict::Run
    });
    assert_eq!(kept.collect::<Vec<_>>(), strings(at(expected.raw(), "kept")));
    let (input, expected) = cases.take("appr-004");
    let settings = requiring(at(input.raw(), "require_approval"));
    for (tool, gated) in strings(at(input.raw(), "calls")).iter().zip(json::elements(at(expected.raw(), "gated")).unwrap()) {
        assert_eq!(asks(&settings, tool, false), json::boolean(gated).unwrap(), "{tool}");
    }
    let (input, _) = cases.take("appr-010");
    let settings = requiring(at(input.raw(), "patterns"));
    for (name, gated) in json::members(at(input.raw(), "names")).unwrap().iter() {
        assert_eq!(asks(&settings, name, false), json::boolean(gated).unwrap(), "{name}");
    }
    let tools = data("cases/configs/tools-02-double-prefix.json");
    let tools = json::elements(at(json::parse(&tools, 8).unwrap(), "tools")).unwrap();
    let gated =
        tools.iter().filter(|tool| asks(&settings, &format!("mcp_acct_{}", json::string(at(**tool, "name")).unwrap()), false));
    assert_eq!((tools.len(), gated.count()), (15, 8));
    over_time(&mut cases);
    cases.all_taken();
}

fn proposal(session: &str, tool: &str) -> Proposal {
    Proposal {
        tool: tool.into(),
        server: "db".into(),
        raw_tool: tool.into(),
        agent: None,
        session: session.into(),
        sender: None,
        channel: None,
        asker: "host".into(),
        risk: Risk::High,
        summary: String::new(),
        digest: "d".into(),
        policy: "p".into(),
    }
}

fn over_time(cases: &mut Cases) {
    let yes = || Decision { approved: true, by: Decider::Principal("person".into()), reason: None };
    let start = WallTime(1_800_000_000_000);
    let (input, expected) = cases.take("appr-005");
    for (cached, key) in [(true, "prompts"), (false, "prompts_with_cache_off")] {
        let (mut approvals, mut random) = (Approvals::default(), Random::new([1; 32]));
        let mut settings = requiring(json::parse(r#"["mcp_db_*"]"#, 2).unwrap());
        settings.approval.cached_per_session = cached;
        let prompts = json::elements(at(expected.raw(), key)).unwrap();
        for (call, prompt) in json::elements(at(input.raw(), "calls")).unwrap().into_iter().zip(prompts) {
            let tool = json::string(at(call, "0")).unwrap();
            let asked = asks(&settings, &tool, approvals.remembers("s", &tool, &|| "p".to_string()));
            assert_eq!(asked, json::boolean(prompt).unwrap(), "{call}");
            if asked {
                let id = approvals.propose(proposal("s", &tool), &settings.approval, &mut random, start).unwrap();
                approvals.decide(&id, yes(), start).unwrap();
                assert!(approvals.take(&id, "d", "p"));
            }
        }
    }
    let _late = cases.take("appr-007");
    let (mut approvals, mut random) = (Approvals::default(), Random::new([1; 32]));
    let id = approvals.propose(proposal("s", "t"), &Settings::default().approval, &mut random, start).unwrap();
    assert_eq!(approvals.decide(&id, yes(), WallTime(start.0 + 61_000)), Err(Refusal::Conflict));
    assert!(!approvals.take(&id, "d", "p"));
    let _sessions = cases.take("appr-008");
    let id = approvals.propose(proposal("", "t"), &Settings::default().approval, &mut random, start).unwrap();
    approvals.decide(&id, yes(), start).unwrap();
    assert!(approvals.take(&id, "d", "p") && !approvals.remembers("", "t", &|| "p".to_string()));
}

fn found(arguments: Raw<'_>, sink: Sink) -> Vec<(String, &'static str)> {
    let findings = check_outbound_json(arguments, sink, Rules::NONE).findings;
    findings.into_iter().map(|finding| (finding.path, finding.rule.name())).collect()
}

fn of_text(text: &str) -> Vec<&'static str> {
    let findings = check_outbound_text(text, Sink::McpToolCall, Rules::NONE);
    findings.into_iter().map(|finding| finding.rule.name()).collect()
}

#[test]
fn scans_for_secrets() {
    let mut cases = Cases::read("secrets-scanning.json");
    for id in ["sec-001", "sec-011", "sec-016", "sec-017"] {
        let (input, _) = cases.take(id);
        assert_eq!(found(at(input.raw(), "arguments"), Sink::McpToolCall), [], "{id}");
    }
    let (input, _) = cases.take("sec-002");
    for case in json::elements(at(input.raw(), "cases")).unwrap() {
        assert_eq!(found(case, Sink::McpToolCall), [], "{case}");
    }
    for id in ["sec-004", "sec-008", "sec-010"] {
        let (input, expected) = cases.take(id);
        for (number, text) in strings(at(input.raw(), "texts")).iter().enumerate() {
            let expected = strings(at(expected.raw(), &format!("violations/{number}")));
            let fired = of_text(text);
            let right = fired.len() == expected.len() && fired.iter().zip(&expected).all(|(rule, words)| words.contains(rule));
            assert!(right, "{id} {text}: {fired:?}");
        }
    }
    for id in ["sec-013", "sec-019"] {
        let (input, _) = cases.take(id);
        for text in strings(at(input.raw(), "texts")) {
            assert!(!of_text(&text).is_empty(), "{id} {text}");
        }
    }
    let (input, _) = cases.take("sec-020");
    assert!(of_text(&json::string(at(input.raw(), "text")).unwrap()).contains(&"well_known_prefix"));
    let (input, _) = cases.take("sec-022");
    let fired: Vec<_> = strings(at(input.raw(), "texts")).iter().map(|text| of_text(text)).collect();
    // The key that manuals print is none.
    assert_eq!(fired, [vec!["well_known_prefix"], vec![]]);
    hidden(&mut cases);
    switched(&mut cases);
    cases.all_taken();
}

fn hidden(cases: &mut Cases) {
    let (input, _) = cases.take("sec-014");
    let token = json::string(at(input.raw(), "of")).unwrap();
    for encoding in strings(at(input.raw(), "encode")) {
        let each = |write: fn(u8) -> String| token.bytes().map(write).collect::<String>();
        let text = match encoding.as_str() {
            "base64" => base64::encode(token.as_bytes()),
            "base64url-nopad" => base64::encode(token.as_bytes()).replace('+', "-").replace('/', "_").replace('=', ""),
            "hex" => each(|byte| format!("{byte:02x}")),
            "percent" => each(|byte| format!("%{byte:02X}")),
            _ => each(|byte| format!("&#{byte};")),
        };
        assert!(of_text(&text).contains(&"well_known_prefix"), "{encoding}");
    }
    let (input, _) = cases.take("sec-007");
    let report = check_outbound_json(at(input.raw(), "arguments"), Sink::McpToolCall, Rules::NONE);
    assert!(report.blocks() && !format!("{report:?}").contains("A1b2C3"));
    let (input, expected) = cases.take("sec-025");
    let fired = found(at(input.raw(), "arguments"), Sink::AgentMessage);
    let paths: Vec<String> = fired.into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, strings(at(expected.raw(), "violations")));
}

fn switched(cases: &mut Cases) {
    let (input, expected) = cases.take("sec-005");
    let scanned = Scanned::everywhere(Rules::only(Rule::SensitiveKeyName));
    let report = check(at(input.raw(), "arguments"), &scanned);
    let want = json::string(at(expected.raw(), "violations/0/path")).unwrap();
    assert!(report.blocks() && report.findings[0].path == want);
    let (input, expected) = cases.take("sec-023");
    let policies = json::elements(at(input.raw(), "policies")).unwrap();
    for (policy, want) in policies.into_iter().zip(strings(at(expected.raw(), "load"))) {
        let loaded = Config::from_json(&format!(r#"{{"mcp_taint_policy":[{policy}]}}"#));
        assert_eq!(loaded.is_ok(), want == "ok", "{policy}: {loaded:?}");
    }
}

/// A pattern in the spelling with double underscores mutes a rule, and the names of tools are no secrets.
#[test]
fn names_of_tools() {
    let policy = r#"{"mcp_taint_policy":[{"tool":"mcp__github__create_pr","skip_rules":["AuthorizationLiteral"]}]}"#;
    let settings = Config::from_json(policy).unwrap().policy;
    let names = Names { offered: "mcp_github_create_pr", composed: "mcp_github_create_pr" };
    assert_eq!(settings.muted(names).list(), [Rule::AuthorizationLiteral]);
    assert_eq!(of_text("getPagesInWikiSpaceAll,searchWikiUsersByQuery24"), [""; 0]);
}
