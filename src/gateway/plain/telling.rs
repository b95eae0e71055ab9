//! What callers of the plain task API are told of a task: once, after a while, or with each change.

use alloc::string::{String, ToString};

use super::Done;
use crate::a2a::{Dialect, Event, Message, Task, View};
use crate::gateway::Gateway;
use crate::http;
use crate::incoming::{Form, Stage, Watching};
use crate::io::{Headers, Output, RequestId};
use crate::json::{Array, Json, Object};
use crate::plain::Fault;
use crate::served::{Duty, News, ServedTask, TaskNumber};
use crate::text;
use crate::time::Instant;

impl Gateway {
    /// A task under the id that its caller names it by; where that is empty, the agent's own, once it is known.
    pub(super) fn plain_task(&self, number: TaskNumber, id: &str) -> Option<Json> {
        let task = self.served.get(number)?;
        let id = shown_id(task, id);
        if id == task.task().id {
            return Some(task.task().write(Dialect::Rest10, View::WHOLE));
        }
        let mut told = task.task().clone();
        rename(&mut told, id);
        Some(told.write(Dialect::Rest10, View::WHOLE))
    }

    /// What was said about a task, in order.
    pub(super) fn plain_messages(&self, owner: &str, id: &str) -> Done {
        let number = self.plain_find(owner, id, None)?;
        let (mut items, mut out) = (Array::new(), Object::new());
        let task = self.served.get(number).map(ServedTask::task);
        let said = task.into_iter().flat_map(|task| task.history.iter().flatten().chain(&task.status.message));
        for message in said {
            let mut message = message.clone();
            message.task_id = Some(id.to_string());
            items.json(&message.to_json());
        }
        out.nested("items", items);
        Ok(Some((200, out.finish())))
    }

    fn watch_plain(&mut self, request: RequestId, number: TaskNumber, id: &str, stream: bool, at: Instant) {
        let form = Form {
            dialect: Dialect::Rest10,
            id: Some(Json::null()),
            media_type: "application/json",
            base: String::new(),
            plain: Some(id.to_string()),
        };
        let watching = Watching { task: number, form, stream, turns: u64::MAX, begun: stream, comment_at: at };
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.stage = Stage::Watching(watching);
        }
        if let Some(task) = self.served.get_mut(number) {
            task.listeners.push(request);
        }
    }

    /// Answers a send when its task has ended or waits, or when its caller does not want to wait any longer.
    pub(super) fn plain_wait(&mut self, request: RequestId, number: TaskNumber, wait_ms: u64) -> Done {
        let state = self.served.get(number).map(ServedTask::state);
        if wait_ms == 0 || state.is_none_or(|state| state.is_terminal() || state.is_interrupted()) {
            self.answer_plain(request, number, "");
            return Ok(None);
        }
        let until = self.ground.now.plus_ms(wait_ms);
        self.watch_plain(request, number, "", false, until);
        self.incoming.keep_alive.insert((until, request), ());
        Ok(None)
    }

    /// The time of a send is up: it is answered with the task as it is. Whether the request was one.
    pub(in crate::gateway) fn plain_late(&mut self, request: RequestId) -> bool {
        let Some(watching) = self.watching(request).filter(|watching| !watching.stream) else { return false };
        let (number, plain) = (watching.task, watching.form.plain.clone());
        let Some(id) = plain else { return false };
        self.unwatch(request, number);
        self.answer_plain(request, number, &id);
        true
    }

    /// The answer to a send: the task, or why it could not be passed on.
    pub(in crate::gateway) fn answer_plain(&mut self, request: RequestId, number: TaskNumber, id: &str) {
        // Whoever asks again is told the same.
        let is_ours = self.served.get(number).is_some_and(|task| id.is_empty() && shown_id(task, id) == task.task().id);
        if is_ours && let Some(sent) = self.served.get_mut(number).and_then(|task| task.sent.as_mut()) {
            sent.is_ours = true;
        }
        let task = self.served.get(number);
        let fault = task.and_then(|task| {
            let sent = task.sent.as_ref()?;
            let why = task.task().status.message.as_ref().map(Message::readable).unwrap_or_default();
            Some(Fault { retry_ms: sent.retry_ms, ..Fault::of_code(sent.fault.as_ref()?, why) })
        });
        let done = match fault {
            Some(fault) => Err(fault),
            None => self
                .plain_task(number, id)
                .map_or_else(|| Err(Fault::new(404, "task_not_found", "the task is forgotten")), |task| Ok(Some((200, task)))),
        };
        self.plain_done(request, done);
    }

    /// A stream of changes: the task as it is, unless the caller has seen its last change, and then each change.
    pub(super) fn plain_events(&mut self, request: RequestId, owner: &str, id: &str, headers: &Headers) -> Done {
        let number = self.plain_find(owner, id, None)?;
        let Some(task) = self.served.get(number) else { return Ok(None) };
        let (change, is_over) = (task.changes, task.state().is_terminal());
        let seen = http::header(headers, "last-event-id").and_then(|id| text::whole(id.trim())) == Some(change);
        if seen && is_over {
            // Which ends the tries of a browser to come back (WHATWG HTML §9.2.3).
            let fields = self.common(request);
            self.respond(request, 204, fields, String::new());
            return Ok(None);
        }
        let whole = self.plain_task(number, id);
        self.watch_plain(request, number, id, true, self.ground.now);
        self.respond_events(request);
        self.incoming.comment_later(request, self.ground.now);
        if let Some(task) = whole.filter(|_| !seen) {
            let text = event(Some(change), "task", task.as_str());
            self.ground.outputs.push_back(Output::ResponseBody { request, text });
        }
        if is_over {
            self.end_plain(request, number);
        }
        Ok(None)
    }

    fn end_plain(&mut self, request: RequestId, number: TaskNumber) {
        self.ground.outputs.push_back(Output::ResponseEnd { request });
        self.unwatch(request, number);
        self.incoming.remove(request);
    }

    /// One change of a stream. What is said with a status comes as a message of its own before it.
    pub(in crate::gateway) fn tell_plain(&mut self, request: RequestId, news: &News) {
        let Some(id) = self.watching(request).and_then(|watching| watching.form.plain.clone()) else { return };
        let told = Some(id.clone());
        let message = |message: &Message| Message { task_id: told.clone(), ..message.clone() }.to_json();
        let (mut text, mut is_over) = (String::new(), false);
        match &news.event {
            Event::Task(task) => {
                let mut task = task.clone();
                rename(&mut task, &id);
                text.push_str(&event(Some(news.change), "task", task.write(Dialect::Rest10, View::WHOLE).as_str()));
            }
            Event::Message(said) => {
                text.push_str(&event(Some(news.change), "message", message(said).as_str()));
                is_over = true;
            }
            Event::Status(update) => {
                let mut update = update.clone();
                update.task_id = Some(id.clone());
                if let Some(said) = &mut update.status.message {
                    said.task_id = Some(id.clone());
                    text.push_str(&event(None, "message", said.to_json().as_str()));
                }
                is_over = update.status.state.is_terminal();
                text.push_str(&event(Some(news.change), "status", inner(&Event::Status(update)).as_str()));
            }
            Event::Artifact(update) => {
                let mut update = update.clone();
                update.task_id = Some(id.clone());
                text.push_str(&event(Some(news.change), "artifact", inner(&Event::Artifact(update)).as_str()));
            }
            Event::Other(_) => return,
        }
        self.incoming.comment_later(request, self.ground.now);
        self.ground.outputs.push_back(Output::ResponseBody { request, text });
        if is_over {
            self.end_plain(request, news.number);
        }
    }
}

/// The id that a task is shown under.
fn shown_id<'t>(task: &'t ServedTask, asked: &'t str) -> &'t str {
    let there = match &task.duty {
        Duty::Relay { task_id, .. } if task.sent.as_ref().is_some_and(|sent| !sent.is_ours && !sent.is_apart) => {
            task_id.as_deref()
        }
        Duty::Relay { .. } | Duty::Echo | Duty::Inbox | Duty::Function { .. } | Duty::Tool { .. } => None,
    };
    if asked.is_empty() { there.unwrap_or(&task.task().id) } else { asked }
}

fn rename(task: &mut Task, id: &str) {
    task.id = id.to_string();
    for message in task.history.iter_mut().flatten().chain(&mut task.status.message) {
        message.task_id = Some(id.to_string());
    }
}

/// An update without what it is wrapped in.
fn inner(event: &Event) -> Json {
    let json = event.write(Dialect::Rest10);
    let inner = json.members().and_then(|members| members.iter().next().map(|(_, raw)| Json::from_raw(raw)));
    inner.unwrap_or(json)
}

/// An event of a stream. One without a number is part of the next.
fn event(number: Option<u64>, name: &str, data: &str) -> String {
    let id = number.map(|number| text::joined(&["id: ", &number.to_string(), "\n"], "")).unwrap_or_default();
    text::joined(&[&id, "event: ", name, "\ndata: ", data, "\n\n"], "")
}
