//! Delivering changes of a served task: one after the other, each until it is taken (A2A 1.0 §4.3.3).

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Ended, Run};
use crate::a2a::asked::PushConfig;
use crate::a2a::{Dialect, Event};
use crate::exchange::{Plan, Report, Want};
use crate::held::Share;
use crate::io::{Deadline, ExchangeId, Headers, Level, Method, Reason};
use crate::json::Object;
use crate::mcp::outcome::ToolResult;
use crate::served::TaskNumber;
use crate::time::Instant;
use crate::url::Url;

/// The first wait after a failure; each is twice the one before.
const FIRST_MS: u64 = 1000;
/// The longest wait.
const LONGEST_MS: u64 = 900_000;
/// After how many failures the log is told.
const TOLD_AT: u32 = 9;
/// How long a receiver may take.
const TIMEOUT_MS: u64 = 30_000;
/// How much may wait for one receiver, in changes and in bytes. Beyond that, and where no room is left below `held_bytes`,
/// it gets the task as it stands in place of the changes.
const WAITING: usize = 1000;
const WAITING_BYTES: usize = 8 << 20;
/// How much of what waits is kept, in bytes, as it is written again with each change. Beyond that it is kept that the task
/// as it stands is to be told.
const KEPT_BYTES: usize = 16 << 10;
/// How much of a receiver's answer is read.
const ANSWER_BYTES: u64 = 64 << 10;

/// Something to be delivered: a change as it is written, or the task as it stands when its turn comes.
pub type Body = Option<String>;

/// The deliveries to one place.
#[derive(Debug)]
pub struct Delivery {
    task: TaskNumber,
    is_10: bool,
    url: Url,
    headers: Headers,
    queue: VecDeque<Body>,
    exchange: Option<ExchangeId>,
    tries: u32,
    wake: Option<(Instant, Reason)>,
    /// what waits
    share: Share,
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn bytes(queue: &VecDeque<Body>) -> usize {
    queue.iter().flatten().map(String::len).sum()
}

impl Delivery {
    /// Begins to deliver; `None` where there is nowhere to.
    pub fn start(run: &mut Run<'_>, task: TaskNumber, config: &PushConfig, is_10: bool, queue: VecDeque<Body>) -> Option<Self> {
        let url = Url::parse(&config.url).ok()?;
        let mut headers = Headers::new();
        let mut field = |name: &str, value: &str| headers.push((name.to_string(), value.to_string()));
        field("Content-Type", if is_10 { "application/a2a+json" } else { "application/json" });
        field("A2A-Version", if is_10 { "1.0" } else { "0.3" });
        if let Some(token) = &config.token {
            field("X-A2A-Notification-Token", token);
        }
        if let Some(credentials) = &config.credentials {
            field("Authorization", &format!("{} {credentials}", config.scheme.as_deref().unwrap_or("Bearer")));
        }
        let share = run.ground.held.share();
        let mut work = Self { task, is_10, url, headers, queue, exchange: None, tries: 0, wake: None, share };
        work.fit(run.ground.config.limits.held_bytes);
        match work.send(run) {
            Some(_) => None,
            None => Some(work),
        }
    }

    /// One more change.
    pub fn add(&mut self, body: Body, limit: u64) {
        if !matches!(self.queue.back(), Some(None)) {
            self.queue.push_back(body);
            self.fit(limit);
        }
    }

    /// Where too much waits, the task as it stands takes the place of what has not been begun: it says all that the changes
    /// said.
    fn fit(&mut self, limit: u64) {
        let begun = usize::from(self.tries > 0);
        let all = bytes(&self.queue);
        let behind = all - self.queue.iter().take(begun).flatten().map(String::len).sum::<usize>();
        if self.queue.len() > WAITING || behind > WAITING_BYTES || !self.share.fits(length(all), limit) {
            self.queue.truncate(begun);
            self.queue.push_back(None);
        }
        self.share.set(length(bytes(&self.queue)));
    }

    /// What waits.
    pub fn waiting(&self) -> impl Iterator<Item = &Body> {
        self.queue.iter()
    }

    /// What is kept of that.
    pub fn kept(&self) -> impl Iterator<Item = &Body> {
        let is_much = bytes(&self.queue) > KEPT_BYTES;
        self.queue.iter().filter(move |_| !is_much).chain(is_much.then_some(&None))
    }

    fn send(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.wake = None;
        let Some(task) = run.served.get(self.task) else { return Some(self.give_up(run, "its task is forgotten")) };
        let Some(body) = self.queue.front() else { return Some(Ok(ToolResult::new("", Object::new()))) };
        // Once written it stays: what is said again is the same, and what waits behind it came later.
        let body = if let Some(body) = body {
            body.clone()
        } else {
            let dialect = if self.is_10 { Dialect::JsonRpc10 } else { Dialect::JsonRpc03 };
            let body = Event::Task(task.task().clone()).write(dialect).into_string();
            let all = length(bytes(&self.queue) + body.len());
            if !self.share.fits(all, run.ground.config.limits.held_bytes) {
                self.wake = Some((run.ground.now.plus_ms(TIMEOUT_MS), Reason::Push));
                return None;
            }
            self.share.set(all);
            if let Some(front) = self.queue.front_mut() {
                *front = Some(body.clone());
            }
            body
        };
        self.tries = self.tries.saturating_add(1);
        let plan = Plan {
            method: Method::Post,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: Some(body),
            credentials: None,
            registered: self.url.clone(),
            by_public: false,
            want: Want::Body(ANSWER_BYTES),
        };
        match run.start(plan) {
            Ok(exchange) => {
                self.exchange = Some(exchange);
                self.wake = Some((run.ground.now.plus_ms(TIMEOUT_MS), Reason::CallTimeout));
                None
            }
            Err(_) => Some(self.give_up(run, "its address is not called")),
        }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        if self.exchange != Some(exchange) {
            return None;
        }
        self.exchange = None;
        let taken = match report {
            Report::Reply(reply) => (200..300).contains(&reply.status),
            Report::Event(_) | Report::Closed(_) | Report::Failed(_) => false,
        };
        if !taken {
            self.again(run);
            return None;
        }
        self.queue.pop_front();
        self.share.set(length(bytes(&self.queue)));
        self.tries = 0;
        self.send(run)
    }

    fn again(&mut self, run: &mut Run<'_>) {
        let wait_ms = (FIRST_MS << self.tries.saturating_sub(1).min(20)).min(LONGEST_MS);
        self.wake = Some((run.ground.now.plus_ms(wait_ms), Reason::Push));
        if self.tries == TOLD_AT {
            self.notice(run, "push_not_taken", "it does not take them");
        }
    }

    fn notice(&self, run: &mut Run<'_>, event: &'static str, why: &str) {
        let mut fields = Object::new();
        fields.string("origin", &self.url.origin().to_string()).string("why", why);
        fields.integer("waiting", u64::try_from(self.queue.len()).unwrap_or(u64::MAX));
        run.ground.notice(Level::Warning, event, fields);
    }

    fn give_up(&mut self, run: &mut Run<'_>, why: &str) -> Ended {
        self.stop(run);
        self.notice(run, "push_given_up", why);
        Ok(ToolResult::new("", Object::new()))
    }

    /// Does what is due: a delivery that took too long, or the next try.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.wake.is_none_or(|(at, _)| run.ground.now < at) {
            return None;
        }
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
            self.again(run);
            return None;
        }
        self.send(run)
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.wake.map(|(at, reason)| Deadline { at, reason })
    }

    /// Stops delivering.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Pool;
    use alloc::vec::Vec;

    #[test]
    fn the_task_takes_the_place_of_what_is_too_much() {
        let url = Url::parse("https://hook.test/").unwrap();
        let (queue, headers) = ([Some("first".into())].into(), Headers::new());
        let (pool, limit) = (Pool::default(), 4 * WAITING_BYTES as u64);
        let (exchange, wake, share) = (None, None, pool.share());
        let mut work = Delivery { task: TaskNumber(0), is_10: true, url, headers, queue, exchange, tries: 1, wake, share };
        let waiting = |work: &Delivery| work.waiting().cloned().collect::<Vec<_>>();
        for number in 1..WAITING {
            work.add(Some(format!("{number}")), limit);
        }
        assert_eq!((waiting(&work).len(), waiting(&work).last().cloned()), (WAITING, Some(Some("999".into()))));
        for _ in 0..2 {
            work.add(Some("one more".into()), limit);
            assert_eq!(waiting(&work), [Some("first".into()), None]);
        }
        work.queue = [Some("first".into()), Some("second".into())].into();
        work.add(Some("x".repeat(WAITING_BYTES)), limit);
        assert_eq!(waiting(&work), [Some("first".into()), None]);
        work.queue = ["x".repeat(2 * WAITING_BYTES)].map(Some).into();
        work.add(Some("what is on its way does not count".into()), limit);
        assert_eq!(work.queue.len(), 2);
        assert_eq!(work.kept().collect::<Vec<_>>(), [&None], "what is much is not written again and again");
        // Where others hold all there is room for, nothing of this waits.
        work.queue = [Some("first".into())].into();
        let mut greedy = pool.share();
        greedy.set(limit);
        work.add(Some("second".into()), limit);
        assert_eq!((waiting(&work), pool.bytes()), ([Some("first".into()), None].into(), limit + 5));
    }
}
