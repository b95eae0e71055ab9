//! The plain task API: tasks without an A2A library.

use narrows::gateway::Secrets;
use narrows::io::{Cause, Input};
use serde_json::Value;

use super::caller::{at, ended, function, get, post, state, text, value};
use super::relay::Upstream;
use super::world::{Response, World};

const AGENT: &str = "https://agent.test/";
const CARD: &str = r#"{"name":"B","description":"d","version":"2","supportedInterfaces":[{"url":"https://agent.test/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"skills":[{"id":"cook","name":"Cook","tags":[]}]}"#;

pub(super) fn body(response: &Response) -> Value {
    assert_eq!(response.header("content-type"), Some("application/json"), "{response:?}");
    value(&response.body)
}

/// The error of a response: its status and code.
pub(super) fn fault(response: &Response) -> (u16, String) {
    let body = body(response);
    assert!(!text(&body, "error.message").is_empty() && !text(&body, "error.request_id").is_empty(), "{body}");
    (response.status, text(&body, "error.code"))
}

fn start(world: &mut World, path: &str, body: &str) -> u64 {
    start_as(world, &[], path, body)
}

fn start_as(world: &mut World, fields: &[(&str, &str)], path: &str, body: &str) -> u64 {
    let mut all = vec![("Content-Type", "application/json")];
    all.extend_from_slice(fields);
    world.send("POST", &format!("/api/a2a/{path}"), &all, body)
}

/// Discovers the agent; what that is answered with.
fn discover_as(world: &mut World, fields: &[(&str, &str)]) -> Response {
    let request = start_as(world, fields, "discover", &format!(r#"{{"url":"{AGENT}"}}"#));
    let (exchange, fetch) = world.fetches.pop().expect("the card is read");
    assert!(fetch.url.ends_with("agent-card.json"));
    world.reply(exchange, "application/json", CARD);
    world.done(request)
}

pub(super) fn known(config: &str) -> World {
    let mut world = World::new(config);
    assert_eq!(discover_as(&mut world, &[]).status, 200);
    world
}

fn send(world: &mut World, more: &str) -> u64 {
    start(world, "send", &format!(r#"{{"agent_url":"{AGENT}","message":"dinner"{more}}}"#))
}

fn upstream(world: &mut World) -> Upstream {
    let (exchange, fetch) = world.fetches.pop().expect("the agent is asked");
    Upstream { exchange, request: value(fetch.body.as_ref().unwrap()) }
}

fn plain_events(world: &World, request: u64) -> Vec<(String, String, Value)> {
    let field = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap_or_default().to_owned()
    };
    let events = world.body(request).split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
    events.map(|event| (field(event, "id"), field(event, "event"), value(&field(event, "data")))).collect()
}

#[test]
fn agents_are_discovered_and_listed() {
    let config = r#"{"external_agents":[{"name":"bistro","url":"https://bistro.test/"}],"a2a":{}}"#;
    let mut world = World::new(config);
    let list = body(&get(&mut world, "/api/a2a/agents"));
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!((text(&list, "items.0.name"), text(&list, "items.0.status")), ("bistro".into(), "trusted".into()));
    world.fetches.clear();
    let found = discover_as(&mut world, &[]);
    let told = body(&found);
    assert_eq!((found.status, text(&told, "status"), text(&told, "url")), (200, "trusted".into(), AGENT.into()));
    assert_eq!((text(&told, "agent.name"), text(&told, "agent.skills.0.id")), ("B".into(), "cook".into()));
    let list = body(&get(&mut world, "/api/a2a/agents?limit=1&offset=1"));
    assert_eq!(
        (at(&list, "total").as_u64(), at(&list, "offset").as_u64(), at(&list, "limit").as_u64()),
        (Some(2), Some(1), Some(1))
    );
    let item = &list["items"][0];
    let said = ["name", "url", "description", "skills.0", "version", "status"].map(|name| text(item, name));
    assert_eq!(said, ["B", AGENT, "d", "Cook", "2", "trusted"]);
    for query in ["limit=0", "limit=x", "offset=-1"] {
        assert_eq!(fault(&get(&mut world, &format!("/api/a2a/agents?{query}"))), (400, "invalid_argument".into()), "{query}");
    }
    for (wrong, status, code) in [
        ("{}", 400, "invalid_argument"),
        (r#"{"url":"ftp://x"}"#, 400, "invalid_argument"),
        (r#"{"url":"https://a:b@x.test/"}"#, 400, "invalid_argument"),
        (r#"{"url":"http://169.254.169.254/"}"#, 400, "blocked"),
        ("[]", 400, "invalid_argument"),
        ("{", 400, "parse_error"),
    ] {
        assert_eq!(fault(&post(&mut world, "/api/a2a/discover", wrong)), (status, code.into()), "{wrong}");
    }
    let request = start(&mut world, "discover", r#"{"url":"https://gone.test/"}"#);
    while let Some((exchange, _)) = world.fetches.pop() {
        world.input(Input::Failed { exchange, cause: Cause::Refused, detail: String::new() });
    }
    assert_eq!(fault(&world.done(request)), (502, "unreachable".into()));
    assert_eq!(at(&body(&get(&mut world, "/api/a2a/agents")), "total").as_u64(), Some(2));
}

/// Discovers an agent of that name; what that is answered with.
fn discover_one(world: &mut World, name: &str) -> Response {
    let request = start(world, "discover", &format!(r#"{{"url":"https://{name}.test/"}}"#));
    let (exchange, _) = world.fetches.pop().expect("the card is read");
    world.reply(exchange, "application/json", &CARD.replace("agent.test", &format!("{name}.test")));
    world.done(request)
}

#[test]
fn the_agent_that_was_discovered_first_makes_room_where_it_works_on_nothing() {
    let config = r#"{"a2a":{},"limits":{"agents_per_scope":2}}"#;
    let mut world = World::new(config);
    let names = |world: &mut World| {
        let list = body(&get(world, "/api/a2a/agents"));
        list["items"].as_array().unwrap().iter().map(|item| text(item, "url")).collect::<Vec<_>>().join(" ")
    };
    for name in ["b", "a", "c"] {
        assert_eq!(discover_one(&mut world, name).status, 200, "{name}");
        world.pass(1000);
    }
    assert_eq!(names(&mut world), "https://a.test/ https://c.test/");
    // Whoever is sent to stays until the task is over; one that was discovered again is not the oldest any more.
    start(&mut world, "send", r#"{"agent_url":"https://c.test/","message":"dinner","wait":0}"#);
    assert_eq!(discover_one(&mut world, "a").status, 200);
    assert_eq!(discover_one(&mut world, "d").status, 200);
    assert_eq!(names(&mut world), "https://c.test/ https://d.test/");
    start(&mut world, "send", r#"{"agent_url":"https://d.test/","message":"dinner","wait":0}"#);
    world.fetches.clear();
    let full = discover_one(&mut world, "e");
    assert_eq!(fault(&full), (429, "limit_reached".into()));
    assert_eq!(names(&mut world), "https://c.test/ https://d.test/");
    // What was begun there ends with the process, and the order is kept.
    let mut world = super::restart::restarted(&world, config, Secrets::Keep);
    assert_eq!(discover_one(&mut world, "b").status, 200);
    assert_eq!(names(&mut world), "https://b.test/ https://d.test/");
}

#[test]
fn an_agent_may_have_to_wait_for_approval() {
    let mut world = World::new(r#"{"a2a":{"require_approval":true}}"#);
    let found = discover_as(&mut world, &[]);
    assert_eq!((found.status, text(&body(&found), "status")), (202, "pending".into()));
    let refused = send(&mut world, "");
    assert_eq!(fault(&world.done(refused)), (400, "not_approved".into()));
    assert_eq!(discover_as(&mut world, &[]).status, 202, "asking again is no approval");
    let place = "/api/a2a/agents/https%3A%2F%2Fagent.test%2F/approve";
    assert_eq!(fault(&post(&mut world, "/api/a2a/agents/https%3A%2F%2Fother.test/approve", "")), (404, "not_discovered".into()));
    for _ in 0..2 {
        assert_eq!(text(&body(&post(&mut world, place, "")), "status"), "trusted");
    }
    send(&mut world, "");
    assert_eq!(upstream(&mut world).method(), "SendStreamingMessage");
    assert_eq!(discover_as(&mut world, &[]).status, 200);
    let tokens = r#"[{"token":"alpha-token","principal":"a","may_approve":true},{"token":"beta-token-2","principal":"b"},{"token":"gamma-token","principal":"c","may_approve":true}]"#;
    let mut world = World::new(&format!(r#"{{"a2a":{{"require_approval":true}},"auth":{{"tokens":{tokens}}}}}"#));
    let [a, b, c] = ["alpha-token", "beta-token-2", "gamma-token"].map(|token| format!("Bearer {token}"));
    let [a, b, c] = [&a, &b, &c].map(|token| ("Authorization", token.as_str()));
    assert_eq!(discover_as(&mut world, &[a]).status, 202);
    for (who, status) in [(b, 403), (a, 403), (c, 200), (a, 200)] {
        let request = world.send("POST", place, &[who], "");
        assert_eq!(world.done(request).status, status, "{who:?}");
    }
}

#[test]
fn a_message_is_sent_and_its_task_awaited() {
    let mut world = World::new(r#"{"a2a":{}}"#);
    let refused = send(&mut world, "");
    assert_eq!(fault(&world.done(refused)), (400, "not_discovered".into()));
    let mut world = known(r#"{"a2a":{}}"#);
    let sent = send(&mut world, r#","session_id":"s-1""#);
    let up = upstream(&mut world);
    let message = &up.request["params"]["message"];
    assert_eq!((text(message, "parts.0.text"), text(message, "contextId")), ("dinner".into(), "s-1".into()));
    up.begin(&mut world);
    assert!(!ended(&world, sent));
    up.state(&mut world, "COMPLETED", "soup");
    up.end(&mut world);
    let task = body(&world.done(sent));
    assert_eq!((text(&task, "id"), text(&task, "status.state")), ("up-1".into(), "TASK_STATE_COMPLETED".into()));
    assert_eq!((text(&task, "history.0.taskId"), text(&task, "status.message.taskId")), ("up-1".into(), "up-1".into()));
    let status = body(&get(&mut world, "/api/a2a/tasks/up-1/status"));
    assert_eq!(status, task);
    assert!(world.fetches.is_empty(), "what is known here is asked of nobody");
    assert_eq!(at(&body(&get(&mut world, "/api/a2a/tasks")), "items").as_array().unwrap().len(), 0, "it is no task of ours");
    // An answer without a task is a completed task with an id of the gateway's.
    let sent = send(&mut world, "");
    let up = upstream(&mut world);
    up.head(&mut world, "text/event-stream");
    up.event(&mut world, r#"{"message":{"messageId":"u","role":"ROLE_AGENT","parts":[{"text":"no task"}]}}"#);
    up.end(&mut world);
    let task = body(&world.done(sent));
    assert_eq!(
        (text(&task, "status.state"), text(&task, "status.message.parts.0.text")),
        ("TASK_STATE_COMPLETED".into(), "no task".into())
    );
    let id = text(&task, "id");
    assert_eq!(body(&get(&mut world, &format!("/api/a2a/tasks/{id}/status"))), task);
}

#[test]
fn who_does_not_wait_gets_the_task_as_it_is() {
    let mut world = known(r#"{"a2a":{}}"#);
    let sent = send(&mut world, r#","wait":0"#);
    let task = body(&world.done(sent));
    let (id, at_once) = (text(&task, "id"), text(&task, "status.state"));
    assert!(!id.is_empty() && at_once == "TASK_STATE_SUBMITTED", "{task}");
    let up = upstream(&mut world);
    up.begin(&mut world);
    for known in [id.as_str(), "up-1"] {
        let status = body(&get(&mut world, &format!("/api/a2a/tasks/{known}/status")));
        assert_eq!((text(&status, "id"), text(&status, "status.state")), (known.into(), "TASK_STATE_WORKING".into()));
    }
    let sent = send(&mut world, r#","wait":1.5"#);
    upstream(&mut world);
    world.pass(1499);
    assert!(!ended(&world, sent));
    world.pass(1);
    assert_eq!(text(&body(&world.done(sent)), "status.state"), "TASK_STATE_SUBMITTED");
    let sent = send(&mut world, "");
    upstream(&mut world).begin(&mut world);
    world.pass(60_000);
    assert_eq!(text(&body(&world.done(sent)), "status.state"), "TASK_STATE_WORKING");
    let sent = send(&mut world, "");
    let up = upstream(&mut world);
    up.begin(&mut world);
    up.state(&mut world, "INPUT_REQUIRED", "which?");
    assert_eq!(text(&body(&world.done(sent)), "status.state"), "TASK_STATE_INPUT_REQUIRED", "it is the caller's turn");
    for wait in ["-1", "\"1\"", "3601", "true"] {
        let refused = send(&mut world, &format!(r#","wait":{wait}"#));
        assert_eq!(fault(&world.done(refused)), (400, "invalid_argument".into()), "{wait}");
    }
}

#[test]
fn what_an_agent_refuses_is_its_error() {
    let mut world = known(r#"{"a2a":{}}"#);
    let sent = send(&mut world, "");
    let (exchange, fetch) = world.fetches.pop().unwrap();
    let id = &value(fetch.body.as_ref().unwrap())["id"];
    let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32042,"message":"out of soup"}}}}"#);
    world.reply(exchange, "application/json", &error);
    let response = world.done(sent);
    assert_eq!(fault(&response), (502, "agent_error".into()));
    assert!(response.body.contains("out of soup"));
    let sent = send(&mut world, "");
    let (exchange, _) = world.fetches.pop().unwrap();
    world.input(Input::Failed { exchange, cause: Cause::Reset, detail: String::new() });
    assert_eq!(fault(&world.done(sent)), (502, "unreachable".into()));
}

#[test]
fn a_request_that_surely_was_not_taken_is_made_again_under_its_name() {
    let key = [("Idempotency-Key", "k-1")];
    let said = format!(r#"{{"agent_url":"{AGENT}","message":"dinner"}}"#);
    for (cause, is_again) in [(Cause::Refused, true), (Cause::Dns, true), (Cause::Reset, false)] {
        let mut world = known(r#"{"a2a":{}}"#);
        let first = start_as(&mut world, &key, "send", &said);
        while let Some((exchange, _)) = world.fetches.pop() {
            world.input(Input::Failed { exchange, cause, detail: String::new() });
        }
        assert_eq!(fault(&world.done(first)), (502, "unreachable".into()));
        let again = start_as(&mut world, &key, "send", &said);
        assert_eq!(!world.fetches.is_empty(), is_again, "{cause:?}");
        assert!(is_again || fault(&world.done(again)) == fault(&world.done(first)));
    }
    let mut world = known(r#"{"a2a":{}}"#);
    let first = start_as(&mut world, &key, "send", &said);
    while let Some((exchange, _)) = world.fetches.pop() {
        world.input(Input::Head { exchange, status: 429, headers: vec![("retry-after".into(), "7".into())] });
        world.input(Input::End { exchange });
    }
    assert_eq!(fault(&world.done(first)), (429, "rate_limited".into()));
    assert_eq!(world.done(first).header("retry-after"), Some("7"));
    world.pass(7000);
    start_as(&mut world, &key, "send", &said);
    assert!(!world.fetches.is_empty());
}

#[test]
fn a_task_that_was_sent_elsewhere_is_listed_with_its_state() {
    let mut world = known(r#"{"a2a":{}}"#);
    let sent = start(&mut world, "send", &format!(r#"{{"agent_url":"{AGENT}","message":"dinner","wait":0}}"#));
    let id = text(&body(&world.done(sent)), "id");
    let list = super::caller::result(&mut world, "ListTasks", "{}");
    assert_eq!((text(&list, "tasks.0.id"), at(&list, "totalSize").as_u64()), (id.clone(), Some(1)));
    assert_eq!(
        text(&list, "tasks.0.status.state"),
        text(&super::caller::result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state")
    );
    // Begun here is none.
    assert_eq!(body(&get(&mut world, "/api/a2a/tasks"))["items"].as_array().unwrap().len(), 0);
}

#[test]
fn a_task_is_told_under_one_id() {
    let mut world = known(r#"{"a2a":{}}"#);
    let key = [("Idempotency-Key", "k-1")];
    let said = format!(r#"{{"agent_url":"{AGENT}","message":"dinner","wait":0}}"#);
    let first = start_as(&mut world, &key, "send", &said);
    let up = upstream(&mut world);
    up.begin(&mut world);
    let again = start_as(&mut world, &key, "send", &said);
    let id = |request| text(&value(&world.done(request).body), "id");
    assert_eq!(id(first), id(again));
}

#[test]
fn a_request_of_one_name_is_made_once() {
    let mut world = known(r#"{"a2a":{}}"#);
    let key = [("Idempotency-Key", "k-1")];
    let said = format!(r#"{{"agent_url":"{AGENT}","message":"dinner"}}"#);
    let first = start_as(&mut world, &key, "send", &said);
    let up = upstream(&mut world);
    let again = start_as(&mut world, &key, "send", &said);
    assert!(world.fetches.is_empty(), "one message");
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "soup");
    up.end(&mut world);
    assert_eq!(body(&world.done(first)), body(&world.done(again)));
    world.pass(23 * 3_600_000);
    let late = start_as(&mut world, &key, "send", &said);
    assert_eq!(body(&world.done(late)), body(&world.done(first)));
    let other = start_as(&mut world, &key, "send", &said.replace("dinner", "lunch"));
    assert_eq!(fault(&world.done(other)), (422, "idempotency_conflict".into()));
    world.pass(2 * 3_600_000);
    discover_as(&mut world, &[]);
    start_as(&mut world, &key, "send", &said);
    assert_eq!(upstream(&mut world).method(), "SendStreamingMessage", "a day later it is another request");
}

#[test]
fn a_task_that_is_not_known_here_is_read_from_its_agent() {
    let mut world = known(r#"{"a2a":{}}"#);
    assert_eq!(fault(&get(&mut world, "/api/a2a/tasks/far/status")), (404, "task_not_found".into()));
    let other = get(&mut world, "/api/a2a/tasks/far/status?url=https%3A%2F%2Fother.test%2F");
    assert_eq!(fault(&other), (400, "not_discovered".into()));
    let place = "/api/a2a/tasks/far/status?url=https%3A%2F%2Fagent.test%2F";
    let request = world.send("GET", place, &[], "");
    let up = upstream(&mut world);
    assert_eq!((up.method(), text(&up.request, "params.id")), ("GetTask".into(), "far".into()));
    up.answer(&mut world, r#"{"id":"far","status":{"state":"TASK_STATE_WORKING"}}"#);
    assert_eq!(text(&body(&world.done(request)), "status.state"), "TASK_STATE_WORKING");
    let request = world.send("GET", place, &[], "");
    let up = upstream(&mut world);
    world.gone(request);
    assert_eq!(world.aborts, [up.exchange], "nobody wants the answer");
}

#[test]
fn tasks_are_begun_here_and_read() {
    let mut world = World::new(r#"{"a2a":{"responder":"echo"}}"#);
    let said =
        r#"{"id":"task-456","message":{"role":"user","parts":[{"type":"text","text":"Research AI trends"}]},"sessionId":"s"}"#;
    let made = post(&mut world, "/api/a2a/tasks", said);
    assert_eq!((made.status, made.header("location")), (202, Some("/api/a2a/tasks/task-456")));
    let task = body(&made);
    assert_eq!(
        (text(&task, "id"), text(&task, "contextId"), text(&task, "status.state")),
        ("task-456".into(), "s".into(), "TASK_STATE_COMPLETED".into())
    );
    assert_eq!(body(&get(&mut world, "/api/a2a/tasks/task-456")), task);
    assert_eq!(body(&get(&mut world, "/api/a2a/tasks/task-456/status")), task);
    let messages = body(&get(&mut world, "/api/a2a/tasks/task-456/messages"));
    assert_eq!(text(&messages, "items.0.parts.0.text"), "Research AI trends");
    assert_eq!(fault(&post(&mut world, "/api/a2a/tasks", said)), (409, "conflict".into()));
    assert_eq!(fault(&post(&mut world, "/api/a2a/tasks/task-456/cancel", "")), (409, "task_not_cancelable".into()));
    let other = said.replace(r#""id":"task-456","#, "").replace("type", "kind");
    let made = post(&mut world, "/api/a2a/tasks/", &other);
    let id = text(&body(&made), "id");
    assert_eq!(made.header("location"), Some(format!("/api/a2a/tasks/{id}").as_str()));
    // A2A and this API show the same tasks.
    let a2a = super::caller::result(&mut world, "GetTask", r#"{"id":"task-456"}"#);
    assert_eq!(a2a, task);
    let page = body(&get(&mut world, "/api/a2a/tasks?limit=1&state=completed"));
    let cursor = text(&page, "next_cursor");
    assert_eq!((page["items"].as_array().unwrap().len(), cursor.is_empty()), (1, false));
    let last = body(&get(&mut world, &format!("/api/a2a/tasks?limit=1&cursor={cursor}")));
    assert!(last.get("next_cursor").is_none() && text(&last, "items.0.id") != text(&page, "items.0.id"), "{last}");
    for query in ["limit=101", "state=asleep", "cursor=x"] {
        assert_eq!(get(&mut world, &format!("/api/a2a/tasks?{query}")).status, 400, "{query}");
    }
    for wrong in [
        r#"{"id":7,"message":"x"}"#,
        r#"{"message":{"role":"user","parts":[]}}"#,
        r#"{"message":{"role":"robot","parts":[{"text":"x"}]}}"#,
        r#"{"message":{"role":"user","parts":[{"type":"image","text":"x"}]}}"#,
        r#"{"message":{"role":"user","parts":[{"text":"x"},{"kind":"audio","data":{}}]}}"#,
        "{}",
    ] {
        assert_eq!(post(&mut world, "/api/a2a/tasks", wrong).status, 400, "{wrong}");
    }
    assert_eq!(fault(&get(&mut world, "/api/a2a/tasks/none")), (404, "task_not_found".into()));
    assert_eq!(fault(&get(&mut world, "/api/a2a/nothing")), (404, "not_found".into()));
    let wrong = world.send("DELETE", "/api/a2a/tasks", &[], "");
    assert_eq!(
        (fault(&world.done(wrong)), world.done(wrong).header("allow")),
        ((405, "unimplemented".into()), Some("GET, POST"))
    );
    let large = world.head("POST", "/api/a2a/tasks", &[("Content-Length", "1048577")]);
    assert_eq!(fault(&world.done(large)), (413, "resource_exhausted".into()));
}

#[test]
fn changes_are_told_as_they_come() {
    let mut world = function();
    let made = post(&mut world, "/api/a2a/tasks", r#"{"id":"t","message":"x"}"#);
    assert_eq!(text(&body(&made), "status.state"), "TASK_STATE_SUBMITTED");
    let (work, _) = world.works.pop().unwrap();
    let stream = world.send("GET", "/api/a2a/tasks/t/events", &[], "");
    state(&mut world, work, "WORKING");
    super::caller::chunk(&mut world, work, "soup", false);
    state(&mut world, work, "INPUT_REQUIRED");
    assert!(!ended(&world, stream), "a task that waits goes on");
    world.pass(15_000);
    assert!(world.body(stream).ends_with(": keep-alive\n\n"));
    super::caller::update(
        &mut world,
        work,
        r#"{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"w","role":"ROLE_AGENT","parts":[{"text":"done"}]}}}}"#,
    );
    assert!(world.done(stream).is_stream());
    let told = plain_events(&world, stream);
    let names: Vec<_> = told.iter().map(|(id, name, _)| (id.as_str(), name.as_str())).collect();
    assert_eq!(names, [("1", "task"), ("2", "status"), ("3", "artifact"), ("4", "status"), ("", "message"), ("5", "status")]);
    assert_eq!((text(&told[1].2, "taskId"), text(&told[1].2, "status.state")), ("t".into(), "TASK_STATE_WORKING".into()));
    assert_eq!(text(&told[2].2, "artifact.parts.0.text"), "soup");
    assert_eq!(text(&told[4].2, "parts.0.text"), "done");
    // Who saw the last change is told to come back no more; who did not gets the task.
    let again = world.send("GET", "/api/a2a/tasks/t/events", &[("Last-Event-ID", "5")], "");
    assert_eq!((world.done(again).status, world.body(again)), (204, ""));
    for seen in ["4", "x", ""] {
        let again = world.send("GET", "/api/a2a/tasks/t/events", &[("Last-Event-ID", seen)], "");
        let told = plain_events(&world, again);
        assert_eq!((told.len(), told[0].1.as_str(), ended(&world, again)), (1, "task", true), "{seen}");
        assert_eq!(text(&told[0].2, "status.state"), "TASK_STATE_COMPLETED");
    }
}

#[test]
fn whoever_comes_back_misses_nothing_and_hears_nothing_twice() {
    let mut world = function();
    post(&mut world, "/api/a2a/tasks", r#"{"id":"t","message":"x"}"#);
    let (work, _) = world.works.pop().unwrap();
    state(&mut world, work, "WORKING");
    let stream = world.send("GET", "/api/a2a/tasks/t/events", &[("Last-Event-ID", "2")], "");
    assert_eq!(world.body(stream), "", "the last change was seen");
    let cancel = post(&mut world, "/api/a2a/tasks/t/cancel", "");
    assert_eq!((cancel.status, text(&body(&cancel), "status.state")), (200, "TASK_STATE_CANCELED".into()));
    let told = plain_events(&world, stream);
    assert_eq!((told.len(), told[0].0.as_str(), told[0].1.as_str(), ended(&world, stream)), (1, "3", "status", true));
    assert_eq!(world.work_aborts, [work]);
    assert_eq!(post(&mut world, "/api/a2a/tasks/t/cancel", "").status, 409);
}

#[test]
fn a_conversation_goes_on_over_the_api() {
    let mut world = known(r#"{"a2a":{}}"#);
    let sent = send(&mut world, "");
    let up = upstream(&mut world);
    up.begin(&mut world);
    up.state(&mut world, "INPUT_REQUIRED", "which?");
    assert_eq!(world.done(sent).status, 200);
    let more = format!(r#"{{"url":"{AGENT}","message":{{"taskId":"up-1","parts":[{{"text":"blue"}}]}}}}"#);
    let key = [("Idempotency-Key", "k-2")];
    let sent = start_as(&mut world, &key, "send", &more);
    start_as(&mut world, &key, "send", &more);
    let up = upstream(&mut world);
    assert!(world.fetches.is_empty(), "an answer is given once too");
    let message = &up.request["params"]["message"];
    assert_eq!(
        (text(message, "taskId"), text(message, "contextId"), text(message, "parts.0.text")),
        ("up-1".into(), "up-c".into(), "blue".into())
    );
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "painted");
    up.end(&mut world);
    assert_eq!(text(&body(&world.done(sent)), "status.state"), "TASK_STATE_COMPLETED");
    let messages = body(&get(&mut world, "/api/a2a/tasks/up-1/messages"));
    let said: Vec<_> = messages["items"].as_array().unwrap().iter().map(|message| text(message, "parts.0.text")).collect();
    assert_eq!(said, ["dinner", "which?", "blue", "painted"]);
}

#[test]
fn principals_share_nothing() {
    let tokens = r#"[{"token":"alpha-token","principal":"a"},{"token":"beta-token-2","principal":"b"}]"#;
    let mut world = World::new(&format!(r#"{{"a2a":{{"responder":"echo"}},"auth":{{"tokens":{tokens}}}}}"#));
    let (a, b) = (("Authorization", "Bearer alpha-token"), ("Authorization", "Bearer beta-token-2"));
    let request = world.send("GET", "/api/a2a/agents", &[], "");
    let refused = world.done(request);
    assert_eq!((fault(&refused), refused.header("www-authenticate")), ((401, "unauthenticated".into()), Some("Bearer")));
    discover_as(&mut world, &[a]);
    for who in [a, b] {
        let request = start_as(&mut world, &[who], "tasks", r#"{"id":"mine","message":"x"}"#);
        assert_eq!(world.done(request).status, 202, "an id of another is free");
    }
    for (who, total) in [(a, 1), (b, 0)] {
        let request = world.send("GET", "/api/a2a/agents", &[who], "");
        assert_eq!(at(&body(&world.done(request)), "total").as_u64(), Some(total));
    }
    let request = start_as(&mut world, &[b], "send", &format!(r#"{{"agent_url":"{AGENT}","message":"x"}}"#));
    assert_eq!(fault(&world.done(request)).1, "not_discovered");
}

#[test]
fn a_credential_that_an_agent_echoes_is_told_to_nobody() {
    let config = r#"{"external_agents":[{"name":"bistro","url":"https://agent.test/","headers":{"Authorization":"Bearer secret-token-1"}}],"a2a":{}}"#;
    let mut world = World::new(config);
    let sent = send(&mut world, "");
    while let Some(at) = world.fetches.iter().position(|(_, fetch)| fetch.url.ends_with("agent-card.json")) {
        let (exchange, _) = world.fetches.remove(at);
        world.reply(exchange, "application/json", CARD);
    }
    let (exchange, fetch) = world.fetches.pop().expect("a configured agent needs no discovery");
    assert!(fetch.headers.contains(&("Authorization".into(), "Bearer secret-token-1".into())));
    let up = Upstream { exchange, request: value(fetch.body.as_ref().unwrap()) };
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "you said secret-token-1");
    up.end(&mut world);
    let told = world.done(sent).body;
    assert!(told.contains("you said [redacted]") && !told.contains("secret-token-1"), "{told}");
    let request = world.send("GET", "/api/a2a/tasks/far/status?url=https%3A%2F%2Fagent.test%2F", &[], "");
    upstream(&mut world)
        .answer(&mut world, r#"{"id":"far","status":{"state":"TASK_STATE_WORKING"},"metadata":{"k":"secret-token-1"}}"#);
    assert!(!world.done(request).body.contains("secret-token-1"));
}

/// Sends to an agent whose task is called `1` and waits for more; the id that the caller is told.
fn numbered(world: &mut World, url: &str) -> String {
    let request = start(world, "send", &format!(r#"{{"agent_url":"{url}","message":"hi"}}"#));
    let up = upstream(world);
    up.head(world, "text/event-stream");
    up.event(world, r#"{"task":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    text(&body(&world.done(request)), "id")
}

#[test]
fn agents_may_number_their_tasks_alike() {
    const OTHER: &str = "https://other.test/";
    let mut world = known(r#"{"a2a":{"responder":"inbox"}}"#);
    let request = start(&mut world, "discover", &format!(r#"{{"url":"{OTHER}"}}"#));
    let (exchange, _) = world.fetches.pop().unwrap();
    world.reply(exchange, "application/json", &CARD.replace("agent.test", "other.test"));
    assert_eq!(world.done(request).status, 200);
    let (one, other) = (numbered(&mut world, AGENT), numbered(&mut world, OTHER));
    assert!(one == "1" && other != "1", "{other}");
    let taken = post(&mut world, "/api/a2a/tasks", r#"{"id":"1","message":"mine"}"#);
    assert_eq!(taken.status, 409, "{taken:?}");
    for (url, id, shown) in [(AGENT, "1", "1"), (OTHER, "1", "1"), (OTHER, other.as_str(), other.as_str())] {
        let request = start(
            &mut world,
            "send",
            &format!(
                r#"{{"agent_url":"{url}","message":{{"role":"user","messageId":"m","taskId":"{id}","parts":[{{"text":"for you"}}]}}}}"#
            ),
        );
        let (exchange, fetch) = world.fetches.pop().expect("it is asked");
        assert!(fetch.url.starts_with(url), "{url}: {}", fetch.url);
        let up = Upstream { exchange, request: value(fetch.body.as_ref().unwrap()) };
        assert_eq!(text(&up.request, "params.message.taskId"), "1");
        up.head(&mut world, "text/event-stream");
        up.event(&mut world, r#"{"statusUpdate":{"taskId":"1","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
        assert_eq!(world.done(request).status, 200);
        let place = format!("/api/a2a/tasks/{id}/status?url={}", url.replace("://", "%3A%2F%2F"));
        assert_eq!(text(&body(&get(&mut world, &place)), "id"), shown);
    }
    let mine = post(&mut world, "/api/a2a/tasks", r#"{"id":"9","message":"mine"}"#);
    assert_eq!(mine.status, 202);
    let astray =
        format!(r#"{{"agent_url":"{AGENT}","message":{{"role":"user","messageId":"m","taskId":"9","parts":[{{"text":"x"}}]}}}}"#);
    let request = start(&mut world, "send", &astray);
    assert_eq!((fault(&world.done(request)), world.fetches.len()), ((404, "task_not_found".into()), 0));
    assert_eq!(post(&mut world, "/api/a2a/tasks/1/cancel", "").status, 200);
    let (_, fetch) = world.fetches.pop().expect("it is canceled");
    assert!(fetch.url.starts_with(AGENT));
    let state = |world: &mut World, id: &str| text(&body(&get(world, &format!("/api/a2a/tasks/{id}"))), "status.state");
    assert_eq!([state(&mut world, "1"), state(&mut world, &other)], ["TASK_STATE_CANCELED", "TASK_STATE_INPUT_REQUIRED"]);
}

#[test]
fn a_further_message_that_does_not_get_through_is_told() {
    let mut world =
        known(r#"{"external_agents":[{"name":"other","url":"https://other.test/"}],"a2a":{},"rate_limit":{"rps":1,"burst":1}}"#);
    let (exchange, _) = world.fetches.pop().expect("the card of an alias is read");
    world.reply(exchange, "application/json", &CARD.replace("agent.test", "other.test"));
    let more = |url: &str| {
        format!(r#"{{"agent_url":"{url}","message":{{"role":"user","messageId":"m","taskId":"1","parts":[{{"text":"x"}}]}}}}"#)
    };
    assert_eq!(numbered(&mut world, AGENT), "1");
    let waiting = start(&mut world, "send", &more(AGENT));
    for _ in 0..2 {
        let exchange = upstream(&mut world).exchange;
        world.input(Input::Failed { exchange, cause: Cause::Refused, detail: String::new() });
    }
    assert_eq!(fault(&world.done(waiting)), (502, "unreachable".into()));
    let task = body(&get(&mut world, "/api/a2a/tasks/1"));
    assert_eq!(text(&task, "status.state"), "TASK_STATE_INPUT_REQUIRED");
    let again = start(&mut world, "send", &more(AGENT));
    assert_eq!(text(&upstream(&mut world).request, "params.message.taskId"), "1");
    assert!(!world.responses.contains_key(&again), "it is on its way");
    // An alias has a rate.
    let request = start(&mut world, "send", r#"{"agent_url":"https://other.test/","message":"hi"}"#);
    let up = upstream(&mut world);
    up.head(&mut world, "text/event-stream");
    up.event(&mut world, r#"{"task":{"id":"7","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    assert_eq!(world.done(request).status, 200);
    let refused = start(&mut world, "send", &more("https://other.test/").replace(r#""taskId":"1""#, r#""taskId":"7""#));
    assert_eq!(fault(&world.done(refused)), (429, "rate_limited".into()));
    let task = body(&get(&mut world, "/api/a2a/tasks/7"));
    assert_eq!(text(&task, "status.state"), "TASK_STATE_INPUT_REQUIRED");
}

#[test]
fn a_request_with_a_name_is_remembered_longer_than_others() {
    let mut world = known(r#"{"a2a":{},"limits":{"tasks_per_principal":3}}"#);
    let mut made = |key: Option<&str>| {
        let fields: Vec<_> = key.map(|key| ("Idempotency-Key", key)).into_iter().collect();
        let request = start_as(&mut world, &fields, "send", &format!(r#"{{"agent_url":"{AGENT}","message":"pay"}}"#));
        let asked = world.fetches.len();
        if asked > 0 {
            let up = upstream(&mut world);
            up.answer(&mut world, r#"{"task":{"id":"up","status":{"state":"TASK_STATE_COMPLETED"}}}"#);
        }
        assert_eq!(world.done(request).status, 200);
        asked
    };
    assert_eq!([made(Some("k")), made(Some("k"))], [1, 0]);
    for _ in 0..5 {
        assert_eq!(made(None), 1);
    }
    assert_eq!(made(Some("k")), 0, "it was made once");
}
