//! A call to a tool of an MCP server behind the gateway.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::policy::{self, Admitted};
use super::questions::Open;
use super::rounds::Rounds;
use super::{Ended, Run, Work, fault};
use crate::io::{Deadline, Level, Reason};
use crate::json::{Json, Raw};
use crate::jsonrpc;
use crate::link::catalog::{LinkedTool, ServerNumber};
use crate::link::wire::CallOrder;
use crate::link::{CallReport, Job, relay};
use crate::mcp::asks::Asks;
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::Started;
use crate::policy::glob::Names;
use crate::time::Instant;

/// Members of `_meta` that say which trace a request belongs to (W3C Trace Context, Baggage).
const TRACES: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// How many times its time a call may take at most while its server tells of progress.
pub(super) const MOST_TIMES: u64 = 10;

/// A call that its server has not answered.
#[derive(Debug)]
pub struct LinkedCall {
    pub(super) tool: Arc<LinkedTool>,
    until: Instant,
    /// the end, whatever the server tells of progress
    latest: Instant,
    /// what it was called with, to be made again where its server asks
    arguments: Option<Json>,
    /// how often that was, and under which approval
    rounds: Rounds,
    /// what its server asks for
    asks: Option<Asks>,
    /// what its server asks while the call runs
    pub(super) questions: Vec<Open>,
}

impl LinkedCall {
    /// Has the call made.
    ///
    /// # Errors
    /// The policy refuses it.
    pub fn start(run: &mut Run<'_>, tool: &Arc<LinkedTool>, arguments: Option<Raw<'_>>) -> Result<Started, ToolError> {
        let now = run.ground.now;
        let original = arguments.map(Json::from_raw);
        // What the caller knows of other servers' and agents' credentials is not told to this one.
        let arguments = original.clone().map(|json| run.scope.secrets.redact_json(json));
        let mut rounds = Rounds::read(run.answers.state.as_ref());
        let responses = rounds.responses(run, tool)?;
        let mut meta = policy::sent_meta(&run.scope.secrets, &run.caller.meta);
        if rounds.approval.is_some() {
            // What a person approved went out in the first round; only what names its trace may differ in a later one.
            meta.retain(|(name, _)| TRACES.contains(&name.as_str()));
        }
        let order = CallOrder {
            call: run.caller.call,
            tool: tool.tool.clone(),
            arguments,
            responses,
            capabilities: run.caller.capabilities,
            meta,
            progress: run.caller.progress_token.is_some(),
            log_level: run.caller.log_level,
            again: false,
        };
        rounds.approval = match policy::admit(run, tool, &order, &rounds)? {
            Admitted::Yes(approval) => approval,
            Admitted::Waits(work) => return Ok(Started::Running(work)),
        };
        run.ground.link_jobs.push_back(Job::Call { server: tool.server, order });
        let until = now.plus_ms(tool.timeout_ms);
        let latest = now.plus_ms(tool.timeout_ms.saturating_mul(MOST_TIMES));
        let work = Self { tool: tool.clone(), until, latest, arguments: original, rounds, asks: None, questions: Vec::new() };
        Ok(Started::Running(alloc::boxed::Box::new(Work::Linked(work))))
    }

    /// Takes in what the link says.
    pub fn report(&mut self, run: &mut Run<'_>, report: CallReport) -> Option<Ended> {
        if matches!(report, CallReport::Result(_) | CallReport::Refused(_) | CallReport::Lost(_)) {
            self.end_questions(run, true, false);
        }
        match report {
            CallReport::Result(raw) => {
                if relay::asks(&raw) {
                    return self.asked(run, &raw);
                }
                let raw = self.returned(run, raw);
                Some(relay::result(&self.tool.server_name, raw))
            }
            CallReport::Refused(raw) => {
                if run.caller.era == Era::Modern {
                    match self.rounds.links(run, &self.tool, &raw) {
                        Ok(None) => {}
                        Ok(asks) => {
                            self.asks = asks;
                            return None;
                        }
                        Err(error) => return Some(Err(error)),
                    }
                }
                let raw = self.returned(run, raw);
                Some(Ok(relay::refusal(raw)))
            }
            CallReport::Lost(error) => {
                let names = Names { offered: &self.tool.offered, composed: &self.tool.composed };
                Some(Err(policy::inbound_error(run.ground, names, error)))
            }
            CallReport::Log(params) => {
                let params = policy::inbound(run, &self.tool, params);
                let level = params.members().and_then(|params| Level::named(&params.string("level")?));
                if run.caller.log_level.zip(level).is_some_and(|(least, level)| level >= least) {
                    let params = run.scope.secrets.redact_json(params);
                    run.say(jsonrpc::notification("notifications/message", &params));
                }
                None
            }
            CallReport::Progress(params) => {
                if self.questions.is_empty() {
                    self.until = run.ground.now.plus_ms(self.tool.timeout_ms).min(self.latest);
                }
                if let Some(token) = run.caller.progress_token.clone() {
                    let params = policy::inbound(run, &self.tool, params);
                    let params = relay::progress(&params, &token);
                    let params = run.scope.secrets.redact_json(params);
                    run.pace(jsonrpc::notification("notifications/progress", &params));
                }
                None
            }
        }
    }

    /// Its server wants to be told more first.
    fn asked(&mut self, run: &mut Run<'_>, raw: &Json) -> Option<Ended> {
        match self.rounds.asks(run, &self.tool, &raw.members().unwrap_or_default()) {
            Ok(asks) => {
                self.asks = Some(asks);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// What its server asks for, once.
    pub fn take_asks(&mut self) -> Option<Asks> {
        self.asks.take()
    }

    /// Waits anew for so long, and so many times that at most.
    pub(super) fn wait(&mut self, run: &Run<'_>, ms: u64, times: u64) {
        self.until = run.ground.now.plus_ms(ms);
        self.latest = run.ground.now.plus_ms(ms.saturating_mul(times));
    }

    /// Whether it is a call to that server.
    #[must_use]
    pub fn is_at(&self, server: ServerNumber) -> bool {
        self.tool.server == server
    }

    /// What it was called with.
    #[must_use]
    pub const fn arguments(&self) -> Option<&Json> {
        self.arguments.as_ref()
    }

    /// The same, where it is started again.
    pub fn take_arguments(&mut self) -> Option<Json> {
        self.arguments.take()
    }

    /// Its server answered.
    fn returned(&self, run: &mut Run<'_>, raw: Json) -> Json {
        if let Some(id) = &self.rounds.approval {
            policy::notice(run, "approval_returned", id);
        }
        policy::inbound(run, &self.tool, raw)
    }

    /// Its time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        let is_asked = !self.questions.is_empty();
        if is_asked {
            self.end_questions(run, true, true);
        }
        self.cancel(run, "the call took too long");
        let (server, wait) = (&self.tool.server_name, fault::duration(self.tool.timeout_ms));
        let message = if is_asked {
            format!("the client did not answer what MCP server '{server}' asked within 10 minutes")
        } else {
            format!("MCP server '{server}' did not answer {} within {wait}", self.tool.tool)
        };
        Some(Err(ToolError::new(Code::Timeout, message).with("server", Json::string(server))))
    }

    /// When its time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    /// Takes the call back.
    pub fn cancel(&mut self, run: &mut Run<'_>, reason: &'static str) {
        self.end_questions(run, false, true);
        let (server, call) = (self.tool.server, run.caller.call);
        run.ground.link_jobs.push_back(Job::Cancel { server, call, reason });
    }
}
