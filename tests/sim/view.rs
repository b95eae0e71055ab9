//! The state of a gateway as its snapshot shows it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use narrows::json::{self, Members};

use crate::support::text::raw;

/// One agent of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentView {
    pub url: String,
    pub micro_rps: u64,
    pub burst: u64,
    /// billionths of a token
    pub level: u64,
    /// the wall-clock time until which it asked for silence
    pub closed_until: Option<i64>,
    pub heard: bool,
    pub failures: u64,
    pub context_id: Option<String>,
    pub history: Vec<Said>,
}

/// One entry of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub sent: String,
    pub response: String,
    pub is_error: bool,
}

/// One scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeView {
    pub agents: BTreeMap<String, Rc<AgentView>>,
    /// outcomes that nobody read: the call, the alias, and when it came
    pub inbox: Vec<(String, String, i64)>,
    /// sends that nobody waits for, by the id that was given for each, with the alias
    pub pending: BTreeMap<String, String>,
    pub caller: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct View {
    /// by the gateway's own names
    pub scopes: BTreeMap<String, ScopeView>,
    /// sessions over HTTP by the names of their scopes
    pub sessions: BTreeMap<String, String>,
    /// calls that somebody waits for: the peer and the id
    pub running: Vec<(u64, String)>,
    /// what was said, by scope and alias, with its number
    said: BTreeMap<(String, String), Vec<(u64, Said)>>,
    /// every scope that a record belongs to
    pub named: BTreeSet<String>,
}

/// The first number of a peer over HTTP in a gateway.
pub const HTTP: u64 = 1 << 53;

fn whole(members: &Members<'_>, name: &str) -> u64 {
    members.get(name).and_then(|raw| json::integer(raw.get())).and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}

fn moment(members: &Members<'_>, name: &str) -> Option<i64> {
    members.get(name).and_then(|raw| json::integer(raw.get()))
}

/// A record of a snapshot, read.
#[derive(Debug)]
enum Record {
    Agent(String, Rc<AgentView>),
    Caller(Option<String>),
    Outcome((String, String, i64)),
    Pending(String, String),
    Running(u64, String),
    Session(String, String),
    Said(String, u64, Said),
    Other,
}

/// Reads snapshots, each record of the same text once.
#[derive(Debug, Default)]
pub struct Reader {
    known: BTreeMap<String, Rc<(String, Record)>>,
}

impl Reader {
    pub fn read(&mut self, pieces: &[String]) -> View {
        let (mut view, mut known) = (View::default(), BTreeMap::new());
        for piece in pieces {
            let records = json::members(raw(piece)).unwrap().get("records").and_then(json::elements).unwrap();
            for text in records.into_iter().map(|record| record.get()) {
                // What flows into a bucket changes with every moment, so it is read by itself.
                let (bucket, rest) = split(text);
                let (rest, record) = match self.known.remove_entry(rest.as_ref()) {
                    Some(entry) => entry,
                    None => (rest.into_owned(), Rc::new(record(text))),
                };
                view.take(&record, bucket);
                known.insert(rest, record);
            }
        }
        self.known = known;
        for ((scope, alias), mut said) in std::mem::take(&mut view.said) {
            said.sort_by_key(|(number, _)| *number);
            let agent = view.scope(&scope).agents.get_mut(&alias).expect("what was said belongs to an agent");
            Rc::make_mut(agent).history = said.into_iter().map(|(_, entry)| entry).collect();
        }
        view
    }
}

impl View {
    fn take(&mut self, (scope, record): &(String, Record), bucket: Option<&str>) {
        if !scope.is_empty() {
            self.named.insert(scope.clone());
        }
        match record {
            Record::Agent(alias, agent) => {
                let mut agent = agent.clone();
                let bucket = bucket.map(|bucket| json::members(raw(bucket)).unwrap()).unwrap();
                let read = (
                    whole(&bucket, "micro_rps"),
                    whole(&bucket, "burst"),
                    whole(&bucket, "nano_tokens"),
                    moment(&bucket, "closed_until"),
                );
                if (agent.micro_rps, agent.burst, agent.level, agent.closed_until) != read {
                    let agent = Rc::make_mut(&mut agent);
                    (agent.micro_rps, agent.burst, agent.level, agent.closed_until) = read;
                }
                self.scope(scope).agents.insert(alias.clone(), agent);
            }
            Record::Caller(name) => self.scope(scope).caller.clone_from(name),
            Record::Outcome(entry) => self.scope(scope).inbox.push(entry.clone()),
            Record::Pending(call_id, alias) => {
                self.scope(scope).pending.insert(call_id.clone(), alias.clone());
            }
            Record::Running(peer, id) => self.running.push((*peer, id.clone())),
            Record::Session(scope, name) => {
                self.sessions.insert(scope.clone(), name.clone());
            }
            Record::Said(alias, number, entry) => {
                let said = self.said.entry((scope.clone(), alias.clone())).or_default();
                said.push((*number, entry.clone()));
            }
            Record::Other => {}
        }
    }

    fn scope(&mut self, name: &str) -> &mut ScopeView {
        self.scopes.entry(name.to_owned()).or_default()
    }
}

/// The bucket of a record, and the record without what changes in it all the time.
fn split(text: &str) -> (Option<&str>, Cow<'_, str>) {
    let at = if text.starts_with("{\"kind\":\"agent\"") { text.find("\"bucket\":{") } else { None };
    let Some(at) = at.map(|at| at + "\"bucket\":".len()) else { return (None, Cow::Borrowed(text)) };
    let end = at + text[at..].find('}').unwrap() + 1;
    (Some(&text[at..end]), Cow::Owned([&text[..at], &text[end..]].concat()))
}

fn record(text: &str) -> (String, Record) {
    let record = json::members(raw(text)).unwrap();
    let of = |name: &str| record.string(name).unwrap();
    let read = match of("kind").as_str() {
        "agent" => Record::Agent(of("alias"), Rc::new(agent(&record))),
        "said" => {
            let entry = record.get("entry").and_then(json::members).unwrap();
            let is_error = entry.get("is_error").and_then(json::boolean).unwrap();
            let text = |name: &str| entry.string(name).unwrap();
            Record::Said(of("alias"), whole(&record, "number"), Said { sent: text("sent"), response: text("response"), is_error })
        }
        "caller" => Record::Caller(record.string("name")),
        "inbox" => Record::Outcome((of("call_id"), of("alias"), moment(&record, "at").unwrap())),
        "call" => match record.string("call_id").zip(record.string("alias")) {
            Some((call_id, alias)) => Record::Pending(call_id, alias),
            None => Record::Running(whole(&record, "peer"), record.get("request").unwrap().get().to_owned()),
        },
        "http_session" => Record::Session(format!("http/{}/{}", of("principal"), whole(&record, "peer") - HTTP), of("name")),
        _ => Record::Other,
    };
    (record.string("scope").unwrap_or_default(), read)
}

fn agent(record: &Members<'_>) -> AgentView {
    let inner = |name: &str| record.get(name).and_then(json::members).unwrap();
    let (bucket, health) = (inner("bucket"), inner("health"));
    AgentView {
        url: record.string("url").unwrap(),
        micro_rps: whole(&bucket, "micro_rps"),
        burst: whole(&bucket, "burst"),
        level: whole(&bucket, "nano_tokens"),
        closed_until: moment(&bucket, "closed_until"),
        heard: health.get("heard").and_then(json::boolean).unwrap(),
        failures: whole(&health, "failures"),
        context_id: inner("conversation").string("context_id"),
        history: Vec::new(),
    }
}
