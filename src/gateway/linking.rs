//! MCP servers behind the gateway: what calls want of them, and what they say to calls and to clients.

use super::Gateway;
use crate::io::{Level, PeerId};
use crate::json::{self, Object};
use crate::jsonrpc::{self, Id};
use crate::link::{Outside, Report};
use crate::list::gather;
use crate::mcp::era;

/// The notification that other tools are offered.
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

impl Gateway {
    /// Does what is due at links, what calls want of them, and hands on what they say.
    pub(crate) fn drive_links(&mut self) {
        self.links.due(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges });
        loop {
            while let Some(job) = self.ground.link_jobs.pop_front() {
                self.links.perform(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges }, job);
            }
            let reports = self.links.take_reports();
            if reports.is_empty() {
                return;
            }
            for report in reports {
                match report {
                    Report::Call(call, report) => self.work(call, |work, run| work.linked(run, report)),
                    Report::ToolsChanged => self.offer_anew(),
                }
            }
        }
    }

    /// The tools of the servers are others now.
    pub(super) fn offer_anew(&mut self) {
        self.ground.catalog = self.links.catalog();
        self.ground.tools_lists.iter_mut().for_each(|list| drop(list.take()));
        if !self.ground.catalog.shared.is_empty() {
            let mut fields = Object::new();
            fields.strings("tools", &self.ground.catalog.shared);
            self.ground.notice(Level::Warning, "tool_names_shared", fields);
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
