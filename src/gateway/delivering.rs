//! Push configurations of served tasks, and what is delivered by them (A2A 1.0 §4.3).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::a2a::asked::PushConfig;
use crate::a2a::problem::LIMIT_REACHED;
use crate::a2a::{Dialect, Problem};
use crate::call::Work;
use crate::call::dispatch::Sink;
use crate::call::push::Delivery;
use crate::exchange::Failure;
use crate::http;
use crate::served::{News, TaskNumber};
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
        let id = config.id.clone();
        self.check_push_room(number, &id)?;
        if !self.served.grow(number, config.bytes()) {
            return Err(Problem::new(LIMIT_REACHED, "the tasks would be larger than task_bytes allows: end one first"));
        }
        self.learn_push(&config);
        let Some(task) = self.served.get_mut(number) else { return Ok(id) };
        let (at, call) = task.add_push(config, dialect.is_10());
        if let Some(call) = call {
            self.stop(call, false);
        }
        self.begin_delivery(number, at);
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
        if let Some(call) = self.served.get_mut(number).and_then(|task| task.remove_push(id)) {
            self.stop(call, false);
        }
    }

    /// Sends a change to everybody who wants it, behind what is still on its way there. A receiver that asked for 0.3
    /// gets the whole task, as that version has it: as it was then, or where that is too much as it stands.
    pub(super) fn deliver_pushes(&mut self, News { number, event, whole, .. }: News) {
        let Some(task) = self.served.get_mut(number) else { return };
        let limit = self.ground.config.limits.held_bytes;
        // What is said in a version is the same to all who take it, and is written once.
        let (mut change, mut idle) = (None, Vec::new());
        for (at, push) in task.pushes.iter_mut().enumerate() {
            let body =
                if push.is_10 { Some(&*change.get_or_insert_with(|| event.write(Dialect::JsonRpc10))) } else { whole.as_ref() };
            let body = body.map(|body| body.as_str().to_string());
            match push.call.and_then(|call| self.calls.get_mut(&call)).map(|call| call.work.as_mut()) {
                Some(Work::Push(delivery)) => delivery.add(&mut push.waiting, body, limit),
                Some(_) | None => {
                    push.waiting.push(body);
                    idle.push(at);
                }
            }
        }
        idle.into_iter().for_each(|at| self.begin_delivery(number, at));
    }

    /// Begins to deliver what waits for a place to which nothing is on its way.
    pub(super) fn begin_delivery(&mut self, number: TaskNumber, at: usize) {
        let Some(task) = self.served.get(number) else { return };
        let Some(place) = task.pushes.get(at).filter(|push| !push.waiting.is_empty()).map(|push| push.place) else { return };
        let owner = task.owner.clone();
        let started = self.unattended(&owner, |run| {
            let work = Delivery::start(run, number, place);
            Ok(work.map(|work| (Sink::Push(number), Box::new(Work::Push(work)))))
        });
        if let Some(known) = self.served.get_mut(number).and_then(|task| task.pushes.get_mut(at)) {
            known.call = started.ok().flatten();
            if known.call.is_none() {
                known.waiting.clear();
            }
        }
    }
}
