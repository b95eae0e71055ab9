//! MCP servers behind the gateway: what calls want of them, and what they say to calls and to clients.

use alloc::vec::Vec;

use super::Gateway;
use crate::call::{CallId, Work};
use crate::io::{Level, PeerId};
use crate::json::{self, Object};
use crate::jsonrpc::{self, Id};
use crate::link::catalog::LinkedTool;
use crate::link::{CallReport, Job, Outside, Report};
use crate::list::gather;
use crate::mcp::asks::Answers;
use crate::mcp::era;
use crate::policy::glob::{Glob, Names};
use crate::tools::TOOLS;

/// The notification that other tools are offered.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

impl Gateway {
    /// Does what is due at links, what calls want of them, and hands on what they say.
    pub(crate) fn drive_links(&mut self) {
        self.ground.held.turn_to("");
        self.links.due(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges });
        loop {
            while let Some(job) = self.ground.link_jobs.pop_front() {
                // What is made for a call is held by its caller, the rest by nobody in particular.
                let caller = if let Job::Call { order, .. } = &job { self.calls.get(&order.call) } else { None };
                self.ground.held.turn_to(caller.map_or("", |call| &call.scope));
                self.links.perform(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges }, job);
            }
            let reports = self.links.take_reports();
            if reports.is_empty() {
                self.call_awaited();
                if self.ground.link_jobs.is_empty() {
                    return;
                }
            }
            for report in reports {
                match report {
                    Report::Call(call, report) => self.linked(call, report),
                    Report::Asks(question) => self.server_asks(*question),
                    Report::Unasks(server, id) => self.server_unasks(server, &id),
                    Report::ToolsChanged => {
                        self.offer_anew();
                        self.links.take_unsent(true).into_iter().for_each(|order| self.admit_anew(order));
                    }
                }
            }
        }
    }

    /// A server says something to a call; where it asks, the call is made again with the answers.
    fn linked(&mut self, call: CallId, report: CallReport) {
        self.work(call, |work, run| work.linked(run, report));
        let Some(Work::Linked(work)) = self.calls.get_mut(&call).map(|call| call.work.as_mut()) else { return };
        let Some(asks) = work.take_asks() else { return };
        let arguments = work.take_arguments();
        let next = if asks.questions.is_empty() { Ok(Answers { list: Vec::new(), state: asks.state }) } else { Err(asks) };
        self.begin_again(call, arguments, next);
    }

    /// Tells of patterns that fit no tool, once every server has told which it has: nothing is held by a name that is wrong.
    fn tell_of_idle_patterns(&mut self) {
        if !self.links.are_listed() {
            return;
        }
        let catalog = &self.ground.catalog;
        let is_idle = |glob: &Glob| {
            let fits = |tool: &LinkedTool| glob.matches_either(Names { offered: &tool.offered, composed: &tool.composed });
            !catalog.any(fits) && !TOOLS.iter().any(|tool| glob.matches(tool.name))
        };
        let idle = self.ground.config.policy.idle(&is_idle);
        if idle != self.idle_patterns && !idle.is_empty() {
            let mut fields = Object::new();
            fields.strings("patterns", &idle);
            self.ground.notice(Level::Warning, "patterns_idle", fields);
        }
        self.idle_patterns = idle;
    }

    /// The tools of the servers are others now.
    pub(super) fn offer_anew(&mut self) {
        self.ground.catalog = self.links.catalog(&self.ground.pins);
        self.ground.tools_lists.iter_mut().for_each(|list| drop(list.take()));
        if !self.ground.catalog.shared.is_empty() {
            let mut fields = Object::new();
            fields.strings("tools", &self.ground.catalog.shared);
            self.ground.notice(Level::Warning, "tool_names_shared", fields);
        }
        self.tell_of_idle_patterns();
        // What is found and called by the same two tools all the time is no other list.
        if self.ground.config.is_searched() {
            return;
        }
        let peers = gather(self.peers.iter().map(|(peer, _)| *peer));
        for peer in peers {
            self.tell_of_tools(peer);
        }
    }

    fn tell_of_tools(&mut self, peer: PeerId) {
        let Some(session) = self.peers.get(&peer) else { return };
        let listens = gather(session.tool_listens().filter_map(|id| json::parse(id, 0).ok().and_then(Id::read)));
        if session.version.is_some() {
            let params = Object::new().finish();
            self.ground.say(peer, None, false, None, jsonrpc::notification(TOOLS_CHANGED, &params));
        }
        for id in listens {
            let params = era::on_stream(id.as_json());
            self.ground.say(peer, Some(&id), false, None, jsonrpc::notification(TOOLS_CHANGED, &params));
        }
    }
}
