//! What stands around an answer: bytes, JSON-RPC envelopes, errors in place of results.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use crate::json::{self, Kind, Raw};

use super::error::{Fault, excerpt};
use super::member;

/// What an answer holds once its envelope is off.
#[derive(Debug)]
pub(super) enum Opened<'a> {
    /// a result
    Result(Raw<'a>),
    /// neither result nor error, or a result that is `null`
    Nothing,
}

/// The text of a body. A byte order mark is dropped, bytes that are no UTF-8 are replaced: what an agent said is not
/// lost to a broken character.
pub(super) fn text(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

/// Takes the envelope off. Any id is taken, as each exchange carries one answer, but for values that JSON-RPC 2.0 §4
/// does not know as ids.
///
/// # Errors
/// The agent's error; a text that is no object; an HTTP status from 300 without a result.
pub(super) fn open<'a>(raw: Raw<'a>, status: u16) -> Result<Opened<'a>, Fault> {
    let succeeded = (200..300).contains(&status);
    let no_answer = |why: String| if succeeded { Fault::Protocol(why) } else { Fault::of_status(status, raw.get()) };
    let Some(members) = json::members(raw) else {
        return Err(no_answer(format!("the reply is {}, not an object", json::kind(raw).name())));
    };
    // A bare task may have a member `result` that nobody knows.
    let bare = ["status", "parts", "kind"].iter().any(|name| members.has(name));
    let enveloped = members.has("jsonrpc") || members.has("result") && !bare;
    if let Some(error) = members.get("error") {
        let coded = json::members(error).is_some_and(|error| error.get("code").and_then(member::integer).is_some());
        let is_answer = enveloped || coded || succeeded;
        return Err(if is_answer { Fault::of_error(error, status) } else { Fault::of_status(status, raw.get()) });
    }
    if enveloped {
        let id = members.get("id").map_or(Kind::Null, json::kind);
        if matches!(id, Kind::Boolean | Kind::Array | Kind::Object) {
            return Err(Fault::Protocol(format!("the id of the reply is {}, which is no JSON-RPC id", id.name())));
        }
        return Ok(members.get("result").map_or(Opened::Nothing, Opened::Result));
    }
    if members.get("code").and_then(member::integer).is_some() && members.string("message").is_some() {
        return Err(Fault::of_error(raw, status));
    }
    if succeeded { Ok(Opened::Result(raw)) } else { Err(Fault::of_status(status, raw.get())) }
}

/// A result that is none, with the words that may be in it.
pub(super) fn unreadable(why: &str, raw: Raw<'_>) -> Fault {
    let words = excerpt(raw.get());
    Fault::Protocol(if words.is_empty() { why.into() } else { format!("{why}: {words}") })
}
