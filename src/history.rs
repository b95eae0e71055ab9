//! What was said to an agent and what it answered, the last few of it.

use alloc::collections::VecDeque;
use alloc::string::String;

use crate::held::{Pool, Share};
use crate::json::{Json, Object};
use crate::saved::{Saved, Unsaved};
use crate::snapshot::Record;
use crate::time::WallTime;

/// What an entry takes beside what it says.
const ENTRY_BYTES: usize = 256;

/// One send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// what went out, shortened
    pub sent: String,
    /// what came back, or the error, shortened
    pub response: String,
    /// when it ended
    pub at: WallTime,
    /// the conversation
    pub context_id: Option<String>,
    /// the task
    pub task_id: Option<String>,
    /// the task's state, in kebab form
    pub state: Option<String>,
    /// whether it failed
    pub is_error: bool,
}

impl Entry {
    /// The public form, the timestamp in RFC 3339.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.written(&Json::string(&self.at.to_rfc3339()))
    }

    /// The form of a snapshot, the timestamp in milliseconds.
    #[must_use]
    pub fn record(&self) -> Json {
        self.written(&Json::integer(self.at.0))
    }

    fn written(&self, timestamp: &Json) -> Json {
        let mut out = Object::new();
        out.string("sent", &self.sent).string("response", &self.response).json("timestamp", timestamp);
        out.optional_string("context_id", self.context_id.as_deref()).optional_string("task_id", self.task_id.as_deref());
        out.optional_string("state", self.state.as_deref()).boolean("is_error", self.is_error);
        out.finish()
    }

    /// About how many bytes it takes.
    fn bytes(&self) -> u64 {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let ids = text(&self.context_id) + text(&self.task_id) + text(&self.state);
        u64::try_from(ENTRY_BYTES + ids + self.sent.len() + self.response.len()).unwrap_or(u64::MAX)
    }

    /// Reads the form of a snapshot.
    #[must_use]
    pub fn read(record: &Record<'_, '_>) -> Self {
        Self {
            sent: record.text("sent"),
            response: record.text("response"),
            at: WallTime(record.integer("timestamp")),
            context_id: record.optional("context_id"),
            task_id: record.optional("task_id"),
            state: record.optional("state"),
            is_error: record.boolean("is_error"),
        }
    }
}

/// The sends to one agent, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    entries: VecDeque<Entry>,
    /// how many entries there ever were: the number of the next one
    next: u64,
    bytes: u64,
    share: Option<Share>,
    saved: Saved,
}

impl History {
    /// Adds a send; the oldest beyond `depth` go, and those that there is no room for where all histories and inboxes hold
    /// as much as `limit` allows.
    pub fn add(&mut self, entry: Entry, depth: u64, pool: &Pool, limit: u64) {
        let share = self.share.get_or_insert_with(|| pool.share());
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
        self.next += 1;
        while self.entries.len() > 1 && !share.may_be(self.bytes, limit) || self.entries.len() as u64 > depth {
            self.bytes -= self.entries.pop_front().map_or(0, |entry| entry.bytes());
        }
        share.set(self.bytes);
    }

    /// Puts a send of a snapshot back, which had that number; the numbers come in their order.
    pub fn restore(&mut self, number: u64, entry: Entry, pool: &Pool, limit: u64) {
        self.next = self.next.max(number);
        self.add(entry, u64::MAX, pool, limit);
    }

    fn len(&self) -> u64 {
        u64::try_from(self.entries.len()).unwrap_or(u64::MAX)
    }

    /// Every send with its number, from that number on.
    pub fn since(&self, number: u64) -> impl Iterator<Item = (u64, &Entry)> {
        (self.next - self.len()..).zip(&self.entries).filter(move |(at, _)| *at >= number)
    }

    /// What is to be saved since this was last asked.
    pub fn unsaved(&mut self) -> Unsaved {
        self.saved.go_on(self.next - self.len(), self.next)
    }

    /// The newest `limit` sends, oldest first.
    pub fn newest(&self, limit: u64) -> impl Iterator<Item = &Entry> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.entries.iter().skip(self.entries.len().saturating_sub(limit))
    }

    /// Forgets all; how many there were.
    pub fn clear(&mut self) -> u64 {
        let count = self.len();
        self.entries.clear();
        (self.bytes, self.share) = (0, None);
        count
    }
}

/// A text of at most `length` code points; a longer one ends in `…`.
#[must_use]
pub fn shorten(text: &str, length: u64) -> String {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    match text.char_indices().nth(length) {
        Some((at, _)) => {
            let mut out = String::from(text.get(..at).unwrap_or_default());
            out.push('…');
            out
        }
        None => String::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::FREE_BYTES;

    #[test]
    fn the_oldest_sends_make_room_with_their_ids_and_the_newest_stays() {
        let pool = Pool::default();
        let limit = 4 * FREE_BYTES;
        let entry = |context: usize| Entry {
            sent: String::new(),
            response: String::new(),
            at: WallTime(0),
            context_id: Some("x".repeat(context)),
            task_id: None,
            state: None,
            is_error: false,
        };
        let mut histories = alloc::vec![History::default(); 8];
        for number in 0..80 {
            histories[number % 2].add(entry(16_000), 50, &pool, limit);
            assert!(pool.bytes() <= limit);
        }
        assert!(histories[0].newest(99).count() >= 2);
        for history in &mut histories[2..] {
            history.add(entry(usize::try_from(FREE_BYTES).unwrap()), 50, &pool, limit);
            assert_eq!(history.newest(99).count(), 1);
        }
        histories[0].clear();
        histories.truncate(1);
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn texts_are_cut_by_code_points() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "abc…");
        assert_eq!(shorten("é🙂é🙂", 2), "é🙂…");
    }
}
