//! Delivering changes of a served task: one after the other, each until it is taken (A2A 1.0 §4.3.3).

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Ended, Run};
use crate::a2a::asked::PushConfig;
use crate::exchange::{Plan, Report, Want};
use crate::io::{Deadline, ExchangeId, Headers, Level, Method, Reason};
use crate::json::Object;
use crate::mcp::outcome::ToolResult;
use crate::time::Instant;
use crate::url::Url;

/// The first wait after a failure; each is twice the one before.
const FIRST_MS: u64 = 1000;
/// How often one change is tried: the waits between sum up to about four minutes.
const TRIES: u32 = 9;
/// How long a receiver may take.
const TIMEOUT_MS: u64 = 30_000;
/// How much may wait for one receiver, in changes and in bytes.
const WAITING: usize = 1000;
const WAITING_BYTES: usize = 8 << 20;
/// How much of a receiver's answer is read.
const ANSWER_BYTES: u64 = 64 << 10;

/// The deliveries to one place.
#[derive(Debug)]
pub struct Delivery {
    url: Url,
    headers: Headers,
    queue: VecDeque<String>,
    exchange: Option<ExchangeId>,
    tries: u32,
    wake: Option<(Instant, Reason)>,
}

impl Delivery {
    /// Begins to deliver; `None` where there is nowhere to.
    pub fn start(run: &mut Run<'_>, config: &PushConfig, is_10: bool, queue: VecDeque<String>) -> Option<Self> {
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
        let mut work = Self { url, headers, queue, exchange: None, tries: 0, wake: None };
        match work.send(run) {
            Some(_) => None,
            None => Some(work),
        }
    }

    /// One more change.
    pub fn add(&mut self, run: &mut Run<'_>, body: String) -> Option<Ended> {
        let bytes: usize = self.queue.iter().map(String::len).sum();
        if self.queue.len() >= WAITING || bytes + body.len() > WAITING_BYTES {
            return Some(self.give_up(run, "more waits for it than is kept"));
        }
        self.queue.push_back(body);
        None
    }

    /// What waits, for a snapshot.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().map(String::as_str)
    }

    fn send(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.wake = None;
        let Some(body) = self.queue.front().cloned() else { return Some(Ok(ToolResult::new("", Object::new()))) };
        self.tries += 1;
        let plan = Plan {
            method: Method::Post,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: Some(body),
            credentials: None,
            registered: self.url.clone(),
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
            return self.again(run);
        }
        self.queue.pop_front();
        self.tries = 0;
        self.send(run)
    }

    fn again(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.tries >= TRIES {
            return Some(self.give_up(run, "it does not take them"));
        }
        let wait_ms = FIRST_MS << (self.tries.saturating_sub(1));
        self.wake = Some((run.ground.now.plus_ms(wait_ms), Reason::Push));
        None
    }

    fn give_up(&mut self, run: &mut Run<'_>, why: &str) -> Ended {
        self.stop(run);
        let mut fields = Object::new();
        fields.string("origin", &self.url.origin().to_string()).string("why", why);
        fields.integer("lost", u64::try_from(self.queue.len()).unwrap_or(u64::MAX));
        run.ground.notice(Level::Warning, "push_given_up", fields);
        Ok(ToolResult::new("", Object::new()))
    }

    /// Does what is due: a delivery that took too long, or the next try.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if self.wake.is_none_or(|(at, _)| run.ground.now < at) {
            return None;
        }
        if let Some(exchange) = self.exchange.take() {
            run.exchanges.abort(run.ground, exchange);
            return self.again(run);
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
