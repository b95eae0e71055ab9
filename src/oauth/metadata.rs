//! The documents that say where tokens come from: of the resource (RFC 9728) and of its authorization server (RFC 8414,
//! `OpenID` Connect Discovery 1.0).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{self, Json};
use crate::list::gather;
use crate::url::{Address, Scheme, Url};

/// Nesting of a document.
const DEPTH: u32 = 16;

/// What a document says of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// its identifier, as it is written there
    pub name: String,
    /// the issuer that gives tokens for it
    pub issuer: String,
    /// its scopes
    pub scopes: Vec<String>,
}

/// What a document says of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// who it is, as it is written there
    pub issuer: String,
    /// where a person is sent
    pub authorization: Option<Url>,
    /// where tokens come from
    pub token: Url,
    /// where clients register themselves
    pub registration: Option<Url>,
    /// the scopes it knows
    pub scopes: Vec<String>,
    /// the kinds of grants, where it names them
    pub grants: Vec<String>,
    /// the ways in which clients may authenticate, where it names them
    pub methods: Vec<String>,
    /// whether codes can be bound to a verifier by SHA-256
    pub has_s256: bool,
    /// whether a client may be named by the URL of its own metadata
    pub has_documents: bool,
    /// whether each of its answers names it
    pub names_itself: bool,
}

/// Where a document of that name may be, for something with that URL: with its path put behind the name (RFC 8414 §3.1,
/// RFC 9728 §3.1).
fn inserted(url: &Url, name: &str) -> Option<Url> {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    url.origin_url().with_path_appended(&format!(".well-known/{name}{path}{query}")).ok()
}

/// Where the metadata of a resource may be, the likeliest first.
#[must_use]
pub fn resource_places(server: &Url) -> Vec<Url> {
    let mut places =
        gather([server, &server.origin_url()].into_iter().filter_map(|url| inserted(url, "oauth-protected-resource")));
    places.dedup();
    places
}

/// Where the metadata of an authorization server may be, the likeliest first.
#[must_use]
pub fn issuer_places(issuer: &Url) -> Vec<Url> {
    let openid = "openid-configuration";
    let appended = issuer.with_path_appended(&format!(".well-known/{openid}")).ok();
    let mut places =
        gather([inserted(issuer, "oauth-authorization-server"), inserted(issuer, openid), appended].into_iter().flatten());
    places.dedup();
    places
}

/// Whether a place may be told anything: over https, or on this machine, or where the server itself is.
#[must_use]
pub fn is_safe(url: &Url, server: &Url) -> bool {
    url.scheme() == Scheme::Https || url.address() == Address::Loopback || url.host() == server.host()
}

/// The identifier of a server that has none of its own (RFC 8707 §2): its URL, without a path that says nothing.
#[must_use]
pub fn canonical(server: &Url) -> String {
    let text = server.as_str();
    if server.path() == "/" && server.query().is_none() { text.trim_end_matches('/').to_string() } else { text.to_string() }
}

/// Whether a resource of that name is the server, or a part of its origin that the server lies in.
fn covers(name: &str, server: &Url) -> bool {
    let Ok(name) = Url::parse(name) else { return false };
    let rest = server.path().strip_prefix(name.path().trim_end_matches('/'));
    name.origin() == server.origin()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && name.query().is_none_or(|query| server.query() == Some(query))
}

impl Resource {
    /// Reads the document of a server; nothing where it is none.
    ///
    /// # Errors
    /// It is about another resource (RFC 9728 §3.3), or names no authorization server.
    pub fn read(body: &[u8], server: &Url) -> Option<Result<Self, String>> {
        let text = Json::parse(core::str::from_utf8(body).ok()?, DEPTH).ok()?;
        let members = text.members()?;
        let name = members.string("resource")?;
        if !covers(&name, server) {
            return Some(Err(format!("names another resource in its metadata, {}", shortened(&name))));
        }
        let list = |name: &str| members.get(name).and_then(json::strings).unwrap_or_default();
        let Some(issuer) = list("authorization_servers").into_iter().next() else {
            return Some(Err("names no authorization server in its metadata".to_string()));
        };
        Some(Ok(Self { name, issuer, scopes: list("scopes_supported") }))
    }
}

impl Metadata {
    /// Reads the document of an issuer; nothing where it is none.
    ///
    /// # Errors
    /// It is another issuer's (RFC 8414 §3.3), or cannot be worked with.
    pub fn read(body: &[u8], issuer: &str, server: &Url) -> Option<Result<Self, String>> {
        let text = Json::parse(core::str::from_utf8(body).ok()?, DEPTH).ok()?;
        let members = text.members()?;
        let named = members.string("issuer")?;
        if named != issuer {
            let (named, issuer) = (shortened(&named), shortened(issuer));
            return Some(Err(format!("has the authorization server {issuer}, whose metadata is of another issuer, {named}")));
        }
        let list = |name: &str| members.get(name).and_then(json::strings).unwrap_or_default();
        let flag = |name: &str| members.get(name).and_then(json::boolean).unwrap_or_default();
        let place = |name: &str| Url::parse(&members.string(name)?).ok().filter(|url| is_safe(url, server));
        let Some(token) = place("token_endpoint") else {
            return Some(Err(format!("has the authorization server {}, which names no safe token endpoint", shortened(issuer))));
        };
        Some(Ok(Self {
            issuer: named,
            authorization: place("authorization_endpoint"),
            token,
            registration: place("registration_endpoint"),
            scopes: list("scopes_supported"),
            grants: list("grant_types_supported"),
            methods: list("token_endpoint_auth_methods_supported"),
            has_s256: list("code_challenge_methods_supported").iter().any(|method| method == "S256"),
            has_documents: flag("client_id_metadata_document_supported"),
            names_itself: flag("authorization_response_iss_parameter_supported"),
        }))
    }
}

/// A text of somebody else's, short enough for a message.
#[must_use]
pub fn shortened(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(places: &[Url]) -> Vec<&str> {
        places.iter().map(Url::as_str).collect()
    }

    #[test]
    fn documents_lie_where_the_specifications_put_them() {
        assert_eq!(
            texts(&resource_places(&url("https://s.test/a/mcp"))),
            ["https://s.test/.well-known/oauth-protected-resource/a/mcp", "https://s.test/.well-known/oauth-protected-resource"]
        );
        assert_eq!(texts(&resource_places(&url("https://s.test"))), ["https://s.test/.well-known/oauth-protected-resource"]);
        assert_eq!(
            texts(&issuer_places(&url("https://as.test/tenant/"))),
            [
                "https://as.test/.well-known/oauth-authorization-server/tenant",
                "https://as.test/.well-known/openid-configuration/tenant",
                "https://as.test/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&issuer_places(&url("https://as.test"))),
            ["https://as.test/.well-known/oauth-authorization-server", "https://as.test/.well-known/openid-configuration"]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_what_it_lies_in() {
        for (name, server, expected) in [
            ("https://s.test/mcp", "https://s.test/mcp", true),
            ("https://s.test", "https://s.test/mcp", true),
            ("https://s.test/", "https://s.test/mcp", true),
            ("https://s.test/a", "https://s.test/a/mcp", true),
            ("https://S.test:443/mcp", "https://s.test/mcp", true),
            ("https://s.test/m", "https://s.test/mcp", false),
            ("https://s.test/mcp/x", "https://s.test/mcp", false),
            ("https://s.test/mcp?a=b", "https://s.test/mcp", false),
            ("http://s.test/mcp", "https://s.test/mcp", false),
            ("https://evil.test/mcp", "https://s.test/mcp", false),
            ("https://s.test.evil.test/mcp", "https://s.test/mcp", false),
            ("s.test", "https://s.test/mcp", false),
        ] {
            assert_eq!(covers(name, &url(server)), expected, "{name} {server}");
        }
    }

    #[test]
    fn documents_of_somebody_else_are_refused_and_what_is_none_is_no_document() {
        let server = url("https://s.test/mcp");
        for body in ["", "no", "[]", "{}", r#"{"resource":1}"#] {
            assert_eq!(Resource::read(body.as_bytes(), &server), None, "{body}");
            assert_eq!(Metadata::read(body.as_bytes(), "https://as.test", &server), None, "{body}");
        }
        let evil = r#"{"resource":"https://evil.test/mcp","authorization_servers":["https://as.test"]}"#;
        assert!(Resource::read(evil.as_bytes(), &server).unwrap().unwrap_err().contains("another resource"));
        let none = r#"{"resource":"https://s.test/mcp","authorization_servers":[]}"#;
        assert!(Resource::read(none.as_bytes(), &server).unwrap().unwrap_err().contains("no authorization server"));
        // Issuers are compared letter by letter.
        let document = r#"{"issuer":"https://as.test","token_endpoint":"https://as.test/token"}"#;
        for issuer in ["https://as.test/", "https://AS.test", "https://other.test"] {
            assert!(Metadata::read(document.as_bytes(), issuer, &server).unwrap().is_err(), "{issuer}");
        }
        let read = Metadata::read(document.as_bytes(), "https://as.test", &server).unwrap().unwrap();
        assert!(!read.has_s256 && !read.names_itself && read.authorization.is_none());
        // Tokens do not travel in clear text.
        let clear = r#"{"issuer":"https://as.test","token_endpoint":"http://as.test/token"}"#;
        assert!(Metadata::read(clear.as_bytes(), "https://as.test", &server).unwrap().is_err());
        let near = r#"{"issuer":"https://as.test","token_endpoint":"http://localhost:1/token"}"#;
        assert!(Metadata::read(near.as_bytes(), "https://as.test", &server).unwrap().is_ok());
    }

    #[test]
    fn a_server_without_a_name_goes_by_its_url() {
        assert_eq!(canonical(&url("https://s.test")), "https://s.test");
        assert_eq!(canonical(&url("https://s.test/mcp/")), "https://s.test/mcp/");
        assert_eq!(canonical(&url("https://s.test/?a=b")), "https://s.test/?a=b");
    }
}
