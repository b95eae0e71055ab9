//! The seam of the tools: adding one is one file that holds a [`Tool`] and a line in [`crate::tools::TOOLS`].

use alloc::boxed::Box;
use alloc::string::String;

use super::arguments::Arguments;
use super::asks::Asks;
use super::outcome::{ToolError, ToolResult};
use crate::call::{Run, Work};
use crate::json::{Json, Object};

/// A tool of the gateway.
#[derive(Debug)]
pub struct Tool {
    /// the name, `A-Za-z0-9_-`
    pub name: &'static str,
    /// the name for people
    pub title: &'static str,
    /// when to use it
    pub description: &'static str,
    /// the JSON Schema of the arguments, compact
    pub input: &'static str,
    /// the JSON Schema of `structuredContent`, compact; admits the error form. Empty where it
    /// promises none
    pub output: &'static str,
    /// what a host may assume
    pub hints: Hints,
    /// whether it may ask its client, which it does before it changes anything: it is started anew with the answers
    pub asks: bool,
    /// reads the arguments and runs the tool or starts its work
    pub start: fn(&mut Run<'_>, Arguments<'_>) -> Result<Started, ToolError>,
}

/// The annotations of a tool (MCP, `ToolAnnotations`); all four are always told.
#[derive(Clone, Copy, Debug)]
pub struct Hints {
    /// changes nothing that anybody is told of but what is known about an agent: its card, its health
    pub read_only: bool,
    /// may destroy something
    pub destructive: bool,
    /// a second call changes nothing more
    pub idempotent: bool,
    /// reaches beyond the gateway
    pub open_world: bool,
}

/// What a tool did when it was started.
#[derive(Debug)]
pub enum Started {
    /// it is done
    Done(ToolResult),
    /// it goes on
    Running(Box<Work>),
    /// it is started again, with the same arguments, when these are answered: see [`Run::answers`]
    Asks(Asks),
}

impl Tool {
    /// The tool as it stands in `tools/list`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut hints = Object::new();
        hints.string("title", self.title);
        hints.boolean("readOnlyHint", self.hints.read_only).boolean("destructiveHint", self.hints.destructive);
        hints.boolean("idempotentHint", self.hints.idempotent).boolean("openWorldHint", self.hints.open_world);
        let mut out = Object::with_capacity(self.description.len() + self.input.len() + self.output.len() + 256);
        out.string("name", self.name).string("title", self.title).string("description", self.description);
        out.json("inputSchema", &Json::trusted(String::from(self.input)));
        if !self.output.is_empty() {
            out.json("outputSchema", &Json::trusted(String::from(self.output)));
        }
        out.nested("annotations", hints);
        out.finish()
    }
}
