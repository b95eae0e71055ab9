//! The inbox: outcomes of sends that nobody waited for, until they are read.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::held::{Pool, Share};
use crate::json::{Json, Object};
use crate::mcp::outcome::Code;
use crate::snapshot::Record;
use crate::table::Table;
use crate::time::WallTime;

/// How many entries of one alias are kept.
const PER_ALIAS: u64 = 256;
/// How many entries are kept in all.
const IN_ALL: usize = 4096;
/// What an entry takes beside what it says.
const ENTRY_BYTES: u64 = 256;

/// The outcome of one send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// the id that was given at dispatch
    pub call_id: String,
    /// the agent
    pub alias: String,
    /// a task state in kebab form, `message` or `error`
    pub state: String,
    /// the task
    pub task_id: Option<String>,
    /// the conversation
    pub context_id: Option<String>,
    /// when it came
    pub at: WallTime,
    /// the answer for people
    pub text: String,
    /// `task`, `message`, `error`: what the send would have answered
    pub content: Vec<(String, Json)>,
}

impl Entry {
    /// How it ended, for people: the state, or what failed and how far the task was then.
    #[must_use]
    pub fn words(&self) -> String {
        let task = self.task_id.as_ref().map_or_else(String::new, |id| format!(", task {id}"));
        let error = self.content.iter().find(|(name, _)| name == "error").and_then(|(_, error)| error.members());
        match error.and_then(|error| error.string("code")) {
            Some(code) if self.state == "error" => format!("{code}{task}"),
            // `task_failed` says no more than `failed`.
            Some(code) if !code.ends_with(self.state.as_str()) => {
                let task = if task.is_empty() { ", its task" } else { &task };
                format!("{code}{task} was {}", self.state)
            }
            Some(_) | None => format!("{}{task}", self.state),
        }
    }

    /// What a check shows.
    #[must_use]
    pub fn summary(&self) -> Json {
        let mut out = Object::new();
        self.head(&mut out);
        out.optional_string("task_id", self.task_id.as_deref()).optional_string("context_id", self.context_id.as_deref());
        out.optional_json("error", self.content.iter().find(|(name, _)| name == "error").map(|(_, error)| error));
        out.string("timestamp", &self.at.to_rfc3339());
        out.finish()
    }

    /// What a reading gives.
    #[must_use]
    pub fn whole(&self) -> Json {
        let mut out = Object::new();
        self.head(&mut out);
        out.string("timestamp", &self.at.to_rfc3339()).members(&self.content);
        out.finish()
    }

    fn head(&self, out: &mut Object) {
        out.string("call_id", &self.call_id).string("alias", &self.alias).string("state", &self.state);
    }

    /// The members of a snapshot's record.
    pub fn record(&self, out: &mut Object) {
        self.head(out);
        out.optional_string("task_id", self.task_id.as_deref()).optional_string("context_id", self.context_id.as_deref());
        let mut content = Object::new();
        content.members(&self.content);
        out.string("text", &self.text).integer("at", self.at.0).nested("content", content);
    }

    /// About how many bytes it takes.
    fn bytes(&self) -> u64 {
        let content: usize = self.content.iter().map(|(name, json)| name.len() + json.as_str().len()).sum();
        let ids = [&self.task_id, &self.context_id].into_iter().flatten().map(String::len).sum::<usize>();
        let names = self.call_id.len() + self.alias.len() + self.state.len() + self.text.len() + ids;
        ENTRY_BYTES.saturating_add(u64::try_from(names + content).unwrap_or(u64::MAX))
    }

    /// Keeps of an outcome that there is no room for that it was there.
    fn emptied(self) -> Self {
        let text = "the outcome is larger than inbox_bytes left room for".to_string();
        let mut error = Object::new();
        error.string("code", Code::TooLarge.name()).string("message", &text).string("limit", "inbox_bytes");
        error.optional_string("task_id", self.task_id.as_deref());
        Self { text, content: [("error".to_string(), error.finish())].into(), ..self }
    }

    /// Reads them back.
    #[must_use]
    pub fn read(record: &Record<'_, '_>) -> Self {
        Self {
            call_id: record.text("call_id"),
            alias: record.text("alias"),
            state: record.text("state"),
            task_id: record.optional("task_id"),
            context_id: record.optional("context_id"),
            at: WallTime(record.integer("at")),
            text: record.text("text"),
            content: record.inner("content").keep(),
        }
    }
}

/// The entries of a scope, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// the entries with their numbers, which only grow
    entries: VecDeque<(u64, Entry)>,
    next: u64,
    /// the numbers of entries that came or went and are not saved so yet
    changed: Table<u64, ()>,
    bytes: u64,
    share: Option<Share>,
    counts: Table<String, u64>,
    lost: Table<String, u64>,
}

impl Inbox {
    /// Adds an entry; the oldest make room, of their number or of their bytes, where all inboxes hold as much as `limit`
    /// allows.
    pub fn add(&mut self, entry: Entry, pool: &Pool, limit: u64) {
        let mut share = self.share.take().unwrap_or_else(|| pool.share());
        while !share.may_be(self.bytes + entry.bytes(), limit) && !self.entries.is_empty() {
            self.lose(|_| true);
            share.set(self.bytes);
        }
        let entry = if share.may_be(self.bytes + entry.bytes(), limit) { entry } else { entry.emptied() };
        self.bytes += entry.bytes();
        share.set(self.bytes);
        self.share = Some(share);
        if self.counts.get(&entry.alias).is_some_and(|count| *count >= PER_ALIAS) {
            self.lose(|(_, known)| known.alias == entry.alias);
        } else if self.entries.len() >= IN_ALL {
            self.lose(|_| true);
        }
        *self.counts.get_or_default(entry.alias.as_str()) += 1;
        self.changed.insert(self.next, ());
        self.entries.push_back((self.next, entry));
        self.next += 1;
    }

    /// Puts an entry of a snapshot back, which had that number; the numbers come in their order.
    pub fn restore(&mut self, number: u64, entry: Entry, pool: &Pool, limit: u64) {
        self.next = self.next.max(number);
        self.add(entry, pool, limit);
    }

    /// The entry of a number.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.entries.get(at).map(|(_, entry)| entry)
    }

    /// The numbers of the entries that came or went since this was last asked.
    pub fn take_changed(&mut self) -> Table<u64, ()> {
        core::mem::take(&mut self.changed)
    }

    /// Takes no entry for changed any more.
    pub fn clear_changed(&mut self) {
        self.changed.clear();
    }

    fn lose(&mut self, which: impl Fn(&(u64, Entry)) -> bool) {
        let at = self.entries.iter().position(which);
        if let Some((number, entry)) = at.and_then(|at| self.entries.remove(at)) {
            self.changed.insert(number, ());
            self.leave(&entry);
            // URLs are names without end: those that find no room are counted without their name.
            let is_counted = self.lost.has(entry.alias.as_str()) || self.lost.len() < PER_ALIAS;
            *self.lost.get_or_default(if is_counted { entry.alias.as_str() } else { "" }) += 1;
        }
    }

    /// An entry has gone.
    fn leave(&mut self, entry: &Entry) {
        self.bytes -= entry.bytes();
        if let Some(share) = &mut self.share {
            share.set(self.bytes);
        }
        let alias = entry.alias.as_str();
        if let Some(count) = self.counts.get_mut(alias) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(alias);
            }
        }
    }

    /// Whether there is no entry, and none made room that nobody was told of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.lost.is_empty()
    }

    /// Drops what came before a moment.
    pub fn expire(&mut self, before: WallTime) {
        while self.entries.front().is_some_and(|(_, entry)| entry.at < before) {
            if let Some((number, entry)) = self.entries.pop_front() {
                self.changed.insert(number, ());
                self.leave(&entry);
            }
        }
    }

    /// The entries, of one alias or all.
    pub fn entries<'a>(&'a self, alias: Option<&'a str>) -> impl Iterator<Item = &'a Entry> {
        self.numbered().map(|(_, entry)| entry).filter(move |entry| alias.is_none_or(|alias| entry.alias == alias))
    }

    /// Every entry with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(number, entry)| (*number, entry))
    }

    /// How many entries made room, of one alias or all, that [`forget_lost`](Self::forget_lost) has not counted off yet.
    #[must_use]
    pub fn lost(&self, alias: Option<&str>) -> u64 {
        match alias {
            Some(alias) => self.lost.get(alias).copied().unwrap_or(0),
            None => self.lost.values().sum(),
        }
    }

    /// Counts off what an alias lost, and what was counted for no alias.
    pub fn forget_lost(&mut self, alias: &str) {
        self.lost.remove(alias);
        self.lost.remove("");
    }

    /// Takes the oldest `length` entries of an alias out.
    pub fn take(&mut self, alias: &str, length: u64) -> Vec<Entry> {
        let (mut taken, mut kept) = (Vec::new(), VecDeque::new());
        for (number, entry) in core::mem::take(&mut self.entries) {
            if entry.alias == alias && u64::try_from(taken.len()).unwrap_or(u64::MAX) < length {
                self.changed.insert(number, ());
                taken.push(entry);
            } else {
                kept.push_back((number, entry));
            }
        }
        self.entries = kept;
        for entry in &taken {
            self.leave(entry);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::FREE_BYTES;

    fn entry(alias: &str, at: i64) -> Entry {
        Entry {
            call_id: format!("{at}"),
            alias: alias.into(),
            state: "message".into(),
            task_id: None,
            context_id: None,
            at: WallTime(at),
            text: String::new(),
            content: Vec::new(),
        }
    }

    fn ids(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.call_id.as_str()).collect()
    }

    #[test]
    fn the_oldest_of_an_alias_make_room_and_are_counted_once() {
        let mut inbox = Inbox::default();
        inbox.add(entry("other", -1), &Pool::default(), 1 << 30);
        for at in 0..260 {
            inbox.add(entry("bob", at), &Pool::default(), 1 << 30);
        }
        assert_eq!(inbox.entries(Some("bob")).count(), 256);
        assert_eq!((inbox.lost(Some("bob")), inbox.lost(None)), (4, 4));
        inbox.forget_lost("bob");
        assert_eq!(inbox.lost(None), 0);
        assert_eq!(ids(&inbox.take("bob", 2)), ["4", "5"]);
        assert_eq!(inbox.entries(None).count(), 255);
    }

    #[test]
    fn the_oldest_of_all_make_room() {
        let mut inbox = Inbox::default();
        for at in 0..4100_i64 {
            inbox.add(entry(&format!("a{}", at % 40), at), &Pool::default(), 1 << 30);
        }
        assert_eq!((inbox.entries(None).count(), inbox.lost(None)), (4096, 4));
        for at in 0..1000 {
            inbox.add(entry(&format!("https://u{at}.test/"), 5000), &Pool::default(), 1 << 30);
        }
        assert!(inbox.lost.len() <= 257);
        assert_eq!(inbox.lost(None), 1004);
    }

    #[test]
    fn what_is_old_goes() {
        let mut inbox = Inbox::default();
        for at in 0..5 {
            inbox.add(entry("bob", at), &Pool::default(), 1 << 30);
        }
        inbox.expire(WallTime(3));
        assert_eq!(inbox.take_changed().len(), 5);
        assert_eq!(ids(&inbox.take("bob", u64::MAX)), ["3", "4"]);
        assert!(inbox.is_empty() && inbox.counts.is_empty());
        let changed: Vec<u64> = inbox.take_changed().iter().map(|(number, ())| *number).collect();
        assert_eq!((changed, inbox.get(3)), (alloc::vec![3, 4], None));
    }

    #[test]
    fn what_there_is_no_room_for_makes_the_oldest_go_and_is_told_where_it_is_too_large_itself() {
        let pool = Pool::default();
        let limit = 4 * FREE_BYTES;
        let mut inbox = Inbox::default();
        let large = |at: i64, bytes: u64| Entry { text: "x".repeat(usize::try_from(bytes).unwrap()), ..entry("bob", at) };
        for at in 0..10 {
            inbox.add(large(at, FREE_BYTES), &pool, limit);
            assert!(pool.bytes() <= limit);
        }
        assert_eq!((ids(&inbox.take("bob", u64::MAX)), pool.bytes()), (["7", "8", "9"].into(), 0));
        assert_eq!(inbox.lost(None), 7);
        inbox.add(large(10, limit), &pool, limit);
        let kept = inbox.take("bob", 1);
        assert!(kept[0].content[0].1.as_str().contains("inbox_bytes"), "{kept:?}");
        let mut greedy = pool.share();
        greedy.set(limit);
        inbox.add(large(11, 10), &pool, limit);
        assert_eq!(inbox.take("bob", 1)[0].text.len(), 10, "who has little may have it");
    }
}
