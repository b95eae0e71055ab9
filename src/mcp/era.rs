//! The two eras of MCP: with a handshake (2024-11-05 to 2025-11-25), and with `_meta` on each request (2026-07-28).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::asks::Capabilities;
use crate::config::Config;
use crate::io::Level;
use crate::json::{self, Array, Json, Members, Object};
use crate::jsonrpc::{self, ID_BYTES, INVALID_PARAMS};
use crate::link::wire;
use crate::text;
use crate::trace_context::TraceContext;

/// The versions with a handshake, oldest first.
pub const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The versions without one.
pub const MODERN_VERSIONS: [&str; 1] = ["2026-07-28"];

/// The request names a version that is not spoken here (MCP 2026-07-28, versioning).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The members of `_meta` that belong to the protocol (MCP 2026-07-28, `_meta`).
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

const BOTH: &str = "io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities";

/// How the answer to a request is shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// a handshake came first, or should have
    Legacy,
    /// the request carries all that matters
    Modern,
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// the code
    pub code: i64,
    /// what is wrong
    pub message: String,
    /// for machines
    pub data: Option<Json>,
}

impl RpcError {
    /// An error without data.
    #[must_use]
    #[inline(never)]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// What a request's `_meta` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// the era it belongs to
    pub era: Era,
    /// the token that progress is to carry, literally
    pub progress_token: Option<Json>,
    /// the least level of log messages that are asked for
    pub log_level: Option<Level>,
    /// what the client may be asked
    pub capabilities: Capabilities,
    /// what is the protocol's neither: for whoever the request goes on to
    pub meta: Vec<(String, Json)>,
    /// which trace the request belongs to
    pub trace: Option<TraceContext>,
}

impl Envelope {
    /// Reads `_meta` of a request's parameters. A claim to the modern era is held to all of its rules.
    ///
    /// # Errors
    /// -32602 where a member is missing or wrong or a token too long, -32022 where the version is not spoken here.
    pub fn read(params: Option<&Members<'_>>) -> Result<Self, RpcError> {
        let meta = params.and_then(|params| params.get("_meta")).and_then(json::members).unwrap_or_default();
        let token = meta.get("progressToken").filter(|raw| jsonrpc::is_named(*raw));
        if token.is_some_and(|raw| raw.get().len() as u64 > ID_BYTES) {
            return Err(RpcError::new(INVALID_PARAMS, "`_meta.progressToken` must have at most 1,024 bytes"));
        }
        let progress_token = token.map(Json::from_raw);
        let (capabilities, trace) = (Capabilities::none(), TraceContext::of_meta(&meta));
        let meta_members = wire::relayed_meta(&meta);
        let mut envelope = Self { era: Era::Legacy, progress_token, log_level: None, capabilities, meta: meta_members, trace };
        if !claims_modern(&meta) {
            return Ok(envelope);
        }
        let version = meta.string(VERSION);
        let capabilities = meta.get(CAPABILITIES).and_then(json::members);
        let (version, missing) = match (version, &capabilities) {
            (Some(version), Some(_)) => (version, ""),
            (Some(_), None) => (String::new(), CAPABILITIES),
            (None, Some(_)) => (String::new(), VERSION),
            (None, None) => (String::new(), BOTH),
        };
        if !missing.is_empty() {
            return Err(RpcError::new(INVALID_PARAMS, format!("`_meta` lacks {missing}")));
        }
        if !MODERN_VERSIONS.contains(&version.as_str()) {
            return Err(unsupported(&version));
        }
        envelope.era = Era::Modern;
        envelope.capabilities = Capabilities::read(&capabilities.unwrap_or_default());
        envelope.log_level = meta.string(LOG_LEVEL).and_then(|name| Level::named(&name));
        Ok(envelope)
    }
}

/// The answer to a request of a version that is not spoken here.
fn unsupported(version: &str) -> RpcError {
    let mut data = Object::new();
    data.strings("supported", MODERN_VERSIONS).string("requested", version);
    let message = format!("protocol version {version} is not supported; supported: {}", text::joined(&MODERN_VERSIONS, ", "));
    RpcError { code: UNSUPPORTED_VERSION, message, data: Some(data.finish()) }
}

/// The version that the parameters of a modern message claim.
#[must_use]
pub fn claimed_version(params: &Members<'_>) -> Option<String> {
    params.get("_meta").and_then(json::members)?.string(VERSION)
}

/// Whether parameters carry any member of the modern envelope.
#[must_use]
pub fn is_claimed(params: &Members<'_>) -> bool {
    params.get("_meta").and_then(json::members).is_some_and(|meta| claims_modern(&meta))
}

fn claims_modern(meta: &Members<'_>) -> bool {
    [VERSION, CAPABILITIES, CLIENT].iter().any(|name| meta.has(name))
}

/// Name and version of this server.
#[must_use]
pub fn server_info(config: &Config) -> Json {
    let mut out = Object::new();
    out.string("name", &config.name);
    // A gateway with a name of its own is shown under that name.
    if config.name == Config::default().name {
        out.string("title", "Narrows");
    }
    out.string("version", &config.version);
    out.finish()
}

/// Ends a result in the shape of its era.
#[must_use]
pub fn shape(result: Object, era: Era, config: &Config) -> Json {
    match era {
        Era::Legacy => result.finish(),
        Era::Modern => modern(result, "complete", config),
    }
}

/// Ends a modern result of that type.
#[must_use]
pub fn modern(result: Object, result_type: &str, config: &Config) -> Json {
    modern_with(result, result_type, &[], config)
}

/// The same with further members of `_meta`.
#[must_use]
pub fn modern_with(mut result: Object, result_type: &str, more: &[(String, Json)], config: &Config) -> Json {
    let mut meta = Object::new();
    meta.json(SERVER, &server_info(config)).members(more);
    result.string("resultType", result_type).nested("_meta", meta);
    result.finish()
}

/// How long a list may be kept (MCP 2026-07-28, caching): it never changes in one process, but is each user's own.
pub fn cache_hints(result: &mut Object, era: Era) {
    match era {
        Era::Legacy => {}
        Era::Modern => {
            result.integer("ttlMs", 60_000).string("cacheScope", "private");
        }
    }
}

/// The same for what may change at any moment.
pub fn volatile(result: &mut Object, era: Era) {
    match era {
        Era::Legacy => {}
        Era::Modern => {
            result.integer("ttlMs", 0).string("cacheScope", "private");
        }
    }
}

/// The answer to a `subscriptions/listen` that the gateway ends.
#[must_use]
pub fn listened(id: &Json, config: &Config) -> Json {
    let (mut meta, mut out) = (Object::new(), Object::new());
    meta.json(SERVER, &server_info(config)).json(SUBSCRIPTION, id);
    out.string("resultType", "complete").nested("_meta", meta);
    out.finish()
}

/// The acknowledgement of a `subscriptions/listen`: of the lists that were asked for, that of the tools may change.
#[must_use]
pub fn acknowledgement(id: &Json, tools: bool) -> Json {
    let mut notifications = Object::new();
    if tools {
        notifications.boolean("toolsListChanged", true);
    }
    let mut out = Object::new();
    out.nested("notifications", notifications).nested("_meta", subscribed(id));
    out.finish()
}

/// The parameters of a notification on the stream of a `subscriptions/listen`.
#[must_use]
pub fn on_stream(id: &Json) -> Json {
    let mut out = Object::new();
    out.nested("_meta", subscribed(id));
    out.finish()
}

fn subscribed(id: &Json) -> Object {
    let mut meta = Object::new();
    meta.json(SUBSCRIPTION, id);
    meta
}

/// The versions that `server/discover` names.
#[must_use]
pub fn modern_versions() -> Json {
    let mut list = Array::new();
    for version in MODERN_VERSIONS {
        list.string(version);
    }
    list.finish()
}
