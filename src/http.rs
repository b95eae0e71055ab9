//! Header fields of HTTP (RFC 9110), as far as the gateway reads and checks them.

use alloc::string::String;

use crate::text;
use crate::time::WallTime;

/// The longest wait that is believed: one hour.
const RETRY_AFTER_CAP_MS: u64 = 3_600_000;

/// Fields that the gateway or the transport writes itself; nobody may give them.
pub const FORBIDDEN: [&str; 11] = [
    "Content-Type",
    "Accept",
    "Host",
    "Content-Length",
    "Connection",
    "Keep-Alive",
    "Transfer-Encoding",
    "Upgrade",
    "TE",
    "Trailer",
    "Expect",
];

/// Further fields that a browser drops without a word (Fetch §2.2.2), or replaces by its own (`User-Agent`).
pub const DROPPED_BY_BROWSERS: [&str; 14] = [
    "Accept-Charset",
    "Accept-Encoding",
    "Access-Control-Request-Headers",
    "Access-Control-Request-Method",
    "Access-Control-Request-Private-Network",
    "Cookie",
    "Cookie2",
    "Date",
    "DNT",
    "Origin",
    "Referer",
    "Set-Cookie",
    "User-Agent",
    "Via",
];

/// The value of the first field of that name.
#[must_use]
pub fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Whether a field of that name is the gateway's or the transport's own.
#[must_use]
pub fn is_forbidden(name: &str) -> bool {
    FORBIDDEN.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a browser drops or replaces a field of that name.
#[must_use]
pub fn is_dropped_by_browsers(name: &str) -> bool {
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    DROPPED_BY_BROWSERS.iter().any(|known| known.eq_ignore_ascii_case(name)) || begins("Proxy-") || begins("Sec-")
}

/// Whether a `Content-Type` names that media type, whatever its parameters (RFC 9110 §8.3.1).
#[must_use]
pub fn content_type_is(value: &str, media_type: &str) -> bool {
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(media_type)
}

/// Whether a text is a token, and so fit for a field name (RFC 9110 §5.6.2).
#[must_use]
pub fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text is fit for a field value everywhere: visible ASCII, spaces and tabs (RFC 9110 §5.5).
#[must_use]
pub fn is_field_value(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

/// How long a `Retry-After` asks to wait, in milliseconds and at most an hour (RFC 9110 §10.2.3).
///
/// Whole seconds or a date; a date in the past is 0. What is neither is as if it were not there.
#[must_use]
pub fn retry_after_ms(value: &str, now: WallTime) -> Option<u64> {
    let value = value.trim_ascii();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text::whole(value).unwrap_or(u64::MAX);
        return Some(seconds.saturating_mul(1000).min(RETRY_AFTER_CAP_MS));
    }
    let at = WallTime::from_http_date(value, now)?;
    Some(u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0).min(RETRY_AFTER_CAP_MS))
}

/// The size of a header section in bytes, as HTTP/1.1 writes it.
#[must_use]
pub fn section_bytes(headers: &[(String, String)]) -> u64 {
    headers.iter().map(|(name, value)| (name.len() + ": \r\n".len() + value.len()) as u64).sum()
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    fn fields(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn fields_are_found_in_any_case_and_measured() {
        let fields = fields(&[("content-TYPE", "a"), ("X", ""), ("Content-Type", "b")]);
        assert_eq!(header(&fields, "Content-Type"), Some("a"));
        assert_eq!(header(&fields, "x"), Some(""));
        assert_eq!(header(&fields, "y"), None);
        assert_eq!(section_bytes(&fields), "content-TYPE: a\r\nX: \r\nContent-Type: b\r\n".len() as u64);
    }

    #[test]
    fn media_types_are_compared_without_parameters_and_case() {
        for value in ["text/event-stream", "Text/Event-Stream;charset=utf-8", " text/event-stream ; a=b"] {
            assert!(content_type_is(value, "text/event-stream"), "{value}");
        }
        for value in ["", "text/event-streams", "text/plain;text/event-stream", "text / event-stream"] {
            assert!(!content_type_is(value, "text/event-stream"), "{value}");
        }
    }

    #[test]
    fn names_and_values_are_checked_by_character() {
        for name in ["X-Api-Key", "a", "!#$%&'*+-.^_`|~09"] {
            assert!(is_token(name), "{name}");
        }
        for name in ["", "X Api", "X:", "Ä", "a\n", "(a)", "a/b", "\"a\"", "a@b"] {
            assert!(!is_token(name), "{name}");
        }
        for value in ["", "Bearer abc", "a\tb", " !~"] {
            assert!(is_field_value(value), "{value:?}");
        }
        for value in ["a\nb", "a\rb", "a\0", "\u{7f}", "é", "\u{2028}"] {
            assert!(!is_field_value(value), "{value:?}");
        }
    }

    #[test]
    fn fields_of_the_transport_and_of_browsers_are_known() {
        for name in ["content-type", "HOST", "te", "Trailer"] {
            assert!(is_forbidden(name), "{name}");
            assert!(!is_dropped_by_browsers(name), "{name}");
        }
        for name in ["cookie", "Sec-Fetch-Mode", "proxy-authorization", "User-agent", "Accept-Encoding"] {
            assert!(is_dropped_by_browsers(name), "{name}");
            assert!(!is_forbidden(name), "{name}");
        }
        for name in ["Authorization", "X-Api-Key", "Section", "Security", "Proxy", "Se\u{301}c-", "Accept-Language"] {
            assert!(!is_forbidden(name) && !is_dropped_by_browsers(name), "{name}");
        }
    }

    #[test]
    fn waits_are_seconds_or_dates_and_capped() {
        let now = WallTime(784_111_777_000);
        let cases = [
            ("2", Some(2000)),
            (" 3\t", Some(3000)),
            ("0", Some(0)),
            ("3600", Some(3_600_000)),
            ("999999", Some(3_600_000)),
            ("99999999999999999999999", Some(3_600_000)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(10_000)),
            ("Sun Nov  6 08:49:47 1994", Some(10_000)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(0)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", Some(3_600_000)),
            ("-5", None),
            ("+5", None),
            ("1.5", None),
            ("1e9", None),
            ("0x10", None),
            ("", None),
            (" ", None),
            ("1, 2", None),
            ("soon", None),
        ];
        for (value, expected) in cases {
            assert_eq!(retry_after_ms(value, now), expected, "{value:?}");
        }
    }
}
