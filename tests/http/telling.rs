//! What is told of requests and counted, and the traces that they belong to.

use narrows::config::Config;
use narrows::gateway::Gateway;
use narrows::io::{Input, Output, RequestId};
use narrows::json;
use narrows::time::Instant;

use super::world::{CONNECT, LEGACY, SEND, World, genesis, rpc};

const TOKENS: &str = r#"{"auth":{"tokens":[{"token":"alpha-token","principal":"a","may_register":true}]}}"#;
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The notices of an event, as they were told.
fn told(world: &World, event: &str) -> Vec<String> {
    let notices = world.notices.iter().filter(|notice| notice.event == event);
    notices.map(|notice| notice.fields.as_str().to_owned()).collect()
}

fn metrics(world: &mut World) -> String {
    let request = world.send("GET", "/metrics", &[], "");
    let response = world.done(request);
    assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    response.body
}

#[test]
fn each_request_is_told_of_once_without_what_is_in_it() {
    let mut world = World::new(TOKENS);
    let token = [("Authorization", "Bearer alpha-token")];
    world.send("GET", "/healthz?secret=in-the-query", &[], "");
    world.send("DELETE", "/agents/a-secret-name", &token, "");
    world.send("BREW", "/a-secret-path", &token, "");
    world.send("POST", "/mcp", &[("Authorization", "Bearer wrong-token")], "{}");
    world.pass(250);
    let request = world.head("POST", "/a2a/", &token);
    world.pass(1500);
    world.gone(request);
    world.gone(request);
    assert_eq!(
        told(&world, "request_served"),
        [
            r#"{"method":"GET","route":"/healthz","status":200,"ms":0,"bytes":2}"#,
            r#"{"method":"DELETE","route":"/agents/{name}","status":404,"principal":"a","ms":0,"bytes":77}"#,
            r#"{"method":"other","route":"other","status":404,"principal":"a","ms":0,"bytes":45}"#,
            r#"{"method":"POST","route":"/mcp","status":401,"ms":0,"bytes":24}"#,
            r#"{"method":"POST","route":"{listen_path}","principal":"a","ms":1500,"bytes":0,"gone":true}"#,
        ]
    );
}

#[test]
fn a_stream_is_told_of_when_it_ends() {
    let mut world = World::new("{}");
    let session = world.session(LEGACY, &[]);
    let fields = [("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream")];
    let request = world.send("GET", "/mcp", &fields, "");
    assert_eq!(told(&world, "request_served").len(), 1);
    assert!(metrics(&mut world).contains("narrows_streams 1\n"));
    world.pass(15_000);
    world.input(Input::Stop);
    world.done(request);
    let last = told(&world, "request_served").pop().unwrap();
    assert!(last.contains(r#""route":"/mcp","status":200,"principal":"local","ms":15000,"bytes":"#), "{last}");
}

#[test]
fn what_is_counted_has_names_that_are_known_before() {
    let mut world = World::new("{}");
    world.now = 61_000;
    let session = world.session(LEGACY, &[]);
    world.connect(|world| world.legacy(&session, "1", "tools/call", CONNECT));
    world.legacy(&session, "2", "tools/call", r#"{"name":"ping_agent","arguments":{"alias":"nobody"}}"#);
    world.send("GET", "/nothing/of/note?x=1", &[], "");
    let text = metrics(&mut world);
    for line in [
        "# TYPE narrows_calls_total counter",
        r#"narrows_calls_total{tool="connect_agent",outcome="ok"} 1"#,
        r#"narrows_calls_total{tool="ping_agent",outcome="unknown_agent"} 1"#,
        "narrows_agents 1",
        "narrows_sessions 1",
        "narrows_exchanges_total 1",
        "narrows_exchanges_running 0",
        r#"narrows_tasks{state="working"} 0"#,
        r#"narrows_http_requests_total{route="other",status="404"} 1"#,
        r#"narrows_http_requests_total{route="/mcp",status="200"} 3"#,
        r#"narrows_http_refusals_total{status="404"} 1"#,
        "narrows_http_requests_running 1",
        "narrows_directory_cards 0",
        "narrows_uptime_seconds 61.000",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let family = name.split('{').next().unwrap();
        assert!(text.contains(&format!("# TYPE {family} ")) && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    }
    assert!(!text.contains("note"));
}

#[test]
fn metrics_are_for_those_who_show_a_token() {
    let mut world = World::new(TOKENS);
    let status = |world: &mut World, method, fields: &[(&str, &str)]| {
        let request = world.send(method, "/metrics", fields, "");
        world.done(request).status
    };
    let token = [("Authorization", "Bearer alpha-token")];
    assert_eq!(status(&mut world, "GET", &[]), 401);
    assert_eq!(status(&mut world, "GET", &token), 200);
    assert_eq!(status(&mut world, "HEAD", &token), 200);
    assert_eq!(status(&mut world, "POST", &token), 405);
    assert_eq!(status(&mut world, "GET", &[("Host", "evil.example.com")]), 403);
}

/// The trace fields of the fetch that was asked for last.
fn passed_on(world: &mut World) -> Vec<(String, String)> {
    let (_, request) = world.fetches.pop().expect("something is fetched");
    request.headers.into_iter().filter(|(name, _)| name.starts_with("trace")).collect()
}

#[test]
fn a_trace_goes_on_at_the_agent_with_a_span_of_the_gateway() {
    let mut world = World::new("{}");
    world.connect(|world| world.modern("1", "tools/call", "connect_agent", CONNECT));
    let fields = [("traceparent", PARENT), ("tracestate", "congo=t61")];
    let request = world.modern_as(&fields, "2", "tools/call", "send_message", SEND);
    let fields = passed_on(&mut world);
    assert_eq!(fields[1], ("tracestate".to_owned(), "congo=t61".to_owned()));
    let span = fields[0].1.strip_prefix(&format!("00-{TRACE}-")).unwrap().strip_suffix("-01").unwrap().to_owned();
    assert_ne!(span, "00f067aa0ba902b7");
    world.gone(request);
    assert!(told(&world, "request_served").pop().unwrap().contains(TRACE));
    // What the request itself says counts more than what came with it on the way.
    let other = PARENT.replace(TRACE, "11111111111111111111111111111111");
    let meta = format!(r#"{{"_meta":{{"traceparent":"{other}"}},"name":"send_message","#);
    let with_meta = SEND.replace(r#"{"name":"send_message","#, &meta);
    world.modern_as(&[("traceparent", PARENT)], "3", "tools/call", "send_message", &with_meta);
    let fields = passed_on(&mut world);
    assert!(fields.len() == 1 && fields[0].1.contains("-11111111111111111111111111111111-"), "{fields:?}");
    for malformed in ["", "00", &PARENT.to_uppercase(), &format!("{PARENT}-x"), &PARENT.replace("00-", "ff-")] {
        world.modern_as(&[("traceparent", malformed)], "4", "tools/call", "send_message", SEND);
        assert_eq!(passed_on(&mut world), [], "{malformed}");
    }
    let request = world.modern_as(&[("traceparent", PARENT)], "5", "tools/call", "list_agents", super::world::LIST_AGENTS);
    world.done(request);
    let ended = told(&world, "call_ended").pop().unwrap();
    assert!(ended.contains(&format!(r#""trace_id":"{TRACE}","span_id":""#)), "{ended}");
}

#[test]
fn a_served_task_that_is_relayed_belongs_to_the_trace_of_its_caller() {
    let mut world =
        World::new(r#"{"external_agents":[{"name":"agent","url":"https://agent.test/"}],"a2a":{"responder":"relay:agent"}}"#);
    let message = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
    let fields = [("Content-Type", "application/json"), ("traceparent", PARENT)];
    world.send("POST", "/a2a", &fields, &rpc("1", "SendMessage", message));
    // The message waits for the card, which there is none of.
    while let Some((exchange, _)) = world.fetches.pop_if(|(_, request)| request.body.is_none()) {
        world.reply(exchange, "application/json", "{}");
    }
    let fetched = world
        .fetches
        .iter()
        .filter(|(_, request)| request.headers.iter().any(|(name, value)| name == "traceparent" && value.contains(TRACE)));
    assert!(fetched.count() >= 1, "{:?}", world.fetches);
}

#[test]
fn without_a_trace_nothing_is_drawn_from_the_seed_for_one() {
    let run = |fields: Vec<(String, String)>| {
        let mut gateway = Gateway::new(genesis(0), Config::from_json("{}").unwrap());
        let mut headers = vec![("Host".to_owned(), "localhost".to_owned())];
        headers.extend(fields);
        let request = RequestId(1);
        let head = Input::Request { request, method: "GET".into(), target: "/healthz".into(), headers };
        gateway.handle_input(Instant::from_ms(0), head).unwrap();
        std::iter::from_fn(move || gateway.poll_output()).collect::<Vec<Output>>()
    };
    let (plain, malformed) = (run(Vec::new()), run(vec![("traceparent".into(), "00-zz".into())]));
    assert_eq!(plain, malformed);
    let Some(Output::Notice(notice)) = plain.last() else { panic!("the request is told of: {plain:?}") };
    assert!(json::parse(notice.fields.as_str(), 4).is_ok());
}
