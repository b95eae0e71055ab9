//! A scope: the state that belongs to one user, and nothing of any other.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::a2a::dialect::Interface;
use crate::call::CallId;
use crate::call::dispatch::Pending;
use crate::caller::CallerCard;
use crate::config::McpServer;
use crate::held::{Pool, Share};
use crate::inbox::Inbox;
use crate::limits::Limits;
use crate::plain::KnownAgents;
use crate::redact::Secrets;
use crate::registry::{Profile, Registry};
use crate::saved::{Saved, Unsaved};
use crate::table::Table;
use crate::time::Instant;
use crate::url::Url;

/// How long the card of an agent called by URL is kept, and how long it counts that an agent has none.
pub const CARD_MS: u64 = 600_000;

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
    /// the agents that were discovered through the plain task API
    pub known: KnownAgents,
    saved_secrets: Saved,
    running: Table<String, Vec<CallId>>,
}

impl Scope {
    /// Whether nothing would be lost with it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_quiet = self.pending.is_empty() && self.running.is_empty();
        is_quiet && self.registry.is_empty() && self.inbox.is_empty() && self.caller.is_none() && self.known.is_empty()
    }

    /// Learns secrets. Where others make room for them, those of the agents do not, nor those of the MCP servers.
    pub fn learn(&mut self, servers: &[McpServer], learn: impl FnOnce(&mut Secrets)) {
        let (first, _) = self.secrets.numbers();
        learn(&mut self.secrets);
        if self.secrets.numbers().0 != first {
            for (_, agent) in self.registry.iter() {
                agent.headers.iter().for_each(|(name, value)| self.secrets.learn(name, value));
            }
            servers.iter().for_each(|server| server.teach(&mut self.secrets));
        }
    }

    /// The secrets that are to be saved since this was last asked.
    pub fn unsaved_secrets(&mut self) -> Unsaved {
        let (first, next) = self.secrets.numbers();
        self.saved_secrets.go_on(first, next)
    }

    /// Takes nothing for changed any more.
    pub fn clear_changed(&mut self) {
        self.registry.clear_touched();
        self.inbox.clear_changed();
        self.cards.changed.clear();
        self.known.take_changed();
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
    known: Table<Url, Card>,
    order: VecDeque<Url>,
    next: u64,
    /// the numbers of cards that came, changed or went and are not saved so yet, with their URLs
    changed: Table<u64, Url>,
    /// what they take
    share: Option<Share>,
}

/// What is known of an agent called by URL.
#[derive(Debug)]
pub struct Card {
    /// a number that no other one has
    pub number: u64,
    /// until when it is kept
    pub until: Instant,
    /// what its card says; `None` where it has none
    pub profile: Option<Profile>,
}

impl Cards {
    /// The profile of a URL: outside `None` where it is not known, inside `None` where there is no card.
    #[must_use]
    pub fn get(&self, url: &Url, now: Instant) -> Option<Option<Profile>> {
        self.known.get(url).filter(|card| now < card.until).map(|card| card.profile.clone())
    }

    /// The profile of a URL, to learn its interface from; `None` where it says the same already.
    pub fn learn(&mut self, url: &Url, interface: &Interface) -> Option<&mut Option<Profile>> {
        let card = self.known.get_mut(url)?;
        if card.profile.as_ref().is_some_and(|profile| profile.interface.as_ref() == Some(interface)) {
            return None;
        }
        self.changed.insert(card.number, url.clone());
        Some(&mut card.profile)
    }

    /// Keeps a profile; the oldest one makes room.
    pub fn put(&mut self, url: &Url, now: Instant, profile: Option<Profile>, pool: &Pool, limits: &Limits) {
        self.restore(url, Card { number: self.next, until: now.plus_ms(CARD_MS), profile }, pool, limits);
    }

    /// Every URL with its card, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&Url, &Card)> {
        self.order.iter().filter_map(|url| self.known.get(url).map(|card| (url, card)))
    }

    /// The card of a number, which had that URL.
    #[must_use]
    pub fn numbered(&self, number: u64, url: &Url) -> Option<&Card> {
        self.known.get(url).filter(|card| card.number == number)
    }

    /// The numbers of the cards that came, changed or went since this was last asked, with their URLs.
    pub fn take_changed(&mut self) -> Table<u64, Url> {
        core::mem::take(&mut self.changed)
    }

    /// Puts a card of a snapshot back, the oldest first.
    pub fn restore(&mut self, url: &Url, card: Card, pool: &Pool, limits: &Limits) {
        let number = card.number;
        self.next = self.next.max(number + 1);
        self.changed.insert(number, url.clone());
        if let Some(before) = self.known.insert(url.clone(), card) {
            self.changed.insert(before.number, url.clone());
            self.order.retain(|known| known != url);
        }
        self.order.push_back(url.clone());
        let share = self.share.get_or_insert_with(|| pool.share());
        loop {
            share.set(self.known.values().filter_map(|card| card.profile.as_ref()).map(Profile::bytes).sum());
            if self.order.len() as u64 <= limits.cards_by_url && !share.is_over(limits.kept_card_bytes) {
                return;
            }
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(card) = self.known.remove(&oldest) {
                self.changed.insert(card.number, oldest);
            }
        }
    }
}
