//! The tools, one file each.

use crate::config::Config;
use crate::mcp::tool::Tool;

/// An output schema: the members, and for each form of a result those that it has at least. A failed call has `error`,
/// beside what was received.
macro_rules! output {
    ($members:literal, $($required:literal),+) => {
        concat!(
            r#"{"type":"object","properties":{"#,
            $members,
            r#","error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"}},"required":["code","message"]}},"anyOf":["#,
            $(r#"{"required":["#, $required, r#"]},"#,)+
            r#"{"required":["error"]}]}"#
        )
    };
}

mod broadcast_message;
pub(crate) mod call_tool;
mod cancel_task;
mod check_inbox;
mod clear_history;
pub(crate) mod connect_agent;
mod create_caller_card;
mod disconnect_agent;
mod discover_agents;
mod get_agent_card;
mod get_history;
mod get_task;
mod list_agents;
mod list_tasks;
mod parts;
mod ping_agent;
mod read_inbox;
mod remove_caller_card;
mod respond_task;
mod search_tools;
mod send_message;
mod view_caller_card;

pub(crate) use list_agents::entry as agent_entry;
pub(crate) use send_message::{TOOL as SEND_MESSAGE, take_token};

/// Every tool, sorted by name.
#[cfg(not(any(test, narrows_fixtures)))]
pub const TOOLS: &[&Tool] = &OWN;
/// Every tool, and those of the conformance suite.
#[cfg(any(test, narrows_fixtures))]
pub const TOOLS: &[&Tool] = crate::fixtures::TOOLS;

/// The gateway's own, sorted by name.
pub(crate) const OWN: [&Tool; 19] = [
    &broadcast_message::TOOL,
    &cancel_task::TOOL,
    &check_inbox::TOOL,
    &clear_history::TOOL,
    &connect_agent::TOOL,
    &create_caller_card::TOOL,
    &disconnect_agent::TOOL,
    &discover_agents::TOOL,
    &get_agent_card::TOOL,
    &get_history::TOOL,
    &get_task::TOOL,
    &list_agents::TOOL,
    &list_tasks::TOOL,
    &ping_agent::TOOL,
    &read_inbox::TOOL,
    &remove_caller_card::TOOL,
    &respond_task::TOOL,
    &send_message::TOOL,
    &view_caller_card::TOOL,
];

/// What is offered in place of the tools of MCP servers, where these are found instead of listed.
pub const SEARCH: [&Tool; 2] = [&search_tools::TOOL, &call_tool::TOOL];

/// A tool of the gateway that a configuration offers.
pub fn own(config: &Config, name: &str) -> Option<&'static Tool> {
    let search = SEARCH.into_iter().filter(|_| config.is_searched());
    offered(config).chain(search).find(|tool| tool.name == name)
}

/// The tools that a configuration offers.
pub fn offered(config: &Config) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().copied().filter(|tool| {
        let listed = config.tools.as_ref().is_none_or(|names| names.iter().any(|name| name == tool.name));
        let useful = match tool.name {
            "get_history" | "clear_history" => config.history.depth > 0,
            "list_tasks" | "respond_task" => config.a2a.has_inbox(),
            _ => true,
        };
        listed && useful
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Json};

    #[test]
    fn search_finds_what_it_then_calls() {
        for tool in SEARCH {
            assert_eq!(Json::parse(tool.input, 32).unwrap().as_str(), tool.input, "{}", tool.name);
            assert!(TOOLS.iter().all(|other| other.name != tool.name));
            let json = tool.to_json();
            assert_eq!(json.members().unwrap().has("outputSchema"), !tool.output.is_empty());
        }
    }

    #[test]
    fn tools_are_sorted_and_their_schemas_are_compact_json_objects() {
        assert!(OWN.windows(2).all(|pair| pair[0].name < pair[1].name));
        for tool in TOOLS {
            for schema in [tool.input, tool.output] {
                let parsed = Json::parse(schema, 32).unwrap();
                assert_eq!(parsed.as_str(), schema, "{}", tool.name);
                let members = parsed.members().unwrap();
                assert_eq!(members.string("type").as_deref(), Some("object"), "{}", tool.name);
            }
            let output = Json::parse(tool.output, 32).unwrap();
            let properties = json::members(output.members().unwrap().get("properties").unwrap()).unwrap();
            assert!(properties.has("error"), "{}: the output schema must admit errors", tool.name);
        }
    }
}
