//! The end of a send: its outcome, and what history and conversation keep of it.

use alloc::format;
use alloc::string::String;

use super::{Happening, Keeping, Send, State};
use crate::a2a::{self, Operation};
use crate::call::{Ended, Run, fault};
use crate::history::{self, Entry};
use crate::mcp::outcome::{Code, ToolError};

impl Send {
    /// The outcome as it is assembled.
    pub(super) fn finish(&mut self, run: &mut Run<'_>) -> Ended {
        self.step(Happening::Answer);
        self.remember(run);
        self.drop_exchange(run);
        self.relay_whole(run);
        let ended = self.outcome();
        self.record(run, &ended);
        ended
    }

    /// An error that keeps what was received.
    pub fn fail(&mut self, run: &mut Run<'_>, error: ToolError) -> Ended {
        self.step(Happening::Failure);
        self.remember(run);
        self.drop_exchange(run);
        let ended = Err(self.with_received(error));
        self.record(run, &ended);
        ended
    }

    /// Writes the send into the history of its agent.
    fn record(&mut self, run: &mut Run<'_>, ended: &Ended) {
        let (depth, length, at) =
            (run.ground.config.history.depth, run.ground.config.history.max_entry_length, run.ground.wall());
        let Some((alias, registration)) = self.target.alias.as_ref().filter(|_| depth > 0) else { return };
        let Some(agent) = run.scope.registry.same(alias, *registration) else { return };
        let task = self.assembly.task();
        let message_context = self.assembly.message().and_then(|message| message.context_id.clone());
        let response = match ended {
            Ok(result) => result.texts.first().map_or("", String::as_str),
            Err(error) => error.message.as_str(),
        };
        let entry = Entry {
            sent: core::mem::take(&mut self.sent),
            response: history::shorten(&run.scope.secrets.redact(String::from(response)), length),
            at,
            context_id: message_context.or_else(|| task?.context_id.clone()),
            task_id: task.map(|task| task.id.clone()).filter(|id| !id.is_empty()),
            state: task.map(|task| task.status.state.kebab().into_owned()),
            is_error: ended.is_err(),
        };
        agent.history.add(entry, depth);
    }

    pub(super) fn drop_exchange(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
        self.finding.stop(run);
    }

    /// The context and the task of the reply are stored on every path that yields one.
    fn remember(&self, run: &mut Run<'_>) {
        let Some((alias, registration)) = self.target.alias.as_ref().filter(|_| self.keeping == Keeping::Conversation) else {
            return;
        };
        let Some(agent) = run.scope.registry.same(alias, *registration) else { return };
        let task = self.assembly.task();
        let message = self.assembly.message();
        let context = message.and_then(|message| message.context_id.as_deref()).or_else(|| task?.context_id.as_deref());
        // A task without a context belongs to the conversation that the message went out with.
        if context.is_none() && self.request.message.context_id != agent.conversation.context_id {
            return;
        }
        let task = task.filter(|task| !task.id.is_empty());
        agent.conversation.learn(context, task.map(|task| (task.id.as_str(), &task.status.state)));
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
