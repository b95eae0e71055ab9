//! URLs as they are read here, with fluent-uri as the judge.

use fluent_uri::normalize::Normalizer;
use fluent_uri::{ParseErrorKind, Uri, UriRef};
use narrows::url::{Url, UrlFault};

/// Whether fluent-uri takes it, for the reasons that both know; and its normal form but for the host.
fn peer(reference: UriRef<&str>, base: Option<&str>) -> Result<String, UrlFault> {
    let resolved = match base {
        Some(base) => reference.resolve_against(&Uri::parse(base).unwrap()).map_err(|_| UrlFault::NotAbsolute)?,
        None => Uri::try_from(reference).map_err(|_| UrlFault::NotAbsolute)?.to_owned(),
    };
    let uri = Normalizer::new().default_port_with(|_| None).normalize(&resolved).unwrap();
    if !matches!(uri.scheme().as_str(), "http" | "https") {
        return Err(UrlFault::Scheme);
    }
    let authority = uri.authority().ok_or(UrlFault::NoHost)?;
    if authority.has_userinfo() {
        return Err(UrlFault::UserInfo);
    }
    // The host in a plain form, then everything after the authority.
    let host = if let fluent_uri::component::Host::Ipv6(address) = authority.host_parsed() {
        format!("{:?}", address.segments())
    } else {
        "a name".to_owned()
    };
    let port = authority.port_to_u16().map_err(|_| UrlFault::Port)?;
    let port = port.unwrap_or(if uri.scheme().as_str() == "http" { 80 } else { 443 });
    let path = if uri.path().is_empty() { "/" } else { uri.path().as_str() };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{} {host} {port} {path}{query}", uri.scheme()))
}

fn ours(url: &Url) -> String {
    let address = url.host().strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = address.map_or("a name".into(), |host| format!("{:?}", host.parse::<core::net::Ipv6Addr>().unwrap().segments()));
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{} {host} {} {}{query}", url.scheme().name(), url.port(), url.path())
}

/// Compares a reading with fluent-uri's. Hosts have rules of their own beyond RFC 3986, so only they may be refused here.
pub fn compare(text: &str, found: Result<Url, UrlFault>, base: Option<&str>) -> bool {
    let reference = match UriRef::parse(text) {
        Ok(reference) => reference,
        Err(fault) => {
            let refused = found.expect_err(text);
            let at = text.get(..fault.index()).unwrap().chars().count() as u64 + 1;
            match (refused, fault.kind()) {
                (UrlFault::Character { at: ours, .. }, kind) => {
                    assert_eq!((ours, kind), (at, ParseErrorKind::UnexpectedChar), "{text:?}");
                }
                (UrlFault::PercentEncoding, kind) => {
                    assert_eq!(kind, ParseErrorKind::InvalidPctEncodedOctet, "{text:?}")
                }
                _ => {}
            }
            return false;
        }
    };
    match (found, peer(reference, base)) {
        (Ok(url), Ok(peer)) => {
            assert_eq!(ours(&url), peer, "{text:?}");
            true
        }
        (Err(UrlFault::Host | UrlFault::NoHost | UrlFault::NotAscii), Ok(_)) => false,
        (Err(fault), Err(peer)) => {
            let host = matches!(fault, UrlFault::Host | UrlFault::NoHost | UrlFault::NotAscii);
            assert!(fault == peer || host, "{text:?} is {fault:?} here and {peer:?} there");
            false
        }
        (found, peer) => panic!("{text:?} is {found:?} here and {peer:?} there"),
    }
}
