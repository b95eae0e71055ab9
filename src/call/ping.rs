//! Pinging an agent: any HTTP status is an answer.

use alloc::string::{String, ToString};

use super::target::Target;
use super::{Ended, Run, Work, fault};
use crate::exchange::{Failure, Plan, Report, Want};
use crate::io::{Deadline, ExchangeId, Method, Reason};
use crate::json::Object;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::time::Instant;
use crate::url::Url;

/// How long a ping may take.
const TIMEOUT_MS: u64 = 5000;

/// A ping_agent.
#[derive(Debug)]
pub struct Ping {
    target: Target,
    exchange: Option<ExchangeId>,
    started: Instant,
    until: Instant,
}

impl Ping {
    /// Asks for a URL of the agent.
    pub fn start(run: &mut Run<'_>, target: Target, url: Url) -> Started {
        let plan = Plan {
            method: Method::Get,
            url,
            headers: alloc::vec![("Accept".to_string(), "*/*".to_string())],
            body: None,
            credentials: target.credentials.clone(),
            registered: target.url.clone(),
            by_public: false,
            want: Want::Head,
        };
        let started = run.ground.now;
        let mut work = Self { target, exchange: None, started, until: started.plus_ms(TIMEOUT_MS) };
        match run.start(plan) {
            Ok(exchange) => {
                work.exchange = Some(exchange);
                Started::Running(alloc::boxed::Box::new(Work::Ping(work)))
            }
            Err(failure) => Started::Done(work.result(run, Err(fault::failure(run, &work.target.label, &failure)))),
        }
    }

    /// The agent of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        if self.exchange != Some(exchange) {
            return None;
        }
        self.exchange = None;
        match &report {
            Report::Failed(failure) => self.target.failed(run, failure),
            Report::Reply(_) | Report::Event(_) | Report::Closed(_) => self.target.heard(run, true),
        }
        let answer = match report {
            Report::Reply(reply) => Ok(Some(reply.status)),
            Report::Failed(Failure::Redirect { status, .. }) => Ok(Some(status)),
            Report::Failed(failure @ Failure::Transport { answered: false, .. }) => {
                Err(fault::failure(run, &self.target.label, &failure))
            }
            Report::Failed(_) | Report::Event(_) | Report::Closed(_) => Ok(None),
        };
        Some(Ok(self.result(run, answer)))
    }

    /// The time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        self.stop(run);
        self.target.heard(run, false);
        let silent = ToolError::new(crate::mcp::outcome::Code::Timeout, "no answer in 5s");
        Some(Ok(self.result(run, Err(silent))))
    }

    /// When the time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    /// Stops.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
    }

    fn result(&self, run: &Run<'_>, answer: Result<Option<u16>, ToolError>) -> ToolResult {
        let took_ms = run.ground.now.since(self.started);
        let threshold = run.ground.config.health_failure_threshold;
        let known = self.target.alias.as_ref().and_then(|(alias, _)| run.scope.registry.get(alias));
        let health = known.map_or("unknown", |agent| agent.health.name(threshold));
        let mut out = Object::new();
        out.boolean("reachable", answer.is_ok()).string("health", health);
        let text = match answer {
            Ok(status) => {
                if let Some(status) = status {
                    out.integer("status", status);
                }
                out.integer("response_time_ms", took_ms);
                let status = status.map_or(String::new(), |status| alloc::format!(" with HTTP {status}"));
                alloc::format!("The {} answered{status} in {}; health: {health}.", self.target.label, fault::duration(took_ms))
            }
            Err(error) => {
                out.string("reason", &error.message);
                alloc::format!("The {} is not reachable: {}; health: {health}.", self.target.label, error.message)
            }
        };
        ToolResult::new(text, out)
    }
}
