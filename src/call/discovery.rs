//! Looking for an agent's card, one candidate after the other.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::target::Target;
use super::{Run, fault};
use crate::a2a::{self, Card, Choice};
use crate::exchange::{Failure, Plan, Report, Want};
use crate::io::{ExchangeId, Method};
use crate::mcp::outcome::Code;
use crate::redirect;
use crate::registry::Profile;
use crate::scope;
use crate::text;
use crate::url::Url;

/// How long a card is awaited by those who can go on without it.
pub const CARD_MS: u64 = 10_000;
/// How long it is where it was awaited in vain before.
pub const LATE_CARD_MS: u64 = 500;
/// How long it stands that an agent could not be asked for its card: whoever comes later asks again.
const UNASKED_MS: u64 = 5000;

/// A search for a card.
#[derive(Debug)]
pub struct Discovery {
    target: Target,
    /// it counts among the look-ups of its alias
    counts: bool,
    left: Vec<Url>,
    asked: Option<(ExchangeId, Url)>,
    tried: Vec<String>,
    verdict: Verdict,
    answered: bool,
}

/// Why no card was found: of what went wrong at each place, what tells most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// the code of the error
    pub code: Code,
    /// the HTTP status
    pub status: Option<u16>,
    /// how long the agent asks to be left alone
    pub retry_after_ms: Option<u64>,
}

impl Verdict {
    const fn of(code: Code) -> Self {
        Self { code, status: None, retry_after_ms: None }
    }

    /// Whether it says no more than that nothing is there.
    fn is_absence(self) -> bool {
        matches!(self.status, Some(404 | 405 | 410)) || self.code == Code::ProtocolError
    }
}

/// A card that was found, and where.
#[derive(Debug)]
pub struct Found {
    /// the card
    pub card: Card,
    /// the URL it was read from, after redirects
    pub url: Url,
    /// what calls need of it
    pub profile: Profile,
}

/// How far a search is.
#[derive(Debug)]
pub enum Search {
    /// an answer is awaited
    Going,
    /// the first that was a card
    Found(Box<Found>),
    /// none was; what became of each
    NotFound(String),
}

impl Discovery {
    /// Starts a search. What it finds is known to later calls and to those that wait.
    pub fn start(run: &mut Run<'_>, target: Target) -> (Self, Search) {
        let mut left = a2a::card_candidates(&target.url);
        left.reverse();
        let counts = target.agent(run).map(|agent| agent.looking += 1).is_some();
        let (tried, verdict) = (Vec::new(), Verdict::of(Code::ProtocolError));
        let mut discovery = Self { target, counts, left, asked: None, tried, verdict, answered: false };
        let search = discovery.next(run);
        discovery.conclude(run, &search);
        (discovery, search)
    }

    /// Keeps what came of the search, where it is over. An agent that could not be asked may have a card.
    fn conclude(&mut self, run: &mut Run<'_>, search: &Search) {
        let found = match search {
            Search::Going => return,
            Search::Found(found) => Some(found.as_ref()),
            Search::NotFound(_) => None,
        };
        if self.target.alias.is_some() {
            let has_none = self.verdict.is_absence() || matches!(self.verdict.status, Some(401 | 403));
            self.leave(run, found, Some(if has_none { scope::CARD_MS } else { UNASKED_MS }));
            return;
        }
        let now = run.ground.now;
        if found.is_some() || self.answered && run.scope.cards.get(&self.target.url, now).is_none() {
            run.scope.cards.put(
                &self.target.url,
                now,
                found.map(|found| found.profile.clone()),
                &run.ground.cards,
                &run.ground.config.limits,
            );
        }
    }

    /// Takes the search out of the books of its alias, and wakes those that wait for it.
    fn leave(&mut self, run: &mut Run<'_>, found: Option<&Found>, cardless_ms: Option<u64>) {
        let Some((alias, registration)) = self.target.alias.as_ref().filter(|_| core::mem::take(&mut self.counts)) else {
            return;
        };
        if let Some(agent) = run.scope.registry.same(alias, *registration) {
            agent.looking = agent.looking.saturating_sub(1);
            if let Some(found) = found {
                agent.learn_card(found, &run.ground.cards, run.ground.config.limits.kept_card_bytes);
            }
            if agent.profile.is_none()
                && let Some(ms) = cardless_ms
            {
                agent.cardless_until = Some(run.ground.now.plus_ms(ms));
            }
        }
        run.ground.looked_up.push_back((String::from(run.scope_name), alias.clone()));
    }

    fn next(&mut self, run: &mut Run<'_>) -> Search {
        while let Some(url) = self.left.pop() {
            let plan = Plan {
                method: Method::Get,
                url: url.clone(),
                headers: alloc::vec![
                    ("Accept".to_string(), "application/json".to_string()),
                    ("A2A-Version".to_string(), "1.0".to_string()),
                ],
                body: None,
                credentials: self.target.credentials.clone(),
                registered: self.target.url.clone(),
                by_public: false,
                want: Want::Body(run.ground.config.limits.card_bytes),
            };
            match run.start(plan) {
                Ok(exchange) => {
                    self.asked = Some((exchange, url));
                    return Search::Going;
                }
                Err(failure) => {
                    self.judge(verdict(&failure));
                    self.tried.push(describe(&failure));
                    self.left.clear();
                }
            }
        }
        Search::NotFound(format!("no agent card: {}", text::joined(&self.tried, "; ")))
    }

    /// Whether it waits for this exchange.
    #[must_use]
    pub fn awaits(&self, exchange: ExchangeId) -> bool {
        self.asked.as_ref().is_some_and(|(asked, _)| *asked == exchange)
    }

    /// Takes a report in; `None` where it is about another exchange.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Search> {
        if !self.awaits(exchange) {
            return None;
        }
        let (_, asked) = self.asked.take()?;
        let path = asked.path().to_string();
        let search = self.taken(run, &path, report);
        self.conclude(run, &search);
        Some(search)
    }

    fn taken(&mut self, run: &mut Run<'_>, path: &str, report: Report<'_>) -> Search {
        match report {
            Report::Reply(reply) => {
                self.answered = true;
                if !(200..300).contains(&reply.status) {
                    let code = if reply.status == 429 { Code::RateLimited } else { Code::HttpStatus };
                    let retry_after_ms = fault::silence_ms(run, &self.target, &reply);
                    self.judge(Verdict { code, status: Some(reply.status), retry_after_ms });
                    self.tried.push(format!("{path} answered {}", reply.status));
                    return self.next(run);
                }
                match Card::read(&String::from_utf8_lossy(&reply.body), run.ground.config.limits.depth()) {
                    Ok(card) => Search::Found(Box::new(self.found(card, reply.url))),
                    Err(fault) => {
                        self.judge(Verdict::of(if fault.is_too_deep { Code::TooLarge } else { Code::ProtocolError }));
                        self.tried.push(format!("{path} is no card: {fault}"));
                        self.next(run)
                    }
                }
            }
            Report::Failed(failure) => {
                self.answered |= !matches!(failure, Failure::Transport { answered: false, .. });
                if let Failure::Transport { cause, .. } = &failure {
                    // Where nobody listens for one path, nobody listens for the others.
                    if cause.unsent() {
                        self.left.clear();
                    }
                }
                self.judge(verdict(&failure));
                self.tried.push(format!("{path} {}", describe(&failure)));
                self.next(run)
            }
            Report::Event(_) | Report::Closed(_) => self.next(run),
        }
    }

    fn found(&self, card: Card, url: Url) -> Found {
        let profile = profile(&card, &url, &self.target.url);
        Found { card, url, profile }
    }

    /// What was tried so far, for a caller whose time is up.
    #[must_use]
    pub fn so_far(&self) -> String {
        let pending = self.asked.as_ref().map(|(_, url)| format!("{} did not answer in time", url.path()));
        let mut tried = self.tried.clone();
        tried.extend(pending);
        format!("no agent card: {}", text::joined(&tried, "; "))
    }

    fn judge(&mut self, verdict: Verdict) {
        if self.verdict.is_absence() || !verdict.is_absence() {
            self.verdict = verdict;
        }
    }

    /// Why no card was found.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether the agent answered at all, if only with an error.
    #[must_use]
    pub fn answered(&self, run: &Run<'_>) -> bool {
        self.answered || self.asked.as_ref().is_some_and(|(exchange, _)| run.exchanges.answered(*exchange))
    }

    /// Stops the search: nobody wants it any more.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        self.left.clear();
        if let Some((exchange, _)) = self.asked.take() {
            run.exchanges.abort(run.ground, exchange);
        }
        self.leave(run, None, None);
    }

    /// Stops the search because its time is up.
    pub fn give_up(&mut self, run: &mut Run<'_>) {
        if let Some(agent) = self.target.agent(run) {
            agent.is_card_late = true;
        }
        self.leave(run, None, Some(UNASKED_MS));
        self.stop(run);
    }
}

/// What calls need of a card.
#[must_use]
pub fn profile(card: &Card, found_at: &Url, registered: &Url) -> Profile {
    let by_public = redirect::is_public(found_at) || redirect::is_public(registered);
    match a2a::choose(card, found_at, registered) {
        Ok(choice) => Profile {
            by_public: by_public && !names_itself(&choice, found_at, registered),
            summary: a2a::normalized(card, Some(&choice)),
            streaming: card.streaming,
            foreign: choice.foreign,
            notes: choice.notes,
            offered: Vec::new(),
            interface: Some(choice.interface),
            other: choice.other.map(Box::new),
            files: choice.files.map(Box::new),
        },
        Err(fault) => Profile {
            summary: a2a::normalized(card, None),
            streaming: false,
            foreign: false,
            by_public,
            notes: Vec::new(),
            offered: fault.offered,
            interface: None,
            other: None,
            files: None,
        },
    }
}

/// Whether the registered host names itself alone, on whatever ports: it may be a private one, whatever its name looks like.
fn names_itself(choice: &Choice, found_at: &Url, registered: &Url) -> bool {
    let other = choice.other.as_ref().unwrap_or(&choice.interface);
    [found_at, &choice.interface.url, &other.url].iter().all(|url| url.host() == registered.host())
}

fn verdict(failure: &Failure) -> Verdict {
    match failure {
        Failure::Transport { .. } => Verdict::of(Code::Unreachable),
        Failure::TooLarge(_) => Verdict::of(Code::TooLarge),
        Failure::Redirect { status, .. } => Verdict { status: Some(*status), ..Verdict::of(Code::HttpStatus) },
        Failure::Blocked(_) => Verdict::of(Code::Blocked),
    }
}

/// A failure in a list of what was tried.
fn describe(failure: &Failure) -> String {
    match failure {
        Failure::Transport { cause, detail, .. } if detail.is_empty() => format!("failed: {}", cause.name()),
        Failure::Transport { cause, detail, .. } => format!("failed: {} ({detail})", cause.name()),
        Failure::TooLarge(limit) => format!("is larger than {limit} allows"),
        Failure::Redirect { why, .. } => format!("failed: {why}"),
        Failure::Blocked(why) => format!("was not asked: {why}"),
    }
}
