//! The tools of all servers, by the names under which they are offered.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::listing::ListedTool;
use super::naming;
use crate::json::{self, Json, Kind, Object};
use crate::list::{self, gather};
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError};
use crate::table::Table;

/// A server, by its place in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerNumber(pub u64);

/// A tool of a server, as it is offered.
#[derive(Debug, PartialEq, Eq)]
pub struct LinkedTool {
    /// its name here
    pub offered: String,
    /// its full name, before anything was cut or told apart
    pub composed: String,
    /// whose it is
    pub server: ServerNumber,
    /// the server's name in the configuration
    pub server_name: String,
    /// its name there
    pub tool: String,
    /// how long a call of it may take
    pub timeout_ms: u64,
    /// what its server said of it, raw
    pub definition: Json,
    /// what changed of it, where it is held back for that
    pub held: Option<String>,
}

/// Why a tool is not called that is held back; `changed` says what is different.
#[must_use]
pub fn held_words(server: &str, changed: &str) -> String {
    format!(
        "{server} describes it otherwise than when it was accepted ({changed}), so that it is held back until it is accepted as it is now, with `narrows mcp accept {server}` or by the host"
    )
}

/// The error of a call whose tool is held back by now.
#[must_use]
pub fn held(server: &str, changed: &str) -> ToolError {
    ToolError::new(Code::Blocked, format!("the tool was not called: {}", held_words(server, changed)))
}

/// Members of a tool that are not passed on: the name is another one here, and tasks of MCP are not offered.
const REPLACED: [&str; 3] = ["name", "description", "execution"];

impl LinkedTool {
    /// A tool that is known by its name alone: that of a call which an earlier process ran.
    #[must_use]
    pub fn gone(offered: &str) -> Self {
        Self {
            offered: offered.to_string(),
            composed: offered.to_string(),
            server: ServerNumber(u64::MAX),
            server_name: String::new(),
            tool: String::new(),
            timeout_ms: 0,
            definition: Object::new().finish(),
            held: None,
        }
    }

    /// The tool as it stands in `tools/list`: all that its server said, under its name here.
    #[must_use]
    pub fn to_json(&self, era: Era) -> Json {
        let members = self.definition.members().unwrap_or_default();
        let mut out = Object::with_capacity(self.definition.as_str().len() + 64);
        let description = members.string("description").unwrap_or_default();
        let description = format!("[MCP:{}] {description}", self.server_name);
        out.string("name", &self.offered).string("description", description.trim_end());
        for (name, raw) in members.iter().filter(|(name, _)| !REPLACED.contains(name)) {
            // Before 2026-07-28 the root of an output schema is an object.
            let is_object = || json::members(raw).and_then(|schema| schema.string("type")).as_deref() == Some("object");
            if name == "outputSchema" && era == Era::Legacy && !(json::kind(raw) == Kind::Object && is_object()) {
                continue;
            }
            out.json(name, &Json::from_raw(raw));
        }
        out.finish()
    }
}

/// The table that calls are routed by.
#[derive(Debug, Default)]
pub struct Catalog {
    order: Vec<Arc<LinkedTool>>,
    by_name: Table<String, u64>,
    /// the tools that would have shared a name with another one
    pub shared: Vec<String>,
}

/// A server and its tools.
pub type ServerTools<'t> = (ServerNumber, &'t str, u64, &'t [ListedTool]);

impl Catalog {
    /// The table of these servers' tools, in their order. `reserved` are names of the gateway's own tools, `held` says what
    /// changed of a tool that is held back.
    #[must_use]
    pub fn new(
        servers: &[ServerTools<'_>],
        reserved: impl Fn(&str) -> bool,
        held: impl Fn(&str, &str) -> Option<String>,
    ) -> Self {
        let mut pairs = Vec::new();
        for (_, name, _, tools) in servers {
            pairs.extend(tools.iter().map(|tool| (*name, tool.name.as_str())));
        }
        let mut names = naming::offered(&pairs, reserved).into_iter();
        let mut catalog = Self::default();
        for (server, server_name, timeout_ms, tools) in servers {
            for tool in *tools {
                let Some((offered, is_shared)) = names.next() else { break };
                if is_shared {
                    catalog.shared.push(offered.clone());
                }
                let composed = naming::composed(server_name, &tool.name);
                catalog.by_name.insert(offered.clone(), u64::try_from(catalog.order.len()).unwrap_or(u64::MAX));
                catalog.order.push(Arc::new(LinkedTool {
                    offered,
                    composed,
                    server: *server,
                    server_name: server_name.to_string(),
                    tool: tool.name.clone(),
                    timeout_ms: *timeout_ms,
                    definition: tool.definition.clone(),
                    held: held(server_name, &tool.name),
                }));
            }
        }
        catalog
    }

    /// The tools that are offered, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<LinkedTool>> {
        self.order.iter().filter(|tool| tool.held.is_none())
    }

    /// Whether there is a tool of that kind, be it held back.
    pub fn any(&self, is_meant: impl Fn(&LinkedTool) -> bool) -> bool {
        self.order.iter().any(|tool| is_meant(tool))
    }

    /// The tool that goes by a name, be it held back.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<LinkedTool>> {
        let at = usize::try_from(*self.by_name.get(name)?).ok()?;
        self.order.get(at)
    }

    /// By which name a server's tool goes here.
    #[must_use]
    pub fn name_of(&self, server: &str, tool: &str) -> Option<&str> {
        let found = self.order.iter().find(|known| known.server_name == server && known.tool == tool);
        found.map(|known| known.offered.as_str())
    }

    /// Up to three names, of tools that are told, that are like one that is not offered, the most alike first.
    #[must_use]
    pub fn near(&self, name: &str, is_told: &dyn Fn(&LinkedTool) -> bool) -> Vec<&str> {
        let told = self.iter().filter(|tool| is_told(tool));
        let mut near = gather(told.map(|tool| (Reverse(likeness(name, &tool.offered)), tool.offered.as_str())));
        near.retain(|(Reverse(likeness), _)| *likeness * 2 > name.len().max(1));
        // The order of names decides between equals, so that the answer is always the same.
        let order = list::order(near.len(), &|one, other| near.get(one) < near.get(other));
        gather(order.into_iter().take(3).filter_map(|place| near.get(place).map(|(_, name)| *name)))
    }
}

/// How many bytes two names share at their beginnings and ends.
fn likeness(one: &str, other: &str) -> usize {
    let shorter = one.len().min(other.len());
    let same = |pair: &(u8, u8)| pair.0.eq_ignore_ascii_case(&pair.1);
    let start = one.bytes().zip(other.bytes()).take_while(same).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take(shorter - start).take_while(same).count();
    start + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, definition: &str) -> ListedTool {
        ListedTool { name: name.into(), definition: Json::parse(definition, 32).unwrap() }
    }

    fn catalog(servers: &[(&str, &[&str])]) -> Catalog {
        let tools: Vec<Vec<ListedTool>> =
            servers.iter().map(|(_, tools)| tools.iter().map(|tool| listed(tool, "{}")).collect()).collect();
        let all: Vec<ServerTools<'_>> = servers
            .iter()
            .zip(&tools)
            .zip(0..)
            .map(|(((name, _), tools), at)| (ServerNumber(at), *name, 1000, tools.as_slice()))
            .collect();
        Catalog::new(&all, |_| false, |_, _| None)
    }

    #[test]
    fn every_offered_name_leads_to_its_tool() {
        let servers: [(&str, &[&str]); 4] =
            [("web-search", &["web_search"]), ("web", &["search_web_search"]), ("my.server", &["x"]), ("b", &["a", "a-b"])];
        let catalog = catalog(&servers);
        assert_eq!(catalog.iter().count(), 5);
        assert_eq!(catalog.shared.len(), 2);
        for tool in catalog.iter() {
            assert_eq!(catalog.find(&tool.offered), Some(tool));
            assert_eq!(tool.server_name, servers[usize::try_from(tool.server.0).unwrap()].0);
        }
        assert_eq!(catalog.find("mcp_web_search_web_search"), None, "two tools would share it");
        assert_eq!(catalog.find("mcp_b_a_b").unwrap().tool, "a-b");
    }

    #[test]
    fn a_definition_keeps_all_but_its_name() {
        let definition = r#"{"title":"T","name":"x","inputSchema":{"$defs":{"a":{"$anchor":"q"}},"maximum":1e400},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},"vendor":{"a":null}}"#;
        let tools = [listed("x", definition)];
        let catalog = Catalog::new(&[(ServerNumber(0), "My Server", 1, &tools)], |_| false, |_, _| None);
        let tool = catalog.iter().next().unwrap();
        let want = r#"{"name":"mcp_my_server_x","description":"[MCP:My Server]","title":"T","inputSchema":{"$defs":{"a":{"$anchor":"q"}},"maximum":1e400},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":true},"vendor":{"a":null}}"#;
        assert_eq!(tool.to_json(Era::Modern).as_str(), want);
        assert_eq!(tool.to_json(Era::Legacy).as_str(), want.replace(r#""outputSchema":{"type":"array"},"#, ""));
    }

    #[test]
    fn near_names_are_told() {
        let catalog = catalog(&[("files", &["read_file", "read_text_file", "write_file"]), ("x", &["y"])]);
        assert_eq!(catalog.near("mcp_files_read_fil", &|_| true)[0], "mcp_files_read_file");
        assert_eq!(
            catalog.near("mcp_file_write_file", &|_| true),
            ["mcp_files_write_file", "mcp_files_read_file", "mcp_files_read_text_file"]
        );
        assert_eq!(catalog.near("mcp_files_read_fil", &|tool| tool.tool == "read_text_file"), ["mcp_files_read_text_file"]);
        assert!(["nothing", ""].iter().all(|name| catalog.near(name, &|_| true).is_empty()));
    }
}
