//! What goes wrong with an agent, as the error of a call.

use alloc::format;
use alloc::string::String;

use super::Run;
use super::target::Target;
use crate::a2a::pieces::{PIECE_BYTES, is_crumbled, may_be_crumbled};
use crate::a2a::{self, Fault, FaultKind};
use crate::exchange::{Failure, Reply};
use crate::ground::Ground;
use crate::held::{self, Share};
use crate::history;
use crate::http;
use crate::io::Cause;
use crate::json::{self, Json};
use crate::mcp::outcome::{Code, ToolError};
use crate::redact::Secrets;
use crate::text;

/// How much of what an agent said an error repeats, in code points.
const SAID: u64 = 4000;

/// What an agent said, as the text of an error repeats it: all of it stands in the structured content. A secret that is cut
/// is known no more, so it goes before that.
#[must_use]
pub fn said(secrets: &Secrets, words: String) -> String {
    shortened(&secrets.redact(words))
}

fn shortened(words: &str) -> String {
    let mut out = history::shorten(words, SAID);
    if out.len() < words.len() {
        out.push_str(" (cut here: structuredContent has the rest)");
    }
    out
}

/// The error of a failed exchange.
#[must_use]
pub fn failure(run: &Run<'_>, label: &str, failure: &Failure) -> ToolError {
    match failure {
        Failure::Transport { cause, detail, answered, received } => {
            let mut error = transport(label, *cause, detail, *answered);
            let received = a2a::excerpt(&clean(run, received));
            if !received.is_empty() {
                error.message = format!("{}; it had sent: {received}", error.message);
            }
            error
        }
        Failure::TooLarge(held::CROWDED) => {
            let message = format!("so much is held for others just now that the answer of {label} finds no room (held_bytes)");
            ToolError::new(Code::Busy, message).with("limit", crate::json::Json::string("held_bytes"))
        }
        Failure::TooLarge(limit) => {
            ToolError::new(Code::TooLarge, format!("the answer of {label} is larger than the limit {limit} allows"))
                .with("limit", Json::string(limit))
        }
        Failure::Redirect { status, why } => {
            ToolError::new(Code::HttpStatus, format!("{label} was not reached: {why}")).with_integer("status", *status)
        }
        Failure::Blocked(why) => ToolError::new(Code::Blocked, format!("{label} was not called: {why}")),
    }
}

/// The error of what finds no room in [`held_bytes`](crate::limits::Limits::held_bytes), just now or at any time; `less` is
/// how it would take less.
#[must_use]
pub fn no_room(ground: &Ground, what: &str, bytes: u64, less: &str) -> ToolError {
    let (code, wait) = match Share::bound(bytes, ground.config.limits.held_bytes) {
        held::CROWDED => (Code::Busy, "wait for other calls to end, or "),
        _ => (Code::TooLarge, ""),
    };
    let message = format!("{what} takes {bytes} bytes, for which held_bytes leaves no room: {wait}{less}");
    ToolError::new(code, message).with("limit", Json::string("held_bytes"))
}

fn transport(label: &str, cause: Cause, detail: &str, answered: bool) -> ToolError {
    let (code, what) = match cause {
        Cause::Refused => (Code::Unreachable, "refused the connection: check that it runs and that the URL is right"),
        Cause::Dns => (Code::Unreachable, "has no address: check the host name"),
        Cause::Tls => {
            (Code::Unreachable, "did not get through the TLS handshake: check its certificate, and that its port speaks https")
        }
        Cause::Blocked => (Code::Blocked, "was not called: the host refused its address"),
        Cause::Redirect => {
            (Code::HttpStatus, "answered with a redirect whose target cannot be read here: register the final address")
        }
        Cause::Protocol => (Code::ProtocolError, "sent bytes that are no complete HTTP answer"),
        Cause::Headers => (Code::TooLarge, "sent header fields larger than the limit header_bytes allows"),
        Cause::Reset if answered => (Code::Unreachable, "broke off in the middle of its answer"),
        Cause::Reset => (Code::Unreachable, "closed the connection without an answer; whether it got the request is unknown"),
        Cause::Other => (Code::Unreachable, "could not be reached"),
    };
    let message = if detail.is_empty() { format!("{label} {what}") } else { format!("{label} {what} ({detail})") };
    let mut error = ToolError::new(code, message);
    error.unsent = !answered && cause.unsent();
    error
}

/// The error of an agent's answer that is none.
#[must_use]
pub fn agent(label: &str, fault: &Fault) -> ToolError {
    answer(label, fault, " (it wants credentials: give them as headers to connect_agent)")
}

/// The error of an answer that is none; `credentials` is the advice where some are wanted.
#[must_use]
pub fn answer(label: &str, fault: &Fault, credentials: &str) -> ToolError {
    match fault {
        Fault::Agent { code, kind, message, data } => {
            let (own, advice) = about_task(*kind).unwrap_or((Code::AgentError, ""));
            let mut error = ToolError::new(own, format!("{label} answered with an error: {advice}{}", shortened(message)));
            if text::code_points(message) > SAID {
                error = error.with("agent_message", Json::string(message));
            }
            if let Some(code) = code {
                error = error.with_integer("agent_code", *code);
            }
            match data {
                Some(data) => error.with("agent_data", data.clone()),
                None => error,
            }
        }
        Fault::Status { status, kind, excerpt } => {
            if let Some((code, advice)) = about_task(*kind) {
                let message = format!("{label} answered HTTP {status}: {advice}{excerpt}");
                return ToolError::new(code, message).with_integer("status", *status);
            }
            let words = if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") };
            let advice = match status {
                401 | 403 => credentials,
                _ => "",
            };
            ToolError::new(Code::HttpStatus, format!("{label} answered HTTP {status}{advice}{words}"))
                .with_integer("status", *status)
        }
        Fault::Protocol(why) => ToolError::new(Code::ProtocolError, format!("{label} does not keep to A2A: {why}")),
        Fault::Depth => ToolError::new(Code::TooLarge, format!("the answer of {label} nests deeper than json_depth allows")),
        Fault::Pieces(limit) => {
            let message = format!(
                "the answer of {label} is made of more artifacts, messages and parts than the limit {limit} allows, each of which counts {PIECE_BYTES} bytes"
            );
            ToolError::new(Code::TooLarge, message).with("limit", Json::string(limit))
        }
    }
}

/// Reads an answer. What is quoted of one that cannot be read is cut and rewritten, so its secrets are replaced before that.
///
/// # Errors
/// As [`a2a::reply`].
pub fn decoded(run: &Run<'_>, dialect: a2a::Dialect, reply: &Reply) -> Result<a2a::Reply, Fault> {
    let kind = http::header(&reply.headers, "content-type").unwrap_or_default();
    let limits = &run.ground.config.limits;
    if may_be_crumbled(reply.body.len() as u64, limits.reply_bytes) {
        let text = String::from_utf8_lossy(&reply.body);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if json::parse(text, limits.depth()).is_ok_and(|raw| is_crumbled(raw, limits.reply_bytes)) {
            return Err(Fault::Pieces("reply_bytes"));
        }
    }
    let read = |body: &[u8]| a2a::reply(dialect, reply.status, kind, body, limits.depth());
    read(&reply.body).or_else(|_| read(clean(run, &reply.body).as_bytes()))
}

/// A body as text without the secrets of the scope; what was JSON is JSON.
#[must_use]
pub fn clean(run: &Run<'_>, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match Json::parse(&text, run.ground.config.limits.depth()) {
        Ok(json) => run.scope.secrets.redact_json(json).into_string(),
        Err(_) => run.scope.secrets.redact_broken(text.into_owned()),
    }
}

/// The code of a fault that is about a task rather than a request, and words for it.
const fn about_task(kind: FaultKind) -> Option<(Code, &'static str)> {
    match kind {
        FaultKind::TaskNotFound => Some((Code::TaskNotFound, "the task was not found there: ")),
        FaultKind::TaskNotCancelable => Some((Code::TaskNotCancelable, "the task can no longer be canceled: ")),
        FaultKind::Unsupported
        | FaultKind::MethodNotFound
        | FaultKind::VersionNotSupported
        | FaultKind::ContentType
        | FaultKind::PushNotSupported
        | FaultKind::Terminal
        | FaultKind::Other => None,
    }
}

/// How long the agent asks to wait before it is asked again: `Retry-After` of any answer.
#[must_use]
pub fn asked_ms(run: &Run<'_>, reply: &Reply) -> Option<u64> {
    http::header(&reply.headers, "retry-after").and_then(|value| http::retry_after_ms(value, run.ground.wall()))
}

/// How long an agent is left alone that had too many requests and does not say for how long.
const SILENCE_MS: u64 = 1000;

/// How long the agent is to be left alone: `Retry-After` of a 429 or 503, and a second after a 429 without one. The alias's
/// bucket stays empty until then, and the wait is the longer one where it is empty by itself.
pub fn silence_ms(run: &mut Run<'_>, target: &Target, reply: &Reply) -> Option<u64> {
    let unsaid = Some(SILENCE_MS).filter(|_| reply.status == 429);
    let wait_ms = asked_ms(run, reply).or(unsaid).filter(|_| matches!(reply.status, 429 | 503))?;
    let now = run.ground.now;
    Some(target.agent(run).map_or(wait_ms, |agent| agent.bucket.close(now, wait_ms)))
}

/// The error of an answer, with what its HTTP head says about waiting.
pub fn answered(run: &mut Run<'_>, target: &Target, reply: &Reply, fault: &Fault) -> ToolError {
    let wait = silence_ms(run, target, reply);
    let mut error = agent(&target.label, fault);
    if reply.status == 429 {
        error.code = Code::RateLimited;
        if error.details.iter().all(|(name, _)| name != "status") {
            error = error.with_integer("status", reply.status);
        }
    }
    let Some(wait_ms) = wait else { return error };
    error.message = format!("{}; retry after {}", error.message, duration(wait_ms));
    error.with_integer("retry_after_ms", wait_ms)
}

/// A wait as people read it: `250ms`, `1.953s`.
#[must_use]
pub fn duration(ms: u64) -> String {
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_status_about_a_task_has_the_code_of_its_meaning() {
        for (status, body, code) in [
            (404, r#"{"message":"Task not found"}"#, Code::TaskNotFound),
            (409, r#"{"message":"Task cannot be canceled"}"#, Code::TaskNotCancelable),
            (404, "Not Found", Code::HttpStatus),
        ] {
            assert_eq!(agent("agent 'a'", &Fault::of_status(status, body)).code, code, "{body}");
        }
    }

    #[test]
    fn waits_are_readable() {
        for (ms, text) in [(0, "0ms"), (250, "250ms"), (1953, "1.953s"), (2000, "2s"), (60_500, "60.5s")] {
            assert_eq!(duration(ms), text);
        }
    }
}
