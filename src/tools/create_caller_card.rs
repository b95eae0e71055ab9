//! create_caller_card.

use alloc::format;
use alloc::string::ToString;

use crate::call::{Run, outgoing};
use crate::caller::CallerCard;
use crate::json::{self, Array, Json, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "create_caller_card",
    title: "Create caller card",
    description: "Introduces you to the agents: the card goes with the metadata of every message from now on. Replaces the card there was.",
    input: r#"{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"url":{"type":"string"},"skills":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name"],"additionalProperties":false}},"capabilities":{"type":"object","properties":{"streaming":{"type":"boolean"},"push_notifications":{"type":"boolean"}},"additionalProperties":false},"metadata_key":{"type":"string","description":"default caller_agent_card"}},"required":["name","description"],"additionalProperties":false}"#,
    output: output!(
        r#""name":{"type":"string"},"metadata_key":{"type":"string"},"replaced":{"type":"boolean"}"#,
        r#""name","metadata_key","replaced""#
    ),
    hints: Hints { read_only: false, destructive: true, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let name = arguments.required_string("name");
    let description = arguments.required_string("description");
    let mut card = Object::new();
    card.string("name", &name).string("description", &description);
    card.optional_string("url", arguments.string("url").as_deref());
    card.optional_json("skills", skills(&mut arguments).as_ref());
    card.optional_json("capabilities", capabilities(&mut arguments).as_ref());
    let metadata_key = arguments.string("metadata_key").unwrap_or_else(|| "caller_agent_card".to_string());
    arguments.finish()?;
    for (key, value) in [("name", &name), ("metadata_key", &metadata_key)] {
        if value.trim().is_empty() {
            return Err(ToolError::new(Code::InvalidArgument, format!("`{key}` is blank")));
        }
    }
    let share = run.ground.cards.share();
    let mut caller = CallerCard { name: name.clone(), card: card.finish(), metadata_key: metadata_key.clone(), share };
    outgoing::check_json(run.ground, TOOL.name, caller.put_into(None).raw())?;
    let limits = &run.ground.config.limits;
    let fault = |code, limit: &str| {
        let message = format!("the caller card is larger than the limit {limit} allows");
        Err(ToolError::new(code, message).with("limit", Json::string(limit)))
    };
    if caller.bytes() > limits.card_bytes {
        return fault(Code::TooLarge, "card_bytes");
    }
    if !caller.share.may_be(caller.bytes(), limits.kept_card_bytes) {
        return fault(Code::Busy, "kept_card_bytes");
    }
    caller.share.set(caller.bytes());
    let replaced = run.scope.caller.replace(caller).is_some();
    let verb = if replaced { "replaced" } else { "created" };
    let mut out = Object::new();
    out.string("name", &name).string("metadata_key", &metadata_key).boolean("replaced", replaced);
    let text = format!("The caller card {name} is {verb}; it goes with every message as metadata.{metadata_key}.");
    Ok(Started::Done(ToolResult::new(text, out)))
}

fn skills(arguments: &mut Arguments<'_>) -> Option<Json> {
    let elements = arguments.elements("skills", "a list of skills")?;
    let mut list = Array::new();
    for (index, element) in elements.into_iter().enumerate() {
        let Some(members) = json::members(element) else {
            arguments.fail(format!("`skills[{index}]` must be an object, not {}", json::kind(element).name()));
            continue;
        };
        let mut inside = Arguments::inside(members, format!("skills[{index}]."));
        let mut skill = Object::new();
        let id = inside.string("id");
        skill.optional_string("id", id.as_deref()).string("name", &inside.required_string("name"));
        skill.optional_string("description", inside.string("description").as_deref());
        if let Some(tags) = inside.strings("tags") {
            skill.strings("tags", &tags);
        }
        if let Err(error) = inside.finish() {
            arguments.fail(error.into_message());
        }
        list.nested(skill);
    }
    Some(list.finish())
}

fn capabilities(arguments: &mut Arguments<'_>) -> Option<Json> {
    let object = arguments.object("capabilities")?;
    let mut inside = Arguments::inside(object.members().unwrap_or_default(), "capabilities.".to_string());
    let mut out = Object::new();
    if let Some(streaming) = inside.boolean("streaming") {
        out.boolean("streaming", streaming);
    }
    if let Some(push) = inside.boolean("push_notifications") {
        out.boolean("pushNotifications", push);
    }
    if let Err(error) = inside.finish() {
        arguments.fail(error.into_message());
    }
    Some(out.finish())
}
