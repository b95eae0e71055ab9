//! Every recorded answer of a real agent is read, and as what.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    missing_docs
)]

use core::fmt::Write;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use base64::Engine;
use narrows::a2a::{
    Assembly, Card, Dialect, Event, Fault, FaultKind, Message, Reply, State, Task, card_candidates, choose, event, normalized,
    reply,
};
use narrows::json;
use narrows::sse::Decoder;
use narrows::url::Url;

const DEPTH: u32 = 128;

struct Answer {
    peer: String,
    label: String,
    status: u16,
    content_type: String,
    body: Vec<u8>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/a2a")
}

fn answers() -> Vec<Answer> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut answers = Vec::new();
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let members = json::members(json::parse(line, 8).unwrap()).unwrap();
            let base64 = members.string("base64").map(|text| base64::engine::general_purpose::STANDARD.decode(text).unwrap());
            answers.push(Answer {
                peer: file.file_stem().unwrap().to_str().unwrap().into(),
                label: members.string("label").unwrap(),
                status: members.get("status").unwrap().get().parse().unwrap(),
                content_type: members.string("content_type").unwrap(),
                body: base64.unwrap_or_else(|| members.string("body").unwrap().into_bytes()),
            });
        }
    }
    answers
}

impl Answer {
    fn dialect(&self) -> Dialect {
        let old = ["0.2", "0.3.", "compat03", "to-js03", "to-py03"].iter().any(|mark| self.peer.contains(mark));
        let rest = self.peer.contains("rest") || self.peer.contains("HTTPJSON") || self.label.starts_with("rest-");
        match (rest, old) {
            (false, false) => Dialect::JsonRpc10,
            (true, false) => Dialect::Rest10,
            (false, true) => Dialect::JsonRpc03,
            (true, true) => Dialect::Rest03,
        }
    }

    fn is_card(&self) -> bool {
        self.status == 200 && self.label.contains("card") && !self.label.contains("extended")
    }

    fn is_stream(&self) -> bool {
        self.content_type.starts_with("text/event-stream")
    }

    fn reply(&self) -> Result<Reply, Fault> {
        reply(self.dialect(), self.status, &self.content_type, &self.body, DEPTH)
    }

    /// The events of a stream, merged, and the errors among them.
    fn stream(&self) -> (Assembly, usize, Vec<Fault>) {
        let mut assembly = Assembly::new(32 << 20);
        let (mut count, mut faults) = (0, Vec::new());
        let mut decoder = Decoder::new(8 << 20, 64 << 20);
        for item in decoder.feed(&self.body) {
            let item = item.unwrap();
            match event(self.dialect(), &item.event, &item.data, DEPTH) {
                Ok(event) => {
                    assert!(!matches!(event, Event::Other(_)), "{}/{}: {event:?}", self.peer, self.label);
                    assembly.apply(event).unwrap();
                    count += 1;
                }
                Err(fault) => faults.push(fault),
            }
        }
        (assembly, count, faults)
    }

    fn summary(&self) -> String {
        if self.is_card() {
            return card(&String::from_utf8_lossy(&self.body));
        }
        if self.is_stream() {
            let (assembly, count, faults) = self.stream();
            let mut out = format!("stream of {count}: ");
            out += &assembly.message().map_or(String::new(), |message| format!("message {:?}", message.readable()));
            out += &assembly.task().map_or(String::new(), task);
            for fault in faults {
                let _ = write!(out, " then {}", self::fault(&fault));
            }
            return out;
        }
        match self.reply() {
            Ok(Reply::Task(found)) => task(&found),
            Ok(Reply::Message(message)) => format!("message {:?}", message.readable()),
            Ok(Reply::Empty) => "empty".into(),
            Err(found) => fault(&found),
        }
    }
}

fn task(task: &Task) -> String {
    let context = task.context_id.as_deref().map_or("-", |id| &id[..8]);
    let (artifacts, history) = (task.artifacts().len(), task.history.iter().flatten().count());
    format!(
        "task {} in {context} {} {:?}, {artifacts} artifacts, history {history}",
        &task.id[..8],
        task.status.state.kebab(),
        task.readable()
    )
}

fn fault(fault: &Fault) -> String {
    let words: String = format!("{fault}").chars().take(90).collect();
    format!("fault {:?}: {words}", fault.kind())
}

fn card(text: &str) -> String {
    let found = Url::parse("http://127.0.0.1:41301/.well-known/agent-card.json").unwrap();
    let card = Card::read(text, DEPTH).unwrap();
    let choice = choose(&card, &found, &card_candidates(&found)[0]).unwrap();
    format!("card {} {:?} {:?}", normalized(&card, Some(&choice)).as_str(), choice.interface.dialect, choice.notes)
}

#[test]
fn every_recorded_answer_is_read_as_expected() {
    let mut found = String::new();
    for answer in answers() {
        let summary = answer.summary().replace(['\r', '\n'], "⏎");
        writeln!(found, "{}/{}: {summary}", answer.peer, answer.label).unwrap();
    }
    let file = folder().join("expected.txt");
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn what_is_read_survives_being_written_and_read_again() {
    for answer in answers() {
        if answer.is_card() || answer.is_stream() {
            continue;
        }
        let written = match answer.reply() {
            Ok(Reply::Task(task)) => task.to_json(),
            Ok(Reply::Message(message)) => message.to_json(),
            Ok(Reply::Empty) | Err(_) => continue,
        };
        let place = format!("{}/{}", answer.peer, answer.label);
        let again = match reply(Dialect::Rest10, 200, "", written.as_str().as_bytes(), DEPTH).unwrap() {
            Reply::Task(task) => task.to_json(),
            Reply::Message(message) => message.to_json(),
            Reply::Empty => panic!("{place}"),
        };
        assert_eq!(written, again, "{place}");
        assert!(!written.as_str().contains(r#""kind":"#), "{place}");
        if answer.dialect() == Dialect::Rest10 || answer.peer == "js-1.3.0" {
            let body = String::from_utf8_lossy(&answer.body);
            let inner = body.find(r#"{"id":""#).filter(|_| body.starts_with(r#"{"task":"#));
            if let Some(start) = inner {
                assert_eq!(written.as_str(), &body[start..body.len() - 1], "{place}: a 1.0 task comes back byte for byte");
            }
        }
    }
}

/// What an exchange of that label gives at every peer.
fn core(answer: &Answer) -> Option<Task> {
    if answer.is_stream() {
        return answer.stream().0.task().cloned();
    }
    match answer.reply() {
        Ok(Reply::Task(task)) => Some(task),
        Ok(Reply::Message(_) | Reply::Empty) | Err(_) => None,
    }
}

fn message(reply: Result<Reply, Fault>) -> Option<Message> {
    match reply {
        Ok(Reply::Message(message)) => Some(message),
        Ok(Reply::Task(_) | Reply::Empty) | Err(_) => None,
    }
}

#[test]
fn the_core_exchanges_say_the_same_at_every_peer() {
    let greeting = "Hello wörld 🌍\nline two";
    let tasks: BTreeMap<&str, (State, &str)> = BTreeMap::from([
        ("send-blocking", (State::Completed, greeting)),
        ("stream", (State::Completed, greeting)),
        ("rest-stream", (State::Completed, greeting)),
        ("rest-send", (State::Completed, greeting)),
        ("SendStreamingMessage", (State::Completed, greeting)),
        ("message/stream", (State::Completed, greeting)),
        ("get-task", (State::Completed, greeting)),
        ("input-required", (State::InputRequired, "more input please")),
        ("input-required-stream", (State::InputRequired, "more input please")),
        ("auth-required-stream", (State::Completed, "authorised result")),
        ("failed", (State::Failed, "it broke")),
        ("rejected", (State::Rejected, "rejected")),
        ("artifact-file", (State::Completed, "[file output.txt, text/plain, 3 bytes]")),
        ("artifact-data", (State::Completed, r#""key":"value""#)),
    ]);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for answer in answers() {
        let place = format!("{}/{}", answer.peer, answer.label);
        let label = answer.label.as_str();
        if let Some((state, words)) = tasks.get(label) {
            let task = core(&answer).unwrap_or_else(|| panic!("{place}: no task"));
            assert_eq!(task.status.state, *state, "{place}");
            assert!(task.readable().contains(words), "{place}: {}", task.readable());
            assert!(!task.id.is_empty() && task.context_id.is_some(), "{place}");
        } else if label.ends_with("message-only") {
            let found = if answer.is_stream() { answer.stream().0.message().cloned() } else { message(answer.reply()) };
            let message = found.unwrap_or_else(|| panic!("{place}: no message"));
            assert_eq!(message.readable(), "Direct message response", "{place}");
        } else if label.ends_with("get-unknown") || label == "get-task-unknown" || label == "cancel-unknown" {
            assert_eq!(answer.reply().unwrap_err().kind(), FaultKind::TaskNotFound, "{place}");
        } else if label == "cancel-done" || label == "cancel-completed" && answer.peer != "py-0.2.16" {
            assert_eq!(answer.reply().unwrap_err().kind(), FaultKind::TaskNotCancelable, "{place}");
        } else if label == "send-to-terminal" {
            assert_eq!(answer.reply().unwrap_err().kind(), FaultKind::Terminal, "{place}");
        } else if label == "method-unknown" && answer.peer != "py-0.2.16" {
            assert_eq!(answer.reply().unwrap_err().kind(), FaultKind::MethodNotFound, "{place}");
        } else if label == "version-unsupported" || label == "bad-version" {
            assert_eq!(answer.reply().unwrap_err().kind(), FaultKind::VersionNotSupported, "{place}");
        } else {
            continue;
        }
        *seen.entry(answer.label).or_default() += 1;
    }
    let checked: usize = seen.values().sum();
    assert!(checked > 90, "{checked} exchanges: {seen:?}");
    assert!(seen["stream"] >= 9, "{seen:?}");
}
