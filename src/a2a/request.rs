//! Requests to an agent, in the four dialects (A2A 1.0 §9, §11; A2A 0.3 §7, §3.2).
//!
//! Nothing is asked of a 1.0 agent that the caller did not ask for. To a 0.3 agent `blocking` is always said, as its
//! default differs between implementations, and a history length of 0 never, as it means "all" to some.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::io::{Headers, Method};
use crate::json::{Json, Object};
use crate::url::{Url, UrlFault};

use super::dialect::{Dialect, Interface};
use super::message::{Message, optional_strings};
use super::pieces::PIECE_BYTES;

/// What is asked of an agent.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// send a message, one answer
    Send(&'a SendRequest),
    /// send a message, a stream of events
    Stream(&'a SendRequest),
    /// read a task
    Get {
        /// which
        task_id: &'a str,
        /// how many turns of its history; the agent's choice where absent
        history_length: Option<u64>,
    },
    /// cancel a task
    Cancel {
        /// which
        task_id: &'a str,
    },
    /// attach to a running task, a stream of events
    Subscribe {
        /// which
        task_id: &'a str,
    },
}

impl Operation<'_> {
    /// Whether the answer is a stream of events.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        match self {
            Self::Stream(_) | Self::Subscribe { .. } => true,
            Self::Send(_) | Self::Get { .. } | Self::Cancel { .. } => false,
        }
    }
}

/// A message and what is wanted for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRequest {
    /// the message
    pub message: Message,
    /// free data of the request
    pub metadata: Option<Json>,
    /// media types the caller takes
    pub accepted_output_modes: Option<Vec<String>>,
    /// how many turns of the task's history the answer shall hold
    pub history_length: Option<u64>,
    /// answer at once instead of when the task has ended or waits
    pub return_immediately: bool,
}

impl SendRequest {
    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let metadata = self.metadata.as_ref().map_or(0, |json| json.as_str().len() as u64);
        metadata + PIECE_BYTES * (1 + self.message.parts.len() as u64) + self.message.bytes() as u64
    }
}

/// A request ready for the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// the HTTP method
    pub method: Method,
    /// where to
    pub url: Url,
    /// `Content-Type` (with a body), `Accept`, `A2A-Version`
    pub headers: Headers,
    /// the body
    pub body: Option<String>,
    /// what the dialect has no place for and was left out, for people: `parts[0]: media_type`
    pub lost: Vec<String>,
}

impl Encoded {
    /// The same with the other HTTP method. Agents differ on subscribing over HTTP+JSON (1.0 §11.3 says POST, the schema
    /// GET): the other method is tried after 404 or 405.
    #[must_use]
    pub fn with_other_method(mut self) -> Self {
        match self.method {
            Method::Get => {
                self.method = Method::Post;
                self.body = Some("{}".into());
                self.headers.push(("Content-Type".into(), "application/json".into()));
            }
            Method::Post => {
                self.method = Method::Get;
                self.body = None;
                self.headers.retain(|(name, _)| name != "Content-Type");
            }
        }
        self
    }
}

/// Why a request cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeFault {
    /// The task id is empty, `.` or `..`: no URL can name it.
    TaskId(UrlFault),
    /// The interface's tenant is `.` or `..`.
    Tenant(UrlFault),
}

impl core::fmt::Display for EncodeFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (name, fault) = match self {
            Self::TaskId(fault) => ("the task id", fault),
            Self::Tenant(fault) => ("the tenant in the agent's card", fault),
        };
        write!(f, "{name} cannot be part of a URL, which {fault}")
    }
}

impl core::error::Error for EncodeFault {}

/// Writes a request. `request_id` is the id of a JSON-RPC call.
///
/// # Errors
/// An id that no URL can hold, over HTTP+JSON.
pub fn encode(interface: &Interface, operation: &Operation<'_>, request_id: u64) -> Result<Encoded, EncodeFault> {
    let dialect = interface.dialect;
    let mut lost = Vec::new();
    let (method, url, body) = if dialect.is_rest() {
        rest(interface, operation, &mut lost)?
    } else {
        let body = call(interface, operation, request_id, &mut lost);
        (Method::Post, interface.url.clone(), Some(body))
    };
    let accept = if operation.is_stream() {
        "text/event-stream, application/json"
    } else if dialect == Dialect::Rest10 {
        "application/a2a+json, application/json"
    } else {
        "application/json"
    };
    let mut headers: Headers = Vec::new();
    if body.is_some() {
        // 1.0.1 prefers `application/a2a+json` over HTTP; 1.0.0 agents know `application/json` alone, and all take it.
        headers.push(("Content-Type".into(), "application/json".into()));
    }
    headers.push(("Accept".into(), accept.into()));
    headers.push(("A2A-Version".into(), dialect.version().into()));
    Ok(Encoded { method, url, headers, body: body.map(|json| json.as_str().into()), lost })
}

/// A JSON-RPC call.
fn call(interface: &Interface, operation: &Operation<'_>, request_id: u64, lost: &mut Vec<String>) -> Json {
    let new = interface.dialect.is_10();
    let method = match operation {
        Operation::Send(_) if new => "SendMessage",
        Operation::Stream(_) if new => "SendStreamingMessage",
        Operation::Get { .. } if new => "GetTask",
        Operation::Cancel { .. } if new => "CancelTask",
        Operation::Subscribe { .. } if new => "SubscribeToTask",
        Operation::Send(_) => "message/send",
        Operation::Stream(_) => "message/stream",
        Operation::Get { .. } => "tasks/get",
        Operation::Cancel { .. } => "tasks/cancel",
        Operation::Subscribe { .. } => "tasks/resubscribe",
    };
    let mut params = Object::new();
    if new {
        params.optional_string("tenant", interface.tenant.as_deref());
    }
    match operation {
        Operation::Send(request) | Operation::Stream(request) => {
            send_members(&mut params, request, interface.dialect, lost);
        }
        Operation::Get { task_id, history_length } => {
            params.string("id", task_id);
            if let Some(length) = wanted_history(*history_length, interface.dialect) {
                params.integer("historyLength", length);
            }
        }
        Operation::Cancel { task_id } | Operation::Subscribe { task_id } => {
            params.string("id", task_id);
        }
    }
    let params = params.finish();
    let mut out = Object::with_capacity(params.as_str().len() + 96);
    out.string("jsonrpc", "2.0").integer("id", request_id).string("method", method).json("params", &params);
    out.finish()
}

/// An HTTP+JSON request.
fn rest(
    interface: &Interface,
    operation: &Operation<'_>,
    lost: &mut Vec<String>,
) -> Result<(Method, Url, Option<Json>), EncodeFault> {
    let dialect = interface.dialect;
    let mut base: Vec<&str> = Vec::new();
    if dialect.is_10() {
        base.extend(interface.tenant.as_deref());
        // Told apart here, so that the faults below are the task id's.
        interface.url.with_path_segments(&base, "").map_err(EncodeFault::Tenant)?;
    } else if interface.url.path().trim_end_matches('/').rsplit('/').next() != Some("v1") {
        base.push("v1");
    }
    let place = |segments: &[&str], suffix: &str| {
        interface.url.with_path_segments(&[&base, segments].concat(), suffix).map_err(EncodeFault::TaskId)
    };
    let empty = || Some(Object::new().finish());
    match operation {
        Operation::Send(request) | Operation::Stream(request) => {
            let suffix = if operation.is_stream() { ":stream" } else { ":send" };
            let mut body = Object::new();
            send_members(&mut body, request, dialect, lost);
            Ok((Method::Post, place(&["message"], suffix)?, Some(body.finish())))
        }
        Operation::Get { task_id, history_length } => {
            let url = place(&["tasks", task_id], "")?;
            let length = wanted_history(*history_length, dialect);
            let url = length.map_or(url.clone(), |length| url.with_query("historyLength", &format!("{length}")));
            Ok((Method::Get, url, None))
        }
        Operation::Cancel { task_id } => Ok((Method::Post, place(&["tasks", task_id], ":cancel")?, empty())),
        Operation::Subscribe { task_id } => {
            let url = place(&["tasks", task_id], ":subscribe")?;
            Ok(if dialect.is_10() { (Method::Post, url, empty()) } else { (Method::Get, url, None) })
        }
    }
}

/// `message`, `configuration` and `metadata` of a send.
fn send_members(out: &mut Object, request: &SendRequest, dialect: Dialect, lost: &mut Vec<String>) {
    out.json("message", &request.message.write(dialect, lost));
    let mut configuration = Object::new();
    optional_strings(&mut configuration, "acceptedOutputModes", request.accepted_output_modes.as_deref());
    if let Some(length) = wanted_history(request.history_length, dialect) {
        configuration.integer("historyLength", length);
    }
    if !dialect.is_10() {
        configuration.boolean("blocking", !request.return_immediately);
    } else if request.return_immediately {
        configuration.boolean("returnImmediately", true);
    }
    if !configuration.is_empty() {
        out.nested("configuration", configuration);
    }
    out.optional_json("metadata", request.metadata.as_ref());
}

fn wanted_history(length: Option<u64>, dialect: Dialect) -> Option<u64> {
    length.filter(|length| dialect.is_10() || *length > 0)
}

#[cfg(test)]
mod tests;
