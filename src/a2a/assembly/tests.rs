//! How events become one answer.

use alloc::format;

use super::*;
use crate::a2a::{Dialect, State, event};

fn feed(assembly: &mut Assembly, data: &str) -> Result<Applied, TooLarge> {
    assembly.apply(event(Dialect::JsonRpc10, "message", data, 128).unwrap())
}

/// The answer for people: the message, else the task's.
fn answer(assembly: &Assembly) -> String {
    let message = assembly.message().map(Message::readable);
    message.or_else(|| assembly.task().map(Task::readable)).unwrap_or_default()
}

fn applied(assembly: &mut Assembly, data: &str) -> Applied {
    feed(assembly, data).unwrap()
}

fn chunk(id: &str, text: &str, append: bool) -> String {
    format!(
        r#"{{"artifactUpdate":{{"taskId":"t","contextId":"c","artifact":{{"artifactId":"{id}","parts":[{{"text":"{text}"}}]}},"append":{append}}}}}"#
    )
}

fn status(task_id: &str, state: &str, text: &str) -> String {
    format!(
        r#"{{"statusUpdate":{{"taskId":"{task_id}","contextId":"c","status":{{"state":"{state}","message":{{"role":"agent","parts":[{{"text":"{text}"}}]}}}}}}}}"#
    )
}

fn texts(assembly: &Assembly) -> Vec<(String, String)> {
    let artifacts = assembly.task().unwrap().artifacts();
    artifacts.iter().map(|artifact| (artifact.artifact_id.clone(), crate::a2a::part::readable(&artifact.parts))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(id, text)| ((*id).into(), (*text).into())).collect()
}

#[test]
fn a_stream_becomes_one_task() {
    let mut assembly = Assembly::new(1 << 20);
    let first = applied(
        &mut assembly,
        r#"{"task":{"id":"t","contextId":"c","status":{"state":"submitted"},"history":[{"role":"user","parts":[]}]}}"#,
    );
    assert_eq!(first.change, Change::Started);
    assert_eq!(applied(&mut assembly, &status("t", "working", "on it")).change, Change::State);
    assert_eq!(applied(&mut assembly, &chunk("a", "Hello ", false)).change, Change::Artifact { at: 0 });
    applied(&mut assembly, &chunk("a", "world", true));
    applied(&mut assembly, &chunk("b", "second", false));
    applied(&mut assembly, &status("t", "completed", "done"));
    assert_eq!(texts(&assembly), pairs(&[("a", "Hello world"), ("b", "second")]));
    assert_eq!(answer(&assembly), "done\nHello world\nsecond");
    let task = assembly.task().unwrap().clone();
    assert_eq!((task.id.as_str(), task.status.state, task.history.unwrap().len()), ("t", State::Completed, 1));
}

#[test]
fn the_task_is_made_from_the_ids_of_the_first_event() {
    let mut assembly = Assembly::new(1 << 20);
    applied(&mut assembly, &chunk("a", "x", true));
    let task = assembly.task().unwrap();
    assert_eq!((task.id.as_str(), task.context_id.as_deref(), &task.status.state), ("t", Some("c"), &State::Unknown));
    assert_eq!(texts(&assembly), pairs(&[("a", "x")]), "a piece of an unknown artifact begins it");
}

#[test]
fn a_piece_replaces_or_follows() {
    let mut assembly = Assembly::new(1 << 20);
    for (text, append) in [("one", false), ("two", true), ("three", false), ("four", true)] {
        applied(&mut assembly, &chunk("a", text, append));
    }
    let parts: Vec<String> =
        assembly.task().unwrap().artifacts()[0].parts.iter().map(|part| format!("{:?}", part.content)).collect();
    assert_eq!(parts, [r#"Text("three")"#, r#"Text("four")"#]);
}

#[test]
fn pieces_after_the_last_are_kept_and_flagged() {
    let mut assembly = Assembly::new(1 << 20);
    let last = chunk("a", "x", false).replace(r#""append":false"#, r#""lastChunk":true"#);
    assert!(!applied(&mut assembly, &last).after_last_chunk);
    assert!(applied(&mut assembly, &chunk("a", "y", true)).after_last_chunk);
    assert_eq!(texts(&assembly), pairs(&[("a", "xy")]));
}

#[test]
fn what_a_piece_says_beside_its_parts_is_merged() {
    let mut assembly = Assembly::new(1 << 20);
    let piece = |name: &str, metadata: &str| {
        format!(
            r#"{{"artifactUpdate":{{"taskId":"t","append":true,"artifact":{{"artifactId":"a","name":"{name}","metadata":{metadata},"x":{metadata},"parts":[]}}}}}}"#
        )
    };
    applied(&mut assembly, &piece("first", r#"{"a":1,"b":1}"#));
    applied(&mut assembly, &piece("", r#"{"b":9007199254740993,"c":[]}"#));
    assert_eq!(
        assembly.task().unwrap().artifacts()[0].to_json().as_str(),
        r#"{"artifactId":"a","name":"first","parts":[],"metadata":{"a":1,"b":9007199254740993,"c":[]},"x":{"b":9007199254740993,"c":[]}}"#
    );
}

#[test]
fn a_snapshot_replaces_but_takes_nothing_away_by_silence() {
    let mut assembly = Assembly::new(1 << 20);
    applied(&mut assembly, &chunk("a", "kept", false));
    applied(&mut assembly, &status("t", "completed", "done"));
    for closing in [
        r#"{"task":{"id":"t","status":{"state":"completed"}}}"#,
        r#"{"task":{"id":"t","status":{"state":"completed"},"artifacts":[]}}"#,
    ] {
        assert_eq!(applied(&mut assembly, closing).change, Change::Snapshot);
        assert_eq!(answer(&assembly), "done\nkept");
        assert_eq!(assembly.task().unwrap().context_id.as_deref(), Some("c"));
    }
    applied(
        &mut assembly,
        r#"{"task":{"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"text":"new"}]}]}}"#,
    );
    applied(&mut assembly, &chunk("a", "er", true));
    assert_eq!(texts(&assembly), pairs(&[("a", "newer")]), "pieces follow the snapshot's artifacts");
}

#[test]
fn a_terminal_state_is_never_left() {
    let mut assembly = Assembly::new(1 << 20);
    applied(&mut assembly, &status("t", "failed", "because"));
    assert_eq!(applied(&mut assembly, &status("t", "working", "late")).change, Change::Nothing);
    applied(&mut assembly, r#"{"task":{"id":"t","status":{"state":"working"}}}"#);
    assert_eq!((answer(&assembly).as_str(), &assembly.task().unwrap().status.state), ("because", &State::Failed));
    for late in [status("t", "canceled", "at last"), r#"{"task":{"id":"t","status":{"state":"completed"}}}"#.into()] {
        applied(&mut assembly, &late);
        assert_eq!((answer(&assembly).as_str(), &assembly.task().unwrap().status.state), ("because", &State::Failed), "{late}");
    }
}

#[test]
fn events_of_other_ids_are_taken_and_flagged() {
    let mut assembly = Assembly::new(1 << 20);
    assert!(!applied(&mut assembly, &status("t", "working", "w")).foreign_ids);
    let strange = applied(&mut assembly, &status("other", "failed", "executor threw"));
    assert_eq!((strange.change, strange.foreign_ids), (Change::State, true));
    assert_eq!(assembly.task().unwrap().id, "t");
    assert!(applied(&mut assembly, &chunk("a", "x", false).replace(r#""c""#, r#""c2""#)).foreign_ids);
    assert_eq!(assembly.task().unwrap().context_id.as_deref(), Some("c"));
}

#[test]
fn a_snapshot_of_another_task_brings_its_own_artifacts_and_no_others() {
    let mut assembly = Assembly::new(1 << 20);
    applied(&mut assembly, &chunk("a", "of t", false));
    applied(&mut assembly, &status("t", "completed", "done"));
    let other = applied(&mut assembly, r#"{"task":{"id":"u","status":{"state":"working"}}}"#);
    assert!(other.foreign_ids);
    let task = assembly.task().unwrap();
    assert_eq!((task.id.as_str(), &task.status.state, task.artifacts().len()), ("u", &State::Working, 0));
    assert_eq!(task.context_id.as_deref(), Some("c"));
}

#[test]
fn a_message_is_the_answer() {
    let mut assembly = Assembly::new(1 << 20);
    let message = r#"{"message":{"messageId":"m","role":"agent","parts":[{"text":"hi"}]}}"#;
    assert_eq!(applied(&mut assembly, message).change, Change::Message);
    assert_eq!((answer(&assembly).as_str(), assembly.task()), ("hi", None));
    assert_eq!(applied(&mut assembly, r#"{"news":1}"#).change, Change::Nothing);
}

#[test]
fn artifacts_are_bounded() {
    let mut assembly = Assembly::new(1200);
    applied(&mut assembly, &chunk("a", &"x".repeat(500), false));
    assert_eq!(feed(&mut assembly, &chunk("a", &"x".repeat(500), true)), Err(TooLarge));
    applied(&mut assembly, &chunk("a", &"y".repeat(900), false));
    assert_eq!(feed(&mut assembly, &chunk("b", "z", false)), Err(TooLarge));
    assert_eq!(texts(&assembly)[0].1.len(), 900, "what was merged before stands");
    let snapshot = format!(
        r#"{{"task":{{"id":"t","status":{{"state":"working"}},"artifacts":[{{"artifactId":"a","parts":[{{"text":"{}"}}]}}]}}}}"#,
        "w".repeat(2000)
    );
    assert_eq!(feed(&mut assembly, &snapshot), Err(TooLarge));
    assert_eq!(texts(&assembly)[0].1.len(), 900);
    let crumbs = r#"{"task":{"id":"t","status":{"state":"working"},"artifacts":[{},{},{},{},{},{},{},{},{},{}]}}"#;
    assert_eq!(feed(&mut assembly, crumbs), Err(TooLarge), "an artifact takes room whatever it says");
}

#[test]
fn metadata_that_changes_with_every_piece_is_bounded_too() {
    let mut assembly = Assembly::new(1000);
    let piece = |n: u32| {
        format!(r#"{{"artifactUpdate":{{"append":true,"artifact":{{"artifactId":"a","metadata":{{"k{n}":1}},"parts":[]}}}}}}"#)
    };
    assert!((0..10_000).any(|n| feed(&mut assembly, &piece(n)) == Err(TooLarge)));
    let mut assembly = Assembly::new(1000);
    for _ in 0..10_000 {
        applied(&mut assembly, &piece(1));
    }
}

#[test]
fn an_event_that_is_refused_changes_nothing() {
    let names = |n: u32| format!("{n}{}", "x".repeat(60));
    let piece = |n: u32| {
        let (artifact, metadata) = (r#""artifactId":"a","parts":[],"name""#, names(n));
        let update = format!(r#"{artifact}:"{n}","{metadata}":{n},"metadata":{{"{metadata}":1}}"#);
        format!(r#"{{"artifactUpdate":{{"taskId":"t{n}","contextId":"c{n}","append":true,"artifact":{{{update}}}}}}}"#)
    };
    let word = |n: u32| {
        let status = format!(r#""status":{{"state":"working"}},"metadata":{{"{}":1}}"#, names(n));
        format!(r#"{{"statusUpdate":{{"taskId":"t{n}","contextId":"c{n}",{status}}}}}"#)
    };
    for events in [&piece as &dyn Fn(u32) -> String, &word] {
        let mut assembly = Assembly::new(300);
        let mut known = None;
        let refused = (0..1000).any(|n| {
            let refused = feed(&mut assembly, &events(n)).is_err();
            let now = assembly.task().map(Task::to_json);
            assert!(!refused || now == known, "{now:?} was {known:?}");
            known = now;
            refused
        });
        assert!(refused, "{known:?}");
    }
}

#[test]
fn five_thousand_pieces_are_one_artifact() {
    let mut assembly = Assembly::new(1 << 20);
    for n in 0..5000 {
        applied(&mut assembly, &chunk("a", &format!("{n},"), n > 0));
    }
    let whole: String = (0..5000).map(|n| format!("{n},")).collect();
    assert_eq!(texts(&assembly), pairs(&[("a", &whole)]));
}

#[test]
fn a_reading_that_is_older_than_the_stream_takes_nothing_away() {
    let snapshot = |state: &str, text: &str| {
        format!(
            r#"{{"task":{{"id":"t","contextId":"c","status":{{"state":"{state}"}},"artifacts":[{{"artifactId":"a","parts":[{{"text":"{text}"}}]}},{{"artifactId":"missed","parts":[{{"text":"m"}}]}}]}}}}"#
        )
    };
    let mut assembly = Assembly::new(1000);
    applied(&mut assembly, &chunk("a", "Hello ", false));
    applied(&mut assembly, &chunk("a", "world", true));
    applied(&mut assembly, &status("t", "completed", "done"));
    assert_eq!(applied(&mut assembly, &snapshot("working", "Hello ")).change, Change::Snapshot);
    assert_eq!(assembly.task().unwrap().status.state, State::Completed);
    assert_eq!(texts(&assembly), pairs(&[("a", "Hello world"), ("missed", "m")]));
    // What an older reading has more of was missed.
    applied(&mut assembly, &snapshot("working", &"Hello world, and all that came before it".repeat(4)));
    assert_eq!(texts(&assembly)[0].1.len(), 160);
    assert_eq!(feed(&mut assembly, &snapshot("working", &"x".repeat(2000))), Err(TooLarge));
    assert_eq!(texts(&assembly)[0].1.len(), 160);
    // The task as it ended says what it is.
    applied(&mut assembly, &snapshot("completed", "short"));
    assert_eq!(texts(&assembly), pairs(&[("a", "short"), ("missed", "m")]));
}
