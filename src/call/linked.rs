//! A call to a tool of an MCP server behind the gateway.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::policy::{self, Admitted};
use super::{Ended, Run, Work, fault};
use crate::io::{Deadline, Level, Reason};
use crate::json::{Json, Object, Raw};
use crate::jsonrpc;
use crate::link::catalog::LinkedTool;
use crate::link::wire::CallOrder;
use crate::link::{CallReport, Job, relay};
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::Started;
use crate::time::Instant;

/// How many times its time a call may take at most while its server tells of progress.
const MOST_TIMES: u64 = 10;

/// A call that its server has not answered.
#[derive(Debug)]
pub struct LinkedCall {
    tool: Arc<LinkedTool>,
    until: Instant,
    /// the end, whatever the server tells of progress
    latest: Instant,
    /// the approval that it used up
    approval: Option<String>,
}

impl LinkedCall {
    /// Has the call made.
    ///
    /// # Errors
    /// The policy refuses it.
    pub fn start(run: &mut Run<'_>, tool: &Arc<LinkedTool>, arguments: Option<Raw<'_>>) -> Result<Started, ToolError> {
        let now = run.ground.now;
        // What the caller knows of other servers' and agents' credentials is not told to this one.
        let arguments = arguments.map(|raw| run.scope.secrets.redact_json(Json::from_raw(raw)));
        let mut meta = Object::new();
        meta.members(&run.caller.meta);
        let meta = run.scope.secrets.redact_json(meta.finish());
        let order = CallOrder {
            call: run.caller.call,
            tool: tool.tool.clone(),
            arguments,
            meta: meta.members().unwrap_or_default().keep(),
            progress: run.caller.progress_token.is_some(),
            log_level: run.caller.log_level,
            again: false,
        };
        let approval = match policy::admit(run, tool, &order)? {
            Admitted::Yes(approval) => approval,
            Admitted::Waits(work) => return Ok(Started::Running(work)),
        };
        run.ground.link_jobs.push_back(Job::Call { server: tool.server, order });
        let until = now.plus_ms(tool.timeout_ms);
        let latest = now.plus_ms(tool.timeout_ms.saturating_mul(MOST_TIMES));
        let work = Self { tool: tool.clone(), until, latest, approval };
        Ok(Started::Running(alloc::boxed::Box::new(Work::Linked(work))))
    }

    /// Takes in what the link says.
    pub fn report(&mut self, run: &mut Run<'_>, report: CallReport) -> Option<Ended> {
        match report {
            CallReport::Result(raw) => {
                let raw = self.returned(run, raw);
                Some(relay::result(&self.tool.server_name, raw))
            }
            CallReport::Refused(raw) => {
                let raw = self.returned(run, raw);
                Some(Ok(relay::refusal(raw)))
            }
            CallReport::Lost(error) => Some(Err(error)),
            CallReport::Log(params) => {
                let level = params.members().and_then(|params| Level::named(&params.string("level")?));
                if run.caller.log_level.zip(level).is_some_and(|(least, level)| level >= least) {
                    let params = run.scope.secrets.redact_json(params);
                    run.say(jsonrpc::notification("notifications/message", &params));
                }
                None
            }
            CallReport::Progress(params) => {
                self.until = run.ground.now.plus_ms(self.tool.timeout_ms).min(self.latest);
                if let Some(token) = &run.caller.progress_token {
                    let params = relay::progress(&params, token);
                    let params = run.scope.secrets.redact_json(params);
                    run.say(jsonrpc::notification("notifications/progress", &params));
                }
                None
            }
        }
    }

    /// Its server answered.
    fn returned(&self, run: &mut Run<'_>, raw: Json) -> Json {
        if let Some(id) = &self.approval {
            policy::notice(run, "approval_returned", id);
        }
        policy::inbound(run, &self.tool, raw)
    }

    /// Its time may be up.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        self.cancel(run, "the call took too long");
        let (server, wait) = (&self.tool.server_name, fault::duration(self.tool.timeout_ms));
        let message = format!("MCP server '{server}' did not answer {} within {wait}", self.tool.tool);
        Some(Err(ToolError::new(Code::Timeout, message).with("server", Json::string(server))))
    }

    /// When its time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    /// Takes the call back.
    pub fn cancel(&self, run: &mut Run<'_>, reason: &'static str) {
        let (server, call) = (self.tool.server, run.caller.call);
        run.ground.link_jobs.push_back(Job::Cancel { server, call, reason });
    }
}
