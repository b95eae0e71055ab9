//! What a call runs: a tool, or a prompt that is more than a text. Either may ask, is cancelled, and is answered once.

use super::arguments::Arguments;
use super::era::RpcError;
use super::outcome::{Code, ToolError, ToolResult};
use super::prompts::{self, PROMPTS, Prompt, Says};
use super::tool::{Started, Tool};
use crate::call::Run;
use crate::json::{self, Object, Raw};
use crate::jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS};
use crate::tools::TOOLS;

/// Whether anything may ask its client. What only that needs is no part of a build where nothing does.
pub const ASKS: bool = {
    let (mut asks, mut tools, mut prompts) = (false, TOOLS, PROMPTS);
    while let [tool, rest @ ..] = tools {
        asks |= tool.asks;
        tools = rest;
    }
    while let [prompt, rest @ ..] = prompts {
        asks |= matches!(prompt.says, Says::Messages(_));
        prompts = rest;
    }
    asks
};

/// What a call runs.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// `tools/call`
    Tool(&'static Tool),
    /// `prompts/get`
    Prompt(&'static Prompt),
}

impl Subject {
    /// The subject of that kind and name.
    #[must_use]
    pub fn named(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "tool" => TOOLS.iter().find(|tool| tool.name == name).map(|tool| Self::Tool(tool)),
            _ if ASKS => prompts::find(name).map(Self::Prompt),
            _ => None,
        }
    }

    /// `tool` or `prompt`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt(_) => "prompt",
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool(tool) => tool.name,
            Self::Prompt(prompt) => prompt.name,
        }
    }

    /// Whether it may ask its client.
    #[must_use]
    pub const fn asks(self) -> bool {
        match self {
            Self::Tool(tool) => tool.asks,
            Self::Prompt(_) => true,
        }
    }

    /// Runs it, or starts its work.
    ///
    /// # Errors
    /// What it refuses.
    pub fn start(self, run: &mut Run<'_>, arguments: Option<Raw<'_>>) -> Result<Started, ToolError> {
        let members = arguments.and_then(json::members).unwrap_or_default();
        match self {
            Self::Prompt(prompt) if ASKS => prompts::start(prompt, &members, &run.answers),
            Self::Prompt(_) => Ok(Started::Done(ToolResult::new("", Object::new()))),
            Self::Tool(tool) => (tool.start)(run, Arguments::new(members)),
        }
    }

    /// The result of its call, without the members of an era.
    #[must_use]
    pub fn result(self, result: &ToolResult) -> Object {
        match self {
            Self::Tool(_) => result.to_object(),
            Self::Prompt(_) if !ASKS => Object::new(),
            Self::Prompt(_) => {
                let mut out = Object::new();
                out.members(&result.structured.members().unwrap_or_default().keep());
                out
            }
        }
    }

    /// The answer of a call that failed: tools have a form for that, anything else has errors of the protocol.
    ///
    /// # Errors
    /// That error.
    pub fn failed(self, error: ToolError) -> Result<Object, RpcError> {
        match self {
            Self::Tool(_) => Ok(error.into_result().to_object()),
            Self::Prompt(_) => {
                let code = if error.code == Code::InvalidArgument { INVALID_PARAMS } else { INTERNAL_ERROR };
                Err(RpcError::new(code, error.message))
            }
        }
    }
}
