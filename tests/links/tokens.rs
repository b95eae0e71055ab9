//! Servers at a URL that want to be told by a token who asks.

use narrows::io::{AuthorizeEvent, ExchangeId, Input, Misuse, Request, TokenOrder};

use crate::world::{World, at, string_at};

const URL: &str = "https://s.test/mcp";
const RESOURCE: &str = r#"{"resource":"https://s.test/mcp","authorization_servers":["https://as.test"]}"#;
const METADATA: &str = r#"{"issuer":"https://as.test","authorization_endpoint":"https://as.test/authorize","token_endpoint":"https://as.test/token","registration_endpoint":"https://as.test/register","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}"#;
const TOOLS: &str =
    r#""result":{"tools":[{"name":"x","inputSchema":{"type":"object"}},{"name":"y","inputSchema":{"type":"object"}}]}"#;
const DISCOVERED: &str = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete"}"#;

/// Everything in a login that nobody else may see.
const SECRETS: [&str; 6] =
    ["access-token-1", "access-token-2", "refresh-token-1", "refresh-token-2", "code-of-login", "client-secret-1"];

fn config(more: &str) -> String {
    format!(r#"{{"mcp_servers":[{{"name":"s","transport":{{"type":"http","url":"{URL}"}}{more}}}]}}"#)
}

fn field<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn token(request: &Request) -> Option<&str> {
    field(request, "Authorization")?.strip_prefix("Bearer ")
}

/// Answers the next request, which has that method of JSON-RPC, with JSON.
fn answer(world: &mut World, method: &str, outcome: &str) -> Request {
    let (exchange, request) = world.fetch();
    let body = request.body.as_deref().unwrap_or_default();
    assert_eq!(string_at(body, &["method"]).as_deref(), Some(method), "{request:?}");
    let id = at(body, &["id"]).unwrap();
    world.reply(exchange, 200, &[], &format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#));
    request
}

/// Answers the next request, which goes to that address.
fn reply(world: &mut World, url: &str, status: u16, body: &str) -> Request {
    let (exchange, request) = world.fetch();
    assert_eq!(request.url, url, "{request:?}");
    world.reply(exchange, status, &[], body);
    request
}

/// Does not take the next request.
fn refuse(world: &mut World, status: u16, challenge: &str) -> Request {
    let (exchange, request) = world.fetch();
    assert_eq!(request.url, URL, "{request:?}");
    world.reply(exchange, status, &[("WWW-Authenticate", challenge)], "");
    request
}

fn tell(world: &mut World, event: AuthorizeEvent) {
    world.input(Input::Authorize { server: "s".into(), event });
}

fn load(world: &mut World, refresh: bool, record: Option<&str>) {
    assert_eq!(world.orders.pop_front(), Some(("s".into(), TokenOrder::Load { refresh })));
    tell(world, AuthorizeEvent::Tokens { record: record.map(Into::into) });
}

fn saved(world: &mut World) -> String {
    let Some((server, TokenOrder::Save(record))) = world.orders.pop_front() else { panic!("nothing was saved") };
    assert_eq!(server, "s");
    record.into_string()
}

fn documents(world: &mut World) {
    for url in
        ["https://s.test/.well-known/oauth-protected-resource/mcp", "https://as.test/.well-known/oauth-authorization-server"]
    {
        let body = if url.contains("as.test") { METADATA } else { RESOURCE };
        let request = reply(world, url, 200, body);
        assert!(
            token(&request).is_none() && field(&request, "X-Key").is_none() && request.public_only == url.contains("as.test")
        );
    }
}

/// A server that has said that it wants a token, with nothing in the store.
fn locked(config: &str) -> World {
    let mut world = World::shaken(config);
    assert_eq!(token(&refuse(&mut world, 401, "Bearer")), None);
    load(&mut world, false, None);
    documents(&mut world);
    assert_eq!(world.notices.last().unwrap().0, "authorization_needed");
    assert!(world.fetches.is_empty() && world.gateway.poll_timeout().is_none());
    world
}

/// A person logs in.
fn log_in(world: &mut World, number: u64) {
    tell(world, AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:4000/callback".into() });
    documents(world);
    reply(world, "https://as.test/register", 201, r#"{"client_id":"c-1","client_secret":"client-secret-1"}"#);
    let (event, fields) = world.notices.last().unwrap();
    assert_eq!(event, "authorization_url");
    let place = string_at(fields, &["url"]).unwrap();
    let state = place.split('&').find_map(|field| field.strip_prefix("state=")).unwrap().to_owned();
    assert!(place.starts_with("https://as.test/authorize?response_type=code&client_id=c-1&"), "{place}");
    tell(world, AuthorizeEvent::CameBack { query: "code=code-of-somebody&state=no".into() });
    assert!(world.fetches.is_empty());
    tell(world, AuthorizeEvent::CameBack { query: format!("code=code-of-login&state={state}") });
    let form = reply(world, "https://as.test/token", 200, &tokens(number));
    assert!(form.body.as_ref().unwrap().contains("code=code-of-login&") && token(&form).is_none(), "{form:?}");
}

fn tokens(number: u64) -> String {
    format!(
        r#"{{"access_token":"access-token-{number}","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-token-{number}"}}"#
    )
}

/// The first requests after a token came.
fn connect(world: &mut World) -> ExchangeId {
    answer(world, "server/discover", DISCOVERED);
    answer(world, "tools/list", TOOLS);
    let (exchange, _) = world.fetch();
    world.events(exchange, &[], "");
    exchange
}

fn ready(config: &str) -> (World, String) {
    let mut world = locked(config);
    log_in(&mut world, 1);
    let record = saved(&mut world);
    connect(&mut world);
    world.said.clear();
    (world, record)
}

#[test]
fn a_server_waits_for_its_person_and_calls_say_so() {
    let mut world = locked(&config(r#","headers":["X-Key: a"]"#));
    // It is not tried again by itself.
    world.advance(600_000);
    assert!(world.fetches.is_empty());
    log_in(&mut world, 1);
    let record = saved(&mut world);
    assert!(record.contains("access-token-1") && record.contains("refresh-token-1"), "{record}");
    let probe = answer(&mut world, "server/discover", DISCOVERED);
    assert_eq!((token(&probe), field(&probe, "X-Key")), (Some("access-token-1"), Some("a")));
    answer(&mut world, "tools/list", TOOLS);
    world.fetch();
    world.call(1, "mcp_s_x", "");
    assert_eq!(token(&answer(&mut world, "tools/call", r#""result":{"content":[]}"#)), Some("access-token-1"));
    assert!(world.answered(1).contains(r#""content":[]"#));
}

#[test]
fn calls_of_a_server_that_wants_a_login_say_what_to_do() {
    let (mut world, _) = ready(&config(""));
    world.call(1, "mcp_s_x", "");
    refuse(&mut world, 401, "Bearer error=\"invalid_token\"");
    load(&mut world, true, None);
    saved(&mut world);
    documents(&mut world);
    for id in [1, 2] {
        if id == 2 {
            world.call(2, "mcp_s_x", "");
        }
        let text = world.answered(id);
        assert!(text.contains("narrows mcp login s") && text.contains(r#""login_needed":true"#), "{text}");
    }
}

#[test]
fn calls_share_one_new_token() {
    let (mut world, record) = ready(&config(""));
    for id in 1..=3 {
        world.call(id, "mcp_s_x", "");
    }
    let calls: Vec<_> = (0..3).map(|_| world.fetch()).collect();
    for (exchange, request) in &calls[..2] {
        assert_eq!(token(request), Some("access-token-1"));
        world.reply(*exchange, 401, &[("WWW-Authenticate", "Bearer")], "");
    }
    load(&mut world, true, Some(&record));
    let form = reply(&mut world, "https://as.test/token", 200, &tokens(2));
    assert!(form.body.unwrap().contains("refresh_token=refresh-token-1"));
    assert!(saved(&mut world).contains("refresh-token-2"));
    for _ in 0..2 {
        assert_eq!(token(&answer(&mut world, "tools/call", r#""result":{"content":[]}"#)), Some("access-token-2"));
    }
    // One that was refused for the token of before asks for no other.
    world.reply(calls[2].0, 401, &[("WWW-Authenticate", "Bearer")], "");
    assert!(world.orders.is_empty());
    assert_eq!(token(&answer(&mut world, "tools/call", r#""result":{"content":[]}"#)), Some("access-token-2"));
    (1..=3).for_each(|id| drop(world.answered(id)));
}

#[test]
fn a_token_is_renewed_before_it_ends() {
    let (mut world, record) = ready(&config(""));
    world.advance(3_590_000);
    world.call(1, "mcp_s_x", "");
    assert!(world.fetches.is_empty());
    world.call(2, "mcp_s_x", "");
    load(&mut world, true, Some(&record));
    reply(&mut world, "https://as.test/token", 200, &tokens(2));
    for _ in 0..2 {
        assert_eq!(token(&answer(&mut world, "tools/call", r#""result":{"content":[]}"#)), Some("access-token-2"));
    }
}

#[test]
fn changes_are_listened_for_with_the_new_token() {
    let mut world = locked(&config(""));
    log_in(&mut world, 1);
    let record = saved(&mut world);
    let stream = connect(&mut world);
    // The stream of changes ends, and is asked for again when its token has ended.
    world.input(Input::End { exchange: stream });
    world.advance(30_000);
    let (exchange, request) = world.fetch();
    assert!(request.body.unwrap().contains("subscriptions/listen"));
    let (listed, request) = world.fetch();
    assert!(request.body.unwrap().contains("tools/list"), "what was missed meanwhile");
    for exchange in [exchange, listed] {
        world.reply(exchange, 401, &[("WWW-Authenticate", "Bearer")], "");
    }
    world.advance(5000);
    assert!(world.fetches.is_empty(), "nothing is asked for meanwhile");
    load(&mut world, true, Some(&record));
    reply(&mut world, "https://as.test/token", 200, &tokens(2));
    let mut asked: Vec<String> = Vec::new();
    for (_, request) in std::mem::take(&mut world.fetches) {
        assert_eq!(token(&request), Some("access-token-2"));
        asked.extend(string_at(request.body.as_deref().unwrap(), &["method"]));
    }
    asked.sort();
    assert_eq!(asked, ["subscriptions/listen", "tools/list"]);
}

#[test]
fn a_refresh_is_waited_for_though_the_connection_breaks() {
    let mut config = config("");
    config = config.replace("\"http\"", "\"sse\"");
    let mut world = World::shaken(&config);
    refuse(&mut world, 401, "Bearer");
    load(&mut world, false, None);
    documents(&mut world);
    log_in(&mut world, 1);
    let record = saved(&mut world);
    let (stream, _) = world.fetch();
    world.events(stream, &[], "event: endpoint\ndata: /post\n\n");
    let (exchange, request) = world.fetch();
    assert_eq!((request.url.as_str(), token(&request)), ("https://s.test/post", Some("access-token-1")));
    world.reply(exchange, 401, &[("WWW-Authenticate", "Bearer")], "");
    load(&mut world, true, Some(&record));
    let (refresh, request) = world.fetch();
    assert_eq!(request.url, "https://as.test/token");
    world.input(Input::End { exchange: stream });
    assert!(!world.aborted.contains(&refresh));
    world.reply(refresh, 200, &[], &tokens(2));
    assert!(saved(&mut world).contains("refresh-token-2"));
    world.advance(3000);
    assert_eq!(token(&world.fetch().1), Some("access-token-2"));
}

#[test]
fn a_call_is_made_once_more_and_no_more() {
    let (mut world, record) = ready(&config(""));
    world.call(1, "mcp_s_x", "");
    refuse(&mut world, 401, "Bearer");
    load(&mut world, true, Some(&record));
    reply(&mut world, "https://as.test/token", 200, &tokens(2));
    refuse(&mut world, 401, "Bearer");
    assert!(world.answered(1).contains("refuses its token"));
}

#[test]
fn a_call_that_wants_more_scopes_leaves_the_others_alone() {
    let (mut world, _) = ready(&config(""));
    world.call(1, "mcp_s_x", "");
    refuse(&mut world, 403, r#"Bearer error="insufficient_scope", scope="admin""#);
    let (code, words) = world.error(1);
    assert!(code == "blocked" && words.contains("(admin)") && words.contains("narrows mcp login s"), "{words}");
    assert!(world.notices.iter().any(|(event, fields)| event == "authorization_needed" && fields.contains("admin")));
    world.call(2, "mcp_s_y", "");
    assert_eq!(token(&answer(&mut world, "tools/call", r#""result":{"content":[]}"#)), Some("access-token-1"));
    world.answered(2);
    tell(&mut world, AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:4000/callback".into() });
    documents(&mut world);
    // The client is the one that was registered for this address.
    let place = string_at(&world.notices.last().unwrap().1, &["url"]).unwrap();
    assert!(place.contains("&scope=admin"), "{place}");
    let state = place.split('&').find_map(|field| field.strip_prefix("state=")).unwrap().to_owned();
    tell(&mut world, AuthorizeEvent::CameBack { query: format!("code=code-of-login&state={state}") });
    reply(&mut world, "https://as.test/token", 200, &tokens(2));
    world.call(3, "mcp_s_x", "");
    let call = refuse(&mut world, 403, r#"Bearer error="insufficient_scope", scope="admin""#);
    assert_eq!(token(&call), Some("access-token-2"));
    let (_, words) = world.error(3);
    assert!(!words.contains("log in"), "{words}");
    // Without those words it is an answer like any other.
    world.call(4, "mcp_s_x", "");
    refuse(&mut world, 403, "Bearer");
    assert!(world.error(4).1.contains("HTTP 403"));
}

#[test]
fn a_section_has_the_store_asked_before_the_server() {
    let (_, record) = ready(&config(""));
    let mut world = World::shaken(&config(r#","oauth":{"scopes":["read"]}"#));
    assert!(world.fetches.is_empty());
    load(&mut world, false, Some(&record));
    assert_eq!(token(&answer(&mut world, "server/discover", DISCOVERED)), Some("access-token-1"));
    let mut world = World::shaken(&config(r#","oauth":{}"#));
    load(&mut world, false, None);
    assert_eq!(token(&answer(&mut world, "server/discover", DISCOVERED)), None);
}

#[test]
fn a_header_field_of_the_configuration_is_all_there_is() {
    let mut world = World::shaken(&config(r#","headers":["authorization: Bearer hunter2hunter2"]"#));
    assert_eq!(token(&refuse(&mut world, 401, "Bearer")), Some("hunter2hunter2"));
    assert!(world.orders.is_empty() && world.fetches.is_empty());
    let login = AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:1/".into() };
    for server in ["s", "t"] {
        let input = Input::Authorize { server: server.into(), event: login.clone() };
        assert_eq!(world.try_input(input), Err(Misuse::ServerUnknown(server.into())));
    }
}

#[test]
fn what_a_public_server_names_is_not_looked_for_inwards() {
    for place in ["http://127.0.0.1:9/x", "http://10.0.0.1/x", "https://[::1]/x", "http://s2.test/x", "file:///etc/passwd"] {
        let mut world = World::shaken(&config(""));
        refuse(&mut world, 401, &format!("Bearer resource_metadata=\"{place}\""));
        load(&mut world, false, None);
        assert!(world.fetches.is_empty(), "{place}");
        assert_eq!(world.notices.last().unwrap().0, "link_lost");
    }
    let mut world = World::shaken(&config(""));
    refuse(&mut world, 401, "Bearer");
    load(&mut world, false, None);
    let inwards = RESOURCE.replace("https://as.test", "http://127.0.0.1:9");
    reply(&mut world, "https://s.test/.well-known/oauth-protected-resource/mcp", 200, &inwards);
    assert!(world.fetches.is_empty());
}

#[test]
fn who_is_silent_is_given_up() {
    // The store.
    let mut world = World::shaken(&config(""));
    refuse(&mut world, 401, "Bearer");
    world.advance(30_000);
    assert!(world.notices.iter().any(|(event, _)| event == "link_lost"));
    // The authorization server, while somebody logs in.
    let mut world = locked(&config(""));
    tell(&mut world, AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:4000/callback".into() });
    let (exchange, _) = world.fetch();
    world.advance(30_000);
    assert_eq!(world.aborted.last(), Some(&exchange));
    let (event, fields) = world.notices.last().unwrap();
    assert!(event == "authorization_failed" && fields.contains("in time"), "{fields}");
    // A late answer of the store is nobody's.
    tell(&mut world, AuthorizeEvent::Tokens { record: Some("{}".into()) });
    assert!(world.fetches.is_empty());
}

/// The trace of what a trace tells, in a new gateway.
fn replayed(lines: &[String]) -> Vec<String> {
    let config = narrows::config::Config::from_json(&at(&lines[0], &["config"]).unwrap()).unwrap();
    let mut gateway = narrows::gateway::Gateway::new(crate::world::genesis(0), config);
    gateway.set_trace(true);
    for line in lines {
        let Some(input) = at(line, &["input"]) else { continue };
        let now = at(line, &["now"]).unwrap().parse().unwrap();
        let _ = gateway.handle_input(narrows::time::Instant::from_ms(now), narrows::io::read_input(&input).unwrap());
        while gateway.poll_output().is_some() {}
    }
    std::iter::from_fn(|| gateway.poll_trace()).collect()
}

#[test]
fn no_token_is_told_to_anybody_else() {
    let mut world = World::with({
        let config = narrows::config::Config::from_json(&config("")).unwrap();
        let mut gateway = narrows::gateway::Gateway::new(crate::world::genesis(0), config);
        gateway.set_trace(true);
        gateway
    });
    world.open(1);
    world.say(1, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#);
    refuse(&mut world, 401, "Bearer");
    load(&mut world, false, None);
    documents(&mut world);
    log_in(&mut world, 1);
    let record = saved(&mut world);
    connect(&mut world);
    world.call(1, "mcp_s_x", "");
    let echo = r#""result":{"content":[{"type":"text","text":"you sent access-token-1 and refresh-token-1"}]}"#;
    answer(&mut world, "tools/call", echo);
    assert!(world.answered(1).contains("you sent [redacted] and [redacted]"));
    world.call(2, "mcp_s_x", "");
    refuse(&mut world, 401, "Bearer");
    load(&mut world, true, Some(&record));
    reply(&mut world, "https://as.test/token", 200, &tokens(2));
    saved(&mut world);
    refuse(&mut world, 401, "Bearer error=\"invalid_token\", error_description=\"access-token-2\"");
    documents(&mut world);
    world.answered(2);
    let told = world.said.iter().map(|(_, text)| text.clone()).chain(world.notices.iter().map(|(_, fields)| fields.clone()));
    let mut told: Vec<String> = told.collect();
    let before = told.len();
    let trace: Vec<String> = std::iter::from_fn(|| world.gateway.poll_trace()).collect();
    assert_eq!(replayed(&trace), trace);
    told.extend(trace);
    told.extend(world.gateway.snapshot(narrows::gateway::Secrets::Drop));
    assert!(told.len() > before + 20);
    for secret in SECRETS {
        let leaks: Vec<_> = told.iter().filter(|text| text.contains(secret)).collect();
        assert!(leaks.is_empty(), "{secret}: {leaks:?}");
    }
}
