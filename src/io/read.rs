//! The JSON form of inputs, read.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Cause, ExchangeId, Headers, Input, Misuse, PeerId, RequestId};
use crate::base64;
use crate::json::{self, Members, Raw};

/// The largest integer that JavaScript holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Nesting of an input: an object with a list of pairs.
const DEPTH: u32 = 4;

/// Reads an input from its JSON form.
///
/// # Errors
/// [`Misuse::Unreadable`] or [`Misuse::OutOfRange`], naming the member.
pub fn read_input(text: &str) -> Result<Input, Misuse> {
    let raw = json::parse(text, DEPTH).map_err(|_| Misuse::Unreadable("input"))?;
    let members = json::members(raw).ok_or(Misuse::Unreadable("input"))?;
    let kind = text_of(&members, "type")?;
    Ok(match kind.as_str() {
        "open" => Input::Open { peer: peer(&members)?, scope: text_of(&members, "scope")? },
        "message" => Input::Message { peer: peer(&members)?, text: text_of(&members, "text")? },
        "message_too_long" => {
            Input::MessageTooLong { peer: peer(&members)?, start: text_of(&members, "start")?, bytes: number(&members, "bytes")? }
        }
        "closed" => Input::Closed { peer: peer(&members)? },
        "head" => Input::Head {
            exchange: exchange(&members)?,
            status: u16::try_from(number(&members, "status")?).map_err(|_| Misuse::OutOfRange("status"))?,
            headers: headers(members.get("headers"))?,
        },
        "body" => Input::Body { exchange: exchange(&members)?, bytes: bytes(&members)? },
        "end" => Input::End { exchange: exchange(&members)? },
        "failed" => {
            let name = text_of(&members, "cause")?;
            let cause = Cause::NAMES.iter().find(|(_, known)| *known == name).map(|(cause, _)| *cause);
            Input::Failed {
                exchange: exchange(&members)?,
                cause: cause.ok_or(Misuse::Unreadable("cause"))?,
                detail: members.string("detail").unwrap_or_default(),
            }
        }
        "request" => Input::Request {
            request: request(&members)?,
            method: text_of(&members, "method")?,
            target: text_of(&members, "target")?,
            headers: headers(members.get("headers"))?,
        },
        "request_body" => Input::RequestBody { request: request(&members)?, bytes: bytes(&members)? },
        "request_end" => Input::RequestEnd { request: request(&members)? },
        "request_gone" => Input::RequestGone { request: request(&members)? },
        "stop" => Input::Stop,
        "tick" => Input::Tick,
        _ => return Err(Misuse::Unreadable("type")),
    })
}

pub(super) fn to_base64(bytes: &[u8]) -> String {
    base64::encode(bytes)
}

fn text_of(members: &Members<'_>, name: &'static str) -> Result<String, Misuse> {
    members.string(name).ok_or(Misuse::Unreadable(name))
}

fn number(members: &Members<'_>, name: &'static str) -> Result<u64, Misuse> {
    let value = members.get(name).and_then(|raw| json::integer(raw.get())).ok_or(Misuse::Unreadable(name))?;
    u64::try_from(value).ok().filter(|value| *value <= MAX_SAFE_INTEGER).ok_or(Misuse::OutOfRange(name))
}

fn peer(members: &Members<'_>) -> Result<PeerId, Misuse> {
    number(members, "peer").map(PeerId)
}

fn exchange(members: &Members<'_>) -> Result<ExchangeId, Misuse> {
    number(members, "exchange").map(ExchangeId)
}

fn request(members: &Members<'_>) -> Result<RequestId, Misuse> {
    number(members, "request").map(RequestId)
}

fn bytes(members: &Members<'_>) -> Result<Vec<u8>, Misuse> {
    if let Some(text) = members.string("text") {
        return Ok(text.into_bytes());
    }
    let text = text_of(members, "base64")?;
    base64::decode(&text).ok_or(Misuse::Unreadable("base64"))
}

fn headers(raw: Option<Raw<'_>>) -> Result<Headers, Misuse> {
    let fault = Misuse::Unreadable("headers");
    let mut list = Headers::new();
    for pair in raw.and_then(json::elements).ok_or_else(|| fault.clone())? {
        let pair = json::elements(pair).ok_or_else(|| fault.clone())?;
        let mut texts = pair.into_iter().map(json::string);
        let (Some(Some(name)), Some(Some(value)), None) = (texts.next(), texts.next(), texts.next()) else {
            return Err(fault);
        };
        list.push((name, value));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_survives_its_json_form() {
        let inputs = [
            Input::Open { peer: PeerId(1), scope: "stdio".into() },
            Input::Message { peer: PeerId(1), text: "{\"id\":\"\\u2028\"}\u{2028}".into() },
            Input::MessageTooLong { peer: PeerId(MAX_SAFE_INTEGER), start: "{".into(), bytes: 40_000_000 },
            Input::Closed { peer: PeerId(0) },
            Input::Head { exchange: ExchangeId(3), status: 200, headers: alloc::vec![("A".into(), "b".into())] },
            Input::Body { exchange: ExchangeId(3), bytes: b"data: x\n\n".to_vec() },
            Input::Body { exchange: ExchangeId(3), bytes: alloc::vec![0xff, 0, 1] },
            Input::End { exchange: ExchangeId(3) },
            Input::Failed { exchange: ExchangeId(3), cause: Cause::Tls, detail: "expired".into() },
            Input::Request {
                request: RequestId(4),
                method: "POST".into(),
                target: "/mcp?x=1".into(),
                headers: alloc::vec![("Host".into(), "localhost".into())],
            },
            Input::RequestBody { request: RequestId(4), bytes: b"{}".to_vec() },
            Input::RequestEnd { request: RequestId(4) },
            Input::RequestGone { request: RequestId(4) },
            Input::Stop,
            Input::Tick,
        ];
        for input in inputs {
            assert_eq!(read_input(input.to_json().as_str()), Ok(input));
        }
    }

    #[test]
    fn faults_name_the_member() {
        assert_eq!(read_input("{}"), Err(Misuse::Unreadable("type")));
        assert_eq!(read_input(r#"{"type":"closed","peer":9007199254740992}"#), Err(Misuse::OutOfRange("peer")));
        assert_eq!(read_input(r#"{"type":"closed","peer":1.5}"#), Err(Misuse::Unreadable("peer")));
        assert_eq!(read_input(r#"{"type":"head","exchange":1,"status":70000,"headers":[]}"#), Err(Misuse::OutOfRange("status")));
    }
}
