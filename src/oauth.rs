//! Authorization at an MCP server behind the gateway (MCP 2025-11-25 and 2026-07-28, authorization): where tokens for it
//! come from, and what has to happen until there is one.
//!
//! It is a machine of its own that makes no requests: it says what is to be done next, and is told what came of it. There
//! is one for each server, so a token is asked for once, however many calls wait for it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ids::Random;
use crate::io::AuthorizeEvent;
use crate::json::{self, Json};
use crate::list::gather;
use crate::text;
use crate::time::WallTime;
use crate::url::{Url, form_decode};

pub mod challenge;
pub mod grant;
mod login;
pub mod metadata;
pub mod request;
mod tokens;

use crate::config::Oauth;
pub use challenge::Challenge;
use grant::{Grant, join};
use metadata::{Metadata, Resource, shortened};
use request::Ask;

/// What the machine cannot know by itself.
#[derive(Debug)]
pub struct Around<'a> {
    /// randomness for what nobody may guess
    pub random: &'a mut Random,
    /// the time
    pub now: WallTime,
    /// how the gateway calls itself
    pub name: &'a str,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// nothing
    Wait,
    /// the host's store is asked; to get another token, where nobody else is to do so meanwhile
    Load {
        /// whether for that
        refresh: bool,
    },
    /// a request is made
    Fetch(Ask),
    /// a person is sent there, and comes back to the address that was given
    Open(Url),
    /// there is a token, or it goes on without
    Go,
    /// only a person can help; why
    Person(String),
    /// a person tried and that came to nothing; why
    Denied(String),
    /// it does not work now; why
    Failed(String),
}

/// How a token came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Store,
    Person,
    Refresh,
    Client,
}

/// What is under way.
enum Phase {
    Idle,
    Loading {
        refresh: bool,
    },
    /// the metadata of the resource, and where else it may be
    Resource(Vec<Url>),
    /// that of the authorization server
    Server(Vec<Url>),
    Registering,
    /// somebody logs in
    Person {
        verifier: String,
        state: String,
    },
    Tokens(Source),
}

/// How the gateway gets tokens for one server.
pub struct Authorization {
    settings: Oauth,
    server: Url,
    phase: Phase,
    challenge: Option<Challenge>,
    grant: Grant,
    /// the token that was refused last
    refused: Option<String>,
    /// where the token came from that nobody has taken yet
    untried: Option<Source>,
    /// where a person who logs in comes back to
    redirect: Option<String>,
    resource: Resource,
    metadata: Option<Metadata>,
    asked_scopes: Vec<String>,
    is_unsaved: bool,
    /// how many tokens there were
    number: u64,
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "authorization at {:?}: {:?}", self.server, self.grant)
    }
}

impl Authorization {
    /// For a server of which nothing is known yet.
    #[must_use]
    pub fn new(settings: Oauth, server: Url) -> Self {
        Self {
            settings,
            server,
            phase: Phase::Idle,
            challenge: None,
            grant: Grant::default(),
            refused: None,
            untried: None,
            redirect: None,
            resource: Resource::default(),
            metadata: None,
            asked_scopes: Vec::new(),
            is_unsaved: false,
            number: 0,
        }
    }

    /// The token that goes with requests.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.grant.access.as_deref()
    }

    /// How many tokens there were.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Whether the token ended, and another one may be had without a person.
    #[must_use]
    pub fn is_stale(&self, now: WallTime) -> bool {
        self.grant.access.is_some() && self.grant.refresh.is_some() && self.grant.is_stale(now)
    }

    /// Whether something is under way that ends by itself.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Person { .. })
    }

    /// Whether a refresh token is out, which may be good for one use.
    #[must_use]
    pub const fn is_refreshing(&self) -> bool {
        matches!(self.phase, Phase::Tokens(Source::Refresh))
    }

    /// Whether the token was found in the store.
    #[must_use]
    pub fn is_from_store(&self) -> bool {
        self.untried == Some(Source::Store)
    }

    /// Whether a person is asked to log in.
    #[must_use]
    pub const fn is_with_person(&self) -> bool {
        matches!(self.phase, Phase::Person { .. })
    }

    /// What nobody else may see.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        self.grant.secrets().chain(&self.settings.client_secret)
    }

    /// Keeps them out of a text.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        self.grant.redact(text)
    }

    /// The record to be kept, where it is another one; it waits while another token is asked for.
    pub fn take_unsaved(&mut self) -> Option<Json> {
        if matches!(self.phase, Phase::Tokens(_) | Phase::Loading { .. }) {
            return None;
        }
        core::mem::take(&mut self.is_unsaved).then(|| self.grant.to_json(&self.server))
    }

    /// The server took the token.
    pub fn accepted(&mut self) {
        self.untried = None;
    }

    /// Before the first request: where the configuration speaks of tokens, the store is asked for one.
    pub fn begin(&mut self) -> Step {
        if !self.settings.is_given || self.grant.access.is_some() || !matches!(self.phase, Phase::Idle) {
            return Step::Go;
        }
        self.load(false)
    }

    fn load(&mut self, refresh: bool) -> Step {
        self.phase = Phase::Loading { refresh };
        Step::Load { refresh }
    }

    /// What runs is given up.
    pub fn reset(&mut self) {
        if self.is_busy() {
            // A store that was locked is told that it is free.
            self.is_unsaved |= matches!(self.phase, Phase::Loading { refresh: true } | Phase::Tokens(Source::Refresh));
            self.phase = Phase::Idle;
        }
    }

    /// The server wants a token, or another one (RFC 6750 §3.1, `invalid_token`).
    pub fn challenged(&mut self, challenge: Challenge, around: &mut Around<'_>) -> Step {
        self.challenge = Some(challenge);
        if self.is_with_person() {
            return Step::Person("waits for somebody to log in".to_owned());
        }
        if self.is_refreshing() {
            return Step::Wait;
        }
        let untried = self.untried.take();
        self.refused = self.grant.access.take().or(self.refused.take());
        if self.redirect.is_some() {
            return self.discover();
        }
        match untried {
            // A loop of tokens that are refused ends here.
            Some(Source::Client) => self.failed("refuses the token that it was given"),
            Some(Source::Person | Source::Refresh) => {
                self.grant.forget_tokens();
                self.is_unsaved = true;
                self.discover()
            }
            None | Some(Source::Store) => self.renew(around),
        }
    }

    /// Another token is wanted: of the store, where somebody else put one, or for the refresh token.
    pub fn renew(&mut self, around: &mut Around<'_>) -> Step {
        if self.grant.is_stale(around.now) {
            self.refused = self.grant.access.take().or(self.refused.take());
        }
        self.load(self.grant.refresh.is_some())
    }

    /// The token does not reach far enough (RFC 6750 §3.1, `insufficient_scope`). A scope that was asked for already is not
    /// asked for again.
    pub fn insufficient(&mut self, mut challenge: Challenge) -> Step {
        let has_all = challenge.scopes.iter().all(|scope| self.grant.scopes.contains(scope));
        if challenge.scopes.is_empty() || has_all {
            return Step::Failed("refuses the call although its token has the scopes that it asks for".to_owned());
        }
        let why = format!("wants more scopes ({})", shortened(&text::joined(&challenge.scopes, " ")));
        join(&mut challenge.scopes, &self.grant.scopes);
        self.challenge = Some(challenge);
        Step::Person(why)
    }

    /// A person wants to log in, and comes back to that address. Where the server has not said yet what it wants, it has to
    /// be asked first: then what it says leads on.
    pub fn log_in(&mut self, redirect: String) -> Step {
        self.redirect = Some(redirect);
        self.reset();
        self.phase = Phase::Idle;
        if self.challenge.is_some() {
            return self.discover();
        }
        self.refused = self.grant.access.take().or(self.refused.take());
        Step::Go
    }

    /// What the store has.
    pub fn loaded(&mut self, record: Option<&str>, around: &mut Around<'_>) -> Step {
        let Phase::Loading { refresh } = self.phase else { return Step::Wait };
        self.phase = Phase::Idle;
        self.is_unsaved |= refresh;
        if let Some(known) = record.and_then(|record| Grant::read(record, &self.server)).filter(|known| self.is_ours(known)) {
            self.grant = known;
        } else if refresh {
            // Somebody logged out.
            self.grant.forget_tokens();
        }
        let is_other = self.grant.access.is_some() && self.grant.access != self.refused;
        if is_other && !self.grant.is_stale(around.now) && self.redirect.is_none() {
            return self.granted(Source::Store);
        }
        self.grant.access = None;
        if self.grant.refresh.is_some() && self.redirect.is_none() {
            return if refresh { self.refresh() } else { self.load(true) };
        }
        // Nothing was asked for yet.
        if self.challenge.is_none() { Step::Go } else { self.discover() }
    }

    /// Whether a record is of the client that is configured.
    fn is_ours(&self, known: &Grant) -> bool {
        let configured = self.settings.client_id.as_deref().filter(|id| !is_document(id));
        configured.is_none_or(|id| known.client.as_ref().is_none_or(|client| client.id == id))
    }

    fn granted(&mut self, source: Source) -> Step {
        self.untried = Some(source);
        self.number += 1;
        (self.redirect, self.phase) = (None, Phase::Idle);
        Step::Go
    }

    fn failed(&mut self, why: impl Into<String>) -> Step {
        self.phase = Phase::Idle;
        Step::Failed(self.redact(why.into()))
    }

    /// Without a person it does not go on.
    fn person(&mut self, why: impl Into<String>) -> Step {
        self.phase = Phase::Idle;
        let why = self.redact(why.into());
        if self.redirect.take().is_some() { Step::Denied(why) } else { Step::Person(why) }
    }

    /// Asks where tokens come from.
    fn discover(&mut self) -> Step {
        let named = self.challenge.as_ref().and_then(|challenge| challenge.metadata.as_deref());
        let mut places = match named {
            Some(named) => {
                let place = Url::parse(named).ok().filter(|url| metadata::is_safe(url, &self.server));
                gather(place)
            }
            None => metadata::resource_places(&self.server),
        };
        if places.is_empty() {
            return self.failed("names a place for its metadata that is not called");
        }
        let first = places.remove(0);
        self.phase = Phase::Resource(places);
        Step::Fetch(request::document(first))
    }

    /// The one request that runs is answered.
    pub fn replied(&mut self, status: u16, body: &[u8], around: &mut Around<'_>) -> Step {
        let found = (status == 200).then_some(body);
        match core::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Resource(places) => self.resource_read(found.and_then(|body| Resource::read(body, &self.server)), places),
            Phase::Server(places) => {
                let read = found.and_then(|body| Metadata::read(body, &self.resource.issuer, &self.server));
                self.server_read(read, places, around)
            }
            Phase::Registering => self.registered(status, body, around),
            Phase::Tokens(source) => self.given(source, status, body, around),
            phase @ (Phase::Idle | Phase::Loading { .. } | Phase::Person { .. }) => {
                self.phase = phase;
                Step::Wait
            }
        }
    }

    /// The one request that runs came to nothing.
    pub fn unanswered(&mut self, why: &str) -> Step {
        if !self.is_busy() {
            return Step::Wait;
        }
        self.stuck(format!("wants a token, and where it comes from {why}"))
    }

    fn resource_read(&mut self, read: Option<Result<Resource, String>>, mut places: Vec<Url>) -> Step {
        match read {
            Some(Ok(resource)) => self.resource = resource,
            Some(Err(why)) => return self.stuck(why),
            None if !places.is_empty() => {
                let next = places.remove(0);
                self.phase = Phase::Resource(places);
                return Step::Fetch(request::document(next));
            }
            None if self.challenge.as_ref().is_some_and(|challenge| challenge.metadata.is_some()) => {
                return self.stuck("names a place for its metadata where there is none");
            }
            // Before there were such documents, a server was its own authorization server (MCP 2025-03-26, authorization).
            None => {
                let issuer = metadata::canonical(&self.server.origin_url());
                self.resource = Resource { name: metadata::canonical(&self.server), issuer, scopes: Vec::new() };
            }
        }
        let issuer = Url::parse(&self.resource.issuer).ok().filter(|url| metadata::is_safe(url, &self.server));
        let Some(issuer) = issuer else { return self.stuck("names an authorization server that is not called") };
        let mut places = metadata::issuer_places(&issuer);
        let first = places.remove(0);
        self.phase = Phase::Server(places);
        Step::Fetch(request::document(first))
    }

    /// What is wrong is told to whoever waits for it.
    fn stuck(&mut self, why: impl Into<String>) -> Step {
        if self.redirect.is_some() { self.person(why) } else { self.failed(why) }
    }

    fn server_read(&mut self, read: Option<Result<Metadata, String>>, mut places: Vec<Url>, around: &mut Around<'_>) -> Step {
        match read {
            Some(Ok(metadata)) => self.metadata = Some(metadata),
            Some(Err(why)) => return self.stuck(why),
            None if !places.is_empty() => {
                let next = places.remove(0);
                self.phase = Phase::Server(places);
                return Step::Fetch(request::document(next));
            }
            None => {
                return self.stuck(
                    "answered HTTP 401: it wants credentials, give them as headers (nothing says where tokens come from)",
                );
            }
        }
        let is_other = !self.grant.issuer.is_empty() && self.grant.issuer != self.resource.issuer;
        if is_other {
            // What one authorization server gave is never shown to another (MCP 2026-07-28, authorization).
            self.grant = Grant::default();
            self.is_unsaved = true;
        }
        if self.redirect.is_some() {
            return self.identify(around);
        }
        let grants = self.metadata.as_ref().map(|metadata| metadata.grants.as_slice()).unwrap_or_default();
        if self.settings.client_secret.is_some() && grants.iter().any(|grant| grant == "client_credentials") && !is_other {
            return self.ask_as_client();
        }
        let changed = if is_other { ": its authorization server is another one now" } else { "" };
        self.person(format!("wants a login{changed}"))
    }
}

/// Whether a client's name is the URL of its metadata.
fn is_document(id: &str) -> bool {
    id.starts_with("https://")
}

/// What of an event is a secret, before anybody has looked at it; nothing is known of a record that cannot be read.
#[must_use]
pub fn secrets_in(event: &AuthorizeEvent) -> Option<Vec<String>> {
    let found = match event {
        AuthorizeEvent::Tokens { record: Some(record) } => {
            let text = Json::parse(record, 8).ok()?;
            let members = text.members()?;
            let client = members.get("client").and_then(json::members).and_then(|client| client.string("secret"));
            [members.string("access_token"), members.string("refresh_token"), client]
        }
        AuthorizeEvent::CameBack { query } => [parameter(query, "code"), None, None],
        AuthorizeEvent::LogIn { .. } | AuthorizeEvent::Tokens { record: None } => [None, None, None],
    };
    Some(gather(found.into_iter().flatten()))
}

/// The value of the first parameter of that name in a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| form_decode(key) == name).map(|(_, value)| form_decode(value))
}

#[cfg(test)]
mod tests;
