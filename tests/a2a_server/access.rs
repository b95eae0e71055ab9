//! Who may ask, and for whose tasks.

use super::caller::{at, call_as, send_params, text, value};
use super::world::World;

const TOKENS: &str = r#"{"a2a":{"responder":"echo"},"auth":{"tokens":[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]}}"#;
const A: (&str, &str) = ("Authorization", "Bearer alpha-token");
const B: (&str, &str) = ("Authorization", "Bearer beta-token-2");

#[test]
fn host_origin_and_token_come_first() {
    let mut world = World::new(TOKENS);
    for target in ["/a2a", "/a2a/rest/message:send", "/api/a2a", "/.well-known/agent-card.json"] {
        let method = if target.starts_with("/.well") { "GET" } else { "POST" };
        let request = world.head(method, target, &[("Host", "evil.example.com")]);
        assert_eq!(world.done(request).status, 403, "{target}");
        let request = world.head(method, target, &[("Origin", "http://evil.example.com")]);
        assert_eq!(world.done(request).status, 403, "{target}");
    }
    for (method, target) in
        [("POST", "/a2a"), ("GET", "/a2a/rest/tasks"), ("POST", "/a2a/rest/message:stream"), ("GET", "/a2a/rest/tasks/x")]
    {
        let request = world.head(method, target, &[]);
        let response = world.done(request);
        assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")), "{target}");
    }
    let request = world.head("OPTIONS", "/a2a", &[("Origin", "http://localhost:1")]);
    let allowed = world.done(request).header("access-control-allow-headers").unwrap().to_lowercase();
    assert!(allowed.contains("a2a-version") && allowed.contains("a2a-extensions"));
}

#[test]
fn another_ones_task_is_as_unknown_as_none() {
    let mut world = World::new(TOKENS);
    let request = call_as(&mut world, &[A], "SendMessage", &send_params("mine"));
    let id = text(&value(&world.done(request).body), "result.task.id");
    for (method, params) in [
        ("GetTask", format!(r#"{{"id":"{id}"}}"#)),
        ("CancelTask", format!(r#"{{"id":"{id}"}}"#)),
        ("SubscribeToTask", format!(r#"{{"id":"{id}"}}"#)),
        ("SendMessage", format!(r#"{{"message":{}}}"#, super::caller::reply(&id, "x"))),
        ("CreateTaskPushNotificationConfig", format!(r#"{{"taskId":"{id}","url":"https://hook.test/"}}"#)),
        ("ListTaskPushNotificationConfigs", format!(r#"{{"taskId":"{id}"}}"#)),
        ("DeleteTaskPushNotificationConfig", format!(r#"{{"taskId":"{id}","id":"c"}}"#)),
    ] {
        let theirs = call_as(&mut world, &[B], method, &params);
        let none = call_as(&mut world, &[B], method, &params.replace(&id, "none"));
        let (theirs, none) = (world.done(theirs).body, world.done(none).body);
        assert_eq!(theirs.replace(&id, "none"), none, "{method}");
        assert_eq!(at(&value(&none), "error.code").as_i64(), Some(-32001), "{method}");
    }
    let list = |world: &mut World, token| {
        let request = call_as(world, &[token], "ListTasks", "{}");
        at(&value(&world.done(request).body), "result.totalSize").as_u64()
    };
    assert_eq!((list(&mut world, A), list(&mut world, B)), (Some(1), Some(0)));
}

#[test]
fn who_sends_a_compressed_body_is_told_what_to_do() {
    let mut world = World::new(r#"{"a2a":{"responder":"echo"}}"#);
    for path in ["/mcp", "/a2a", "/a2a/rest/message:send", "/api/a2a/tasks"] {
        for (coding, is_taken) in [("gzip", false), ("br, identity", false), ("identity", true), ("", true)] {
            let fields = [
                ("Content-Encoding", coding),
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
            ];
            let request = world.head("POST", path, &fields);
            let answered = world.responses.get(&request);
            assert_eq!(answered.is_none(), is_taken, "{path} {coding}");
            if let Some(response) = answered {
                assert_eq!((response.status, response.header("accept-encoding")), (415, Some("identity")), "{path}");
                assert!(response.body.contains("without Content-Encoding"), "{}", response.body);
            }
        }
    }
}

#[test]
fn bodies_are_bounded() {
    let mut world = World::new(r#"{"a2a":{"responder":"echo"},"limits":{"request_bytes":1000}}"#);
    let request = world.send("POST", "/a2a", &[], &"x".repeat(1001));
    assert_eq!(world.done(request).status, 413);
    let request = world.head("POST", "/a2a/rest/message:send", &[("Content-Length", "1001")]);
    assert_eq!(world.done(request).status, 413);
}
