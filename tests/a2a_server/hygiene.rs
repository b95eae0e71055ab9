//! What is refused, and how: JSON-RPC, versions, parameters.

use super::caller::{answer_of, at, call_as, code, echo, post, send_params, text, value};
use super::world::World;

fn raw(world: &mut World, body: &str) -> serde_json::Value {
    value(&post(world, "/a2a", body).body)
}

#[test]
fn a_message_that_is_no_request_is_refused() {
    let mut world = echo();
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]"#, -32600),
        ("1", -32600),
        (r#"{"id":1,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"NoSuchMethod"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[1]}"#, -32602),
    ] {
        let answer = raw(&mut world, body);
        assert_eq!(at(&answer, "error.code").as_i64(), Some(code), "{body}");
        let id = if code == -32601 || code == -32602 || body.contains(r#""id":1"#) && !body.starts_with('[') {
            1.into()
        } else {
            serde_json::Value::Null
        };
        assert_eq!(*at(&answer, "id"), id, "{body}");
    }
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    assert_eq!(at(&raw(&mut world, &deep), "error.code").as_i64(), Some(-32600));
}

#[test]
fn ids_come_back_as_they_were() {
    let mut world = echo();
    for id in ["0", "-1.50", "9007199254740993", "123456789012345678901234567890", "\"\"", "\"a\\u00e9\"", "null"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"SendMessage","params":{}}}"#, send_params("hi"));
        let response = post(&mut world, "/a2a", &body);
        assert!(response.body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)), "{id}: {}", response.body);
    }
}

#[test]
fn who_gives_no_id_hears_of_faults_alone() {
    let mut world = super::caller::function();
    for (method, params, works) in [("SendMessage", send_params("hi"), 1), ("SendStreamingMessage", send_params("hi"), 2)] {
        let response = post(&mut world, "/a2a", &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
        assert_eq!((response.status, response.body.as_str(), world.works.len()), (204, "", works), "{method}");
    }
    let id = text(&value(&world.works[0].1), "task.id");
    for (method, params, code) in [
        ("GetTask", r#"{"id":"nope"}"#, -32001),
        ("NoSuchMethod", "{}", -32601),
        ("SendMessage", "{}", -32602),
        ("tasks/resubscribe", r#"{"id":"nope"}"#, -32001),
    ] {
        let answer = raw(&mut world, &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
        assert_eq!((at(&answer, "id"), at(&answer, "error.code").as_i64()), (&serde_json::Value::Null, Some(code)), "{method}");
    }
    for method in ["SubscribeToTask", "CancelTask"] {
        let params = format!(r#"{{"id":"{id}"}}"#);
        let response = post(&mut world, "/a2a", &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
        assert_eq!((response.status, response.body.as_str()), (204, ""), "{method}");
    }
    assert_eq!(world.work_aborts.len(), 1, "what it asks for is done");
    assert!(post(&mut world, "/a2a", r#"{"method":"GetTask"}"#).body.contains(r#""id":null"#), "this is no notification");
}

#[test]
fn both_bindings_read_bodies_alike() {
    let mut world = echo();
    let params = send_params("hi");
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#);
    let deep = params.replacen('{', &format!(r#"{{"metadata":{{"a":{}1{}}},"#, "[".repeat(200), "]".repeat(200)), 1);
    for (target, body, deeper) in [("/a2a", &call, call.replace(&params, &deep)), ("/a2a/rest/message:send", &params, deep)] {
        let marked = post(&mut world, target, &format!("\u{feff}{body}"));
        assert!(marked.body.contains("TASK_STATE_COMPLETED"), "{target}: {}", marked.body);
        assert!(post(&mut world, target, &deeper).body.contains("the body nests too deep"), "{target}");
        assert!(post(&mut world, target, "{").body.contains("the body is no JSON"), "{target}");
    }
}

#[test]
fn refusals_have_the_form_of_the_binding() {
    let config = r#"{"a2a":{"responder":"echo"},"limits":{"request_bytes":100},"auth":{"tokens":[{"token":"alpha-token","principal":"a"}]}}"#;
    let mut world = World::new(config);
    let (known, long) = (("Authorization", "Bearer alpha-token"), ("Content-Length", "101"));
    let evil = ("Host", "evil.example.com");
    for (method, path, fields, status, name) in [
        ("GET", "nothing", vec![known], 404, "NOT_FOUND"),
        ("GET", "tasks/x:cancel", vec![known], 405, "UNIMPLEMENTED"),
        ("DELETE", "tasks/x:subscribe", vec![known], 405, "UNIMPLEMENTED"),
        ("GET", "tasks/x", vec![], 401, "UNAUTHENTICATED"),
        ("GET", "tasks/x", vec![evil], 403, "PERMISSION_DENIED"),
        ("POST", "message:send", vec![known, long], 413, "RESOURCE_EXHAUSTED"),
    ] {
        let request = world.head(method, &format!("/a2a/rest/{path}"), &fields);
        let response = world.done(request);
        assert_eq!((response.status, response.header("content-type")), (status, Some("application/json")), "{path}");
        let error = value(&response.body);
        assert_eq!(
            (at(&error, "error.code").as_u64(), text(&error, "error.status")),
            (Some(status.into()), name.into()),
            "{path}"
        );
        assert!(!text(&error, "error.message").is_empty() && !response.body.contains("/mcp"), "{}", response.body);
    }
    let request = world.head("GET", "/a2a/rest/v1/tasks/x", &[]);
    assert_eq!(at(&value(&world.done(request).body), "code").as_i64(), Some(-32600));
    assert_eq!(world.done(request).header("www-authenticate"), Some("Bearer"));
    for (method, fields, status) in [("POST", vec![], 401), ("GET", vec![known], 405), ("POST", vec![known, long], 413)] {
        let request = world.head(method, "/a2a", &fields);
        let response = world.done(request);
        assert_eq!((response.status, response.header("content-type")), (status, Some("application/json")), "{method}");
        let error = value(&response.body);
        assert_eq!((at(&error, "error.code").as_i64(), at(&error, "id")), (Some(-32600), &serde_json::Value::Null), "{method}");
    }
    let request = world.head("GET", "/elsewhere", &[known]);
    assert_eq!(world.done(request).header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn versions_are_told_apart() {
    let mut world = echo();
    let new = send_params("hi");
    let old = r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}"#;
    for (version, served) in [
        ("", true),
        ("1.0", true),
        ("1.0.1", true),
        ("1", true),
        ("0.3", true),
        ("0.3.0", true),
        ("9.9", false),
        ("99.0", false),
        ("x", false),
    ] {
        // A field without a value says nothing.
        let fields = [("A2A-Version", " "), ("Content-Type", "application/json")];
        let request = world.send("POST", &format!("/a2a/rest/message:send?A2A-Version={version}"), &fields, &new);
        assert_eq!(world.done(request).status, if served { 200 } else { 400 }, "{version} behind an empty field");
        for (method, params) in [("SendMessage", new.as_str()), ("message/send", old)] {
            let request = call_as(&mut world, &[("A2A-Version", version)], method, params);
            let code = at(&answer_of(&world, request), "error.code").as_i64();
            assert_eq!(code, if served { None } else { Some(-32009) }, "{version} {method}");
        }
        let request = world.send("POST", &format!("/a2a/rest/message:send?A2A-Version={version}"), &[], &new);
        assert_eq!(world.done(request).status, if served { 200 } else { 400 }, "{version}");
    }
    let mut world = World::new(r#"{"a2a":{"responder":"echo","versions":["1.0"]}}"#);
    assert_eq!(code(&mut world, "message/send", old), -32601);
    let request = call_as(&mut world, &[("A2A-Version", "0.3")], "SendMessage", &new);
    let answer = answer_of(&world, request);
    assert_eq!(at(&answer, "error.code").as_i64(), Some(-32009));
    assert!(text(&answer, "error.message").contains("1.0"), "{answer}");
    assert_eq!(post(&mut world, "/a2a/rest/v1/message:send", old).status, 400);
}

#[test]
fn parameters_are_checked_and_unknown_ones_passed_over() {
    let mut world = echo();
    for message in [
        r#"{"messageId":"m","role":"ROLE_USER","parts":[]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","data":1}]}"#,
        r#"{"messageId":"m","parts":[{"text":"a"}]}"#,
        r#"{"messageId":"m","role":"ROBOT","parts":[{"text":"a"}]}"#,
        r#"{"role":"ROLE_USER","parts":[{"text":"a"}]}"#,
        r#"{"messageId":7,"role":"ROLE_USER","parts":[{"text":"a"}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","contextId":7,"parts":[{"text":"a"}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":7}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":{"a":1}}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"no base64!"}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"file":{"bytes":"?"}}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"file":{"name":"a"}}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","metadata":[]}]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"metadata":[1]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"referenceTaskIds":[1]}"#,
        r#"{"messageId":"m","role":"ROLE_USER","parts":{"text":"a"}}"#,
        "7",
    ] {
        let params = format!(r#"{{"message":{message}}}"#);
        assert_eq!(code(&mut world, "SendMessage", &params), -32602, "{message}");
        let response = post(&mut world, "/a2a/rest/message:send", &params);
        assert_eq!(
            (response.status, text(&value(&response.body), "error.status")),
            (400, "INVALID_ARGUMENT".into()),
            "{message}"
        );
    }
    let params = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","x":1}],"y":{}},"tenant":"","z":null,"configuration":{"w":1}}"#;
    let told = super::caller::result(&mut world, "SendMessage", params);
    let said = at(&told, "task.history.0");
    assert!(said.get("y").is_none() && at(said, "parts.0").get("x").is_none(), "strict readers know no others: {told}");
    assert_eq!(
        code(&mut world, "SendMessage", &format!(r#"{{"message":{},"metadata":[]}}"#, super::caller::message("a"))),
        -32602
    );
    let raw = |text: &str| format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"raw":"{text}"}}]}}}}"#);
    for text in ["dGNr", "_-8=", "_-8", "+/8="] {
        assert_eq!(code(&mut world, "SendMessage", &raw(text)), 0, "{text}");
    }
    assert_eq!(post(&mut world, "/a2a/rest/message:send", "{").status, 400);
    assert_eq!(code(&mut world, "GetExtendedAgentCard", "{}"), -32004);
}
