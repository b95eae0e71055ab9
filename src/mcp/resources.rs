//! Resources: the agents and the gateway's state, for hosts that show or attach them.

use alloc::format;
use alloc::string::{String, ToString};

use super::era::{self, Era, RpcError};
use crate::config::Config;
use crate::json::{Array, Json, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;
use crate::scope::Scope;
use crate::tools::agent_entry;

const AGENTS: &str = "narrows://agents";
const STATUS: &str = "narrows://status";
/// The template's URI (RFC 6570).
pub const AGENT_TEMPLATE: &str = "narrows://agents/{alias}";
const JSON: &str = "application/json";

/// `resources/list`: the same in every process.
#[must_use]
pub fn list(config: &Config, era: Era) -> Json {
    let mut resources = Array::new();
    for (uri, name, description) in [
        (AGENTS, "agents", "The connected agents, as list_agents shows them."),
        (STATUS, "status", "How many agents, pending sends and inbox entries there are."),
    ] {
        let mut resource = Object::new();
        resource.string("uri", uri).string("name", name).string("description", description).string("mimeType", JSON);
        resources.nested(resource);
    }
    let mut out = Object::new();
    out.nested("resources", resources);
    era::cache_hints(&mut out, era);
    era::shape(out, era, config)
}

/// `resources/templates/list`.
#[must_use]
pub fn templates(config: &Config, era: Era) -> Json {
    let mut template = Object::new();
    template.string("uriTemplate", AGENT_TEMPLATE).string("name", "agent");
    template.string("description", "One connected agent, with what its card says.").string("mimeType", JSON);
    let mut list = Array::new();
    list.nested(template);
    let mut out = Object::new();
    out.nested("resourceTemplates", list);
    era::cache_hints(&mut out, era);
    era::shape(out, era, config)
}

/// `resources/read`.
///
/// # Errors
/// -32602 with the URI where there is no such resource (MCP 2026-07-28, resources).
pub fn read(scope: &Scope, config: &Config, era: Era, params: &Members<'_>) -> Result<Json, RpcError> {
    let uri = params.string("uri").ok_or_else(|| RpcError::new(INVALID_PARAMS, "`uri` must be a string"))?;
    let content = match uri.as_str() {
        AGENTS => Some(agents(scope, config)),
        STATUS => Some(status(scope, config)),
        _ => uri.strip_prefix("narrows://agents/").and_then(|alias| agent(scope, config, alias)),
    };
    let Some(content) = content else {
        let mut data = Object::new();
        data.string("uri", &uri);
        let message = format!("there is no resource {}", super::server::shortened(&uri));
        return Err(RpcError { code: INVALID_PARAMS, message, data: Some(data.finish()) });
    };
    let mut item = Object::new();
    item.string("uri", &uri).string("mimeType", JSON).string("text", content.as_str());
    let mut contents = Array::new();
    contents.nested(item);
    let mut out = Object::new();
    out.nested("contents", contents);
    era::volatile(&mut out, era);
    Ok(era::shape(out, era, config))
}

fn agents(scope: &Scope, config: &Config) -> Json {
    let mut list = Array::new();
    for (alias, agent) in scope.registry.iter() {
        list.json(&agent_entry(alias, agent, agent.health.name(config.health_failure_threshold)));
    }
    list.finish()
}

fn agent(scope: &Scope, config: &Config, alias: &str) -> Option<Json> {
    let agent = scope.registry.get(alias)?;
    let mut out = Object::new();
    out.json("agent", &agent_entry(alias, agent, agent.health.name(config.health_failure_threshold)));
    out.optional_json("card", agent.profile.as_ref().map(|profile| &profile.summary));
    Some(out.finish())
}

fn status(scope: &Scope, config: &Config) -> Json {
    let inbox = u64::try_from(scope.inbox.entries(None).count()).unwrap_or(u64::MAX);
    let mut out = Object::new();
    out.string("name", &config.name).string("version", &config.version);
    out.integer("agents", scope.registry.len()).integer("pending", scope.pending.len()).integer("inbox", inbox);
    out.finish()
}

/// The aliases that begin so, for completion.
pub fn aliases<'s>(scope: &'s Scope, start: &'s str) -> impl Iterator<Item = String> + 's {
    scope.registry.iter().map(|(alias, _)| alias.to_string()).filter(move |alias| alias.starts_with(start))
}
