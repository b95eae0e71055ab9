//! Where a redirect leads, and whether it is followed.

use alloc::format;
use alloc::string::String;

use crate::io::Method;
use crate::text;
use crate::url::{Address, Scheme, Url};

/// Which addresses may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// whether loopback and private addresses may be called at all
    pub allow_private: bool,
    /// whether the address was named by an agent at a public one
    pub named_by_public: bool,
}

/// Whether a URL may be called; why not otherwise.
///
/// # Errors
/// The sentence for the caller.
pub fn permit(url: &Url, reach: Reach) -> Result<(), String> {
    let what = match url.address() {
        Address::LinkLocal | Address::Metadata => {
            return Err(format!("{} is a link-local or metadata address, never called", url.host()));
        }
        Address::Name | Address::Public => return Ok(()),
        Address::Loopback => "a loopback address",
        Address::Private | Address::UniqueLocal | Address::Shared => "a private address",
        Address::Unspecified => "the unspecified address",
    };
    if reach.named_by_public {
        return Err(format!(
            "{} is {what}, and an agent at a public address named it; network.allowed_hosts can list it",
            url.host()
        ));
    }
    if !reach.allow_private {
        return Err(format!("{} is {what}, which this gateway does not call", url.host()));
    }
    Ok(())
}

/// Ends of names that are never public: of local networks (RFC 6762 §3, RFC 8375), and the one that ICANN set aside.
const LOCAL_NAMES: [&str; 3] = [".local", ".home.arpa", ".internal"];

/// Whether an address counts as public: what such an agent names is never followed inwards. Of names those are not that
/// only a local network can resolve, such as one without a dot.
#[must_use]
pub fn is_public(url: &Url) -> bool {
    match url.address() {
        Address::Name => {
            let name = url.host().strip_suffix('.').unwrap_or(url.host());
            text::holds(name, ".") && !LOCAL_NAMES.iter().any(|end| name.ends_with(end))
        }
        Address::Public => true,
        Address::Loopback
        | Address::Private
        | Address::UniqueLocal
        | Address::Shared
        | Address::LinkLocal
        | Address::Metadata
        | Address::Unspecified => false,
    }
}

/// A place on the registered host of an https URL, which servers behind a proxy write as http.
#[must_use]
pub fn on_https(url: Url, registered: &Url) -> Url {
    if registered.scheme() == Scheme::Https && url.scheme() == Scheme::Http && url.host() == registered.host() {
        return url.with_scheme_https_on_port(registered.port());
    }
    url
}

/// What to do about a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// go there, with method and body
    Follow(Url),
    /// do not; the sentence for the caller
    Refuse(String),
}

/// Decides about a redirect (RFC 9110 §15.4): 307 and 308 keep method and body within an origin; a GET follows any; a
/// POST never becomes a GET and never leaves its origin; nothing goes from https to http.
#[must_use]
pub fn step(method: Method, from: &Url, status: u16, location: &str, registered: &Url) -> Step {
    let Ok(mut to) = from.join(location) else {
        return Step::Refuse(format!("it was redirected ({status}) to a place that is no http or https URL"));
    };
    to = on_https(to, registered);
    if from.scheme() == Scheme::Https && to.scheme() == Scheme::Http {
        return Step::Refuse(format!("it was redirected ({status}) from https to http, which is never followed"));
    }
    let same_origin = to.origin() == from.origin();
    match (method, status) {
        (Method::Get, 301 | 302 | 303 | 307 | 308) => Step::Follow(to),
        (Method::Post, 307 | 308) if same_origin => Step::Follow(to),
        (Method::Post, 307 | 308) => Step::Refuse(format!(
            "it was redirected ({status}) to another origin, {}, where no message is sent unasked: register that URL",
            to.origin()
        )),
        (Method::Get | Method::Post, _) => {
            Step::Refuse(format!("it answered {status} and names {} as the new place: register that URL", to.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn follows(method: Method, from: &str, status: u16, location: &str) -> Option<String> {
        match step(method, &url(from), status, location, &url(from)) {
            Step::Follow(to) => Some(to.as_str().into()),
            Step::Refuse(_) => None,
        }
    }

    #[test]
    fn a_post_stays_a_post_and_in_its_origin() {
        let from = "https://agent.test/a2a";
        for status in [307, 308] {
            assert_eq!(follows(Method::Post, from, status, "/a2a/").as_deref(), Some("https://agent.test/a2a/"));
            assert_eq!(follows(Method::Post, from, status, "https://evil.test/a2a"), None);
            assert_eq!(follows(Method::Post, from, status, "https://agent.test:8443/a2a"), None);
        }
        for status in [301, 302, 303] {
            assert_eq!(follows(Method::Post, from, status, "/a2a/"), None);
        }
        assert_eq!(follows(Method::Get, from, 302, "https://other.test/card").as_deref(), Some("https://other.test/card"));
    }

    #[test]
    fn nothing_goes_from_https_to_http() {
        let from = "https://agent.test:8443/a2a/app";
        let upgraded = follows(Method::Post, from, 307, "http://agent.test/a2a/app/");
        assert_eq!(upgraded.as_deref(), Some("https://agent.test:8443/a2a/app/"));
        assert_eq!(follows(Method::Get, from, 302, "http://other.test/card"), None);
        assert_eq!(follows(Method::Get, from, 302, "ftp://agent.test/card"), None);
    }

    #[test]
    fn names_that_only_a_local_network_knows_are_not_public() {
        for (text, public) in [
            ("https://agent.test/", true),
            ("https://agent.test./", true),
            ("http://8.8.8.8/", true),
            ("http://notlocal/", false),
            ("http://agent/", false),
            ("http://agent./", false),
            ("http://printer.local/", false),
            ("http://nas.home.arpa:8080/", false),
            ("http://agent.internal/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_public(&url(text)), public, "{text}");
        }
    }

    #[test]
    fn addresses_are_called_as_far_as_the_reach_goes() {
        let anywhere = Reach { allow_private: true, named_by_public: false };
        let outside = Reach { allow_private: false, named_by_public: false };
        let named = Reach { allow_private: true, named_by_public: true };
        for (text, allowed) in [
            ("http://127.0.0.1/", [true, false, false]),
            ("http://0x7f.1/", [true, false, false]),
            ("http://[::ffff:10.0.0.1]/", [true, false, false]),
            ("http://169.254.169.254/", [false, false, false]),
            ("https://agent.test/", [true, true, true]),
        ] {
            for (reach, expected) in [anywhere, outside, named].into_iter().zip(allowed) {
                assert_eq!(permit(&url(text), reach).is_ok(), expected, "{text} {reach:?}");
            }
        }
    }
}
