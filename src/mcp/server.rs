//! Requests and notifications of a peer, answered or turned into tool calls.

use alloc::format;
use alloc::string::String;

use super::asks::{Answers, Asks, Capabilities};
use super::era::{self, Envelope, Era, LEGACY_VERSIONS, RpcError};
use super::prompts::{self, Got};
use super::session::Session;
use super::subject::{ASKS, Subject};
use super::{completion, resources};
use crate::call::policy;
use crate::config::{CallerConfig, Config};
use crate::ground::Ground;
use crate::incoming::principal_of;
use crate::io::Level;
use crate::json::{self, Array, Json, Kind, Members, Object, Raw};
use crate::jsonrpc::{INVALID_PARAMS, Id, METHOD_NOT_FOUND};
use crate::link::catalog::LinkedTool;
use crate::scope::Scope;
use crate::text;
use crate::tools::call_tool::{self, CALL_TOOL};
use crate::tools::{SEARCH, offered, own};

/// What the model of a host is told about the server.
const INSTRUCTIONS: &str = "Talks to A2A agents. Connect one with connect_agent, then send_message by its alias; a follow-up \
continues the conversation. A result in state input-required waits for your answer: send it with send_message. \
Over HTTP agents and conversations belong to your session, or where there is none to your token.";

/// What is wrong with a state that is brought back and not taken.
pub(crate) const STATE_FAULT: &str = "`requestState` is not what this call was given, or too old: call again without it";

/// What becomes of a request.
#[derive(Debug)]
pub enum Answer<'a> {
    /// this result
    Result(Json),
    /// a tool or prompt is to be run
    Call(Wanted<'a>),
    /// a tool of a name that is not offered was called
    Unknown(String, Era),
    /// a stream of list changes was opened
    Listen {
        /// what it is told at once
        acknowledgement: Json,
        /// whether it is told of changes of the tools
        tools: bool,
    },
}

/// A tool or prompt that is to be run.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// which
    pub subject: Subject,
    /// its arguments, an object
    pub arguments: Option<Raw<'a>>,
    /// era, progress token, log level and capabilities
    pub envelope: Envelope,
    /// what it asked before and is told now
    pub answers: Answers,
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
    let mut envelope = Envelope::read(members.as_ref())?;
    let members = members.unwrap_or_default();
    match envelope.era {
        Era::Legacy => {
            envelope.log_level = session.log_level;
            envelope.capabilities = session.capabilities;
            legacy(session, scope, ground, envelope, method, &members)
        }
        Era::Modern => {
            if method != "server/discover" {
                session.modern = true;
            }
            modern(session, scope, ground, envelope, id, method, &members)
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
        "resources/subscribe" | "resources/unsubscribe" if resources::SUBSCRIBABLE => {
            resources::subscribe(params).map(Answer::Result)
        }
        _ => shared(session, scope, ground, envelope, method, params),
    }
}

/// The methods that both eras have.
fn shared<'a>(
    session: &Session,
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
        "tools/list" => Ok(Answer::Result(tools_list(&session.scope, ground, era))),
        "tools/call" => tools_call(&session.scope, ground, envelope, params),
        "resources/list" => Ok(Answer::Result(resources::list(config, era))),
        "resources/templates/list" => Ok(Answer::Result(resources::templates(config, era))),
        "resources/read" => resources::read(scope, config, era, params).map(Answer::Result),
        "prompts/list" => Ok(Answer::Result(prompts::list(config, era))),
        "prompts/get" => prompts_get(&session.scope, ground, envelope, params),
        "completion/complete" => completion::complete(scope, config, era, params).map(Answer::Result),
        _ => Err(unknown_method(method)),
    }
}

fn modern<'a>(
    session: &Session,
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
            out.json("supportedVersions", &era::modern_versions());
            out.json("capabilities", &capabilities(&ground.config, Era::Modern));
            out.string("instructions", INSTRUCTIONS);
            era::cache_hints(&mut out, Era::Modern);
            Ok(Answer::Result(era::shape(out, Era::Modern, &ground.config)))
        }
        "subscriptions/listen" => {
            let fault =
                || RpcError::new(INVALID_PARAMS, "`notifications` must be an object of what is to be told, each true or false");
            let wanted = params.get("notifications").and_then(json::members).ok_or_else(fault)?;
            let asked = match wanted.get("toolsListChanged") {
                Some(raw) => json::boolean(raw).ok_or_else(fault)?,
                None => false,
            };
            let tools = asked && !ground.config.mcp_servers.is_empty();
            Ok(Answer::Listen { acknowledgement: era::acknowledgement(id.as_json(), tools), tools })
        }
        _ => shared(session, scope, ground, envelope, method, params),
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
    let declared = params.get("capabilities").and_then(json::members).unwrap_or_default();
    session.capabilities = Capabilities::read(&declared);
    let mut out = Object::new();
    out.string("protocolVersion", version).json("capabilities", &capabilities(config, Era::Legacy));
    out.json("serverInfo", &era::server_info(config)).string("instructions", INSTRUCTIONS);
    out.finish()
}

fn capabilities(config: &Config, era: Era) -> Json {
    let mut out = Object::new();
    for name in ["completions", "logging", "prompts", "resources", "tools"] {
        let mut capability = Object::new();
        if resources::SUBSCRIBABLE && name == "resources" && era == Era::Legacy {
            capability.boolean("subscribe", true);
        }
        if name == "tools" && !config.mcp_servers.is_empty() {
            capability.boolean("listChanged", true);
        }
        out.nested(name, capability);
    }
    out.finish()
}

/// The list is the longest text that hosts ask for, and the same as long as no server behind the gateway lists other
/// tools: written once, where every caller may use them all.
fn tools_list(scope_name: &str, ground: &Ground, era: Era) -> Json {
    let config = &ground.config;
    let [legacy, modern] = &ground.tools_lists;
    let list = match era {
        Era::Legacy => legacy,
        Era::Modern => modern,
    };
    let own = config.policy.tells_callers_apart().then(|| {
        let caller = policy::caller_of(config, scope_name, principal_of(scope_name).is_some());
        written_list(ground, era, &|tool| policy::may_call_tool(config, &caller, tool))
    });
    let list = own.as_ref().unwrap_or_else(|| list.get_or_init(|| written_list(ground, era, &|_| true)));
    let mut out = Object::with_capacity(list.as_str().len() + 256);
    out.json("tools", list);
    if config.mcp_servers.is_empty() {
        era::cache_hints(&mut out, era);
    } else {
        era::volatile(&mut out, era);
    }
    era::shape(out, era, config)
}

fn written_list(ground: &Ground, era: Era, is_offered: &dyn Fn(&LinkedTool) -> bool) -> Json {
    let mut list = Array::new();
    for tool in offered(&ground.config) {
        list.json(&tool.to_json());
    }
    if ground.config.is_searched() {
        for tool in SEARCH {
            list.json(&tool.to_json());
        }
        return list.finish();
    }
    for tool in ground.catalog.iter().filter(|tool| is_offered(tool)) {
        list.json(&tool.to_json(era));
    }
    list.finish()
}

fn tools_call<'a>(scope_name: &str, ground: &Ground, envelope: Envelope, params: &Members<'a>) -> Result<Answer<'a>, RpcError> {
    let name = params.string("name").ok_or_else(|| RpcError::new(INVALID_PARAMS, "`name` must be a string"))?;
    let mut arguments = arguments(params)?;
    let linked = |name: &str| ground.catalog.find(name).map(|tool| Subject::Linked(tool.clone()));
    let mut subject = own(&ground.config, &name).map(Subject::Tool).or_else(|| linked(&name));
    if matches!(&subject, Some(Subject::Tool(tool)) if tool.name == CALL_TOOL) {
        let meant = call_tool::meant(&arguments.and_then(json::members).unwrap_or_default());
        if let Some((tool, given)) = meant.and_then(|(name, given)| Some((linked(&name)?, given))) {
            (subject, arguments) = (Some(tool), given);
        }
    }
    let Some(subject) = subject else { return Ok(Answer::Unknown(name, envelope.era)) };
    wanted(scope_name, ground, subject, arguments, envelope, params)
}

/// A name that is not offered, with those that are like it and that the caller may call.
#[must_use]
pub fn unknown_tool(ground: &Ground, caller: &CallerConfig, name: &str) -> RpcError {
    let mut message = format!("unknown tool: {}", shortened(name));
    let near = ground.catalog.near(name, &|tool| policy::may_call_tool(&ground.config, caller, tool));
    if !near.is_empty() {
        message.push_str("; offered are ");
        message.push_str(&text::joined(&near, ", "));
    }
    RpcError::new(INVALID_PARAMS, message)
}

fn arguments<'a>(params: &Members<'a>) -> Result<Option<Raw<'a>>, RpcError> {
    match params.get("arguments") {
        Some(raw) if json::kind(raw) != Kind::Object => Err(RpcError::new(INVALID_PARAMS, "`arguments` must be an object")),
        raw => Ok(raw),
    }
}

fn prompts_get<'a>(scope_name: &str, ground: &Ground, envelope: Envelope, params: &Members<'a>) -> Result<Answer<'a>, RpcError> {
    let name = params.string("name").ok_or_else(|| RpcError::new(INVALID_PARAMS, "`name` must be a string"))?;
    let arguments = params.get("arguments");
    let members = arguments.and_then(json::members).unwrap_or_default();
    match prompts::get(&ground.config, envelope.era, &name, &members)? {
        Got::Result(result) => Ok(Answer::Result(result)),
        Got::Call(prompt) if !ASKS => Err(RpcError::new(INVALID_PARAMS, format!("unknown prompt: {}", prompt.name))),
        Got::Call(prompt) => wanted(scope_name, ground, Subject::Prompt(prompt), arguments, envelope, params),
    }
}

/// A call, with what it asked before where it may ask.
fn wanted<'a>(
    scope_name: &str,
    ground: &Ground,
    subject: Subject,
    arguments: Option<Raw<'a>>,
    envelope: Envelope,
    params: &Members<'_>,
) -> Result<Answer<'a>, RpcError> {
    let answers = if subject.asks() {
        answers(ground, &envelope, &same_call(scope_name, &subject, arguments), params)?
    } else {
        Answers::none()
    };
    Ok(Answer::Call(Wanted { subject, arguments, envelope, answers }))
}

/// All that makes two calls the same one.
#[must_use]
pub fn same_call(scope_name: &str, subject: &Subject, arguments: Option<Raw<'_>>) -> [String; 4] {
    let arguments = arguments.map_or_else(|| Object::new().finish(), Json::from_raw);
    [scope_name, subject.kind(), subject.name(), arguments.as_str()].map(String::from)
}

/// What a call is told that it asked before. In a session it is told otherwise.
///
/// # Errors
/// -32602 where it is malformed, or the state is not one of this call's.
fn answers(ground: &Ground, envelope: &Envelope, call: &[String], params: &Members<'_>) -> Result<Answers, RpcError> {
    match envelope.era {
        Era::Legacy => return Ok(Answers::none()),
        Era::Modern => {}
    }
    let mut answers = Answers::read(params)?;
    if let Some(raw) = params.get("requestState") {
        let state = json::string(raw).and_then(|sealed| ground.seal().open(&sealed, call, ground.wall()));
        answers.state = Some(state.ok_or_else(|| RpcError::new(INVALID_PARAMS, STATE_FAULT))?);
    }
    Ok(answers)
}

/// The result that asks a modern client.
#[must_use]
pub fn input_required(ground: &Ground, scope: &Scope, call: &[String], asks: &Asks) -> Json {
    let state = asks.state.clone().map(|state| scope.secrets.redact_json(state));
    let sealed = state.map(|state| ground.seal().close(&state, call, ground.wall()));
    era::modern(asks.to_object(sealed.as_deref()), "input_required", &ground.config)
}
