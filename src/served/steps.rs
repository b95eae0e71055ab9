//! How a task is kept: whole, and then each step that it took since, so that one that grows is not written anew with
//! every piece of it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{ServedTask, ServedTasks, TaskNumber, waiting};
use crate::a2a::{Dialect, Event, Message, Task, event};
use crate::json::Json;
use crate::snapshot::Record;

/// What a task takes in.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// a turn of its conversation
    Said(Box<Message>),
    /// a change
    Event(Box<Event>),
}

/// What is kept of a task.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// the number under which it was kept whole
    whole: Option<u64>,
    /// the number of what is kept next
    next: u64,
    /// from how many bytes on it is kept whole again
    enough: u64,
    /// what it took in since it was kept
    pub(super) steps: Vec<Step>,
    /// the places of push configurations that are gone
    pub(super) gone: Vec<u64>,
}

/// What a record takes beside the texts in it, about; and what is kept in steps at least.
const STEP_BYTES: u64 = 128;
const STEPS_BYTES: u64 = 16 << 10;

impl ServedTasks {
    /// What is to be kept of a task, or no more, by its place below the task's own: first what is new, so that a host that
    /// is stopped between two of them has the task twice and not at all. Steps come to twice the task at most.
    pub fn unsaved(&mut self, number: TaskNumber) -> Vec<(String, Option<Json>)> {
        let mut saves = Vec::new();
        let Some(task) = self.tasks.reach(&number) else { return saves };
        let steps = core::mem::take(&mut task.kept.steps);
        if !task.begun {
            return saves;
        }
        waiting::save(number, task, &mut saves);
        if steps.is_empty() && task.kept.whole.is_some() {
            return saves;
        }
        let (bytes, before) = (task.bytes + STEP_BYTES * (task.kept.next + steps.len() as u64), task.kept.whole);
        let part = |kind: &str, at: u64| waiting::part(kind, number, at);
        match before.filter(|_| bytes < task.kept.enough) {
            Some(whole) => {
                for step in steps {
                    let mut record = part("task_step", task.kept.next);
                    match step {
                        Step::Said(message) => record.json("said", &message.to_json()),
                        Step::Event(event) => record.json("event", &event.write(Dialect::JsonRpc10)),
                    };
                    saves.push((format!("{whole}/{}", task.kept.next), Some(record.finish())));
                    task.kept.next += 1;
                }
            }
            None => {
                let whole = task.kept.next;
                let mut record = part("task_whole", whole);
                record.json("whole", &task.task().to_json());
                saves.push((whole.to_string(), Some(record.finish())));
                saves.extend(before.map(|before| (before.to_string(), None)));
                (task.kept.whole, task.kept.next, task.kept.enough) = (Some(whole), whole + 1, bytes * 2 + STEPS_BYTES);
            }
        }
        saves
    }

    /// Reads what [`unsaved`](Self::unsaved) gave. What is left of a task that is not kept any more is none.
    pub fn restore_part(&mut self, record: &Record<'_, '_>) {
        let Some(task) = self.tasks.get_mut(&TaskNumber(record.number("task"))) else { return };
        let number = record.place("number");
        if record.text("kind") == "task_whole" {
            let whole = record.value("whole").and_then(|raw| Task::read(raw, Dialect::JsonRpc10).ok());
            if let Some(whole) = record.found(whole.map(Some)) {
                task.replace(whole);
            }
            task.kept.next = number;
            return;
        }
        let said = record
            .value("said")
            .and_then(|raw| Message::read(raw, Dialect::JsonRpc10).ok())
            .map(|said| Step::Said(Box::new(said)));
        let step = said.or_else(|| {
            let event = event::event_of(Dialect::JsonRpc10, "", record.value("event")?).ok()?;
            Some(Step::Event(Box::new(event)))
        });
        if let Some(step) = record.found(step.map(Some)) {
            task.step(step);
        }
        task.kept.next = number + 1;
    }
}

impl ServedTask {
    /// Takes nothing for unsaved any more.
    pub fn forget_steps(&mut self) {
        self.kept.steps.clear();
        waiting::forget(self);
    }
}
