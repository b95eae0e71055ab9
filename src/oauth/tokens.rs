//! Tokens are asked for: by a person's code, a refresh token, or the client itself.

use alloc::format;

use super::{Around, Authorization, Phase, Source, Step, grant, request};
use crate::text;

impl Authorization {
    pub(super) fn ask_for_tokens(&mut self, source: Source, fields: &[(&str, Option<&str>)]) -> Step {
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

    pub(super) fn refresh(&mut self) -> Step {
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
    pub(super) fn ask_as_client(&mut self) -> Step {
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
    pub(super) fn given(&mut self, source: Source, status: u16, body: &[u8], around: &mut Around<'_>) -> Step {
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
