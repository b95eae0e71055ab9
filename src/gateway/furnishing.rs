//! What the configuration gives to every scope: the agents that are connected without a call, and what is not to be told of
//! MCP servers.

use alloc::vec::Vec;

use super::Gateway;
use crate::call::dispatch::{Dispatch, Sink};
use crate::call::{CallId, Caller, Run};
use crate::config::{ExternalAgent, external_agents};
use crate::incoming::NOBODY;
use crate::io::PeerId;
use crate::json::{Json, Object};
use crate::jsonrpc::Id;
use crate::list::gather;
use crate::mcp::era::Era;
use crate::mcp::subject::Subject;
use crate::mcp::tool::Started;
use crate::snapshot::Record;
use crate::tools::connect_agent;

impl Gateway {
    /// Connects the configured agents in a new scope; their cards come when they come.
    pub(super) fn connect_external_agents(&mut self, peer: PeerId, scope: &str) {
        self.teach(scope);
        let agents = self.ground.config.external_agents.clone();
        self.connect_agents(peer, scope, &agents);
    }

    /// What servers are given is told to nobody else.
    fn teach(&mut self, scope: &str) {
        for server in &self.ground.config.mcp_servers {
            server.teach(&mut self.scopes.get_or_default(scope).secrets);
        }
    }

    fn connect_agents(&mut self, peer: PeerId, scope: &str, agents: &[ExternalAgent]) {
        for agent in agents {
            let mut caller = Caller::new(CallId(self.ground.call_number()), peer, Id::none(), Era::Legacy);
            let call = caller.call;
            let named = (scope, self.scopes.get_or_default(scope));
            let mut run = Run::new(&mut self.ground, named, &mut self.exchanges, &mut self.served, &mut caller);
            if let Ok(Started::Running(work)) = connect_agent::connect_external(&mut run, agent) {
                let dispatch = Dispatch { call, sink: Sink::Nobody, work };
                self.take_up(scope, &caller, &Subject::Tool(&connect_agent::TOOL), alloc::vec![dispatch]);
            }
        }
    }

    /// Gives the scopes that are there what new ones are given, where the configuration was another one `before`: agents that
    /// are new or changed are connected, and those that were taken out disconnected. Those that a caller registered under such
    /// an alias since then stay.
    pub(crate) fn furnish(&mut self, before: &[ExternalAgent]) {
        let agents = self.ground.config.external_agents.clone();
        let changed: Vec<ExternalAgent> = gather(agents.iter().filter(|agent| !before.contains(agent)).cloned());
        for scope in gather(self.scopes.iter().map(|(name, _)| name.clone())) {
            self.teach(&scope);
            let mut mine = changed.clone();
            for known in before {
                let agent = self.scopes.get(&scope).and_then(|scope| scope.registry.get(&known.name));
                let is_as_before = agent.map(|agent| agent.url == known.url && agent.headers == known.headers);
                if is_as_before == Some(false) {
                    mine.retain(|agent| agent.name != known.name);
                }
                if is_as_before == Some(true) && agents.iter().all(|kept| kept.name != known.name) {
                    self.disconnect(&scope, &known.name);
                }
            }
            let peer = self.peers.iter().find(|(_, session)| session.scope == scope).map_or(NOBODY, |(peer, _)| *peer);
            self.connect_agents(peer, &scope, &mine);
        }
    }

    fn disconnect(&mut self, scope: &str, alias: &str) {
        if self.scopes.get_mut(scope).and_then(|scope| scope.registry.remove(alias)).is_some() {
            self.end_calls_to(scope, alias);
        }
    }

    /// Which agents are configured, for whoever takes a snapshot up.
    pub(crate) fn external_record(&self) -> Option<Json> {
        let agents = &self.ground.config.external_agents;
        let mut record = Object::new();
        record.string("kind", "external_agents").nested("agents", external_agents(agents));
        (!agents.is_empty()).then(|| record.finish())
    }
}

/// Reads the record.
pub(crate) fn read(record: &Record<'_, '_>) -> Vec<ExternalAgent> {
    let entries = record.list("agents").into_iter().map(|raw| record.of(Some(raw)));
    gather(entries.filter_map(|entry| {
        Some(ExternalAgent { name: entry.text("name"), url: entry.url("url")?, headers: entry.pairs("headers") })
    }))
}
