//! What a gateway may hold, as a sum of limits by their names.

use narrows::held::FREE_BYTES;
use narrows::limits::Limits;

use super::Greed;

/// Peers with a connection of their own, each in its scope, and the principals of HTTP.
pub const PEERS: u64 = 2;
pub const PRINCIPALS: [&str; 2] = ["ada", "bob"];
/// Scopes of HTTP beside those of sessions: one of each principal.
const SCOPES: u64 = 2;
/// MCP servers.
pub const SERVERS: [&str; 2] = ["s", "t"];

/// Which limits hold a crowd of each greed: without any one of them more is held than the sum of all.
pub const NEEDED: [(Greed, &str); 12] = [
    (Greed::Calls, "held_bytes"),
    (Greed::Replies, "held_bytes"),
    (Greed::Tasks, "held_bytes"),
    (Greed::Inbox, "inbox_bytes"),
    (Greed::Cards, "agents_per_scope"),
    (Greed::Cards, "cards_by_url"),
    (Greed::Sessions, "session_event_bytes"),
    (Greed::Bodies, "incoming_bytes"),
    (Greed::Served, "task_bytes"),
    (Greed::Hooks, "held_bytes"),
    (Greed::Tools, "tool_list_bytes"),
    (Greed::Directory, "directory_bytes"),
];

/// Limits that are small.
const LITTLE: [(&str, u64); 24] = [
    ("reply_bytes", 8_000),
    ("event_bytes", 8_000),
    ("stream_bytes", 30_000),
    ("artifact_bytes", 6_000),
    ("held_bytes", 30_000),
    ("inbox_bytes", 20_000),
    ("card_bytes", 2_500),
    ("message_bytes", 4_000),
    ("request_bytes", 12_000),
    ("incoming_bytes", 20_000),
    ("calls_per_peer", 3),
    ("agents_per_scope", 3),
    ("cards_by_url", 2),
    ("header_bytes", 1_000),
    ("requests", 24),
    ("sessions", 1),
    ("session_event_bytes", 20_000),
    ("tasks_per_principal", 20),
    ("task_bytes", 30_000),
    ("calls_per_server", 3),
    ("tools_per_server", 60),
    ("tool_list_bytes", 20_000),
    ("directory_cards", 30),
    ("directory_bytes", 20_000),
];

/// Those that are larger, so that there is more of what is wanted than all the others allow together.
fn much(greed: Greed) -> &'static [(&'static str, u64)] {
    match greed {
        Greed::Calls => &[("message_bytes", 200_000), ("held_bytes", 150_000)],
        Greed::Replies => &[("reply_bytes", 600_000), ("held_bytes", 200_000)],
        Greed::Tasks => {
            &[("artifact_bytes", 400_000), ("event_bytes", 20_000), ("stream_bytes", 900_000), ("held_bytes", 200_000)]
        }
        Greed::Inbox => &[("inbox_bytes", 150_000), ("reply_bytes", 60_000), ("event_bytes", 20_000)],
        Greed::Cards => &[("card_bytes", 20_000)],
        Greed::Sessions => &[("session_event_bytes", 150_000), ("sessions", 2), ("reply_bytes", 40_000), ("event_bytes", 12_000)],
        Greed::Bodies => &[("request_bytes", 60_000), ("incoming_bytes", 90_000)],
        Greed::Served => {
            &[("task_bytes", 120_000), ("tasks_per_principal", 100), ("request_bytes", 40_000), ("incoming_bytes", 60_000)]
        }
        Greed::Hooks => &[("held_bytes", 150_000), ("artifact_bytes", 20_000), ("task_bytes", 200_000)],
        Greed::Tools => &[("tool_list_bytes", 100_000)],
        Greed::Directory => &[("directory_bytes", 80_000), ("directory_cards", 300), ("card_bytes", 12_000)],
    }
}

/// The configuration of a crowd. One limit may be lifted.
pub fn configuration(greed: Greed, lifted: &str) -> String {
    let limits = LITTLE.map(|(name, little)| {
        let value = much(greed).iter().find(|(known, _)| *known == name).map_or(little, |(_, much)| *much);
        (name, if name == lifted { 1 << 30 } else { value })
    });
    let limits = limits.map(|(name, value)| format!(r#""{name}":{value}"#)).join(",");
    let tokens = PRINCIPALS.map(|name| format!(r#"{{"token":"token-of-{name}","principal":"{name}","may_register":true}}"#));
    let servers = SERVERS.map(|name| format!(r#"{{"name":"{name}","transport":{{"type":"stdio","command":"{name}"}}}}"#));
    format!(
        r#"{{"storage":true,"poll_timeout_seconds":900,"stream_timeout_seconds":900,"inbox_ttl_seconds":1000000,"history":{{"depth":3}},"auth":{{"tokens":[{}]}},"a2a":{{"responder":"inbox","skills":[{{"id":"echo","name":"echo","tags":[],"responder":"echo"}},{{"id":"function","name":"function","tags":[],"responder":"function"}}]}},"mcp":{{"pins":false}},"mcp_servers":[{}],"directory":{{"built_in":true}},"limits":{{{limits}}}}}"#,
        tokens.join(","),
        servers.join(",")
    )
}

/// What an input costs, in bytes.
#[derive(Debug)]
pub struct Cost {
    /// held after it
    pub held: i64,
    /// held while it was taken in
    pub peak: i64,
    /// asked of the allocator
    pub worked: i64,
    /// in the input and in what it led to
    pub moved: i64,
}

/// The sum, by the names of its parts.
pub struct Bounds {
    parts: Vec<(&'static str, i64)>,
    sum: i64,
    /// the largest thing that one input may be about
    thing: i64,
}

impl Bounds {
    pub fn of(limits: &Limits) -> Self {
        let principals = PRINCIPALS.len() as u64;
        let sessions = principals * limits.sessions;
        let scopes = PEERS + SCOPES + sessions;
        // A call has an exchange and a task at most.
        let calls = (PEERS + sessions) * limits.calls_per_peer;
        let free = |most: u64| most.min(FREE_BYTES);
        let each = free(limits.reply_bytes) + free(limits.artifact_bytes + limits.event_bytes);
        let parts = [
            ("what a gateway is", 150_000),
            // Arguments, and the requests that are made of them.
            ("calls: message_bytes", 2 * calls * (limits.message_bytes.min(FREE_BYTES) + 1_000)),
            ("held_bytes", 2 * limits.held_bytes + calls * each),
            ("inbox_bytes", limits.inbox_bytes + scopes * free(limits.inbox_bytes)),
            ("card_bytes", scopes * (limits.agents_per_scope + limits.cards_by_url) * limits.card_bytes),
            ("session_event_bytes", sessions * limits.session_event_bytes),
            ("incoming_bytes", principals * (limits.incoming_bytes + limits.requests * limits.header_bytes)),
            ("task_bytes", principals * limits.task_bytes),
            ("tool_list_bytes", SERVERS.len() as u64 * limits.tool_list_bytes),
            ("directory_bytes", limits.directory_bytes),
        ];
        let parts = parts.map(|(name, bytes)| (name, i64::try_from(bytes).unwrap())).to_vec();
        let sum = parts.iter().map(|(_, bytes)| bytes).sum();
        let things =
            [limits.reply_bytes, limits.held_bytes, limits.artifact_bytes, limits.tool_list_bytes, limits.directory_bytes];
        let thing = 4_000 + i64::try_from(things.into_iter().max().unwrap_or_default()).unwrap();
        Self { parts, sum, thing }
    }

    /// Fails where more is kept.
    pub fn check_kept(&self, bytes: i64) {
        assert!(bytes < self.sum, "a snapshot of {bytes} bytes: {:?}", self.parts);
    }

    /// Fails where more is held than allowed, or more is asked for than an input is worth: what it says and what it leads to
    /// are read and written so many times, and so is the one large thing that it is about.
    pub fn check(&self, cost: &Cost) {
        assert!(cost.held < self.sum, "{} bytes are held: {:?}", cost.held, self.parts);
        let most = self.sum + 4 * (cost.moved + self.thing);
        assert!(cost.peak < most, "{} bytes are held meanwhile: {:?}", cost.peak, self.parts);
        let most = 32 * (cost.moved + self.thing);
        assert!(cost.worked < most, "{} bytes are asked for, {} are moved", cost.worked, cost.moved);
    }
}
