//! Completion of aliases and task ids, for the arguments of prompts and of the agents' resource.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::era::{self, Era, RpcError};
use super::{prompts, resources};
use crate::config::Config;
use crate::json::{self, Json, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;
use crate::list::gather;
use crate::scope::Scope;

/// How many values an answer may have (MCP, `completion/complete`).
const VALUES: usize = 100;

/// `completion/complete`.
///
/// # Errors
/// -32602 where the reference or the argument is missing or unknown.
pub fn complete(scope: &Scope, config: &Config, era: Era, params: &Members<'_>) -> Result<Json, RpcError> {
    let invalid = |message: &str| RpcError::new(INVALID_PARAMS, message);
    let reference = params.get("ref").and_then(json::members).ok_or_else(|| invalid("`ref` must be an object"))?;
    let argument = params.get("argument").and_then(json::members).ok_or_else(|| invalid("`argument` must be an object"))?;
    let name = argument.string("name").ok_or_else(|| invalid("`argument.name` must be a string"))?;
    let start = argument.string("value").unwrap_or_default();
    let is_argument = match reference.string("type").as_deref() {
        Some("ref/prompt") => prompts::has_argument(&reference.string("name").unwrap_or_default(), &name),
        Some("ref/resource") => resources::has_argument(&reference.string("uri").unwrap_or_default(), &name),
        Some(_) | None => return Err(invalid("`ref.type` must be ref/prompt or ref/resource")),
    };
    match is_argument {
        Some(true) => {}
        Some(false) => return Err(invalid("`argument.name` names no argument of what `ref` names")),
        None => return Err(invalid("`ref` names no prompt and no resource template that there is")),
    }
    let context = params.get("context").and_then(json::members).and_then(|context| context.get("arguments"));
    let alias = context.and_then(json::members).and_then(|arguments| arguments.string("alias"));
    let values: Vec<String> = match name.as_str() {
        "alias" => gather(resources::aliases(scope, &start)),
        "aliases" => aliases_list(scope, &start),
        "task_id" => task_ids(scope, alias.as_deref(), &start),
        _ => Vec::new(),
    };
    let total = u64::try_from(values.len()).unwrap_or(u64::MAX);
    let mut completion = Object::new();
    completion.strings("values", values.get(..VALUES).unwrap_or(&values)).integer("total", total);
    completion.boolean("hasMore", values.len() > VALUES);
    let mut out = Object::new();
    out.nested("completion", completion);
    Ok(era::shape(out, era, config))
}

/// Completes the last alias of a list that is separated by commas.
fn aliases_list(scope: &Scope, start: &str) -> Vec<String> {
    let last = start.rsplit(',').next().unwrap_or_default();
    let before = start.strip_suffix(last).unwrap_or_default();
    gather(resources::aliases(scope, last.trim_start()).map(|alias| format!("{before}{alias}")))
}

/// The tasks that conversations remember, newest first.
fn task_ids(scope: &Scope, alias: Option<&str>, start: &str) -> Vec<String> {
    let agents = scope.registry.iter().filter(|(name, _)| alias.is_none_or(|alias| *name == alias));
    let tasks = agents.flat_map(|(_, agent)| agent.conversation.tasks()).map(|(task, _)| task);
    let mut ids = gather(tasks.filter(|task| task.starts_with(start)).map(String::from));
    ids.reverse();
    ids
}
