//! Push configurations of served tasks, and what is delivered by them (A2A 1.0 §4.3).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;

use super::Gateway;
use crate::a2a::asked::PushConfig;
use crate::a2a::{Dialect, Event, Problem};
use crate::call::Work;
use crate::call::dispatch::Sink;
use crate::call::push::Delivery;
use crate::exchange::Failure;
use crate::http;
use crate::incoming::scope_of;
use crate::json::{Array, Json};
use crate::list::gather;
use crate::served::{Push, TaskNumber};
use crate::url::Url;

/// How many places may be told of one task.
const PUSHES: usize = 16;

impl Gateway {
    /// Whether a webhook may be called. Its words are the caller's, so its address is checked like any other.
    pub(super) fn check_push(&self, config: &PushConfig) -> Result<(), Problem> {
        let url = Url::parse(&config.url).map_err(|fault| Problem::invalid("url", &format!("{fault}")))?;
        self.exchanges.check(&self.ground, &url, &url).map_err(|failure| match failure {
            Failure::Blocked(why) => Problem::invalid("url", &format!("is not called: {why}")),
            Failure::Transport { .. } | Failure::TooLarge(_) | Failure::Redirect { .. } => {
                Problem::invalid("url", "is not called")
            }
        })?;
        let fits = |text: &Option<String>| text.as_deref().is_none_or(http::is_field_value);
        if !(fits(&config.token) && fits(&config.scheme) && fits(&config.credentials)) {
            return Err(Problem::invalid("authentication", "must be fit for a header field"));
        }
        Ok(())
    }

    /// Keeps a configuration; one of the same id is replaced. Gives its id, which is the task's where none is given, so
    /// that it is found by that (A2A 0.3 §7.5).
    pub(super) fn add_push(&mut self, number: TaskNumber, mut config: PushConfig, dialect: Dialect) -> String {
        let Some(task) = self.served.get_mut(number) else { return String::new() };
        if config.id.is_empty() {
            config.id = if dialect.is_10() { self.ground.random.uuid() } else { task.task().id.clone() };
        }
        let id = config.id.clone();
        task.pushes.retain(|push| push.config.id != id);
        if task.pushes.len() >= PUSHES {
            task.pushes.remove(0);
        }
        let (owner, push) = (task.owner.clone(), Push { config, is_10: dialect.is_10(), call: None });
        task.pushes.push(push.clone());
        self.learn_push(&owner, &push.config);
        id
    }

    /// What a receiver knows its deliveries by is a secret of whoever asked for them.
    pub(super) fn learn_push(&mut self, owner: &str, config: &PushConfig) {
        let secrets = &mut self.scopes.get_or_default(scope_of(owner, None).as_str()).secrets;
        for secret in config.token.iter().chain(&config.credentials) {
            secrets.learn("Authorization", secret);
        }
    }

    /// Forgets a configuration, all of them where none is named; what is on its way is given up.
    pub(super) fn remove_push(&mut self, number: TaskNumber, id: Option<&str>) {
        let Some(task) = self.served.get_mut(number) else { return };
        let named = task.push(id).map(|push| push.config.id.clone());
        let is_meant = |push: &Push| id.is_none() || Some(&push.config.id) == named.as_ref();
        let calls = gather(task.pushes.iter().filter(|push| is_meant(push)).filter_map(|push| push.call));
        task.pushes.retain(|push| !is_meant(push));
        for call in calls {
            self.stop(call, false);
        }
    }

    /// Sends a change to everybody who wants it, behind what is still on its way there. A receiver that asked for 0.3
    /// gets the whole task, as that version has it.
    pub(super) fn deliver_pushes(&mut self, number: TaskNumber, event: &Event) {
        let Some(task) = self.served.get(number) else { return };
        let (owner, pushes) = (task.owner.clone(), task.pushes.clone());
        // What is said in a version is the same to all who take it, and is written once.
        let (mut body_10, mut body_03) = (None, None);
        for (at, push) in pushes.into_iter().enumerate() {
            let Some(task) = self.served.get(number) else { return };
            let written = if push.is_10 { &mut body_10 } else { &mut body_03 };
            let body = written.get_or_insert_with(|| {
                let body = if push.is_10 {
                    event.write(Dialect::JsonRpc10)
                } else {
                    Event::Task(task.task().clone()).write(Dialect::JsonRpc03)
                };
                self.clean(&owner, body).into_string()
            });
            let body = body.clone();
            if let Some(call) = push.call.filter(|call| self.calls.has(call)) {
                self.work(call, |work, run| match work {
                    Work::Push(delivery) => delivery.add(run, body),
                    Work::Connect(_)
                    | Work::Card(_)
                    | Work::Send(_)
                    | Work::Task(_)
                    | Work::Broadcast(_)
                    | Work::Ping(_)
                    | Work::Directory(_)
                    | Work::Asking(_) => None,
                });
                continue;
            }
            self.begin_delivery(number, at, &owner, &push, [body].into());
        }
    }

    /// What is on its way to a place, as a list of texts.
    pub(crate) fn undelivered(&self, push: &Push) -> Json {
        let mut list = Array::new();
        if let Some(Work::Push(delivery)) = push.call.and_then(|call| self.calls.get(&call)).map(|call| call.work.as_ref()) {
            for body in delivery.waiting() {
                list.string(body);
            }
        }
        list.finish()
    }

    /// Begins to deliver to a place where nothing is on its way.
    pub(super) fn begin_delivery(&mut self, number: TaskNumber, at: usize, owner: &str, push: &Push, bodies: VecDeque<String>) {
        let started = self.unattended(owner, |run| {
            let work = Delivery::start(run, &push.config, push.is_10, bodies);
            Ok(work.map(|work| (Sink::Push(number), Box::new(Work::Push(work)))))
        });
        let known = self.served.get_mut(number).and_then(|task| task.pushes.get_mut(at));
        if let (Some(known), Ok(call)) = (known, started) {
            known.call = call;
        }
    }
}
