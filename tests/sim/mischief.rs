//! What goes wrong between an agent and the gateway.

use narrows::io::{Cause, Headers};

use crate::support::agent::Normal;
use crate::support::chance::Chance;
use crate::support::text::{quoted, quoted_with_escapes};
use crate::support::wire::{self, Asked};

/// Something that happens to an exchange.
#[derive(Clone, Debug)]
pub enum Piece {
    Head(u16, Headers),
    Body(Vec<u8>),
    End,
    Failed(Cause, String),
    /// the same bytes again and again, every so many milliseconds, as long as somebody listens
    Endless(Vec<u8>, u64),
}

/// What happens to an exchange, each after a wait in milliseconds.
pub type Script = Vec<(u64, Piece)>;

/// How bad the world is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// everyone behaves
    Calm,
    /// one in eight answers goes wrong
    Fair,
    /// every other answer goes wrong
    Rough,
}

impl Weather {
    pub fn is_bad_now(self, chance: &mut Chance) -> bool {
        match self {
            Self::Calm => false,
            Self::Fair => chance.one_in(8),
            Self::Rough => chance.one_in(2),
        }
    }
}

fn headers(fields: &[(&str, &str)]) -> Headers {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// An answer in time, in pieces cut anywhere.
pub fn plain(chance: &mut Chance, normal: &Normal) -> Script {
    let (status, kind, bytes) = match normal {
        Normal::Plain { status, kind, body } => (*status, *kind, body.clone().into_bytes()),
        Normal::Events(events) => (200, "text/event-stream", stream(chance, events)),
    };
    let mut fields = headers(&[("Content-Type", kind)]);
    if chance.one_in(12) {
        // A length that has nothing to do with the body.
        let length = *chance.pick(&["0", "1", "7", "99999999999999999999", "-1", "12, 13", "much"]);
        fields.push(("Content-Length".to_owned(), length.to_owned()));
    }
    let mut script = vec![(chance.below(300), Piece::Head(status, fields))];
    if chance.one_in(40) && bytes.len() < 600 {
        // It drips.
        script.extend(bytes.iter().map(|byte| (chance.below(20), Piece::Body(vec![*byte]))));
        script.push((5, Piece::End));
        return script;
    }
    let most = if chance.one_in(6) { 40 } else { 6 };
    script.extend(chance.cut(&bytes, most).into_iter().map(|piece| (chance.below(120), Piece::Body(piece))));
    script.push((chance.below(60), Piece::End));
    script
}

/// Events in the line ends, comments and names that servers use.
fn stream(chance: &mut Chance, events: &[String]) -> Vec<u8> {
    let end = *chance.pick(&["\n", "\n", "\r\n", "\r"]);
    let mut out = if chance.one_in(6) { "\u{feff}".to_owned() } else { String::new() };
    for event in events {
        if chance.one_in(4) {
            out.push_str(&format!(": ping{end}{end}"));
        }
        if chance.one_in(4) {
            out.push_str(&format!("id: 7{end}event: message{end}"));
        }
        out.push_str(&format!("data: {event}{end}{end}"));
    }
    if chance.one_in(5) && out.ends_with(end) {
        out.truncate(out.len() - end.len());
    }
    out.into_bytes()
}

/// What happens to the exchange of an answer. `echo` is a credential that the agent may repeat, or nothing.
pub fn script(chance: &mut Chance, weather: Weather, asked: &Asked, normal: &Normal, echo: &str) -> Script {
    let script = plain(chance, normal);
    if !weather.is_bad_now(chance) {
        return script;
    }
    match chance.below(4) {
        0 => broken(chance, script, echo),
        1 => refused(chance, asked, echo),
        2 => wrong(chance, asked, normal, script, echo),
        _ => too_much(chance, normal, script, echo),
    }
}

/// The connection fails, or nobody answers.
fn broken(chance: &mut Chance, mut script: Script, echo: &str) -> Script {
    let (cause, _) = *chance.pick(&Cause::NAMES);
    let detail = if chance.one_in(2) { format!("os error {echo}") } else { String::new() };
    let wait = chance.below(2000);
    match chance.below(5) {
        0 => vec![(wait, Piece::Failed(cause, detail))],
        1 => Vec::new(),
        2 => {
            script.truncate(1 + chance.index(script.len()));
            script
        }
        3 => {
            script.truncate(1 + chance.index(script.len() - 1));
            script.push((wait, Piece::End));
            script
        }
        _ => {
            script.truncate(1 + chance.index(script.len() - 1));
            script.push((wait, Piece::Failed(cause, detail)));
            script
        }
    }
}

/// A status that is none of success.
fn refused(chance: &mut Chance, asked: &Asked, echo: &str) -> Script {
    const STATUSES: [u16; 16] = [301, 302, 303, 307, 308, 304, 400, 401, 403, 404, 405, 415, 429, 500, 501, 503];
    const PLACES: [&str; 12] = [
        "/elsewhere",
        "rpc",
        "",
        "https://evil.test/steal",
        "http://a0.test/rpc",
        "https://a1.test:8443/rpc",
        "http://169.254.169.254/latest",
        "http://[::1]:9/",
        "//evil.test/x",
        "javascript:alert(1)",
        "http://user:word@evil.test/",
        "https://a0.test/\u{e9}",
    ];
    let status = *chance.pick(&STATUSES);
    let wait = *chance.pick(&["2", "3600", "Sun, 29 Nov 2026 12:00:07 GMT", "-1", "soon"]);
    let mut fields = headers(&[("content-type", "text/html"), ("retry-after", wait)]);
    if status < 400 {
        let fits = echo.chars().all(|char| char.is_ascii_alphanumeric() || "-+/=".contains(char));
        let place =
            if fits && chance.one_in(6) { format!("https://evil.test/?told={echo}") } else { (*chance.pick(&PLACES)).to_owned() };
        fields.push(("Location".to_owned(), place));
    }
    let body = match chance.below(3) {
        0 => format!("<html><body>no: {echo}</body></html>"),
        1 => format!(r#"{{"detail":{}}}"#, quoted_with_escapes(&format!("no: {echo}"))),
        _ => wire::error(asked, -32000 - i64::try_from(chance.below(12)).unwrap(), &format!("no: {echo}")).1,
    };
    vec![(chance.below(300), Piece::Head(status, fields)), (5, Piece::Body(body.into_bytes())), (5, Piece::End)]
}

/// Answers that keep to no protocol.
fn wrong(chance: &mut Chance, asked: &Asked, normal: &Normal, mut script: Script, echo: &str) -> Script {
    let whole = |status: u16, kind: &str, body: Vec<u8>| {
        vec![(20, Piece::Head(status, headers(&[("content-type", kind)]))), (20, Piece::Body(body)), (20, Piece::End)]
    };
    match chance.below(14) {
        10 => {
            // Less than was promised: some hosts find out, some do not.
            script.truncate(1 + chance.index(script.len() - 1));
            if let Some((_, Piece::Head(_, fields))) = script.first_mut() {
                fields.push(("content-length".to_owned(), "100000".to_owned()));
            }
            let lied = Piece::Failed(Cause::Protocol, "the body is shorter than promised".to_owned());
            script.push((5, if chance.one_in(2) { lied } else { Piece::End }));
            script
        }
        11 => spelled(chance, normal, |text| text.replace(wire::TASKS[0], wire::TASKS[1])),
        12 => spelled(chance, normal, |text| text.replace("ctx", "other-ctx").replace("working", "pondering")),
        13 => match normal {
            Normal::Events(events) if !events.is_empty() => {
                let mut events = events.clone();
                let again = events[chance.index(events.len())].clone();
                events.insert(chance.index(events.len() + 1), again);
                chance.shuffle(&mut events);
                plain(chance, &Normal::Events(events))
            }
            Normal::Events(_) | Normal::Plain { .. } => Script::new(),
        },
        0 => {
            let again = script[chance.index(script.len())].1.clone();
            script.insert(chance.index(script.len() + 1), (10, again));
            script
        }
        1 => {
            script.push((30, Piece::Body(b"late".to_vec())));
            script.push((30, Piece::Failed(Cause::Reset, String::new())));
            script
        }
        2 => whole(200, "application/json", chance.bytes(200)),
        3 => whole(200, "text/event-stream", [b"data: ".to_vec(), chance.bytes(200), b"\n\n".to_vec()].concat()),
        4 => whole(200, "text/plain", format!("{{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}}", quoted(echo)).into_bytes()),
        5 => {
            let fault =
                format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32603,"message":{}}}}}"#, quoted_with_escapes(echo));
            whole(200, "text/event-stream", format!("event: error\ndata: {fault}\n\n").into_bytes())
        }
        6 => whole(204, "", Vec::new()),
        7 => {
            let task = format!(r#"{{"id":"","status":{{"state":"working","message":{}}}}}"#, quoted(echo));
            whole(200, "application/json", wire::enveloped(asked, &task).into_bytes())
        }
        8 => {
            script.insert(0, (10, Piece::Head(1000, Headers::new())));
            script
        }
        _ => match normal {
            Normal::Plain { body, .. } => whole(200, "text/event-stream", format!("data: {body}\n\n").into_bytes()),
            Normal::Events(events) => whole(200, "application/json", events.concat().into_bytes()),
        },
    }
}

/// The same answer in other words.
fn spelled(chance: &mut Chance, normal: &Normal, other: impl Fn(&str) -> String) -> Script {
    let normal = match normal {
        Normal::Plain { status, kind, body } => Normal::Plain { status: *status, kind, body: other(body) },
        Normal::Events(events) => Normal::Events(events.iter().map(|event| other(event)).collect()),
    };
    plain(chance, &normal)
}

/// More than anyone wants, or slower.
fn too_much(chance: &mut Chance, normal: &Normal, mut script: Script, echo: &str) -> Script {
    let head = |kind: &str| (20, Piece::Head(200, headers(&[("content-type", kind)])));
    match chance.below(7) {
        0 => {
            let field = ("X-Flood".to_owned(), "x".repeat(70_000));
            vec![(20, Piece::Head(200, vec![field])), (20, Piece::End)]
        }
        1 => vec![head("application/json"), (10, Piece::Endless(format!("[{echo}").repeat(100).into_bytes(), 700))],
        2 => vec![head("text/event-stream"), (10, Piece::Endless(b": nothing\n".repeat(20), 3000))],
        3 => vec![head("text/event-stream"), (10, Piece::Endless(b"data: x".repeat(60), 700))],
        4 => {
            let Normal::Events(events) = normal else { return script };
            if events.is_empty() {
                return script;
            }
            let event = format!("data: {}\n\n", events[chance.index(events.len())]).into_bytes();
            vec![head("text/event-stream"), (10, Piece::Endless(event, 1500))]
        }
        5 => {
            let deep = format!("{}{}", "[".repeat(300), "]".repeat(300)).into_bytes();
            vec![head("application/json"), (10, Piece::Body(deep)), (10, Piece::End)]
        }
        _ => {
            let slow = chance.between(1000, 90_000);
            let at = chance.index(script.len());
            script[at].0 += slow;
            script
        }
    }
}
