//! The rules of style that no compiler knows: sizes, words and traces of a machine.
//!
//! Each rule is a function from a text to the breaches in it, so that a rule is itself tested on a breach.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;

/// Every file that is or could be committed, as a path from the root.
fn tracked() -> Vec<PathBuf> {
    let git = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("git runs");
    assert!(git.status.success(), "git ls-files: {}", String::from_utf8_lossy(&git.stderr));
    let names = String::from_utf8(git.stdout).expect("file names are UTF-8");
    // A file deleted and not yet committed is still listed.
    names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).filter(|path| full(path).is_file()).collect()
}

fn full(path: &Path) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Rust files of `src`, each with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let code = tracked().into_iter().filter(|path| path.starts_with("src") && path.extension().is_some_and(|end| end == "rs"));
    let read: Vec<_> = code.map(|path| (path.clone(), fs::read_to_string(full(&path)).expect("source is UTF-8"))).collect();
    assert!(!read.is_empty(), "no sources found");
    read
}

/// Applies a rule to every source and fails with all that it found.
fn holds(rule: impl Fn(&str) -> Vec<String>) {
    let breaches: Vec<String> = sources()
        .iter()
        .flat_map(|(path, text)| rule(text).into_iter().map(move |breach| format!("{}: {breach}", path.display())))
        .collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

fn long_file(text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines > FILE_LINES { vec![format!("{lines} lines, at most {FILE_LINES}")] } else { vec![] }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line, as rustfmt writes it, begins a function.
fn begins_function(line: &str) -> bool {
    let before_name = line.trim_start().split("fn ").next().unwrap_or_default();
    line.contains("fn ")
        && before_name.split_whitespace().all(|word| {
            ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "\"C\""].contains(&word)
                || word.starts_with("pub(in")
        })
}

/// In rustfmt's layout a function ends at the first line with its own indentation and a closing brace, or it has
/// no body.
fn long_functions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = vec![];
    for (start, first) in lines.iter().enumerate().filter(|(_, line)| begins_function(line)) {
        let same = |line: &&str| indentation(line) == indentation(first);
        let last = lines.iter().skip(start).position(|line| same(line) && (line.ends_with('}') || line.ends_with(';')));
        let length = last.map_or(1, |offset| offset + 1);
        if length > FUNCTION_LINES {
            found.push(format!("line {}: a function of {length} lines, at most {FUNCTION_LINES}", start + 1));
        }
    }
    found
}

/// Modules that work in memory: places in texts and lists, lengths of both. No value of theirs leaves as it is.
const IN_MEMORY: [&str; 14] = [
    "src/a2a/assembly.rs",
    "src/a2a/message.rs",
    "src/a2a/part.rs",
    "src/a2a/task.rs",
    "src/json/",
    "src/link/naming.rs",
    "src/list.rs",
    "src/mcp/asks.rs",
    "src/policy/approvals.rs",
    "src/policy/taint.rs",
    "src/redact",
    "src/sse.rs",
    "src/text.rs",
    "src/url.rs",
];

/// Types whose size or rounding depends on the machine, in what a module shows to others.
fn machine_types(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let type_begins = ["pub struct ", "pub enum ", "pub type ", "pub const "].iter().any(|start| code.starts_with(start));
        open |= type_begins;
        let shown = open || code.trim_start().starts_with("pub ");
        let mut words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if let Some(word) = words.find(|word| shown && ["usize", "isize", "f32", "f64"].contains(word)) {
            found.push(format!("line {}: {word}", number + 1));
        }
        open &= !(code.starts_with('}') || code.trim_end().ends_with(';'));
    }
    found
}

fn undocumented(text: &str) -> Vec<String> {
    if text.starts_with("//!") { vec![] } else { vec!["the module does not begin with its documentation".into()] }
}

/// Where one of `words` stands in a file's bytes.
fn words_in(bytes: &[u8], words: &[&str]) -> Vec<String> {
    let finds = |word: &&&str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
    words.iter().filter(finds).map(|word| format!("holds `{word}`")).collect()
}

/// Fails with each file among `paths` that holds one of `words`.
fn none_holds(paths: impl Iterator<Item = PathBuf>, words: &[&str]) {
    let breaches: Vec<String> = paths
        .flat_map(|path| {
            let found = words_in(&fs::read(full(&path)).expect("a tracked file can be read"), words);
            found.into_iter().map(move |breach| format!("{}: {breach}", path.display()))
        })
        .collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

#[test]
fn no_source_file_is_too_long() {
    holds(long_file);
}

#[test]
fn no_function_is_too_long() {
    holds(long_functions);
}

#[test]
fn every_module_begins_with_its_documentation() {
    holds(undocumented);
}

#[test]
fn no_value_that_leaves_has_a_type_that_depends_on_the_machine() {
    let in_memory = |path: &Path| IN_MEMORY.iter().any(|name| path.to_str().unwrap().starts_with(name));
    let shown: Vec<_> = sources().into_iter().filter(|(path, _)| !in_memory(path)).collect();
    for module in ["src/io.rs", "src/trace.rs", "src/config.rs", "src/snapshot/records.rs", "src/limits.rs", "src/gateway.rs"] {
        assert!(shown.iter().any(|(path, _)| path == Path::new(module)), "{module} is looked at");
    }
    let breaches: Vec<String> = shown
        .iter()
        .flat_map(|(path, text)| machine_types(text).into_iter().map(move |b| format!("{}: {b}", path.display())))
        .collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

// The words below are put together from halves: this file is among those searched.

#[test]
fn nothing_is_left_undone_or_switched_off() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!"),
        concat!("unimple", "mented!"),
        concat!("#[ig", "nore"),
        concat!("test.", "only("),
        concat!("test.", "skip("),
        concat!("test.", "todo("),
    ];
    let ours = tracked().into_iter().filter(|path| ["src", "pkg", "tests"].iter().any(|folder| path.starts_with(folder)));
    none_holds(ours, &words);
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("registry.", "npmjs"),
        concat!("py", "pi.org"),
        concat!("python", "hosted.org"),
        concat!("deb.", "debian.org"),
    ];
    none_holds(tracked().into_iter(), &words);
}

#[test]
fn the_rules_find_what_they_look_for() {
    let body = "        step();\n".repeat(FUNCTION_LINES);
    let long =
        format!("impl A {{\n    pub(crate) const fn f(\n        a: A,\n    ) -> B {{\n{body}    }}\n\n    fn g() {{}}\n}}\n");
    let short =
        format!("trait A {{\n    fn f(\n        a: A,\n    ) -> B;\n\n    fn g() -> B;\n}}\n\nconst B: &str = \"fn \";\n{body}");
    assert_eq!(long_functions(&long), ["line 2: a function of 74 lines, at most 70"]);
    assert_eq!(long_functions(&short), [""; 0]);
    assert_eq!(long_file(&"\n".repeat(FILE_LINES + 1)).len(), 1);
    assert_eq!(long_file(&"\n".repeat(FILE_LINES)), [""; 0]);
    assert_eq!(
        machine_types("pub enum A {\n    /// usize\n    B { length: usize },\n}\nfn f() -> usize {}\n"),
        ["line 3: usize"]
    );
    assert_eq!(machine_types("impl A {\n    pub fn f(&self) -> f64 {\n"), ["line 2: f64"]);
    assert_eq!(undocumented("use core::fmt;\n").len(), 1);
    assert_eq!(words_in(b"\0a/b/c", &["/b/", "/d/"]), ["holds `/b/`"]);
}
