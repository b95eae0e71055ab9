//! The programs in `examples/` run, and say what they should.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::disallowed_types, reason = "the agent of a test, in a few lines")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

/// Runs an example as its reader would.
fn run(name: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--locked", "--example", name, "--"]).args(words);
    command.output().expect("cargo runs")
}

fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn the_raw_loop_talks_to_its_scripted_agent() {
    let said = said(&run("loop", &[]));
    let steps = [
        "GET https://bistro.example/",
        "POST https://bistro.example/a2a",
        "POST https://bistro.example/a2a",
        "< Leek and potato soup.",
        "info call_ended",
    ];
    let mut rest = said.as_str();
    for step in steps {
        let at = rest.find(step).unwrap_or_else(|| panic!("`{step}` is missing in {said}"));
        rest = &rest[at + step.len()..];
    }
    assert_eq!(rest.trim(), "");
}

#[test]
fn the_http_example_talks_to_an_agent_on_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let own = url.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let own = own.clone();
            thread::spawn(move || serve(stream.unwrap(), &own));
        }
    });
    let said = said(&run("http", &[&url, "How are \"you\"?"]));
    let (connected, answer) = said.trim().split_once('\n').expect("two answers");
    assert!(connected.contains("Echo"), "{connected}");
    assert_eq!(answer, "You said: How are \"you\"?");
}

#[test]
fn the_http_example_says_that_nobody_listens() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = said(&run("http", &[&format!("http://{free}")]));
    assert!(said.lines().last().is_some_and(|line| line.contains("refused the connection")), "{said}");
}

/// An A2A agent in its barest form: a card, and answers that stream what was said to it.
fn serve(stream: TcpStream, own: &str) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim().to_string());
        }
        let length =
            head.iter().filter_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()).next();
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let (kind, text) = answer(&head[0], &String::from_utf8(body).unwrap(), own);
        let status = if text.is_empty() { "404 Not Found" } else { "200 OK" };
        let response = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{text}", text.len());
        (&stream).write_all(response.as_bytes()).unwrap();
    }
}

fn answer(request: &str, body: &str, own: &str) -> (&'static str, String) {
    if request.starts_with("GET /.well-known/agent-card.json ") {
        let card = r#"{"name":"Echo","description":"says it again","version":"1","supportedInterfaces":[{"url":"OWN/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}"#;
        return ("application/json", card.replace("OWN", own));
    }
    if !request.starts_with("POST /a2a ") {
        return ("text/plain", String::new());
    }
    let call: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(call["method"], "SendStreamingMessage");
    let text = format!("You said: {}", call["params"]["message"]["parts"][0]["text"].as_str().unwrap());
    let message = serde_json::json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
    let reply = serde_json::json!({"jsonrpc": "2.0", "id": call["id"], "result": {"message": message}});
    ("text/event-stream", format!("data: {reply}\n\n"))
}
