//! The agents that a principal got to know through the plain task API, and whether they may be sent to.

use crate::json::Json;
use crate::table::Table;
use crate::time::WallTime;
use crate::url::Url;

/// An agent that was discovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// whether it waits for approval
    pub pending: bool,
    /// its card in short, as get_agent_card tells it
    pub summary: Json,
    /// when it was discovered last
    pub at: WallTime,
}

/// The agents by their URLs.
#[derive(Debug, Default)]
pub struct KnownAgents {
    agents: Table<Url, KnownAgent>,
    changed: Table<Url, ()>,
}

impl KnownAgents {
    /// Takes an agent in, or its new card.
    pub fn put(&mut self, url: Url, agent: KnownAgent) {
        if self.agents.get(&url) == Some(&agent) {
            return;
        }
        self.changed.insert(url.clone(), ());
        self.agents.insert(url, agent);
    }

    /// Forgets that one which was discovered before all others that may be forgotten; whether there was one.
    pub fn forget_oldest(&mut self, may_go: &dyn Fn(&Url) -> bool) -> bool {
        let free = self.agents.iter().filter(|(url, _)| may_go(url));
        let Some(oldest) = free.min_by_key(|(_, agent)| agent.at).map(|(url, _)| url.clone()) else { return false };
        self.agents.remove(&oldest);
        self.changed.insert(oldest, ());
        true
    }

    /// The agent at a URL.
    #[must_use]
    pub fn get(&self, url: &Url) -> Option<&KnownAgent> {
        self.agents.get(url)
    }

    /// All of them, by their URLs.
    pub fn iter(&self) -> impl Iterator<Item = (&Url, &KnownAgent)> {
        self.agents.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.agents.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// The URLs of those that came, changed or went since this was last asked.
    pub fn take_changed(&mut self) -> Table<Url, ()> {
        core::mem::take(&mut self.changed)
    }
}
