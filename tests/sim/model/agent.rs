//! What the model keeps: agents with their buckets, scopes, and sends that were not refused.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::support::host::Host;
use crate::support::watch::Life;
use crate::view::AgentView;

/// A token in the parts that are counted.
pub(super) const TOKEN: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) kept: Rc<AgentView>,
    /// when its level was right
    pub(super) at: u64,
    pub(super) registration: u64,
    /// the calls that its history tells of
    pub(super) recorded: BTreeSet<u64>,
    /// what this step may have done to it that nobody was told
    pub(super) open: bool,
    /// whether a broadcast that goes on may have taken a token
    pub(super) may_pay: bool,
    /// the calls that paid a token for what was not sent yet, as far as that is known, and whether they send to it alone
    pub(super) unsent: BTreeMap<u64, bool>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) inbox: Vec<(String, String, i64)>,
    pub(super) pending: BTreeMap<String, String>,
    pub(super) caller: Option<String>,
    /// whether sends began in this step that nobody waits for
    pub(super) dispatches: bool,
    /// whether a call began in this step whose answer is told later
    pub(super) untold: bool,
}

/// A send to an alias that was not refused.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) scope: String,
    pub(super) alias: String,
    pub(super) registration: u64,
    pub(super) alone: bool,
    /// whether it is known what became of it at its start
    pub(super) told: bool,
}

impl Scope {
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.inbox.is_empty() && self.pending.is_empty() && self.caller.is_none()
    }
}

impl Agent {
    pub(super) fn level(&self, now: u64) -> u64 {
        let gained = u128::from(now - self.at) * u128::from(self.kept.micro_rps);
        let full = u128::from(self.kept.burst) * u128::from(TOKEN);
        u64::try_from((u128::from(self.kept.level) + gained).min(full)).unwrap()
    }

    /// The wait for a token.
    pub(super) fn wait(&self, now: u64, wall: i64) -> Option<u64> {
        if let Some(until) = self.kept.closed_until.filter(|until| *until > wall) {
            return u64::try_from(until - wall).ok();
        }
        let level = self.level(now);
        (self.kept.micro_rps > 0 && level < TOKEN).then(|| (TOKEN - level).div_ceil(self.kept.micro_rps))
    }

    pub(super) fn pay(&mut self, now: u64, number: u64, alone: bool) {
        if self.kept.micro_rps > 0 {
            let level = self.level(now) - TOKEN;
            Rc::make_mut(&mut self.kept).level = level;
            self.at = now;
            self.unsent.insert(number, alone);
        }
    }

    /// The calls that ended, as far as that is known, and got back what they paid where nothing was sent.
    pub(super) fn refunded(&mut self, host: &Host, level: u64) {
        let (now, full) = (host.clock_of(host.watch.now), self.kept.burst * TOKEN);
        let expected = self.level(now);
        let ended = |number: &u64| host.watch.calls[number].life != Life::Running;
        let detached = |number: &u64| host.watch.calls[number].detached;
        // Of a broadcast that goes on a part may be over, and of what goes on by itself nobody is told.
        let over = self.unsent.iter().filter(|(number, alone)| !**alone || ended(number) || detached(number));
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        let back = (0..=over.len()).find(|back| (expected + *back as u64 * TOKEN).min(full) == level).unwrap_or(0);
        if back > 0 {
            let kept = Rc::make_mut(&mut self.kept);
            (kept.level, self.at) = (level, now);
        }
        for (at, number) in over.iter().enumerate() {
            if at < back || ended(number) && !detached(number) {
                self.unsent.remove(number);
            }
        }
    }
}
