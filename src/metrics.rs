//! What is counted, in the text format of Prometheus (exposition format 0.0.4). Labels have few values, all of them known
//! here: nothing that a caller writes becomes one.

use alloc::string::{String, ToString};

use crate::table::Table;

/// The media type of the text.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Every family in the order of the names: name, type, help.
const FAMILIES: [[&str; 3]; 15] = [
    ["narrows_agents", "gauge", "Agents that are connected, in all scopes."],
    ["narrows_calls_running", "gauge", "Calls that go on."],
    ["narrows_calls_total", "counter", "Calls of tools that were answered, by the outcome: ok, or the code of the error."],
    ["narrows_directory_cards", "gauge", "Cards in the directory."],
    ["narrows_exchange_failures_total", "counter", "Outgoing requests that failed without an answer, by the cause."],
    ["narrows_exchanges_running", "gauge", "Outgoing requests that go on."],
    ["narrows_exchanges_total", "counter", "Outgoing requests that were begun."],
    ["narrows_http_refusals_total", "counter", "Incoming requests that were answered with an error, by the HTTP status."],
    ["narrows_http_requests_running", "gauge", "Incoming requests that go on."],
    [
        "narrows_http_requests_total",
        "counter",
        "Incoming requests that ended, by route and HTTP status; none where their client left first.",
    ],
    ["narrows_peers", "gauge", "MCP clients that are connected."],
    ["narrows_sessions", "gauge", "MCP sessions over HTTP."],
    ["narrows_streams", "gauge", "Responses that are streams of events."],
    ["narrows_tasks", "gauge", "Served tasks: working, waiting for their caller, or ended."],
    ["narrows_uptime_seconds", "gauge", "Time since this process began."],
];

/// Samples by the text that names them.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Table<String, u64>);

impl Metrics {
    /// Adds to the sample of a family with these labels.
    pub fn add(&mut self, family: &str, labels: &[(&str, &str)], more: u64) {
        let mut name = String::from(family);
        for (label, value) in labels {
            name.push(if name.len() == family.len() { '{' } else { ',' });
            for part in [*label, "=\"", *value, "\""] {
                name.push_str(part);
            }
        }
        if !labels.is_empty() {
            name.push('}');
        }
        *self.0.get_or_default(name.as_str()) += more;
    }

    /// All samples as text. What ends in `_seconds` was added in milliseconds.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for [family, kind, help] in FAMILIES {
            let mut begun = false;
            for (name, value) in self.0.iter() {
                if name.split('{').next() != Some(family) {
                    continue;
                }
                if !begun {
                    for part in ["# HELP ", family, " ", help, "\n# TYPE ", family, " ", kind, "\n"] {
                        out.push_str(part);
                    }
                    begun = true;
                }
                out.push_str(name);
                out.push(' ');
                out.push_str(&if family.ends_with("_seconds") { seconds(*value) } else { value.to_string() });
                out.push('\n');
            }
        }
        out
    }
}

fn seconds(ms: u64) -> String {
    alloc::format!("{}.{:03}", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_under_their_family() {
        let mut metrics = Metrics::default();
        metrics.add("narrows_uptime_seconds", &[], 61_005);
        metrics.add("narrows_calls_total", &[("tool", "send_message"), ("outcome", "ok")], 1);
        metrics.add("narrows_calls_total", &[("tool", "list_agents"), ("outcome", "ok")], 1);
        metrics.add("narrows_calls_total", &[("tool", "send_message"), ("outcome", "ok")], 1);
        metrics.add("narrows_calls_running", &[], 0);
        let expected = "# HELP narrows_calls_running Calls that go on.
# TYPE narrows_calls_running gauge
narrows_calls_running 0
# HELP narrows_calls_total Calls of tools that were answered, by the outcome: ok, or the code of the error.
# TYPE narrows_calls_total counter
narrows_calls_total{tool=\"list_agents\",outcome=\"ok\"} 1
narrows_calls_total{tool=\"send_message\",outcome=\"ok\"} 2
# HELP narrows_uptime_seconds Time since this process began.
# TYPE narrows_uptime_seconds gauge
narrows_uptime_seconds 61.005
";
        assert_eq!(metrics.to_text(), expected);
    }

    #[test]
    fn families_are_in_order_and_counters_are_named_so() {
        assert!(FAMILIES.is_sorted());
        for [name, kind, help] in FAMILIES {
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            assert!(name.starts_with("narrows_") && help.ends_with('.'));
        }
    }
}
