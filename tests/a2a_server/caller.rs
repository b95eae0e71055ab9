//! A caller of the gateway's agent: requests in every dialect, answers as values.

use narrows::io::{Input, WorkId};
use serde_json::Value;

use super::world::{Response, World};

pub const V10: (&str, &str) = ("A2A-Version", "1.0");

pub fn echo() -> World {
    World::new(r#"{"a2a":{"responder":"echo"}}"#)
}

pub fn function() -> World {
    World::new(r#"{"a2a":{"responder":"function"}}"#)
}

pub fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// The value at a path of members, elements by their number.
pub fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    value.pointer(&format!("/{}", path.replace('.', "/"))).unwrap_or(&Value::Null)
}

pub fn text(value: &Value, path: &str) -> String {
    at(value, path).as_str().unwrap_or_default().to_owned()
}

/// A message of 1.0.
pub fn message(words: &str) -> String {
    format!(r#"{{"messageId":"m-1","role":"ROLE_USER","parts":[{{"text":"{words}"}}]}}"#)
}

/// A message that continues a task.
pub fn reply(task: &str, words: &str) -> String {
    format!(r#"{{"messageId":"m-2","taskId":"{task}","role":"ROLE_USER","parts":[{{"text":"{words}"}}]}}"#)
}

pub fn send_params(words: &str) -> String {
    format!(r#"{{"message":{}}}"#, message(words))
}

/// A JSON-RPC request; its number.
pub fn call(world: &mut World, method: &str, params: &str) -> u64 {
    call_as(world, &[], method, params)
}

pub fn call_as(world: &mut World, fields: &[(&str, &str)], method: &str, params: &str) -> u64 {
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    let mut all = vec![("Content-Type", "application/json")];
    all.extend_from_slice(fields);
    world.send("POST", "/a2a", &all, &body)
}

/// The answer to a JSON-RPC request, whole.
pub fn answer(world: &mut World, method: &str, params: &str) -> Value {
    let request = call(world, method, params);
    answer_of(world, request)
}

pub fn answer_of(world: &World, request: u64) -> Value {
    let response = world.done(request);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")), "{response:?}");
    let answer = value(&response.body);
    assert_eq!((text(&answer, "jsonrpc"), at(&answer, "id")), ("2.0".into(), &Value::from(7)), "{answer}");
    answer
}

pub fn result(world: &mut World, method: &str, params: &str) -> Value {
    let answer = answer(world, method, params);
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

/// The code of an error.
pub fn code(world: &mut World, method: &str, params: &str) -> i64 {
    at(&answer(world, method, params), "error.code").as_i64().unwrap_or_default()
}

pub fn get(world: &mut World, target: &str) -> Response {
    let request = world.send("GET", target, &[], "");
    world.done(request)
}

pub fn post(world: &mut World, target: &str, body: &str) -> Response {
    let request = world.send("POST", target, &[("Content-Type", "application/json")], body);
    world.done(request)
}

/// The results of a stream's events so far.
pub fn events(world: &World, request: u64) -> Vec<Value> {
    let body = world.body(request);
    let data = body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.map(value).map(|event| event.get("result").cloned().unwrap_or(event)).collect()
}

/// What each event is: the member it is wrapped in, with the state where it has one.
pub fn kinds(world: &World, request: u64) -> Vec<String> {
    events(world, request).iter().map(kind).collect()
}

fn kind(event: &Value) -> String {
    let (name, inner) = event.as_object().unwrap().iter().next().unwrap();
    let state = text(inner, "status.state").replace("TASK_STATE_", "").to_lowercase();
    format!("{name} {state}").trim().to_owned()
}

pub fn ended(world: &World, request: u64) -> bool {
    world.responses.get(&request).is_some_and(|response| response.ended)
}

/// Begins a task of a function; the work and the task's id.
pub fn begin(world: &mut World, words: &str) -> (WorkId, String) {
    let params = format!(r#"{{"message":{},"configuration":{{"returnImmediately":true}}}}"#, message(words));
    let task = result(world, "SendMessage", &params);
    let (work, _) = world.works.pop().expect("work was ordered");
    (work, text(&task, "task.id"))
}

pub fn update(world: &mut World, work: WorkId, event: &str) {
    world.input(Input::Update { work, text: event.to_owned() });
}

pub fn state(world: &mut World, work: WorkId, state: &str) {
    update(world, work, &format!(r#"{{"statusUpdate":{{"status":{{"state":"TASK_STATE_{state}"}}}}}}"#));
}

pub fn chunk(world: &mut World, work: WorkId, words: &str, append: bool) {
    let artifact = format!(r#"{{"artifactId":"a","parts":[{{"text":"{words}"}}]}}"#);
    update(world, work, &format!(r#"{{"artifactUpdate":{{"artifact":{artifact},"append":{append}}}}}"#));
}
