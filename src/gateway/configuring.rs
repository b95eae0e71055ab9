//! Another configuration, taken up while everything runs: all of it, or nothing.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::call::Work;
use crate::config::Config;
use crate::incoming::access::{self, Refusal};
use crate::io::Level;
use crate::json::Object;
use crate::link::wire::CallOrder;
use crate::link::{Changes, Outside};
use crate::list::gather;
use crate::mcp::asks::Answers;
use crate::mcp::outcome::{Code, ToolError};

impl Gateway {
    /// Goes on with another configuration. What did not change in it goes on untouched.
    pub(super) fn configure(&mut self, mut config: Config) {
        let running = &self.ground.config;
        let has_other_limits = config.limits != running.limits;
        // What the host stands on since it began.
        (config.storage, config.limits) = (running.storage, running.limits.clone());
        config.pin_storage = running.pin_storage;
        (config.server.loopback, config.directory.store) = (running.server.loopback, running.directory.store);
        if config == *running && !has_other_limits {
            return;
        }
        let policy_changed = config.policy_json() != running.policy_json();
        self.trace.learn_config(&config);
        let before = core::mem::replace(&mut self.ground.config, config);
        let servers = self.ground.config.mcp_servers.clone();
        let mut out = Outside { ground: &mut self.ground, exchanges: &mut self.exchanges };
        let changes = self.links.configure(&mut out, &servers);
        changes.stopped.iter().for_each(|server| self.ground.pins.release(server));
        self.links.look(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges });
        self.note_changes(&changes, policy_changed, has_other_limits);
        self.let_strangers_go();
        self.furnish(&before.external_agents);
        self.keeper.is_furnished = false;
        self.offer_anew();
        let mut unsent = Vec::new();
        if policy_changed {
            self.ground.approvals.forget_sessions();
            unsent = self.links.take_unsent(false);
        }
        self.ask_anew(&changes, policy_changed);
        unsent.into_iter().for_each(|order| self.admit_anew(order));
    }

    fn note_changes(&mut self, changes: &Changes, policy_changed: bool, has_other_limits: bool) {
        let mut fields = Object::new();
        fields.strings("started", &changes.started).strings("restarted", &changes.restarted);
        fields.strings("stopped", &changes.stopped).boolean("policy", policy_changed);
        if has_other_limits {
            fields.strings("at_next_start", ["limits"]);
        }
        self.ground.notice(Level::Notice, "configuration_changed", fields);
    }

    /// Whoever has no token any more is served no longer.
    fn let_strangers_go(&mut self) {
        let server = &self.ground.config.server;
        let is_stranger = |principal: &str| !access::is_principal(server, principal);
        let sessions = self.incoming.sessions.iter().filter(|(_, session)| is_stranger(&session.principal));
        let sessions = gather(sessions.map(|(name, _)| name.clone()));
        let requests = self.incoming.requests.iter().filter(|(_, served)| !served.principal.is_empty());
        let requests = gather(requests.filter(|(_, served)| is_stranger(&served.principal)).map(|(request, _)| *request));
        for name in sessions {
            self.end_session(&name);
        }
        for request in requests {
            let why = "the token is not valid any more";
            if self.incoming.requests.has(&request) && !self.end_watching(request, why) {
                self.end_stream(request, Refusal::new(401, why));
            }
        }
    }

    /// A call that was let out waits for its server, and the policy or the tool is another one by now: it is held against
    /// them as they are.
    pub(super) fn admit_anew(&mut self, order: CallOrder) {
        if let Some(call) = self.calls.get_mut(&order.call) {
            call.caller.meta = order.meta;
        }
        self.begin_again(order.call, order.arguments, Ok(Answers::none()));
    }

    /// Calls that wait for a person are held against the policy as it is now: what was asked under the earlier one is void.
    /// Those to servers that are gone, or others by now, end.
    fn ask_anew(&mut self, changes: &Changes, policy_changed: bool) {
        let waits = |work: &Work| if let Work::Approving(work) = work { Some(work.id().to_string()) } else { None };
        let waiting = gather(self.calls.iter().filter_map(|(call, known)| Some((*call, waits(&known.work)?))));
        for (call, id) in waiting {
            let server = self.ground.approvals.get(&id).map(|request| &request.proposal.server);
            let is_among = |names: &[String]| server.is_some_and(|server| names.contains(server));
            let ended = if is_among(&changes.stopped) {
                Some("its MCP server was taken out of the configuration")
            } else {
                is_among(&changes.restarted).then_some("its MCP server is configured otherwise now: call it once more")
            };
            if let Some(why) = ended {
                self.work(call, |work, run| {
                    if let Work::Approving(work) = work {
                        work.withdraw_question(run);
                        work.withdraw(run);
                    }
                    Some(Err(ToolError::new(Code::Unreachable, why)))
                });
                continue;
            }
            let tool = self.calls.get(&call).and_then(|call| self.ground.catalog.find(call.subject.name()));
            if policy_changed && tool.is_some() {
                self.start_again(call, None);
            }
        }
    }
}
