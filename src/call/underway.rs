//! What a send leaves to the agent's conversation and history, while it runs and when it ends.

use alloc::string::String;

use crate::a2a::State;
use crate::contexts::Conversation;
use crate::history::Entry;
use crate::json::{Json, Object};
use crate::snapshot::Record;
use crate::time::WallTime;

/// What is known of a send so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Underway {
    /// the alias of the agent; `None` where it was called by URL
    pub alias: Option<String>,
    /// the URL of the agent
    pub url: String,
    /// what went out, shortened
    pub sent: String,
    /// whether the conversation goes on with it
    pub converses: bool,
    /// the context that the message went out with
    pub asked_in: Option<String>,
    /// the context of what came back
    pub context_id: Option<String>,
    /// the task that came back
    pub task_id: Option<String>,
    /// the state of the task
    pub state: Option<State>,
}

impl Underway {
    /// The context and the task of the reply are stored on every path that yields one.
    pub fn remember(&self, conversation: &mut Conversation) {
        // A task without a context belongs to the conversation that the message went out with.
        if !self.converses || (self.context_id.is_none() && self.asked_in != conversation.context_id) {
            return;
        }
        conversation.learn(self.context_id.as_deref(), self.task_id.as_deref().zip(self.state.as_ref()));
    }

    /// Its place in the history.
    #[must_use]
    pub fn entry(self, response: String, is_error: bool, at: WallTime) -> Entry {
        let (context_id, task_id) = (self.context_id, self.task_id);
        let state = self.state.map(|state| state.kebab().into_owned());
        Entry { sent: self.sent, response, at, context_id, task_id, state, is_error }
    }

    /// The form of a snapshot.
    #[must_use]
    pub fn record(&self) -> Json {
        let mut out = Object::new();
        out.optional_string("alias", self.alias.as_deref()).string("url", &self.url);
        out.string("sent", &self.sent).boolean("converses", self.converses);
        out.optional_string("asked_in", self.asked_in.as_deref()).optional_string("context_id", self.context_id.as_deref());
        out.optional_string("task_id", self.task_id.as_deref()).optional_string("state", self.state.as_ref().map(State::wire));
        out.finish()
    }

    /// Reads the form of a snapshot.
    #[must_use]
    pub fn read(record: &Record<'_, '_>) -> Self {
        Self {
            alias: record.optional("alias"),
            url: record.text("url"),
            sent: record.text("sent"),
            converses: record.boolean("converses"),
            asked_in: record.optional("asked_in"),
            context_id: record.optional("context_id"),
            task_id: record.optional("task_id"),
            state: record.optional("state").map(|name| State::named(&name)),
        }
    }
}
