//! The bounds of everything, by name.

/// How much of anything the gateway takes. Reaching one is an error of the call that reached it and of nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// body of a reply
    pub reply_bytes: u64,
    /// what is held of what clients, agents and servers say, in all: requests of calls that run, what is sent of them,
    /// answers that come in, tasks, and what waits for webhooks. Each but the last may have 64 KiB whatever the others have
    pub held_bytes: u64,
    /// what all inboxes and histories hold; each may have 64 KiB whatever the others have
    pub inbox_bytes: u64,
    /// body of an agent card
    pub card_bytes: u64,
    /// one event of a stream
    pub event_bytes: u64,
    /// one stream
    pub stream_bytes: u64,
    /// artifacts kept for one call
    pub artifact_bytes: u64,
    /// nested arrays and objects in any JSON
    pub json_depth: u64,
    /// one message from an MCP client
    pub message_bytes: u64,
    /// one answer to an MCP client; a JavaScript engine holds no text of 512 MiB
    pub answer_bytes: u64,
    /// calls in flight of one peer
    pub calls_per_peer: u64,
    /// agents of one scope
    pub agents_per_scope: u64,
    /// header fields of a reply
    pub header_bytes: u64,
    /// redirects of one exchange
    pub redirects: u64,
    /// readings of a task in a row that fail, in a call without a deadline, over at least 5 s for each of them
    pub failed_readings: u64,
    /// cards of agents called by URL that are kept
    pub cards_by_url: u64,
    /// cards kept of agents, in all; each agent, and those called by URL in one scope, may have 64 KiB whatever the others have
    pub kept_card_bytes: u64,
    /// what waits to be read by clients, in all; the host's, in Node
    pub unread_bytes: u64,
    /// body of an incoming request
    pub request_bytes: u64,
    /// bodies of incoming requests of one principal that are taken in at once
    pub incoming_bytes: u64,
    /// incoming requests of one principal at once
    pub requests: u64,
    /// MCP sessions of one principal over HTTP
    pub sessions: u64,
    /// events kept of one session, for clients that come back
    pub session_event_bytes: u64,
    /// events kept of all sessions; each may have 64 KiB whatever the others have
    pub kept_event_bytes: u64,
    /// tasks served to one principal
    pub tasks_per_principal: u64,
    /// what the tasks served to one principal take
    pub task_bytes: u64,
    /// one message of an MCP server
    pub link_line_bytes: u64,
    /// calls to one MCP server that run or wait for it
    pub calls_per_server: u64,
    /// tools of one MCP server
    pub tools_per_server: u64,
    /// what the tools of one MCP server take
    pub tool_list_bytes: u64,
    /// cards in the directory
    pub directory_cards: u64,
    /// what the cards in the directory take
    pub directory_bytes: u64,
}

/// A limit's name, its default, and how it is reached.
type Row = (&'static str, u64, fn(&mut Limits) -> &mut u64);

impl Limits {
    /// Every limit by its name in the configuration.
    pub const TABLE: [Row; 32] = [
        ("reply_bytes", 16 << 20, |limits| &mut limits.reply_bytes),
        ("held_bytes", 512 << 20, |limits| &mut limits.held_bytes),
        ("inbox_bytes", 256 << 20, |limits| &mut limits.inbox_bytes),
        ("card_bytes", 1 << 20, |limits| &mut limits.card_bytes),
        ("event_bytes", 8 << 20, |limits| &mut limits.event_bytes),
        ("stream_bytes", 64 << 20, |limits| &mut limits.stream_bytes),
        ("artifact_bytes", 32 << 20, |limits| &mut limits.artifact_bytes),
        ("json_depth", 128, |limits| &mut limits.json_depth),
        ("message_bytes", 32 << 20, |limits| &mut limits.message_bytes),
        ("answer_bytes", 128 << 20, |limits| &mut limits.answer_bytes),
        ("calls_per_peer", 1024, |limits| &mut limits.calls_per_peer),
        ("agents_per_scope", 256, |limits| &mut limits.agents_per_scope),
        ("header_bytes", 64 << 10, |limits| &mut limits.header_bytes),
        ("redirects", 3, |limits| &mut limits.redirects),
        ("failed_readings", 60, |limits| &mut limits.failed_readings),
        ("cards_by_url", 256, |limits| &mut limits.cards_by_url),
        ("kept_card_bytes", 128 << 20, |limits| &mut limits.kept_card_bytes),
        ("unread_bytes", 256 << 20, |limits| &mut limits.unread_bytes),
        ("request_bytes", 8 << 20, |limits| &mut limits.request_bytes),
        ("incoming_bytes", 64 << 20, |limits| &mut limits.incoming_bytes),
        ("requests", 1024, |limits| &mut limits.requests),
        ("sessions", 1024, |limits| &mut limits.sessions),
        ("session_event_bytes", 4 << 20, |limits| &mut limits.session_event_bytes),
        ("kept_event_bytes", 256 << 20, |limits| &mut limits.kept_event_bytes),
        ("tasks_per_principal", 1000, |limits| &mut limits.tasks_per_principal),
        ("task_bytes", 128 << 20, |limits| &mut limits.task_bytes),
        ("link_line_bytes", 16 << 20, |limits| &mut limits.link_line_bytes),
        ("calls_per_server", 256, |limits| &mut limits.calls_per_server),
        ("tools_per_server", 1024, |limits| &mut limits.tools_per_server),
        ("tool_list_bytes", 8 << 20, |limits| &mut limits.tool_list_bytes),
        ("directory_cards", 100_000, |limits| &mut limits.directory_cards),
        ("directory_bytes", 64 << 20, |limits| &mut limits.directory_bytes),
    ];

    /// What a limit may be set to at least and at most. An answer needs room for what the gateway says of itself, and has to
    /// be one text for whoever drives it.
    #[must_use]
    pub fn bounds(name: &str) -> (u64, u64) {
        if name == "answer_bytes" { (64 << 10, 256 << 20) } else { (1, u64::MAX) }
    }

    /// The nesting allowed, as the parser takes it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.json_depth).unwrap_or(u32::MAX)
    }
}

impl Default for Limits {
    fn default() -> Self {
        let mut limits = Self {
            reply_bytes: 0,
            held_bytes: 0,
            inbox_bytes: 0,
            card_bytes: 0,
            event_bytes: 0,
            stream_bytes: 0,
            artifact_bytes: 0,
            json_depth: 0,
            message_bytes: 0,
            answer_bytes: 0,
            calls_per_peer: 0,
            agents_per_scope: 0,
            header_bytes: 0,
            redirects: 0,
            failed_readings: 0,
            cards_by_url: 0,
            kept_card_bytes: 0,
            unread_bytes: 0,
            request_bytes: 0,
            incoming_bytes: 0,
            requests: 0,
            sessions: 0,
            session_event_bytes: 0,
            kept_event_bytes: 0,
            tasks_per_principal: 0,
            task_bytes: 0,
            link_line_bytes: 0,
            calls_per_server: 0,
            tools_per_server: 0,
            tool_list_bytes: 0,
            directory_cards: 0,
            directory_bytes: 0,
        };
        for (_, value, field) in Self::TABLE {
            *field(&mut limits) = value;
        }
        limits
    }
}
