//! What holds for everything the gateway does, held for served tasks.

use narrows::config::Config;
use narrows::gateway::Gateway;
use narrows::io::{Input, Output, RequestId, WorkId};
use narrows::time::Instant;

use super::caller::{message, reply};
use super::world::genesis;

const CONFIG: &str = r#"{"a2a":{"responder":"function","skills":[{"id":"e","name":"E","responder":"echo"}]}}"#;

fn gateway() -> Gateway {
    Gateway::new(genesis(0), Config::from_json(CONFIG).unwrap())
}

/// A request with its whole body.
fn request(number: u64, method: &str, params: &str) -> Vec<Input> {
    let request = RequestId(number);
    let headers = [("Host", "localhost"), ("Content-Type", "application/json")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let body = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#);
    vec![
        Input::Request { request, method: "POST".into(), target: "/a2a".into(), headers },
        Input::RequestBody { request, bytes: body.into() },
        Input::RequestEnd { request },
    ]
}

fn told(work: u64, state: &str) -> Input {
    Input::Update { work: WorkId(work), text: format!(r#"{{"statusUpdate":{{"status":{{"state":"TASK_STATE_{state}"}}}}}}"#) }
}

fn script() -> Vec<Input> {
    let push = r#""configuration":{"taskPushNotificationConfig":{"url":"https://hook.test/"}}"#;
    let mut inputs = request(1, "SendStreamingMessage", &format!(r#"{{"message":{},{push}}}"#, message("a")));
    inputs.push(told(1, "WORKING"));
    inputs.extend(request(2, "SendMessage", &format!(r#"{{"message":{},"metadata":{{"skill":"e"}}}}"#, message("b"))));
    inputs.extend(request(3, "message/send", &format!(r#"{{"message":{}}}"#, message("c"))));
    inputs.extend(request(4, "ListTasks", "{}"));
    inputs.push(told(2, "INPUT_REQUIRED"));
    inputs.push(Input::RequestGone { request: RequestId(1) });
    inputs.extend(request(5, "SendMessage", &format!(r#"{{"message":{}}}"#, reply("none", "d"))));
    inputs.push(told(1, "COMPLETED"));
    inputs.push(told(1, "FAILED"));
    inputs.push(Input::WorkEnd { work: WorkId(2) });
    inputs.push(Input::Stop);
    inputs
}

fn drained(gateway: &mut Gateway, into: &mut Vec<Output>) {
    while let Some(output) = gateway.poll_output() {
        into.push(output);
    }
}

#[test]
fn outputs_depend_on_inputs_and_not_on_when_they_are_drained() {
    let (mut often, mut once) = (gateway(), gateway());
    let (mut piecewise, mut together) = (Vec::new(), Vec::new());
    for (now, input) in (0..).zip(script()) {
        often.handle_input(Instant::from_ms(now), input.clone()).unwrap();
        once.handle_input(Instant::from_ms(now), input).unwrap();
        drained(&mut often, &mut piecewise);
    }
    drained(&mut once, &mut together);
    assert_eq!(piecewise, together);
    assert!(piecewise.iter().any(|output| matches!(output, Output::Fetch { .. })), "a delivery is among them");
}

#[test]
fn every_request_is_answered_once() {
    let mut gateway = gateway();
    let mut outputs = Vec::new();
    for (now, input) in (0..).zip(script()) {
        gateway.handle_input(Instant::from_ms(now), input).unwrap();
    }
    drained(&mut gateway, &mut outputs);
    for number in 1..=5 {
        let heads = outputs.iter().filter(|output| matches!(output, Output::ResponseHead { request, .. } if request.0 == number));
        let ends = outputs.iter().filter(|output| matches!(output, Output::ResponseEnd { request } if request.0 == number));
        // Who left gets no more.
        assert_eq!((heads.count(), ends.count()), (1, usize::from(number != 1)), "request {number}");
    }
}

#[test]
fn a_trace_replays_to_the_same_bytes() {
    let run = |inputs: Vec<(u64, Input)>| {
        let mut gateway = gateway();
        gateway.set_trace(true);
        for (now, input) in inputs {
            gateway.handle_input(Instant::from_ms(now), input).unwrap();
            while gateway.poll_output().is_some() {}
        }
        std::iter::from_fn(|| gateway.poll_trace()).collect::<Vec<_>>()
    };
    let first = run((0..).zip(script()).collect());
    let inputs = first.iter().filter_map(|line| {
        let line = narrows::json::parse(line, 64).unwrap();
        let members = narrows::json::members(line).unwrap();
        let now = members.get("now").map(|raw| raw.get().parse::<u64>().unwrap());
        let input = members.get("input").map(|raw| narrows::io::read_input(raw.get()).unwrap());
        now.zip(input)
    });
    let again = run(inputs.collect());
    assert!(first.len() > 30 && first == again, "{} lines and {}", first.len(), again.len());
}
