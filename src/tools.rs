//! The tools, one file each.

use crate::mcp::tool::Tool;

mod cancel_task;
mod connect_agent;
mod disconnect_agent;
mod get_agent_card;
mod get_task;
mod list_agents;
mod parts;
mod send_message;

/// Every tool, sorted by name.
pub const TOOLS: [&Tool; 7] = [
    &cancel_task::TOOL,
    &connect_agent::TOOL,
    &disconnect_agent::TOOL,
    &get_agent_card::TOOL,
    &get_task::TOOL,
    &list_agents::TOOL,
    &send_message::TOOL,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Json};

    #[test]
    fn tools_are_sorted_and_their_schemas_are_compact_json_objects() {
        assert!(TOOLS.windows(2).all(|pair| pair[0].name < pair[1].name));
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
