//! Addresses on the web: parsed, normalised, http and https only.
//!
//! A [`Url`] is read once and then says the same to everyone: RFC 3986 parsing, resolution and normalisation, and the
//! host as WHATWG URL readers take it, so that what is checked here is what a `fetch` connects to. The spellings on
//! which the two standards differ (`http:/x`, backslashes, blanks, user information) are refused.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

mod address;
mod fault;
mod host;
mod reference;

pub use address::Address;
pub use fault::UrlFault;
pub(crate) use reference::decode;

use crate::text;
use reference::{Authority, Fault, FaultKind, Reference};

/// The schemes in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// without encryption
    Http,
    /// with encryption
    Https,
}

impl Scheme {
    /// The scheme as it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port where none is written.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Scheme, host and port: whom one talks to, and the bound for credentials (RFC 6454 §4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.host)?;
        if self.port == self.scheme.default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// An absolute http or https URL in its normal form, without user information and fragment.
///
/// Equal URLs have equal text. The debug form leaves the query out, where keys are found in the field.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Url {
    text: String,
    scheme: Scheme,
    port: u16,
    address: Address,
    host_end: usize,
    path_start: usize,
    path_end: usize,
}

/// How long a text may be that is read as a URL: many of them are kept.
const MOST_BYTES: usize = 16 << 10;

impl Url {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// What is wrong with it, in words that never repeat the text.
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        if text.len() > MOST_BYTES {
            return Err(UrlFault::Length);
        }
        let reference = Reference::read(text).map_err(|fault| {
            let relative = !text::holds(text, "://") && fault.kind != FaultKind::PercentEncoding;
            if relative { UrlFault::NotAbsolute } else { classify(text, fault) }
        })?;
        let scheme = reference.scheme.ok_or(UrlFault::NotAbsolute)?;
        Self::from_parts(scheme, reference.authority, reference.path, reference.query)
    }

    /// Resolves a reference such as a `Location` or a card's relative URL (RFC 3986 §5).
    ///
    /// The result may lie on another origin: `//host/x` and absolute references do. Its fragment is dropped.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn join(&self, reference: &str) -> Result<Self, UrlFault> {
        if reference.len() > MOST_BYTES {
            return Err(UrlFault::Length);
        }
        let Reference { scheme, authority, path, query } =
            Reference::read(reference).map_err(|fault| classify(reference, fault))?;
        if scheme.is_some() || authority.is_some() {
            return Self::from_parts(scheme.unwrap_or(self.scheme.name()), authority, path, query);
        }
        let (directory, _) = self.path().rsplit_once('/').unwrap_or_default();
        let (path, query) = match path {
            "" => (self.path().to_owned(), query.or(self.query())),
            _ if path.starts_with('/') => (path.to_owned(), query),
            _ => (format!("{directory}/{path}"), query),
        };
        let (path, query) = normalized(&path, query);
        Ok(Self::assemble(self.scheme, (self.host(), self.address), self.port, &path, query.as_deref()))
    }

    fn from_parts(scheme: &str, authority: Option<Authority<'_>>, path: &str, query: Option<&str>) -> Result<Self, UrlFault> {
        let scheme = [Scheme::Http, Scheme::Https].into_iter().find(|known| known.name().eq_ignore_ascii_case(scheme));
        let scheme = scheme.ok_or(UrlFault::Scheme)?;
        let authority = authority.ok_or(UrlFault::NoHost)?;
        if authority.has_user_information {
            return Err(UrlFault::UserInfo);
        }
        let (host, address) = host::canonical(authority.host)?;
        let port = match authority.port {
            "" => scheme.default_port(),
            digits => text::whole(digits).and_then(|port| u16::try_from(port).ok()).ok_or(UrlFault::Port)?,
        };
        let (path, query) = normalized(path, query);
        Ok(Self::assemble(scheme, (&host, address), port, &path, query.as_deref()))
    }

    /// Writes a URL from parts in their normal form.
    fn assemble(scheme: Scheme, (host, address): (&str, Address), port: u16, path: &str, query: Option<&str>) -> Self {
        let mut text = format!("{}://{host}", scheme.name());
        let host_end = text.len();
        if port != scheme.default_port() {
            let _ = write!(text, ":{port}");
        }
        let path_start = text.len();
        text.push_str(if path.is_empty() { "/" } else { path });
        let path_end = text.len();
        if let Some(query) = query {
            text.push('?');
            text.push_str(query);
        }
        Self { text, scheme, port, address, host_end, path_start, path_end }
    }

    /// The whole text, as it goes to a `fetch`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host: a name in lower case, an IPv4 address in four decimal numbers, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.text.get(self.scheme.name().len() + "://".len()..self.host_end).unwrap_or_default()
    }

    /// The port, the scheme's own where none is written.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path, which starts with a slash.
    #[must_use]
    pub fn path(&self) -> &str {
        self.text.get(self.path_start..self.path_end).unwrap_or_default()
    }

    /// The query without its question mark.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.path_end..)?.strip_prefix('?')
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { scheme: self.scheme, host: self.host().to_owned(), port: self.port }
    }

    /// What kind of place the host is, from its text alone.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// The same origin with the path `/`.
    #[must_use]
    pub fn origin_url(&self) -> Self {
        Self::assemble(self.scheme, (self.host(), self.address), self.port, "/", None)
    }

    /// The same place over https on that port.
    #[must_use]
    pub fn with_scheme_https_on_port(&self, port: u16) -> Self {
        Self::assemble(Scheme::Https, (self.host(), self.address), port, self.path(), self.query())
    }

    /// Appends to the path, with one slash between. The query is dropped, one in `suffix` taken; the origin stays.
    ///
    /// # Errors
    /// A character in `suffix` that is not allowed in a URL.
    pub fn with_path_appended(&self, suffix: &str) -> Result<Self, UrlFault> {
        Self::parse(&format!("{}/{}", self.base(), suffix.trim_start_matches('/')))
    }

    /// Appends whole segments to the path, then `suffix` as it stands (`:cancel`). The query is kept.
    ///
    /// Every segment is percent-encoded but for the unreserved characters of RFC 3986 §2.3, and cannot leave its place.
    ///
    /// # Errors
    /// [`UrlFault::Segment`] for an empty segment, `.` and `..`, which no encoding protects (WHATWG URL §4.1 reads
    /// `%2e%2e` as `..`); a character in `suffix` that is not allowed in a URL.
    pub fn with_path_segments(&self, segments: &[&str], suffix: &str) -> Result<Self, UrlFault> {
        let mut text = self.base().to_owned();
        for segment in segments {
            if matches!(*segment, "" | "." | "..") {
                return Err(UrlFault::Segment);
            }
            text.push('/');
            percent_encode(&mut text, segment);
        }
        text.push_str(suffix);
        text.push_str(self.text.get(self.path_end..).unwrap_or_default());
        Self::parse(&text)
    }

    /// Adds one parameter to the query.
    #[must_use]
    pub fn with_query(&self, name: &str, value: &str) -> Self {
        let mut url = self.clone();
        url.text.push(match self.query() {
            None => '?',
            Some(_) => '&',
        });
        percent_encode(&mut url.text, name);
        url.text.push('=');
        percent_encode(&mut url.text, value);
        url
    }

    /// The value of the first query parameter of that name, decoded as HTML forms encode it.
    #[must_use]
    pub fn query_value(&self, name: &str) -> Option<String> {
        let pairs = self.query()?.split('&').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (form_decode(key), form_decode(value))).find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Everything before the query, without slashes at the end.
    fn base(&self) -> &str {
        self.text.get(..self.path_end).unwrap_or_default().trim_end_matches('/')
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.get(..self.path_end).unwrap_or_default())?;
        f.write_str(if self.query().is_some() { "?..." } else { "" })
    }
}

/// `+` is a space, `%41` an `A`; a `%` without two digits stands for itself.
pub(crate) fn form_decode(text: &str) -> String {
    String::from_utf8_lossy(&form_bytes(text)).into_owned()
}

/// Whether what a text stands for is text again.
pub(crate) fn is_form_text(text: &str) -> bool {
    core::str::from_utf8(&form_bytes(text)).is_ok()
}

fn form_bytes(text: &str) -> Vec<u8> {
    let (mut out, mut bytes) = (Vec::with_capacity(text.len()), text.as_bytes().iter());
    while let Some(&byte) = bytes.next() {
        let digits = (byte == b'%').then(|| bytes.as_slice().get(..2)).flatten();
        let decoded = digits.and_then(|digits| u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok());
        match decoded {
            Some(decoded) => {
                out.push(decoded);
                bytes.nth(1);
            }
            None => out.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    out
}

/// Appends a text in which every byte but the unreserved ones of RFC 3986 §2.3 is percent-encoded.
pub(crate) fn percent_encode(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// Path and query in their normal form.
fn normalized(path: &str, query: Option<&str>) -> (String, Option<String>) {
    let normal = |part: &str| {
        let mut out = String::with_capacity(part.len());
        reference::normalize(&mut out, part);
        out
    };
    (reference::without_dot_segments(&normal(path)), query.map(normal))
}

/// What the parser's complaint means to the one who wrote the text.
fn classify(text: &str, fault: Fault) -> UrlFault {
    let (before, after) = text.split_at_checked(fault.at).unwrap_or((text, ""));
    let authority = authority_of(text);
    if authority.as_bytes().contains(&b'@') {
        return UrlFault::UserInfo;
    }
    match (fault.kind, after.chars().next()) {
        (FaultKind::PercentEncoding, _) => UrlFault::PercentEncoding,
        (FaultKind::Address, _) | (FaultKind::Character, None) => UrlFault::Host,
        (FaultKind::Character, Some(character)) => {
            let host = authority_of(before);
            let in_host = text::holds(before, "//") && host.len() < authority.len();
            if in_host && host.starts_with('[') && !text::holds(host, "]:") {
                UrlFault::Host
            } else if in_host && host.rsplit(']').next().unwrap_or_default().as_bytes().contains(&b':') {
                UrlFault::Port
            } else if in_host && !character.is_ascii() {
                UrlFault::NotAscii
            } else {
                UrlFault::Character { character, at: text::code_points(before) + 1 }
            }
        }
    }
}

/// What stands where host and port belong.
fn authority_of(text: &str) -> &str {
    let (scheme, rest) = text::split_once(text, "//").unwrap_or_default();
    let is_scheme = scheme.strip_suffix(':').is_none_or(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if !is_scheme { "" } else { rest.split(['/', '?', '#', '\\']).next().unwrap_or_default() }
}

#[cfg(test)]
mod tests;
