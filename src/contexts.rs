//! Conversations: the context and the task that go out with the next message to an alias.

use alloc::collections::VecDeque;
use alloc::string::String;

use crate::a2a::State;

/// How many tasks of an alias are remembered with their context.
const TASKS: usize = 64;
/// How long their ids may be together, in bytes.
const TASKS_BYTES: usize = 16 << 10;

/// What is remembered of the conversation with one alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// the context of the last reply that named one
    pub context_id: Option<String>,
    /// a task that waits for an answer in that context
    pub waiting_task: Option<String>,
    /// the last task that ended in that context
    pub finished_task: Option<String>,
    /// tasks seen, newest last: task and context
    tasks: VecDeque<(String, String)>,
}

/// The ids that a message goes out with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// the context to continue
    pub context_id: Option<String>,
    /// the task to continue
    pub task_id: Option<String>,
    /// the tasks to refer to
    pub reference_task_ids: Option<alloc::vec::Vec<String>>,
}

impl Conversation {
    /// Completes the ids that a caller gave: an explicit context beats the stored one, a task that waits is continued
    /// only in the stored context and only where no task was named, a finished one is referred to.
    #[must_use]
    pub fn complete(&self, mut ids: Ids) -> Ids {
        // The stored context by its name is the stored context.
        if ids.context_id.is_some() && (ids.task_id.is_some() || ids.context_id != self.context_id) {
            return ids;
        }
        if let Some(task) = &ids.task_id {
            let known = self.tasks.iter().rev().find(|(id, _)| id == task).map(|(_, context)| context.clone());
            ids.context_id = known.or_else(|| self.context_id.clone());
            return ids;
        }
        ids.context_id.clone_from(&self.context_id);
        ids.task_id.clone_from(&self.waiting_task);
        if ids.context_id.is_some() && ids.task_id.is_none() && ids.reference_task_ids.is_none() {
            ids.reference_task_ids = self.finished_task.clone().map(|task| alloc::vec![task]);
        }
        ids
    }

    /// Learns from a reply. An absent context leaves the stored one, and a task without one belongs to it. A task that
    /// waits is not answered by what comes of another one.
    pub fn learn(&mut self, context_id: Option<&str>, task: Option<(&str, &State)>) {
        let Some(context_id) = context_id.map(String::from).or_else(|| self.context_id.clone().filter(|_| task.is_some())) else {
            // An agent that names no contexts: the task that waits is all there is to continue.
            if let Some((task_id, state)) = task {
                self.note(task_id, state);
            }
            return;
        };
        if self.context_id.as_ref() != Some(&context_id) {
            self.context_id = Some(context_id.clone());
            self.waiting_task = None;
            self.finished_task = None;
        }
        let Some((task_id, state)) = task else { return };
        if self.tasks.back().is_none_or(|(id, _)| id != task_id) {
            self.tasks.push_back((task_id.into(), context_id));
            while self.tasks.len() > TASKS || self.tasks_bytes() > TASKS_BYTES {
                self.tasks.pop_front();
            }
        }
        self.note(task_id, state);
        if state.is_terminal() {
            self.finished_task = Some(task_id.into());
        }
    }

    /// The newest task that waits is the one to continue.
    fn note(&mut self, task_id: &str, state: &State) {
        if state.is_interrupted() {
            self.waiting_task = Some(task_id.into());
        } else if self.waiting_task.as_deref() == Some(task_id) {
            self.waiting_task = None;
        }
    }

    fn tasks_bytes(&self) -> usize {
        self.tasks.iter().map(|(task, context)| task.len() + context.len()).sum()
    }

    /// Learns what became of the task that waits, from a reading or a cancellation, and of one of this context that was
    /// seen running and waits by now.
    pub fn update(&mut self, task_id: &str, state: &State) {
        if state.is_interrupted() {
            let is_ours = |(task, context): &(String, String)| task == task_id && self.context_id.as_ref() == Some(context);
            if self.waiting_task.is_none() && self.tasks.iter().any(is_ours) {
                self.waiting_task = Some(task_id.into());
            }
            return;
        }
        if self.waiting_task.as_deref() != Some(task_id) {
            return;
        }
        self.waiting_task = None;
        if state.is_terminal() {
            self.finished_task = Some(task_id.into());
        }
    }

    /// The tasks that are remembered, oldest first: task and context.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tasks.iter().map(|(task, context)| (task.as_str(), context.as_str()))
    }

    /// Remembers a task of a snapshot.
    pub fn remember(&mut self, task_id: String, context_id: String) {
        self.tasks.push_back((task_id, context_id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(context: Option<&str>, task: Option<&str>) -> Ids {
        Ids { context_id: context.map(Into::into), task_id: task.map(Into::into), reference_task_ids: None }
    }

    #[test]
    fn a_waiting_task_is_continued_and_a_finished_one_referred_to() {
        let mut talk = Conversation::default();
        assert_eq!(talk.complete(Ids::default()), Ids::default());
        talk.learn(Some("c"), Some(("t", &State::InputRequired)));
        assert_eq!(talk.complete(Ids::default()), ids(Some("c"), Some("t")));
        assert_eq!(talk.complete(ids(Some("mine"), None)), ids(Some("mine"), None));
        assert_eq!(talk.complete(ids(Some("c"), None)), ids(Some("c"), Some("t")));
        assert_eq!(talk.complete(ids(None, Some("other"))), ids(Some("c"), Some("other")));
        assert_eq!(talk.complete(ids(Some("c"), Some("other"))), ids(Some("c"), Some("other")));
        talk.remember("elsewhere".into(), "d".into());
        assert_eq!(talk.complete(ids(Some("c"), Some("elsewhere"))), ids(Some("c"), Some("elsewhere")));
        talk.learn(Some("c"), Some(("t", &State::Completed)));
        let next = talk.complete(Ids::default());
        assert_eq!((next.task_id, next.reference_task_ids), (None, Some(alloc::vec!["t".into()])));
    }

    #[test]
    fn a_waiting_task_is_continued_at_an_agent_without_contexts() {
        let mut talk = Conversation::default();
        talk.learn(None, Some(("t", &State::InputRequired)));
        assert_eq!(talk.complete(Ids::default()), ids(None, Some("t")));
        assert_eq!(talk.complete(ids(Some("mine"), None)), ids(Some("mine"), None));
        talk.learn(None, Some(("t", &State::Completed)));
        assert_eq!(talk.complete(Ids::default()), Ids::default());
    }

    #[test]
    fn a_task_that_waits_is_left_waiting_by_what_comes_of_others() {
        let mut talk = Conversation::default();
        talk.learn(Some("c"), Some(("t1", &State::InputRequired)));
        for state in [State::Working, State::Completed, State::Failed] {
            talk.learn(Some("c"), Some(("t2", &state)));
            assert_eq!(talk.complete(Ids::default()), ids(Some("c"), Some("t1")), "{state:?}");
        }
        talk.learn(Some("c"), None);
        assert_eq!(talk.complete(Ids::default()), ids(Some("c"), Some("t1")), "a message");
        talk.learn(Some("c"), Some(("t3", &State::AuthRequired)));
        assert_eq!(talk.complete(Ids::default()), ids(Some("c"), Some("t3")), "the newest that waits");
        talk.learn(Some("c"), Some(("t3", &State::Completed)));
        assert_eq!(talk.complete(Ids::default()).task_id, None);

        let mut talk = Conversation::default();
        talk.learn(None, Some(("t1", &State::InputRequired)));
        talk.learn(None, Some(("t2", &State::Completed)));
        assert_eq!(talk.complete(Ids::default()), ids(None, Some("t1")), "without contexts");
    }

    #[test]
    fn a_task_that_is_read_and_waits_by_now_is_continued() {
        let mut talk = Conversation::default();
        talk.learn(Some("c"), Some(("t", &State::Working)));
        talk.remember("elsewhere".into(), "d".into());
        talk.update("elsewhere", &State::InputRequired);
        talk.update("unknown", &State::InputRequired);
        assert_eq!(talk.complete(Ids::default()).task_id, None);
        talk.update("t", &State::InputRequired);
        assert_eq!(talk.complete(Ids::default()), ids(Some("c"), Some("t")));
        talk.update("t", &State::Working);
        assert_eq!(talk.complete(Ids::default()).task_id, None);
    }

    #[test]
    fn of_tasks_with_long_ids_fewer_are_remembered() {
        let mut talk = Conversation::default();
        for number in 0..20 {
            let id = alloc::format!("{number}{}", "x".repeat(4000));
            talk.learn(Some("c"), Some((&id, &State::Completed)));
        }
        assert!(talk.tasks().count() == 4 && talk.tasks().next().is_some_and(|(id, _)| id.starts_with("16")));
    }

    #[test]
    fn another_context_replaces_and_none_leaves() {
        let mut talk = Conversation::default();
        talk.learn(Some("c1"), Some(("t1", &State::AuthRequired)));
        talk.learn(None, None);
        assert_eq!(talk.context_id.as_deref(), Some("c1"));
        talk.learn(None, Some(("t2", &State::InputRequired)));
        assert_eq!(talk.complete(Ids::default()), ids(Some("c1"), Some("t2")));
        talk.learn(Some("c2"), None);
        assert_eq!(talk.complete(Ids::default()), ids(Some("c2"), None));
        assert_eq!(talk.complete(ids(None, Some("t1"))), ids(Some("c1"), Some("t1")));
    }
}
