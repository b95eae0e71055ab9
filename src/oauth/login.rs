//! A person logs in: who the gateway is there, where the person goes, and what comes back.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::grant::{self, Client, Method, join};
use super::metadata::{Metadata, shortened};
use super::{Around, Authorization, Phase, Source, Step, is_document, parameter, request};
use crate::json::Json;
use crate::text;

impl Authorization {
    /// Who the gateway is to the authorization server: as configured, by its own document, or as it was or is registered.
    pub(super) fn identify(&mut self, around: &mut Around<'_>) -> Step {
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

    pub(super) fn configured(&self, metadata: &Metadata) -> Option<Client> {
        let id = self.settings.client_id.clone().filter(|id| !is_document(id) || metadata.has_documents)?;
        let secret = self.settings.client_secret.clone();
        let method = request::method_of(metadata, secret.is_some());
        Some(Client { id, secret, method, redirect: None })
    }

    pub(super) fn registered(&mut self, status: u16, body: &[u8], around: &mut Around<'_>) -> Step {
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
    pub(super) fn scopes(&self) -> Vec<String> {
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
}
