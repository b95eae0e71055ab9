//! How the tools of MCP servers are offered; `mcp`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Config, Table};
use crate::json::{Object, Raw};

/// How the tools of MCP servers are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// whether a tool whose description or schema changed is held back until it is accepted; `pins`
    pub pins: bool,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { pins: true }
    }
}

pub(super) fn read(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "mcp.".into(), faults);
    table.boolean("pins", &mut config.mcp.pins);
    table.finish();
}

pub(super) fn write(mcp: &McpConfig, out: &mut Object) {
    if *mcp != McpConfig::default() {
        let mut section = Object::new();
        section.boolean("pins", mcp.pins);
        out.nested("mcp", section);
    }
}
