//! What callers are told when a request fails, in the form of each binding (A2A 1.0 §3.3.2, §5.4, §9.5, §11.6).

use alloc::format;
use alloc::string::String;

use crate::json::{Array, Json, Object};

use super::dialect::Dialect;

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// the code of JSON-RPC, which tells the kind in every binding
    pub code: i64,
    /// the words
    pub message: String,
    /// the member at fault
    pub field: Option<&'static str>,
}

/// No such task, or none that the caller may see.
pub const TASK_NOT_FOUND: i64 = -32001;
/// The task has ended.
pub const TASK_NOT_CANCELABLE: i64 = -32002;
/// What is asked for is not offered, or not for a task in that state.
pub const UNSUPPORTED_OPERATION: i64 = -32004;
/// The body has a type that is not taken.
pub const CONTENT_TYPE_NOT_SUPPORTED: i64 = -32005;
/// As much is kept for the caller as the limits allow.
pub const LIMIT_REACHED: i64 = -32000;
/// The version is not spoken here.
pub const VERSION_NOT_SUPPORTED: i64 = -32009;

/// Code, `ErrorInfo.reason`, HTTP status, name of the status (A2A 1.0.1 §5.4, google.rpc.Code).
const TABLE: [(i64, &str, u16, &str); 11] = [
    (TASK_NOT_FOUND, "TASK_NOT_FOUND", 404, "NOT_FOUND"),
    (TASK_NOT_CANCELABLE, "TASK_NOT_CANCELABLE", 400, "FAILED_PRECONDITION"),
    (UNSUPPORTED_OPERATION, "UNSUPPORTED_OPERATION", 400, "FAILED_PRECONDITION"),
    (CONTENT_TYPE_NOT_SUPPORTED, "CONTENT_TYPE_NOT_SUPPORTED", 400, "INVALID_ARGUMENT"),
    (VERSION_NOT_SUPPORTED, "VERSION_NOT_SUPPORTED", 400, "FAILED_PRECONDITION"),
    (-32700, "PARSE_ERROR", 400, "INVALID_ARGUMENT"),
    (-32600, "INVALID_REQUEST", 400, "INVALID_ARGUMENT"),
    (-32601, "METHOD_NOT_FOUND", 404, "NOT_FOUND"),
    (-32602, "INVALID_PARAMS", 400, "INVALID_ARGUMENT"),
    (LIMIT_REACHED, "LIMIT_REACHED", 429, "RESOURCE_EXHAUSTED"),
    (-32603, "INTERNAL", 500, "INTERNAL"),
];

impl Problem {
    /// A problem of that kind.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None }
    }

    /// A member that is missing or wrong.
    #[must_use]
    pub fn invalid(field: &'static str, what: &str) -> Self {
        Self { code: -32602, message: format!("`{field}` {what}"), field: Some(field) }
    }

    /// A task that is not there, or another caller's.
    #[must_use]
    pub fn no_task(id: &str) -> Self {
        Self::new(TASK_NOT_FOUND, format!("task {id} was not found"))
    }

    fn row(&self) -> (&'static str, u16, &'static str) {
        let row = TABLE.iter().find(|(code, ..)| *code == self.code);
        row.map_or(("INTERNAL", 500, "INTERNAL"), |(_, reason, status, name)| (*reason, *status, *name))
    }

    /// The name of its kind.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.row().0
    }

    /// The HTTP status over HTTP+JSON. In 0.3 a task that cannot be canceled is a conflict.
    #[must_use]
    pub fn status(&self, dialect: Dialect) -> u16 {
        if dialect == Dialect::Rest03 && self.code == TASK_NOT_CANCELABLE { 409 } else { self.row().1 }
    }

    /// `ErrorInfo`, and for a member at fault `BadRequest`.
    fn details(&self) -> Json {
        let mut info = Object::new();
        info.string("@type", "type.googleapis.com/google.rpc.ErrorInfo").string("reason", self.row().0);
        info.string("domain", "a2a-protocol.org");
        let mut list = Array::new();
        list.nested(info);
        if let Some(field) = self.field {
            let (mut violation, mut violations, mut request) = (Object::new(), Array::new(), Object::new());
            violation.string("field", field).string("description", &self.message);
            violations.nested(violation);
            request.string("@type", "type.googleapis.com/google.rpc.BadRequest");
            request.nested("fieldViolations", violations);
            list.nested(request);
        }
        list.finish()
    }

    /// The `error` of a JSON-RPC answer, or the whole body over HTTP+JSON.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> Json {
        let mut error = Object::new();
        match dialect {
            Dialect::JsonRpc10 => {
                error.integer("code", self.code).string("message", &self.message).json("data", &self.details());
            }
            Dialect::JsonRpc03 | Dialect::Rest03 => {
                error.integer("code", self.code).string("message", &self.message);
            }
            Dialect::Rest10 => {
                let (_, status, name) = self.row();
                error.integer("code", status).string("status", name).string("message", &self.message);
                error.json("details", &self.details());
                let mut body = Object::new();
                body.nested("error", error);
                return body.finish();
            }
        }
        error.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binding_has_its_form() {
        let problem = Problem::no_task("t");
        let info =
            r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}"#;
        let wanted = [
            (Dialect::JsonRpc10, format!(r#"{{"code":-32001,"message":"task t was not found","data":[{info}]}}"#)),
            (
                Dialect::Rest10,
                format!(r#"{{"error":{{"code":404,"status":"NOT_FOUND","message":"task t was not found","details":[{info}]}}}}"#),
            ),
            (Dialect::JsonRpc03, r#"{"code":-32001,"message":"task t was not found"}"#.into()),
            (Dialect::Rest03, r#"{"code":-32001,"message":"task t was not found"}"#.into()),
        ];
        for (dialect, form) in wanted {
            assert_eq!(problem.write(dialect).as_str(), form);
        }
        let field = Problem::invalid("pageSize", "must be 1 to 100").write(Dialect::JsonRpc10);
        assert!(field.as_str().contains(r#""fieldViolations":[{"field":"pageSize","#), "{field:?}");
        let taken = Problem::new(TASK_NOT_CANCELABLE, "done");
        assert_eq!((taken.status(Dialect::Rest10), taken.status(Dialect::Rest03)), (400, 409));
    }
}
