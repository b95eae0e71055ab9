//! Delivering changes of a served task: one after the other, each until it is taken (A2A 1.0 §4.3.3).

use alloc::format;
use alloc::string::{String, ToString};

use super::{Ended, Run};
use crate::a2a::{Dialect, Event};
use crate::exchange::{Plan, Report, Want};
use crate::held::Share;
use crate::io::{Deadline, ExchangeId, Headers, Level, Method, Reason};
use crate::json::Object;
use crate::mcp::outcome::ToolResult;
use crate::served::{Body, Queue, ServedTask, TaskNumber};
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
const WAITING: u64 = 1000;
const WAITING_BYTES: usize = 8 << 20;
/// How much of a receiver's answer is read.
const ANSWER_BYTES: u64 = 64 << 10;

/// The deliveries to one place.
#[derive(Debug)]
pub struct Delivery {
    task: TaskNumber,
    /// where in the task what waits is
    place: u64,
    is_10: bool,
    url: Url,
    headers: Headers,
    exchange: Option<ExchangeId>,
    tries: u32,
    wake: Option<(Instant, Reason)>,
    /// what waits
    share: Share,
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn bytes(queue: &Queue<Body>, count: usize) -> usize {
    queue.values().take(count).flatten().map(String::len).sum()
}

/// What waits for the receiver at that place of a task.
fn queue(task: &mut ServedTask, place: u64) -> Option<&mut Queue<Body>> {
    task.pushes.iter_mut().find(|push| push.place == place).map(|push| &mut push.waiting)
}

impl Delivery {
    /// Begins to deliver; `None` where there is nowhere to.
    pub fn start(run: &mut Run<'_>, task: TaskNumber, place: u64) -> Option<Self> {
        let known = run.served.get_mut(task)?.pushes.iter_mut().find(|push| push.place == place)?;
        let (config, is_10) = (&known.config, known.is_10);
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
        let mut work = Self { task, place, is_10, url, headers, exchange: None, tries: 0, wake: None, share };
        work.fit(&mut known.waiting, run.ground.config.limits.held_bytes);
        match work.send(run) {
            Some(_) => None,
            None => Some(work),
        }
    }

    /// One more change.
    pub fn add(&mut self, queue: &mut Queue<Body>, body: Body, limit: u64) {
        if !matches!(queue.last(), Some((_, None))) {
            queue.push(body);
            self.fit(queue, limit);
        }
    }

    /// Where too much waits, the task as it stands takes the place of what has not been begun: it says all that the changes
    /// said.
    fn fit(&mut self, queue: &mut Queue<Body>, limit: u64) {
        let begun = usize::from(self.tries > 0);
        let all = bytes(queue, usize::MAX);
        let behind = all - bytes(queue, begun);
        if queue.len() > WAITING || behind > WAITING_BYTES || !self.share.fits(length(all), limit) {
            queue.truncate(u64::from(self.tries > 0));
            queue.push(None);
        }
        self.share.set(length(bytes(queue, usize::MAX)));
    }

    /// What waits.
    fn waiting<'r>(&self, run: &'r mut Run<'_>) -> Option<&'r mut Queue<Body>> {
        queue(run.served.get_mut(self.task)?, self.place)
    }

    fn send(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.wake = None;
        let Some(task) = run.served.get_mut(self.task) else { return Some(self.give_up(run, "its task is forgotten")) };
        let front = queue(task, self.place).and_then(|queue| queue.first());
        let body = match front.map(|(_, body)| body.clone()) {
            None => return Some(Ok(ToolResult::new("", Object::new()))),
            Some(Some(body)) => body,
            // Once written it stays: what is said again is the same, and what waits behind it came later.
            Some(None) => {
                let dialect = if self.is_10 { Dialect::JsonRpc10 } else { Dialect::JsonRpc03 };
                let body = Event::Task(task.task().clone()).write(dialect).into_string();
                let queue = queue(task, self.place)?;
                let all = length(bytes(queue, usize::MAX) + body.len());
                if !self.share.fits(all, run.ground.config.limits.held_bytes) {
                    self.wake = Some((run.ground.now.plus_ms(TIMEOUT_MS), Reason::Push));
                    return None;
                }
                self.share.set(all);
                *queue.front_mut()? = Some(body.clone());
                body
            }
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
        if let Some(queue) = self.waiting(run) {
            queue.pop();
            self.share.set(length(bytes(queue, usize::MAX)));
        }
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
        let waiting = self.waiting(run).map_or(0, |queue| queue.len());
        let mut fields = Object::new();
        fields.string("origin", &self.url.origin().to_string()).string("why", why);
        fields.integer("waiting", waiting);
        run.ground.notice(Level::Warning, event, fields);
    }

    fn give_up(&mut self, run: &mut Run<'_>, why: &str) -> Ended {
        self.stop(run);
        self.notice(run, "push_given_up", why);
        if let Some(queue) = self.waiting(run) {
            queue.clear();
        }
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
        let (pool, limit) = (Pool::default(), 4 * WAITING_BYTES as u64);
        let (headers, exchange, wake, share) = (Headers::new(), None, None, pool.share());
        let mut work = Delivery { task: TaskNumber(0), place: 0, is_10: true, url, headers, exchange, tries: 1, wake, share };
        let filled = |bodies: &[&str]| {
            let mut queue = Queue::default();
            bodies.iter().for_each(|body| queue.push(Some(String::from(*body))));
            queue
        };
        let waiting = |queue: &Queue<Body>| queue.values().cloned().collect::<Vec<_>>();
        let mut queue = filled(&["first"]);
        for number in 1..WAITING {
            work.add(&mut queue, Some(format!("{number}")), limit);
        }
        assert_eq!((queue.len(), waiting(&queue).last().cloned()), (WAITING, Some(Some("999".into()))));
        for _ in 0..2 {
            work.add(&mut queue, Some("one more".into()), limit);
            assert_eq!(waiting(&queue), [Some("first".into()), None]);
        }
        queue = filled(&["first", "second"]);
        work.add(&mut queue, Some("x".repeat(WAITING_BYTES)), limit);
        assert_eq!(waiting(&queue), [Some("first".into()), None]);
        queue = filled(&[&"x".repeat(2 * WAITING_BYTES)]);
        work.add(&mut queue, Some("what is on its way does not count".into()), limit);
        assert_eq!(queue.len(), 2);
        // Where others hold all there is room for, nothing of this waits.
        queue = filled(&["first"]);
        let mut greedy = pool.share();
        greedy.set(limit);
        work.add(&mut queue, Some("second".into()), limit);
        assert_eq!((waiting(&queue), pool.bytes()), ([Some("first".into()), None].into(), limit + 5));
    }
}
