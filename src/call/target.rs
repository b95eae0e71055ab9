//! The agent of a call: an alias of the scope, or a URL.

use alloc::format;
use alloc::string::{String, ToString};

use crate::a2a::{Encoded, Interface};
use crate::call::route::Route;
use crate::call::{Run, fault};
use crate::exchange::{Failure, Plan, Want};
use crate::io::Cause;
use crate::mcp::outcome::{Code, ToolError};
use crate::registry::{Agent, Credentials, Profile};
use crate::scope::Scope;
use crate::text;
use crate::url::Url;

/// What is known of an agent's card.
#[derive(Debug)]
pub enum Known {
    /// what calls need of it; `None` where the agent has none
    Profile(Option<Profile>),
    /// a look-up runs
    Awaited,
    /// nothing
    Nothing,
}

/// Which agent a call is for.
#[derive(Clone, Debug)]
pub struct Target {
    /// the agent as the caller named it, for messages
    pub label: String,
    /// the alias with its registration, where it is one
    pub alias: Option<(String, u64)>,
    /// the URL that the user gave
    pub url: Url,
    /// the header fields of the alias
    pub credentials: Option<Credentials>,
}

impl Target {
    /// Resolves an agent argument: an exact alias, else an absolute URL.
    ///
    /// # Errors
    /// [`Code::UnknownAgent`], or [`Code::InvalidArgument`] for a blank one.
    pub fn resolve(scope: &Scope, argument: &str) -> Result<Self, ToolError> {
        if let Some(agent) = scope.registry.get(argument) {
            return Ok(Self {
                label: format!("agent '{argument}'"),
                alias: Some((argument.to_string(), agent.registration)),
                url: agent.url.clone(),
                credentials: Some(agent.credentials()),
            });
        }
        if argument.trim().is_empty() {
            return Err(ToolError::new(Code::InvalidArgument, "`agent` is blank: give an alias or an absolute http(s) URL"));
        }
        if !text::holds(argument, "://") {
            return Err(no_agent(argument, ": connect it with connect_agent, or see list_agents"));
        }
        match Url::parse(argument) {
            Ok(url) => Ok(Self { label: format!("agent {}", url.as_str()), alias: None, url, credentials: None }),
            Err(fault) => Err(ToolError::new(Code::UnknownAgent, format!("the agent's URL {fault}"))),
        }
    }

    /// Takes the alias as it is registered by now, for a call that has sent nothing to it yet.
    ///
    /// # Errors
    /// [`Code::Canceled`] where it is at another URL: the message was meant for another agent, as was its conversation.
    pub fn follow(&mut self, run: &Run<'_>) -> Result<(), ToolError> {
        let Some((alias, registration)) = &mut self.alias else { return Ok(()) };
        match run.scope.registry.get(alias).filter(|agent| agent.url == self.url) {
            Some(agent) => {
                *registration = agent.registration;
                self.credentials = Some(agent.credentials());
                Ok(())
            }
            None => {
                let message = format!(
                    "{} was connected at another URL while this call waited for its card; nothing was sent, so call again",
                    self.label
                );
                Err(ToolError::new(Code::Canceled, message))
            }
        }
    }

    /// What can be known before a token is spent: that the agent has an interface, and that its address may be called.
    ///
    /// # Errors
    /// [`Code::Unsupported`] or [`Code::Blocked`].
    pub fn check(&self, run: &Run<'_>) -> Result<(), ToolError> {
        let Known::Profile(profile) = self.known(run) else { return Ok(()) };
        let interface = self.interface(profile.as_ref())?;
        let by_public = profile.as_ref().is_some_and(|profile| profile.by_public);
        run.exchanges
            .check(run.ground, &interface.url, &self.url, by_public)
            .map_err(|failure| fault::failure(run, &self.label, &failure))
    }

    /// The agent of the alias, where it is still the same registration.
    pub fn agent<'r>(&self, run: &'r mut Run<'_>) -> Option<&'r mut Agent> {
        let (alias, registration) = self.alias.as_ref()?;
        run.scope.registry.same(alias, *registration)
    }

    /// What is known of the agent's card.
    #[must_use]
    pub fn known(&self, run: &Run<'_>) -> Known {
        let Some((alias, registration)) = &self.alias else {
            return run.scope.cards.get(&self.url, run.ground.now).map_or(Known::Nothing, Known::Profile);
        };
        let agent = run.scope.registry.get(alias).filter(|agent| agent.registration == *registration);
        let Some(agent) = agent else { return Known::Nothing };
        if let Some(profile) = &agent.profile {
            return Known::Profile(Some(profile.clone()));
        }
        if agent.looking > 0 {
            return Known::Awaited;
        }
        let stands = agent.cardless_until.is_some_and(|until| run.ground.now < until);
        if stands { Known::Profile(None) } else { Known::Nothing }
    }

    /// The interface to call; without a card 1.0 JSON-RPC at the agent's own URL.
    ///
    /// # Errors
    /// [`Code::Unsupported`] where the card offers none that is spoken here.
    pub fn interface(&self, profile: Option<&Profile>) -> Result<Interface, ToolError> {
        match profile {
            None => Ok(Interface::assumed(self.url.clone())),
            Some(profile) => profile.interface.clone().ok_or_else(|| {
                let message = format!(
                    "{} offers no interface that this gateway speaks (JSON-RPC and HTTP+JSON, A2A 1.0 and 0.3); its card offers {}",
                    self.label,
                    if profile.offered.is_empty() { "none".to_string() } else { text::joined(&profile.offered, ", ") },
                );
                ToolError::new(Code::Unsupported, message)
            }),
        }
    }

    /// A request to the agent, with its alias's header fields bound to their origin.
    #[must_use]
    pub fn plan(&self, route: &Route, encoded: Encoded, want: Want) -> Plan {
        Plan {
            method: encoded.method,
            url: encoded.url,
            headers: encoded.headers,
            body: encoded.body,
            credentials: self.credentials.clone(),
            registered: self.url.clone(),
            by_public: route.by_public(),
            want,
        }
    }

    /// Remembers the dialect that an agent turned out to speak, without a card or in spite of it.
    pub fn learn(&self, run: &mut Run<'_>, interface: &Interface) {
        let profile = match &self.alias {
            Some((alias, registration)) => run.scope.registry.same(alias, *registration).map(|agent| &mut agent.profile),
            None => run.scope.cards.learn(&self.url, interface),
        };
        match profile {
            Some(Some(profile)) => profile.interface = Some(interface.clone()),
            Some(none) => *none = Some(Profile::without_card(interface.clone())),
            None => {}
        }
    }

    /// Notes what a failure says of the agent: nothing where the host itself refused its address.
    pub fn failed(&self, run: &mut Run<'_>, failure: &Failure) {
        match failure {
            Failure::Transport { cause: Cause::Blocked, .. } => {}
            Failure::Transport { answered, .. } => self.heard(run, *answered),
            Failure::TooLarge(_) | Failure::Redirect { .. } | Failure::Blocked(_) => self.heard(run, true),
        }
    }

    /// Notes that the agent answered, or that it could not be reached.
    pub fn heard(&self, run: &mut Run<'_>, answered: bool) {
        let now = run.ground.now;
        if let Some(agent) = self.agent(run) {
            if answered {
                agent.health.answered();
            } else {
                agent.health.failed(now);
            }
        }
    }
}

/// The error of an alias that is nobody's, with what to do about it.
#[must_use]
pub fn no_agent(alias: &str, hint: &str) -> ToolError {
    ToolError::new(Code::UnknownAgent, format!("there is no connected agent '{}'{hint}", shown(alias)))
}

/// A name as it may be repeated: cut, and without what may be a password before an `@`.
fn shown(argument: &str) -> String {
    let after = argument.rsplit_once('@').map_or(argument, |(_, after)| after);
    after.chars().take(100).collect()
}
