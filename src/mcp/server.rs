//! Requests and notifications of a peer, answered or turned into tool calls.

use alloc::format;
use alloc::string::String;

use super::era::{self, Envelope, Era, LEGACY_VERSIONS, RpcError};
use super::session::Session;
use super::tool::Tool;
use super::{completion, prompts, resources};
use crate::config::Config;
use crate::ground::Ground;
use crate::io::Level;
use crate::json::{self, Array, Json, Kind, Members, Object, Raw};
use crate::jsonrpc::{INVALID_PARAMS, Id, METHOD_NOT_FOUND};
use crate::scope::Scope;
use crate::tools::offered;

/// What the model of a host is told about the server.
const INSTRUCTIONS: &str = "Talks to A2A agents. Connect one with connect_agent, then send_message by its alias; a follow-up \
continues the conversation. A result in state input-required waits for your answer: send it with send_message.";

/// What becomes of a request.
#[derive(Debug)]
pub enum Answer<'a> {
    /// this result
    Result(Json),
    /// a tool is to be run
    Call {
        /// which
        tool: &'static Tool,
        /// its arguments
        arguments: Members<'a>,
        /// era, progress token and log level
        envelope: Envelope,
    },
    /// a stream of list changes was opened: its acknowledgement
    Listen(Json),
}

/// Answers a request.
///
/// # Errors
/// A JSON-RPC error.
pub fn request<'a>(
    session: &mut Session,
    scope: &Scope,
    ground: &Ground,
    id: &Id,
    method: &str,
    params: Option<Raw<'a>>,
) -> Result<Answer<'a>, RpcError> {
    let members = match params {
        Some(raw) => Some(json::members(raw).ok_or_else(|| RpcError::new(INVALID_PARAMS, "`params` must be an object"))?),
        None => None,
    };
    let envelope = Envelope::read(members.as_ref())?;
    let members = members.unwrap_or_default();
    match envelope.era {
        Era::Legacy => legacy(session, scope, ground, envelope, method, &members),
        Era::Modern => {
            if method != "server/discover" {
                session.modern = true;
            }
            modern(scope, ground, envelope, id, method, &members)
        }
    }
}

fn legacy<'a>(
    session: &mut Session,
    scope: &Scope,
    ground: &Ground,
    envelope: Envelope,
    method: &str,
    params: &Members<'a>,
) -> Result<Answer<'a>, RpcError> {
    match method {
        "initialize" => Ok(Answer::Result(initialize(session, &ground.config, params))),
        "ping" => Ok(Answer::Result(Object::new().finish())),
        "logging/setLevel" => {
            let level = params.string("level").and_then(|name| Level::named(&name));
            let fault = "`level` must be one of debug, info, notice, warning, error, critical, alert, emergency";
            session.log_level = Some(level.ok_or_else(|| RpcError::new(INVALID_PARAMS, fault))?);
            Ok(Answer::Result(Object::new().finish()))
        }
        // A sessionless peer that once forgets its envelope is told so; one that shook hands is served.
        _ if session.unclaimed_era() == Era::Modern => Err(RpcError::new(
            INVALID_PARAMS,
            "`params._meta` lacks io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities",
        )),
        _ => shared(scope, ground, envelope, method, params),
    }
}

/// The methods that both eras have.
fn shared<'a>(
    scope: &Scope,
    ground: &Ground,
    envelope: Envelope,
    method: &str,
    params: &Members<'a>,
) -> Result<Answer<'a>, RpcError> {
    let era = envelope.era;
    if method.ends_with("/list") && params.get("cursor").is_some() {
        return Err(RpcError::new(INVALID_PARAMS, "unknown cursor: the list has one page"));
    }
    let config = &ground.config;
    match method {
        "tools/list" => Ok(Answer::Result(tools_list(ground, era))),
        "tools/call" => tools_call(config, envelope, params),
        "resources/list" => Ok(Answer::Result(resources::list(config, era))),
        "resources/templates/list" => Ok(Answer::Result(resources::templates(config, era))),
        "resources/read" => resources::read(scope, config, era, params).map(Answer::Result),
        "prompts/list" => Ok(Answer::Result(prompts::list(config, era))),
        "prompts/get" => prompts::get(config, era, params).map(Answer::Result),
        "completion/complete" => completion::complete(scope, config, era, params).map(Answer::Result),
        _ => Err(unknown_method(method)),
    }
}

fn modern<'a>(
    scope: &Scope,
    ground: &Ground,
    envelope: Envelope,
    id: &Id,
    method: &str,
    params: &Members<'a>,
) -> Result<Answer<'a>, RpcError> {
    match method {
        "server/discover" => {
            let mut out = Object::new();
            out.json("supportedVersions", &era::modern_versions()).json("capabilities", &capabilities());
            out.string("instructions", INSTRUCTIONS);
            era::cache_hints(&mut out, Era::Modern);
            Ok(Answer::Result(era::shape(out, Era::Modern, &ground.config)))
        }
        "subscriptions/listen" => Ok(Answer::Listen(era::acknowledgement(id.as_json()))),
        _ => shared(scope, ground, envelope, method, params),
    }
}

fn unknown_method(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, format!("method not found: {}", shortened(method)))
}

/// A name of the caller's in an error message, cut to a readable length.
pub(super) fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
}

/// The handshake: the version asked for where it is spoken, else the newest one that has a handshake.
fn initialize(session: &mut Session, config: &Config, params: &Members<'_>) -> Json {
    let asked = params.string("protocolVersion").unwrap_or_default();
    let version = LEGACY_VERSIONS.into_iter().find(|known| *known == asked).unwrap_or("2025-11-25");
    session.version = Some(version);
    let mut out = Object::new();
    out.string("protocolVersion", version).json("capabilities", &capabilities());
    out.json("serverInfo", &era::server_info(config)).string("instructions", INSTRUCTIONS);
    out.finish()
}

fn capabilities() -> Json {
    let mut out = Object::new();
    for name in ["completions", "logging", "prompts", "resources", "tools"] {
        out.nested(name, Object::new());
    }
    out.finish()
}

/// The list is the longest text that hosts ask for, and the same as long as the configuration stands: written once.
fn tools_list(ground: &Ground, era: Era) -> Json {
    let config = &ground.config;
    let list = ground.tools_list.get_or_init(|| {
        let mut list = Array::new();
        for tool in offered(config) {
            list.json(&tool.to_json());
        }
        list.finish()
    });
    let mut out = Object::with_capacity(list.as_str().len() + 256);
    out.json("tools", list);
    era::cache_hints(&mut out, era);
    era::shape(out, era, config)
}

fn tools_call<'a>(config: &Config, envelope: Envelope, params: &Members<'a>) -> Result<Answer<'a>, RpcError> {
    let name = params.string("name").ok_or_else(|| RpcError::new(INVALID_PARAMS, "`name` must be a string"))?;
    let tool = offered(config)
        .find(|tool| tool.name == name)
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, format!("unknown tool: {}", shortened(&name))))?;
    let arguments = match params.get("arguments") {
        Some(raw) if json::kind(raw) == Kind::Object => json::members(raw).unwrap_or_default(),
        Some(_) => return Err(RpcError::new(INVALID_PARAMS, "`arguments` must be an object")),
        None => Members::default(),
    };
    Ok(Answer::Call { tool, arguments, envelope })
}
