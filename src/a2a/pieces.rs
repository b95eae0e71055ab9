//! How many pieces an answer is made of: what is read of it takes more room than it took on the wire.

use crate::held::FREE_BYTES;
use crate::json::{self, Raw};

/// What an artifact, a message, a part or a member of one takes beside what it says, in bytes, about.
pub const PIECE_BYTES: u64 = 128;

/// What leads to them. What stands under other names is kept as it came, in one piece.
const NAMES: [&str; 17] = [
    "result",
    "task",
    "message",
    "msg",
    "status",
    "update",
    "statusUpdate",
    "status_update",
    "artifactUpdate",
    "artifact_update",
    "artifact",
    "artifacts",
    "history",
    "parts",
    "content",
    "file",
    "agents",
];

/// How deep they stand at most: in the parts of the history of a task behind JSON-RPC.
const DEPTH: u32 = 12;

/// How many pieces an answer may be made of, whose bytes may be `limit`: as many as everybody may hold, at least.
fn most(limit: u64) -> u64 {
    limit.max(FREE_BYTES) / PIECE_BYTES
}

/// Whether a text is long enough to be made of too many pieces: none takes less than two bytes.
#[must_use]
pub fn may_be_crumbled(bytes: u64, limit: u64) -> bool {
    bytes / 2 > most(limit)
}

/// Whether the pieces of an answer alone take more than `limit` bytes, and more than everybody may hold.
#[must_use]
pub fn is_crumbled(raw: Raw<'_>, limit: u64) -> bool {
    may_be_crumbled(raw.get().len() as u64, limit) && json::count(raw, &NAMES, DEPTH) > most(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn what_is_read_is_counted_and_what_is_kept_is_not() {
        let many = |item: &str, count: usize| alloc::vec![item; count].join(",");
        for (start, item, end) in [
            (r#"{"result":{"task":{"artifacts":["#, "{}", "]}}}"),
            (r#"{"jsonrpc":"2.0","result":{"parts":["#, "1", "]}}"),
            (r#"{"result":{"history":[{"parts":["#, "1", "]}]}}"),
            (r#"{"status":{"message":{"content":["#, r#""""#, "]}}}"),
            (r#"{"message":{"parts":[{"text":"x","#, r#""":1"#, "}]}}"),
        ] {
            let text = format!("{start}{}{end}", many(item, 1000));
            let raw = json::parse(&text, 16).unwrap();
            assert!(is_crumbled(raw, 980 * PIECE_BYTES) && !is_crumbled(raw, 1010 * PIECE_BYTES), "{text}");
        }
        let words = format!(r#"{{"result":{{"parts":[{}]}}}}"#, many(r#"{"kind":"text","text":"word "}"#, 1000));
        assert!(!is_crumbled(json::parse(&words, 16).unwrap(), 1000 * PIECE_BYTES), "a part is one piece");
        let crumbs =
            format!(r#"{{"parts":[{}]}}"#, many(r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}"#, 1000));
        assert!(is_crumbled(json::parse(&crumbs, 16).unwrap(), 1900 * PIECE_BYTES), "a part has nine members");
        for text in [
            format!(r#"{{"result":{{"parts":[{{"data":[{}]}}]}}}}"#, many("1", 1000)),
            format!(r#"{{"metadata":{{"parts":[{}]}},"message":"{}"}}"#, many("1", 1000), many("1", 1000)),
        ] {
            assert!(!is_crumbled(json::parse(&text, 16).unwrap(), 20 * PIECE_BYTES), "{text}");
        }
    }
}
