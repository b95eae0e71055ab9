//! What a call runs: a tool, here or of a server behind the gateway, or a prompt that is more than a text. Each may ask,
//! is cancelled, and is answered once.

use alloc::sync::Arc;

use super::arguments::Arguments;
use super::era::{self, Era, RpcError};
use super::outcome::{Code, ToolError, ToolResult};
use super::prompts::{self, PROMPTS, Prompt, Says};
use super::tool::{Started, Tool};
use crate::call::linked::LinkedCall;
use crate::call::{Ended, Run};
use crate::config::Config;
use crate::json::{self, Json, Object, Raw};
use crate::jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS};
use crate::link::catalog::LinkedTool;
use crate::link::relay;
use crate::tools::TOOLS;

/// Whether a tool or prompt of the gateway's own may ask its client. What only prompts need for that is no part of a build
/// where none does.
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

/// Whether anything may ask its client: a server behind the gateway always may.
#[must_use]
pub fn may_ask(config: &Config) -> bool {
    ASKS || !config.mcp_servers.is_empty()
}

/// What a call runs.
#[derive(Clone, Debug)]
pub enum Subject {
    /// `tools/call`
    Tool(&'static Tool),
    /// `prompts/get`
    Prompt(&'static Prompt),
    /// `tools/call` of a server behind the gateway
    Linked(Arc<LinkedTool>),
}

impl Subject {
    /// The subject of that kind and name.
    #[must_use]
    pub fn named(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "tool" => {
                let own = TOOLS.iter().find(|tool| tool.name == name).map(|tool| Self::Tool(tool));
                Some(own.unwrap_or_else(|| Self::Linked(Arc::new(LinkedTool::gone(name)))))
            }
            _ if ASKS => prompts::find(name).map(Self::Prompt),
            _ => None,
        }
    }

    /// `tool` or `prompt`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) | Self::Linked(_) => "tool",
            Self::Prompt(_) => "prompt",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => tool.name,
            Self::Prompt(prompt) => prompt.name,
            Self::Linked(tool) => &tool.offered,
        }
    }

    /// What it is counted under: a name of the gateway's own, as those of linked servers are theirs to choose.
    #[must_use]
    pub const fn counted(&self) -> &'static str {
        match self {
            Self::Tool(tool) => tool.name,
            Self::Prompt(_) => "a prompt",
            Self::Linked(_) => "of an MCP server",
        }
    }

    /// Whether it may ask its client.
    #[must_use]
    pub const fn asks(&self) -> bool {
        match self {
            Self::Tool(tool) => tool.asks,
            Self::Prompt(_) | Self::Linked(_) => true,
        }
    }

    /// Runs it, or starts its work.
    ///
    /// # Errors
    /// What it refuses.
    pub fn start(&self, run: &mut Run<'_>, arguments: Option<Raw<'_>>) -> Result<Started, ToolError> {
        let members = arguments.and_then(json::members).unwrap_or_default();
        match self {
            Self::Prompt(prompt) if ASKS => prompts::start(prompt, &members, &run.answers),
            Self::Prompt(_) => Ok(Started::Done(ToolResult::new("", Object::new()))),
            Self::Tool(tool) => (tool.start)(run, Arguments::new(members)),
            Self::Linked(tool) => LinkedCall::start(run, tool, arguments),
        }
    }

    /// The answer to its call.
    ///
    /// # Errors
    /// An error of the protocol. Tools have a form of their own for what goes wrong.
    pub fn answer(&self, ended: Ended, era: Era, config: &Config) -> Result<Json, RpcError> {
        match (self, ended) {
            (Self::Linked(_), Ok(result)) => relay::answer(&result, era, config),
            (Self::Tool(_), Ok(result)) => Ok(era::shape(result.to_object(), era, config)),
            (Self::Tool(_) | Self::Linked(_), Err(error)) => Ok(era::shape(error.into_result().to_object(), era, config)),
            (Self::Prompt(_), Ok(_)) if !ASKS => Ok(Object::new().finish()),
            (Self::Prompt(_), Ok(result)) => {
                let mut out = Object::new();
                out.members(&result.structured.members().unwrap_or_default().keep());
                Ok(era::shape(out, era, config))
            }
            (Self::Prompt(_), Err(error)) => {
                let code = if error.code == Code::InvalidArgument { INVALID_PARAMS } else { INTERNAL_ERROR };
                Err(RpcError::new(code, error.into_message()))
            }
        }
    }
}
