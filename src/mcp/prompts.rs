//! Prompts: ready requests for the three things people do with agents.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::asks::{Answers, Asks};
use super::era::{self, Era, RpcError};
use super::outcome::{Code, ToolError, ToolResult};
use super::tool::Started;
use crate::config::Config;
use crate::json::{Array, Json, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;

/// A prompt.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// its name
    pub name: &'static str,
    /// its name for people
    pub title: &'static str,
    /// what it is for
    pub description: &'static str,
    /// name, description, whether it must be given
    pub arguments: &'static [(&'static str, &'static str, bool)],
    /// what it says
    pub says: Says,
}

/// What a prompt says.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    /// a text; `{name}` stands for an argument
    Text(&'static str),
    /// messages that a function writes, from the arguments by their names and from what it asked before
    Messages(fn(&Values, &Answers) -> Result<Prompted, ToolError>),
}

/// Arguments in the order in which a prompt names them.
pub type Values = [(&'static str, String)];

/// What a prompt became.
#[derive(Debug)]
pub enum Prompted {
    /// messages
    Messages(Json),
    /// questions to the client, before there are any
    Asks(Asks),
}

/// Every prompt.
#[cfg(not(any(test, narrows_fixtures)))]
pub const PROMPTS: &[Prompt] = &OWN;
/// Every prompt, and those of the conformance suite.
#[cfg(any(test, narrows_fixtures))]
pub const PROMPTS: &[Prompt] = crate::fixtures::PROMPTS;

/// The gateway's own.
pub(crate) const OWN: [Prompt; 3] = [
    Prompt {
        name: "ask_agent",
        title: "Connect and ask",
        description: "Connects an agent and asks it something.",
        arguments: &[
            ("agent_url", "URL of the agent", true),
            ("alias", "name to give it", true),
            ("question", "what to ask", true),
        ],
        says: Says::Text(
            "Connect the A2A agent at {agent_url} under the alias {alias} with connect_agent. Then send it this with \
send_message and tell me what it answers: {question}\nIf it asks back (state input-required), ask me and send my answer \
to the same alias.",
        ),
    },
    Prompt {
        name: "compare_agents",
        title: "Broadcast and compare",
        description: "Asks several connected agents the same and compares their answers.",
        arguments: &[("aliases", "aliases, separated by commas", true), ("question", "what to ask", true)],
        says: Says::Text(
            "Send this to the agents {aliases} with broadcast_message: {question}\nThen compare their answers: where they \
agree, where they differ, and which of them failed and why.",
        ),
    },
    Prompt {
        name: "follow_up_task",
        title: "Follow up a task",
        description: "Looks after a task that was started earlier.",
        arguments: &[("alias", "alias of the agent", true), ("task_id", "id of the task", true)],
        says: Says::Text(
            "Read the task {task_id} of the agent {alias} with get_task. If it is done, sum up its result. If it waits for \
input, tell me what it asks. If it still runs, say how far it is and whether to cancel it with cancel_task.",
        ),
    },
];

/// Whether a prompt has an argument of that name; `None` where there is no such prompt.
#[must_use]
pub fn has_argument(prompt: &str, argument: &str) -> Option<bool> {
    let prompt = PROMPTS.iter().find(|known| known.name == prompt)?;
    Some(prompt.arguments.iter().any(|(name, ..)| *name == argument))
}

/// `prompts/list`.
#[must_use]
pub fn list(config: &Config, era: Era) -> Json {
    let mut prompts = Array::new();
    for prompt in PROMPTS {
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

/// What becomes of a `prompts/get`.
#[derive(Debug)]
pub enum Got {
    /// a result
    Result(Json),
    /// a call that finds it
    Call(&'static Prompt),
}

/// `prompts/get`.
///
/// # Errors
/// -32602 where the prompt is unknown or an argument is missing.
pub fn get(config: &Config, era: Era, name: &str, arguments: &Members<'_>) -> Result<Got, RpcError> {
    let invalid = |message: String| RpcError::new(INVALID_PARAMS, message);
    let prompt = find(name).ok_or_else(|| invalid(format!("unknown prompt: {}", super::server::shortened(name))))?;
    let values = values(prompt, arguments).map_err(|error| invalid(error.into_message()))?;
    Ok(match &prompt.says {
        Says::Text(text) => {
            let messages = said(&super::content::text(&filled(text, &values)));
            Got::Result(era::shape(result(prompt, &messages), era, config))
        }
        Says::Messages(_) => Got::Call(prompt),
    })
}

/// The prompt of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Prompt> {
    PROMPTS.iter().find(|prompt| prompt.name == name)
}

/// Writes a prompt that is more than a text.
///
/// # Errors
/// What it refuses.
pub fn start(prompt: &Prompt, arguments: &Members<'_>, answers: &Answers) -> Result<Started, ToolError> {
    let prompted = match &prompt.says {
        Says::Messages(write) => write(&values(prompt, arguments)?, answers)?,
        Says::Text(_) => Prompted::Messages(Array::new().finish()),
    };
    Ok(match prompted {
        Prompted::Messages(messages) => Started::Done(ToolResult::new("", result(prompt, &messages))),
        Prompted::Asks(asks) => Started::Asks(asks),
    })
}

fn values(prompt: &Prompt, arguments: &Members<'_>) -> Result<Vec<(&'static str, String)>, ToolError> {
    let mut values = Vec::new();
    for (name, ..) in prompt.arguments {
        let value = arguments
            .string(name)
            .ok_or_else(|| ToolError::new(Code::InvalidArgument, format!("`arguments.{name}` is missing: a string is needed")))?;
        values.push((*name, value));
    }
    Ok(values)
}

fn result(prompt: &Prompt, messages: &Json) -> Object {
    let mut out = Object::new();
    out.string("description", prompt.description).json("messages", messages);
    out
}

/// One message of the user's.
fn said(content: &Json) -> Json {
    let (mut message, mut messages) = (Object::new(), Array::new());
    message.string("role", "user").json("content", content);
    messages.json(&message.finish());
    messages.finish()
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
    use alloc::string::ToString;

    #[test]
    fn what_a_value_says_is_not_read_again() {
        let values = [("a", "{b}".to_string()), ("b", "x".to_string())];
        assert_eq!(filled("{a} and {b}.", &values), "{b} and x.");
        for prompt in &OWN {
            let Says::Text(text) = prompt.says else { continue };
            let values: Vec<_> = prompt.arguments.iter().map(|(name, ..)| (*name, format!("<{name}>"))).collect();
            assert!(values.iter().all(|(_, value)| filled(text, &values).contains(value)), "{}", prompt.name);
        }
    }
}
