//! Who may ask: hosts, origins, tokens (RFC 6750), and browsers of other origins (WHATWG Fetch, CORS).

use alloc::format;
use alloc::string::{String, ToString};

use crate::config::{Server, Token};
use crate::http;
use crate::io::Headers;
use crate::text;
use crate::url::{Address, Url};

/// A response that ends a request at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// the HTTP status
    pub status: u16,
    /// more header fields
    pub headers: Headers,
    /// the words
    pub message: &'static str,
}

impl Refusal {
    /// A refusal without more header fields.
    #[must_use]
    pub const fn new(status: u16, message: &'static str) -> Self {
        Self { status, headers: Headers::new(), message }
    }
}

/// Checks the host and origin of a request; gives the header fields that a browser of another origin needs. What is
/// `for_deciders` is for no other page of this machine, unless it is configured: it is none of theirs what waits for a person.
///
/// # Errors
/// 403 where either is not expected: a page of somebody else's that was led to this address.
pub fn admit(server: &Server, headers: &Headers, for_deciders: bool) -> Result<Headers, Refusal> {
    let mut named = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = named.next().map(|(_, host)| host.as_str()).unwrap_or_default();
    let listed = |name: &str| server.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    let name = host_name(host);
    let open = !server.loopback && server.hosts.is_empty();
    let known = listed(&name) || listed(host) || server.loopback && is_loopback(&name);
    if name.is_empty() || named.next().is_some() || !(known || open) {
        return Err(Refusal::new(403, "this host name is not served here: add it to server.hosts"));
    }
    let Some(origin) = http::header(headers, "origin") else {
        // A browser that names no origin still says whether a page elsewhere asks (W3C Fetch Metadata).
        let site = http::header(headers, "sec-fetch-site").unwrap_or("none");
        if for_deciders && !matches!(site, "none" | "same-origin") {
            return Err(Refusal::new(403, "this is for no page of another origin"));
        }
        return Ok(Headers::new());
    };
    let configured = server.cors_origins.iter().any(|known| known == origin);
    let authority = text::split_once(origin, "://").map_or("", |(_, authority)| authority);
    // A page whose name was led to this address is of the same origin as it, so a name that nobody listed proves nothing
    // where no token is asked for.
    let same = authority.eq_ignore_ascii_case(host) && (known || !server.tokens.is_empty());
    let near = !for_deciders && server.loopback && is_loopback(&host_name(authority));
    if !(configured || same || near) {
        return Err(Refusal::new(403, "this origin is not admitted: add it to server.cors_origins"));
    }
    let mut fields = Headers::new();
    for (name, value) in [
        ("Access-Control-Allow-Origin", origin),
        (
            "Access-Control-Expose-Headers",
            "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, ETag, Link, Location, A2A-Extensions",
        ),
        ("Vary", "Origin"),
    ] {
        fields.push((name.to_string(), value.to_string()));
    }
    Ok(fields)
}

/// What a preflight is answered with.
#[must_use]
pub fn preflight() -> Headers {
    let allowed = "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
         A2A-Version, A2A-Extensions, X-A2A-Extensions, If-None-Match, Idempotency-Key, \
         traceparent, tracestate";
    [
        ("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, OPTIONS"),
        ("Access-Control-Allow-Headers", allowed),
        ("Access-Control-Max-Age", "86400"),
    ]
    .map(|(name, value)| (name.to_string(), value.to_string()))
    .to_vec()
}

/// The principal of everybody where there are no tokens.
pub const LOCAL: &str = "local";

/// On whose behalf a request is made.
///
/// # Errors
/// 401 where tokens are configured and none of them was shown.
pub fn principal(server: &Server, headers: &Headers) -> Result<String, Refusal> {
    if server.tokens.is_empty() {
        return Ok(LOCAL.to_string());
    }
    let shown = shown(headers);
    known(server, shown).map(|token| token.principal.clone()).ok_or_else(|| {
        // RFC 6750 §3.1: no error code where nothing was shown.
        let challenge = if shown.is_empty() { "Bearer" } else { "Bearer error=\"invalid_token\"" };
        let challenge = ("WWW-Authenticate".to_string(), challenge.to_string());
        Refusal { status: 401, headers: alloc::vec![challenge], message: "a bearer token is needed" }
    })
}

/// Whether requests may be made on behalf of a principal.
#[must_use]
pub fn is_principal(server: &Server, principal: &str) -> bool {
    if server.tokens.is_empty() { principal == LOCAL } else { server.tokens.iter().any(|token| token.principal == principal) }
}

/// Whether a request may decide calls of others that wait for a person; without tokens, whoever is on this machine.
#[must_use]
pub fn may_decide(server: &Server, headers: &Headers) -> bool {
    may(server, headers, |token| token.may_approve)
}

/// Whether the token of a request has a right; without tokens, whoever is on this machine has every one.
fn may(server: &Server, headers: &Headers, has_right: fn(&Token) -> bool) -> bool {
    if server.tokens.is_empty() { server.loopback } else { known(server, shown(headers)).is_some_and(has_right) }
}

/// Whether a principal decides what waits for approval; without tokens, whoever is on this machine.
#[must_use]
pub fn may_approve(server: &Server, principal: &str) -> bool {
    let theirs = |token: &crate::config::Token| token.may_approve && token.principal == principal;
    if server.tokens.is_empty() { server.loopback } else { server.tokens.iter().any(theirs) }
}

/// The bearer token that a request shows; empty where it shows none.
fn shown(headers: &Headers) -> &str {
    let shown = http::header(headers, "authorization").and_then(|value| value.split_once(' '));
    shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map_or("", |(_, token)| token.trim())
}

/// The configured token that was shown. Every one is compared whole, so that the time tells nothing of any.
fn known<'s>(server: &'s Server, shown: &str) -> Option<&'s Token> {
    let mut found = None;
    for token in &server.tokens {
        if equal(token.token.as_bytes(), shown.as_bytes()) {
            found = Some(token);
        }
    }
    found
}

/// Whether cards may be registered in the directory; without tokens, by whoever is on this machine.
#[must_use]
pub fn may_register(server: &Server, headers: &Headers) -> bool {
    may(server, headers, |token| token.may_register)
}

/// Compares without stopping at the first difference.
#[must_use]
pub fn equal(known: &[u8], shown: &[u8]) -> bool {
    let mut difference = u8::from(known.len() != shown.len());
    for (index, byte) in known.iter().enumerate() {
        difference |= byte ^ shown.get(index).copied().unwrap_or(!byte);
    }
    difference == 0
}

/// The host of an authority, without its port; empty where it is none (RFC 3986 §3.2.2, §3.2.3).
fn host_name(authority: &str) -> String {
    let end = match authority.strip_prefix('[') {
        Some(_) => authority.find(']').map_or(authority.len(), |at| at + 1),
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (name, port) = authority.split_at_checked(end).unwrap_or_default();
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_name = name.bytes().all(|byte| byte.is_ascii_graphic());
    if is_name && is_port { name.to_ascii_lowercase() } else { String::new() }
}

fn is_loopback(host: &str) -> bool {
    Url::parse(&format!("http://{host}/")).is_ok_and(|url| url.address() == Address::Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn headers(list: &[(&str, &str)]) -> Headers {
        list.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
    }

    fn token() -> Token {
        let caller = crate::config::CallerConfig::default();
        Token {
            token: "alpha-token".into(),
            principal: "a".into(),
            may_answer: false,
            may_approve: false,
            may_register: false,
            caller,
        }
    }

    fn status(server: &Server, list: &[(&str, &str)]) -> u16 {
        admit(server, &headers(list), false).map_or_else(|refusal| refusal.status, |_| 200)
    }

    #[test]
    fn what_waits_for_a_person_is_for_no_page_of_another_origin() {
        let of = |server: &Server, list: &[(&str, &str)]| {
            let mut all = headers(list);
            all.push(("Host".into(), "localhost:4545".into()));
            admit(server, &all, true).map_or_else(|refusal| refusal.status, |_| 200)
        };
        let mut server = Server::default();
        assert_eq!(of(&server, &[]), 200);
        assert_eq!(of(&server, &[("Origin", "http://localhost:4545"), ("Sec-Fetch-Site", "same-origin")]), 200);
        assert_eq!(of(&server, &[("Sec-Fetch-Site", "none")]), 200);
        for origin in ["http://localhost:3000", "http://127.0.0.1:4545", "http://localhost", "null"] {
            assert_eq!(of(&server, &[("Origin", origin)]), 403, "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(of(&server, &[("Sec-Fetch-Site", site)]), 403, "{site}");
        }
        server.cors_origins = vec!["http://localhost:3000".into()];
        assert_eq!(of(&server, &[("Origin", "http://localhost:3000")]), 200);
    }

    #[test]
    fn a_loopback_bind_answers_to_loopback_names_only() {
        let server = Server::default();
        for host in ["localhost:4545", "127.0.0.1:4545", "[::1]:4545", "LOCALHOST"] {
            assert_eq!(status(&server, &[("Host", host)]), 200, "{host}");
        }
        assert_eq!(status(&server, &[("Host", "evil.example.com")]), 403);
        assert_eq!(status(&server, &[]), 403);
        assert_eq!(status(&server, &[("Host", "localhost"), ("Origin", "http://evil.example.com")]), 403);
        assert_eq!(status(&server, &[("Host", "localhost"), ("Origin", "http://localhost:3000")]), 200);
        assert_eq!(status(&server, &[("Host", "localhost"), ("Origin", "null")]), 403);
        for junk in ["localhost:3000x", "localhost:1/", "[::1]x", "localhost:\u{18}", "localhost:1:2", "local\u{18}host", "é"] {
            assert_eq!(status(&server, &[("Host", junk)]), 403, "{junk:?}");
            let origin = ["http://", junk].concat();
            assert_eq!(status(&server, &[("Host", "localhost"), ("Origin", &origin)]), 403, "{origin:?}");
            let open = Server { loopback: false, ..Server::default() };
            assert_eq!(status(&open, &[("Host", junk), ("Origin", &origin)]), 403, "{origin:?}");
        }
    }

    #[test]
    fn names_and_origins_may_be_added() {
        let server = Server {
            loopback: false,
            hosts: vec!["gw.test".into()],
            cors_origins: vec!["https://app.test".into()],
            ..Server::default()
        };
        assert_eq!(status(&server, &[("Host", "GW.test:443"), ("Origin", "https://app.test")]), 200);
        assert_eq!(status(&server, &[("Host", "localhost")]), 403);
        assert_eq!(status(&server, &[("Host", "gw.test"), ("Origin", "https://app.test.evil")]), 403);
        assert_eq!(status(&server, &[("Host", "gw.test"), ("Host", "gw.test")]), 403);
    }

    #[test]
    fn a_name_that_was_led_here_proves_nothing() {
        let mut server = Server { loopback: false, ..Server::default() };
        let rebound = [("Host", "evil.test"), ("Origin", "http://evil.test")];
        assert_eq!(status(&server, &[("Host", "gw.test")]), 200);
        assert_eq!(status(&server, &rebound), 403);
        assert_eq!(status(&server, &[("Origin", "null")]), 403);
        server.tokens = vec![token()];
        assert_eq!(status(&server, &rebound), 200);
    }

    #[test]
    fn tokens_name_principals() {
        let mut server = Server::default();
        assert_eq!(principal(&server, &Headers::new()).unwrap(), "local");
        server.tokens = vec![token()];
        assert_eq!(principal(&server, &headers(&[("authorization", "bearer alpha-token")])).unwrap(), "a");
        for shown in ["Bearer alpha-toke", "Bearer alpha-token2", "Basic alpha-token", ""] {
            assert_eq!(principal(&server, &headers(&[("authorization", shown)])).unwrap_err().status, 401, "{shown}");
        }
    }
}
