//! list_agents.

use alloc::format;
use alloc::string::{String, ToString};

use crate::a2a::Interface;
use crate::bucket::Rate;
use crate::call::Run;
use crate::json::{Array, Json, Object};
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::registry::{Agent, Registry};

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "list_agents",
    title: "List agents",
    description: "Lists the connected A2A agents: alias, URL, rate limit, health and what their cards say. Use it to see which aliases send_message takes.",
    input: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    output: output!(
        r#""agents":{"type":"array","items":{"type":"object","properties":{"alias":{"type":"string"},"url":{"type":"string"},"rate_limit":{"type":"string"},"health":{"type":"string"},"consecutive_failures":{"type":"integer"},"protocol_version":{"type":"string"},"transport":{"type":"string"},"streaming":{"type":"boolean"}},"required":["alias","url","rate_limit","health"]}}"#,
        r#""agents""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    arguments.finish()?;
    let threshold = run.ground.config.health_failure_threshold;
    let (text, list) = run.scope.registry.listing(|registry| listing(registry, threshold));
    let mut out = Object::with_capacity(list.as_str().len() + 16);
    out.json("agents", list);
    Ok(Started::Done(ToolResult::new(text.as_str(), out)))
}

fn listing(registry: &Registry, threshold: u64) -> (String, Json) {
    let (mut list, mut text) = (Array::new(), String::new());
    for (alias, agent) in registry.iter() {
        let health = agent.health.name(threshold);
        text.push_str(if text.is_empty() { "" } else { "\n" });
        for piece in [alias, ": ", agent.url.as_str(), " (", health, ", ", &rate_text(agent.bucket.rate())] {
            text.push_str(piece);
        }
        if agent.health.failures() > 0 {
            text.push_str(&format!(", failures in a row: {}", agent.health.failures()));
        }
        if let Some(profile) = &agent.profile {
            if let Some(Interface { dialect, .. }) = &profile.interface {
                for piece in [", A2A ", dialect.version(), " over ", dialect.transport()] {
                    text.push_str(piece);
                }
            }
            text.push_str(if profile.streaming { ", streams" } else { "" });
        }
        text.push(')');
        list.json(&entry(alias, agent, health));
    }
    if text.is_empty() {
        text.push_str("No agents are connected. Connect one with connect_agent.");
    }
    (text, list.finish())
}

/// One agent as lists show it.
pub(crate) fn entry(alias: &str, agent: &Agent, health: &str) -> Json {
    let mut entry = Object::new();
    entry.string("alias", alias).string("url", agent.url.as_str());
    entry.string("rate_limit", &rate_text(agent.bucket.rate())).string("health", health);
    if agent.health.failures() > 0 {
        entry.integer("consecutive_failures", agent.health.failures());
    }
    if let Some(profile) = &agent.profile {
        if let Some(summary) = profile.summary.members() {
            for name in ["protocol_version", "transport"] {
                if let Some(known) = summary.get(name) {
                    entry.raw(name, known.get());
                }
            }
        }
        entry.boolean("streaming", profile.streaming);
    }
    entry.finish()
}

/// `unlimited`, or `10.00 rps, burst 20`; a slow rate with as many digits as it has.
fn rate_text(rate: Rate) -> String {
    if !rate.is_limit() {
        return "unlimited".to_string();
    }
    let mut text = format!("{}.{:06}", rate.micro_rps / 1_000_000, rate.micro_rps % 1_000_000);
    while text.ends_with('0') && !text.get(..text.len() - 2).is_some_and(|short| short.ends_with('.')) {
        text.pop();
    }
    format!("{text} rps, burst {}", rate.burst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_two_digits_or_as_many_as_they_need() {
        for (micro_rps, text) in
            [(10_000_000, "10.00"), (7_300_000, "7.30"), (1, "0.000001"), (125_000, "0.125"), (250_000, "0.25")]
        {
            assert_eq!(rate_text(Rate { micro_rps, burst: 2 }), format!("{text} rps, burst 2"));
        }
        assert_eq!(rate_text(Rate { micro_rps: 0, burst: 2 }), "unlimited");
    }
}
