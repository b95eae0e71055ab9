//! What is asked of an authorization server.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use super::grant::{Client, Method};
use super::metadata::Metadata;
use crate::base64;
use crate::io::{Headers, Method as HttpMethod};
use crate::json::Object;
use crate::url::{Url, percent_encode};

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct Ask {
    /// GET or POST
    pub method: HttpMethod,
    /// where to
    pub url: Url,
    /// the header fields that everybody may see
    pub headers: Headers,
    /// the one that nobody else may see; it goes to the origin of `url` alone
    pub credentials: Option<(String, String)>,
    /// the body
    pub body: Option<String>,
}

impl core::fmt::Debug for Ask {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {:?}", self.method.name(), self.url)
    }
}

fn accept() -> (String, String) {
    ("Accept".to_string(), "application/json".to_string())
}

/// A document is asked for.
#[must_use]
pub fn document(url: Url) -> Ask {
    Ask { method: HttpMethod::Get, url, headers: alloc::vec![accept()], credentials: None, body: None }
}

fn post(url: Url, kind: &str, body: String) -> Ask {
    let headers = alloc::vec![("Content-Type".to_string(), kind.to_string()), accept()];
    Ask { method: HttpMethod::Post, url, headers, credentials: None, body: Some(body) }
}

/// The way of saying who one is that an authorization server takes and is liked best. Where it names none, the header
/// field is meant (RFC 8414 §2).
#[must_use]
pub fn method_of(metadata: &Metadata, has_secret: bool) -> Method {
    let offered = |method: Method| metadata.methods.iter().any(|name| name == method.name());
    let mut fit = Method::NAMES.iter().filter(|(method, _)| (*method == Method::None) != has_secret);
    let known = fit.find(|(method, _)| offered(*method)).map(|(method, _)| *method);
    known.unwrap_or(if has_secret { Method::Basic } else { Method::None })
}

/// The gateway registers itself (RFC 7591 §3.1). It runs where its user is, so it is a native application.
#[must_use]
pub fn registration(url: Url, metadata: &Metadata, name: &str, redirect: &str) -> Ask {
    let method = if metadata.methods.is_empty() || metadata.methods.iter().any(|name| name == Method::None.name()) {
        Method::None
    } else {
        method_of(metadata, true)
    };
    let mut out = Object::new();
    out.string("client_name", name).strings("redirect_uris", [redirect]).string("application_type", "native");
    out.strings("grant_types", ["authorization_code", "refresh_token"]).strings("response_types", ["code"]);
    out.string("token_endpoint_auth_method", method.name());
    post(url, "application/json", out.finish().into_string())
}

/// A form with these fields; those without a value are left out.
fn form(fields: &[(&str, Option<&str>)]) -> String {
    let mut out = String::new();
    for (name, value) in fields {
        if let Some(value) = value {
            out.push_str(if out.is_empty() { "" } else { "&" });
            out.push_str(name);
            out.push('=');
            percent_encode(&mut out, value);
        }
    }
    out
}

/// Tokens are asked for: `fields` says for what.
#[must_use]
pub fn tokens(url: Url, client: &Client, resource: &str, fields: &[(&str, Option<&str>)]) -> Ask {
    let mut all: Vec<(&str, Option<&str>)> = fields.to_vec();
    all.push(("resource", Some(resource).filter(|resource| !resource.is_empty())));
    let secret = client.secret.as_deref();
    let mut credentials = None;
    match client.method {
        Method::Basic => {
            let mut pair = String::new();
            percent_encode(&mut pair, &client.id);
            pair.push(':');
            percent_encode(&mut pair, secret.unwrap_or_default());
            let value = ["Basic ", &base64::encode(pair.as_bytes())].concat();
            credentials = Some(("Authorization".to_string(), value));
        }
        Method::Post => all.extend([("client_id", Some(client.id.as_str())), ("client_secret", secret)]),
        Method::None => all.push(("client_id", Some(client.id.as_str()))),
    }
    Ask { credentials, ..post(url, "application/x-www-form-urlencoded", form(&all)) }
}

/// What a verifier is shown as before it is told (RFC 7636 §4.2, S256).
#[must_use]
pub fn code_challenge(verifier: &str) -> String {
    let text = base64::encode(&Sha256::digest(verifier.as_bytes()));
    text.trim_end_matches('=').replace('+', "-").replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_is_hashed_as_the_specification_shows() {
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn a_client_says_who_it_is_where_it_is_asked_to() {
        let url = Url::parse("https://as.test/token").unwrap();
        let mut client = Client { id: "a b".into(), secret: Some("c:d/e".into()), method: Method::Basic, redirect: None };
        let fields = [("grant_type", Some("refresh_token")), ("scope", None)];
        let ask = tokens(url.clone(), &client, "https://s.test", &fields);
        let pair = base64::encode(b"a%20b:c%3Ad%2Fe");
        assert_eq!(ask.credentials, Some(("Authorization".into(), ["Basic ", &pair].concat())));
        assert_eq!(ask.body.as_deref(), Some("grant_type=refresh_token&resource=https%3A%2F%2Fs.test"));
        client.method = Method::Post;
        let ask = tokens(url.clone(), &client, "", &fields);
        assert_eq!(ask.body.as_deref(), Some("grant_type=refresh_token&client_id=a%20b&client_secret=c%3Ad%2Fe"));
        assert_eq!(ask.credentials, None);
        client.method = Method::None;
        assert_eq!(tokens(url, &client, "", &fields).body.as_deref(), Some("grant_type=refresh_token&client_id=a%20b"));
    }
}
