//! The raw loop: all that a host does, with the standard library alone. The agent is a function that follows a script.
//!
//! `cargo run --example loop`
#![expect(clippy::disallowed_types, reason = "a host is where the clocks are")]
#![expect(clippy::std_instead_of_core, clippy::std_instead_of_alloc, reason = "a program with the standard library")]

use std::collections::VecDeque;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis};
use narrows::io::{ExchangeId, Input, Method, Output, PeerId, Request};
use narrows::json::{self, Json, Object};
use narrows::time::{Instant, WallTime};

const PEER: PeerId = PeerId(1);

/// What an MCP client says, line by line.
const CLIENT: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"loop","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"connect_agent","arguments":{"alias":"bistro","agent_url":"https://bistro.example"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"agent":"bistro","message":"What is for dinner?"}}}"#,
];

fn main() -> Result<(), Box<dyn Error>> {
    let clock = Clock(std::time::Instant::now());
    let unix_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
    let genesis = Genesis { seed: chance(), now: clock.now(), unix_ms: WallTime(i64::try_from(unix_ms)?) };
    let mut gateway = Gateway::new(genesis, Config::default());

    let mut happened = VecDeque::from([Input::Open { peer: PEER, scope: "example".into() }]);
    let mut lines = CLIENT.iter().map(|line| Input::Message { peer: PEER, text: (*line).into() });
    happened.extend(lines.by_ref().take(2));
    let mut open_calls = 1; // the handshake
    while open_calls > 0 {
        // What happened, or that time has passed.
        let input = match (happened.pop_front(), gateway.poll_timeout()) {
            (Some(input), _) => input,
            (None, Some(deadline)) => {
                std::thread::sleep(Duration::from_millis(deadline.at.as_ms().saturating_sub(clock.now().as_ms())));
                Input::Tick
            }
            (None, None) => return Err("nothing is to be done, and nothing is waited for".into()),
        };
        gateway.handle_input(clock.now(), input)?;
        // What to do, until there is nothing more.
        while let Some(output) = gateway.poll_output() {
            match output {
                Output::Message { text, .. } => {
                    println!("< {}", shown(&text));
                    open_calls -= 1;
                    if let Some(next) = lines.next() {
                        open_calls += 1;
                        happened.push_back(next);
                    }
                }
                Output::Fetch { exchange, request } => {
                    println!("  {} {}", request.method.name(), request.url);
                    happened.extend(answer(exchange, &request)?);
                }
                // This agent answers at once, so that nothing is left to abort.
                Output::Abort { .. } => {}
                // Nobody asks this host over HTTP.
                Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => {}
                // This host declares no storage.
                Output::Save(_) => {}
                Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } => {}
                Output::Tokens { .. } | Output::Lookup(_) => {}
                Output::Notice(notice) => println!("  {} {}", notice.level.name(), notice.event),
            }
        }
    }
    Ok(())
}

/// Whole milliseconds since the start.
struct Clock(std::time::Instant);

impl Clock {
    fn now(&self) -> Instant {
        Instant::from_ms(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Randomness of the standard library, which it takes for the keys of its maps.
fn chance() -> [u8; 32] {
    let mut seed = [0; 32];
    for (number, bytes) in seed.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&RandomState::new().hash_one(number).to_le_bytes());
    }
    seed
}

/// The words of an answer.
fn shown(message: &str) -> String {
    let result = json::parse(message, 64).ok().and_then(json::members).and_then(|message| json::members(message.get("result")?));
    let content = result.and_then(|result| json::elements(result.get("content")?));
    let text = content.and_then(|content| json::members(*content.first()?)?.string("text"));
    text.unwrap_or_else(|| format!("{} bytes", message.len()))
}

/// An agent that has a card, takes a moment for its work, and is then done.
fn answer(exchange: ExchangeId, request: &Request) -> Result<[Input; 3], Box<dyn Error>> {
    const CARD: &str = r#"{"name":"Bistro","description":"a restaurant","version":"1","supportedInterfaces":[{"url":"https://bistro.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}"#;
    const WORKING: &str = r#"{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}"#;
    const DONE: &str = r#"{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"menu","parts":[{"text":"Leek and potato soup."}]}]}"#;
    let body = match request.method {
        Method::Get => CARD.to_string(),
        Method::Post => {
            let call = Json::parse(request.body.as_deref().unwrap_or_default(), 64).map_err(|_| "no JSON")?;
            let call = call.members().ok_or("no object")?;
            let result = if call.string("method").as_deref() == Some("GetTask") { DONE } else { WORKING };
            let mut reply = Object::new();
            reply.string("jsonrpc", "2.0").json("id", &Json::from_raw(call.get("id").ok_or("no id")?));
            reply.json("result", &Json::parse(result, 64).map_err(|_| "no JSON")?);
            reply.finish().into_string()
        }
    };
    let headers = vec![("Content-Type".into(), "application/json".into())];
    Ok([
        Input::Head { exchange, status: 200, headers },
        Input::Body { exchange, bytes: body.into_bytes() },
        Input::End { exchange },
    ])
}
