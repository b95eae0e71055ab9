//! What callers of the gateway's own agent ask for, done: each sees its own tasks and no others.

use alloc::format;
use alloc::string::{String, ToString};

use super::Gateway;
use super::agent::rpc;
use super::watching::event_of;
use crate::a2a::asked::{self, ListQuery, Place, PushConfig, Verb, Wish};
use crate::a2a::problem::{LIMIT_REACHED, TASK_NOT_CANCELABLE, TASK_NOT_FOUND, UNSUPPORTED_OPERATION};
use crate::a2a::{Dialect, Event, Message, Problem, SendRequest, State, Status, View};
use crate::config::Responder;
use crate::incoming::{Form, NOBODY, scope_of};
use crate::io::{Output, RequestId};
use crate::json::{self, Array, Json, Object};
use crate::mcp::outcome::Code;
use crate::served::life::Who;
use crate::served::{Duty, ServedTask, TaskNumber, begun_by};

/// How many gateways a message may pass.
pub(super) const HOPS: u64 = 8;

/// What a request leads to: an answer with its HTTP status, or something that is answered later.
type Granted = Result<Option<(u16, Option<Json>)>, Problem>;

impl Gateway {
    /// Does what is asked for.
    pub(super) fn grant(&mut self, request: RequestId, verb: Verb, params: &Json, place: Option<&Place>, form: &Form) {
        let granted = asked::wish(verb, form.dialect, params.raw(), place);
        match granted.and_then(|wish| self.granted(request, verb, wish, form)) {
            Ok(Some((status, result))) => self.respond_result(request, form, status, result.as_ref()),
            Ok(None) => {}
            // Clients of 0.3 want a stream in any case.
            Err(problem) if verb == Verb::Subscribe && form.dialect == Dialect::JsonRpc03 && form.id.is_some() => {
                self.respond_events(request);
                let text = event_of(rpc(form, "error", &problem.write(form.dialect)).as_str());
                self.ground.outputs.push_back(Output::ResponseBody { request, text });
                self.ground.outputs.push_back(Output::ResponseEnd { request });
                self.incoming.remove(request);
            }
            Err(problem) => self.respond_problem(request, form, &problem),
        }
    }

    fn granted(&mut self, request: RequestId, verb: Verb, wish: Wish, form: &Form) -> Granted {
        let owner = self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default();
        match wish {
            Wish::Send { request: send, push } => self.take_message(request, &owner, verb, *send, push, form),
            Wish::List(query) => self.list(&owner, &query, form.dialect).map(|page| Some((200, Some(page)))),
            Wish::Task { task_id, turns } => {
                let number = self.served.find(&owner, &task_id)?;
                match verb {
                    Verb::Cancel => self.cancel(number)?,
                    Verb::Subscribe => return self.subscribe(request, number, form),
                    Verb::Send
                    | Verb::Stream
                    | Verb::Get
                    | Verb::List
                    | Verb::SetPush
                    | Verb::GetPush
                    | Verb::ListPush
                    | Verb::DeletePush
                    | Verb::Card => {}
                }
                let view = View { turns: turns.unwrap_or(u64::MAX), ..View::WHOLE };
                Ok(Some((200, self.shown(number, form.dialect, view))))
            }
            Wish::Push { task_id, id, config } => self.push_wish(&owner, verb, &task_id, id.as_deref(), config, form),
            Wish::Card => self.extended_card(&owner, form).map(|card| Some((200, Some(card)))),
        }
    }

    /// A task as its caller sees it.
    pub(super) fn shown(&self, number: TaskNumber, dialect: Dialect, view: View) -> Option<Json> {
        self.served.get(number).map(|task| task.task().write(dialect, view))
    }

    pub(crate) fn clean(&self, owner: &str, json: Json) -> Json {
        match self.scopes.get(scope_of(owner, None).as_str()) {
            Some(scope) => scope.secrets.redact_json(json),
            None => json,
        }
    }

    fn take_message(
        &mut self,
        request: RequestId,
        owner: &str,
        verb: Verb,
        send: SendRequest,
        push: Option<PushConfig>,
        form: &Form,
    ) -> Granted {
        self.open_owner(owner);
        let (at, hops) = (self.ground.wall(), hops(&send));
        if let Some(push) = &push {
            self.check_push(push)?;
        }
        let passed_on = format!("this message was passed on by more than {HOPS} gateways");
        if hops > HOPS && send.message.task_id.is_some() {
            return Err(Problem::new(UNSUPPORTED_OPERATION, passed_on));
        }
        let number = match &send.message.task_id {
            Some(id) => {
                let number = self.served.find(owner, id)?;
                if let Some(push) = &push {
                    self.check_push_room(number, &push.id)?;
                }
                self.served.check_message(number, &send.message)?;
                self.may_pass_on(number).map_err(|error| {
                    let code = if error.code == Code::RateLimited { LIMIT_REACHED } else { -32603 };
                    Problem::new(code, error.into_message())
                })?;
                self.served.message(number, &send.message, at, &mut self.ground.random);
                self.tell_watchers();
                number
            }
            None => self.new_task(owner, &send, None)?,
        };
        if let Some(push) = push {
            self.add_push(number, push, form.dialect)?;
        }
        let turns = send.history_length.unwrap_or(u64::MAX);
        // Nobody waits for what a notification leads to.
        let at_once = send.return_immediately && verb == Verb::Send || form.id.is_none();
        if at_once {
            self.served.begin(number, &mut self.ground.random);
        } else {
            self.watch(request, number, form, verb == Verb::Stream, turns);
        }
        if hops > HOPS {
            self.served.end(number, State::Rejected, &passed_on, at, &mut self.ground.random);
        } else {
            self.set_to_work(number, send, hops);
        }
        self.tell_watchers();
        if !at_once {
            return Ok(None);
        }
        let view = View { turns, ..View::WHOLE };
        Ok(self.shown(number, form.dialect, view).map(|task| (200, Some(wrapped(task, form.dialect)))))
    }

    /// The scope of an owner, with the configured agents.
    pub(super) fn open_owner(&mut self, owner: &str) {
        let scope = scope_of(owner, None);
        if !self.scopes.has(scope.as_str()) {
            self.scopes.get_or_default(scope.as_str());
            self.connect_external_agents(NOBODY, &scope);
        }
    }

    /// A task for a message, under the id that its caller gives.
    pub(super) fn new_task(&mut self, owner: &str, send: &SendRequest, id: Option<String>) -> Result<TaskNumber, Problem> {
        let skill = skill(send);
        let duty = match self.ground.config.a2a.responder(skill.as_deref()) {
            Responder::Echo => Duty::Echo,
            Responder::Inbox => Duty::Inbox,
            Responder::Function => Duty::Function { works: [].into() },
            Responder::Tool(name) => Duty::Tool { tool: name.clone().or(skill).unwrap_or_default(), call: None },
            Responder::Relay(agent) => Duty::relay(agent.clone()),
        };
        let at = self.ground.wall();
        let task = begun_by(&send.message, id, &mut self.ground.random);
        self.served.admit(ServedTask::new(owner.to_string(), task, duty, self.ground.config.limits.artifact_bytes, at))
    }

    fn list(&mut self, owner: &str, query: &ListQuery, dialect: Dialect) -> Result<Json, Problem> {
        let (page, next, total) = self.served.page(query, &|task| task.owner == owner)?;
        let view = View { artifacts: query.artifacts, turns: query.turns.unwrap_or(u64::MAX) };
        let (mut tasks, mut out) = (Array::new(), Object::new());
        for number in page {
            tasks.json(&self.shown(number, dialect, view).unwrap_or_else(Json::null));
        }
        out.nested("tasks", tasks).string("nextPageToken", &next.unwrap_or_default());
        out.integer("pageSize", query.page_size).integer("totalSize", total);
        Ok(out.finish())
    }

    /// Ends a task at its caller's will. The first end counts: a second cancellation changes nothing, one that comes after
    /// another end fails.
    pub(super) fn cancel(&mut self, number: TaskNumber) -> Result<(), Problem> {
        let at = self.ground.wall();
        if self.served.get(number).is_some_and(|task| *task.state() == State::Canceled) {
            return Ok(());
        }
        if self.served.change(number, Who::Cancel, Status::of(State::Canceled), at) {
            self.tell_watchers();
            return Ok(());
        }
        let id = self.served.get(number).map(|task| task.task().id.clone()).unwrap_or_default();
        Err(Problem::new(TASK_NOT_CANCELABLE, format!("task {id} has ended")))
    }

    fn subscribe(&mut self, request: RequestId, number: TaskNumber, form: &Form) -> Granted {
        let task = self.served.get(number).ok_or_else(|| Problem::no_task(""))?;
        // Clients of 0.3 want a stream in any case.
        if task.state().is_terminal() && form.dialect.is_10() {
            let message = format!("task {} is in a terminal state", task.task().id);
            return Err(Problem::new(UNSUPPORTED_OPERATION, message));
        }
        if form.id.is_none() {
            return Ok(Some((200, None)));
        }
        self.watch(request, number, form, true, u64::MAX);
        Ok(None)
    }

    fn push_wish(
        &mut self,
        owner: &str,
        verb: Verb,
        task_id: &str,
        id: Option<&str>,
        config: Option<PushConfig>,
        form: &Form,
    ) -> Granted {
        let (number, dialect) = (self.served.find(owner, task_id)?, form.dialect);
        if let Some(config) = config {
            self.check_push(&config)?;
            let id = self.add_push(number, config, dialect)?;
            let push = self.served.get(number).and_then(|task| task.push(Some(&id)));
            return Ok(Some((200, push.map(|push| push.config.write(task_id, dialect)))));
        }
        let Some(task) = self.served.get(number) else { return Err(Problem::no_task(task_id)) };
        match verb {
            Verb::ListPush => {
                let mut list = Array::new();
                for push in &task.pushes {
                    list.json(&push.config.write(task_id, dialect));
                }
                let mut out = Object::new();
                out.nested("configs", list);
                let list = out.finish();
                let bare = list.members().and_then(|members| members.get("configs")).map(Json::from_raw);
                Ok(Some((200, if dialect == Dialect::JsonRpc03 { bare } else { Some(list) })))
            }
            Verb::DeletePush => {
                self.remove_push(number, id.unwrap_or_default());
                Ok(Some((204, None)))
            }
            Verb::Send
            | Verb::Stream
            | Verb::Get
            | Verb::List
            | Verb::Cancel
            | Verb::Subscribe
            | Verb::SetPush
            | Verb::GetPush
            | Verb::Card => {
                let none = || Problem::new(TASK_NOT_FOUND, format!("task {task_id} has no such push configuration"));
                let push = task.push(id).ok_or_else(none)?;
                Ok(Some((200, Some(push.config.write(task_id, dialect)))))
            }
        }
    }
}

/// A task as the answer to a message.
pub(super) fn wrapped(task: Json, dialect: Dialect) -> Json {
    if dialect == Dialect::JsonRpc03 {
        return task;
    }
    let mut out = Object::with_capacity(task.as_str().len() + 16);
    out.json("task", &task);
    out.finish()
}

/// The message as the answer to a message.
pub(super) fn message_answer(message: &Message, dialect: Dialect) -> Json {
    Event::Message(message.clone()).write(dialect)
}

/// The skill that a caller names, with its request or its message.
pub(super) fn skill(send: &SendRequest) -> Option<String> {
    let both = [send.metadata.as_ref(), send.message.metadata.as_ref()];
    both.into_iter().flatten().find_map(|metadata| metadata.members()?.string("skill"))
}

/// How many gateways a message has passed, by whichever of both says more.
pub(super) fn hops(send: &SendRequest) -> u64 {
    let both = [send.metadata.as_ref(), send.message.metadata.as_ref()].into_iter().flatten();
    let counts = both.filter_map(|metadata| {
        let raw = metadata.members()?.get("narrows_hops")?;
        let text = json::string(raw).unwrap_or_else(|| raw.get().to_string());
        u64::try_from(json::scaled(text.trim(), 0)?).ok()
    });
    counts.max().unwrap_or(0)
}
