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
    let response =
        post(&mut world, "/a2a", &format!(r#"{{"jsonrpc":"2.0","method":"SendMessage","params":{}}}"#, send_params("hi")));
    assert!(response.body.contains(r#""id":null"#), "a request without an id is answered all the same");
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
    assert_eq!(code(&mut world, "SendMessage", params), 0);
    assert_eq!(post(&mut world, "/a2a/rest/message:send", "{").status, 400);
    assert_eq!(code(&mut world, "GetExtendedAgentCard", "{}"), -32004);
}
