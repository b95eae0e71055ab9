//! How the tools of MCP servers are offered; `mcp`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Config, Table};
use crate::json::{Object, Raw};

/// How the tools of MCP servers are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// whether two tools that find and call them are offered in their place; `search`
    pub search: bool,
    /// whether a tool whose description or schema changed is held back until it is accepted; `pins`
    pub pins: bool,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { search: false, pins: true }
    }
}

impl Config {
    /// Whether the tools of MCP servers are found instead of listed.
    #[must_use]
    pub fn is_searched(&self) -> bool {
        self.mcp.search && !self.mcp_servers.is_empty()
    }
}

pub(super) fn read(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "mcp.".into(), faults);
    table.boolean("search", &mut config.mcp.search);
    table.boolean("pins", &mut config.mcp.pins);
    table.finish();
}

pub(super) fn write(mcp: &McpConfig, out: &mut Object) {
    if *mcp != McpConfig::default() {
        let mut section = Object::new();
        section.boolean("search", mcp.search).boolean("pins", mcp.pins);
        out.nested("mcp", section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_reads_back_and_its_faults_are_named() {
        for text in [r#"{"mcp":{"search":true}}"#, r#"{"mcp":{"pins":false},"storage":"pins"}"#, r#"{"storage":true}"#] {
            let config = Config::from_json(text).unwrap();
            assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
        }
        let told = Config::from_json(r#"{"mcp":{"serch":true,"pins":1},"storage":"all"}"#).unwrap_err().0;
        for words in ["`mcp.serch` is not a known key: did you mean `search`?", "`mcp.pins` must be", "`storage` must be"] {
            assert!(told.iter().any(|fault| fault.contains(words)), "{words}: {told:?}");
        }
    }
}
