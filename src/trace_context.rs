//! W3C Trace Context: which trace a request belongs to, taken over from whoever asks and handed on to whoever is asked.
//!
//! Nothing is begun here: where nobody names a trace, none is named. What cannot be read is as if it were not there
//! (W3C Trace Context §3.2, §3.3).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::ids::Random;
use crate::io::Headers;
use crate::json::{Json, Members, Object};

/// The header field, and member of `_meta`, of a trace.
pub const PARENT: &str = "traceparent";
/// The same of what vendors say of it.
pub const STATE: &str = "tracestate";

/// How long a `tracestate` may be, and how many members it may have (§3.3.1.1, §3.3.1.5).
const STATE_BYTES: usize = 512;
const STATE_MEMBERS: usize = 32;

/// The flags that are known: sampled, and a trace id that is random (Trace Context level 2 §3.2.2.5).
const FLAGS: u8 = 0b11;

/// A place in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// 32 hexadecimal digits
    pub trace_id: String,
    /// 16 hexadecimal digits: the span of whoever asks, or that of the gateway itself after [`child`](Self::child)
    pub span_id: String,
    flags: u8,
    state: Option<String>,
}

impl TraceContext {
    /// That of a request's header fields. Two parents are none.
    #[must_use]
    pub fn of_headers(headers: &Headers) -> Option<Self> {
        let named = |name: &'static str| headers.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        let mut parents = named(PARENT);
        let parent = parents.next().filter(|_| parents.next().is_none())?;
        let mut state = String::new();
        for (_, more) in named(STATE) {
            state.push_str(if state.is_empty() { "" } else { "," });
            state.push_str(more);
        }
        Self::read(&parent.1, &state)
    }

    /// That of a `_meta` of MCP, under the names that the header fields have.
    #[must_use]
    pub fn of_meta(meta: &Members<'_>) -> Option<Self> {
        Self::read(&meta.string(PARENT)?, &meta.string(STATE).unwrap_or_default())
    }

    /// Reads a `traceparent` and, where it is not empty, a `tracestate`.
    #[must_use]
    pub fn read(parent: &str, state: &str) -> Option<Self> {
        let mut parts = parent.trim_matches([' ', '\t']).splitn(5, '-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Later versions may say more at the end (§3.2.4).
        let fits = version != "ff" && (version != "00" || parts.next().is_none());
        let is_id = |text: &str, digits| is_hex(text, digits) && text.bytes().any(|digit| digit != b'0');
        if !fits || !is_hex(version, 2) || !is_id(trace_id, 32) || !is_id(span_id, 16) || !is_hex(flags, 2) {
            return None;
        }
        let flags = u8::from_str_radix(flags, 16).ok()? & FLAGS;
        let state = Some(state.trim_matches([' ', '\t'])).filter(|state| is_state(state)).map(ToString::to_string);
        Some(Self { trace_id: trace_id.to_string(), span_id: span_id.to_string(), flags, state })
    }

    /// The gateway's own place below this one.
    #[must_use]
    pub fn child(&self, random: &mut Random) -> Self {
        Self { span_id: random.span_id(), ..self.clone() }
    }

    /// The header fields of a request that belongs to it.
    #[must_use]
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut list = Vec::new();
        list.push((PARENT, self.to_string()));
        list.extend(self.state.clone().map(|state| (STATE, state)));
        list
    }

    /// The members of a `_meta` that is passed on, with this trace in place of what they say about one.
    pub fn put_into_meta(&self, meta: &mut Vec<(String, Json)>) {
        meta.retain(|(name, _)| name != PARENT && name != STATE);
        for (name, value) in self.headers() {
            meta.push((name.to_string(), Json::string(&value)));
        }
    }

    /// The members of a notice about what belongs to it.
    pub fn add_to_notice(&self, fields: &mut Object) {
        fields.string("trace_id", &self.trace_id).string("span_id", &self.span_id);
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

/// So many hexadecimal digits in lower case.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A list of members `key=value`, some of which may be empty (§3.3.1).
fn is_state(state: &str) -> bool {
    let is_key = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/@".contains(&byte);
    let is_value = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    let mut members = 0;
    for member in state.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty()) {
        members += 1;
        let Some((key, value)) = member.split_once('=') else { return false };
        if key.is_empty() || value.is_empty() || !key.bytes().all(is_key) || !value.bytes().all(is_value) {
            return false;
        }
    }
    (1..=STATE_MEMBERS).contains(&members) && state.len() <= STATE_BYTES
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn parent() -> String {
        format!("00-{TRACE}-{SPAN}-01")
    }

    #[test]
    fn what_is_read_is_handed_on_with_a_span_of_ones_own() {
        let read = TraceContext::read(&parent(), "rojo=00f067aa0ba902b7, congo@x=t61").unwrap();
        assert_eq!((read.trace_id.as_str(), read.span_id.as_str(), read.to_string()), (TRACE, SPAN, parent()));
        let child = read.child(&mut Random::new([7; 32]));
        assert!(is_hex(&child.span_id, 16) && child.span_id != SPAN);
        let headers: Headers = child.headers().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        assert_eq!(TraceContext::of_headers(&headers), Some(child.clone()));
        assert_eq!(headers[1].1, "rojo=00f067aa0ba902b7, congo@x=t61");
        let other = |name: &str| (name.to_string(), Json::string("other"));
        let mut meta = alloc::vec![other("traceparent"), other("x"), other("tracestate")];
        child.put_into_meta(&mut meta);
        let mut whole = Object::new();
        whole.members(&meta);
        let whole = whole.finish();
        let members = whole.members().unwrap();
        assert_eq!((TraceContext::of_meta(&members), members.string("x")), (Some(child), Some("other".into())));
    }

    #[test]
    fn what_is_malformed_is_ignored() {
        for text in [
            String::new(),
            "00".into(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-{SPAN}-0g"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}0-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", "é".repeat(16)),
        ] {
            assert_eq!(TraceContext::read(&text, ""), None, "{text}");
        }
        for (text, read) in [
            (format!("cc-{TRACE}-{SPAN}-ff-what-comes-later"), format!("00-{TRACE}-{SPAN}-03")),
            (format!(" 00-{TRACE}-{SPAN}-00\t"), format!("00-{TRACE}-{SPAN}-00")),
        ] {
            assert_eq!(TraceContext::read(&text, "").unwrap().to_string(), read);
        }
        let two = [("Traceparent".to_string(), parent()), ("traceparent".to_string(), parent())];
        assert_eq!(TraceContext::of_headers(&two.to_vec()), None);
    }

    #[test]
    fn a_state_that_is_malformed_goes_alone() {
        let many = |count| alloc::vec!["a=1"; count].join(",");
        for (state, stays) in [
            ("", false),
            (" , ", false),
            ("a", false),
            ("a=", false),
            ("=b", false),
            ("A=b", false),
            ("a=b=c", false),
            ("a=é", false),
            ("a=1,,b=2 ,", true),
            (&many(32), true),
            (&many(33), false),
            (&format!("a={}", "x".repeat(510)), true),
            (&format!("a={}", "x".repeat(511)), false),
        ] {
            let read = TraceContext::read(&parent(), state).unwrap();
            assert_eq!(read.state.is_some(), stays, "{state}");
        }
        let parent = parent();
        let lines = [(PARENT, parent.as_str()), (STATE, "a=1"), ("TraceState", "b=2")];
        let lines = lines.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        assert_eq!(TraceContext::of_headers(&lines).unwrap().state.as_deref(), Some("a=1,b=2"));
    }
}
