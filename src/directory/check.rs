//! Which documents are cards for a directory: stricter than what is read of agents, because whoever registers one is there
//! to mend it, and whoever finds it is not.

use alloc::format;
use alloc::string::String;

use crate::a2a::Card;
use crate::json::{self, Kind};
use crate::url::Url;

/// How long a name may be, in bytes.
const NAME_BYTES: usize = 256;

/// Members of a card (A2A 1.0 §4.4.1; A2A 0.3 §5.5) and what they are where they are there.
const MEMBERS: [(&str, Kind); 8] = [
    ("name", Kind::String),
    ("description", Kind::String),
    ("version", Kind::String),
    ("capabilities", Kind::Object),
    ("defaultInputModes", Kind::Array),
    ("defaultOutputModes", Kind::Array),
    ("skills", Kind::Array),
    ("supportedInterfaces", Kind::Array),
];

/// Reads a card that is to be registered.
///
/// # Errors
/// What is wrong with it, in words for people.
pub(super) fn card(text: &str, depth: u32) -> Result<Card, String> {
    let card = Card::read(text, depth).map_err(|fault| format!("{fault}"))?;
    let members = json::members(card.whole.raw()).unwrap_or_default();
    for (name, kind) in MEMBERS {
        if members.get(name).is_some_and(|raw| json::kind(raw) != kind) {
            return Err(format!("`{name}` of the card must be {}", kind.name()));
        }
    }
    let skills = members.get("skills").and_then(json::elements).unwrap_or_default();
    if skills.into_iter().any(|skill| json::kind(skill) != Kind::Object) {
        return Err("`skills` of the card must hold objects".into());
    }
    if card.name.trim().is_empty() {
        return Err("the card has no name".into());
    }
    if card.name.len() > NAME_BYTES {
        return Err(format!("the card's name has more than {NAME_BYTES} bytes"));
    }
    // Who finds the card in a directory has no other place that a relative URL could be relative to.
    if !card.offers.iter().any(|offer| offer.url.as_deref().is_some_and(|url| Url::parse(url).is_ok())) {
        return Err("no interface of the card has an absolute http or https URL".into());
    }
    Ok(card)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_card_is_told() {
        let interfaces =
            r#""supportedInterfaces":[{"url":"https://a.test","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]"#;
        for (text, why) in [
            ("[", "it is no JSON"),
            ("[]", "not an object"),
            (r#"{"name":"a"}"#, "names no A2A interface"),
            (&format!(r#"{{"name":"","skills":[],{interfaces}}}"#), "has no name"),
            (&format!("{{{interfaces}}}"), "has no name"),
            (&format!(r#"{{"name":5,{interfaces}}}"#), "`name` of the card must be a string"),
            (&format!(r#"{{"name":"a","description":{{}},{interfaces}}}"#), "`description`"),
            (&format!(r#"{{"name":"a","skills":{{}},{interfaces}}}"#), "`skills` of the card must be an array"),
            (&format!(r#"{{"name":"a","skills":["x"],{interfaces}}}"#), "must hold objects"),
            (&format!(r#"{{"name":"{}",{interfaces}}}"#, "x".repeat(257)), "256 bytes"),
            (r#"{"name":"a","supportedInterfaces":[]}"#, "no interface"),
            (r#"{"name":"a","url":"/a2a","skills":[]}"#, "no interface"),
            (r#"{"name":"a","url":"javascript:alert(1)","skills":[]}"#, "no interface"),
        ] {
            let said = card(text, 128).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
        for text in [
            format!(r#"{{"name":"a","skills":null,"description":null,{interfaces},"x":1}}"#),
            r#"{"name":"a","url":"https://a.test/","skills":[{"id":"s","tags":null}]}"#.into(),
        ] {
            assert_eq!(card(&text, 128).unwrap().name, "a");
        }
    }
}
