//! Connecting an agent: it is registered at once, and its card is awaited for a while.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::discovery::{CARD_MS, Discovery, Search};
use super::target::Target;
use super::{Ended, Run};
use crate::exchange::{Failure, Report};
use crate::io::{Deadline, ExchangeId, Reason};
use crate::json::Object;
use crate::list::gather;
use crate::mcp::outcome::{ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::registry::{Agent, Profile};
use crate::text;
use crate::time::Instant;
use crate::url::Address;

/// A connect_agent whose card is on its way.
#[derive(Debug)]
pub struct Connect {
    target: Target,
    alias: String,
    registration: u64,
    replaced: bool,
    remark: Option<String>,
    discovery: Discovery,
    until: Instant,
}

impl Connect {
    /// Looks for the card of an alias that was just registered; `remark` is told with the result.
    ///
    /// # Errors
    /// Never: the alias is there.
    pub fn start(run: &mut Run<'_>, alias: &str, replaced: bool, remark: Option<String>) -> Result<Started, ToolError> {
        let target = Target::resolve(run.scope, alias)?;
        let registration = target.alias.as_ref().map_or(0, |(_, registration)| *registration);
        let (discovery, search) = Discovery::start(run, target.clone());
        let until = run.ground.now.plus_ms(CARD_MS);
        let mut work = Self { target, alias: alias.to_string(), registration, replaced, remark, discovery, until };
        Ok(match work.search(run, search) {
            Some(result) => Started::Done(result),
            None => Started::Running(Box::new(super::Work::Connect(work))),
        })
    }

    /// The agent of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    fn search(&mut self, run: &mut Run<'_>, search: Search) -> Option<ToolResult> {
        match search {
            Search::Going => None,
            Search::Found(found) => Some(self.result(run, Some(&found.profile), None)),
            Search::NotFound(why) => Some(self.result(run, None, Some(&why))),
        }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        let search = self.discovery.report(run, exchange, report)?;
        self.search(run, search).map(Ok)
    }

    /// The card's time may be up: the alias stands without it.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        if run.ground.now < self.until {
            return None;
        }
        let why = self.discovery.so_far();
        self.discovery.give_up(run);
        Some(Ok(self.result(run, None, Some(&why))))
    }

    /// When the card's time is up.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CardTimeout }
    }

    /// Stops the search; the registration stands.
    pub fn stop(&mut self, run: &mut Run<'_>) {
        self.discovery.stop(run);
    }

    /// The alias may have been registered anew meanwhile: then nothing of this call stands.
    fn overtaken(&self, by: &Agent) -> ToolResult {
        let (alias, url, why) = (&self.alias, by.url.as_str(), "the alias was registered anew before this card arrived");
        let mut out = Object::new();
        out.string("alias", alias).string("url", url).boolean("replaced", self.replaced).null("card");
        out.string("card_error", why);
        let text = format!("Another connect_agent came after this one: '{alias}' stands for {url}, and {why}.");
        ToolResult::new(text, out)
    }

    fn result(&self, run: &Run<'_>, profile: Option<&Profile>, card_error: Option<&str>) -> ToolResult {
        let newer = run.scope.registry.get(&self.alias).filter(|agent| agent.registration != self.registration);
        if let Some(newer) = newer {
            return self.overtaken(newer);
        }
        let url = self.target.url.as_str();
        let verb = if self.replaced { "Reconnected" } else { "Connected" };
        let mut text = match profile {
            Some(profile) => {
                let refusal = self.refusal(run, profile);
                format!(
                    "{verb} '{}' to {url}. {}",
                    self.alias,
                    describe(profile, refusal.as_deref(), self.unlisted(run, profile))
                )
            }
            None => format!("{verb} '{}' to {url}, without a card: messages go to that URL as A2A 1.0 JSON-RPC.", self.alias),
        };
        if let Some(why) = card_error {
            text = format!("{text} Why: {why}.");
        }
        if let Some(remark) = &self.remark {
            text = format!("{text} {remark}");
        }
        let mut out = Object::new();
        out.string("alias", &self.alias).string("url", url).boolean("replaced", self.replaced);
        match profile {
            Some(profile) => out.json("card", &profile.summary),
            None => out.null("card"),
        };
        out.optional_string("card_error", card_error);
        ToolResult::new(text, out)
    }
}

impl Connect {
    /// The host of an interface that is not called at a private address, because the configuration does not list it.
    fn unlisted<'p>(&self, run: &Run<'_>, profile: &'p Profile) -> Option<&'p str> {
        let url = &profile.interface.as_ref().filter(|_| profile.by_public)?.url;
        let is_told = url.address() == Address::Name && url.origin() != self.target.url.origin();
        Some(url.host()).filter(|host| is_told && !run.ground.config.network.names(host))
    }

    /// Why the interface of the card will not be called, where that is known already.
    fn refusal(&self, run: &Run<'_>, profile: &Profile) -> Option<String> {
        let url = &profile.interface.as_ref()?.url;
        match run.exchanges.check(run.ground, url, &self.target.url, profile.by_public) {
            Err(Failure::Blocked(why)) => Some(why),
            Err(Failure::Transport { .. } | Failure::TooLarge(_) | Failure::Redirect { .. }) | Ok(()) => None,
        }
    }
}

/// What the agent can do, in words; and why nothing is asked of it, where that is so.
fn describe(profile: &Profile, refusal: Option<&str>, unlisted: Option<&str>) -> String {
    let summary = profile.summary.members().unwrap_or_default();
    let name = summary.string("name").unwrap_or_default();
    let skills = summary.get("skills").and_then(crate::json::elements).unwrap_or_default();
    let skills = gather(skills.into_iter().filter_map(crate::json::string));
    let mut text = format!("It is {name}");
    match &profile.interface {
        Some(interface) => {
            text = format!("{text}, speaks A2A {} over {}", interface.dialect.version(), interface.dialect.transport());
            if profile.streaming {
                text.push_str(", streams its answers");
            }
        }
        None => text = format!("{text}, but offers nothing that this gateway speaks ({})", text::joined(&profile.offered, ", ")),
    }
    if skills.is_empty() {
        text.push('.');
    } else {
        text = format!("{text}. Skills: {}.", text::joined(&skills, ", "));
    }
    for note in &profile.notes {
        text = format!("{text} Note: {note}");
    }
    if let Some(why) = refusal {
        text = format!("{text} No message will be sent to its interface: {why}.");
    } else if profile.foreign {
        text.push_str(" Its card names an interface on another origin: messages go there without the header fields given here.");
        if let Some(host) = unlisted {
            text = format!("{text} If {host} is at a private address, network.allowed_hosts has to list it.");
        }
    }
    text
}
