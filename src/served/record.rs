//! Served tasks in snapshots.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Duty, Sent, ServedTask, ServedTasks, TaskNumber};
use crate::a2a::{Dialect, Task};
use crate::json::{Json, Object};
use crate::list::gather;
use crate::snapshot::Record;
use crate::time::WallTime;

/// A task of a snapshot.
#[derive(Debug)]
pub struct Restored {
    /// which
    pub number: TaskNumber,
    /// whether somebody was at work
    pub busy: bool,
}

impl ServedTasks {
    /// How many tasks and works there were, for a snapshot.
    #[must_use]
    pub const fn counters(&self) -> (u64, u64) {
        (self.next, self.next_work)
    }

    /// Takes up the counters of a snapshot; they never go back.
    pub fn restore_counters(&mut self, tasks: u64, works: u64) {
        self.next = self.next.max(tasks);
        self.next_work = self.next_work.max(works);
    }

    /// Writes what a later process needs of a task, once it is one for its caller, beside what [waits](Self::waiting): whole,
    /// or what is kept beside its [parts](Self::unsaved).
    #[must_use]
    pub fn record(&self, number: TaskNumber, is_whole: bool) -> Option<Json> {
        let task = self.get(number).filter(|task| task.begun)?;
        let mut out = Object::new();
        out.string("kind", "task").integer("number", number.0).string("owner", &task.owner).integer("updated", task.updated.0);
        if task.active != task.updated {
            out.integer("active", task.active.0);
        }
        out.integer("changes", task.changes);
        if let Some(sent) = &task.sent {
            let (mut entry, mut keys) = (Object::new(), Object::new());
            for (key, print) in &sent.keys {
                keys.string(key, &print.to_string());
            }
            entry.nested("keys", keys).optional_string("fault", sent.fault.as_deref());
            if sent.is_ours {
                entry.boolean("ours", true);
            }
            if sent.is_apart {
                entry.boolean("apart", true);
            }
            out.nested("sent", entry);
        }
        out.boolean("busy", task.duty.is_busy());
        match is_whole {
            true => out.json("task", &task.task().to_json()),
            false => out.string("id", &task.task().id),
        };
        match &task.duty {
            Duty::Echo => out.string("duty", "echo"),
            Duty::Inbox => out.string("duty", "inbox"),
            Duty::Function { .. } => out.string("duty", "function"),
            Duty::Tool { tool, .. } => out.string("duty", "tool").string("tool", tool),
            Duty::Relay { agent, task_id, context_id, .. } => {
                out.string("duty", "relay").string("agent", agent).optional_string("task_id", task_id.as_deref());
                out.optional_string("context_id", context_id.as_deref())
            }
        };
        Some(out.finish())
    }

    /// Reads what [`record`](Self::record) wrote. Nobody is at work any more.
    pub fn restore(&mut self, record: &Record<'_, '_>) {
        let number = TaskNumber(record.place("number"));
        let duty = match record.text("duty").as_str() {
            "echo" => Duty::Echo,
            "inbox" => Duty::Inbox,
            "function" => Duty::Function { works: Vec::new() },
            "tool" => Duty::Tool { tool: record.text("tool"), call: None },
            _ => {
                let mut duty = Duty::relay(record.text("agent"));
                if let Duty::Relay { task_id, context_id, .. } = &mut duty {
                    (*task_id, *context_id) = (record.optional("task_id"), record.optional("context_id"));
                }
                duty
            }
        };
        let task = match record.value("task") {
            Some(raw) => Task::read(raw, Dialect::JsonRpc10).ok(),
            None => Some(Task::new(record.text("id"), None)),
        };
        let task = record.found(task.map(Some)).unwrap_or_else(|| Task::new(String::new(), None));
        let updated = WallTime(record.integer("updated"));
        let active = record.value("active").map_or(updated, |_| WallTime(record.integer("active")));
        let mut restored = ServedTask::restored(record.text("owner"), task, duty, (updated, active));
        restored.changes = record.value("changes").map_or(0, |_| record.number("changes"));
        restored.sent = record.value("sent").map(|raw| {
            let entry = record.of(Some(raw));
            let keys = entry.pairs("keys").into_iter();
            let keys = gather(keys.map(|(key, print)| (key, crate::text::whole(&print).unwrap_or_default())));
            let [is_ours, is_apart] = ["ours", "apart"].map(|name| entry.value(name).is_some());
            Box::new(Sent { keys, last: None, fault: entry.optional("fault"), retry_ms: None, is_ours, is_apart })
        });
        self.next = self.next.max(number.0 + 1);
        self.put(number, restored);
        self.restored.push(Restored { number, busy: record.boolean("busy") });
    }

    /// What is to be taken up, every task whole and bounded by what its artifacts may take.
    pub fn take_restored(&mut self, artifact_bytes: u64) -> Vec<Restored> {
        let restored = core::mem::take(&mut self.restored);
        for task in &restored {
            if let Some(task) = self.get_mut(task.number) {
                task.settle(artifact_bytes);
            }
        }
        restored
    }
}
