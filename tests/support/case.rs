//! The cases of the field: records read, hosts set up for them.

use std::fs;
use std::path::Path;

use super::host::{Host, call};
use super::text::{at, quoted, raw, string_at};
use super::watch::Call;
use super::wire;

/// One record of a file.
pub struct Case {
    pub id: String,
    pub input: String,
    pub expected: String,
}

/// The elements of a list, as JSON text.
pub fn list(text: &str) -> Vec<String> {
    let elements = narrows::json::elements(raw(text)).unwrap_or_else(|| panic!("no list: {text}"));
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}

pub fn part(text: &str, path: &[&str]) -> String {
    at(text, path).unwrap_or_else(|| panic!("no {path:?} in {text}"))
}

pub fn strings(text: &str) -> Vec<String> {
    list(text).iter().map(|element| string_at(element, &[]).unwrap()).collect()
}

/// Whether a named test is there: `tests/file.rs::its_name`.
fn assert_there(name: &str) {
    let (file, function) = name.split_once("::").unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    assert!(text.contains(&format!("#[test]\nfn {function}() {{")), "there is no test {name}");
}

/// Runs a check over every record of a file. Those that are `elsewhere` are passed over, each for its reason or with the
/// name of the test that checks it; the check fails on an id that it does not know.
pub fn walk(file: &str, elsewhere: &[(&str, &str)], check: impl Fn(&Case)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    let mut passed = 0;
    for record in list(&text) {
        let case = Case {
            id: string_at(&record, &["id"]).unwrap(),
            input: part(&record, &["input"]),
            expected: part(&record, &["expected"]),
        };
        if let Some((_, reason)) = elsewhere.iter().find(|(id, _)| *id == case.id) {
            passed += 1;
            if reason.starts_with("tests/") {
                assert_there(reason);
            }
        } else {
            check(&case);
        }
    }
    assert_eq!(passed, elsewhere.len(), "every record that is passed over is there");
}

/// A host with one peer, which shook hands.
pub fn host(config: &str) -> Host {
    let mut host = Host::new(7, config);
    host.open(1, "one");
    let hello = host.request(1, "initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    host.answer(hello).unwrap();
    host
}

/// The same with an agent that has no card.
pub fn host_with(alias: &str, url: &str, more: &str) -> Host {
    let mut host = host("{}");
    connect(&mut host, alias, url, more);
    host
}

pub fn connect(host: &mut Host, alias: &str, url: &str, more: &str) -> String {
    let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}","agent_url":"{url}"{more}}}"#));
    host.no_card();
    host.result(number)
}

/// An agent that streams, or not, and names its version.
pub fn connect_with_card(host: &mut Host, alias: &str, dialect: narrows::a2a::Dialect, streaming: bool) {
    let url = format!("https://{alias}.test/a2a");
    let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"{alias}","agent_url":"{url}"}}"#));
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &wire::card(dialect, &url, streaming, true, alias));
    host.result(number);
}

pub fn send(host: &mut Host, alias: &str, more: &str) -> u64 {
    let number = host.number();
    let detached = more.contains("async");
    host.watch.expect(number, Call { detached, ..call(1, &number.to_string(), None, None) });
    let arguments = format!(r#"{{"agent":{},"message":"call-{number}"{more}}}"#, quoted(alias));
    let params = format!(r#"{{"name":"send_message","arguments":{arguments}}}"#);
    host.tell(1, &format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}"#));
    host.watch.tasks.entry(0).or_default().insert(number);
    number
}

pub fn code(result: &str) -> Option<String> {
    string_at(result, &["structuredContent", "error", "code"])
}

pub fn state(result: &str) -> Option<String> {
    string_at(result, &["structuredContent", "task", "status", "state"])
}

pub fn words(result: &str) -> String {
    string_at(result, &["content", "0", "text"]).unwrap()
}

/// A JSON-RPC reply with any id.
pub fn rpc(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}
