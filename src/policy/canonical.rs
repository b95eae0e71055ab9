//! The one spelling of a call's arguments, and its digest: what a person approved, and nothing else.

use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::json::{self, Json, Kind, Raw};
use crate::list::{self, gather};

/// Appends a value with the members of each object in the order of their names. Members with one name keep their order,
/// and numbers and strings their spelling, so that two values with one spelling are one value to every reader.
fn write(out: &mut String, raw: Raw<'_>) {
    match json::kind(raw) {
        Kind::Object => {
            let Some(members) = json::members(raw) else {
                out.push_str(&json::compact(raw.get()));
                return;
            };
            let list: Vec<(&str, Raw<'_>)> = gather(members.iter());
            let name = |place: usize| list.get(place).map(|(name, _)| *name);
            let order = list::order(list.len(), &|one, other| name(one) < name(other));
            out.push('{');
            for (number, (name, value)) in order.into_iter().filter_map(|place| list.get(place)).enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                json::write_string(out, name);
                out.push(':');
                write(out, *value);
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for (number, element) in json::elements(raw).unwrap_or_default().into_iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                write(out, element);
            }
            out.push(']');
        }
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String => out.push_str(raw.get()),
    }
}

/// The digest of a call with its `_meta`: 64 hexadecimal digits. Both are nested no deeper than the gateway's own bound.
#[must_use]
pub fn digest(tool: &str, arguments: Option<Raw<'_>>, meta: Option<Raw<'_>>) -> String {
    let written = [arguments, meta].map(|raw| {
        let mut text = String::new();
        match raw {
            Some(raw) => write(&mut text, raw),
            None => text.push_str("{}"),
        }
        text
    });
    let [arguments, meta] = written;
    hash(&[tool, &arguments, &meta])
}

/// What the policy under which a call is approved begins with: the digest of the configured one.
#[must_use]
pub fn policy(configured: &Json) -> String {
    hash(&[configured.as_str()])
}

/// A value in the one spelling.
#[must_use]
pub fn spelled(raw: Raw<'_>) -> String {
    let mut text = String::new();
    write(&mut text, raw);
    text
}

/// The SHA-256 of some texts, each with its length before it, in hexadecimal digits.
#[must_use]
pub fn hash(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    let mut out = String::with_capacity(64);
    for byte in hasher.finalize() {
        for digit in [byte >> 4, byte & 15] {
            out.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        digest("mcp_a_b", Some(json::parse(text, 64).unwrap()), None)
    }

    #[test]
    fn order_and_blanks_do_not_matter_and_all_else_does() {
        let one = of(r#"{"a":1,"b":{"c":[1,{"d":2,"e":3}],"f":"x"}}"#);
        assert_eq!(one, of(r#"{ "b" : {"f":"x","c":[1, {"e":3,"d":2}]} , "a":1}"#));
        for other in [
            r#"{"a":2,"b":{"c":[1,{"d":2,"e":3}],"f":"x"}}"#,
            r#"{"a":1,"b":{"c":[{"d":2,"e":3},1],"f":"x"}}"#,
            r#"{"a":1,"a":1,"b":{"c":[1,{"d":2,"e":3}],"f":"x"}}"#,
            r#"{"a":"1","b":{"c":[1,{"d":2,"e":3}],"f":"x"}}"#,
            r#"{"a":1.0,"b":{"c":[1,{"d":2,"e":3}],"f":"x"}}"#,
        ] {
            assert_ne!(one, of(other), "{other}");
        }
        assert_ne!(of(r#"{"a":1,"a":2}"#), of(r#"{"a":2,"a":1}"#));
        assert_ne!(of(r#"{"a":"\ud800"}"#), of(r#"{"a":"\ud801"}"#));
        assert_ne!(of(r#"{"\ud800":1}"#), of(r#"{"\ud801":1}"#));
        assert_ne!(digest("mcp_a_b", None, None), digest("mcp_a_c", None, None));
        assert_eq!(digest("mcp_a_b", None, None), of("{}"));
        let meta = json::parse(r#"{"a":1}"#, 64).unwrap();
        assert_ne!(digest("mcp_a_b", None, Some(meta)), digest("mcp_a_b", Some(meta), None));
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(hash(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }
}
