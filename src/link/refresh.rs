//! The list of a server's tools: read when it is connected, and again when it says that it changed.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::catalog::held;
use super::connection::{Asked, Link, Spoken, Wire};
use super::handshake::{said, words};
use super::http::Why;
use super::life::{Event, State};
use super::listing::{ListedTool, Listing, Next};
use super::{CallReport, Outside, Report, mirrored, wire};
use crate::io::{Deadline, Level, Reason};
use crate::json::{self, Json, Object};
use crate::jsonrpc::{self, Outcome};
use crate::mcp::era::Era;

/// A list that changes all the time is read once in so long.
const RELIST_MS: u64 = 1000;

/// When a stream of changes that broke is asked for again.
const LISTEN_MS: u64 = 1000;

/// What was said of a tool.
fn definition<'t>(tools: &'t [ListedTool], name: &str) -> Option<&'t Json> {
    tools.iter().find(|tool| tool.name == name).map(|tool| &tool.definition)
}

impl Link {
    /// Asks for the first page of its tools.
    pub(super) fn list(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        self.stale = false;
        self.listing = Some(Listing::default());
        self.due_in(out, self.server.timeout_ms);
        let params = wire::list(self.era(), &out.ground.config, None);
        self.ask(out, Asked::List, "tools/list", params, reports);
    }

    /// Its list is another one now: it is read again, but not all the time.
    pub(super) fn changed(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        if self.state != State::Ready || self.stale {
            self.stale |= self.state == State::Listing;
            return;
        }
        self.stale = true;
        if self.listing.is_none() {
            let at = self.ready_at.plus_ms(RELIST_MS).max(out.ground.now);
            self.deadline = Deadline { at, reason: Reason::LinkTimeout };
            if at <= out.ground.now {
                self.list(out, reports);
            }
        }
    }

    pub(super) fn listed(&mut self, out: &mut Outside<'_>, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        let Some(listing) = self.listing.as_mut() else { return };
        let next = match outcome {
            Outcome::Result(raw) => listing.page(&json::members(raw).unwrap_or_default(), &out.ground.config.limits),
            Outcome::Error(raw) => {
                let error = json::members(raw).unwrap_or_default();
                // A server without tools need not know how to list them.
                let has_none = error.get("code").and_then(|code| json::integer(code.get())) == Some(jsonrpc::METHOD_NOT_FOUND);
                if has_none { Ok(Next::Done) } else { Err(format!("did not list its tools: {}", words(&error))) }
            }
        };
        match next {
            Ok(Next::Page(cursor)) => {
                let params = wire::list(self.era(), &out.ground.config, Some(&cursor));
                self.ask(out, Asked::List, "tools/list", params, reports);
            }
            Ok(Next::Done) => self.complete(out, reports),
            Err(why) => self.no_list(out, why, reports),
        }
    }

    fn no_list(&mut self, out: &mut Outside<'_>, why: String, reports: &mut Vec<Report>) {
        // A list that was read before is better than none.
        if self.state == State::Ready { self.keep_list(out, &why) } else { self.fail(out, why, reports) }
    }

    pub(super) fn list_refused(&mut self, out: &mut Outside<'_>, why: Why, reports: &mut Vec<Report>) {
        if let (State::Ready | State::Shaking, Why::Session(is_current)) = (self.state, &why) {
            self.listing = None;
            if self.state == State::Shaking {
                // It is asked for in the session that is being begun.
                return;
            }
            return if *is_current { self.shake_again(out, reports) } else { self.list(out, reports) };
        }
        self.no_list(out, said(why), reports);
    }

    /// Its session is over: a new one is begun, once for all that wait.
    pub(super) fn shake_again(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        self.go(Event::SessionOver);
        self.watch_health(out.ground.now);
        self.asked_again = false;
        self.shake(out, reports);
    }

    pub(super) fn keep_list(&mut self, out: &mut Outside<'_>, why: &str) {
        self.listing = None;
        self.ready_at = out.ground.now;
        // Where it changed meanwhile it is read again, but not at once.
        self.deadline = Deadline { at: self.ready_at.plus_ms(RELIST_MS), reason: Reason::LinkTimeout };
        self.notice(out, Level::Warning, "link_list_kept", why);
    }

    /// Its tools are known.
    fn complete(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let Some(Listing { mut tools, mut faults, .. }) = self.listing.take() else { return };
        if matches!(self.wire, Wire::Http(_)) && self.spoken == Spoken::Modern {
            tools.retain(|tool| {
                let fault = mirrored::fault(&tool.definition);
                faults.extend(fault.map(|fault| format!("{} was left out: {fault}", tool.name)));
                fault.is_none()
            });
        }
        for fault in &faults {
            self.notice(out, Level::Warning, "link_tool", fault);
        }
        let is_new = self.tools != tools;
        let before = core::mem::replace(&mut self.tools, tools);
        self.look(out);
        if is_new {
            reports.push(Report::ToolsChanged);
        }
        let was_ready = self.state == State::Ready;
        self.go(Event::Listed);
        self.ready_at = out.ground.now;
        if !was_ready {
            self.watch_health(out.ground.now);
            let mut fields = Object::new();
            fields.string("server", &self.server.name).boolean("modern", self.era() == Era::Modern);
            fields.integer("tools", u64::try_from(self.tools.len()).unwrap_or(u64::MAX)).integer("noise", self.noise);
            for (name, text) in &self.told {
                fields.string(name, text);
            }
            out.ground.notice(Level::Info, "link_ready", fields);
            if self.spoken == Spoken::Modern {
                self.listen(out, reports);
            }
            let mut changed = VecDeque::new();
            for order in core::mem::take(&mut self.queue) {
                match out.ground.pins.reason(&self.server.name, &order.tool) {
                    Some(reason) => reports.push(Report::Call(order.call, CallReport::Lost(held(&self.server.name, &reason)))),
                    // Who called a tool that is another one now may have been allowed to call the earlier one alone.
                    None if definition(&before, &order.tool) != definition(&self.tools, &order.tool) => changed.push_back(order),
                    None => self.send(out, order, reports),
                }
            }
            self.queue = changed;
        }
        if core::mem::take(&mut self.stale) {
            self.changed(out, reports);
        }
    }

    /// Holds its tools against what they were.
    pub(super) fn look(&self, out: &mut Outside<'_>) {
        let server = &self.server.name;
        if !out.ground.config.mcp.pins {
            return out.ground.pins.release(server);
        }
        for tool in out.ground.pins.look(server, &self.tools, out.ground.config.limits.tools_per_server) {
            let mut fields = Object::new();
            fields.string("server", server).string("tool", &tool);
            fields.json("changes", &out.ground.pins.changes(server, &tool));
            out.ground.notice(Level::Warning, "tool_held", fields);
        }
    }

    /// Asks to be told of changes.
    pub(super) fn listen(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        self.listening.ask(out.ground.now);
        let params = wire::listen(&out.ground.config);
        self.ask(out, Asked::Listen, "subscriptions/listen", params, reports);
    }

    /// The stream of changes broke: what was missed meanwhile is read when it is asked for again.
    pub(super) fn listen_later(&mut self, out: &mut Outside<'_>, why: &Why) {
        let is_later = match why {
            Why::Status(status, _) => self.listening.is_later(*status),
            Why::Session(_) | Why::Words(_) => {
                self.listening.broke(out.ground.now);
                true
            }
        };
        if is_later && self.state == State::Ready {
            let wait_ms = self.listening.wait_ms(LISTEN_MS, &mut out.ground.random);
            self.listen_at = Some(out.ground.now.plus_ms(wait_ms));
        }
    }
}
