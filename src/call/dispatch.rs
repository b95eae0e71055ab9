//! Sends that nobody waits for: they run like any other, and their outcome goes to the inbox.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::{CallId, Ended, Run, Work, fitting};
use crate::ground::Ground;
use crate::inbox::Entry;
use crate::io::RequestId;
use crate::json::{self, Json};
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::scope::Scope;
use crate::served::TaskNumber;
use crate::time::{Instant, WallTime};

/// Where the outcome of a call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// to the peer that asked
    Peer,
    /// to the inbox
    Inbox(Ticket),
    /// to a served task, whose work another agent does
    Served(TaskNumber),
    /// nowhere; it delivers changes of a served task, whose record holds what is on its way
    Push(TaskNumber),
    /// to a request of the plain task API: what was found out about the agent at a URL, or else a task
    Request(RequestId, Option<String>),
    /// to the peer, once it comes back with the answers that it was asked for
    Parked,
    /// to whoever of its scope makes the same call again: the gateway ended while it waited for an approval, and the
    /// connection of its caller with it
    Left,
    /// nowhere
    Nobody,
}

impl Sink {
    /// Whether nobody listens until the caller comes back.
    #[must_use]
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Parked | Self::Left)
    }
}

/// A send that was dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// the id that its caller knows
    pub call_id: String,
    /// the agent as the caller named it
    pub alias: String,
}

/// Work that goes on by itself.
#[derive(Debug)]
pub struct Dispatch {
    /// its call
    pub call: CallId,
    /// where its outcome goes
    pub sink: Sink,
    /// the work
    pub work: Box<Work>,
}

/// A dispatched send that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// which
    pub ticket: Ticket,
    /// since when
    pub since: Instant,
    /// the task at the agent, once it is known
    pub task_id: Option<String>,
}

impl Run<'_> {
    /// Whether one more may run that nobody waits for; asked before a token is spent.
    ///
    /// # Errors
    /// [`Code::Busy`].
    pub fn room_to_dispatch(&self) -> Result<(), ToolError> {
        let limit = self.ground.config.limits.calls_per_peer;
        if self.scope.pending.len() < limit {
            return Ok(());
        }
        let message =
            format!("{limit} sends are pending, as many as calls_per_peer allows: see check_inbox, wait for one to end");
        Err(ToolError::new(Code::Busy, message).with("limit", Json::string("calls_per_peer")))
    }

    /// Starts work that goes on by itself under a call of its own; gives its id.
    ///
    /// # Errors
    /// What the start itself refuses.
    pub fn dispatch(
        &mut self,
        alias: &str,
        start: impl FnOnce(&mut Self) -> Result<Started, ToolError>,
    ) -> Result<String, ToolError> {
        let ticket = Ticket { call_id: self.ground.random.uuid(), alias: alias.to_string() };
        let call = CallId(self.ground.call_number());
        match self.alone(call, start)? {
            Started::Running(work) => {
                let pending = Pending { ticket: ticket.clone(), since: self.ground.now, task_id: None };
                self.scope.pending.insert(call, pending);
                self.dispatched.push(Dispatch { call, sink: Sink::Inbox(ticket.clone()), work });
            }
            Started::Done(result) => deposit(self.scope, self.ground, &ticket, Ok(result)),
            Started::Asks(_) => return Err(ToolError::new(Code::Unsupported, "this asks its caller, who must wait for it")),
        }
        Ok(ticket.call_id)
    }

    /// Runs something under another call, whose progress nobody is told.
    pub fn alone<T>(&mut self, call: CallId, act: impl FnOnce(&mut Self) -> T) -> T {
        let own = core::mem::replace(&mut self.caller.call, call);
        let token = self.caller.progress_token.take();
        let level = self.caller.log_level.take();
        let outcome = act(self);
        self.caller.call = own;
        self.caller.progress_token = token;
        self.caller.log_level = level;
        outcome
    }
}

/// Puts an outcome into the inbox.
pub fn deposit(scope: &mut Scope, ground: &Ground, ticket: &Ticket, ended: Ended) {
    // An entry is told in an answer, with its names.
    let limit = ground.config.limits.answer_bytes;
    let ended = fitting::within(ended, fitting::room(fitting::room(limit)), limit);
    let (result, failed) = match ended {
        Ok(result) => (result, false),
        Err(error) => (error.into_result(), true),
    };
    let entry = entry(ticket, &result, failed, ground.wall());
    scope.inbox.add(entry, &ground.inboxes, ground.config.limits.inbox_bytes);
}

fn entry(ticket: &Ticket, result: &ToolResult, failed: bool, at: WallTime) -> Entry {
    let members = result.structured.members().unwrap_or_default();
    let inside = |outer: &str, name: &str| members.get(outer).and_then(json::members).and_then(|inner| inner.string(name));
    let state = members.get("task").and_then(json::members).and_then(|task| task.get("status")).and_then(json::members);
    let state = state.and_then(|status| status.string("state")).map(|name| crate::a2a::State::named(&name).kebab().into_owned());
    let plain = if failed { "error" } else { "message" };
    Entry {
        call_id: ticket.call_id.clone(),
        alias: ticket.alias.clone(),
        state: state.unwrap_or_else(|| plain.to_string()),
        task_id: inside("task", "id").or_else(|| inside("error", "task_id")),
        context_id: (inside("task", "contextId").or_else(|| inside("message", "contextId")))
            .or_else(|| inside("error", "context_id")),
        at,
        text: result.texts.first().cloned().unwrap_or_default(),
        content: members.keep(),
    }
}
