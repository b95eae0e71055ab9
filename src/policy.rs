//! The policy on calls to MCP servers: who may call what, what a person has to approve, and what may not leave.
//!
//! Everything here is a function over data: nothing of it knows sessions, links or sockets.

pub mod approvals;
pub mod canonical;
pub mod evaluation;
pub mod glob;
pub mod rule;
pub mod settings;
pub mod taint;

pub use approvals::Approvals;
pub use evaluation::{Evaluation, Facts, Verdict, evaluate};
pub use rule::{Action, Rule, Rules, Sink};
pub use settings::Settings;
pub use taint::{Finding, Report, check_outbound_json, check_outbound_text};
