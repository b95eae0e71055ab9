//! A scope: the state that belongs to one user, and nothing of any other.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::call::CallId;
use crate::call::dispatch::Pending;
use crate::caller::CallerCard;
use crate::inbox::Inbox;
use crate::redact::Secrets;
use crate::registry::{Profile, Registry};
use crate::table::Table;
use crate::time::Instant;
use crate::url::Url;

/// How long the card of an agent called by URL is kept.
const CARD_MS: u64 = 600_000;

/// Agents, conversations and secrets of one user.
#[derive(Debug, Default)]
pub struct Scope {
    /// the agents
    pub registry: Registry,
    /// what must appear in no output
    pub secrets: Secrets,
    /// cards of agents called by URL
    pub cards: Cards,
    /// outcomes of sends that nobody waited for
    pub inbox: Inbox,
    /// sends that nobody waits for and that have not ended
    pub pending: Table<CallId, Pending>,
    /// the caller's own card
    pub caller: Option<CallerCard>,
    running: Table<String, Vec<CallId>>,
}

impl Scope {
    /// Whether nothing would be lost with it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_quiet = self.pending.is_empty() && self.running.is_empty();
        is_quiet && self.registry.is_empty() && self.inbox.is_empty() && self.caller.is_none()
    }

    /// Notes that a call to an alias runs.
    pub fn begin(&mut self, alias: &str, call: CallId) {
        self.running.get_or_default(alias).push(call);
    }

    /// Notes that a call to an alias ended.
    pub fn end(&mut self, alias: &str, call: CallId) {
        if let Some(calls) = self.running.get_mut(alias) {
            calls.retain(|known| *known != call);
            if calls.is_empty() {
                self.running.remove(alias);
            }
        }
    }

    /// The calls that run to an alias.
    #[must_use]
    pub fn running(&self, alias: &str) -> Vec<CallId> {
        self.running.get(alias).cloned().unwrap_or_default()
    }
}

/// Cards of agents called by URL, each kept for ten minutes.
#[derive(Debug, Default)]
pub struct Cards {
    known: Table<Url, (Instant, Option<Profile>)>,
    order: VecDeque<Url>,
}

impl Cards {
    /// The profile of a URL: outside `None` where it is not known, inside `None` where there is no card.
    #[must_use]
    pub fn get(&self, url: &Url, now: Instant) -> Option<Option<Profile>> {
        self.known.get(url).filter(|(until, _)| now < *until).map(|(_, profile)| profile.clone())
    }

    /// The profile of a URL, to learn more about it.
    pub fn get_mut(&mut self, url: &Url) -> Option<&mut Option<Profile>> {
        self.known.get_mut(url).map(|(_, profile)| profile)
    }

    /// Keeps a profile; the oldest one makes room.
    pub fn put(&mut self, url: &Url, now: Instant, profile: Option<Profile>, limit: u64) {
        self.restore(url, now.plus_ms(CARD_MS), profile, limit);
    }

    /// Every URL with its profile and until when that is kept, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&Url, Instant, Option<&Profile>)> {
        self.order.iter().filter_map(|url| self.known.get(url).map(|(until, profile)| (url, *until, profile.as_ref())))
    }

    /// Puts a profile of a snapshot back.
    pub fn restore(&mut self, url: &Url, until: Instant, profile: Option<Profile>, limit: u64) {
        if self.known.insert(url.clone(), (until, profile)).is_some() {
            self.order.retain(|known| known != url);
        }
        self.order.push_back(url.clone());
        while u64::try_from(self.order.len()).unwrap_or(u64::MAX) > limit {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}
