//! Served tasks over a restart.

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{Input, Output, Save, WorkId};
use narrows::time::Instant;

use super::caller::{at, begin, call, chunk, kinds, result, send_params, state, text};
use super::relay;
use super::world::{World, genesis};

/// The same gateway in a new process.
pub(super) fn restarted(world: &World, config: &str, secrets: Secrets) -> World {
    let pieces = world.gateway.snapshot(secrets);
    let config = Config { storage: true, ..Config::from_json(config).unwrap() };
    let gateway = Gateway::restore(genesis(world.now), config.clone(), &pieces).unwrap();
    let mut restored = World::with(gateway, config);
    restored.now = world.now;
    restored.drain();
    restored
}

#[test]
fn finished_tasks_are_kept_and_those_of_functions_fail() {
    let config = r#"{"a2a":{"responder":"function"}}"#;
    let mut world = World::new(config);
    let (done, done_id) = begin(&mut world, "done");
    chunk(&mut world, done, "soup", false);
    state(&mut world, done, "COMPLETED");
    let (busy, busy_id) = begin(&mut world, "busy");
    state(&mut world, busy, "WORKING");
    let (asking, asking_id) = begin(&mut world, "asking");
    state(&mut world, asking, "INPUT_REQUIRED");
    world.input(Input::WorkEnd { work: asking });
    call(&mut world, "SendMessage", &send_params("not begun"));
    let before = result(&mut world, "GetTask", &format!(r#"{{"id":"{done_id}"}}"#));
    let mut world = restarted(&world, config, Secrets::Keep);
    assert_eq!(result(&mut world, "GetTask", &format!(r#"{{"id":"{done_id}"}}"#)), before);
    let failed = result(&mut world, "GetTask", &format!(r#"{{"id":"{busy_id}"}}"#));
    assert_eq!(text(&failed, "status.state"), "TASK_STATE_FAILED");
    assert!(text(&failed, "status.message.parts.0.text").contains("restarted"));
    assert_eq!(at(&result(&mut world, "ListTasks", "{}"), "totalSize").as_u64(), Some(3), "what was no task yet is gone");
    // Numbers go on where they were: what the earlier process ordered is late, not unknown.
    world.input(Input::Update { work: busy, text: r#"{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}}"#.into() });
    call(&mut world, "SendMessage", &format!(r#"{{"message":{}}}"#, super::caller::reply(&asking_id, "blue")));
    assert_eq!(world.works.last().unwrap().0, WorkId(5));
}

#[test]
fn a_task_that_grows_is_not_written_again_with_every_piece() {
    let config = r#"{"a2a":{"responder":"function"}}"#;
    let mut world = World::new(config);
    let (work, id) = begin(&mut world, "long");
    world.checks = false;
    let grown = |world: &mut World, pieces: usize| {
        let before = world.written;
        for piece in 0..pieces {
            chunk(world, work, &"soup ".repeat(20), piece > 0);
            state(world, work, "WORKING");
        }
        world.written - before
    };
    let first = grown(&mut world, 200);
    let second = grown(&mut world, 200);
    assert!(first > 200 * 100 && second < first * 2 && second < 200 * 2000, "{first} {second}");
    // Wherever it is stopped, what is kept is the task.
    world.checks = true;
    for piece in 0..40 {
        chunk(&mut world, work, &"bread ".repeat(200), piece != 20);
        world.storage.check(&world.gateway, genesis(world.now), &world.config);
    }
    let before = result(&mut world, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    let gateway = Gateway::restore(genesis(world.now), world.config.clone(), &world.storage.pieces()).unwrap();
    let mut again = World::with(gateway, world.config.clone());
    again.storage = world.storage.clone();
    again.drain();
    let after = result(&mut again, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
    assert_eq!((&before["artifacts"], text(&after, "status.state")), (&after["artifacts"], "TASK_STATE_FAILED".into()));
    assert_eq!(again.storage.keys().iter().filter(|key| key.starts_with("task/")).count(), 2, "whole again");
    again.storage.check(&again.gateway, genesis(again.now), &again.config);
    // Nor is anything lost where the next process is stopped while it takes over.
    let taken_over = || Gateway::restore(genesis(world.now), world.config.clone(), &world.storage.pieces()).unwrap();
    let saves: Vec<Save> = core::iter::from_fn({
        let mut gateway = taken_over();
        move || gateway.poll_output()
    })
    .filter_map(|output| if let Output::Save(save) = output { Some(save) } else { None })
    .collect();
    assert!(saves.iter().any(|save| save.record.is_none()), "something goes");
    for stop in 0..saves.len() {
        let mut storage = world.storage.clone();
        saves.iter().take(stop).for_each(|save| storage.keep(save.clone()));
        let gateway = Gateway::restore(genesis(world.now), world.config.clone(), &storage.pieces()).unwrap();
        let mut again = World::with(gateway, world.config.clone());
        again.storage = storage;
        again.drain();
        let after = result(&mut again, "GetTask", &format!(r#"{{"id":"{id}"}}"#));
        assert_eq!(before["artifacts"], after["artifacts"], "stopped after {stop}");
    }
}

#[test]
fn what_waits_for_a_receiver_is_written_once() {
    let config = r#"{"a2a":{"responder":"function"}}"#;
    let written = |webhooks: usize, pieces: usize| {
        let mut world = World::new(config);
        let (work, id) = begin(&mut world, "long");
        for number in 0..webhooks {
            let push = format!(r#"{{"taskId":"{id}","url":"https://hook.test/{number}","token":"{}"}}"#, "t".repeat(4000));
            result(&mut world, "CreateTaskPushNotificationConfig", &push);
        }
        world.checks = false;
        let before = world.written;
        for piece in 0..pieces {
            chunk(&mut world, work, &"soup ".repeat(20), piece > 0);
        }
        (world.written - before, world)
    };
    let (without, _) = written(0, 400);
    let ((half, _), (whole, mut world)) = (written(2, 200), written(2, 400));
    assert!(whole < 5 * half / 2 && whole < 4 * without, "{half}, {whole}, {without} without anybody to tell");
    let waiting = |world: &World| world.storage.keys().iter().filter(|key| key.contains("/push/")).count();
    assert_eq!(waiting(&world), 2 * (1 + 400));
    // What was taken is kept no more, nor is what waits where nobody is to be told any more.
    let (exchange, _) = world.fetches.pop().unwrap();
    world.input(Input::Head { exchange, status: 200, headers: vec![] });
    world.input(Input::End { exchange });
    assert_eq!(waiting(&world), 2 * (1 + 400) - 1);
    world.checks = true;
    let pushes = "/a2a/rest/tasks/ID/pushNotificationConfigs".replace("ID", &text(&only(&mut world), "id"));
    let configs = super::caller::value(&super::caller::get(&mut world, &pushes).body);
    let gone = format!("{pushes}/{}", text(&configs, "configs.0.id"));
    world.send("DELETE", &gone, &[], "");
    assert_eq!(waiting(&world), 1 + 400 - 1);
}

/// The only task.
fn only(world: &mut World) -> serde_json::Value {
    at(&result(world, "ListTasks", "{}"), "tasks.0").clone()
}

#[test]
fn messages_that_wait_to_be_passed_on_are_written_once() {
    let mut world = relay::world();
    let (id, _, _) = relay::working(&mut world, "one");
    let said = "word ".repeat(200);
    let say = |world: &mut World| {
        let before = world.written;
        let more = format!(r#"{{"message":{},"configuration":{{"returnImmediately":true}}}}"#, super::caller::reply(&id, &said));
        result(world, "SendMessage", &more);
        world.written - before
    };
    let written: Vec<usize> = (0..40).map(|_| say(&mut world)).collect();
    let waiting = |world: &World| world.storage.keys().iter().filter(|key| key.contains("/message/")).count();
    assert_eq!(waiting(&world), 39, "the first one is on its way");
    assert!(written.iter().sum::<usize>() < 5 * 40 * said.len(), "{written:?}");
    relay::asked(&mut world).begin(&mut world);
    assert_eq!(waiting(&world), 38);
}

#[test]
fn an_inbox_task_waits_for_its_answer() {
    let config = r#"{"a2a":{}}"#;
    let mut world = World::new(config);
    call(&mut world, "SendMessage", &send_params("x"));
    let mut world = restarted(&world, config, Secrets::Drop);
    assert_eq!(text(&result(&mut world, "ListTasks", "{}"), "tasks.0.status.state"), "TASK_STATE_SUBMITTED");
}

#[test]
fn a_relayed_task_is_taken_up_again() {
    let mut world = relay::world();
    let (id, _, _) = relay::working(&mut world, "x");
    let mut world = restarted(&world, relay::CONFIG, Secrets::Keep);
    let read = relay::asked(&mut world);
    assert_eq!(read.method(), "GetTask");
    let watching = call(&mut world, "SubscribeToTask", &format!(r#"{{"id":"{id}"}}"#));
    read.answer(&mut world, r#"{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"text":"soup"}]}]}"#);
    let again = relay::asked(&mut world);
    assert_eq!(again.method(), "SubscribeToTask");
    again.begin(&mut world);
    again.state(&mut world, "COMPLETED", "done");
    again.end(&mut world);
    // What came while nobody listened is read.
    let confirm = relay::asked(&mut world);
    confirm.answer(
        &mut world,
        r#"{"id":"up-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"soup"}]},{"artifactId":"b","parts":[{"text":"bread"}]}]}"#,
    );
    assert_eq!(kinds(&world, watching), ["task working", "artifactUpdate", "artifactUpdate", "statusUpdate completed"]);
}

#[test]
fn messages_that_wait_to_be_passed_on_go_after_a_restart() {
    let mut world = relay::world();
    let (id, _, _) = relay::working(&mut world, "one");
    for words in ["two", "three"] {
        let more = r#""configuration":{"returnImmediately":true,"acceptedOutputModes":["text/plain"]},"metadata":{"k":[1]}"#;
        result(&mut world, "SendMessage", &format!(r#"{{"message":{},{more}}}"#, super::caller::reply(&id, words)));
    }
    let mut world = restarted(&world, relay::CONFIG, Secrets::Keep);
    let task = r#"{"id":"up-1","contextId":"up-c","status":{"state":"TASK_STATE_WORKING"}}"#;
    relay::asked(&mut world).answer(&mut world, task);
    let next = relay::asked(&mut world);
    let params = &next.request["params"];
    let said = (text(params, "message.parts.0.text"), text(params, "message.taskId"));
    assert_eq!(said, ("three".into(), "up-1".into()), "what was on its way is the agent's by now, or lost with its exchange");
    assert_eq!(at(params, "metadata").to_string(), r#"{"k":[1],"narrows_hops":1}"#);
    assert_eq!(text(params, "configuration.acceptedOutputModes.0"), "text/plain");
    next.begin(&mut world);
    let given_up = world.fetches.iter().all(|(exchange, _)| world.aborts.contains(exchange));
    assert!(given_up, "the stream of the new message tells what the old one would have told");
}

#[test]
fn deliveries_go_on() {
    let config = r#"{"a2a":{"responder":"function"}}"#;
    let mut world = World::new(config);
    let (work, id) = begin(&mut world, "x");
    let push = format!(r#"{{"taskId":"{id}","url":"https://hook.test/","token":"tok-12345"}}"#);
    result(&mut world, "CreateTaskPushNotificationConfig", &push);
    state(&mut world, work, "WORKING");
    state(&mut world, work, "COMPLETED");
    let pieces = world.gateway.snapshot(Secrets::Drop).concat();
    assert!(!pieces.contains("tok-12345"), "what a receiver is known by is not handed on");
    let mut world = restarted(&world, config, Secrets::Keep);
    let mut delivered = Vec::new();
    while let Some((exchange, request)) = world.fetches.pop() {
        delivered.push(request.body.unwrap());
        world.input(Input::Head { exchange, status: 200, headers: vec![] });
        world.input(Input::End { exchange });
    }
    assert_eq!(delivered.len(), 2, "{delivered:?}");
    assert!(delivered[0].contains("WORKING") && delivered[1].contains("COMPLETED"));
}

#[test]
fn a_snapshot_is_the_same_after_a_restart() {
    let config = r#"{"a2a":{"responder":"echo"}}"#;
    let mut world = World::new(config);
    result(&mut world, "SendMessage", &send_params("x"));
    let restored = restarted(&world, config, Secrets::Keep);
    assert_eq!(world.gateway.snapshot(Secrets::Keep), restored.gateway.snapshot(Secrets::Keep));
    assert!(restored.gateway.poll_timeout().is_none_or(|deadline| deadline.at > Instant::from_ms(restored.now)));
}

#[test]
fn what_the_plain_api_knows_is_kept() {
    let config = r#"{"a2a":{"require_approval":true,"responder":"function"}}"#;
    let mut world = World::new(config);
    let fields = [("Content-Type", "application/json")];
    let discover = world.send("POST", "/api/a2a/discover", &fields, r#"{"url":"https://agent.test/"}"#);
    let (card, _) = world.fetches.pop().unwrap();
    world.reply(card, "application/json", relay::CARD);
    assert_eq!(world.done(discover).status, 202);
    world.send("POST", "/api/a2a/agents/https%3A%2F%2Fagent.test%2F/approve", &[], "");
    let key = [fields[0], ("Idempotency-Key", "k")];
    let said = r#"{"agent_url":"https://agent.test/","message":"x","wait":0}"#;
    let sent = world.send("POST", "/api/a2a/send", &key, said);
    let first = super::caller::value(&world.done(sent).body);
    let (exchange, fetch) = world.fetches.pop().unwrap();
    let up = relay::Upstream { exchange, request: super::caller::value(fetch.body.as_ref().unwrap()) };
    up.begin(&mut world);
    world.send("POST", "/api/a2a/tasks", &fields, r#"{"id":"t","message":"x"}"#);
    let mut world = restarted(&world, config, Secrets::Keep);
    let again = world.send("POST", "/api/a2a/send", &key, said);
    let again = super::caller::value(&world.done(again).body);
    let told = |task| (text(task, "id"), text(task, "history.0.messageId"));
    assert_eq!(told(&again), told(&first));
    let list = super::caller::get(&mut world, "/api/a2a/agents");
    assert!(list.body.contains(r#""status":"trusted""#), "{}", list.body);
    let stream = world.send("GET", "/api/a2a/tasks/t/events", &[("Last-Event-ID", "1")], "");
    assert!(world.body(stream).starts_with("id: 2\nevent: task"), "changes are counted on: {}", world.body(stream));
}
