//! Resources: the agents and the gateway's state, for hosts that show or attach them.

use alloc::format;
use alloc::string::{String, ToString};

use super::era::{self, Era, RpcError};
use crate::config::Config;
use crate::json::{Array, Json, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;
use crate::scope::Scope;
use crate::tools::agent_entry;

/// The template's URI (RFC 6570).
pub const AGENT_TEMPLATE: &str = "narrows://agents/{alias}";
const JSON: &str = "application/json";

/// A resource.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// its URI
    pub uri: &'static str,
    /// its name
    pub name: &'static str,
    /// what is in it
    pub description: &'static str,
    /// its type of content
    pub mime_type: &'static str,
    /// whether it never changes, so that nobody who subscribes to it has to be told anything
    pub constant: bool,
    /// reads it
    pub read: fn(&Scope, &Config) -> Content,
}

/// Resources whose URIs differ in a part.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// their URI (RFC 6570)
    pub uri: &'static str,
    /// their name
    pub name: &'static str,
    /// what is in them
    pub description: &'static str,
    /// their type of content
    pub mime_type: &'static str,
    /// reads the one with that URI, where it is one of them and there is such a one
    pub read: fn(&Scope, &Config, &str) -> Option<Content>,
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// text
    Text(String),
    /// bytes in base64
    Blob(String),
}

/// Every resource, the same in every process.
#[cfg(not(any(test, narrows_fixtures)))]
const RESOURCES: &[Resource] = &OWN;
/// Every template.
#[cfg(not(any(test, narrows_fixtures)))]
const TEMPLATES: &[Template] = &OWN_TEMPLATES;
#[cfg(any(test, narrows_fixtures))]
use crate::fixtures::{RESOURCES, TEMPLATES};

/// Whether there is any resource to subscribe to.
pub const SUBSCRIBABLE: bool = {
    let (mut constant, mut rest) = (false, RESOURCES);
    while let [resource, tail @ ..] = rest {
        constant |= resource.constant;
        rest = tail;
    }
    constant
};

/// The gateway's own.
pub(crate) const OWN: [Resource; 2] = [
    Resource {
        uri: "narrows://agents",
        name: "agents",
        description: "The connected agents, as list_agents shows them.",
        mime_type: JSON,
        constant: false,
        read: agents,
    },
    Resource {
        uri: "narrows://status",
        name: "status",
        description: "How many agents, pending sends and inbox entries there are.",
        mime_type: JSON,
        constant: false,
        read: status,
    },
];

/// The gateway's own.
pub(crate) const OWN_TEMPLATES: [Template; 1] = [Template {
    uri: AGENT_TEMPLATE,
    name: "agent",
    description: "One connected agent, with what its card says.",
    mime_type: JSON,
    read: agent,
}];

/// `resources/list`: the same in every process.
#[must_use]
pub fn list(config: &Config, era: Era) -> Json {
    let mut resources = Array::new();
    for Resource { uri, name, description, mime_type, .. } in RESOURCES {
        resources.json(&entry(("uri", uri), name, description, mime_type));
    }
    listed("resources", resources, config, era)
}

/// `resources/templates/list`.
#[must_use]
pub fn templates(config: &Config, era: Era) -> Json {
    let mut templates = Array::new();
    for Template { uri, name, description, mime_type, .. } in TEMPLATES {
        templates.json(&entry(("uriTemplate", uri), name, description, mime_type));
    }
    listed("resourceTemplates", templates, config, era)
}

/// Whether a template has an argument of that name; `None` where there is no such template.
#[must_use]
pub fn has_argument(template: &str, argument: &str) -> Option<bool> {
    let template = TEMPLATES.iter().find(|known| known.uri == template)?;
    Some(template.uri.split('{').skip(1).any(|rest| rest.split('}').next() == Some(argument)))
}

fn entry((key, uri): (&str, &str), name: &str, description: &str, mime_type: &str) -> Json {
    let mut out = Object::new();
    out.string(key, uri).string("name", name).string("description", description).string("mimeType", mime_type);
    out.finish()
}

fn listed(name: &str, list: Array, config: &Config, era: Era) -> Json {
    let mut out = Object::new();
    out.json(name, &list.finish());
    era::cache_hints(&mut out, era);
    era::shape(out, era, config)
}

/// `resources/read`.
///
/// # Errors
/// -32602 with the URI where there is no such resource (MCP 2026-07-28, resources).
pub fn read(scope: &Scope, config: &Config, era: Era, params: &Members<'_>) -> Result<Json, RpcError> {
    let uri = uri_of(params)?;
    let found = match RESOURCES.iter().find(|resource| resource.uri == uri) {
        Some(resource) => Some((resource.mime_type, (resource.read)(scope, config))),
        None => {
            let read = |template: &Template| Some((template.mime_type, (template.read)(scope, config, &uri)?));
            TEMPLATES.iter().find_map(read)
        }
    };
    let (mime_type, content) = found.ok_or_else(|| unknown(&uri))?;
    let mut contents = Array::new();
    contents.json(&contents_of(&uri, mime_type, &content));
    let mut out = Object::new();
    out.nested("contents", contents);
    era::volatile(&mut out, era);
    Ok(era::shape(out, era, config))
}

/// What a resource holds, as it is told.
#[must_use]
pub fn contents_of(uri: &str, mime_type: &str, content: &Content) -> Json {
    let mut item = Object::new();
    item.string("uri", uri).string("mimeType", mime_type);
    match content {
        Content::Text(text) => item.string("text", text),
        Content::Blob(base64) => item.string("blob", base64),
    };
    item.finish()
}

/// `resources/subscribe` and `resources/unsubscribe`, of those that never change.
///
/// # Errors
/// -32602 where there is no such resource, or where it changes.
pub fn subscribe(params: &Members<'_>) -> Result<Json, RpcError> {
    let uri = uri_of(params)?;
    let is_constant = RESOURCES.iter().any(|resource| resource.constant && resource.uri == uri);
    if is_constant { Ok(Object::new().finish()) } else { Err(unknown(&uri)) }
}

fn uri_of(params: &Members<'_>) -> Result<String, RpcError> {
    params.string("uri").ok_or_else(|| RpcError::new(INVALID_PARAMS, "`uri` must be a string"))
}

fn unknown(uri: &str) -> RpcError {
    let mut data = Object::new();
    data.string("uri", uri);
    let message = format!("there is no resource {}", super::server::shortened(uri));
    RpcError { code: INVALID_PARAMS, message, data: Some(data.finish()) }
}

fn agents(scope: &Scope, config: &Config) -> Content {
    let mut list = Array::new();
    for (alias, agent) in scope.registry.iter() {
        list.json(&agent_entry(alias, agent, agent.health.name(config.health_failure_threshold)));
    }
    Content::Text(list.finish().into_string())
}

fn agent(scope: &Scope, config: &Config, uri: &str) -> Option<Content> {
    let alias = uri.strip_prefix("narrows://agents/")?;
    let agent = scope.registry.get(alias)?;
    let mut out = Object::new();
    out.json("agent", &agent_entry(alias, agent, agent.health.name(config.health_failure_threshold)));
    out.optional_json("card", agent.card());
    Some(Content::Text(out.finish().into_string()))
}

fn status(scope: &Scope, config: &Config) -> Content {
    let inbox = u64::try_from(scope.inbox.entries(None).count()).unwrap_or(u64::MAX);
    let mut out = Object::new();
    out.string("name", &config.name).string("version", &config.version);
    out.integer("agents", scope.registry.len()).integer("pending", scope.pending.len()).integer("inbox", inbox);
    Content::Text(out.finish().into_string())
}

/// The aliases that begin so, for completion.
pub fn aliases<'s>(scope: &'s Scope, start: &'s str) -> impl Iterator<Item = String> + 's {
    scope.registry.iter().map(|(alias, _)| alias.to_string()).filter(move |alias| alias.starts_with(start))
}
