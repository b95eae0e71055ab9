//! What a refused request is told: in plain words, or as the errors of the binding that it would have spoken.

use alloc::string::{String, ToString};

use crate::a2a::Dialect;
use crate::incoming::Face;
use crate::incoming::access::Refusal;
use crate::io::RequestId;
use crate::json::{Array, Object};

/// The name of an HTTP status (google.rpc.Code).
const NAMES: [(u16, &str); 10] = [
    (400, "INVALID_ARGUMENT"),
    (401, "UNAUTHENTICATED"),
    (403, "PERMISSION_DENIED"),
    (404, "NOT_FOUND"),
    (405, "UNIMPLEMENTED"),
    (413, "RESOURCE_EXHAUSTED"),
    (415, "INVALID_ARGUMENT"),
    (429, "RESOURCE_EXHAUSTED"),
    (431, "RESOURCE_EXHAUSTED"),
    (503, "UNAVAILABLE"),
];

/// The body of a refusal, with its media type.
pub(super) fn body(request: RequestId, face: Face, refusal: &Refusal) -> (&'static str, String) {
    if face == Face::Words || refusal.message.is_empty() {
        return ("text/plain; charset=utf-8", String::from(refusal.message));
    }
    let (mut error, mut out) = (Object::new(), Object::new());
    let name = NAMES.iter().find(|(status, _)| *status == refusal.status).map_or("INTERNAL", |(_, name)| name);
    let code = if refusal.status < 500 { -32600 } else { -32603 };
    match face {
        Face::Words | Face::Rpc | Face::Rest(Dialect::JsonRpc10 | Dialect::JsonRpc03) => {
            error.integer("code", code).string("message", refusal.message);
            out.string("jsonrpc", "2.0").raw("id", "null").nested("error", error);
        }
        Face::Rest(Dialect::Rest10) => {
            error.integer("code", refusal.status).string("status", name).string("message", refusal.message);
            error.nested("details", Array::new());
            out.nested("error", error);
        }
        Face::Rest(Dialect::Rest03) => {
            out.integer("code", code).string("message", refusal.message);
        }
        Face::Plain => {
            let name = name.to_ascii_lowercase();
            error.string("code", &name).string("message", refusal.message).string("request_id", &request.0.to_string());
            out.nested("error", error);
        }
    }
    ("application/json", out.finish().into_string())
}
