//! Calls that wait for a person: asked, decided once, used once, kept for those who look later.
//!
//! An approval holds for one call: its tool as its server described it, its arguments and the policy under which it was asked. Whatever differs by the
//! time the call goes out makes it void.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::evaluation::Risk;
use super::settings::{Approval, Fallback};
use crate::ids::Random;
use crate::incoming::access::equal;
use crate::incoming::is_session;
use crate::json::{Array, Json, Object};
use crate::list::gather;
use crate::snapshot::Record;
use crate::table::{Table, Tracked};
use crate::time::WallTime;

/// How many requests of one session may wait.
pub const PER_SESSION: usize = 5;
/// How many requests may wait in all.
pub const IN_ALL: usize = 1024;
/// How many decided requests are remembered.
const REMEMBERED: usize = 1024;
/// How often a request is asked again.
const ESCALATIONS: u64 = 3;
/// How many tools are remembered as approved in one session; beyond them the one that was approved first is asked for anew.
const CACHED: usize = 256;

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// it waits
    Pending,
    /// a person said yes, and the call has not gone out yet
    Approved,
    /// the call went out
    Executed,
    /// a person said no
    Rejected,
    /// nobody decided in time, and the call failed
    Expired,
    /// nobody decided in time, and the call was left out
    Skipped,
    /// its call was cancelled, or its caller left
    Withdrawn,
    /// the call or the policy was another one by then
    Void,
}

impl State {
    /// Every state with its name.
    pub const NAMES: [(Self, &'static str); 8] = [
        (Self::Pending, "pending"),
        (Self::Approved, "approved"),
        (Self::Executed, "executed"),
        (Self::Rejected, "rejected"),
        (Self::Expired, "expired"),
        (Self::Skipped, "skipped"),
        (Self::Withdrawn, "withdrawn"),
        (Self::Void, "void"),
    ];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    /// The state of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(state, _)| *state)
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// the name that is offered
    pub tool: String,
    /// the server
    pub server: String,
    /// the tool's own name
    pub raw_tool: String,
    /// which agent calls
    pub agent: Option<String>,
    /// in which session; the scope
    pub session: String,
    /// on whose behalf
    pub sender: Option<String>,
    /// from where
    pub channel: Option<String>,
    /// the principal that asks and so may not decide; empty where callers have no tokens to be told apart by
    pub asker: String,
    /// how much harm it may do
    pub risk: Risk,
    /// the call in words, without secrets
    pub summary: String,
    /// the digest of the call
    pub digest: String,
    /// what it is asked of: the policy, the server and the tool, as they are when it is asked
    pub policy: String,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// its name, an UUID
    pub id: String,
    /// what is asked
    pub proposal: Proposal,
    /// what shows that a decision is not the asker's own where there are no tokens: told to the host alone, never to a peer
    pub code: String,
    /// when it was asked first
    pub requested_at: WallTime,
    /// when it is too late
    pub expires_at: WallTime,
    /// how often it was asked again
    pub escalations: u64,
    /// how far it has come
    pub state: State,
    /// how often the call went on since it went out
    pub rounds: u64,
    /// who decided
    pub decided_by: Option<String>,
    /// why, in the words of whoever decided
    pub reason: Option<String>,
}

impl Request {
    /// The JSON form that is told to those who decide.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.to_object().finish()
    }

    /// The members of that.
    #[must_use]
    pub fn to_object(&self) -> Object {
        let mut out = Object::new();
        self.write(&mut out);
        out.string("summary", &self.proposal.summary);
        out.optional_string("decided_by", self.decided_by.as_deref()).optional_string("reason", self.reason.as_deref());
        out
    }

    /// What a notice about it says: all but the words of people.
    pub fn write(&self, out: &mut Object) {
        let it = &self.proposal;
        out.string("id", &self.id).string("state", self.state.name()).string("tool", &it.tool).string("server", &it.server);
        out.string("raw_tool", &it.raw_tool).optional_string("agent", it.agent.as_deref()).string("session", &it.session);
        out.optional_string("sender", it.sender.as_deref()).optional_string("channel", it.channel.as_deref());
        out.string("risk", it.risk.name()).string("arguments_digest", &it.digest);
        out.string("requested_at", &self.requested_at.to_rfc3339()).string("expires_at", &self.expires_at.to_rfc3339());
        out.integer("escalations", self.escalations);
    }
}

impl Request {
    /// As it stands in a snapshot. Its place among others is the time at which it was asked.
    #[must_use]
    pub fn record(&self) -> Json {
        let mut out = Object::new();
        let it = &self.proposal;
        out.string("kind", "approval").integer("number", self.requested_at.0).string("state", self.state.name());
        for (name, text) in TEXTS.iter().zip(it.texts()) {
            out.string(name, text);
        }
        out.string("id", &self.id).string("code", &self.code).optional_string("agent", it.agent.as_deref());
        out.optional_string("sender", it.sender.as_deref()).optional_string("channel", it.channel.as_deref());
        out.integer("expires_at", self.expires_at.0).integer("escalations", self.escalations).integer("rounds", self.rounds);
        out.optional_string("decided_by", self.decided_by.as_deref()).optional_string("reason", self.reason.as_deref());
        out.finish()
    }

    /// Reads what [`record`](Self::record) wrote.
    #[must_use]
    pub fn read(record: &Record<'_, '_>) -> Self {
        let [tool, server, raw_tool, session, asker, summary, digest, policy] = TEXTS.map(|name| record.text(name));
        let (agent, sender, channel) = (record.optional("agent"), record.optional("sender"), record.optional("channel"));
        let risk = Risk::of(&tool);
        let proposal = Proposal { tool, server, raw_tool, agent, session, sender, channel, asker, risk, summary, digest, policy };
        Self {
            id: record.text("id"),
            code: record.optional("code").unwrap_or_default(),
            proposal,
            requested_at: WallTime(record.integer("number")),
            expires_at: WallTime(record.integer("expires_at")),
            escalations: record.number("escalations"),
            state: record.found(State::named(&record.text("state")).map(Some)).unwrap_or(State::Void),
            rounds: record.number("rounds"),
            decided_by: record.optional("decided_by"),
            reason: record.optional("reason"),
        }
    }
}

/// What a proposal says in texts that are always there.
const TEXTS: [&str; 8] = ["tool", "server", "raw_tool", "session", "asker", "summary", "digest", "policy"];

impl Proposal {
    fn texts(&self) -> [&str; 8] {
        [&self.tool, &self.server, &self.raw_tool, &self.session, &self.asker, &self.summary, &self.digest, &self.policy]
    }
}

/// Why a decision was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// there is no such request
    NotFound,
    /// it was decided already, or it is too late
    Conflict,
    /// whoever asks does not decide
    Asker,
    /// without tokens a decision needs the code of its request, and this is not it
    Code,
}

/// Who decides. What a decision is known by has a form that the name of no principal has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// the user of the asking client, who was asked through it
    Client,
    /// the program around the gateway
    Host,
    /// whoever was given this code of the request
    Code(String),
    /// the principal of a token
    Principal(String),
}

impl Decider {
    /// How it is told who decided.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Client => "(client)",
            Self::Host => "(host)",
            Self::Code(_) => "(code)",
            Self::Principal(name) => name,
        }
    }

    /// Whether it may decide a request.
    fn check(&self, request: &Request) -> Result<(), Refusal> {
        match self {
            Self::Client | Self::Host => Ok(()),
            Self::Code(code) if !request.code.is_empty() && equal(request.code.as_bytes(), code.as_bytes()) => Ok(()),
            Self::Code(_) => Err(Refusal::Code),
            Self::Principal(name) if *name == request.proposal.asker => Err(Refusal::Asker),
            Self::Principal(_) => Ok(()),
        }
    }
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// yes
    pub approved: bool,
    /// who
    pub by: Decider,
    /// why
    pub reason: Option<String>,
}

/// What became of a request whose time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// it has still time, or it was decided
    None,
    /// it is asked again
    Escalated,
    /// its call fails
    Denied,
    /// its call is left out
    Skipped,
}

/// All requests, and what was approved in each session.
#[derive(Clone, Debug, Default)]
pub struct Approvals {
    requests: Tracked<String, Request>,
    /// The ids in the order in which they were asked.
    order: Vec<String>,
    /// By session: the tools that were approved in it, in the order in which they were first, each with what it was asked of.
    cache: Table<String, Vec<(String, String)>>,
    /// Tools that made room, with their sessions, and were not told of yet.
    forgotten: Vec<(String, String)>,
}

impl Approvals {
    /// Asks; gives the id of the request.
    ///
    /// # Errors
    /// As many wait already as may.
    pub fn propose(&mut self, proposal: Proposal, rules: &Approval, random: &mut Random, now: WallTime) -> Result<String, Full> {
        let mut waiting = 0;
        let mut of_session = 0;
        for request in self.requests.values().filter(|request| request.state == State::Pending) {
            waiting += 1;
            of_session += usize::from(request.proposal.session == proposal.session);
        }
        if waiting >= IN_ALL || of_session >= PER_SESSION {
            return Err(Full);
        }
        let expires_at = WallTime(now.0.saturating_add_unsigned(rules.timeout_ms));
        let request = Request {
            id: random.uuid(),
            code: random.secret(),
            proposal,
            requested_at: now,
            expires_at,
            escalations: 0,
            state: State::Pending,
            rounds: 0,
            decided_by: None,
            reason: None,
        };
        let id = request.id.clone();
        self.restore(request);
        Ok(id)
    }

    /// Takes back a request that was kept.
    pub fn restore(&mut self, request: Request) {
        self.order.retain(|known| *known != request.id);
        self.order.push(request.id.clone());
        self.requests.insert(request.id.clone(), request);
        self.forget_oldest();
    }

    /// Forgets the oldest that are done with where there are too many.
    fn forget_oldest(&mut self) {
        let is_done = |request: &Request| !matches!(request.state, State::Pending | State::Approved);
        while self.requests.values().filter(|request| is_done(request)).count() > REMEMBERED {
            let oldest = self.order.iter().position(|id| self.requests.get(id).is_none_or(is_done));
            let Some(oldest) = oldest else { return };
            let id = self.order.remove(oldest);
            self.requests.remove(&id);
        }
    }

    /// A request.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Request> {
        self.requests.get(id)
    }

    /// All requests in the order in which they were asked.
    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.order.iter().filter_map(|id| self.requests.get(id))
    }

    /// The requests in one state, or all, as a list in JSON: `{items: […]}`.
    #[must_use]
    pub fn to_json(&self, state: Option<State>) -> Json {
        let (mut out, mut items) = (Object::new(), Array::new());
        for request in self.iter().filter(|request| state.is_none_or(|state| request.state == state)) {
            items.json(&request.to_json());
        }
        out.nested("items", items);
        out.finish()
    }

    /// The ids of requests that are others now, or gone, since this was last asked.
    pub fn take_changed(&mut self) -> Table<String, bool> {
        self.requests.take_touched()
    }

    /// Takes back what waits or was approved and is none of these.
    pub fn withdraw_others(&mut self, known: &[String]) {
        for id in self.order.clone().iter().filter(|id| !known.contains(id)) {
            self.withdraw(id);
        }
    }

    /// A request to be changed, where it is in one of these states.
    fn change(&mut self, id: &str, states: &[State]) -> Option<&mut Request> {
        self.requests.reach(id).filter(|request| states.contains(&request.state))?;
        self.requests.get_mut(id)
    }

    /// Takes a decision. An approval is remembered for the session and lets the call out once.
    ///
    /// # Errors
    /// There is no such request, it was decided or its time is up, or the decision is of whoever asks, or may be.
    pub fn decide(&mut self, id: &str, decision: Decision, now: WallTime) -> Result<&Request, Refusal> {
        let request = self.requests.get(id).ok_or(Refusal::NotFound)?;
        decision.by.check(request)?;
        if now >= request.expires_at {
            return Err(Refusal::Conflict);
        }
        let request = self.change(id, &[State::Pending]).ok_or(Refusal::Conflict)?;
        request.state = if decision.approved { State::Approved } else { State::Rejected };
        (request.decided_by, request.reason) = (Some(decision.by.name().to_string()), decision.reason);
        Ok(request)
    }

    /// Uses an approval up: `true` where the call is the one that was approved, under the same policy, and did not go out
    /// before.
    pub fn take(&mut self, id: &str, digest: &str, policy: &str) -> bool {
        let Some(request) = self.change(id, &[State::Approved]) else { return false };
        let same = request.proposal.digest == digest && request.proposal.policy == policy;
        request.state = if same { State::Executed } else { State::Void };
        if same {
            let proposal = request.proposal.clone();
            self.remember(proposal);
        }
        same
    }

    /// Whether a call that went out goes on with what its server asked for: under the same policy, and for the first time
    /// from this round on. That it is the same call is known by its seal.
    pub fn goes_on(&mut self, id: &str, round: u64, policy: &str) -> bool {
        let Some(request) = self.change(id, &[State::Executed]) else { return false };
        let is_next = request.rounds.checked_add(1) == Some(round);
        let goes_on = is_next && request.proposal.policy == policy;
        request.rounds += u64::from(goes_on);
        goes_on
    }

    /// Ends a request whose time is up, or gives it more.
    pub fn expire(&mut self, id: &str, rules: &Approval, now: WallTime) -> Expiry {
        let Some(request) = self.requests.get(id) else { return Expiry::Denied };
        if now < request.expires_at {
            return Expiry::None;
        }
        let Some(request) = self.change(id, &[State::Pending]) else { return Expiry::None };
        let (state, expiry) = match rules.fallback {
            Fallback::Escalate { extra_ms } if request.escalations < ESCALATIONS => {
                request.escalations += 1;
                request.expires_at = WallTime(now.0.saturating_add_unsigned(rules.timeout_ms.saturating_add(extra_ms)));
                (State::Pending, Expiry::Escalated)
            }
            Fallback::Skip => (State::Skipped, Expiry::Skipped),
            Fallback::Deny | Fallback::Escalate { .. } => (State::Expired, Expiry::Denied),
        };
        request.state = state;
        expiry
    }

    /// Makes a request void that waits: the policy under which it was asked is another one.
    pub fn void(&mut self, id: &str) {
        if let Some(request) = self.change(id, &[State::Pending]) {
            request.state = State::Void;
        }
    }

    /// Takes a request back whose call does not wait any more.
    pub fn withdraw(&mut self, id: &str) {
        if let Some(request) = self.change(id, &[State::Pending, State::Approved]) {
            request.state = State::Withdrawn;
        }
    }

    /// Whether a tool was approved in a session before. `policy` gives what it would be asked of now: a name may have become
    /// that of another tool.
    #[must_use]
    pub fn remembers(&self, session: &str, tool: &str, policy: &dyn Fn() -> String) -> bool {
        let known = self.cache.get(session).and_then(|tools| tools.iter().find(|(known, _)| known == tool));
        known.is_some_and(|(_, approved)| *approved == policy())
    }

    fn remember(&mut self, Proposal { session, tool, policy, .. }: Proposal) {
        if !is_session(&session) {
            return;
        }
        let tools = self.cache.get_or_default(session.as_str());
        if let Some((_, approved)) = tools.iter_mut().find(|(known, _)| *known == tool) {
            *approved = policy;
            return;
        }
        tools.push((tool, policy));
        if tools.len() > CACHED {
            self.forgotten.push((session, tools.remove(0).0));
        }
    }

    /// Remembers what was approved in sessions that go on, as far as it was under a policy that begins like this.
    pub fn recall(&mut self, policy: &str, goes_on: &dyn Fn(&str) -> bool) {
        let executed = |request: &&Request| request.state == State::Executed && request.proposal.policy.starts_with(policy);
        for proposal in gather(self.iter().filter(executed).map(|request| request.proposal.clone())) {
            if goes_on(&proposal.session) {
                self.remember(proposal);
            }
        }
    }

    /// A session and a tool whose approval made room for that of others there.
    pub fn take_forgotten(&mut self) -> Option<(String, String)> {
        self.forgotten.pop()
    }

    /// Forgets what was approved in every session.
    pub fn forget_sessions(&mut self) {
        self.cache.retain(|_, _| false);
    }

    /// Forgets what was approved in a session that ended.
    pub fn forget_session(&mut self, session: &str) {
        self.cache.remove(session);
    }
}

/// As many requests wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

#[cfg(test)]
mod tests;
