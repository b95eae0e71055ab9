//! Inputs of the field on which A2A clients have failed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    missing_docs
)]

use std::fs;
use std::path::Path;

use narrows::a2a::{
    Applied, Assembly, Card, Choice, Content, Dialect, Fault, FaultKind, Interface, Message, Operation, Part, Reply, Role,
    SendRequest, State, Task, card_candidates, choose, encode, event, reply,
};
use narrows::json::{self, Raw};
use narrows::url::Url;

const DEPTH: u32 = 128;

/// One record of a file.
struct Case<'a> {
    id: String,
    input: Raw<'a>,
    expected: Raw<'a>,
}

fn path(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases").join(name);
    fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// Runs a check over every record of a file.
fn walk(file: &str, check: impl Fn(&Case<'_>)) {
    let text = path(file);
    let cases = json::elements(json::parse(&text, DEPTH).unwrap()).unwrap();
    assert!(!cases.is_empty());
    for raw in cases {
        let id = json::members(raw).unwrap().string("id").unwrap();
        check(&Case { id, input: at(raw, "input"), expected: at(raw, "expected") });
    }
}

/// A value by its path.
fn at<'a>(raw: Raw<'a>, place: &str) -> Raw<'a> {
    find(raw, place).unwrap_or_else(|| panic!("no `{place}` in {raw}"))
}

fn find<'a>(raw: Raw<'a>, place: &str) -> Option<Raw<'a>> {
    place.split('/').try_fold(raw, |raw, name| match name.parse::<usize>() {
        Ok(index) => json::elements(raw)?.get(index).copied(),
        Err(_) => json::members(raw)?.get_any(name),
    })
}

fn text(raw: Raw<'_>, place: &str) -> String {
    json::string(at(raw, place)).unwrap_or_else(|| panic!("`{place}` is no string in {raw}"))
}

fn list<'a>(raw: Raw<'a>, place: &str) -> Vec<Raw<'a>> {
    json::elements(at(raw, place)).unwrap()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn choice(card: &Card, found: &str) -> Choice {
    choose(card, &url(found), &url("https://agent.test")).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A card with these members beside a name.
fn card(members: &str) -> Card {
    let text = format!(r#"{{"name":"n","description":"d","capabilities":{{}},"skills":[]{members}}}"#);
    Card::read(&text, DEPTH).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

#[test]
fn card_discovery() {
    walk("agent-card-discovery.json", |case| match case.id.as_str() {
        // What the gateway serves, and what it leaves alone.
        "card-013" | "card-026" => {}
        "card-001" | "card-002" | "card-005" | "card-008" => {
            // Paths hold slashes, so they are looked up by name rather than by `at`.
            let http = json::members(at(case.input, "http")).unwrap();
            let candidates = card_candidates(&url(&text(case.input, "base")));
            let answers = |candidate: &&Url| http.get(candidate.path()).is_some_and(|status| status.get() == "200");
            let found = candidates.iter().find(answers).unwrap();
            assert_eq!(found.as_str(), text(case.expected, "card_url"), "{}", case.id);
        }
        "card-004" => {
            for base in list(case.input, "bases") {
                let first = card_candidates(&url(&json::string(base).unwrap())).remove(0);
                assert_eq!(first.as_str(), text(case.expected, "card_url"));
            }
        }
        "card-007" => {
            let given = text(case.input, "cases/0/0");
            let candidates = card_candidates(&url(&given));
            assert_eq!(candidates[0].as_str(), given);
            assert!(candidates.iter().all(|candidate| !candidate.as_str().starts_with(&format!("{given}/"))), "{candidates:?}");
        }
        "card-010" | "card-014" => {
            let endpoints = list(case.expected, "endpoint");
            for (written, endpoint) in list(case.input, "card_url_field").into_iter().zip(endpoints) {
                let chosen = choice(&card(&format!(r#","url":{written}"#)), &text(case.input, "fetched_from"));
                match json::string(endpoint).unwrap().as_str() {
                    "warn" => assert!(chosen.foreign && !chosen.notes.is_empty(), "{written}"),
                    "base" => assert_eq!(chosen.interface.url, url("https://agent.test"), "{written}"),
                    endpoint => assert_eq!(chosen.interface.url.as_str(), endpoint, "{written}"),
                }
            }
        }
        "card-011" => {
            let chosen =
                choice(&card(&format!(r#","url":{}"#, at(case.input, "card_url_field"))), &text(case.input, "fetched_from"));
            assert_eq!(chosen.interface.url.as_str(), text(case.expected, "endpoint"));
            assert!(!chosen.foreign);
        }
        "card-016" | "card-025" => {
            let members = case.input.get().trim().trim_start_matches('{').trim_end_matches('}');
            assert!(card(&format!(r#","url":"https://agent.test",{members}"#)).whole.as_str().contains("ecurity"));
        }
        "card-017" | "card-019" | "card-023" => {
            let text_of_card = path(&text(case.input, "card"));
            let card = Card::read(&text_of_card, DEPTH).unwrap();
            assert_eq!(card.whole.as_str(), json::compact(text_of_card.trim()), "the card is kept whole");
            if let Some(endpoint) = find(case.expected, "endpoint").and_then(json::string) {
                let chosen = choice(&card, "https://agent.test/.well-known/agent-card.json");
                assert_eq!((chosen.interface.url.as_str(), chosen.interface.dialect), (endpoint.as_str(), Dialect::JsonRpc10));
            }
            assert!(!card.streaming);
        }
        "card-020" => {
            let card = Card::read(&format!(r#"{{"name":"n",{}"#, &case.input.get().trim()[1..]), DEPTH).unwrap();
            assert_eq!(choice(&card, "https://agent.test/").interface.url.as_str(), text(case.expected, "endpoint"));
        }
        "card-022" => {
            let card = Card::read(&format!(r#"{{"name":"n",{}"#, &case.input.get().trim()[1..]), DEPTH).unwrap();
            let fault = choose(&card, &url("https://agent.test/"), &url("https://agent.test/")).unwrap_err();
            assert_eq!(fault.offered, ["GRPC"]);
        }
        other => panic!("nobody checks {other}"),
    });
}

#[test]
fn cards_of_the_field() {
    let registered = url("https://agent.test");
    let mut refused = 0;
    walk_cards(|file, document, found, expected| {
        let chosen = Card::read(document, DEPTH).map_err(|fault| fault.to_string()).and_then(|card| {
            let choice = choose(&card, found, &registered).map_err(|fault| fault.to_string())?;
            Ok((card, choice))
        });
        if at(expected, "accept").get() == "false" {
            let why = chosen.expect_err(file);
            assert!(why.contains("not an A2A agent card") || why.contains("no supported binding"), "{file}: {why}");
            if let Some((_, listed)) = text(expected, "error").split_once("card lists ") {
                assert!(why.ends_with(listed), "{file}: {why}");
            }
            refused += 1;
            return;
        }
        let (card, choice) = chosen.unwrap_or_else(|why| panic!("{file}: {why}"));
        let interface = &choice.interface;
        for (name, value) in json::members(expected).unwrap().iter() {
            let words = json::string(value).unwrap_or_default();
            let first = words.split(' ').next().unwrap_or_default();
            match name {
                "endpoint" if first.starts_with("https://") => assert_eq!(interface.url, url(first), "{file}"),
                "endpoint" => assert!(choice.foreign && !choice.notes.is_empty(), "{file}: a loopback address is told"),
                "never" => assert_ne!(interface.url.as_str(), words, "{file}"),
                "version" => assert_eq!(interface.dialect.is_10(), first.starts_with('1'), "{file}"),
                "binding" => assert_eq!(interface.dialect.transport(), words, "{file}"),
                "tenant" => assert_eq!(interface.tenant.as_deref(), Some(words.as_str()), "{file}"),
                "streaming" => assert_eq!(Some(card.streaming), json::boolean(value), "{file}"),
                "skills" => assert_eq!(card.skills.len().to_string(), value.get(), "{file}"),
                "wire" => assert!(!interface.declared, "{file}: the other version may be tried"),
                "accept" | "auth" | "warning" | "card_url" => {}
                other => panic!("{file}: nobody checks {other}"),
            }
        }
    });
    assert_eq!(refused, 6);
}

fn walk_cards(mut check: impl FnMut(&str, &str, &Url, Raw<'_>)) {
    let index = path("cards/index.json");
    for entry in json::elements(json::parse(&index, DEPTH).unwrap()).unwrap() {
        let file = text(entry, "file");
        check(&file, &path(&format!("cards/{file}")), &url(&text(entry, "fetched_from")), at(entry, "expected"));
    }
}

fn hello() -> SendRequest {
    SendRequest {
        message: Message::from_user("m".into(), vec![Part::text("hi")]),
        metadata: None,
        accepted_output_modes: None,
        history_length: None,
        return_immediately: false,
    }
}

/// Whether every member of `wanted` stands in `found` with the same value.
fn contains(found: Raw<'_>, wanted: Raw<'_>) -> bool {
    match (json::members(wanted), json::elements(wanted)) {
        (Some(members), _) => members.iter().all(|(name, value)| find(found, name).is_some_and(|found| contains(found, value))),
        (None, Some(list)) => {
            let found = json::elements(found).unwrap_or_default();
            found.len() == list.len() && found.iter().zip(list).all(|(found, wanted)| contains(*found, wanted))
        }
        (None, None) => found.get() == wanted.get(),
    }
}

fn streamed(events: &[Raw<'_>]) -> (Assembly, Vec<Applied>) {
    let mut assembly = Assembly::new(1 << 20);
    let applied = events.iter().map(|data| {
        let event = event(Dialect::JsonRpc10, "message", data.get(), DEPTH).unwrap();
        assembly.apply(event).unwrap()
    });
    let applied = applied.collect();
    (assembly, applied)
}

#[test]
fn streams_and_states() {
    walk("streaming-task-state.json", |case| match case.id.as_str() {
        // Of tasks that the gateway serves.
        "task-004" | "task-005" | "task-016" | "task-017" => {}
        "task-001" => {
            let interface =
                Interface { url: url("https://agent.test/"), dialect: Dialect::JsonRpc03, tenant: None, declared: true };
            let body = encode(&interface, &Operation::Send(&hello()), 1).unwrap().body.unwrap();
            assert!(contains(json::parse(&body, DEPTH).unwrap(), at(case.expected, "wire")), "{body}");
        }
        "task-002" => {
            let Ok(Reply::Task(task)) = reply(Dialect::JsonRpc03, 200, "", case.input.get().as_bytes(), DEPTH) else {
                panic!("{}", case.id)
            };
            assert_eq!(
                (task.status.state.kebab().as_ref(), task.readable()),
                (&*text(case.expected, "state"), text(case.expected, "text"))
            );
            assert_eq!(task.status.message.unwrap().role, Role::Agent);
        }
        "task-010" => {
            for code in list(case.input, "peer_errors") {
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"Task t is in terminal state: completed"}}}}"#
                );
                let fault = reply(Dialect::JsonRpc10, 200, "", body.as_bytes(), DEPTH).unwrap_err();
                // A task that is not found is never a finished one, whatever the words.
                let kind = if code.get() == "-32001" { FaultKind::TaskNotFound } else { FaultKind::Terminal };
                assert_eq!(fault.kind(), kind, "{code}");
            }
        }
        "task-011" => {
            let (assembly, _) = streamed(&list(case.input, "events"));
            assert_eq!(assembly.task().unwrap().status.state.kebab(), text(case.expected, "state"));
            assert_eq!(assembly.task().unwrap().readable(), text(case.expected, "text"));
        }
        "task-013" => {
            let (assembly, _) = streamed(&list(case.input, "events"));
            let task = assembly.task().unwrap();
            assert!(task.status.state.is_running() && text(case.expected, "next").contains(&format!("({})", task.id)));
        }
        "task-014" => {
            let (assembly, _) = streamed(&list(case.input, "events"));
            assert_eq!((assembly.message().unwrap().readable(), assembly.task()), (text(case.expected, "text"), None));
            assert_eq!(assembly.message().unwrap().role, Role::Agent);
        }
        "task-019" => {
            let polled: Vec<State> = list(case.input, "states").into_iter().map(State::read).collect();
            let stop = polled.iter().position(|state| !state.is_running()).unwrap();
            assert_eq!(polled[stop].kebab(), text(case.expected, "result"));
            assert_eq!((stop + 1).to_string(), at(case.expected, "polls").get());
            assert!(["unknown", "a state never seen"].iter().all(|name| State::named(name).is_running()));
        }
        other => panic!("nobody checks {other}"),
    });
}

/// An artifact event in the short form `[id, append, text, "last"?]`, another event as it is, or nothing for a cut.
fn long_form(short: Raw<'_>) -> Option<String> {
    if json::string(short).is_some() {
        return None;
    }
    let Some(list) = json::elements(short) else {
        let Some(snapshot) = find(short, "task") else { return Some(short.get().into()) };
        let artifacts = json::members(at(snapshot, "artifacts")).unwrap();
        let artifacts: Vec<String> = artifacts
            .iter()
            .map(|(id, texts)| format!(r#"{{"artifactId":"{id}","parts":[{{"text":{}}}]}}"#, json::elements(texts).unwrap()[0]))
            .collect();
        return Some(format!(r#"{{"task":{{"id":"t","status":{{"state":"working"}},"artifacts":[{}]}}}}"#, artifacts.join(",")));
    };
    let (id, append, text, last) = (list[0], list[1], list[2], list.len() > 3);
    Some(format!(
        r#"{{"artifactUpdate":{{"taskId":"t","append":{append},"lastChunk":{last},"artifact":{{"artifactId":{id},"parts":[{{"text":{text}}}]}}}}}}"#
    ))
}

fn texts(task: &Task, id: &str) -> Vec<String> {
    let artifact = task.artifacts().iter().find(|artifact| artifact.artifact_id == id).unwrap();
    let text = |part: &Part| match &part.content {
        Content::Text(text) => Some(text.clone()),
        Content::Data(_) | Content::Url(_) | Content::Raw(_) | Content::Other => None,
    };
    artifact.parts.iter().filter_map(text).collect()
}

#[test]
fn artifacts_in_pieces() {
    walk("artifacts-append.json", |case| {
        // Of two tasks, which are two calls.
        if case.id == "art-004" {
            return;
        }
        let events: Vec<String> = list(case.input, "events").into_iter().filter_map(long_form).collect();
        let events: Vec<Raw<'_>> = events.iter().map(|text| json::parse(text, DEPTH).unwrap()).collect();
        let (assembly, applied) = streamed(&events);
        for (id, wanted) in json::members(at(case.expected, "artifacts")).unwrap().iter() {
            let found = texts(assembly.task().unwrap(), id);
            match json::elements(wanted) {
                Some(list) => {
                    assert_eq!(found, list.into_iter().map(|raw| json::string(raw).unwrap()).collect::<Vec<_>>(), "{}", case.id)
                }
                None => assert_eq!(found.concat(), json::string(wanted).unwrap(), "{}", case.id),
            }
        }
        let flagged = applied.iter().any(|applied| applied.after_last_chunk);
        assert_eq!(flagged, find(case.expected, "warning").is_some(), "{}", case.id);
    });
}

#[test]
fn ids_of_replies() {
    walk("json-rpc-replies.json", |case| {
        for (body, outcome) in list(case.input, "agent_replies").into_iter().zip(list(case.expected, "outcomes")) {
            let found = match reply(Dialect::JsonRpc03, 200, "", body.get().as_bytes(), DEPTH) {
                Ok(Reply::Message(message)) if message.readable() == "hi" => "message",
                Err(Fault::Agent { code: Some(-32700), .. }) => "agent error",
                Err(Fault::Protocol(why)) if why.contains("id of the reply") => "not an id",
                Err(Fault::Protocol(why)) if why.contains("neither a task nor a message") => "not an answer",
                other => panic!("{body} gave {other:?}"),
            };
            assert_eq!(found, json::string(outcome).unwrap(), "{body}");
        }
    });
}
