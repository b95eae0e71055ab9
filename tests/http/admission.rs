//! Who is let in, and what is said to those who are not.

use super::world::{LEGACY, World, initialize, rpc};

const TOKENS: &str = r#"{"auth":{"tokens":[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]}}"#;

#[test]
fn host_and_origin_come_before_everything() {
    let mut world = World::new(TOKENS);
    for (method, target) in [("POST", "/mcp"), ("OPTIONS", "/mcp"), ("PUT", "/mcp"), ("GET", "/healthz"), ("GET", "/nothing")] {
        for evil in [("Host", "evil.example.com"), ("Origin", "http://evil.example.com")] {
            let request = world.head(method, target, &[evil]);
            assert_eq!(world.done(request).status, 403, "{method} {target} {evil:?}");
        }
    }
    let mut world = World::new("{}");
    for host in ["localhost", "localhost:4545", "127.0.0.1:4545", "[::1]:4545", "127.1.2.3"] {
        let request = world.head("GET", "/healthz", &[("Host", host), ("Origin", "http://127.0.0.1:9")]);
        assert_eq!(world.done(request).status, 200, "{host}");
    }
}

#[test]
fn a_preflight_is_answered_before_a_token_is_asked_for() {
    let mut world = World::new(TOKENS);
    let asked = [("Origin", "http://localhost:3000"), ("Access-Control-Request-Method", "POST")];
    let request = world.head("OPTIONS", "/mcp", &asked);
    let response = world.done(request);
    assert_eq!((response.status, response.body.as_str()), (204, ""));
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:3000"));
    assert_eq!(response.header("access-control-allow-methods"), Some("GET, POST, PUT, DELETE, OPTIONS"));
    assert_eq!(response.header("access-control-allow-credentials"), None);
    let allowed = response.header("access-control-allow-headers").unwrap().to_lowercase();
    for name in ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "last-event-id", "authorization"] {
        assert!(allowed.contains(name), "{name}");
    }
}

#[test]
fn what_pages_must_read_is_exposed_on_the_response_itself() {
    let mut world = World::new("{}");
    let response = world.answer(&[("Origin", "http://localhost:3000")], &initialize(LEGACY));
    let exposed = response.header("access-control-expose-headers").unwrap().to_lowercase();
    for name in ["mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after"] {
        assert!(exposed.contains(name), "{name}");
    }
    assert_eq!(response.header("vary"), Some("Origin"));
    assert_eq!(world.answer(&[], &initialize(LEGACY)).header("access-control-allow-origin"), None);
}

#[test]
fn tokens_are_asked_for() {
    let mut world = World::new(TOKENS);
    let response = world.answer(&[], &initialize(LEGACY));
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer")));
    let response = world.answer(&[("Authorization", "Bearer wrong-token")], &initialize(LEGACY));
    assert_eq!((response.status, response.header("www-authenticate")), (401, Some("Bearer error=\"invalid_token\"")));
    assert_eq!(world.answer(&[("Authorization", "bearer alpha-token")], &initialize(LEGACY)).status, 200);
    let request = world.head("GET", "/healthz", &[]);
    assert_eq!(world.done(request).status, 200);
    let request = world.head("GET", "/nothing", &[]);
    assert_eq!(world.done(request).status, 401);
}

#[test]
fn methods_are_named_where_one_is_not_served() {
    let mut world = World::new("{}");
    for (method, target, status, allow) in [
        ("PUT", "/mcp", 405, Some("GET, POST, DELETE")),
        ("PATCH", "/mcp/", 405, Some("GET, POST, DELETE")),
        ("GET", "/mcp", 405, Some("POST")),
        ("POST", "/healthz", 405, Some("GET, HEAD")),
        ("GET", "/nothing", 404, None),
        ("GET", "/mcp2", 404, None),
        ("DELETE", "/mcp", 400, None),
    ] {
        let request = world.head(method, target, &[]);
        let response = world.done(request);
        assert_eq!((response.status, response.header("allow")), (status, allow), "{method} {target}");
    }
    for method in ["GET", "DELETE"] {
        let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Session-Id", "x")];
        let request = world.head(method, "/mcp", &fields);
        let response = world.done(request);
        assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{method}");
    }
}

#[test]
fn a_post_says_what_it_holds_and_takes() {
    let mut world = World::new("{}");
    let mut status = |kind: &str, accept: &str| {
        let request = world.head("POST", "/mcp", &[("Content-Type", kind), ("Accept", accept)]);
        world.responses.get(&request).map(|response| response.status)
    };
    let both = "application/json, text/event-stream";
    assert_eq!(status("application/json", both), None);
    assert_eq!(status("application/json; charset=utf-8", "*/*"), None);
    assert_eq!(status("text/plain", both), Some(415));
    assert_eq!(status("", both), Some(415));
    assert_eq!(status("application/json", "application/json"), Some(406));
    assert_eq!(status("application/json", "text/event-stream"), Some(406));
    assert_eq!(status("application/json", "text/html"), Some(406));
}

#[test]
fn bodies_that_are_no_message_are_400() {
    let mut world = World::new("{}");
    for (body, code) in [
        ("{", "-32700"),
        ("", "-32700"),
        (r#"{"jsonrpc":"2.0","id":5,"method":"ping""#, "-32700"),
        ("7", "-32600"),
        ("{}", "-32600"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "-32600"),
        (r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#, "-32600"),
        ("[]", "-32600"),
    ] {
        let response = world.answer(&[], body);
        assert_eq!(response.status, 400, "{body}");
        assert_eq!(response.header("content-type"), Some("application/json"), "{body}");
        assert!(
            response.body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"#)),
            "{}",
            response.body
        );
    }
    let response = world.answer(&[], r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#);
    assert!(response.status == 400 && response.body.contains(r#""id":"x","error":{"code":-32600"#), "{}", response.body);
    let deep = rpc("9", "ping", &format!("{}{}", "[".repeat(200), "]".repeat(200)));
    assert_eq!(world.answer(&[], &deep).status, 400);
}

#[test]
fn a_body_that_is_no_utf_8_is_not_guessed_at() {
    use narrows::io::{Input, RequestId};
    let mut world = World::new("{}");
    let request = world.head("POST", "/mcp", &[("Content-Type", "application/json")]);
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec();
    world.input(Input::RequestBody { request: RequestId(request), bytes });
    world.input(Input::RequestEnd { request: RequestId(request) });
    let response = world.done(request);
    assert!(response.status == 400 && response.body.contains("-32700"), "{response:?}");
}

#[test]
fn chunks_of_any_size_make_a_body() {
    use narrows::io::{Input, RequestId};
    let mut world = World::new("{}");
    let request = world.head("POST", "/mcp", &[("Content-Type", "application/json")]);
    for byte in initialize(LEGACY).bytes() {
        world.input(Input::RequestBody { request: RequestId(request), bytes: vec![byte] });
    }
    world.input(Input::RequestEnd { request: RequestId(request) });
    assert_eq!(world.done(request).status, 200);
}
