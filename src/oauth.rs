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
pub mod metadata;
pub mod request;

use crate::config::Oauth;
pub use challenge::Challenge;
use grant::{Client, Grant, Method, join};
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

    /// Who the gateway is to the authorization server: as configured, by its own document, or as it was or is registered.
    fn identify(&mut self, around: &mut Around<'_>) -> Step {
        let (Some(metadata), Some(redirect)) = (&self.metadata, &self.redirect) else { return Step::Wait };
        if metadata.authorization.is_none() {
            return self.person("has an authorization server where nobody can log in");
        }
        if !metadata.has_s256 {
            // Without it a code that is caught on its way is as good as a token (MCP 2025-11-25, authorization code protection).
            return self.person("has an authorization server that does not protect codes (S256)");
        }
        if let Some(client) = self.configured(metadata) {
            self.grant.client = Some(client);
            return self.open(around);
        }
        let is_registered = |client: &Client| client.redirect.as_ref() == Some(redirect);
        if self.grant.client.as_ref().is_some_and(is_registered) {
            return self.open(around);
        }
        let Some(url) = metadata.registration.clone() else {
            return self.person("has an authorization server that knows its clients: give oauth.client_id");
        };
        let ask = request::registration(url, metadata, around.name, redirect);
        self.phase = Phase::Registering;
        Step::Fetch(ask)
    }

    fn configured(&self, metadata: &Metadata) -> Option<Client> {
        let id = self.settings.client_id.clone().filter(|id| !is_document(id) || metadata.has_documents)?;
        let secret = self.settings.client_secret.clone();
        let method = request::method_of(metadata, secret.is_some());
        Some(Client { id, secret, method, redirect: None })
    }

    fn registered(&mut self, status: u16, body: &[u8], around: &mut Around<'_>) -> Step {
        let text = core::str::from_utf8(body).ok().and_then(|text| Json::parse(text, 16).ok());
        let members = text.as_ref().and_then(Json::members).unwrap_or_default();
        let (Some(id), Some(metadata)) = (members.string("client_id").filter(|_| status < 300), &self.metadata) else {
            let (_, said) = grant::refusal(status, body);
            return self.person(format!("has an authorization server that registers no client: {said}"));
        };
        let secret = members.string("client_secret").filter(|secret| !secret.is_empty());
        let asked = request::method_of(metadata, secret.is_some());
        let method = members.string("token_endpoint_auth_method").and_then(|name| Method::named(&name)).unwrap_or_else(|| {
            // One that takes none at all was asked for none.
            if metadata.methods.iter().any(|name| name == Method::None.name()) { Method::None } else { asked }
        });
        self.grant.client = Some(Client { id, secret, method, redirect: self.redirect.clone() });
        self.open(around)
    }

    /// The scopes to ask for: those of the configuration or of the challenge, else those of the resource.
    fn scopes(&self) -> Vec<String> {
        let challenged = self.challenge.as_ref().map(|challenge| challenge.scopes.as_slice()).unwrap_or_default();
        if !self.settings.scopes.is_empty() {
            let mut scopes = self.settings.scopes.clone();
            join(&mut scopes, challenged);
            return scopes;
        }
        let mut scopes = if challenged.is_empty() { self.resource.scopes.clone() } else { challenged.to_vec() };
        let lasting = "offline_access".to_owned();
        let knows = self.metadata.as_ref().is_some_and(|metadata| metadata.scopes.contains(&lasting));
        if knows && !scopes.is_empty() {
            join(&mut scopes, &[lasting]);
        }
        scopes
    }

    /// Sends the person to the authorization server (OAuth 2.1 §4.1.1).
    fn open(&mut self, around: &mut Around<'_>) -> Step {
        let scopes = self.scopes();
        let place = self.metadata.as_ref().and_then(|metadata| metadata.authorization.clone());
        let (Some(place), Some(client), Some(redirect)) = (place, &self.grant.client, &self.redirect) else { return Step::Wait };
        let (verifier, state) = ([around.random.uuid(), around.random.uuid()].concat(), around.random.uuid());
        let mut url = place
            .with_query("response_type", "code")
            .with_query("client_id", &client.id)
            .with_query("redirect_uri", redirect)
            .with_query("state", &state)
            .with_query("code_challenge", &request::code_challenge(&verifier))
            .with_query("code_challenge_method", "S256")
            .with_query("resource", &self.resource.name);
        if !scopes.is_empty() {
            url = url.with_query("scope", &text::joined(&scopes, " "));
        }
        if scopes.iter().any(|scope| scope == "offline_access") {
            // Without it nobody is asked, and no refresh token given (OpenID Connect Core 1.0 §11).
            url = url.with_query("prompt", "consent");
        }
        self.asked_scopes = scopes;
        self.phase = Phase::Person { verifier, state };
        Step::Open(url)
    }

    /// The person came back, with that query. What was not asked for is nobody's answer.
    pub fn answered(&mut self, query: &str) -> Step {
        let Phase::Person { verifier, state } = &self.phase else { return Step::Wait };
        let value = |name: &str| parameter(query, name);
        if value("state").as_ref() != Some(state) {
            return Step::Wait;
        }
        let (verifier, issuer) = (verifier.clone(), value("iss"));
        let names_itself = self.metadata.as_ref().is_some_and(|metadata| metadata.names_itself);
        // Compared letter by letter (RFC 9207 §2.4).
        if issuer.as_ref().map_or(names_itself, |issuer| *issuer != self.resource.issuer) {
            let named = issuer.map_or_else(|| "nobody".to_owned(), |issuer| shortened(&issuer));
            let expected = shortened(&self.resource.issuer);
            return self.person(format!("was logged in to by another authorization server, {named}, not {expected}"));
        }
        let (Some(code), None) = (value("code"), value("error")) else {
            let said = value("error").unwrap_or_else(|| "no code came".to_owned());
            let more = value("error_description").map(|more| format!(", {more}")).unwrap_or_default();
            return self.person(format!("was not logged in to: {}", shortened(&format!("{said}{more}"))));
        };
        let redirect = self.redirect.clone();
        let fields = [
            ("grant_type", Some("authorization_code")),
            ("code", Some(code.as_str())),
            ("redirect_uri", redirect.as_deref()),
            ("code_verifier", Some(verifier.as_str())),
        ];
        self.ask_for_tokens(Source::Person, &fields)
    }

    fn ask_for_tokens(&mut self, source: Source, fields: &[(&str, Option<&str>)]) -> Step {
        let place = match (source, &self.metadata) {
            (Source::Refresh | Source::Store, _) => self.grant.token_endpoint.clone(),
            (Source::Person | Source::Client, metadata) => metadata.as_ref().map(|metadata| metadata.token.clone()),
        };
        let (Some(place), Some(client)) = (place, &self.grant.client) else { return self.person("wants a login") };
        let resource = if source == Source::Refresh { &self.grant.resource } else { &self.resource.name };
        let ask = request::tokens(place, client, resource, fields);
        self.phase = Phase::Tokens(source);
        Step::Fetch(ask)
    }

    fn refresh(&mut self) -> Step {
        let Some(token) = self.grant.refresh.clone() else { return self.discover() };
        self.asked_scopes.clone_from(&self.grant.scopes);
        // The secret of the configuration is the newer one.
        if let (Some(client), Some(secret)) = (&mut self.grant.client, &self.settings.client_secret) {
            client.secret = Some(secret.clone());
        }
        let fields = [("grant_type", Some("refresh_token")), ("refresh_token", Some(token.as_str()))];
        self.ask_for_tokens(Source::Refresh, &fields)
    }

    /// Without a person: the client itself is who asks (OAuth 2.1 §4.2).
    fn ask_as_client(&mut self) -> Step {
        let client = self.metadata.as_ref().and_then(|metadata| self.configured(metadata));
        let Some(client) = client else { return self.person("wants a login") };
        self.grant.client = Some(client);
        let scopes = self.scopes();
        let scope = text::joined(&scopes, " ");
        self.asked_scopes = scopes;
        let fields =
            [("grant_type", Some("client_credentials")), ("scope", Some(scope.as_str()).filter(|scope| !scope.is_empty()))];
        self.ask_for_tokens(Source::Client, &fields)
    }

    /// Tokens, or what is said against giving any.
    fn given(&mut self, source: Source, status: u16, body: &[u8], around: &mut Around<'_>) -> Step {
        if (200..300).contains(&status) {
            let taken = self.grant.take(body, &self.asked_scopes, around.now);
            if let Err(why) = taken {
                return self.stuck(format!("has an authorization server that {why}"));
            }
            if source != Source::Refresh {
                self.grant.issuer.clone_from(&self.resource.issuer);
                self.grant.resource.clone_from(&self.resource.name);
                self.grant.token_endpoint = self.metadata.as_ref().map(|metadata| metadata.token.clone());
            }
            self.is_unsaved = true;
            return self.granted(source);
        }
        let (code, said) = grant::refusal(status, body);
        if status == 429 || status >= 500 {
            return self.stuck(format!("has an authorization server that gives no token now: {said}"));
        }
        if code == "invalid_client" {
            // A registration that was forgotten there is made anew.
            self.grant.client = None;
        }
        self.is_unsaved = true;
        match source {
            Source::Refresh | Source::Store => {
                self.grant.forget_tokens();
                if self.challenge.is_none() { Step::Go } else { self.discover() }
            }
            Source::Person | Source::Client => self.person(format!("has an authorization server that gives no token: {said}")),
        }
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
