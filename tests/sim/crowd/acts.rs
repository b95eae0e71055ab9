//! What a crowd does.

use super::bounds::{PEERS, PRINCIPALS, SERVERS};
use super::{Begun, Crowd, ExchangeId, Greed, Input, PeerId, Request, RequestId, Value, json};
use narrows::io::LinkEvent;

impl Crowd {
    pub(super) fn begin(&mut self) {
        for peer in 0..PEERS {
            let scope = format!("scope-{peer}");
            self.give(Input::Open { peer: PeerId(peer), scope });
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
            self.ask(peer, "initialize", &params);
        }
        for owner in PRINCIPALS {
            self.shake(owner);
        }
        for number in 0..3 {
            for peer in 0..PEERS {
                let url = format!("http://a{number}.test/");
                let arguments = json!({"alias": format!("a{number}"), "agent_url": url});
                self.ask(peer, "tools/call", &json!({"name": "connect_agent", "arguments": arguments}));
            }
        }
        self.serve_links();
    }

    /// One thing happens, and most of the time one that the crowd is greedy for.
    pub(super) fn act(&mut self) {
        let what = if self.chance.one_in(3) { *self.chance.pick(&super::GREEDS) } else { self.greed };
        match what {
            Greed::Replies | Greed::Tasks if self.chance.one_in(2) => self.call_in_session(),
            Greed::Calls | Greed::Replies | Greed::Tasks | Greed::Inbox => self.send(),
            Greed::Cards => self.connect(),
            Greed::Sessions => self.call_in_session(),
            Greed::Bodies => self.post_half(),
            Greed::Served => self.send_task(),
            Greed::Hooks => self.hook(),
            Greed::Tools => self.tools(),
            Greed::Directory => self.register(),
        }
        let answers = if self.greed == Greed::Tasks || self.greed == Greed::Replies { 8 } else { 4 };
        for _ in 0..answers {
            self.answer();
        }
        self.serve_links();
        match self.chance.below(40) {
            0 => self.cancel(),
            1 => self.leave(),
            2..=5 => {
                self.clock += self.chance.below(3000);
                self.give(Input::Tick);
            }
            _ => {}
        }
    }

    /// A size that is below a limit for the most part, and sometimes far over it.
    fn size(&mut self, limit: u64) -> usize {
        let size =
            if self.chance.one_in(5) { self.chance.between(limit, 8 * limit) } else { self.chance.between(limit / 2, limit) };
        usize::try_from(size).unwrap()
    }

    fn words(&mut self, limit: u64) -> String {
        let size = self.size(limit);
        "w".repeat(size.saturating_sub(300))
    }

    /// What fits into an event.
    fn event(&self) -> String {
        "e".repeat(usize::try_from(self.config.limits.event_bytes / 2).unwrap())
    }

    fn ask(&mut self, peer: u64, method: &str, params: &Value) {
        let id = self.number();
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        self.open.insert((PeerId(peer), id));
        self.give(Input::Message { peer: PeerId(peer), text });
    }

    fn tool(&mut self, name: &str, arguments: &Value) {
        let peer = self.chance.below(PEERS);
        self.ask(peer, "tools/call", &json!({"name": name, "arguments": arguments}));
    }

    /// The number of some agent.
    fn agent(&mut self) -> u64 {
        self.chance.below(if self.greed == Greed::Cards { 400 } else { 3 })
    }

    fn connect(&mut self) {
        let number = self.agent();
        let url = format!("http://a{number}.test/");
        if self.chance.one_in(2) {
            return self.tool("get_agent_card", &json!({"agent": url}));
        }
        self.tool("connect_agent", &json!({"alias": format!("a{number}"), "agent_url": url}));
    }

    fn send(&mut self) {
        let number = self.agent();
        let agent = if self.chance.one_in(3) { format!("http://a{number}.test/") } else { format!("a{number}") };
        let limit = self.config.limits.message_bytes;
        // Who says little is always let in.
        let size = if self.greed == Greed::Calls && self.chance.one_in(2) { limit } else { limit / 4 };
        let detached = if self.greed == Greed::Inbox { !self.chance.one_in(4) } else { self.chance.one_in(4) };
        let mut arguments = json!({"agent": agent, "message": self.words(size)});
        if detached {
            arguments["async"] = Value::from(true);
        }
        self.tool("send_message", &arguments);
    }

    /// An agent answers, or goes on with an answer.
    fn answer(&mut self) {
        if !self.replies.is_empty() && (self.fetches.is_empty() || self.chance.one_in(2)) {
            return self.go_on();
        }
        let Some((exchange, request)) = self.fetches.pop_front() else { return };
        if request.url.contains("hook.test") {
            return;
        }
        let Some(body) = request.body.as_deref() else { return self.card(exchange, &request) };
        let asked: Value = serde_json::from_str(body).expect("JSON");
        // Some answer later, or never.
        if self.chance.one_in(8) {
            return self.fetches.push_back((exchange, request));
        }
        let ends = match self.greed {
            Greed::Calls => self.chance.one_in(12),
            Greed::Replies | Greed::Tasks => self.chance.one_in(6),
            Greed::Sessions | Greed::Inbox => true,
            _ => self.chance.one_in(2),
        };
        let streams = asked["method"] == "SendStreamingMessage";
        let kind = if streams { "text/event-stream" } else { "application/json" };
        if self.greed == Greed::Calls && !ends {
            return;
        }
        self.head(exchange, kind);
        if !ends {
            return self.replies.push((exchange, streams, asked["id"].clone()));
        }
        let words = self.words(self.config.limits.reply_bytes.min(self.config.limits.event_bytes * 4));
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": words}]});
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"message": message}}).to_string();
        self.body(exchange, &if streams { format!("data: {answer}\n\n") } else { answer });
        self.end_of(exchange);
    }

    /// A card; those with an odd number stream.
    fn card(&mut self, exchange: ExchangeId, request: &Request) {
        if !request.url.contains("agent-card") {
            self.head(exchange, "application/json");
            return self.end_of(exchange);
        }
        let origin = request.url.split("/.well-known").next().unwrap_or_default();
        let streams = self.greed == Greed::Tasks || self.greed != Greed::Replies && self.chance.one_in(2);
        let words = self.words(self.config.limits.card_bytes);
        let card = json!({"name": "agent", "description": words, "version": "1", "skills": [], "capabilities": {"streaming": streams},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "supportedInterfaces": [{"url": format!("{origin}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
        self.head(exchange, "application/json");
        self.body(exchange, &card.to_string());
        self.end_of(exchange);
    }

    /// More of a reply that has not ended.
    fn go_on(&mut self) {
        let (exchange, streams, id) = self.chance.pick(&self.replies).clone();
        if self.chance.one_in(30) {
            self.replies.retain(|(known, ..)| *known != exchange);
            return self.end_of(exchange);
        }
        if !streams {
            return self.body(exchange, &" ".repeat(30_000));
        }
        let (name, words) = (format!("a{}", self.chance.below(3)), self.event());
        let update = json!({"taskId": "t", "contextId": "c", "append": true, "artifact": {"artifactId": name, "parts": [{"text": words}]}});
        let event = json!({"jsonrpc": "2.0", "id": id, "result": {"artifactUpdate": update}});
        self.body(exchange, &format!("data: {event}\n\n"));
    }

    fn is_awaited(&self, exchange: ExchangeId) -> bool {
        !self.gone.contains(&exchange)
    }

    fn head(&mut self, exchange: ExchangeId, kind: &str) {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        self.give(Input::Head { exchange, status: 200, headers });
    }

    fn body(&mut self, exchange: ExchangeId, text: &str) {
        if self.is_awaited(exchange) {
            self.give(Input::Body { exchange, bytes: text.as_bytes().to_vec() });
        }
    }

    fn end_of(&mut self, exchange: ExchangeId) {
        if self.is_awaited(exchange) {
            self.give(Input::End { exchange });
        }
    }

    fn cancel(&mut self) {
        let open: Vec<_> = self.open.iter().copied().collect();
        if open.is_empty() {
            return;
        }
        let (peer, id) = *self.chance.pick(&open);
        self.open.remove(&(peer, id));
        let text = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string();
        self.give(Input::Message { peer, text });
    }

    fn leave(&mut self) {
        let open: Vec<_> = self.requests.keys().copied().collect();
        if !open.is_empty() {
            let request = *self.chance.pick(&open);
            self.requests.remove(&request);
            self.give(Input::RequestGone { request });
        }
    }

    /// A request over HTTP; its body is sent, and ended or not.
    fn request(
        &mut self,
        owner: &'static str,
        (method, target): (&str, &str),
        more: &[(&str, &str)],
        body: &str,
        ends: bool,
    ) -> RequestId {
        let request = RequestId(self.number());
        let mut headers = vec![
            ("Host".to_owned(), "localhost".to_owned()),
            ("Authorization".to_owned(), format!("Bearer token-of-{owner}")),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("A2A-Version".to_owned(), "1.0".to_owned()),
        ];
        headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.requests.insert(request, Begun { owner, shakes: body.contains("\"initialize\"") });
        self.give(Input::Request { request, method: method.to_owned(), target: target.to_owned(), headers });
        if self.requests.contains_key(&request) {
            self.give(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
        }
        if ends && self.requests.contains_key(&request) {
            self.give(Input::RequestEnd { request });
        }
        request
    }

    fn shake(&mut self, owner: &'static str) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        self.request(owner, ("POST", "/mcp"), &[], &body, true);
    }

    /// A call whose answer is an event that nobody reads: its caller is gone before it comes.
    fn call_in_session(&mut self) {
        let owner = *self.chance.pick(&PRINCIPALS);
        let own: Vec<String> = self.sessions.iter().filter(|(of, _)| *of == owner).map(|(_, name)| name.clone()).collect();
        if own.is_empty() || self.chance.one_in(25) {
            return self.shake(owner);
        }
        let session = self.chance.pick(&own).clone();
        let number = self.agent();
        let limit = self.config.limits.request_bytes.min(self.config.limits.message_bytes);
        let sends = matches!(self.greed, Greed::Sessions | Greed::Replies | Greed::Tasks);
        let what = if sends { self.chance.between(1, 6) } else { self.chance.below(3) };
        let (name, arguments) = match what {
            0 => ("connect_agent", json!({"alias": format!("a{number}"), "agent_url": format!("http://a{number}.test/")})),
            1 => ("get_agent_card", json!({"agent": format!("http://a{number}.test/")})),
            _ => ("send_message", json!({"agent": format!("http://a{number}.test/"), "message": self.words(limit / 3)})),
        };
        let (id, params) = (self.number(), json!({"name": name, "arguments": arguments}));
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
        let request = self.request(owner, ("POST", "/mcp"), &[("Mcp-Session-Id", &session)], &body, true);
        if self.requests.remove(&request).is_some() {
            self.give(Input::RequestGone { request });
        }
    }

    fn post_half(&mut self) {
        let (owner, limit) = (*self.chance.pick(&PRINCIPALS), self.config.limits.request_bytes);
        let body = self.words(limit);
        let request = self.request(owner, ("POST", "/a2a"), &[], &body, false);
        if self.requests.contains_key(&request) && self.chance.one_in(4) {
            let body = self.words(limit);
            self.give(Input::RequestBody { request, bytes: body.into_bytes() });
        }
    }

    /// A task is served, or somebody says more to one.
    fn send_task(&mut self) {
        let owner = *self.chance.pick(&PRINCIPALS);
        let skill = if self.greed == Greed::Hooks { "function" } else { *self.chance.pick(&["echo", "inbox"]) };
        let limit = self.config.limits.request_bytes;
        let size = if self.greed == Greed::Served { limit } else { limit / 4 };
        let words = self.words(size);
        let message = json!({"messageId": format!("m-{}", self.number()), "role": "ROLE_USER", "parts": [{"text": words}]});
        let params = json!({"message": message, "metadata": {"skill": skill}, "configuration": {"returnImmediately": true}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).to_string();
        self.request(owner, ("POST", "/a2a"), &[], &body, true);
    }

    /// Somebody wants to hear of a task, or a function changes one. Nobody takes what is delivered.
    fn hook(&mut self) {
        if self.works.is_empty() || self.tasks.is_empty() || self.chance.one_in(8) {
            return self.send_task();
        }
        if self.chance.one_in(3) {
            let (owner, task) = self.chance.pick(&self.tasks).clone();
            let hook = format!("hook-{}", self.number());
            let params = json!({"taskId": task, "id": hook, "url": format!("http://hook.test/{hook}")});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": params});
            self.request(owner, ("POST", "/a2a"), &[], &body.to_string(), true);
            return;
        }
        let work = *self.chance.pick(&self.works);
        let words = "h".repeat(usize::try_from(self.config.limits.artifact_bytes / 2).unwrap());
        let event = json!({"artifactUpdate": {"artifact": {"artifactId": "a", "parts": [{"text": words}]}, "append": false}});
        self.give(Input::Update { work, text: event.to_string() });
    }

    fn register(&mut self) {
        self.cards += 1;
        let (owner, name) = (*self.chance.pick(&PRINCIPALS), format!("card-{}", self.cards));
        let words = self.words(self.config.limits.card_bytes);
        let card = json!({"name": name, "description": words, "url": "https://a.test/", "capabilities": {}, "skills": [{"id": "s", "tags": ["t"]}]});
        self.request(owner, ("PUT", &format!("/agents/{name}")), &[], &card.to_string(), true);
    }

    /// A server's tools become others, or one is called.
    fn tools(&mut self) {
        let server = *self.chance.pick(&SERVERS);
        let Some(link) = self.links.get(server).copied().filter(|link| self.opened.contains(link)) else { return };
        if self.chance.one_in(2) {
            let limit = self.config.limits.message_bytes;
            let arguments = json!({"x": self.words(limit / 2)});
            return self.tool(&format!("mcp_{server}_tool0"), &arguments);
        }
        self.clock += 1000;
        let event = LinkEvent::Line(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned());
        self.give(Input::Link { link, event });
    }

    /// Servers start, and say what they have. Calls they leave alone for long.
    fn serve_links(&mut self) {
        for link in self.links.values().copied().collect::<Vec<_>>() {
            if self.opened.insert(link) {
                self.give(Input::Link { link, event: LinkEvent::Opened });
            }
        }
        let mut left = Vec::new();
        while let Some((link, text)) = self.written.pop_front() {
            let asked: Value = serde_json::from_str(&text).expect("JSON");
            let Some(method) = asked["method"].as_str().filter(|_| asked.get("id").is_some()) else { continue };
            let outcome = match method {
                "server/discover" => ("error", json!({"code": -32601, "message": "no"})),
                "initialize" => (
                    "result",
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}}, "serverInfo": {"name": "s", "version": "1"}}),
                ),
                "tools/list" => ("result", json!({"tools": self.list()})),
                "ping" => ("result", json!({})),
                _ if self.chance.one_in(6) => ("result", json!({"content": [{"type": "text", "text": "done"}]})),
                _ => {
                    left.push((link, text));
                    continue;
                }
            };
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], outcome.0: outcome.1}).to_string();
            self.give(Input::Link { link, event: LinkEvent::Line(answer) });
        }
        self.written.extend(left);
    }

    fn list(&mut self) -> Vec<Value> {
        let (count, limit) = (self.chance.between(1, 70), self.config.limits.tool_list_bytes);
        let each = self.size(limit / count);
        let words = "t".repeat(each.saturating_sub(200));
        (0..count)
            .map(|number| json!({"name": format!("tool{number}"), "description": words, "inputSchema": {"type": "object"}}))
            .collect()
    }
}
