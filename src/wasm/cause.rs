//! Why a fetch failed, read from what it threw.

use alloc::format;
use alloc::string::String;

use wasm_bindgen::prelude::*;

use super::convert::member;
use crate::io::Cause;
use crate::text::holds;

/// Errors wrap errors; deeper than this nothing is looked for.
const DEPTH: u32 = 5;

/// A failure as the gateway is told it.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) cause: Cause,
    pub(super) detail: String,
}

impl Failure {
    /// Bytes or values that are no HTTP response.
    pub(super) fn protocol(detail: impl Into<String>) -> Self {
        Self { cause: Cause::Protocol, detail: detail.into() }
    }

    /// What was thrown: Node names the cause by a `code` on one of the errors inside, a page tells nothing.
    pub(super) fn thrown(thrown: &JsValue) -> Self {
        let cause = chain(thrown).find_map(|error| member(&error, "code")?.as_string().and_then(|code| of_code(&code)));
        let mut detail = String::new();
        for error in chain(thrown) {
            let text = member(&error, "message").and_then(|message| message.as_string()).or_else(|| error.as_string());
            let text = text.filter(|text| !text.is_empty() && !holds(&detail, text));
            if let Some(text) = text {
                detail = if detail.is_empty() { text } else { format!("{detail}: {text}") };
            }
        }
        if detail.is_empty() {
            detail = "the fetch failed without a reason".into();
        }
        Self { cause: cause.unwrap_or(Cause::Other), detail }
    }
}

/// An error, its cause, the cause of that. Of several tries at one connection the first stands for all.
fn chain(thrown: &JsValue) -> impl Iterator<Item = JsValue> {
    let inside = |error: &JsValue| {
        let first = || member(error, "errors").and_then(|errors| member(&errors, "0"));
        member(error, "cause").or_else(first).filter(|inner| !inner.is_null())
    };
    core::iter::successors(Some(thrown.clone()), inside).take(DEPTH as usize)
}

/// The codes of Node, undici and OpenSSL, and our own names.
fn of_code(code: &str) -> Option<Cause> {
    let cause = match code {
        "ECONNREFUSED" => Cause::Refused,
        "ENOTFOUND" | "EAI_AGAIN" | "EAI_NODATA" => Cause::Dns,
        "ECONNRESET" | "EPIPE" | "UND_ERR_SOCKET" => Cause::Reset,
        "EPROTO" | "DEPTH_ZERO_SELF_SIGNED_CERT" | "SELF_SIGNED_CERT_IN_CHAIN" => Cause::Tls,
        "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" => Cause::Protocol,
        "UND_ERR_HEADERS_OVERFLOW" | "HPE_HEADER_OVERFLOW" => Cause::Headers,
        _ if ["CERT_", "ERR_TLS", "ERR_SSL", "UNABLE_TO_"].iter().any(|prefix| code.starts_with(prefix)) => Cause::Tls,
        _ if ["HPE_", "Z_"].iter().any(|prefix| code.starts_with(prefix)) => Cause::Protocol,
        _ => return Cause::NAMES.iter().find(|(_, name)| *name == code).map(|(cause, _)| *cause),
    };
    Some(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_causes() {
        let cases = [
            ("ECONNREFUSED", Some(Cause::Refused)),
            ("EAI_AGAIN", Some(Cause::Dns)),
            ("UND_ERR_SOCKET", Some(Cause::Reset)),
            ("CERT_HAS_EXPIRED", Some(Cause::Tls)),
            ("UNABLE_TO_VERIFY_LEAF_SIGNATURE", Some(Cause::Tls)),
            ("ERR_TLS_CERT_ALTNAME_INVALID", Some(Cause::Tls)),
            ("HPE_INVALID_CONSTANT", Some(Cause::Protocol)),
            ("UND_ERR_HEADERS_OVERFLOW", Some(Cause::Headers)),
            ("Z_DATA_ERROR", Some(Cause::Protocol)),
            ("blocked", Some(Cause::Blocked)),
            ("ETIMEDOUT", None),
            ("", None),
        ];
        for (code, cause) in cases {
            assert_eq!(of_code(code), cause, "{code}");
        }
    }
}
