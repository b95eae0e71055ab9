//! Agents: what each of them answers while it behaves.

use std::collections::BTreeMap;

use narrows::a2a::Dialect;
use narrows::io::Request;

use super::chance::Chance;
use super::text::quoted;
use super::wire::{self, Ask, Asked};

/// What an agent answers, before anything goes wrong with it.
#[derive(Clone, Debug)]
pub enum Normal {
    /// one body
    Plain { status: u16, kind: &'static str, body: String },
    /// the data of the events of a stream, which then ends
    Events(Vec<String>),
}

/// What becomes of a task.
#[derive(Clone, Debug)]
struct Plot {
    context: Option<String>,
    /// how often it is still found running
    left: u64,
    end: &'static str,
    /// what the agent was told and repeats
    echo: String,
}

#[derive(Clone, Debug)]
pub struct Agent {
    /// scheme, host and port
    pub origin: String,
    /// the URL that callers register
    pub url: String,
    pub dialect: Dialect,
    pub streaming: bool,
    /// whether its card names the version
    pub declared: bool,
    /// where its card is; `None` for an agent without one
    pub card_path: Option<&'static str>,
    /// where its interface is
    pub interface: String,
    tasks: BTreeMap<u64, Plot>,
}

const ENDS: [&str; 12] = [
    "completed",
    "completed",
    "completed",
    "failed",
    "rejected",
    "canceled",
    "input-required",
    "auth-required",
    "unknown",
    "dreaming",
    "working",
    "submitted",
];

/// An agent of the world with this number.
pub fn random(chance: &mut Chance, number: u64) -> Agent {
    let origin = match number % 4 {
        0 => format!("https://a{number}.test"),
        1 => format!("https://a{number}.test:8443"),
        2 => format!("http://a{number}.test"),
        _ => format!("http://127.0.0.1:{}", 9000 + number),
    };
    let url = chance.pick(&[origin.clone(), format!("{origin}/"), format!("{origin}/a2a"), format!("{origin}/x/y?k=v")]).clone();
    let dialect = *chance.pick(&[Dialect::JsonRpc10, Dialect::JsonRpc10, Dialect::Rest10, Dialect::JsonRpc03, Dialect::Rest03]);
    let elsewhere = [format!("https://b{number}.test/a2a"), "http://10.0.0.7/a2a".to_owned(), "ftp://b.test/".to_owned()];
    let interface = if chance.one_in(5) { chance.pick(&elsewhere).clone() } else { format!("{origin}/rpc") };
    let card_path = *chance.pick(&[
        Some("/.well-known/agent-card.json"),
        Some("/.well-known/agent-card.json"),
        Some("/.well-known/agent.json"),
        None,
    ]);
    let (streaming, declared) = (chance.one_in(2), !chance.one_in(4));
    Agent { origin, url, dialect, streaming, declared, card_path, interface, tasks: BTreeMap::new() }
}

impl Agent {
    /// Answers a request. `echo` is something that the agent was told in a header field, to be repeated where it can.
    pub fn answer(&mut self, chance: &mut Chance, request: &Request, asked: &Asked, echo: &str) -> Normal {
        let path = request.url.split('?').next().unwrap_or_default();
        if path.ends_with("/directory") {
            let (url, token) = (quoted(&self.url), quoted(echo));
            let list = format!(r#"{{"cards":[{{"name":"x","url":{url}}},5],"next_token":{token}}}"#);
            return json(200, list);
        }
        if asked.ask == Ask::Card {
            return match self.card_path {
                Some(place) if path.ends_with(place) => {
                    let name = format!("Agent {echo}");
                    json(200, wire::card(self.dialect, &self.interface, self.streaming, self.declared, &name))
                }
                _ => Normal::Plain { status: 404, kind: "text/html", body: format!("<p>Not Found {echo}</p>") },
            };
        }
        let known = asked.dialect == self.dialect || chance.one_in(2);
        if !known && asked.id.is_some() {
            return fault(asked, -32601, "Method not found");
        }
        match asked.ask {
            Ask::Send => self.sent(chance, asked, echo),
            Ask::Stream => self.streamed(chance, asked, echo),
            Ask::Get => self.read(chance, asked),
            Ask::Cancel => self.canceled(chance, asked),
            Ask::Subscribe => self.subscribed(chance, asked),
            Ask::Card => unreachable!(),
        }
    }

    fn begin(&mut self, chance: &mut Chance, asked: &Asked, echo: &str) -> u64 {
        let call = asked.call.or(asked.tasks.first().copied()).unwrap_or(0);
        let context = chance.pick(&[Some(format!("ctx-{}", call % 7)), Some(format!("ctx {echo}")), None]).clone();
        let plot = Plot { context, left: chance.below(4), end: ENDS[chance.index(ENDS.len())], echo: echo.to_owned() };
        self.tasks.insert(call, plot);
        call
    }

    /// The state of a task as it is found now.
    fn look(&mut self, number: u64) -> Option<(&'static str, Plot)> {
        let plot = self.tasks.get_mut(&number)?;
        if plot.left == 0 {
            return Some((plot.end, plot.clone()));
        }
        plot.left -= 1;
        Some(("working", plot.clone()))
    }

    fn task(&mut self, asked: &Asked, number: u64) -> Option<String> {
        let (state, plot) = self.look(number)?;
        let words = format!("words {}", plot.echo);
        let artifact = if state == "completed" { format!("the answer {}", plot.echo) } else { String::new() };
        Some(wire::task(asked.dialect, (&id(number), plot.context.as_deref()), state, &words, &artifact))
    }

    fn sent(&mut self, chance: &mut Chance, asked: &Asked, echo: &str) -> Normal {
        if chance.one_in(3) {
            let message = wire::message(asked.dialect, Some("ctx-m"), &format!("hello {echo}"));
            return json(200, wire::enveloped(asked, &wire::wrapped(asked.dialect, "message", &message)));
        }
        let number = self.begin(chance, asked, echo);
        let task = self.task(asked, number).unwrap();
        json(200, wire::enveloped(asked, &wire::wrapped(asked.dialect, "task", &task)))
    }

    fn streamed(&mut self, chance: &mut Chance, asked: &Asked, echo: &str) -> Normal {
        if chance.one_in(5) {
            let message = wire::message(asked.dialect, None, &format!("hello {echo}"));
            return Normal::Events(vec![wire::enveloped(asked, &wire::wrapped(asked.dialect, "message", &message))]);
        }
        let number = self.begin(chance, asked, echo);
        self.events(chance, asked, number, true)
    }

    /// The events of a task until it ends or the stream does.
    fn events(&mut self, chance: &mut Chance, asked: &Asked, number: u64, opening: bool) -> Normal {
        let Some(plot) = self.tasks.get(&number).cloned() else { return fault(asked, -32001, "Task not found") };
        let (dialect, name) = (asked.dialect, id(number));
        let ids = (name.as_str(), plot.context.as_deref());
        let mut events = Vec::new();
        if opening && !chance.one_in(4) {
            events.push(wire::wrapped(dialect, "task", &wire::task(dialect, ids, "submitted", "", "")));
        }
        for step in 0..plot.left {
            events.push(wire::status_event(dialect, ids, "working", &format!("step {step} {}", plot.echo), false));
        }
        for (index, text) in ["one ", "two ", plot.echo.as_str()].into_iter().take(chance.index(4)).enumerate() {
            events.push(wire::artifact_event(dialect, ids, text, index > 0, index == 2));
        }
        // A stream that stops short leaves the rest to readings.
        if !chance.one_in(4) {
            self.tasks.get_mut(&number).unwrap().left = 0;
            events.push(wire::status_event(dialect, ids, plot.end, "", true));
        }
        Normal::Events(events.iter().map(|event| wire::enveloped(asked, event)).collect())
    }

    fn read(&mut self, chance: &mut Chance, asked: &Asked) -> Normal {
        let number = asked.tasks.last().copied().unwrap_or(0);
        match self.task(asked, number) {
            Some(_) if chance.one_in(8) => fault(asked, -32001, "Task not found"),
            Some(task) => json(200, wire::enveloped(asked, &task)),
            None => fault(asked, -32001, "Task not found"),
        }
    }

    fn canceled(&mut self, chance: &mut Chance, asked: &Asked) -> Normal {
        let number = asked.tasks.last().copied().unwrap_or(0);
        let Some(plot) = self.tasks.get_mut(&number) else { return fault(asked, -32001, "Task not found") };
        if chance.one_in(3) {
            return fault(asked, -32002, "Task cannot be canceled");
        }
        (plot.left, plot.end) = (0, "canceled");
        let task = self.task(asked, number).unwrap();
        json(200, wire::enveloped(asked, &task))
    }

    fn subscribed(&mut self, chance: &mut Chance, asked: &Asked) -> Normal {
        let number = asked.tasks.last().copied().unwrap_or(0);
        match chance.below(6) {
            0 => fault(asked, -32601, "Method not found"),
            1 => fault(asked, -32004, "This operation is not supported"),
            2 => Normal::Plain { status: 204, kind: "", body: String::new() },
            _ => self.events(chance, asked, number, true),
        }
    }
}

/// The id of a task, with what a URL must escape.
fn id(number: u64) -> String {
    format!("task-{number} é/?")
}

fn json(status: u16, body: String) -> Normal {
    Normal::Plain { status, kind: "application/json", body }
}

fn fault(asked: &Asked, code: i64, words: &str) -> Normal {
    let (status, body) = wire::error(asked, code, words);
    json(status, body)
}
