//! Every order of up to six reports about one exchange, or about one incoming request, ends in one answer, or is told to
//! be a misuse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::std_instead_of_alloc)]

mod support;

use std::collections::BTreeSet;

use narrows::a2a::Dialect;
use narrows::io::{Cause, ExchangeId, Headers, Input, Output, PeerId, RequestId};
use support::host::{Host, call};
use support::served::Posting;
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
fn orders<L: Copy + Ord>(letters: &[L]) -> BTreeSet<Vec<L>> {
    fn extend<L: Copy + Ord>(order: &[L], left: &[L], all: &mut BTreeSet<Vec<L>>) {
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
    extend(&[], letters, &mut all);
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
    let orders = orders(&LETTERS);
    assert_eq!(orders.len(), 4493);
    orders.iter().for_each(|order| check(order, false));
}

#[test]
fn every_order_of_reports_about_one_stream_ends_in_one_answer_or_misuse() {
    orders(&LETTERS).iter().for_each(|order| check(order, true));
}

/// What may happen to an incoming request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Visit {
    Asked,
    /// the first half of the body
    First,
    /// the second half
    Second,
    Whole,
    Gone,
    /// the gateway stops serving
    Stop,
}

/// A head may be told twice, everything else once.
const VISITS: [Visit; 7] = [Visit::Asked, Visit::Asked, Visit::First, Visit::Second, Visit::Whole, Visit::Gone, Visit::Stop];

/// The statuses of the responses, told from the order alone; whoever is left waiting at the end is answered.
fn statuses(order: &[Visit]) -> Vec<u16> {
    let (mut all, mut stopping) = (Vec::new(), false);
    let (mut body, mut waiting) = (None::<Vec<Visit>>, false);
    for visit in order {
        match visit {
            Visit::Asked if stopping => all.push(503),
            Visit::Asked if body.is_none() && !waiting => body = Some(Vec::new()),
            Visit::Asked => {}
            Visit::First | Visit::Second => body.iter_mut().for_each(|body| body.push(*visit)),
            Visit::Whole => match body.take() {
                Some(body) if body == [Visit::First, Visit::Second] => waiting = true,
                Some(_) => all.push(400),
                None => {}
            },
            Visit::Gone => (body, waiting) = (None, false),
            Visit::Stop => {
                all.extend(body.take().map(|_| 503));
                all.extend(core::mem::take(&mut waiting).then_some(200));
                stopping = true;
            }
        }
    }
    all.extend(waiting.then_some(200));
    all
}

const REQUEST: RequestId = RequestId(70);

fn fields(more: &[(&str, &str)]) -> Headers {
    let shared = [("Host", "localhost"), ("Content-Type", "application/json")];
    shared.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Gives a whole request at once.
fn post(host: &mut Host, request: RequestId, headers: Headers, body: &str, posting: Posting) {
    host.watch.served.expect(request, posting);
    host.input(Input::Request { request, method: "POST".to_owned(), target: "/mcp".to_owned(), headers }).unwrap();
    host.input(Input::RequestBody { request, bytes: body.as_bytes().to_vec() }).unwrap();
    host.input(Input::RequestEnd { request }).unwrap();
}

fn posting(number: u64, scope: &str) -> Posting {
    Posting { calls: vec![(number, call(0, &number.to_string(), None, None), None)], scope: scope.to_owned() }
}

/// A session; its name.
fn handshake(host: &mut Host) -> String {
    let number = host.number();
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"initialize","params":{params}}}"#);
    post(host, RequestId(1), fields(&[]), &body, posting(number, "session"));
    let head = host.responses.iter().find_map(|output| match output {
        Output::ResponseHead { headers, .. } => Some(headers.clone()),
        Output::ResponseBody { .. } | Output::ResponseEnd { .. } | Output::Message { .. } => None,
        Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => None,
        Output::Save(_)
        | Output::Work { .. }
        | Output::WorkAbort { .. }
        | Output::Link { .. }
        | Output::Tokens { .. }
        | Output::Lookup(_) => None,
    });
    host.responses.clear();
    head.unwrap().into_iter().find(|(name, _)| name == "Mcp-Session-Id").unwrap().1
}

/// Whatever the gateway asks its agent is answered: there is no card, and a message is done.
fn answer_all(host: &mut Host) {
    while let Some((exchange, request)) = host.fetches.pop_front() {
        match request.body {
            None => host.reply(exchange, 404, ""),
            Some(_) => host.reply(
                exchange,
                200,
                r#"{"jsonrpc":"2.0","id":2,"result":{"message":{"role":"ROLE_AGENT","parts":[{"text":"done"}]}}}"#,
            ),
        }
    }
}

/// Gives the reports in their order. Every step is held against the books, which know what must come of it.
fn check_visits(order: &[Visit], modern: bool) {
    let mut host = Host::new(1, "{}");
    let name = if modern { String::new() } else { handshake(&mut host) };
    let number = host.number();
    let mut more = vec![("Mcp-Session-Id", name.as_str())];
    let (meta, scope) = if modern {
        more = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "send_message")];
        let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        (format!(r#","_meta":{{{version},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#), "http-local")
    } else {
        (String::new(), "session")
    };
    let arguments = format!(r#"{{"agent":"https://bob.test/a2a","message":"call-{number}"}}"#);
    let params = format!(r#"{{"name":"send_message","arguments":{arguments}{meta}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#);
    let (first, second) = body.split_at(body.len() / 2);
    for visit in order {
        let input = match visit {
            Visit::Asked => {
                let (method, target) = ("POST".to_owned(), "/mcp".to_owned());
                Input::Request { request: REQUEST, method, target, headers: fields(&more) }
            }
            Visit::First => Input::RequestBody { request: REQUEST, bytes: first.as_bytes().to_vec() },
            Visit::Second => Input::RequestBody { request: REQUEST, bytes: second.as_bytes().to_vec() },
            Visit::Whole => {
                host.watch.served.expect(REQUEST, posting(number, scope));
                Input::RequestEnd { request: REQUEST }
            }
            Visit::Gone => Input::RequestGone { request: REQUEST },
            Visit::Stop => Input::Stop,
        };
        let _ = host.input(input);
    }
    answer_all(&mut host);
    host.input(Input::RequestGone { request: REQUEST }).unwrap();
    answer_all(&mut host);
    host.advance(60_000);
    let (mut heads, mut ends) = (Vec::new(), 0);
    for output in &host.responses {
        match output {
            Output::ResponseHead { status, .. } => heads.push(*status),
            Output::ResponseEnd { .. } => ends += 1,
            Output::ResponseBody { .. } | Output::Message { .. } => {}
            Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => {}
            Output::Save(_)
            | Output::Work { .. }
            | Output::WorkAbort { .. }
            | Output::Link { .. }
            | Output::Tokens { .. }
            | Output::Lookup(_) => {}
        }
    }
    assert_eq!(heads, statuses(order), "{order:?}");
    assert_eq!(ends, heads.len(), "{order:?}");
    assert_eq!((host.watch.running(), host.timeout()), (Vec::new(), None), "{order:?}");
}

#[test]
fn every_order_of_reports_about_an_incoming_request_ends_in_one_response_or_misuse() {
    let orders = orders(&VISITS);
    assert_eq!(orders.len(), 4493);
    for order in &orders {
        check_visits(order, true);
        check_visits(order, false);
    }
}
