//! Push configurations of served tasks, and what is delivered by them (A2A 1.0 §4.3).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::a2a::asked::PushConfig;
use crate::a2a::problem::LIMIT_REACHED;
use crate::a2a::{Dialect, Problem};
use crate::call::Work;
use crate::call::dispatch::Sink;
use crate::call::push::{Body, Delivery};
use crate::exchange::Failure;
use crate::http;
use crate::json::{Array, Json};
use crate::list::gather;
use crate::served::{News, Push, TaskNumber};
use crate::url::Url;

/// How many places may be told of one task.
const PUSHES: usize = 16;
/// How long each text of a configuration may be.
const TEXT_BYTES: u64 = 8192;

impl Gateway {
    /// Whether a webhook may be called. Its words are the caller's, so its address is checked like any other.
    pub(super) fn check_push(&self, config: &PushConfig) -> Result<(), Problem> {
        let url = Url::parse(&config.url).map_err(|fault| Problem::invalid("url", &format!("{fault}")))?;
        self.exchanges.check(&self.ground, &url, &url, false).map_err(|failure| match failure {
            Failure::Blocked(why) => Problem::invalid("url", &format!("is not called: {why}")),
            Failure::Transport { .. } | Failure::TooLarge(_) | Failure::Redirect { .. } => {
                Problem::invalid("url", "is not called")
            }
        })?;
        let fits = |text: &Option<String>| text.as_deref().is_none_or(http::is_field_value);
        if !(fits(&config.token) && fits(&config.credentials)) {
            return Err(Problem::invalid("authentication", "must be fit for a header field"));
        }
        if !config.scheme.as_deref().is_none_or(http::is_token) {
            return Err(Problem::invalid("authentication.scheme", "must be the name of a scheme, such as Bearer"));
        }
        if config.lengths().iter().any(|length| *length > TEXT_BYTES) {
            return Err(Problem::invalid("pushNotificationConfig", "holds a text that is too long"));
        }
        Ok(())
    }

    /// Keeps a configuration; one of the same id is replaced. Gives its id, which is the task's where none is given in 0.3,
    /// so that it is found by that (A2A 0.3 §7.5).
    ///
    /// # Errors
    /// As many as a task may have.
    pub(super) fn add_push(&mut self, number: TaskNumber, mut config: PushConfig, dialect: Dialect) -> Result<String, Problem> {
        let Some(task) = self.served.get_mut(number) else { return Err(Problem::no_task("")) };
        if config.id.is_empty() {
            config.id = if dialect.is_10() { self.ground.random.uuid() } else { task.task().id.clone() };
        }
        let (id, owner) = (config.id.clone(), task.owner.clone());
        self.check_push_room(number, &id)?;
        if !self.served.grow(number, config.bytes()) {
            return Err(Problem::new(LIMIT_REACHED, "the tasks would be larger than task_bytes allows: end one first"));
        }
        let push = Push { config, is_10: dialect.is_10(), call: None };
        self.learn_push(&push.config);
        let Some(task) = self.served.get_mut(number) else { return Ok(id) };
        let Some((at, old)) = task.pushes.iter_mut().enumerate().find(|(_, push)| push.config.id == id) else {
            task.pushes.push(push);
            return Ok(id);
        };
        // What was not taken where it was wanted before goes where it is wanted now.
        let old = core::mem::replace(old, push.clone());
        task.bytes = task.bytes.saturating_sub(old.config.bytes());
        let Some(call) = old.call else { return Ok(id) };
        let waiting = match self.calls.get(&call).map(|call| call.work.as_ref()) {
            Some(Work::Push(delivery)) if old.is_10 == push.is_10 => gather(delivery.waiting().cloned()),
            Some(_) => [None].into(),
            None => Vec::new(),
        };
        self.stop(call, false);
        if !waiting.is_empty() {
            self.begin_delivery(number, at, &owner, &push, waiting.into());
        }
        Ok(id)
    }

    /// Whether a task may have a configuration of that id.
    ///
    /// # Errors
    /// It would be one too many.
    pub(super) fn check_push_room(&self, number: TaskNumber, id: &str) -> Result<(), Problem> {
        let pushes = self.served.get(number).map_or(&[][..], |task| task.pushes.as_slice());
        if pushes.len() < PUSHES || pushes.iter().any(|push| push.config.id == id) {
            return Ok(());
        }
        let words = format!("a task has {PUSHES} push configurations at most: delete one first");
        Err(Problem::new(LIMIT_REACHED, words))
    }

    /// What a receiver knows its deliveries by is told in no trace. Nothing else is searched for it: it is its caller's
    /// choice, and might be any word.
    pub(super) fn learn_push(&mut self, config: &PushConfig) {
        self.ground.untraced.extend(config.token.iter().chain(&config.credentials).cloned());
    }

    /// Forgets a configuration; what is on its way is given up. One that is gone already stays so.
    pub(super) fn remove_push(&mut self, number: TaskNumber, id: &str) {
        let Some(task) = self.served.get_mut(number) else { return };
        let Some(at) = task.pushes.iter().position(|push| push.config.id == id) else { return };
        let push = task.pushes.remove(at);
        task.bytes = task.bytes.saturating_sub(push.config.bytes());
        if let Some(call) = push.call {
            self.stop(call, false);
        }
    }

    /// Sends a change to everybody who wants it, behind what is still on its way there. A receiver that asked for 0.3
    /// gets the whole task, as that version has it: as it was then, or where that is too much as it stands.
    pub(super) fn deliver_pushes(&mut self, News { number, event, whole, .. }: News) {
        let Some(task) = self.served.get(number) else { return };
        let (owner, pushes) = (task.owner.clone(), task.pushes.clone());
        let limit = self.ground.config.limits.held_bytes;
        // What is said in a version is the same to all who take it, and is written once.
        let mut change = None;
        for (at, push) in pushes.into_iter().enumerate() {
            let body =
                if push.is_10 { Some(&*change.get_or_insert_with(|| event.write(Dialect::JsonRpc10))) } else { whole.as_ref() };
            let body = body.map(|body| body.as_str().to_string());
            match push.call.and_then(|call| self.calls.get_mut(&call)).map(|call| call.work.as_mut()) {
                Some(Work::Push(delivery)) => {
                    delivery.add(body, limit);
                    self.served.touch(number);
                }
                Some(_) | None => self.begin_delivery(number, at, &owner, &push, [body].into()),
            }
        }
    }

    /// What is on its way to a place, as a list of texts. An empty one stands for the task as it is when its turn comes.
    pub(crate) fn undelivered(&self, push: &Push) -> Json {
        let mut list = Array::new();
        if let Some(Work::Push(delivery)) = push.call.and_then(|call| self.calls.get(&call)).map(|call| call.work.as_ref()) {
            for body in delivery.kept() {
                list.string(body.as_deref().unwrap_or_default());
            }
        }
        list.finish()
    }

    /// Begins to deliver to a place where nothing is on its way.
    pub(super) fn begin_delivery(&mut self, number: TaskNumber, at: usize, owner: &str, push: &Push, bodies: VecDeque<Body>) {
        let started = self.unattended(owner, |run| {
            let work = Delivery::start(run, number, &push.config, push.is_10, bodies);
            Ok(work.map(|work| (Sink::Push(number), Box::new(Work::Push(work)))))
        });
        let known = self.served.get_mut(number).and_then(|task| task.pushes.get_mut(at));
        if let (Some(known), Ok(call)) = (known, started) {
            known.call = call;
        }
    }
}
