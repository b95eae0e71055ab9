//! The end of a send: its outcome, and what history and conversation keep of it.

use alloc::format;
use alloc::string::String;

use super::{Happening, Keeping, Send, State};
use crate::a2a::{self, Dialect, Operation};
use crate::call::underway::Underway;
use crate::call::{Ended, Run, fault};
use crate::history;
use crate::mcp::outcome::{Code, ToolError};

/// What is told of bytes that went out in the HTTP form of 0.3.
const FILES_NOTE: &str = "note: agents differ in how they read the bytes of files over HTTP+JSON in A2A 0.3, so this one may not have got the file as it is; a URL of it is safe";

impl Send {
    /// The outcome as it is assembled.
    pub(super) fn finish(&mut self, run: &mut Run<'_>) -> Ended {
        self.step(Happening::Answer);
        self.remember(run);
        self.drop_exchange(run);
        self.relay_whole(run);
        let ended = self.noted(self.outcome(&run.scope.secrets));
        self.record(run, &ended);
        ended
    }

    /// An error that keeps what was received.
    pub fn fail(&mut self, run: &mut Run<'_>, mut error: ToolError) -> Ended {
        error.unsent |= self.state == State::Finding;
        self.step(Happening::Failure);
        self.remember(run);
        self.drop_exchange(run);
        let ended = self.noted(Err(self.with_received(&run.scope.secrets, error)));
        self.record(run, &ended);
        ended
    }

    /// Says what may have become of the bytes of files on their way.
    fn noted(&self, mut ended: Ended) -> Ended {
        if self.dialect() == Dialect::Rest03 && self.holds_files() {
            let items = match &mut ended {
                Ok(result) => &mut result.texts,
                Err(error) => &mut error.items,
            };
            items.push(String::from(FILES_NOTE));
        }
        ended
    }

    /// What is known of it so far.
    #[must_use]
    pub fn underway(&self) -> Underway {
        let (task, message) = (self.assembly.task(), self.assembly.message());
        let message_context = message.and_then(|message| message.context_id.clone());
        Underway {
            alias: self.target.alias.as_ref().map(|(alias, _)| alias.clone()),
            url: self.target.url.as_str().into(),
            sent: self.sent.clone(),
            converses: self.keeping == Keeping::Conversation,
            asked_in: self.request.request().message.context_id.clone(),
            context_id: message_context.or_else(|| task?.context_id.clone()),
            task_id: self.task_id(),
            state: task.map(|task| task.status.state.clone()),
        }
    }

    /// Writes the send into the history of its agent.
    fn record(&self, run: &mut Run<'_>, ended: &Ended) {
        let (depth, length, at) =
            (run.ground.config.history.depth, run.ground.config.history.max_entry_length, run.ground.wall());
        let Some((alias, _)) = self.target.alias.as_ref().filter(|_| depth > 0) else { return };
        // Of a registration at another URL the conversation is another one, the history is not.
        let Some(agent) = run.scope.registry.get_mut(alias) else { return };
        let response = match ended {
            Ok(result) => result.texts.first().map_or("", String::as_str),
            Err(error) => error.message.as_str(),
        };
        let response = history::shorten(&run.scope.secrets.redact(String::from(response)), length);
        let (pool, limit) = (&run.ground.inboxes, run.ground.config.limits.inbox_bytes);
        agent.history.add(self.underway().entry(response, ended.is_err(), at), depth, pool, limit);
    }

    pub(super) fn drop_exchange(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
        self.finding.stop(run);
        // Where nothing was sent, nothing is spent.
        if let Some(((alias, _), registration)) = self.target.alias.as_ref().zip(self.paid.take())
            && let Some(agent) = run.scope.registry.same(alias, registration)
        {
            agent.bucket.give_back(run.ground.now);
        }
    }

    /// The conversation goes on with what came back.
    fn remember(&self, run: &mut Run<'_>) {
        let Some((alias, _)) = self.target.alias.as_ref() else { return };
        let Some(agent) = run.scope.registry.still_at(alias, &self.target.url) else { return };
        // Whatever came back is the answer to the task that waited for what was sent, also where it does not name the
        // conversation.
        let continued = &self.request.request().message.task_id;
        let is_answered = self.keeping == Keeping::Conversation && !self.is_empty();
        if is_answered && continued.is_some() && agent.conversation.waiting_task == *continued {
            agent.conversation.waiting_task = None;
        }
        self.underway().remember(&mut agent.conversation);
    }

    pub(super) fn time_out(&mut self, run: &mut Run<'_>) -> Ended {
        let waited = fault::duration(run.ground.now.since(self.started));
        let label = &self.target.label;
        let message = match self.assembly.task() {
            Some(task) => format!(
                "{label} did not finish task {} in {waited} (it is {}): read it later with get_task, or stop it with cancel_task",
                task.id,
                task.status.state.kebab(),
            ),
            None if self.state == State::Finding => format!("the card of {label} did not come in {waited}; nothing was sent"),
            None => format!("{label} did not answer in {waited}; the message may have arrived"),
        };
        let message = match self.reading.trouble() {
            Some(trouble) => format!("{message}. The last reading failed: {trouble}"),
            None => message,
        };
        // That a card is late says nothing of the agent.
        if self.assembly.task().is_none() && self.state != State::Finding {
            let answered = self.exchange.is_some_and(|exchange| run.exchanges.answered(exchange));
            self.target.heard(run, answered);
        }
        self.fail(run, ToolError::new(Code::Timeout, message))
    }

    /// Stops. A caller who cancelled wants the agent to stop too.
    pub fn stop(&mut self, run: &mut Run<'_>, cancelled: bool) {
        let why = if cancelled { "canceled by its caller" } else { "given up: its caller left" };
        self.record(run, &Err(ToolError::new(Code::Canceled, why)));
        self.remember(run);
        self.drop_exchange(run);
        let running = self.assembly.task().filter(|task| !task.status.state.is_terminal());
        // A task that has no name yet cannot be named to its agent.
        let running = running.filter(|task| !task.id.is_empty());
        let (Some(task), Some(route)) = (running.filter(|_| cancelled), &self.route) else { return };
        if let Ok(encoded) = a2a::encode(route.interface(), &Operation::Cancel { task_id: &task.id }, run.ground.call_number()) {
            let plan = self.target.plan(route, encoded, run.reply());
            run.start_unowned(plan);
        }
    }
}
