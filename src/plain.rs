//! The plain task API: tasks for programs that have no A2A library. What is asked for at which place, and how it fails.

use alloc::string::{String, ToString};

use crate::a2a::asked::decoded;
use crate::a2a::{Dialect, Problem};
use crate::io::RequestId;
use crate::json::{Json, Object};
use crate::list::gather;
use crate::mcp::outcome::{Code, ToolError};

mod known;

pub use known::{KnownAgent, KnownAgents};

/// How large a body may be.
pub const BODY_BYTES: u64 = 1 << 20;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// the agents that are known
    Agents,
    /// get to know an agent
    Discover,
    /// trust an agent, by its URL
    Approve(String),
    /// send a message to an agent
    Send,
    /// how a task is that was sent, by its id
    Status(String),
    /// begin a task here
    Begin,
    /// the tasks that were begun here
    List,
    /// a task, by its id
    Task(String),
    /// what was said about it
    Messages(String),
    /// a stream of its changes
    Events(String),
    /// end it
    Cancel(String),
}

/// A place of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// what is asked for
    pub ask: Ask,
    /// the query
    pub query: String,
}

/// What a method at a path below the API means.
///
/// # Errors
/// The methods that are served at that path; none where there is no such path.
pub fn place(method: &str, path: &str, query: &str) -> Result<Place, &'static str> {
    let segments = gather(path.split('/').map(decoded));
    let segments = gather(segments.iter().map(String::as_str));
    let id = |id: &str| id.to_string();
    let ask = match (method, segments.as_slice()) {
        ("GET", ["agents"]) => Ask::Agents,
        ("POST", ["discover"]) => Ask::Discover,
        ("POST", ["agents", url, "approve"]) => Ask::Approve(id(url)),
        ("POST", ["send"]) => Ask::Send,
        ("GET", ["tasks", task, "status"]) => Ask::Status(id(task)),
        ("POST", ["tasks"]) => Ask::Begin,
        ("GET", ["tasks"]) => Ask::List,
        ("GET", ["tasks", task]) => Ask::Task(id(task)),
        ("GET", ["tasks", task, "messages"]) => Ask::Messages(id(task)),
        ("GET", ["tasks", task, "events"]) => Ask::Events(id(task)),
        ("POST", ["tasks", task, "cancel"]) => Ask::Cancel(id(task)),
        (_, ["tasks"]) => return Err("GET, POST"),
        (_, ["agents"] | ["tasks", _] | ["tasks", _, "status" | "messages" | "events"]) => return Err("GET"),
        (_, ["discover" | "send"] | ["agents", _, "approve"] | ["tasks", _, "cancel"]) => return Err("POST"),
        _ => return Err(""),
    };
    Ok(Place { ask, query: query.to_string() })
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// the HTTP status
    pub status: u16,
    /// the kind, such as `task_not_found`
    pub code: String,
    /// the words
    pub message: String,
    /// when to try again, where that is known
    pub retry_ms: Option<u64>,
}

impl Fault {
    /// A failure of that kind.
    #[must_use]
    pub fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { status, code: code.to_string(), message: message.into(), retry_ms: None }
    }

    /// Something in the request that is missing or wrong.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_argument", message)
    }

    /// What went wrong with an agent. A code that names a call of ours that was not made is the caller's to mend.
    #[must_use]
    pub fn of_code(code: &str, message: String) -> Self {
        let ours = [
            (Code::InvalidArgument, 400),
            (Code::UnknownAgent, 400),
            (Code::Blocked, 400),
            (Code::TaskNotFound, 404),
            (Code::TaskNotCancelable, 409),
            (Code::RateLimited, 429),
            (Code::Busy, 429),
            (Code::Internal, 500),
        ];
        let status = ours.iter().find(|(known, _)| known.name() == code).map_or(502, |(_, status)| *status);
        Self::new(status, code, message)
    }

    /// The JSON form: `{"error": {"code", "message", "request_id"}}`. A request's id is its number in the trace.
    #[must_use]
    pub fn write(&self, request: RequestId) -> Json {
        let (mut error, mut out) = (Object::new(), Object::new());
        error.string("code", &self.code).string("message", &self.message).string("request_id", &request.0.to_string());
        out.nested("error", error);
        out.finish()
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let code = problem.reason().to_ascii_lowercase();
        Self::new(problem.status(Dialect::Rest03), &code, problem.message)
    }
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Self {
        let retry_ms = error.retry_after_ms();
        Self { retry_ms, ..Self::of_code(error.code.name(), error.into_message()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_by_method_and_path() {
        let ask = |method: &str, path: &str| place(method, path, "").map(|place| place.ask);
        assert_eq!(ask("GET", "tasks/a%2Fb+c/status"), Ok(Ask::Status("a/b+c".into())));
        assert_eq!(ask("POST", "agents/http%3A%2F%2Fa.test%3A1%2Fx/approve"), Ok(Ask::Approve("http://a.test:1/x".into())));
        for (method, path, allowed) in [
            ("DELETE", "tasks", "GET, POST"),
            ("POST", "tasks/x", "GET"),
            ("POST", "tasks/x/events", "GET"),
            ("GET", "tasks/x/cancel", "POST"),
            ("GET", "send", "POST"),
            ("GET", "agents/x/approve", "POST"),
            ("GET", "nothing", ""),
            ("GET", "tasks/x/y", ""),
        ] {
            assert_eq!(ask(method, path), Err(allowed), "{method} {path}");
        }
    }

    #[test]
    fn an_agents_errors_are_told_apart_from_the_callers() {
        assert_eq!(Fault::from(ToolError::new(Code::Unreachable, "gone")), Fault::new(502, "unreachable", "gone"));
        assert_eq!(Fault::from(ToolError::new(Code::Blocked, "no")).status, 400);
        assert_eq!(Fault::from(Problem::no_task("t")), Fault::new(404, "task_not_found", "task t was not found"));
        let written = Fault::new(502, "timeout", "late").write(RequestId(7));
        assert_eq!(written.as_str(), r#"{"error":{"code":"timeout","message":"late","request_id":"7"}}"#);
    }
}
