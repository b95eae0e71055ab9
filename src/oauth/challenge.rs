//! What a server says when it wants a token, or another one (RFC 9110 §11.6.1, RFC 6750 §3, RFC 9728 §5.1).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::list::gather;

/// What `WWW-Authenticate` says of bearer tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// where the metadata of the resource is; `resource_metadata`
    pub metadata: Option<String>,
    /// the scopes that are wanted; `scope`
    pub scopes: Vec<String>,
    /// the code of the error; `error`
    pub error: Option<String>,
}

/// The words of a list that is separated by blanks.
#[must_use]
pub fn words(list: &str) -> Vec<String> {
    gather(list.split_ascii_whitespace().map(ToString::to_string))
}

impl Challenge {
    /// Reads the header fields of an answer. What other schemes say is passed over.
    #[must_use]
    pub fn read(headers: &[(String, String)]) -> Self {
        let mut challenge = Self::default();
        for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("WWW-Authenticate")) {
            challenge.read_field(value);
        }
        challenge
    }

    fn read_field(&mut self, value: &str) {
        let (mut rest, mut is_bearer) = (value, false);
        while !rest.is_empty() {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
            let (word, after) = rest.split_at_checked(end).unwrap_or_default();
            let after = after.trim_start_matches([' ', '\t']);
            match after.strip_prefix('=').filter(|_| !word.is_empty()) {
                Some(after) => {
                    let (value, after) = parameter(after.trim_start_matches([' ', '\t']));
                    if is_bearer {
                        self.take(word, value);
                    }
                    rest = after;
                }
                None => {
                    is_bearer = word.eq_ignore_ascii_case("Bearer");
                    // What no word begins with is passed over, so that the end is reached.
                    rest = if word.is_empty() { after.get(1..).unwrap_or_default() } else { after };
                }
            }
        }
    }

    fn take(&mut self, name: &str, value: String) {
        if name.eq_ignore_ascii_case("resource_metadata") {
            self.metadata.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("scope") {
            self.scopes = words(&value);
        } else if name.eq_ignore_ascii_case("error") {
            self.error.get_or_insert(value);
        }
    }
}

/// The value of a parameter, quoted or not, and what follows it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at_checked(text.find([' ', '\t', ',']).unwrap_or(text.len())).unwrap_or_default();
        return (value.to_string(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Challenge {
        let fields: Vec<_> = values.iter().map(|value| ("www-authenticate".to_string(), (*value).to_string())).collect();
        Challenge::read(&fields)
    }

    #[test]
    fn parameters_of_bearer_are_found_among_those_of_others() {
        let expected = Challenge {
            metadata: Some("https://s.test/.well-known/x?a=b,c".to_string()),
            scopes: words("files:read files:write"),
            error: Some("insufficient_scope".to_string()),
        };
        let bearer = r#"Bearer error="insufficient_scope", scope="files:read  files:write",resource_metadata = "https://s.test/.well-known/x?a=b,c""#;
        assert_eq!(read(&[bearer]), expected);
        assert_eq!(read(&[&alloc::format!("Basic realm=\"a, Bearer scope=x\", {bearer}, DPoP scope=\"no\"")]), expected);
        assert_eq!(read(&["Negotiate", "Digest scope=\"no\"", bearer]), expected);
        assert_eq!(read(&["bearer scope=a"]).scopes, ["a"]);
    }

    #[test]
    fn whatever_else_stands_there_is_passed_over() {
        for value in
            ["", "Bearer", "=", "==,,=x", "Bearer scope", "Bearer scope=", "Bearer scope=\"", "Bearer \\", "é=\"ü", "\"a b\""]
        {
            assert_eq!(read(&[value]), Challenge::default(), "{value}");
        }
        assert_eq!(read(&[r#"Bearer error="a\"b\\"#]).error.as_deref(), Some(r#"a"b\"#));
    }
}
