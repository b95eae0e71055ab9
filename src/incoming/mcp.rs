//! The rules of MCP over HTTP: versions and the headers that mirror the body (MCP 2025-11-25 and 2026-07-28, transports).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::access::Refusal;
use crate::base64;
use crate::http;
use crate::io::Headers;
use crate::json::{self, Raw};
use crate::jsonrpc::METHOD_NOT_FOUND;
use crate::mcp::asks::MISSING_CAPABILITY;
use crate::mcp::era::{Envelope, LEGACY_VERSIONS, MODERN_VERSIONS, RpcError, UNSUPPORTED_VERSION, claimed_version, is_claimed};

/// A header does not say what the body says (MCP 2026-07-28, transports).
pub const HEADER_MISMATCH: i64 = -32020;

/// The types of content that a client may be answered with.
#[must_use]
pub fn accepts(headers: &Headers, media_type: &str) -> bool {
    let Some(accept) = http::header(headers, "accept") else { return true };
    let kind = media_type.split_once('/').map_or("", |(kind, _)| kind);
    accept.split(',').map(|range| range.split(';').next().unwrap_or_default().trim()).any(|range| {
        range == "*/*" || range.eq_ignore_ascii_case(media_type) || range.strip_suffix("/*").is_some_and(|wide| wide == kind)
    })
}

/// Checks the head of a POST.
///
/// # Errors
/// 415 and 406.
pub fn check_post(headers: &Headers) -> Result<(), Refusal> {
    let content_type = http::header(headers, "content-type").unwrap_or_default();
    if !http::content_type_is(content_type, "application/json") {
        return Err(Refusal::new(415, "Content-Type must be application/json"));
    }
    if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
        return Err(Refusal::new(406, "Accept must name application/json and text/event-stream"));
    }
    Ok(())
}

/// Whether the version header names a version without a handshake.
#[must_use]
pub fn names_modern(headers: &Headers) -> bool {
    http::header(headers, "mcp-protocol-version").is_some_and(|version| MODERN_VERSIONS.contains(&version.trim()))
}

/// Whether the version header may stand on a request of a session: absent, or any version spoken here.
#[must_use]
pub fn version_is_known(headers: &Headers) -> bool {
    http::header(headers, "mcp-protocol-version").is_none_or(|version| LEGACY_VERSIONS.contains(&version.trim()))
}

/// Holds the headers of a modern message against its body.
///
/// # Errors
/// -32020 where one is missing, is there twice, or says something else.
fn check_mirrors(headers: &Headers, method: &str, params: Option<Raw<'_>>) -> Result<(), RpcError> {
    let members = params.and_then(json::members).unwrap_or_default();
    if let Some(version) = claimed_version(&members) {
        mirror(headers, "MCP-Protocol-Version", &version)?;
    }
    mirror(headers, "Mcp-Method", method)?;
    let named = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    match members.string(named) {
        Some(value) => mirror(headers, "Mcp-Name", &value),
        // What is missing in the body is told by the method itself.
        None => Ok(()),
    }
}

fn mirror(headers: &Headers, name: &str, value: &str) -> Result<(), RpcError> {
    let fault = |what: &str| Err(RpcError::new(HEADER_MISMATCH, format!("the header {name} {what}")));
    let mut fields = headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let first = fields.next();
    if fields.next().is_some() {
        return fault("is there twice");
    }
    match first.map(|(_, shown)| shown) {
        None => fault("is missing"),
        Some(shown) if decoded(shown.trim()) == value => Ok(()),
        Some(_) => fault("does not say what the body says"),
    }
}

/// A value that is no visible ASCII is written as `=?base64?…?=`.
fn decoded(value: &str) -> Cow<'_, str> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(base64::decode);
    match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(value),
    }
}

/// The HTTP status of a modern answer; the errors of tools stay 200.
#[must_use]
pub const fn status_of(code: Option<i64>) -> u16 {
    match code {
        Some(METHOD_NOT_FOUND) => 404,
        Some(HEADER_MISMATCH | UNSUPPORTED_VERSION | MISSING_CAPABILITY) => 400,
        Some(_) | None => 200,
    }
}

/// Whether a message carries the envelope of the modern era.
#[must_use]
pub fn is_modern(params: Option<Raw<'_>>) -> bool {
    params.and_then(json::members).is_some_and(|members| is_claimed(&members))
}

/// Holds a modern message to the rules of its head: the headers that mirror it, then its envelope.
///
/// # Errors
/// -32020, -32602, -32022: each is 400 over HTTP.
pub fn check_modern(headers: &Headers, method: &str, params: Option<Raw<'_>>) -> Result<(), RpcError> {
    check_mirrors(headers, method, params)?;
    Envelope::read(params.and_then(json::members).as_ref()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&str, &str)]) -> Headers {
        list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn accept_is_read_leniently() {
        for (accept, both) in [
            ("application/json, text/event-stream", true),
            ("text/event-stream;q=0.5, APPLICATION/JSON", true),
            ("*/*", true),
            ("application/*, text/*", true),
            ("application/json", false),
            ("text/html", false),
        ] {
            let head = headers(&[("Accept", accept), ("Content-Type", "application/json; charset=utf-8")]);
            assert_eq!(check_post(&head).is_ok(), both, "{accept}");
        }
        assert_eq!(check_post(&headers(&[("Content-Type", "text/plain")])).unwrap_err().status, 415);
    }

    #[test]
    fn headers_mirror_the_body() {
        let text = r#"{"name":"é","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        let params = json::parse(text, 8).ok();
        let full = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "=?base64?w6k=?=")];
        assert_eq!(check_mirrors(&headers(&full), "tools/call", params), Ok(()));
        for index in 0..3 {
            let mut missing = full.to_vec();
            missing.remove(index);
            assert_eq!(check_mirrors(&headers(&missing), "tools/call", params).unwrap_err().code, HEADER_MISMATCH);
            let mut other = full;
            other[index].1 = "x";
            let twice = [full.as_slice(), &[(full[index].0, "x")]].concat();
            assert_eq!(check_mirrors(&headers(&twice), "tools/call", params).unwrap_err().code, HEADER_MISMATCH);
            assert_eq!(check_mirrors(&headers(&other), "tools/call", params).unwrap_err().code, HEADER_MISMATCH);
        }
    }
}
