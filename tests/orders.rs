//! Every order of up to six reports about one exchange ends in one answer, or is told to be a misuse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_alloc)]

mod support;

use std::collections::BTreeSet;

use narrows::a2a::Dialect;
use narrows::io::{Cause, ExchangeId, Input, Output, PeerId};
use support::host::{Host, call};
use support::text::{at, string_at};
use support::wire;

/// What may happen to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Head,
    /// the first half of the body
    First,
    /// the second half
    Second,
    End,
    Failed,
    /// the caller gives up, so that the exchange is aborted
    Cancel,
}

use Letter::{Cancel, End, Failed, First, Head, Second};

/// A head may be told twice, everything else once.
const LETTERS: [Letter; 7] = [Head, Head, First, Second, End, Failed, Cancel];
const LONGEST: usize = 6;

/// Every order of every choice of the letters.
fn orders() -> BTreeSet<Vec<Letter>> {
    fn extend(order: &[Letter], left: &[Letter], all: &mut BTreeSet<Vec<Letter>>) {
        all.insert(order.to_vec());
        if order.len() == LONGEST {
            return;
        }
        for (at, letter) in left.iter().enumerate() {
            let (mut longer, mut fewer) = (order.to_vec(), left.to_vec());
            longer.push(*letter);
            fewer.remove(at);
            extend(&longer, &fewer, all);
        }
    }
    let mut all = BTreeSet::new();
    extend(&[], &LETTERS, &mut all);
    all
}

/// How the call ends: by the documents of the border, told from the order alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Answer,
    Code(&'static str),
    Cancelled,
}

/// The outcome of an order for an agent that answers with one body.
fn outcome_of_body(order: &[Letter]) -> Outcome {
    let (mut begun, mut body) = (false, Vec::new());
    for letter in order {
        match letter {
            Cancel => return Outcome::Cancelled,
            Failed => return Outcome::Code("unreachable"),
            Head => begun = true,
            First | Second if begun => body.push(*letter),
            End if begun => return if body == [First, Second] { Outcome::Answer } else { Outcome::Code("protocol_error") },
            First | Second | End => {}
        }
    }
    Outcome::Code("timeout")
}

/// The outcome for an agent that streams one event in two halves: it counts as soon as it is whole.
fn outcome_of_stream(order: &[Letter]) -> Outcome {
    let (mut begun, mut body) = (false, Vec::new());
    for letter in order {
        match letter {
            Cancel => return Outcome::Cancelled,
            Failed => return Outcome::Code("unreachable"),
            Head => begun = true,
            First | Second if begun => {
                body.push(*letter);
                if body == [First, Second] {
                    return Outcome::Answer;
                }
            }
            // Half an event, or none.
            End if begun => return Outcome::Code("protocol_error"),
            First | Second | End => {}
        }
    }
    Outcome::Code("timeout")
}

/// A host whose call waits for an answer of its agent.
fn waiting(streaming: bool) -> (Host, u64, ExchangeId) {
    let mut host = Host::new(1, "{}");
    host.open(1, "one");
    host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test/a2a"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(Dialect::JsonRpc10, "https://bob.test/a2a", streaming, true, "bob"));
    let number = host.number();
    let due = host.now().plus_ms(2000);
    host.watch.expect(number, call(1, &number.to_string(), None, Some(due)));
    let arguments = format!(r#"{{"agent":"bob","message":"call-{number}","poll_timeout_seconds":2}}"#);
    let params = format!(r#"{{"name":"send_message","arguments":{arguments}}}"#);
    host.tell(1, &format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#));
    let (exchange, _) = host.fetch();
    (host, number, exchange)
}

fn input(letter: Letter, exchange: ExchangeId, number: u64, streaming: bool) -> Input {
    let reply =
        r#"{"jsonrpc":"2.0","id":2,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"done"}]}}}"#;
    let (body, kind) =
        if streaming { (format!("data: {reply}\n\n"), "text/event-stream") } else { (reply.to_owned(), "application/json") };
    let (first, second) = body.split_at(body.len() / 2);
    match letter {
        Head => Input::Head { exchange, status: 200, headers: vec![("content-type".to_owned(), kind.to_owned())] },
        First => Input::Body { exchange, bytes: first.as_bytes().to_vec() },
        Second => Input::Body { exchange, bytes: second.as_bytes().to_vec() },
        End => Input::End { exchange },
        Failed => Input::Failed { exchange, cause: Cause::Reset, detail: String::new() },
        Cancel => {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}"#);
            Input::Message { peer: PeerId(1), text }
        }
    }
}

/// Gives the reports in their order. What is out of order is refused as predicted, what is late is ignored, and nothing is
/// said after the answer: the watch sees to that. What is left is how the call ends.
fn check(order: &[Letter], streaming: bool) {
    let expected = if streaming { outcome_of_stream(order) } else { outcome_of_body(order) };
    let (mut host, number, exchange) = waiting(streaming);
    for letter in order {
        let _ = host.input(input(*letter, exchange, number, streaming));
    }
    host.advance(60_000);
    let answers = host.said.iter().filter(|(_, text)| at(text, &["id"]).as_deref() == Some(number.to_string().as_str())).count();
    assert_eq!(answers, usize::from(expected != Outcome::Cancelled), "{order:?}");
    let found = match host.answer(number) {
        Some(text) => string_at(&text, &["result", "structuredContent", "error", "code"]),
        None => None,
    };
    match expected {
        Outcome::Answer | Outcome::Cancelled => assert_eq!(found, None, "{order:?}"),
        Outcome::Code(code) => assert_eq!(found.as_deref(), Some(code), "{order:?}"),
    }
    assert_eq!(host.watch.running(), [], "{order:?}");
    let aborts = host.steps.iter().flat_map(|step| &step.outputs).filter(|output| matches!(output, Output::Abort { .. })).count();
    assert!(aborts <= 1, "{order:?}");
}

#[test]
fn every_order_of_reports_about_one_body_ends_in_one_answer_or_misuse() {
    let orders = orders();
    assert_eq!(orders.len(), 4493);
    orders.iter().for_each(|order| check(order, false));
}

#[test]
fn every_order_of_reports_about_one_stream_ends_in_one_answer_or_misuse() {
    orders().iter().for_each(|order| check(order, true));
}
