//! Prompts: ready requests for the three things people do with agents.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::era::{self, Era, RpcError};
use crate::config::Config;
use crate::json::{self, Array, Json, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;

/// A prompt.
struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// name, description, whether it must be given
    arguments: &'static [(&'static str, &'static str, bool)],
    /// the text; `{name}` stands for an argument
    text: &'static str,
}

const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "ask_agent",
        title: "Connect and ask",
        description: "Connects an agent and asks it something.",
        arguments: &[
            ("agent_url", "URL of the agent", true),
            ("alias", "name to give it", true),
            ("question", "what to ask", true),
        ],
        text: "Connect the A2A agent at {agent_url} under the alias {alias} with connect_agent. Then send it this with \
send_message and tell me what it answers: {question}\nIf it asks back (state input-required), ask me and send my answer \
to the same alias.",
    },
    Prompt {
        name: "compare_agents",
        title: "Broadcast and compare",
        description: "Asks several connected agents the same and compares their answers.",
        arguments: &[("aliases", "aliases, separated by commas", true), ("question", "what to ask", true)],
        text: "Send this to the agents {aliases} with broadcast_message: {question}\nThen compare their answers: where they \
agree, where they differ, and which of them failed and why.",
    },
    Prompt {
        name: "follow_up_task",
        title: "Follow up a task",
        description: "Looks after a task that was started earlier.",
        arguments: &[("alias", "alias of the agent", true), ("task_id", "id of the task", true)],
        text: "Read the task {task_id} of the agent {alias} with get_task. If it is done, sum up its result. If it waits for \
input, tell me what it asks. If it still runs, say how far it is and whether to cancel it with cancel_task.",
    },
];

/// `prompts/list`.
#[must_use]
pub fn list(config: &Config, era: Era) -> Json {
    let mut prompts = Array::new();
    for prompt in &PROMPTS {
        let mut arguments = Array::new();
        for (name, description, required) in prompt.arguments {
            let mut argument = Object::new();
            argument.string("name", name).string("description", description).boolean("required", *required);
            arguments.nested(argument);
        }
        let mut entry = Object::new();
        entry.string("name", prompt.name).string("title", prompt.title).string("description", prompt.description);
        entry.nested("arguments", arguments);
        prompts.nested(entry);
    }
    let mut out = Object::new();
    out.nested("prompts", prompts);
    era::cache_hints(&mut out, era);
    era::shape(out, era, config)
}

/// `prompts/get`.
///
/// # Errors
/// -32602 where the prompt is unknown or an argument is missing.
pub fn get(config: &Config, era: Era, params: &Members<'_>) -> Result<Json, RpcError> {
    let invalid = |message: String| RpcError::new(INVALID_PARAMS, message);
    let name = params.string("name").ok_or_else(|| invalid("`name` must be a string".to_string()))?;
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| invalid(format!("unknown prompt: {}", super::server::shortened(&name))))?;
    let given = params.get("arguments").and_then(json::members).unwrap_or_default();
    let mut values = Vec::new();
    for (name, ..) in prompt.arguments {
        let value = given.string(name).ok_or_else(|| invalid(format!("`arguments.{name}` is missing: a string is needed")))?;
        values.push((*name, value));
    }
    let text = filled(prompt.text, &values);
    let (mut content, mut message, mut messages) = (Object::new(), Object::new(), Array::new());
    content.string("type", "text").string("text", &text);
    message.string("role", "user").nested("content", content);
    messages.nested(message);
    let mut out = Object::new();
    out.string("description", prompt.description).nested("messages", messages);
    Ok(era::shape(out, era, config))
}

/// A text with its `{name}`s replaced in one pass: what a value says is not read again.
fn filled(text: &str, values: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((plain, tail)) = rest.split_once('{') {
        out.push_str(plain);
        let Some((name, after)) = tail.split_once('}') else { break };
        out.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str()));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_says_is_not_read_again() {
        let values = [("a", "{b}".to_string()), ("b", "x".to_string())];
        assert_eq!(filled("{a} and {b}.", &values), "{b} and x.");
        for prompt in &PROMPTS {
            let values: Vec<_> = prompt.arguments.iter().map(|(name, ..)| (*name, format!("<{name}>"))).collect();
            assert!(values.iter().all(|(_, value)| filled(prompt.text, &values).contains(value)), "{}", prompt.name);
        }
    }
}
