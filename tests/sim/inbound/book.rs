//! The books of served tasks: what each gateway had kept, held against everything that anybody is told.

use std::collections::BTreeMap;

use narrows::io::Save;
use serde_json::Value;

use crate::support::rule::{Rule, under};

pub fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn parts(value: &Value, path: &str) -> Vec<String> {
    let parts = value.pointer(path).and_then(Value::as_array);
    parts.into_iter().flatten().map(|part| text(part, "/text")).collect()
}

/// A task as somebody sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub state: String,
    /// what was said with the state
    pub words: String,
    /// the artifacts with the texts of their parts
    pub artifacts: Vec<(String, Vec<String>)>,
}

impl Seen {
    pub fn of(task: &Value) -> Self {
        let mut seen = Self::default();
        seen.status(task);
        for artifact in task.pointer("/artifacts").and_then(Value::as_array).into_iter().flatten() {
            seen.artifacts.push((text(artifact, "/artifactId"), parts(artifact, "/parts")));
        }
        seen
    }

    fn status(&mut self, holder: &Value) {
        self.state = text(holder, "/status/state").replace("TASK_STATE_", "");
        self.words = parts(holder, "/status/message/parts").concat();
    }

    /// What is another way by an event of a stream (A2A 1.0 §3.2.3).
    pub fn apply(&mut self, event: &Value) {
        if let Some(task) = event.get("task") {
            *self = Self::of(task);
        } else if let Some(update) = event.get("statusUpdate") {
            self.status(update);
        } else if let Some(update) = event.get("artifactUpdate") {
            let (id, more) = (text(update, "/artifact/artifactId"), parts(update, "/artifact/parts"));
            let append = update.get("append").and_then(Value::as_bool) == Some(true);
            match self.artifacts.iter_mut().find(|(known, _)| *known == id) {
                Some((_, old)) if append => old.extend(more),
                Some((_, old)) => *old = more,
                None => self.artifacts.push((id, more)),
            }
        } else {
            panic!("no event of a task: {event}");
        }
    }

    pub fn is_terminal(&self) -> bool {
        ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].contains(&self.state.as_str())
    }

    pub fn is_interrupted(&self) -> bool {
        ["INPUT_REQUIRED", "AUTH_REQUIRED"].contains(&self.state.as_str())
    }
}

/// A task as its gateway had it kept.
#[derive(Clone, Debug)]
pub struct Kept {
    number: u64,
    pub owner: String,
    pub seen: Seen,
    /// how often it changed
    pub changes: u64,
    /// who works on it
    pub duty: String,
    /// its name at the agent that it is relayed to
    pub there: Option<String>,
}

/// What one gateway had kept.
#[derive(Default)]
pub struct Book {
    pub tasks: BTreeMap<String, Kept>,
    by_key: BTreeMap<String, String>,
    /// tasks by their numbers as the parts that are kept of them tell
    parts: BTreeMap<u64, Seen>,
    /// what a function's task must be by what the function said, where that is known
    pub expected: BTreeMap<String, Seen>,
}

impl Book {
    /// Something is kept.
    pub fn save(&mut self, save: &Save) {
        let Some(record) = &save.record else {
            let below = format!("{}/", save.key);
            let gone: Vec<String> =
                self.by_key.keys().filter(|key| **key == save.key || key.starts_with(&below)).cloned().collect();
            for id in gone.into_iter().filter_map(|key| self.by_key.remove(&key)) {
                self.tasks.remove(&id);
                self.expected.remove(&id);
            }
            return;
        };
        if !record.as_str().starts_with(r#"{"kind":"task"#) {
            return;
        }
        let record: Value = serde_json::from_str(record.as_str()).expect("JSON");
        let number = |name: &str| record[name].as_u64().expect("a number");
        match text(&record, "/kind").as_str() {
            "task_whole" => return drop(self.parts.insert(number("task"), Seen::of(&record["whole"]))),
            "task_step" => {
                let seen = self.parts.entry(number("task")).or_default();
                return record.get("event").into_iter().for_each(|event| seen.apply(event));
            }
            _ => {}
        }
        let id = text(&record, "/id");
        let there = Some(text(&record, "/task_id")).filter(|there| !there.is_empty());
        let changes = record["changes"].as_u64().unwrap_or_default();
        let (owner, duty, seen) = (text(&record, "/owner"), text(&record, "/duty"), self.parts[&number("number")].clone());
        if let Some(old) = self.tasks.get(&id) {
            under(Rule::Served, || {
                assert!(!old.seen.is_terminal() || old.seen == seen, "a terminal task stays: {old:?} then {seen:?}");
                assert!(old.changes <= changes, "changes are counted on");
                let same = old.changes == changes;
                assert!(!same || old.seen == seen, "what changes is told: {old:?} then {seen:?}");
            });
        }
        self.by_key.insert(save.key.clone(), id.clone());
        self.tasks.insert(id, Kept { number: number("number"), owner, seen, changes, duty, there });
    }

    /// The process ended: a later one goes on from the parts that are kept, whatever else was to be.
    pub fn is_cut(&mut self) {
        for (id, kept) in &mut self.tasks {
            kept.seen = self.parts[&kept.number].clone();
            if let Some(expected) = self.expected.get_mut(id) {
                expected.clone_from(&kept.seen);
            }
        }
    }
}
