//! Reading an agent's card afresh.

use alloc::boxed::Box;
use alloc::format;

use super::discovery::{Discovery, Search};
use super::target::Target;
use super::{Ended, Run, Work, fault};
use crate::exchange::Report;
use crate::io::{Deadline, ExchangeId, Reason};
use crate::json::Object;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::time::Instant;

/// A get_agent_card.
#[derive(Debug)]
pub struct ReadCard {
    target: Target,
    discovery: Discovery,
    until: Instant,
}

impl ReadCard {
    /// Starts reading.
    ///
    /// # Errors
    /// Where the card's address is not called.
    pub fn start(run: &mut Run<'_>, target: Target) -> Result<Started, ToolError> {
        let (discovery, search) = Discovery::start(run, target.clone());
        let until = run.ground.now.plus_ms(super::task::TIMEOUT_MS);
        let mut work = Self { target, discovery, until };
        match work.search(run, search) {
            Some(ended) => ended.map(Started::Done),
            None => Ok(Started::Running(Box::new(Work::Card(work)))),
        }
    }

    /// The agent of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    fn search(&mut self, run: &mut Run<'_>, search: Search) -> Option<Ended> {
        let found = match search {
            Search::Going => return None,
            Search::Found(found) => found,
            Search::NotFound(why) => {
                let answered = self.discovery.answered(run);
                if answered || self.discovery.verdict().code == Code::Unreachable {
                    self.target.heard(run, answered);
                }
                return Some(Err(self.error(&why)));
            }
        };
        self.target.heard(run, true);
        let summary = found.profile.summary.members().unwrap_or_default();
        let name = summary.string("name").unwrap_or_default();
        let text = match summary.string("description") {
            Some(description) => format!("Card of {name} ({}): {description}", found.url.as_str()),
            None => format!("Card of {name} ({})", found.url.as_str()),
        };
        let mut out = Object::new();
        out.json("card", &found.card.whole).json("normalized", &found.profile.summary);
        let mut result = ToolResult::new(text, out);
        result.texts.push(found.card.whole.into_string());
        Some(Ok(result))
    }

    /// The error tells apart an agent that cannot be reached and one that has no card.
    fn error(&self, why: &str) -> ToolError {
        let verdict = self.discovery.verdict();
        let mut message = format!("the card of {} could not be read: {why}", self.target.label);
        if let Some(wait_ms) = verdict.retry_after_ms {
            message = format!("{message}; retry after {}", fault::duration(wait_ms));
        }
        let mut error = ToolError::new(verdict.code, message);
        if let Some(status) = verdict.status {
            error = error.with_integer("status", status);
        }
        match verdict.retry_after_ms {
            Some(wait_ms) => error.with_integer("retry_after_ms", wait_ms),
            None => error,
        }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        let search = self.discovery.report(run, exchange, report)?;
        self.search(run, search)
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        let message = format!("the card of {} did not come in time: {}", self.target.label, self.discovery.so_far());
        let answered = self.discovery.answered(run);
        self.discovery.give_up(run);
        self.target.heard(run, answered);
        Some(Err(ToolError::new(Code::Timeout, message)))
    }

    /// When the time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    /// Stops.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        self.discovery.stop(run);
    }
}
