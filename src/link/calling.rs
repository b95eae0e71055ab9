//! Calls of a server's tools.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::connection::{Asked, Link, Wire, last_lines};
use super::handshake::said;
use super::http::Why;
use super::life::State;
use super::wire::{self, CallOrder};
use super::{CallReport, Outside, Report, mirrored};
use crate::call::CallId;
use crate::io::Headers;
use crate::json::Json;
use crate::jsonrpc;
use crate::mcp::outcome::{Code, ToolError};

impl Link {
    pub(super) fn send(&mut self, out: &mut Outside<'_>, order: Box<CallOrder>, reports: &mut Vec<Report>) {
        let params = wire::call(self.era(), &out.ground.config, &order, self.next_request);
        self.ask(out, Asked::Call(order), "tools/call", params, reports);
    }

    /// Makes a call, or has it wait until the server is ready.
    pub fn call(&mut self, out: &mut Outside<'_>, order: CallOrder, reports: &mut Vec<Report>) {
        let limit = out.ground.config.limits.calls_per_server;
        let running = self.pending.len().saturating_add(u64::try_from(self.queue.len()).unwrap_or(u64::MAX));
        let call = order.call;
        self.renew_stale(out, reports);
        let mut lose = |error| reports.push(Report::Call(call, CallReport::Lost(error)));
        match self.state {
            State::Ready | State::Opening | State::Probing | State::Shaking | State::Authorizing | State::Listing
                if running >= limit =>
            {
                let message = format!(
                    "{limit} calls to MCP server '{}' are running, as many as calls_per_server allows: wait for one to end",
                    self.server.name
                );
                lose(ToolError::new(Code::Busy, message).with("limit", Json::string("calls_per_server")));
            }
            State::Ready => self.send(out, Box::new(order), reports),
            State::Opening | State::Probing | State::Shaking | State::Authorizing | State::Listing => {
                self.queue.push_back(Box::new(order))
            }
            State::Waiting => {
                let wait_ms = self.deadline.at.since(out.ground.now);
                lose(self.lost("is not connected").with_integer("retry_after_ms", wait_ms));
            }
            State::Locked => lose(self.login_needed(&self.cause)),
            State::Stopped => lose(self.lost("was stopped")),
        }
    }

    /// Takes a call back; the server is told where it got it already.
    pub fn cancel(&mut self, out: &mut Outside<'_>, call: CallId, reason: &str) {
        self.queue.retain(|order| order.call != call);
        let is_it = |asked: &Asked| matches!(asked, Asked::Call(order) if order.call == call);
        let Some(id) = self.pending.iter().find(|(_, asked)| is_it(asked)).map(|(id, _)| *id) else { return };
        self.pending.remove(&id);
        if let Wire::Http(wire) = &mut self.wire {
            // Where there are no handshakes, that says it (MCP 2026-07-28, cancellation).
            wire.give_up(out, id);
            if self.era() == crate::mcp::era::Era::Modern {
                return;
            }
        }
        let method = "notifications/cancelled";
        self.say(out, method, jsonrpc::notification(method, &wire::cancelled(id, reason)));
    }

    /// A call got no answer. One whose session was over is made once more in a new one.
    pub(super) fn call_refused(&mut self, out: &mut Outside<'_>, mut order: Box<CallOrder>, why: Why, reports: &mut Vec<Report>) {
        match why {
            Why::Session(is_current) if !order.again => {
                order.again = true;
                if self.state == State::Ready && !is_current {
                    return self.send(out, order, reports);
                }
                self.queue.push_back(order);
                if self.state == State::Ready {
                    self.shake_again(out, reports);
                }
            }
            Why::Status(_, ref body) if is_answer(body) => {
                let error = Json::parse(body, 64).ok().and_then(|text| text.members()?.get("error").map(Json::from_raw));
                reports.push(Report::Call(order.call, CallReport::Refused(error.unwrap_or_else(Json::null))));
            }
            why @ (Why::Status(..) | Why::Session(_) | Why::Words(_)) => {
                // What it was asked in is over all the same, for the calls of others too.
                let is_over = self.state == State::Ready && matches!(why, Why::Session(true));
                let message = format!("MCP server '{}' {}", self.server.name, said(why));
                let error = ToolError::new(Code::Unreachable, message).with("server", Json::string(&self.server.name));
                reports.push(Report::Call(order.call, CallReport::Lost(error)));
                if is_over {
                    self.shake_again(out, reports);
                }
            }
        }
    }

    pub(super) fn too_large(&self) -> ToolError {
        let message = format!("the answer of MCP server '{}' is larger than link_line_bytes allows", self.server.name);
        ToolError::new(Code::TooLarge, message).with("limit", Json::string("link_line_bytes"))
    }

    /// The error of a call that this server cannot answer.
    pub(super) fn lost(&self, what: &str) -> ToolError {
        let mut message = format!("MCP server '{}' {what}", self.server.name);
        if !self.cause.is_empty() {
            message.push_str(": it ");
            message.push_str(&self.cause);
        }
        let lines = last_lines(&self.stderr);
        if !lines.is_empty() {
            message.push_str("; its last words: ");
            message.push_str(&lines);
        }
        ToolError::new(Code::Unreachable, message).with("server", Json::string(&self.server.name))
    }

    /// Whether it is asked for its tools, or will be before anything went wrong.
    #[must_use]
    pub fn is_connecting(&self) -> bool {
        match self.state {
            State::Opening | State::Authorizing | State::Probing | State::Shaking | State::Listing | State::Ready => true,
            State::Waiting => self.cause.is_empty(),
            State::Locked | State::Stopped => false,
        }
    }

    /// The error of a call while it is not known yet which tools there are.
    #[must_use]
    pub fn not_listed(&self) -> ToolError {
        match self.state {
            State::Opening | State::Authorizing | State::Probing | State::Shaking | State::Listing | State::Ready => {
                self.lost("is still connecting, so that its tools are not known yet: call again in a moment")
            }
            State::Waiting if self.cause.is_empty() => self.lost("is not connected yet: call again in a moment"),
            State::Waiting => self.lost("is not connected, so that its tools are not known, and is tried again"),
            State::Locked => self.login_needed(&self.cause),
            State::Stopped => self.lost("was stopped"),
        }
    }

    /// The header fields that a tool has some of its arguments repeated in.
    pub(super) fn mirrored(&self, order: &CallOrder) -> Headers {
        let tool = self.tools.iter().find(|tool| tool.name == order.tool);
        tool.map(|tool| mirrored::fields(&tool.definition, order.arguments.as_ref())).unwrap_or_default()
    }
}

/// Whether a body is an error of JSON-RPC.
fn is_answer(body: &str) -> bool {
    Json::parse(body, 64).is_ok_and(|text| text.members().is_some_and(|members| members.get("error").is_some()))
}
