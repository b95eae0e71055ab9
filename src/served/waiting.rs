//! What waits for the receivers of a task's changes and for the agent behind it, kept apart from the task: it is written
//! once, however often the task changes until it is taken.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Body, Duty, Push, Queue, ServedTask, ServedTasks, TaskNumber};
use crate::a2a::asked::PushConfig;
use crate::a2a::{Dialect, Message, SendRequest};
use crate::json::{Json, Object};
use crate::snapshot::Record;

/// A message for the agent behind, with the gateways that it passed.
type Unsent = (SendRequest, u64);

impl ServedTasks {
    /// Writes all that waits of a task; without `credentials` no place of delivery and nothing that waits for one.
    pub fn waiting(&self, number: TaskNumber, credentials: bool, add: &mut dyn FnMut(Json)) {
        let Some(task) = self.get(number).filter(|task| task.begun) else { return };
        for push in task.pushes.iter().filter(|_| credentials) {
            add(push_record(number, push));
            push.waiting.iter().for_each(|(at, body)| add(body_record(number, push.place, *at, body)));
        }
        if let Duty::Relay { waiting, .. } = &task.duty {
            waiting.iter().for_each(|(at, unsent)| add(unsent_record(number, *at, unsent)));
        }
    }

    /// Reads what [`waiting`](Self::waiting) wrote. What waits of a task or for a place that is not kept any more is gone.
    pub fn restore_waiting(&mut self, record: &Record<'_, '_>) {
        let Some(task) = self.get_mut(TaskNumber(record.number("task"))) else { return };
        let at = record.place("number");
        if record.text("kind") == "push" {
            let config = record.value("config").and_then(|raw| PushConfig::read(raw).ok());
            if let Some(config) = record.found(config.map(Some)) {
                task.pushes.push(Push::new(at, config, record.boolean("is_10")));
            }
        } else if record.value("message").is_none() {
            let place = record.number("push");
            if let Some(push) = task.pushes.iter_mut().find(|push| push.place == place) {
                push.waiting.put(at, record.optional("body"));
            }
        } else if let Duty::Relay { waiting, .. } = &mut task.duty {
            waiting.put(at, read(record));
        }
    }
}

/// What is to be kept of what waits of a task, or no more, by its place below the task's own.
pub(super) fn save(number: TaskNumber, task: &mut ServedTask, saves: &mut Vec<(String, Option<Json>)>) {
    for place in task.kept.gone.drain(..) {
        saves.push((format!("push/{place}"), None));
    }
    for push in &mut task.pushes {
        let place = push.place;
        if !core::mem::replace(&mut push.is_kept, true) {
            saves.push((format!("push/{place}"), Some(push_record(number, push))));
        }
        changed(&mut push.waiting, &mut |at, body| {
            saves.push((format!("push/{place}/{at}"), body.map(|body| body_record(number, place, at, body))));
        });
    }
    if let Duty::Relay { waiting, .. } = &mut task.duty {
        changed(waiting, &mut |at, unsent| {
            saves.push((format!("message/{at}"), unsent.map(|unsent| unsent_record(number, at, unsent))));
        });
    }
}

/// Takes nothing that waits of a task for unsaved any more.
pub(super) fn forget(task: &mut ServedTask) {
    task.kept.gone.clear();
    for push in &mut task.pushes {
        push.waiting.take_touched();
    }
    if let Duty::Relay { waiting, .. } = &mut task.duty {
        waiting.take_touched();
    }
}

fn changed<T>(queue: &mut Queue<T>, each: &mut dyn FnMut(u64, Option<&T>)) {
    for (at, _) in queue.take_touched().iter() {
        each(*at, queue.get(at));
    }
}

pub(super) fn part(kind: &str, number: TaskNumber, at: u64) -> Object {
    let mut record = Object::new();
    record.string("kind", kind).integer("task", number.0).integer("number", at);
    record
}

fn push_record(number: TaskNumber, push: &Push) -> Json {
    let mut record = part("push", number, push.place);
    record.boolean("is_10", push.is_10).json("config", &push.config.write("", Dialect::JsonRpc10));
    record.finish()
}

fn body_record(number: TaskNumber, place: u64, at: u64, body: &Body) -> Json {
    let mut record = part("waiting", number, at);
    record.integer("push", place).optional_string("body", body.as_deref());
    record.finish()
}

fn unsent_record(number: TaskNumber, at: u64, (send, hops): &Unsent) -> Json {
    let mut record = part("waiting", number, at);
    record.json("message", &send.message.to_json()).optional_json("metadata", send.metadata.as_ref());
    if let Some(modes) = &send.accepted_output_modes {
        record.strings("modes", modes);
    }
    if let Some(turns) = send.history_length {
        record.integer("turns", turns);
    }
    record.integer("hops", *hops);
    record.finish()
}

fn read(record: &Record<'_, '_>) -> Unsent {
    let message = record.value("message").and_then(|raw| Message::read(raw, Dialect::JsonRpc10).ok());
    let message = record.found(message.map(Some)).unwrap_or_else(|| Message::from_user(String::new(), Vec::new()));
    let metadata = record.value("metadata").map(Json::from_raw);
    let accepted_output_modes = record.value("modes").map(|_| record.texts("modes"));
    let history_length = record.value("turns").map(|_| record.number("turns"));
    let send = SendRequest { message, metadata, accepted_output_modes, history_length, return_immediately: false };
    (send, record.number("hops"))
}
