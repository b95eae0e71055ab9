//! Golden transcripts: what the gateway says to every input, word for word.
//!
//! A transcript is a trace of the gateway, one JSON line each, so that it replays; `tests/transcripts/README.md` tells of
//! its lines. `REWRITE=1 cargo test --test transcripts` writes down what the gateway says now, and the difference is read
//! by a person.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    missing_docs
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[path = "transcripts/play.rs"]
mod play;
#[path = "transcripts/script.rs"]
mod script;

use play::{Drain, Line, read_lines};

/// Every transcript with what is written in it. `REWRITE=1` first writes what the gateway says now.
static TRANSCRIPTS: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(|| {
    let rewrite = std::env::var_os("REWRITE").is_some_and(|value| value == "1");
    let found = files().into_iter().map(|path| {
        if rewrite {
            fs::write(&path, said_now(&path).join("\n") + "\n").expect("the transcript is written");
        }
        let kept = read(&path);
        (path, kept)
    });
    found.collect()
});

/// The files of the transcripts: each script's, and those that stand alone.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = fs::read_dir(folder).expect("the folder of the transcripts");
    let files = entries.map(|entry| entry.expect("an entry of the folder").path());
    let known = |path: &PathBuf| path.extension().is_some_and(|end| end == "script" || end == "jsonl");
    let mut found: Vec<PathBuf> = files.filter(known).map(|path| path.with_extension("jsonl")).collect();
    found.sort();
    found.dedup();
    assert!(!found.is_empty(), "no transcripts found");
    found
}

/// The text of a transcript; a script that was never played has none.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What the gateway says now: to its script, or to the inputs of the transcript itself.
fn said_now(path: &Path) -> Vec<String> {
    let script = path.with_extension("script");
    if script.is_file() {
        return script::play(&script);
    }
    play::replay(&read_lines(path, &read(path)), Drain::AfterEachInput).lines
}

fn texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

/// The first line that differs with two lines before it; a long line is cut to the place where it differs.
fn difference(kept: &[&str], now: &[&str]) -> Option<String> {
    let at = (0..kept.len().max(now.len())).find(|at| kept.get(*at) != now.get(*at))?;
    let (was, is) = (kept.get(at).copied(), now.get(at).copied());
    let same = was.unwrap_or_default().bytes().zip(is.unwrap_or_default().bytes()).take_while(|(a, b)| a == b).count();
    let cut = |text: &str| {
        let whole: Vec<char> = text.chars().collect();
        let from = text.char_indices().take_while(|(byte, _)| *byte < same).count().saturating_sub(80);
        let shown: String = whole.iter().skip(from).take(240).collect();
        let (before, after) = (if from > 0 { "…" } else { "" }, if from + 240 < whole.len() { "…" } else { "" });
        format!("{before}{shown}{after}")
    };
    let mut out = format!("line {}:\n", at + 1);
    for line in kept.iter().take(at).skip(at.saturating_sub(2)) {
        let short: String = line.chars().take(240).collect();
        out.push_str(&format!("    {short}\n"));
    }
    out.push_str(&was.map_or("  - (nothing)\n".into(), |line| format!("  - {}\n", cut(line))));
    out.push_str(&is.map_or("  + (nothing)\n".into(), |line| format!("  + {}\n", cut(line))));
    Some(out)
}

#[test]
fn the_gateway_says_what_it_said() {
    let mut breaches = String::new();
    for (path, kept) in TRANSCRIPTS.iter() {
        let kept: Vec<&str> = kept.lines().collect();
        if let Some(difference) = difference(&kept, &texts(&said_now(path))) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            breaches.push_str(&format!("{name}, {difference}"));
        }
    }
    assert!(breaches.is_empty(), "\n{breaches}REWRITE=1 cargo test --test transcripts writes it down; read the difference\n");
}

#[test]
fn outputs_do_not_depend_on_when_they_are_drained() {
    for (path, kept) in TRANSCRIPTS.iter() {
        let lines = read_lines(path, kept);
        let early = play::replay(&lines, Drain::AfterEachInput);
        let late = play::replay(&lines, Drain::AtTheEnd);
        assert_eq!(early.outputs(), late.outputs(), "{}", path.display());
    }
}

#[test]
fn the_trace_of_a_run_replays() {
    for (path, kept) in TRANSCRIPTS.iter() {
        let mut lines = read_lines(path, kept);
        // A trace begins with a birth: after a snapshot another one does.
        let end = lines.iter().position(|line| matches!(line, Line::Restore(_))).unwrap_or(lines.len());
        lines.truncate(end);
        let once = play::traced(&lines);
        let again = play::traced(&read_lines(path, &once.join("\n")));
        let (once, again) = (texts(&once), texts(&again));
        assert_eq!(difference(&once, &again), None, "{}", path.display());
    }
}

#[test]
fn a_difference_is_seen_and_shown() {
    assert_eq!(difference(&["a", "b"], &["a", "b"]), None);
    assert_eq!(difference(&["a", "b"], &["a"]).unwrap(), "line 2:\n    a\n  - b\n  + (nothing)\n");
    assert_eq!(difference(&[], &["a"]).unwrap(), "line 1:\n  - (nothing)\n  + a\n");
    let long = |end: &str| format!("{}{end}{}", "ä".repeat(300), "z".repeat(300));
    let shown = difference(&[&long("1")], &[&long("2")]).unwrap();
    assert!(shown.contains("ä1z") && shown.contains("ä2z") && shown.chars().count() < 600, "{shown}");
}

#[test]
fn a_script_says_what_happens() {
    let text = "open 1 s\n+5\nlet hello \"x\"\nask 7 ping {\"a\":$hello}\n";
    let lines = script::play_text(text, "here");
    let inputs: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.contains("\"input\"")).collect();
    assert_eq!(
        inputs,
        [
            r#"{"now":0,"input":{"type":"open","peer":1,"scope":"s"}}"#,
            r#"{"now":5,"input":{"type":"message","peer":1,"text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":\"x\"}}"}}"#,
        ]
    );
}
