//! Tasks that are passed on to another agent and come back through the gateway.

use narrows::io::{Cause, ExchangeId, Input, Request};
use serde_json::Value;

use super::caller::{answer_of, at, call, code, ended, events, kinds, message, reply, result, send_params, text, value};
use super::world::World;

pub(super) const CONFIG: &str = r#"{"external_agents":[{"name":"bistro","url":"https://agent.test/","headers":{"Authorization":"Bearer secret-token-1"}}],"a2a":{"responder":"relay:bistro"}}"#;
pub(super) const CARD: &str = r#"{"name":"B","version":"1","supportedInterfaces":[{"url":"https://agent.test/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"skills":[{"id":"cook","name":"Cook","tags":[]}]}"#;

pub(super) fn world() -> World {
    World::new(CONFIG)
}

/// Gives the agent's card to whoever asks for it.
pub(super) fn give_cards(world: &mut World) {
    let (cards, others): (Vec<_>, Vec<_>) =
        world.fetches.drain(..).partition(|(_, fetch)| fetch.url.ends_with("agent-card.json"));
    world.fetches = others;
    for (exchange, _) in cards {
        world.reply(exchange, "application/json", CARD);
    }
}

pub(super) struct Upstream {
    pub(super) exchange: ExchangeId,
    pub(super) request: Value,
}

/// What the agent is asked, its card aside.
pub(super) fn asked(world: &mut World) -> Upstream {
    give_cards(world);
    let (exchange, fetch) = world.fetches.pop().expect("the agent is asked");
    assert_eq!(header(&fetch, "Authorization"), "Bearer secret-token-1");
    Upstream { exchange, request: value(fetch.body.as_ref().unwrap()) }
}

/// A task that the agent works on: its id, the stream of its caller, and what the agent was asked.
pub(super) fn working(world: &mut World, words: &str) -> (String, u64, Upstream) {
    let stream = call(world, "SendStreamingMessage", &send_params(words));
    let up = asked(world);
    up.begin(world);
    (text(&events(world, stream)[0], "task.id"), stream, up)
}

fn header<'r>(request: &'r Request, name: &str) -> &'r str {
    request.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

impl Upstream {
    pub(super) fn method(&self) -> String {
        text(&self.request, "method")
    }

    pub(super) fn head(&self, world: &mut World, kind: &str) {
        let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
        world.input(Input::Head { exchange: self.exchange, status: 200, headers });
    }

    pub(super) fn event(&self, world: &mut World, result: &str) {
        let text = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n\n", self.request["id"]);
        world.input(Input::Body { exchange: self.exchange, bytes: text.into() });
    }

    pub(super) fn state(&self, world: &mut World, state: &str, words: &str) {
        let message = format!(
            r#"{{"messageId":"u","role":"ROLE_AGENT","parts":[{{"text":"{words}"}}],"taskId":"up-1","contextId":"up-c"}}"#
        );
        let status = format!(r#"{{"state":"TASK_STATE_{state}","message":{message}}}"#);
        self.event(world, &format!(r#"{{"statusUpdate":{{"taskId":"up-1","contextId":"up-c","status":{status}}}}}"#));
    }

    pub(super) fn begin(&self, world: &mut World) {
        self.head(world, "text/event-stream");
        self.event(world, r#"{"task":{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_WORKING"}}}"#);
    }

    pub(super) fn end(&self, world: &mut World) {
        world.input(Input::End { exchange: self.exchange });
    }

    pub(super) fn answer(&self, world: &mut World, result: &str) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.request["id"]);
        world.reply(self.exchange, "application/json", &body);
    }
}

pub(super) const CHUNK: &str =
    r#"{"artifactUpdate":{"taskId":"up-1","contextId":"up-c","artifact":{"artifactId":"a","parts":[{"text":"soup"}]}}}"#;

#[test]
fn a_stream_passes_through() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("dinner"));
    let up = asked(&mut world);
    assert_eq!((up.method(), text(&up.request, "params.message.parts.0.text")), ("SendStreamingMessage".into(), "dinner".into()));
    assert_eq!(at(&up.request, "params.metadata.narrows_hops").as_u64(), Some(1));
    assert!(up.request["params"]["message"].get("taskId").is_none());
    up.begin(&mut world);
    up.event(&mut world, CHUNK);
    up.state(&mut world, "COMPLETED", "done");
    up.end(&mut world);
    assert_eq!(kinds(&world, stream), ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]);
    assert!(ended(&world, stream));
    let task = events(&world, stream)[0]["task"].clone();
    assert_eq!(text(&task, "contextId"), "up-c", "a conversation keeps its name");
    let last = events(&world, stream)[3]["statusUpdate"].clone();
    assert_eq!(text(&last, "taskId"), text(&task, "id"));
    assert_eq!(
        (text(&last, "status.message.taskId"), text(&last, "status.message.parts.0.text")),
        (text(&task, "id"), "done".into())
    );
}

#[test]
fn a_blocking_send_gets_the_whole_task() {
    let mut world = world();
    let blocking =
        call(&mut world, "message/send", r#"{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}"#);
    let up = asked(&mut world);
    up.begin(&mut world);
    up.event(&mut world, CHUNK);
    up.state(&mut world, "COMPLETED", "done");
    assert!(!ended(&world, blocking), "what belongs to the end may still come");
    up.end(&mut world);
    let task = answer_of(&world, blocking)["result"].clone();
    assert_eq!((text(&task, "status.state"), text(&task, "artifacts.0.parts.0.text")), ("completed".into(), "soup".into()));
}

#[test]
fn a_message_alone_passes_through() {
    let mut world = world();
    let blocking = call(&mut world, "SendMessage", &send_params("x"));
    let up = asked(&mut world);
    up.head(&mut world, "text/event-stream");
    up.event(&mut world, r#"{"message":{"messageId":"u","contextId":"up-c","role":"ROLE_AGENT","parts":[{"text":"no task"}]}}"#);
    up.end(&mut world);
    let message = answer_of(&world, blocking)["result"]["message"].clone();
    assert_eq!((text(&message, "parts.0.text"), text(&message, "contextId")), ("no task".into(), "up-c".into()));
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(0));
}

#[test]
fn input_is_asked_for_and_passed_on() {
    let mut world = world();
    let blocking = call(&mut world, "SendMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.state(&mut world, "INPUT_REQUIRED", "which?");
    let task = answer_of(&world, blocking)["result"]["task"].clone();
    assert_eq!(
        (text(&task, "status.state"), text(&task, "status.message.parts.0.text")),
        ("TASK_STATE_INPUT_REQUIRED".into(), "which?".into())
    );
    let stream = call(&mut world, "SendStreamingMessage", &format!(r#"{{"message":{}}}"#, reply(&text(&task, "id"), "blue")));
    let up = asked(&mut world);
    let sent = &up.request["params"]["message"];
    assert_eq!(
        (text(sent, "taskId"), text(sent, "contextId"), text(sent, "parts.0.text")),
        ("up-1".into(), "up-c".into(), "blue".into())
    );
    up.head(&mut world, "text/event-stream");
    up.event(&mut world, r#"{"task":{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    assert!(!ended(&world, stream), "the task as it stood before the answer");
    up.state(&mut world, "COMPLETED", "painted");
    up.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
}

#[test]
fn a_login_passes_through_and_the_task_goes_on() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.state(&mut world, "AUTH_REQUIRED", "log in");
    assert!(!ended(&world, stream));
    up.state(&mut world, "WORKING", "thanks");
    up.state(&mut world, "COMPLETED", "done");
    up.end(&mut world);
    assert_eq!(
        kinds(&world, stream),
        [
            "task submitted",
            "statusUpdate working",
            "statusUpdate auth_required",
            "statusUpdate working",
            "statusUpdate completed"
        ]
    );
}

#[test]
fn the_first_end_that_an_agent_tells_is_the_end() {
    let failed = r#"{"task":{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_FAILED"}}}"#;
    for later in [&["WORKING", "FAILED"][..], &["FAILED"], &["CANCELED", "REJECTED"], &[]] {
        let mut world = world();
        let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
        let up = asked(&mut world);
        up.begin(&mut world);
        up.state(&mut world, "COMPLETED", "done");
        later.iter().for_each(|state| up.state(&mut world, state, "no"));
        if later.is_empty() {
            up.event(&mut world, failed);
        }
        up.end(&mut world);
        let last = events(&world, stream).pop().unwrap();
        assert_eq!(text(&last, "statusUpdate.status.state"), "TASK_STATE_COMPLETED", "{later:?}");
        assert_eq!(text(&last, "statusUpdate.status.message.parts.0.text"), "done", "{later:?}");
    }
}

#[test]
fn a_cancellation_reaches_the_agent() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    let id = text(&events(&world, stream)[0], "task.id");
    assert_eq!(text(&result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state"), "TASK_STATE_CANCELED");
    assert_eq!(world.aborts, [up.exchange]);
    let cancel = asked(&mut world);
    assert_eq!((cancel.method(), text(&cancel.request, "params.id")), ("CancelTask".into(), "up-1".into()));
    cancel.answer(&mut world, r#"{"id":"up-1","status":{"state":"TASK_STATE_COMPLETED"}}"#);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate canceled", "the first end counts");
    assert_eq!(text(&result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state"), "TASK_STATE_CANCELED");
}

#[test]
fn an_agent_that_cannot_be_reached_fails_the_task() {
    let mut world = world();
    let blocking = call(&mut world, "SendMessage", &send_params("x"));
    let up = asked(&mut world);
    world.input(Input::Failed { exchange: up.exchange, cause: Cause::Reset, detail: "gone".into() });
    let task = answer_of(&world, blocking)["result"]["task"].clone();
    assert_eq!(text(&task, "status.state"), "TASK_STATE_FAILED");
    assert!(text(&task, "status.message.parts.0.text").contains("bistro"), "{task}");
}

#[test]
fn a_stream_that_breaks_is_taken_up_again() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.event(&mut world, CHUNK);
    up.end(&mut world);
    let read = asked(&mut world);
    assert_eq!(read.method(), "GetTask");
    read.answer(&mut world, r#"{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"soup"}]}]}"#);
    assert_eq!(kinds(&world, stream), ["task submitted", "statusUpdate working", "artifactUpdate", "statusUpdate completed"]);
}

#[test]
fn a_task_whose_agent_stays_away_fails_with_a_reason() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    world.input(Input::Failed { exchange: up.exchange, cause: Cause::Reset, detail: String::new() });
    let began = world.now;
    while !ended(&world, stream) {
        match world.fetches.pop() {
            Some((exchange, _)) => {
                world.input(Input::Failed { exchange, cause: Cause::Refused, detail: "connection refused".into() });
            }
            None => {
                let at = world.gateway.poll_timeout().expect("it is tried again").at.as_ms();
                world.pass(at - world.now);
            }
        }
        assert!(world.now - began < 600_000, "ten minutes are enough");
    }
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate failed");
    let last = events(&world, stream).pop().unwrap();
    assert!(text(&last, "statusUpdate.status.message.parts.0.text").contains("refused"), "{last}");
    assert!(world.now - began > 120_000, "an agent may be started again in between");
}

#[test]
fn hops_are_counted_and_bounded() {
    let mut world = world();
    let send = |hops: u32| format!(r#"{{"message":{},"metadata":{{"narrows_hops":{hops},"k":1e2}}}}"#, message("x"));
    call(&mut world, "SendMessage", &send(8));
    let up = asked(&mut world);
    assert_eq!(up.request["params"]["metadata"].to_string(), r#"{"k":100.0,"narrows_hops":9}"#);
    for hops in ["9", "\"9\"", "\" 12 \"", "1e30", "99999999999999999999"] {
        let send = format!(r#"{{"message":{},"metadata":{{"narrows_hops":{hops}}}}}"#, message("x"));
        let rejected = result(&mut world, "SendMessage", &send);
        assert_eq!(text(&rejected, "task.status.state"), "TASK_STATE_REJECTED", "{hops}");
    }
    let inner = send(0).replace(r#""messageId""#, r#""metadata":{"narrows_hops":9},"messageId""#);
    assert_eq!(text(&result(&mut world, "SendMessage", &inner), "task.status.state"), "TASK_STATE_REJECTED");
    give_cards(&mut world);
    assert!(world.fetches.is_empty(), "it goes no further");
    for hops in ["0", "-9", "\"x\"", "{}"] {
        call(&mut world, "SendMessage", &format!(r#"{{"message":{},"metadata":{{"narrows_hops":{hops}}}}}"#, message("x")));
        assert_eq!(at(&asked(&mut world).request, "params.metadata.narrows_hops").as_u64(), Some(1), "{hops}");
    }
}

#[test]
fn a_follow_up_that_passed_too_many_gateways_leaves_its_task_alone() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    let id = text(&events(&world, stream)[0], "task.id");
    let more = format!(r#"{{"message":{},"metadata":{{"narrows_hops":9}}}}"#, reply(&id, "more"));
    assert_eq!(code(&mut world, "SendMessage", &more), -32004);
    assert!(!ended(&world, stream) && world.aborts.is_empty());
    up.state(&mut world, "COMPLETED", "done");
    up.end(&mut world);
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate completed");
}

#[test]
fn a_task_that_is_canceled_before_it_has_a_name_is_canceled_when_it_has_one() {
    let mut world = world();
    let stream = call(&mut world, "SendMessage", &immediate("x"));
    let id = text(&answer_of(&world, stream), "result.task.id");
    let up = asked(&mut world);
    let cancel = format!(r#"{{"id":"{id}"}}"#);
    assert_eq!(text(&result(&mut world, "CancelTask", &cancel), "status.state"), "TASK_STATE_CANCELED");
    assert!(world.aborts.is_empty() && world.fetches.is_empty(), "nobody could tell the agent which task");
    up.begin(&mut world);
    assert_eq!(world.aborts, [up.exchange]);
    let told = asked(&mut world);
    assert_eq!((told.method(), text(&told.request, "params.id")), ("CancelTask".into(), "up-1".into()));
    told.answer(&mut world, r#"{"id":"up-1","status":{"state":"TASK_STATE_CANCELED"}}"#);
    assert!(world.fetches.is_empty(), "once");
    assert_eq!(text(&result(&mut world, "GetTask", &cancel), "status.state"), "TASK_STATE_CANCELED");
}

#[test]
fn a_task_that_never_gets_a_name_is_not_awaited_for_ever() {
    let mut world = world();
    let sent = call(&mut world, "SendMessage", &immediate("x"));
    let id = text(&answer_of(&world, sent), "result.task.id");
    let up = asked(&mut world);
    result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    world.pass(300_000);
    assert_eq!(world.aborts, [up.exchange]);
    assert!(world.fetches.is_empty());
    // What was not sent yet is not sent at all.
    let mut world = self::world();
    let sent = call(&mut world, "SendMessage", &immediate("x"));
    let id = text(&answer_of(&world, sent), "result.task.id");
    let card = world.fetches.len();
    result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    assert!(card > 0);
    give_cards(&mut world);
    assert!(world.fetches.is_empty(), "{:?}", world.fetches);
}

#[test]
fn an_agent_that_ended_its_task_is_told_of_no_end() {
    for answer in [
        r#"{"task":{"id":"up-1","status":{"state":"TASK_STATE_COMPLETED"}}}"#,
        r#"{"message":{"messageId":"u","role":"ROLE_AGENT","parts":[{"text":"no task"}]}}"#,
    ] {
        let mut world = world();
        let sent = call(&mut world, "SendMessage", &immediate("x"));
        let id = text(&answer_of(&world, sent), "result.task.id");
        let up = asked(&mut world);
        result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
        up.answer(&mut world, answer);
        assert!(world.fetches.is_empty(), "{answer}");
    }
    // One that waits for more is.
    let mut world = world();
    let sent = call(&mut world, "SendMessage", &immediate("x"));
    let id = text(&answer_of(&world, sent), "result.task.id");
    let up = asked(&mut world);
    result(&mut world, "CancelTask", &format!(r#"{{"id":"{id}"}}"#));
    up.answer(&mut world, r#"{"task":{"id":"up-1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#);
    assert_eq!(asked(&mut world).method(), "CancelTask");
    assert!(world.fetches.is_empty(), "once");
}

#[test]
fn a_task_that_ends_here_for_any_reason_is_canceled_there() {
    let config = CONFIG.replacen('{', r#"{"limits":{"artifact_bytes":1000},"#, 1);
    let mut world = World::new(&config);
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.event(&mut world, &CHUNK.replace("soup", &"y".repeat(2000)));
    assert_eq!(kinds(&world, stream).last().unwrap(), "statusUpdate failed");
    assert_eq!(asked(&mut world).method(), "CancelTask");
}

#[test]
fn messages_for_a_task_without_a_name_wait_until_it_has_one() {
    let mut world = world();
    let sent = call(&mut world, "SendMessage", &immediate("one"));
    let id = text(&answer_of(&world, sent), "result.task.id");
    let first = asked(&mut world);
    for words in ["two", "three"] {
        result(&mut world, "SendMessage", &immediately(&reply(&id, words)));
    }
    assert!(world.aborts.is_empty() && world.fetches.is_empty(), "the agent has one message and one task");
    first.begin(&mut world);
    for words in ["two", "three"] {
        let next = asked(&mut world);
        let message = &next.request["params"]["message"];
        assert_eq!((text(message, "parts.0.text"), text(message, "taskId")), (words.into(), "up-1".into()));
        assert!(world.fetches.is_empty(), "one after the other");
        next.begin(&mut world);
    }
    assert_eq!(text(&result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state"), "TASK_STATE_WORKING");
}

#[test]
fn a_message_that_comes_too_late_leaves_the_task_its_end() {
    let mut world = world();
    let sent = call(&mut world, "SendMessage", &immediate("one"));
    let id = text(&answer_of(&world, sent), "result.task.id");
    asked(&mut world).begin(&mut world);
    result(&mut world, "SendMessage", &immediately(&reply(&id, "two")));
    let next = asked(&mut world);
    let error = r#"{"code":-32004,"message":"task up-1 is in a terminal state"}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, next.request["id"]);
    world.reply(next.exchange, "application/json", &body);
    let read = asked(&mut world);
    assert_eq!((read.method(), text(&read.request, "params.id")), ("GetTask".into(), "up-1".into()));
    read.answer(&mut world, r#"{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_COMPLETED"}}"#);
    assert_eq!(text(&result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#)), "status.state"), "TASK_STATE_COMPLETED");
}

pub(super) fn immediately(message: &str) -> String {
    format!(r#"{{"message":{message},"configuration":{{"returnImmediately":true}}}}"#)
}

fn immediate(words: &str) -> String {
    immediately(&message(words))
}

#[test]
fn the_rate_of_the_agent_holds() {
    let config = CONFIG.replacen('{', r#"{"rate_limit":{"rps":1,"burst":1},"#, 1);
    let mut world = World::new(&config);
    call(&mut world, "SendMessage", &send_params("x"));
    let refused = result(&mut world, "SendMessage", &send_params("x"));
    assert_eq!(text(&refused, "task.status.state"), "TASK_STATE_FAILED");
    assert!(text(&refused, "task.status.message.parts.0.text").contains("retry after"), "{refused}");
}

#[test]
fn an_echoed_credential_is_told_to_nobody() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "your token is secret-token-1");
    up.end(&mut world);
    assert!(
        world.body(stream).contains("[redacted]") && !world.body(stream).contains("secret-token-1"),
        "{}",
        world.body(stream)
    );
}

#[test]
fn a_credential_that_is_streamed_in_pieces_is_told_to_nobody() {
    let mut world = world();
    let stream = call(&mut world, "SendStreamingMessage", &send_params("x"));
    let up = asked(&mut world);
    up.begin(&mut world);
    up.event(&mut world, &CHUNK.replace("soup", "it is secret-to"));
    up.event(&mut world, &CHUNK.replace("soup", "ken-1 ok").replace(r#""artifact":"#, r#""append":true,"artifact":"#));
    up.state(&mut world, "COMPLETED", "done");
    up.end(&mut world);
    let body = world.body(stream);
    assert!(body.contains("it is [redacted]") && body.contains("[redacted] ok"), "{body}");
    assert!(!body.contains("secret-to") && !body.contains("ken-1"), "{body}");
    let task = events(&world, stream)[0]["task"].clone();
    let task = result(&mut world, "GetTask", &format!(r#"{{"id":"{}"}}"#, text(&task, "id"))).to_string();
    assert!(task.contains("it is [redacted]") && !task.contains("secret-to") && !task.contains("ken-1"), "{task}");
}

#[test]
fn one_skill_may_be_relayed_and_another_not() {
    let config = CONFIG.replace(
        r#""a2a":{"responder":"relay:bistro"}"#,
        r#""a2a":{"responder":"echo","skills":[{"id":"cook","name":"Cook","responder":"relay:bistro"}]}"#,
    );
    let mut world = World::new(&config);
    assert_eq!(text(&result(&mut world, "SendMessage", &send_params("x")), "task.status.state"), "TASK_STATE_COMPLETED");
    call(&mut world, "SendMessage", &format!(r#"{{"message":{},"metadata":{{"skill":"cook"}}}}"#, message("x")));
    assert_eq!(asked(&mut world).method(), "SendStreamingMessage");
}

#[test]
fn a_conversation_goes_on_at_the_agent() {
    let mut world = world();
    let send = |context: &str| {
        format!(r#"{{"message":{{"messageId":"m","contextId":"{context}","role":"ROLE_USER","parts":[{{"text":"x"}}]}}}}"#)
    };
    let stream = call(&mut world, "SendStreamingMessage", &send("mine"));
    let up = asked(&mut world);
    assert_eq!(text(&up.request, "params.message.contextId"), "mine");
    up.begin(&mut world);
    up.state(&mut world, "COMPLETED", "done");
    up.end(&mut world);
    assert_eq!(text(&events(&world, stream)[0], "task.contextId"), "mine", "a caller's own name stays");
    call(&mut world, "SendStreamingMessage", &send("mine"));
    assert_eq!(text(&asked(&mut world).request, "params.message.contextId"), "up-c");
}
