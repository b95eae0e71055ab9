//! What clients over HTTP do in a world.

use narrows::io::{Headers, Input, Output, RequestId};

use super::client::{Client, Connection, MODERN};
use super::network::Told;
use super::wish::{self, About, Patience};
use super::world::{META, World};
use crate::support::host;
use crate::support::served::Posting;
use crate::support::watch::{Call, Life};

const VERSIONS: [&str; 6] = [MODERN, MODERN, "2025-11-25", "2025-11-25", "2025-06-18", "2025-03-26"];

fn set(fields: &mut Headers, name: &str, value: &str) {
    fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    fields.push((name.to_owned(), value.to_owned()));
}

/// A word that is told in one scope only.
pub fn word(scope: &str) -> String {
    format!("word-of-{scope}.")
}

impl World {
    /// Clients of two principals, or of one where no tokens are asked for.
    pub fn invite(&mut self, count: usize) {
        let tokens = self.host.config.server.tokens.clone();
        for index in 0..count {
            let token = (!tokens.is_empty()).then(|| &tokens[index % tokens.len()]);
            let scope = format!("http-{}", token.map_or("local", |token| token.principal.as_str()));
            let version = *self.chance.pick(&VERSIONS);
            if !self.host.watch.served.words.iter().any(|(known, _)| *known == scope) {
                self.host.watch.served.words.push((scope.clone(), word(&scope)));
            }
            self.clients.push(Client::new(token.map(|token| token.token.clone()), version, scope));
        }
    }

    pub fn visit(&mut self) {
        let client = self.chance.index(self.clients.len());
        let known = &self.clients[client];
        if !known.is_modern() && known.session.is_none() {
            if known.connections.is_empty() || self.chance.one_in(3) {
                self.handshake(client);
            }
            return;
        }
        let what = self.chance.below(26);
        match what {
            0 => self.lose(client),
            1 | 2 => self.resume(client),
            3 => self.cancel_over_http(client),
            4 | 5 if !self.clients[client].is_modern() => self.stand(client),
            4 => drop(self.post(
                client,
                vec![("subscriptions/listen".to_owned(), r#"{"notifications":{}}"#.to_owned(), Patience::Unlimited)],
                &[],
            )),
            6 => self.mistake(client),
            7 if self.clients[client].version == "2025-03-26" => {
                let mut messages = vec![self.wish_of(client, 4), self.wish_of(client, 23)];
                messages.push(("ping".to_owned(), "{}".to_owned(), Patience::None));
                self.post(client, messages, &[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()]);
            }
            8 if self.chance.one_in(4) => self.end_session(client),
            9 => self.repeat(client),
            10 => {
                let method = *self.chance.pick(&["tools/list", "no/such", "resources/list", "prompts/list"]);
                self.post(client, vec![(method.to_owned(), "{}".to_owned(), Patience::None)], &[]);
            }
            11..=14 => {
                let message = self.wish_of(client, what % 4);
                self.post(client, vec![message], &[]);
            }
            _ => {
                let what = self.chance.between(4, 30);
                let message = self.wish_of(client, what);
                self.post(client, vec![message], &[]);
            }
        }
    }

    /// A session begins; its scope is its own.
    fn handshake(&mut self, client: usize) {
        self.sessions += 1;
        let scope = format!("session-{}", self.sessions);
        self.host.watch.served.words.push((scope.clone(), word(&scope)));
        let known = &mut self.clients[client];
        known.forget_session();
        let params = format!(r#"{{"protocolVersion":"{}","capabilities":{{}}}}"#, known.version);
        let own = std::mem::replace(&mut known.scope, scope.clone());
        let request = self.post(client, vec![("initialize".to_owned(), params, Patience::None)], &[]);
        let known = &mut self.clients[client];
        known.scope = own;
        if let Some(connection) = known.connections.get_mut(&request) {
            connection.scope = Some(scope);
        }
    }

    fn wish_of(&mut self, client: usize, what: u64) -> (String, String, Patience) {
        let number = self.host.coming_number();
        let default_ms = self.host.config.poll_timeout_ms.max(self.host.config.stream_timeout_ms);
        let known = &self.clients[client];
        let (scope, agents, word) = (known.scope.as_str(), &self.agents, word(&known.scope));
        let own = self.tasks.iter().filter(|(.., told)| told == scope);
        let tasks: Vec<(usize, u64)> = own.map(|(index, task, _)| (*index, *task)).collect();
        let about = About { number, scope, agents, tasks: &tasks, default_ms, word: &word };
        let wish = wish::random(&mut self.chance, what, &about);
        self.knows(number, &wish);
        self.host.watch.secrets.extend(wish.secrets);
        let token =
            if self.chance.one_in(2) { format!(r#","_meta":{{"progressToken":"token-{number}"}}"#) } else { String::new() };
        let params = format!(r#"{{"name":"{}","arguments":{}{token}}}"#, wish.tool, wish.arguments);
        self.host.number();
        (format!("{number} tools/call"), params, wish.patience)
    }

    /// Posts calls, each a method with its parameters, several of them as a batch.
    fn post(&mut self, client: usize, messages: Vec<(String, String, Patience)>, more: &[String]) -> RequestId {
        let mut fields = self.clients[client].fields();
        let modern = self.clients[client].is_modern();
        let (mut texts, mut posting) = (Vec::new(), Posting { calls: Vec::new(), scope: self.clients[client].scope.clone() });
        let mut connection = Connection::default();
        for (method, params, patience) in messages {
            let (number, method) = match method.split_once(' ') {
                Some((number, method)) => (number.parse().unwrap(), method.to_owned()),
                None => (self.host.number(), method),
            };
            let id = self.chance.pick(&[format!("{number}"), format!("\"{number}\""), format!("{number}.0")]).clone();
            let token = params.contains("progressToken").then(|| format!("\"token-{number}\""));
            let params = if modern { with_envelope(&params) } else { params };
            if modern {
                set(&mut fields, "MCP-Protocol-Version", MODERN);
                set(&mut fields, "Mcp-Method", &method);
                let name = crate::support::text::string_at(&params, &["name"]);
                name.iter().for_each(|name| set(&mut fields, "Mcp-Name", name));
            }
            let detached = params.contains(r#""async":true"#);
            let call = Call { detached, ..host::call(0, &id, token, None) };
            posting.calls.push((number, call, patience.ms()));
            self.clients[client].numbers.insert(id.clone(), number);
            connection.ids.push(id.clone());
            self.said.insert(number, (method.clone(), params.clone()));
            texts.push(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        }
        texts.extend_from_slice(more);
        let body = if texts.len() == 1 { texts.remove(0) } else { format!("[{}]", texts.join(",")) };
        let request = self.send_post(client, fields, body.into_bytes(), connection);
        self.host.watch.served.expect(request, posting);
        request
    }

    /// A notification or a request that no book has.
    fn post_text(&mut self, client: usize, fields: Headers, body: &str) -> RequestId {
        self.send_post(client, fields, body.as_bytes().to_vec(), Connection::default())
    }

    fn send_post(&mut self, client: usize, mut fields: Headers, body: Vec<u8>, connection: Connection) -> RequestId {
        if !fields.iter().any(|(name, _)| name == "Content-Type") {
            set(&mut fields, "Content-Type", "application/json");
            set(&mut fields, "Accept", "application/json, text/event-stream");
        }
        let at = self.host.clock + self.chance.below(200);
        let request = self.head(client, at, "POST", "/mcp", fields, connection);
        let bad = self.is_bad_now();
        let slow = if bad && self.chance.one_in(3) { 20_000 } else { 100 };
        let mut at = at;
        let mut pieces = self.chance.cut(&body, 4);
        let cut = bad && self.chance.one_in(3);
        if cut {
            pieces.truncate(1 + self.chance.index(pieces.len()));
        }
        for bytes in pieces {
            at += self.chance.below(slow);
            self.network.ask(at, Input::RequestBody { request, bytes });
        }
        at += self.chance.below(slow);
        if cut && self.chance.one_in(2) {
            self.network.ask(at, Input::RequestGone { request });
            self.clients[client].cut(request);
        } else {
            // A body that was cut may look complete.
            self.network.ask(at, Input::RequestEnd { request });
        }
        if bad && self.chance.one_in(4) {
            let wait = self.chance.below(20_000);
            self.later(wait, super::world::Event::Lose(client, request));
        }
        request
    }

    fn head(
        &mut self,
        client: usize,
        at: u64,
        method: &str,
        target: &str,
        headers: Headers,
        connection: Connection,
    ) -> RequestId {
        let request = RequestId(self.chance.next() >> 11);
        let (method, target) = (method.to_owned(), target.to_owned());
        self.network.ask(at, Input::Request { request, method, target, headers });
        self.clients[client].connections.insert(request, connection);
        request
    }

    fn stand(&mut self, client: usize) {
        let mut fields = self.clients[client].fields();
        set(&mut fields, "Accept", "text/event-stream");
        let connection = Connection::standing();
        let at = self.host.clock + self.chance.below(200);
        self.head(client, at, "GET", "/mcp", fields, connection);
    }

    /// Loses some connection, of which the gateway hears soon, late, twice, or once somebody goes on with it.
    fn lose(&mut self, client: usize) {
        let open: Vec<RequestId> = self.clients[client].connections.keys().copied().collect();
        if !open.is_empty() {
            let request = *self.chance.pick(&open);
            self.lose_one(client, request);
        }
    }

    pub fn lose_one(&mut self, client: usize, request: RequestId) {
        if !self.clients[client].cut(request) {
            return;
        }
        self.network.cut(request);
        let lag = *self.chance.pick(&[0, 0, 300, 300, 5000, 90_000]);
        self.network.ask(self.host.clock + lag, Input::RequestGone { request });
        if self.chance.one_in(5) {
            self.network.ask(self.host.clock + lag + 50, Input::RequestGone { request });
        }
        if self.chance.one_in(2) {
            self.resume(client);
        }
    }

    /// Goes on with a stream that broke off.
    pub fn resume(&mut self, client: usize) {
        if self.left {
            return;
        }
        let known = &mut self.clients[client];
        let (Some(torn), Some(_)) = (known.torn.pop(), &known.session) else { return };
        let mut fields = known.fields();
        set(&mut fields, "Accept", "text/event-stream");
        set(&mut fields, "Last-Event-ID", &torn.0);
        let at = self.host.clock + self.chance.below(200);
        let request = self.head(client, at, "GET", "/mcp", fields, Connection::default());
        self.clients[client].resumes(request, torn);
    }

    fn cancel_over_http(&mut self, client: usize) {
        let open: Vec<(String, u64)> = self.clients[client].numbers.iter().map(|(id, number)| (id.clone(), *number)).collect();
        let running = |number: &u64| self.host.watch.calls.get(number).is_some_and(|call| call.life == Life::Running);
        let open: Vec<&(String, u64)> = open.iter().filter(|(_, number)| running(number)).collect();
        if !open.is_empty() {
            let number = self.chance.pick(&open).1;
            self.cancel_of(client, number);
        }
    }

    /// Cancels a call in the way of its era.
    pub fn cancel_of(&mut self, client: usize, number: u64) {
        let Some((id, _)) = self.clients[client].numbers.iter().find(|(_, known)| **known == number) else { return };
        let id = id.clone();
        if self.clients[client].is_modern() {
            let open = self.clients[client].connections.iter().find(|(_, connection)| connection.ids.contains(&id));
            if let Some(request) = open.map(|(request, _)| *request) {
                self.lose_one(client, request);
            }
            return;
        }
        let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        let fields = self.clients[client].fields();
        self.post_text(client, fields, &text);
    }

    /// A request with the id of one that may be running.
    fn repeat(&mut self, client: usize) {
        let ids: Vec<String> = self.clients[client].numbers.keys().cloned().collect();
        if ids.is_empty() || self.clients[client].is_modern() {
            return;
        }
        let number = self.host.number();
        let id = self.chance.pick(&ids).clone();
        // Where it is not running any more, it is a call like any other, under a number of its own.
        let call = host::call(0, &id, None, None);
        let posting = Posting { calls: vec![(number, call, Some(0))], scope: self.clients[client].scope.clone() };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{}}}}"#);
        let fields = self.clients[client].fields();
        let request = self.post_text(client, fields, &text);
        self.host.watch.served.expect(request, posting);
    }

    fn end_session(&mut self, client: usize) {
        if self.clients[client].is_modern() {
            return;
        }
        let fields = self.clients[client].fields();
        let at = self.host.clock + self.chance.below(200);
        self.head(client, at, "DELETE", "/mcp", fields, Connection::default());
        self.clients[client].forget_session();
    }

    /// Nothing is left that would go on without its client.
    pub fn end_sessions(&mut self) {
        let sessions = self.host.watch.served.sessions.iter();
        let sessions: Vec<(String, String)> = sessions.map(|(name, session)| (name.clone(), session.principal.clone())).collect();
        for (name, principal) in sessions {
            let token = self.host.config.server.tokens.iter().find(|token| token.principal == principal);
            let mut headers = vec![("Host".to_owned(), "localhost".to_owned()), ("Mcp-Session-Id".to_owned(), name)];
            headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {}", token.token))));
            let (method, target) = ("DELETE".to_owned(), "/mcp".to_owned());
            self.give(Input::Request { request: RequestId(self.sessions), method, target, headers });
        }
    }

    /// A request with something wrong in it; the books know what comes of it.
    fn mistake(&mut self, client: usize) {
        let mut fields = self.clients[client].fields();
        set(&mut fields, "Content-Type", "application/json");
        set(&mut fields, "Accept", "application/json, text/event-stream");
        let long = "x".repeat(70_000);
        let other = self.clients.iter().filter_map(|known| known.session.clone()).next().unwrap_or_default();
        let (name, value) = *self.chance.pick(&[
            ("Host", "evil.test"),
            ("Host", "localhost.evil.test:4545"),
            ("Origin", "http://evil.test"),
            ("Origin", "null"),
            ("Origin", "https://app.test"),
            ("Origin", "http://localhost:3000"),
            ("Authorization", "Bearer wrong-token-0000"),
            ("Authorization", "Basic alpha-token-ada"),
            ("Mcp-Session-Id", "no-such-session"),
            ("Mcp-Session-Id", other.as_str()),
            ("MCP-Protocol-Version", "1999-01-01"),
            ("Content-Type", "text/plain"),
            ("Accept", "text/html"),
            ("Content-Length", "99999999"),
            ("X-Flood", long.as_str()),
        ]);
        if name == "Host" && value.starts_with("localhost.") {
            return;
        }
        set(&mut fields, name, value);
        let (method, target) = *self.chance.pick(&[
            ("POST", "/mcp"),
            ("POST", "/mcp"),
            ("POST", "/mcp/"),
            ("POST", "/mcp?x=1"),
            ("GET", "/mcp"),
            ("DELETE", "/mcp"),
            ("PUT", "/mcp"),
            ("OPTIONS", "/mcp"),
            ("GET", "/healthz"),
            ("PUT", "/healthz"),
            ("GET", "/nothing"),
        ]);
        if method == "DELETE" && name == "Mcp-Session-Id" || method == "GET" && target == "/mcp" {
            set(&mut fields, "Last-Event-ID", "1-999999");
        }
        if method == "DELETE" {
            fields.retain(|(name, _)| !name.eq_ignore_ascii_case("mcp-session-id"));
        }
        if method != "POST" {
            let at = self.host.clock + self.chance.below(200);
            self.head(client, at, method, target, fields, Connection::default());
            return;
        }
        let large = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(3000));
        let body = *self.chance.pick(&[
            "",
            "{",
            "7",
            "{}",
            "[]",
            r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
            r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            large.as_str(),
        ]);
        if value == other && (body == large || body.contains("result")) {
            return;
        }
        self.post_text(client, fields, body);
    }

    /// Hands what the gateway said to the wire.
    pub fn deliver(&mut self) {
        while let Some(output) = self.host.responses.pop_front() {
            let now = self.host.clock;
            let wait = self.chance.below(150);
            match output {
                Output::ResponseHead { request, status, headers } => {
                    self.network.tell(now, wait, request, Told::Head(status, headers));
                }
                Output::ResponseBody { request, text } => {
                    for piece in self.chance.cut(text.as_bytes(), 2) {
                        let wait = self.chance.below(150);
                        self.network.tell(now, wait, request, Told::Bytes(piece));
                    }
                }
                Output::ResponseEnd { request } => self.network.tell(now, wait, request, Told::End),
                Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => {}
                Output::Save(_)
                | Output::Work { .. }
                | Output::WorkAbort { .. }
                | Output::Link { .. }
                | Output::Tokens { .. }
                | Output::Lookup(_) => {}
            }
        }
    }

    pub fn read(&mut self, request: RequestId, told: Told) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.connections.contains_key(&request)) {
            client.told(request, told);
        }
    }

    /// Every connection breaks at once.
    pub fn disconnect_all(&mut self) {
        for client in 0..self.clients.len() {
            for request in self.clients[client].connections.keys().copied().collect::<Vec<_>>() {
                self.clients[client].cut(request);
                self.network.cut(request);
            }
        }
    }

    /// Each call of a client was answered once, as far as its answer could be read.
    pub fn check_clients(&self) {
        for client in &self.clients {
            for (id, number) in &client.numbers {
                let Some(call) = self.host.watch.calls.get(number) else { continue };
                let count = client.answers.get(number).copied().unwrap_or(0);
                assert!(count <= 1, "call {number} was answered {count} times");
                let owed = call.life == Life::Answered && !client.lost.contains(number);
                assert!(!owed || count == 1, "the answer of call {number} ({id}) did not arrive");
            }
        }
    }
}

fn with_envelope(params: &str) -> String {
    match params.split_once(r#""_meta":{"#) {
        Some((start, end)) => format!(r#"{start}"_meta":{{{META},{end}"#),
        None if params == "{}" => format!(r#"{{"_meta":{{{META}}}}}"#),
        None => format!(r#"{{"_meta":{{{META}}},{}"#, &params[1..]),
    }
}
