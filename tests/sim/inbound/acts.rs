//! What callers do.

use super::{Ask, Delivered, HOOK, HOSTS, Headers, Input, META, RequestId, Seen, Value, What, World, json, text, token};

const CALLERS: [&str; 2] = ["ada", "bob"];
const SKILLS: [&str; 7] = ["echo", "inbox", "far", "far", "back", "said", "round"];

impl World {
    pub(super) fn act(&mut self) {
        let (node, owner) = (self.chance.index(2), *self.chance.pick(&CALLERS));
        if self.nodes[node].is_down {
            return;
        }
        match self.chance.below(20) {
            0..=6 => self.send(node, owner, None),
            7 | 8 => {
                if let Some(id) = self.some_task(node, owner) {
                    self.send(node, owner, Some(id));
                }
            }
            9..=11 => self.about(node, owner, What::Subscribe),
            12 => self.about(node, owner, What::Get),
            13 | 14 => self.about(node, owner, What::Cancel),
            15 => self.leave(node),
            16 => {
                if let Some(id) = self.some_task(node, CALLERS[usize::from(owner == "ada")]) {
                    self.ask(node, owner, What::Foreign(id.clone()), "GetTask", &json!({ "id": id }));
                }
            }
            17 => self.ask(node, owner, What::List, "ListTasks", &json!({})),
            18 => self.register(node, owner),
            _ => self.respond(node),
        }
    }

    fn some_task(&mut self, node: usize, owner: &str) -> Option<String> {
        let own: Vec<&String> = self.books[node].tasks.iter().filter(|(_, kept)| kept.owner == owner).map(|(id, _)| id).collect();
        if own.is_empty() { None } else { Some((*self.chance.pick(&own)).clone()) }
    }

    fn about(&mut self, node: usize, owner: &'static str, what: fn(String) -> What) {
        let Some(id) = self.some_task(node, owner) else { return };
        self.ask_of(node, owner, what(id));
    }

    pub(super) fn ask_of(&mut self, node: usize, owner: &'static str, what: What) {
        let (method, id) = match &what {
            What::Get(id) => ("GetTask", id),
            What::Cancel(id) => ("CancelTask", id),
            What::Subscribe(id) => {
                if self.chance.one_in(4) {
                    let target = format!("/api/a2a/tasks/{id}/events");
                    return self.request(node, Ask::new(owner, What::Events, false), "GET", &target, Headers::new(), "");
                }
                ("SubscribeToTask", id)
            }
            other => panic!("{other:?} is not about a task"),
        };
        let params = json!({ "id": id });
        self.ask(node, owner, what, method, &params);
    }

    fn send(&mut self, node: usize, owner: &'static str, task: Option<String>) {
        self.words += 1;
        let mut message = json!({"messageId": format!("m-{}", self.words), "role": "ROLE_USER", "parts": [{"text": format!("asked-{} ", self.words)}]});
        if let Some(id) = task {
            message["taskId"] = Value::from(id);
        }
        let skill = *self.chance.pick(&SKILLS);
        let immediate = self.chance.one_in(3);
        let params = json!({"message": message, "metadata": {"skill": skill}, "configuration": {"returnImmediately": immediate}});
        if self.chance.one_in(2) {
            self.ask(node, owner, What::Stream, "SendStreamingMessage", &params);
        } else {
            self.ask(node, owner, What::Send { immediate }, "SendMessage", &params);
        }
    }

    /// A caller leaves in the middle.
    fn leave(&mut self, node: usize) {
        let open: Vec<u64> = self.asks.keys().filter(|(of, _)| *of == node).map(|(_, request)| *request).collect();
        if open.is_empty() {
            return;
        }
        let request = *self.chance.pick(&open);
        self.asks.remove(&(node, request));
        self.count("left");
        self.give(node, Input::RequestGone { request: RequestId(request) });
    }

    /// A caller has changes of a task delivered.
    fn register(&mut self, node: usize, owner: &'static str) {
        let Some(id) = self.some_task(node, owner) else { return };
        let hook = format!("hook-{}", self.hooks.len());
        let params = json!({"taskId": id, "id": hook, "url": format!("{HOOK}{hook}"), "authentication": {"scheme": "Bearer", "credentials": format!("hook-secret-{hook}")}});
        self.hooks.insert(hook.clone(), Delivered { node, task: id.clone(), states: Vec::new() });
        self.ask(node, owner, What::Push(id, hook), "CreateTaskPushNotificationConfig", &params);
    }

    /// Somebody answers a task of the inbox.
    fn respond(&mut self, node: usize) {
        let open = self.books[node].tasks.iter().filter(|(_, kept)| kept.duty == "inbox" && !kept.seen.is_terminal());
        let open: Vec<String> = open.map(|(id, _)| id.clone()).collect();
        if open.is_empty() {
            return;
        }
        let id = self.chance.pick(&open).clone();
        let state = *self.chance.pick(&["working", "completed", "failed", "input-required", "auth-required"]);
        self.respond_with(node, &id, state);
    }

    pub(super) fn respond_with(&mut self, node: usize, id: &str, state: &str) {
        self.words += 1;
        let mut arguments = json!({"task_id": id, "state": state, "message": format!("word-{} ", self.words)});
        if self.chance.one_in(2) {
            arguments["artifact"] = json!({"name": "menu", "parts": [{"text": format!("part-{} ", self.words)}]});
        }
        let params = format!(r#"{{"name":"respond_task","arguments":{arguments},"_meta":{{{META}}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let fields = [
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "respond_task"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        self.count("responded");
        self.request(node, Ask::new("desk", What::Respond, true), "POST", "/mcp", fields, &body);
    }

    /// Asks over JSON-RPC, or over HTTP+JSON where that is as easy.
    fn ask(&mut self, node: usize, owner: &'static str, what: What, method: &str, params: &Value) {
        let id = text(params, "/id");
        let place = match method {
            "SendMessage" => Some(("POST", "message:send".to_owned())),
            "SendStreamingMessage" => Some(("POST", "message:stream".to_owned())),
            "GetTask" => Some(("GET", format!("tasks/{id}"))),
            "CancelTask" => Some(("POST", format!("tasks/{id}:cancel"))),
            "SubscribeToTask" => Some(("POST", format!("tasks/{id}:subscribe"))),
            _ => None,
        };
        if let Some((verb, below)) = place.filter(|_| self.chance.one_in(3)) {
            let body = if method.starts_with("Send") { params.to_string() } else { String::new() };
            return self.request(node, Ask::new(owner, what, false), verb, &format!("/a2a/rest/{below}"), Headers::new(), &body);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        self.request(node, Ask::new(owner, what, true), "POST", "/a2a", Headers::new(), &body);
    }

    fn request(&mut self, node: usize, ask: Ask, method: &str, target: &str, mut headers: Headers, body: &str) {
        let number = self.nodes[node].request();
        let request = RequestId(number);
        headers.push(("Host".to_owned(), HOSTS[node].to_owned()));
        headers.push(("Authorization".to_owned(), format!("Bearer {}", token(node, ask.owner))));
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        headers.push(("A2A-Version".to_owned(), "1.0".to_owned()));
        self.asks.insert((node, number), ask);
        let (method, target) = (method.to_owned(), target.to_owned());
        let mut inputs = vec![Input::Request { request, method: method.clone(), target, headers }];
        if method == "POST" {
            inputs.push(Input::RequestBody { request, bytes: body.as_bytes().to_vec() });
            inputs.push(Input::RequestEnd { request });
        }
        let life = self.nodes[node].life;
        for input in inputs {
            if self.nodes[node].life == life && self.asks.contains_key(&(node, number)) {
                self.give(node, input);
            }
        }
    }

    /// What a complete answer leads to.
    pub(super) fn learn(&mut self, node: usize, ask: &Ask) {
        let outcome = match (&ask.view, ask.is_stream) {
            (Some(view), _) => view.seen.state.clone(),
            (None, true) => "message".to_owned(),
            (None, false) => match ask.answer() {
                Ok(answer) if answer.get("task").is_some() => Seen::of(&answer["task"]).state,
                Ok(answer) if answer.get("message").is_some() => "message".to_owned(),
                Ok(_) => "done".to_owned(),
                Err(code) => code.to_string(),
            },
        };
        let name = format!("{:?}", ask.what);
        let name = name.split(['(', ' ']).next().unwrap_or_default().to_owned();
        if let (What::Push(_, hook), Err(_)) = (&ask.what, ask.answer()) {
            self.hooks.remove(hook);
        }
        let _ = node;
        self.count(&format!("{name} {outcome}"));
    }
}
