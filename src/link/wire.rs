//! What is said to a server, in the words of its era.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::call::CallId;
use crate::call::rounds::Responses;
use crate::config::Config;
use crate::io::Level;
use crate::json::{Json, Members, Object};
use crate::list::gather;
use crate::mcp::asks::Capabilities;
use crate::mcp::era::{self, Era, LEGACY_VERSIONS, MODERN_VERSIONS};

/// What the members of `_meta` begin with that belong to the protocol, and to nobody else.
const PROTOCOL: &str = "io.modelcontextprotocol/";

/// A call that is to be made.
#[derive(Clone, Debug)]
pub struct CallOrder {
    /// whose it is
    pub call: CallId,
    /// the tool's name as its server knows it
    pub tool: String,
    /// its arguments, where any were given
    pub arguments: Option<Json>,
    /// what the server is told that had asked
    pub responses: Option<Responses>,
    /// what the caller can be asked
    pub capabilities: Capabilities,
    /// what in the caller's `_meta` is not the protocol's: trace context, and members of vendors
    pub meta: Vec<(String, Json)>,
    /// whether the caller asked for progress
    pub progress: bool,
    /// the least level of log messages that the caller asked for
    pub log_level: Option<Level>,
    /// whether it was made once already, in a session that was over
    pub again: bool,
}

/// A request with a number for its id: a number of this link that was never used before.
#[must_use]
pub fn request(id: u64, method: &str, params: Object) -> Json {
    let mut out = Object::new();
    out.string("jsonrpc", "2.0").integer("id", id).string("method", method).nested("params", params);
    out.finish()
}

/// The members of `_meta` that go through the gateway: neither the protocol's own nor the token of progress, which is
/// another one on each side.
#[must_use]
pub fn relayed_meta(meta: &Members<'_>) -> Vec<(String, Json)> {
    let passes = |name: &str| !name.starts_with(PROTOCOL) && name != "progressToken";
    gather(meta.iter().filter(|(name, _)| passes(name)).map(|(name, raw)| (name.to_string(), Json::from_raw(raw))))
}

/// Name and version of this gateway as a client.
fn client_info(config: &Config) -> Json {
    era::server_info(config)
}

/// What this gateway can be asked as a client, outside of calls: whatever the client of a later call may be able to do.
fn capabilities() -> Object {
    Capabilities::all().to_object()
}

/// The parameters of `initialize`: the newest version that has a handshake.
#[must_use]
pub fn initialize(config: &Config) -> Object {
    let mut params = Object::new();
    params.string("protocolVersion", LEGACY_VERSIONS.last().copied().unwrap_or_default());
    params.nested("capabilities", capabilities()).json("clientInfo", &client_info(config));
    params
}

/// Adds `_meta` to the parameters of a request: what the era asks for, and what is there beside it.
fn meta(params: &mut Object, era: Era, config: &Config, capabilities: Object, mut meta: Object) {
    match era {
        Era::Legacy => {}
        Era::Modern => {
            meta.string("io.modelcontextprotocol/protocolVersion", MODERN_VERSIONS.first().copied().unwrap_or_default());
            meta.json("io.modelcontextprotocol/clientInfo", &client_info(config));
            meta.nested("io.modelcontextprotocol/clientCapabilities", capabilities);
        }
    }
    if !meta.is_empty() {
        params.nested("_meta", meta);
    }
}

/// The parameters of a request that has none of its own.
#[must_use]
pub fn bare(era: Era, config: &Config) -> Object {
    let mut params = Object::new();
    meta(&mut params, era, config, capabilities(), Object::new());
    params
}

/// The parameters of `tools/list`, from a cursor on.
#[must_use]
pub fn list(era: Era, config: &Config, cursor: Option<&str>) -> Object {
    let mut params = Object::new();
    params.optional_string("cursor", cursor);
    meta(&mut params, era, config, capabilities(), Object::new());
    params
}

/// The parameters of `subscriptions/listen` for changes of the list of tools.
#[must_use]
pub fn listen(config: &Config) -> Object {
    let (mut params, mut wanted) = (Object::new(), Object::new());
    wanted.boolean("toolsListChanged", true);
    params.nested("notifications", wanted);
    meta(&mut params, Era::Modern, config, capabilities(), Object::new());
    params
}

/// The parameters of `tools/call`. `token` is the token of its progress.
#[must_use]
pub fn call(era: Era, config: &Config, order: &CallOrder, token: u64) -> Object {
    let mut params = Object::new();
    params.string("name", &order.tool);
    match &order.arguments {
        Some(arguments) => params.json("arguments", arguments),
        // Optional in MCP, and missed by servers that check what they are given.
        None => params.nested("arguments", Object::new()),
    };
    if let (Era::Modern, Some(responses)) = (era, &order.responses) {
        let mut answers = Object::new();
        answers.members(&responses.answers);
        if !answers.is_empty() {
            params.nested("inputResponses", answers);
        }
        params.optional_json("requestState", responses.state.as_ref());
    }
    let mut own = Object::new();
    if order.progress {
        own.integer("progressToken", token);
    }
    if let (Era::Modern, Some(level)) = (era, order.log_level) {
        own.string("io.modelcontextprotocol/logLevel", level.name());
    }
    own.members(&order.meta);
    meta(&mut params, era, config, order.capabilities.to_object(), own);
    params
}

/// The parameters of `notifications/cancelled`.
#[must_use]
pub fn cancelled(id: u64, reason: &str) -> Json {
    let mut params = Object::new();
    params.integer("requestId", id).string("reason", reason);
    params.finish()
}
