//! What tools were when they were first listed, or accepted after that. One that its server describes otherwise later is held
//! back until somebody accepts it as it is now: what a person approved, and what a model was told, must not change unseen.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::catalog::Catalog;
use super::difference::changes;
use super::listing::ListedTool;
use crate::json::{self, Array, Json, Object};
use crate::list::gather;
use crate::policy::canonical;
use crate::snapshot::Record;
use crate::table::Table;
use crate::text;

/// What of a tool is pinned: what a model is told of it, and what its arguments and results are.
const PINNED: [&str; 5] = ["annotations", "description", "inputSchema", "outputSchema", "title"];

/// How many pins one server may have, in lists as long as they may be.
const LISTS: u64 = 4;

/// A server's name and a tool's own.
type Key = (String, String);

/// All pins, and what is held back.
#[derive(Debug, Default)]
pub struct Pins {
    /// what was accepted, as canonical JSON
    known: Table<Key, String>,
    /// what is listed instead
    held: Table<Key, String>,
    changed: Table<Key, ()>,
}

impl Pins {
    /// Looks at the tools of a server: new ones are pinned, those that changed are held back. Gives the names of those that
    /// are held back in this form for the first time. `most` is how long a list may be.
    pub fn look(&mut self, server: &str, tools: &[ListedTool], most: u64) -> Vec<String> {
        let is_gone = |(of, tool): &Key| of == server && tools.iter().all(|listed| listed.name != *tool);
        self.held.retain(|key, _| !is_gone(key));
        let mut room = most.saturating_mul(LISTS).saturating_sub(self.count(server));
        let mut news = Vec::new();
        for listed in tools {
            let (key, form) = ((server.to_string(), listed.name.clone()), form(&listed.definition));
            match self.known.get(&key) {
                Some(known) if *known == form => drop(self.held.remove(&key)),
                None if room > 0 => {
                    room -= 1;
                    self.pin(key, form);
                }
                Some(_) | None => {
                    if self.held.get(&key) != Some(&form) {
                        news.push(listed.name.clone());
                    }
                    self.held.insert(key, form);
                }
            }
        }
        news
    }

    /// Holds nothing of a server back any more.
    pub fn release(&mut self, server: &str) {
        self.held.retain(|(of, _), _| of != server);
    }

    fn count(&self, server: &str) -> u64 {
        self.known.iter().map(|((of, _), _)| u64::from(of == server)).sum()
    }

    fn pin(&mut self, key: Key, form: String) {
        self.held.remove(&key);
        self.changed.insert(key.clone(), ());
        self.known.insert(key, form);
    }

    /// Whether a tool is held back.
    #[must_use]
    pub fn holds(&self, server: &str, tool: &str) -> bool {
        self.held.has(&(server.to_string(), tool.to_string()))
    }

    /// What is different of a tool that is held back, in words; `None` where it is not held.
    #[must_use]
    pub fn reason(&self, server: &str, tool: &str) -> Option<String> {
        let key = (server.to_string(), tool.to_string());
        let held = self.held.get(&key)?;
        let Some(known) = self.known.get(&key) else { return Some("it is one too many to remember".to_string()) };
        let mut places = gather(changes(known, held).into_iter().map(|change| change.path));
        places.truncate(4);
        Some(text::joined(&places, ", "))
    }

    /// The tools that are held back: `server`, `tool`, the `name` by which it is called, the `digest` to accept it by, and `changes`, each with its `path` and
    /// what stood there `before` and stands there `after`.
    #[must_use]
    pub fn to_json(&self, catalog: &Catalog) -> Json {
        let mut list = Array::new();
        for ((server, tool), held) in self.held.iter() {
            let mut entry = Object::new();
            entry.string("server", server).string("tool", tool).optional_string("name", catalog.name_of(server, tool));
            entry.string("digest", &canonical::hash(&[held]));
            entry.nested("changes", self.changes(server, tool));
            list.nested(entry);
        }
        list.finish()
    }

    /// What is different of a tool that is held back.
    #[must_use]
    pub fn changes(&self, server: &str, tool: &str) -> Json {
        let key = (server.to_string(), tool.to_string());
        let mut list = Array::new();
        if let Some(held) = self.held.get(&key) {
            let known = self.known.get(&key).map_or("{}", String::as_str);
            for change in changes(known, held) {
                list.nested(change.to_object());
            }
        }
        list.finish()
    }

    /// Accepts a tool as it is listed now; whether it is held back in the form of that digest.
    pub fn accept(&mut self, server: &str, tool: &str, digest: &str) -> bool {
        let key = (server.to_string(), tool.to_string());
        let Some(form) = self.held.get(&key).filter(|form| canonical::hash(&[form]) == digest) else { return false };
        let form = form.clone();
        self.pin(key, form);
        true
    }

    /// The keys whose pins changed since the last time.
    pub fn take_changed(&mut self) -> Vec<Key> {
        gather(core::mem::take(&mut self.changed).iter().map(|(key, ())| key.clone()))
    }

    /// The keys of all pins.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.known.iter().map(|(key, _)| key)
    }

    /// A pin as it stands in a snapshot. The definition is a text there: it may be nested as deep as a snapshot may.
    #[must_use]
    pub fn record(&self, key: &Key) -> Option<Json> {
        let form = self.known.get(key)?;
        let mut out = Object::new();
        out.string("kind", "pin").string("server", &key.0).string("tool", &key.1).string("definition", form);
        Some(out.finish())
    }

    /// Takes back what [`record`](Self::record) wrote, into a state that is told to the host as a whole.
    pub fn restore(&mut self, record: &Record<'_, '_>) {
        let key = self.take(record);
        self.changed.insert(key, ());
    }

    /// Takes in what the host has kept, and need not keep again.
    pub fn take(&mut self, record: &Record<'_, '_>) -> Key {
        let key = (record.text("server"), record.text("tool"));
        self.known.insert(key.clone(), record.text("definition"));
        key
    }
}

/// What of a tool is pinned, in one spelling.
fn form(definition: &Json) -> String {
    let members = definition.members().unwrap_or_default();
    let mut out = Object::new();
    for name in PINNED {
        if let Some(raw) = members.get_any(name).filter(|raw| !json::is_null(*raw)) {
            out.json(name, &Json::from_raw(raw));
        }
    }
    canonical::spelled(out.finish().raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, definition: &str) -> ListedTool {
        ListedTool { name: name.into(), definition: Json::parse(definition, 32).unwrap() }
    }

    #[test]
    fn a_tool_is_held_back_from_its_change_until_it_is_accepted_or_changes_back() {
        let mut pins = Pins::default();
        let first = [tool("a", r#"{"description":"adds","inputSchema":{"type":"object","x":1}}"#)];
        assert!(pins.look("s", &first, 8).is_empty() && !pins.holds("s", "a"));
        assert_eq!(pins.take_changed().len(), 1);
        let same = [tool("a", r#"{"inputSchema":{"x":1,"type":"object"},"description":"adds","icons":[],"title":null}"#)];
        assert!(pins.look("s", &same, 8).is_empty() && pins.take_changed().is_empty());
        let other = [tool("a", r#"{"description":"adds and tells","inputSchema":{"type":"object","x":1}}"#), tool("b", "{}")];
        assert_eq!(pins.look("s", &other, 8), ["a"]);
        assert!(pins.look("s", &other, 8).is_empty(), "it is told once");
        assert_eq!(pins.reason("s", "a").as_deref(), Some("description"));
        assert!(pins.holds("s", "a") && !pins.holds("s", "b") && !pins.holds("other", "a"));
        pins.look("s", &first, 8);
        assert!(!pins.holds("s", "a"));
        pins.look("s", &other, 8);
        let told = pins.to_json(&Catalog::default());
        let entry = json::elements(told.raw()).unwrap()[0];
        let digest = json::members(entry).unwrap().string("digest").unwrap();
        assert!(!pins.accept("s", "a", "0") && !pins.accept("s", "b", &digest));
        assert!(pins.accept("s", "a", &digest) && !pins.holds("s", "a"));
        pins.look("s", &first, 8);
        assert!(pins.holds("s", "a"));
    }

    #[test]
    fn a_server_cannot_push_its_pins_out() {
        let mut pins = Pins::default();
        let mut tools = Vec::new();
        for round in 0..6 {
            tools = (0..2).map(|number| tool(&alloc::format!("t{round}-{number}"), "{}")).collect();
            pins.look("s", &tools, 2);
        }
        assert!(tools.iter().all(|tool| pins.holds("s", &tool.name)));
        assert!(pins.reason("s", "t5-0").unwrap().contains("too many"));
        pins.look("s", &[tool("t0-0", r#"{"description":"other"}"#)], 2);
        assert!(pins.holds("s", "t0-0"));
    }
}
