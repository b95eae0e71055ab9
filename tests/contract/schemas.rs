//! The output schemas that tools are listed with. Random worlds hold results against them in `tests/sim`.

use std::collections::BTreeSet;

use narrows::config::Config;
use narrows::json::{self, Json};
use narrows::tools::{TOOLS, offered};

use super::support::schema::{check_result, faults};
use super::support::text::{at, raw, string_at};
use super::world::World;

#[test]
fn results_about_served_tasks_match_the_listed_schemas() {
    let mut world = World::new(r#"{"a2a":{}}"#);
    let send = r#"{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
    world.send("POST", "/a2a", &[("Content-Type", "application/json"), ("A2A-Version", "1.0")], send);
    let mut tool = |name: &str, arguments: &str| {
        let request = world.modern("1", "tools/call", name, &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#));
        let result = at(&world.done(request).body, &["result", "structuredContent"]).unwrap();
        check_result(name, &result);
        result
    };
    let inbound = tool("check_inbox", "{}");
    let id = string_at(&inbound, &["inbound", "0", "task_id"]).unwrap();
    assert!(at(&tool("list_tasks", r#"{"limit":1}"#), &["tasks", "0", "id"]).is_some());
    let answer = format!(r#"{{"task_id":"{id}","state":"completed","message":"done"}}"#);
    assert!(at(&tool("respond_task", &answer), &["task"]).is_some());
    assert!(at(&tool("respond_task", &answer), &["error"]).is_some());
}

#[test]
fn output_schemas_admit_results_and_errors_and_nothing_empty() {
    for tool in TOOLS {
        let listed = tool.to_json();
        let schema = at(listed.as_str(), &["outputSchema"]).unwrap();
        let error = r#"{"error":{"code":"busy","message":"m","limit":"calls_per_peer"}}"#;
        assert_eq!(faults(raw(&schema), raw(error), ""), Vec::<String>::new(), "{}", tool.name);
        for bad in ["{}", "[]", r#"{"error":"x"}"#, r#"{"error":{"code":"busy"}}"#, r#"{"error":{"message":"m"}}"#] {
            assert!(!faults(raw(&schema), raw(bad), "").is_empty(), "{} admits {bad}", tool.name);
        }
        for name in required(&schema, "") {
            assert!(name.1, "{}: `{}` is required and not described", tool.name, name.0);
        }
    }
}

/// Every name that a schema requires, at any depth, and whether it is among its properties.
fn required(schema: &str, path: &str) -> BTreeSet<(String, bool)> {
    let (mut found, Some(members)) = (BTreeSet::new(), json::members(raw(schema))) else { return BTreeSet::new() };
    let properties = members.get("properties").and_then(json::members).unwrap_or_default();
    let alternatives = members.get("anyOf").and_then(json::elements).unwrap_or_default();
    let mut names = members.get("required").and_then(json::strings).unwrap_or_default();
    for alternative in alternatives {
        names.extend(json::members(alternative).and_then(|one| one.get("required")).and_then(json::strings).unwrap_or_default());
    }
    found.extend(names.into_iter().map(|name| (format!("{path}.{name}"), properties.has(&name))));
    let inner = properties.iter().map(|(name, inner)| (format!("{path}.{name}"), inner));
    let items = members.get("items").map(|items| (format!("{path}[]"), items));
    for (path, inner) in inner.chain(items) {
        found.extend(required(inner.get(), &path));
    }
    found
}

#[test]
fn the_list_of_the_tools_is_short() {
    let config = Config::default();
    let (mut asked, mut all, mut count) = (0, 0, 0);
    for tool in offered(&config) {
        let listed: Json = tool.to_json();
        all += listed.as_str().len() + 1;
        asked += listed.as_str().len() - at(listed.as_str(), &["outputSchema"]).unwrap().len();
        asked -= at(listed.as_str(), &["annotations"]).unwrap().len();
        count += 1;
    }
    assert_eq!(count, 17);
    assert!(asked <= 10 * 1024, "names, titles, descriptions and inputs: {asked} bytes");
    assert!(all <= 20 * 1024, "all: {all} bytes");
    println!("{asked} {all}");
}

#[test]
fn the_validator_sees_what_does_not_match() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":["integer","null"],"minimum":1}},"b":{"enum":["x"]},
        "c":{"type":"object","additionalProperties":{"type":"string"}},"d":{"type":"object","additionalProperties":false}},
        "anyOf":[{"required":["a"]},{"required":["b","c"]}]}"#;
    for good in [r#"{"a":[]}"#, r#"{"a":[1.0,null,7],"more":1}"#, r#"{"b":"x","c":{"k":"v"}}"#, r#"{"a":[],"d":{}}"#] {
        assert_eq!(faults(raw(schema), raw(good), ""), Vec::<String>::new(), "{good}");
    }
    for bad in [
        "[]",
        "{}",
        r#"{"a":{}}"#,
        r#"{"a":[1.5]}"#,
        r#"{"a":[0]}"#,
        r#"{"a":null}"#,
        r#"{"b":"x"}"#,
        r#"{"b":"y","c":{}}"#,
        r#"{"b":"x","c":{"k":1}}"#,
        r#"{"a":[],"d":{"k":1}}"#,
    ] {
        assert!(!faults(raw(schema), raw(bad), "").is_empty(), "{bad}");
    }
}
