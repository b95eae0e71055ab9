//! Whether a call may go out, must wait for a person, or is refused: one function over data, with a trace of why.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::glob::{Glob, Names};
use super::settings::{Agent, Settings};
use crate::json::{Array, Json, Object};

/// Everything that a verdict depends on, beside the settings.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// the names of the tool
    pub names: Names<'a>,
    /// the server that owns it, as it is configured
    pub server: &'a str,
    /// which agent calls
    pub agent: Option<&'a str>,
    /// on whose behalf
    pub sender: Option<&'a str>,
    /// from where
    pub channel: Option<&'a str>,
    /// whether this tool was approved in this session before
    pub approved_before: bool,
}

/// How much harm a tool may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// a tool of the gateway itself
    Low,
    /// what others wrote: nobody here knows what it does
    High,
}

impl Risk {
    /// The risk of a tool of that name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.starts_with("mcp_") { Self::High } else { Self::Low }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// What is to become of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// it is refused; why
    Refused(String),
    /// it goes out
    Run,
    /// it waits for a person
    Ask {
        /// nothing may stand in for the person
        force_human: bool,
    },
}

/// One step of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// the gate: `name`, `pin`, `agent`, `channel`, `user`, `approval`, `waiver`
    pub gate: &'static str,
    /// what it said: `pass`, `deny`, `force_human`, `not_needed`, `needed`, `auto_approved`, `ask`
    pub outcome: &'static str,
    /// the rule that decided, in words
    pub rule: String,
}

/// A verdict and how it came about; the last step decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// the verdict
    pub verdict: Verdict,
    /// every gate in order, up to the one that decided
    pub trace: Vec<Step>,
}

impl Evaluation {
    /// One whose first gate refuses.
    #[must_use]
    pub fn refused(gate: &'static str, rule: String) -> Self {
        let mut trace = Vec::new();
        Self { verdict: refuse(&mut trace, gate, rule), trace }
    }

    /// The JSON form: `verdict`, `force_human` where it asks, `reason` where it refuses, and `trace`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Object::new();
        self.write(&mut out);
        out.finish()
    }

    /// Writes the members of the JSON form.
    pub fn write(&self, out: &mut Object) {
        let mut trace = Array::new();
        match &self.verdict {
            Verdict::Refused(reason) => out.string("verdict", "refused").string("reason", reason),
            Verdict::Run => out.string("verdict", "run"),
            Verdict::Ask { force_human } => out.string("verdict", "ask").boolean("force_human", *force_human),
        };
        for step in &self.trace {
            let mut entry = Object::new();
            entry.string("gate", step.gate).string("outcome", step.outcome).string("rule", &step.rule);
            trace.nested(entry);
        }
        out.nested("trace", trace);
    }
}

/// Says what is to become of a call. The scan of its arguments comes after that.
#[must_use]
pub fn evaluate(settings: &Settings, facts: &Facts<'_>) -> Evaluation {
    let mut trace = Vec::new();
    let verdict = verdict(settings, facts, &mut trace);
    Evaluation { verdict, trace }
}

fn verdict(settings: &Settings, facts: &Facts<'_>, trace: &mut Vec<Step>) -> Verdict {
    let agent = match agent(settings, facts) {
        Ok((agent, rule)) => {
            trace.push(Step { gate: "agent", outcome: "pass", rule });
            agent
        }
        Err(rule) => return refuse(trace, "agent", rule),
    };
    let (allowed_by_channel, rule) = match channel(settings, facts) {
        Ok(passed) => passed,
        Err(rule) => return refuse(trace, "channel", rule),
    };
    trace.push(Step { gate: "channel", outcome: "pass", rule });
    let (force_human, rule) = match user(settings, facts) {
        Ok(passed) => passed,
        Err(rule) => return refuse(trace, "user", rule),
    };
    trace.push(Step { gate: "user", outcome: if force_human { "force_human" } else { "pass" }, rule });
    let (needed, rule) = needs_approval(settings, facts, force_human, allowed_by_channel);
    trace.push(Step { gate: "approval", outcome: if needed { "needed" } else { "not_needed" }, rule });
    if !needed {
        return Verdict::Run;
    }
    let (waived, rule) = waiver(settings, facts, force_human, agent);
    trace.push(Step { gate: "waiver", outcome: if waived { "auto_approved" } else { "ask" }, rule });
    if waived { Verdict::Run } else { Verdict::Ask { force_human } }
}

fn refuse(trace: &mut Vec<Step>, gate: &'static str, rule: String) -> Verdict {
    trace.push(Step { gate, outcome: "deny", rule: rule.clone() });
    Verdict::Refused(rule)
}

/// Names of servers are the same where they differ in what names of tools do not keep.
fn is_same_server(a: &str, b: &str) -> bool {
    let folded = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| folded(a) == folded(b))
}

/// The agent's entry, where there is one, if it may use the server.
fn agent<'s>(settings: &'s Settings, facts: &Facts<'_>) -> Result<(Option<&'s Agent>, String), String> {
    let entry = |name: &str| settings.agents.iter().find(|agent| agent.name == name);
    let name = facts.agent.unwrap_or("default");
    let Some(agent) = entry(name).or_else(|| entry("default")) else {
        return match facts.agent.filter(|_| !settings.agents.is_empty()) {
            Some(name) => Err(format!("the agent {name} has no entry in `agents`, and there is no `agents.default`")),
            None => Ok((None, "no entry in `agents` holds".into())),
        };
    };
    let path = format!("agents.{}", agent.name);
    if agent.mcp_disabled {
        return Err(format!("`{path}.mcp_disabled` is true"));
    }
    if agent.mcp_servers.iter().any(|server| server == "*" || is_same_server(server, facts.server)) {
        return Ok((Some(agent), format!("`{path}.mcp_servers` has {}", facts.server)));
    }
    Err(format!("`{path}.mcp_servers` does not have {}", facts.server))
}

fn first_of(globs: &[Glob], fits: impl Fn(&Glob) -> bool) -> Option<&str> {
    globs.iter().find(|glob| fits(glob)).map(Glob::as_str)
}

fn either<'g>(globs: &'g [Glob], names: Names<'_>) -> Option<&'g str> {
    first_of(globs, |glob| glob.matches_either(names))
}

fn both<'g>(globs: &'g [Glob], names: Names<'_>) -> Option<&'g str> {
    first_of(globs, |glob| glob.matches_both(names))
}

/// Whether the channel's own list allows the tool; an error where the channel denies it.
fn channel(settings: &Settings, facts: &Facts<'_>) -> Result<(bool, String), String> {
    let Some(channel) = facts.channel else { return Ok((false, "no channel is named".into())) };
    let rule = settings.approval.channel_rules.iter().find(|rule| rule.channel == channel);
    let Some(rule) = rule else { return Ok((false, format!("no rule for the channel {channel}"))) };
    if let Some(glob) = either(&rule.denied_tools, facts.names) {
        return Err(format!("the channel {channel} denies {glob}"));
    }
    match both(&rule.allowed_tools, facts.names) {
        Some(glob) => Ok((true, format!("the channel {channel} allows {glob}"))),
        None if rule.allowed_tools.is_empty() => Ok((false, format!("the channel {channel} does not deny it"))),
        None => Err(format!("the channel {channel} allows other tools only")),
    }
}

/// Whether a person has to decide whatever else is configured; an error where the user may not call the tool.
fn user(settings: &Settings, facts: &Facts<'_>) -> Result<(bool, String), String> {
    if settings.users.is_empty() {
        return Ok((false, "no users are configured".into()));
    }
    let user = facts.sender.and_then(|sender| settings.users.iter().find(|user| user.id == sender));
    let Some(user) = user else {
        let rule =
            facts.sender.map_or_else(|| "no sender is named".into(), |sender| format!("the sender {sender} is not in `users`"));
        return Ok((true, rule));
    };
    if let Some(glob) = either(&user.deny, facts.names) {
        return Err(format!("the user {} is denied {glob}", user.id));
    }
    if !user.allow.is_empty() && both(&user.allow, facts.names).is_none() {
        return Err(format!("the user {} is allowed other tools only", user.id));
    }
    Ok(match either(&user.needs_approval, facts.names) {
        Some(glob) => (true, format!("the user {} needs approval for {glob}", user.id)),
        None => (false, format!("the user {} may call it", user.id)),
    })
}

fn needs_approval(settings: &Settings, facts: &Facts<'_>, force_human: bool, allowed_by_channel: bool) -> (bool, String) {
    let approval = &settings.approval;
    if force_human {
        return (true, "the user's policy asks for it".into());
    }
    let trusted = facts.sender.filter(|sender| approval.trusted_senders.iter().any(|known| known == sender));
    let risk = Risk::of(facts.names.offered).max(Risk::of(facts.names.composed));
    if let Some(sender) = trusted.filter(|_| risk < Risk::High) {
        return (false, format!("the sender {sender} is trusted"));
    }
    if allowed_by_channel {
        return (false, "the channel allows it".into());
    }
    match either(&approval.required, facts.names) {
        Some(glob) => (true, format!("`approval.require_approval` has {glob}")),
        None => (false, "no pattern of `approval.require_approval` matches".into()),
    }
}

/// Whether something stands in for the person.
fn waiver(settings: &Settings, facts: &Facts<'_>, force_human: bool, agent: Option<&Agent>) -> (bool, String) {
    if force_human {
        return (false, "a person has to decide".into());
    }
    if let Some(tag) = agent.and_then(|agent| agent.tags.iter().find(|tag| tag.starts_with("hand:"))) {
        return (true, format!("the agent has the tag {tag}"));
    }
    if settings.approval.cached_per_session && facts.approved_before {
        return (true, "this session approved the tool before".into());
    }
    (false, "nothing stands in for a person".to_string())
}

#[cfg(test)]
mod tests;
