//! What a server's authorization server gave: a client, tokens. A host keeps it as one record.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::challenge::words;
use super::metadata::shortened;
use crate::http;
use crate::json::{self, Json, Object};
use crate::redact::Secrets;
use crate::time::WallTime;
use crate::url::Url;

/// Nesting of a record, and of an answer with tokens.
const DEPTH: u32 = 8;

/// A token is not used any more so long before its end, as it has to arrive.
const MARGIN_MS: i64 = 30_000;

/// How a client says who it is where tokens come from (RFC 6749 §2.3.1, RFC 7591 §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// by its name alone
    #[default]
    None,
    /// in a header field
    Basic,
    /// in the form
    Post,
}

impl Method {
    /// Every way with its name, the one that is liked best first.
    pub const NAMES: [(Self, &'static str); 3] =
        [(Self::None, "none"), (Self::Basic, "client_secret_basic"), (Self::Post, "client_secret_post")];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(method, _)| *method == self).map_or("none", |(_, name)| name)
    }

    /// The way of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(method, _)| *method)
    }
}

/// Who the gateway is to an authorization server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// its name there
    pub id: String,
    /// its secret
    pub secret: Option<String>,
    /// how it says who it is
    pub method: Method,
    /// where people come back to, where it was registered with that
    pub redirect: Option<String>,
}

/// All that is kept of one server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Grant {
    /// who gave it
    pub issuer: String,
    /// where new tokens come from
    pub token_endpoint: Option<Url>,
    /// the identifier of the server that the tokens are for
    pub resource: String,
    /// who asked
    pub client: Option<Client>,
    /// the token
    pub access: Option<String>,
    /// what another token is given for
    pub refresh: Option<String>,
    /// when the token ends
    pub expires_at: Option<WallTime>,
    /// what was asked for, and what was given
    pub scopes: Vec<String>,
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |yes: bool| if yes { "a" } else { "no" };
        write!(f, "{} token and {} refresh token of {}", has(self.access.is_some()), has(self.refresh.is_some()), self.issuer)
    }
}

impl Grant {
    /// Reads a record; none where it is not one of this server.
    #[must_use]
    pub fn read(record: &str, server: &Url) -> Option<Self> {
        let text = Json::parse(record, DEPTH).ok()?;
        let members = text.members()?;
        members.string("url").filter(|url| url == server.as_str())?;
        let client = members.get("client").and_then(json::members).and_then(|client| {
            let method = client.string("method").and_then(|name| Method::named(&name))?;
            Some(Client {
                id: client.string("id")?,
                secret: client.string("secret"),
                method,
                redirect: client.string("redirect_uri"),
            })
        });
        let expires_at = members.get("expires_at").and_then(|raw| json::integer(raw.get()));
        Some(Self {
            issuer: members.string("issuer")?,
            token_endpoint: members.string("token_endpoint").and_then(|url| Url::parse(&url).ok()),
            resource: members.string("resource").unwrap_or_default(),
            client,
            access: members.string("access_token").filter(|token| is_token(token)),
            refresh: members.string("refresh_token"),
            expires_at: expires_at.map(WallTime),
            scopes: words(&members.string("scope").unwrap_or_default()),
        })
    }

    /// The record.
    #[must_use]
    pub fn to_json(&self, server: &Url) -> Json {
        let mut out = Object::new();
        out.string("url", server.as_str()).string("issuer", &self.issuer).string("resource", &self.resource);
        out.optional_string("token_endpoint", self.token_endpoint.as_ref().map(Url::as_str));
        if let Some(client) = &self.client {
            let mut inner = Object::new();
            inner.string("id", &client.id).optional_string("secret", client.secret.as_deref());
            inner.string("method", client.method.name()).optional_string("redirect_uri", client.redirect.as_deref());
            out.nested("client", inner);
        }
        out.optional_string("access_token", self.access.as_deref()).optional_string("refresh_token", self.refresh.as_deref());
        if let Some(at) = self.expires_at {
            out.integer("expires_at", at.0);
        }
        out.string("scope", &crate::text::joined(&self.scopes, " "));
        out.finish()
    }

    /// What in it is a secret.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        let client = self.client.as_ref().and_then(|client| client.secret.as_ref());
        [client, self.access.as_ref(), self.refresh.as_ref()].into_iter().flatten()
    }

    /// Keeps them out of a text.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        let mut secrets = Secrets::new();
        self.secrets().for_each(|secret| secrets.add(secret));
        secrets.redact(text)
    }

    /// Whether its token ends about now, or ended.
    #[must_use]
    pub fn is_stale(&self, now: WallTime) -> bool {
        self.expires_at.is_some_and(|at| at.0.saturating_sub(MARGIN_MS) <= now.0)
    }

    /// Gives the tokens up, and keeps the client.
    pub fn forget_tokens(&mut self) {
        (self.access, self.refresh, self.expires_at) = (None, None, None);
    }

    /// Takes an answer with tokens in (RFC 6749 §5.1). One without a new refresh token leaves the one there is.
    ///
    /// # Errors
    /// Why it is none.
    pub fn take(&mut self, body: &[u8], asked: &[String], now: WallTime) -> Result<(), String> {
        let text = core::str::from_utf8(body).ok().and_then(|text| Json::parse(text, DEPTH).ok());
        let members = text.as_ref().and_then(Json::members).unwrap_or_default();
        let access = members.string("access_token").filter(|token| is_token(token));
        let is_bearer = members.string("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("Bearer"));
        let Some(access) = access.filter(|_| is_bearer) else {
            return Err("answered without a bearer token".to_string());
        };
        // Some write the number as a string.
        let seconds = members.get("expires_in");
        let seconds = seconds.and_then(|raw| json::scaled(raw.get().trim_matches('"'), 0));
        self.expires_at = seconds.map(|seconds| WallTime(now.0.saturating_add(seconds.max(0).saturating_mul(1000))));
        self.access = Some(access);
        self.refresh = members.string("refresh_token").or(self.refresh.take());
        let mut scopes = words(&members.string("scope").unwrap_or_default());
        join(&mut scopes, asked);
        self.scopes = scopes;
        Ok(())
    }
}

/// What an answer says against a request for tokens (RFC 6749 §5.2): its code, and words for people.
#[must_use]
pub fn refusal(status: u16, body: &[u8]) -> (String, String) {
    let text = core::str::from_utf8(body).ok().and_then(|text| Json::parse(text, DEPTH).ok());
    let members = text.as_ref().and_then(Json::members).unwrap_or_default();
    let code = shortened(&members.string("error").unwrap_or_default());
    let mut said = alloc::format!("HTTP {status}");
    for part in [Some(code.clone()), members.string("error_description")].into_iter().flatten().filter(|part| !part.is_empty()) {
        said.push_str(", ");
        said.push_str(&shortened(&part));
    }
    (code, said)
}

/// Adds what is not there.
pub fn join(list: &mut Vec<String>, more: &[String]) {
    for word in more {
        if !list.contains(word) {
            list.push(word.clone());
        }
    }
}

/// Whether a text can stand in a header field as a token.
fn is_token(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t']) && http::is_field_value(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Url {
        Url::parse("https://s.test/mcp").unwrap()
    }

    fn taken(body: &str) -> Result<Grant, String> {
        let mut grant = Grant { refresh: Some("old-refresh".into()), ..Grant::default() };
        grant.take(body.as_bytes(), &["a".to_string()], WallTime(1000)).map(|()| grant)
    }

    #[test]
    fn a_record_reads_back_for_its_server_alone() {
        let mut grant =
            taken(r#"{"access_token":"at-1","token_type":"bearer","expires_in":60,"refresh_token":"rt-1","scope":"b"}"#).unwrap();
        grant.issuer = "https://as.test".into();
        grant.token_endpoint = Some(Url::parse("https://as.test/token").unwrap());
        let redirect = Some("http://127.0.0.1:1/x".to_string());
        grant.client = Some(Client { id: "c".into(), secret: Some("s-1".into()), method: Method::Post, redirect });
        let record = grant.to_json(&server());
        assert_eq!(Grant::read(record.as_str(), &server()), Some(grant.clone()));
        assert_eq!(Grant::read(record.as_str(), &Url::parse("https://s.test/other").unwrap()), None);
        assert_eq!(Grant::read("{}", &server()), None);
        let (shown, scopes) = (alloc::format!("{grant:?}"), grant.scopes.join(" "));
        assert!(["at-1", "rt-1", "s-1"].iter().all(|secret| !shown.contains(secret)) && scopes == "b a", "{shown}");
    }

    #[test]
    fn tokens_are_taken_as_they_are_given_in_the_field() {
        let grant = taken(r#"{"access_token":"t","token_type":"Bearer","expires_in":"60"}"#).unwrap();
        assert_eq!((grant.expires_at, grant.refresh.as_deref()), (Some(WallTime(61_000)), Some("old-refresh")));
        assert!(!grant.is_stale(WallTime(30_000)) && grant.is_stale(WallTime(31_000)));
        assert!(!taken(r#"{"access_token":"t","token_type":"Bearer"}"#).unwrap().is_stale(WallTime(i64::MAX)));
        for body in [
            "",
            "access_token=t",
            r#"{"access_token":"t"}"#,
            r#"{"access_token":"t","token_type":"DPoP"}"#,
            r#"{"access_token":"","token_type":"Bearer"}"#,
            r#"{"access_token":"a b","token_type":"Bearer"}"#,
            r#"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#,
        ] {
            assert!(taken(body).is_err(), "{body}");
        }
    }

    #[test]
    fn what_is_said_against_a_request_is_told() {
        let (code, said) = refusal(400, br#"{"error":"invalid_grant","error_description":"too\nold"}"#);
        assert_eq!((code.as_str(), said.as_str()), ("invalid_grant", "HTTP 400, invalid_grant, tooold"));
        assert_eq!(refusal(503, b"<html>"), (String::new(), "HTTP 503".to_string()));
    }
}
