//! What a call does until the card of its agent is known, or known not to come.

use super::Run;
use super::discovery::{CARD_MS, Discovery, LATE_CARD_MS, Search};
use super::target::{Known, Target};
use crate::exchange::Report;
use crate::io::ExchangeId;
use crate::mcp::outcome::ToolError;
use crate::registry::Profile;
use crate::time::Instant;

/// What was found: inside `None` where the agent has no card, and an error where the alias is another agent by now.
pub type Found = Result<Option<Profile>, ToolError>;

/// The finding of a card: by others, whose look-up is waited for, or by the call itself.
#[derive(Debug, Default)]
pub struct Finding {
    discovery: Option<Discovery>,
    until: Option<Instant>,
}

impl Finding {
    /// What is known of the card; `None` where it is to be waited for. An alias works without its card, so its card is
    /// awaited for as long as connecting awaits it, and hardly at all once that was in vain. An agent called by URL has
    /// nothing but its card.
    pub fn look(&mut self, run: &mut Run<'_>, target: &Target) -> Option<Found> {
        if target.alias.is_some() && self.until.is_none() {
            let is_late = target.agent(run).is_some_and(|agent| agent.is_card_late);
            self.until = Some(run.ground.now.plus_ms(if is_late { LATE_CARD_MS } else { CARD_MS }));
        }
        match target.known(run) {
            Known::Profile(profile) => Some(Ok(profile)),
            Known::Awaited => None,
            Known::Nothing => {
                let (discovery, search) = Discovery::start(run, target.clone());
                self.discovery = Some(discovery);
                self.searched(search)
            }
        }
    }

    fn searched(&mut self, search: Search) -> Option<Found> {
        let found = match search {
            Search::Going => return None,
            Search::Found(found) => Some(found.profile),
            Search::NotFound(_) => None,
        };
        self.discovery = None;
        Some(Ok(found))
    }

    /// Whether it waits for this exchange.
    #[must_use]
    pub fn awaits(&self, exchange: ExchangeId) -> bool {
        self.discovery.as_ref().is_some_and(|discovery| discovery.awaits(exchange))
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, target: &mut Target, exchange: ExchangeId, report: Report<'_>) -> Option<Found> {
        let search = self.discovery.as_mut()?.report(run, exchange, report)?;
        let found = self.searched(search)?;
        Some(target.follow(run).and(found))
    }

    /// A look-up of another call ended.
    pub fn looked_up(&mut self, run: &mut Run<'_>, target: &mut Target) -> Option<Found> {
        if self.discovery.is_some() {
            return None;
        }
        match target.follow(run) {
            Ok(()) => self.look(run, target),
            Err(error) => Some(Err(error)),
        }
    }

    /// Goes on without the card where its time is up.
    pub fn due(&mut self, run: &mut Run<'_>, target: &mut Target) -> Option<Found> {
        if self.until.is_none_or(|until| run.ground.now < until) {
            return None;
        }
        if let Some(mut discovery) = self.discovery.take() {
            discovery.give_up(run);
        }
        Some(target.follow(run).map(|()| None))
    }

    /// When its time is up.
    #[must_use]
    pub const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Stops.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        if let Some(mut discovery) = self.discovery.take() {
            discovery.stop(run);
        }
    }
}
