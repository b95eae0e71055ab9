//! Those who watch served tasks: the snapshot first, then each change once and in order.

use alloc::string::String;
use alloc::vec::Vec;

use super::Gateway;
use super::agent::rpc;
use super::granting::{message_answer, wrapped};
use crate::a2a::{Dialect, Event, View};
use crate::incoming::{Form, KEEP_ALIVE_MS, Stage, Watching};
use crate::io::{Output, RequestId};
use crate::json::Json;
use crate::served::{News, TaskNumber, life};

/// How long a caller who reads a stream is told nothing while a responder may still answer with a message and no task.
const SILENCE_MS: u64 = 2000;

/// An event as it was written for forms and lengths of history.
type Written = Vec<(Dialect, u64, Json)>;

/// An event of a stream (WHATWG HTML §9.2).
pub(super) fn event_of(data: &str) -> String {
    crate::text::joined(&["data: ", data, "\n\n"], "")
}

impl Gateway {
    /// From now on a request is told about a task: as a stream, or once when there is an answer.
    pub(super) fn watch(&mut self, request: RequestId, number: TaskNumber, form: &Form, stream: bool, turns: u64) {
        let Some(task) = self.served.get_mut(number) else { return };
        task.listeners.push(request);
        let (begun, ended) = (task.begun, task.state().is_terminal());
        let whole = Event::Task(task.task().clone());
        let is_silent = stream && !begun;
        let comment_at = self.ground.now.plus_ms(if is_silent { SILENCE_MS } else { KEEP_ALIVE_MS });
        if is_silent {
            self.incoming.keep_alive.insert((comment_at, request), ());
        }
        let watching = Watching { task: number, form: form.clone(), stream, turns, begun: false, comment_at };
        if let Some(served) = self.incoming.requests.get_mut(&request) {
            served.stage = Stage::Watching(watching);
        }
        if stream && begun {
            self.tell_stream(request, number, &whole, &mut Written::new(), ended);
        }
    }

    /// A responder has said nothing yet to a caller who reads: it is told of its task. Whether it was such a one.
    pub(super) fn begin_silent(&mut self, request: RequestId) -> bool {
        let Some(number) = self.watching(request).filter(|watching| watching.stream && !watching.begun).map(|it| it.task) else {
            return false;
        };
        self.incoming.comment_later(request, self.ground.now);
        self.served.begin(number, &mut self.ground.random);
        self.tell_watchers();
        true
    }

    pub(super) fn watching(&mut self, request: RequestId) -> Option<&mut Watching> {
        match &mut self.incoming.requests.get_mut(&request)?.stage {
            Stage::Watching(watching) => Some(watching),
            Stage::Body { .. } | Stage::Refused | Stage::Waiting(_) | Stage::Calling(_) | Stage::Looking(_) => None,
        }
    }

    /// Tells everybody what changed.
    pub(super) fn tell_watchers(&mut self) {
        while let Some(news) = self.served.news() {
            self.tell_of(news);
        }
    }

    fn tell_of(&mut self, news: News) {
        let (number, event) = (news.number, &news.event);
        let (ends, answers) = match event {
            Event::Status(update) => (life::ends_stream(&update.status.state), life::answers(&update.status.state)),
            Event::Message(_) => (true, true),
            Event::Task(_) | Event::Artifact(_) | Event::Other(_) => (false, false),
        };
        let listeners: Vec<RequestId> = self.served.get(number).map(|task| task.listeners.clone()).unwrap_or_default();
        let mut written = Written::new();
        for request in listeners {
            if self.watching(request).is_some_and(|watching| watching.stream && watching.form.plain.is_some()) {
                self.tell_plain(request, &news);
                continue;
            }
            match self.watching(request).map(|watching| watching.stream) {
                Some(true) => self.tell_stream(request, number, event, &mut written, ends),
                Some(false) if answers => self.tell_answer(request, number, event),
                Some(false) | None => {}
            }
        }
        match event {
            Event::Message(_) => {
                self.served.remove(number);
            }
            Event::Status(update) => {
                let is_end = update.status.state.is_terminal();
                self.deliver_pushes(news);
                if is_end {
                    self.release(number);
                }
            }
            Event::Task(_) | Event::Artifact(_) => self.deliver_pushes(news),
            Event::Other(_) => {}
        }
    }

    /// One event of a stream. What is written for one listener serves all others who take that form.
    fn tell_stream(&mut self, request: RequestId, number: TaskNumber, event: &Event, written: &mut Written, ends: bool) {
        let Some(watching) = self.watching(request) else { return };
        let (form, turns) = (watching.form.clone(), watching.turns);
        if !core::mem::replace(&mut watching.begun, true) {
            self.respond_events(request);
            self.incoming.comment_later(request, self.ground.now);
        }
        let is_known = |(dialect, shown, _): &&(Dialect, u64, Json)| (*dialect, *shown) == (form.dialect, turns);
        if written.iter().find(is_known).is_none() {
            let json = match event {
                Event::Task(task) => wrapped(task.write(form.dialect, View { turns, ..View::WHOLE }), form.dialect),
                Event::Message(_) | Event::Status(_) | Event::Artifact(_) | Event::Other(_) => event.write(form.dialect),
            };
            written.push((form.dialect, turns, json));
        }
        let Some((_, _, json)) = written.iter().find(is_known) else { return };
        let text = if form.dialect.is_rest() { event_of(json.as_str()) } else { event_of(rpc(&form, "result", json).as_str()) };
        self.ground.outputs.push_back(Output::ResponseBody { request, text });
        if ends {
            self.ground.outputs.push_back(Output::ResponseEnd { request });
            self.unwatch(request, number);
            self.incoming.remove(request);
        }
    }

    /// The one answer to a message: the task as it is now, or the message in its place.
    fn tell_answer(&mut self, request: RequestId, number: TaskNumber, event: &Event) {
        let Some(Watching { form, turns, .. }) = self.watching(request).cloned() else { return };
        self.unwatch(request, number);
        if let Some(id) = &form.plain {
            return self.answer_plain(request, number, id);
        }
        let answer = match event {
            Event::Message(message) => message_answer(message, form.dialect),
            Event::Task(_) | Event::Status(_) | Event::Artifact(_) | Event::Other(_) => {
                let view = View { turns, ..View::WHOLE };
                wrapped(self.shown(number, form.dialect, view).unwrap_or_else(Json::null), form.dialect)
            }
        };
        self.respond_result(request, &form, 200, Some(&answer));
    }

    /// A request watches a task no more; the task goes on.
    pub(super) fn unwatch(&mut self, request: RequestId, number: TaskNumber) {
        if let Some(task) = self.served.get_mut(number) {
            task.listeners.retain(|known| *known != request);
        }
    }

    /// The gateway stops: a stream ends, whoever waits for an answer gets the task as it is. Whether the request was one
    /// of those.
    pub(super) fn end_watching(&mut self, request: RequestId, why: &'static str) -> bool {
        let Some(watching) = self.watching(request).cloned() else { return false };
        let number = watching.task;
        if watching.begun {
            self.unwatch(request, number);
            self.ground.outputs.push_back(Output::ResponseEnd { request });
            self.incoming.remove(request);
        } else if let Some(task) = self.served.get(number).filter(|task| task.begun && !watching.stream) {
            let whole = Event::Task(task.task().clone());
            self.tell_answer(request, number, &whole);
        } else {
            self.unwatch(request, number);
            self.refuse(request, super::serving::busy(why));
        }
        true
    }
}
