//! Agent cards of every version (A2A 1.0 §4.4, §8; A2A 0.3 §5), read for what the gateway needs and kept whole.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::json::{self, Fault as JsonFault, Json, Kind, Members, Raw};
use crate::list::gather;

use super::choice::binding_of;
use super::member;

/// What an agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// its name; empty where it gives none
    pub name: String,
    /// its own version
    pub version: Option<String>,
    /// what it is
    pub description: Option<String>,
    /// the protocol version that the card as a whole names (0.3)
    pub protocol_version: Option<String>,
    /// whether it sends streams
    pub streaming: bool,
    /// the names of its skills, the id where a skill has no name
    pub skills: Vec<String>,
    /// where it can be spoken to, in its own order
    pub offers: Vec<Offer>,
    /// the card as it came
    pub whole: Json,
}

/// One interface that a card lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// the URL as it stands in the card, perhaps relative; `None` where there is none
    pub url: Option<String>,
    /// the binding as it stands in the card
    pub binding: String,
    /// the protocol version that the entry names itself
    pub version: Option<String>,
    /// the tenant to be named in requests
    pub tenant: Option<String>,
    /// whether it stands in the list of 1.0, rather than at the top of the card
    pub listed: bool,
}

/// Why a document is no agent card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACard {
    /// a clause such as `it is no JSON`
    pub why: String,
    /// whether it nests too deep
    pub is_too_deep: bool,
}

impl fmt::Display for NotACard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an A2A agent card: {}", self.why)
    }
}

impl core::error::Error for NotACard {}

impl Card {
    /// Reads a document. `depth` bounds nested arrays and objects.
    ///
    /// # Errors
    /// A document that is no card, and why.
    pub fn read(text: &str, depth: u32) -> Result<Self, NotACard> {
        let raw = json::parse(text.trim_start_matches('\u{feff}'), depth).map_err(|fault| match fault {
            JsonFault::Syntax => NotACard { why: "it is no JSON".into(), is_too_deep: false },
            JsonFault::Depth => NotACard { why: "it nests deeper than `json_depth`".into(), is_too_deep: true },
        })?;
        Self::from_raw(raw)
    }

    /// Reads a card that stands in a larger document.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_raw(raw: Raw<'_>) -> Result<Self, NotACard> {
        let Some(members) = json::members(raw) else {
            let why = format!("it is {}, not an object", json::kind(raw).name());
            return Err(NotACard { why, is_too_deep: false });
        };
        if !is_card(&members) {
            return Err(NotACard { why: "it names no A2A interface".into(), is_too_deep: false });
        }
        let text = |name: &str| members.get(name).and_then(member::text).filter(|text| !text.is_empty());
        let capabilities = members.get("capabilities").and_then(json::members).unwrap_or_default();
        Ok(Self {
            name: text("name").unwrap_or_default(),
            version: text("version"),
            description: text("description"),
            protocol_version: text("protocolVersion").or_else(|| text("protocol_version")),
            streaming: capabilities.get("streaming").and_then(member::flag).unwrap_or_default(),
            skills: skills(&members),
            offers: offers(&members),
            whole: Json::from_raw(raw),
        })
    }
}

/// Sites serve other documents at the same places: manifests of other protocols, of shops and of pages. A card names an
/// interface, or a URL together with something that only cards have.
fn is_card(members: &Members<'_>) -> bool {
    let is = |name: &str, kind: Kind| members.get(name).is_some_and(|raw| json::kind(raw) == kind);
    let listed = is("supportedInterfaces", Kind::Array) || is("supported_interfaces", Kind::Array);
    let versioned = is("protocolVersion", Kind::String) && (is("url", Kind::String) || is("skills", Kind::Array));
    let described = is("capabilities", Kind::Object) || is("skills", Kind::Array);
    let skilled = is("capabilities", Kind::Object) && is("skills", Kind::Array);
    listed || is("name", Kind::String) && (versioned || is("url", Kind::String) && described || skilled)
}

/// The names of its skills.
pub fn skills(members: &Members<'_>) -> Vec<String> {
    gather(members.get("skills").and_then(json::elements).unwrap_or_default().into_iter().filter_map(skill))
}

fn skill(raw: Raw<'_>) -> Option<String> {
    let Some(members) = json::members(raw) else { return json::string(raw) };
    ["name", "id"].iter().find_map(|name| members.string(name))
}

/// The list of 1.0, then what stands at the top of the card as in 0.3.
fn offers(members: &Members<'_>) -> Vec<Offer> {
    let list = |names: [&str; 2]| names.iter().find_map(|name| members.get(name)).and_then(json::elements).unwrap_or_default();
    let mut offers = gather(list(["supportedInterfaces", "supported_interfaces"]).into_iter().filter_map(listed));
    let listed = !offers.is_empty();
    let preferred = ["preferredTransport", "preferred_transport"].iter().find_map(|name| members.string(name));
    let at_top = Offer {
        url: members.string("url").filter(|url| !url.is_empty()),
        binding: preferred.unwrap_or_else(|| "JSONRPC".into()),
        version: None,
        tenant: None,
        listed: false,
    };
    if !listed || at_top.url.is_some() {
        offers.push(at_top);
    }
    offers.extend(list(["additionalInterfaces", "additional_interfaces"]).into_iter().filter_map(listed_at_top));
    offers
}

/// An entry of `supportedInterfaces`.
fn listed(raw: Raw<'_>) -> Option<Offer> {
    let mut members = json::members(raw)?;
    // The list is also written with the members of other formats, of which only the names of bindings mean anything here.
    let binding = member::take_text(&mut members, &["protocolBinding", "protocol_binding"])
        .or_else(|| members.string("transport").filter(|name| binding_of(name).is_some()))
        .or_else(|| member::take_text(&mut members, &["type", "transport", "protocol"]));
    Some(Offer {
        url: member::take_text(&mut members, &["url"]),
        binding: binding.unwrap_or_else(|| "JSONRPC".into()),
        version: member::take_text(&mut members, &["protocolVersion", "protocol_version"]),
        tenant: member::take_text(&mut members, &["tenant"]),
        listed: true,
    })
}

/// An entry of `additionalInterfaces`.
fn listed_at_top(raw: Raw<'_>) -> Option<Offer> {
    let mut members = json::members(raw)?;
    Some(Offer {
        url: member::take_text(&mut members, &["url"]),
        binding: member::take_text(&mut members, &["transport", "protocolBinding"])?,
        version: None,
        tenant: None,
        listed: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Card, NotACard> {
        Card::read(text, 128)
    }

    #[test]
    fn null_and_odd_members_are_absent() {
        let card = read(
            r#"{"name":"T","version":"","description":null,"capabilities":{"streaming":null},"skills":[{"id":"a","tags":null},{"name":"B"},5],
                "supportedInterfaces":[{"url":"https://a.test/","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":""}]}"#,
        )
        .unwrap();
        assert_eq!((card.version, card.description, card.streaming), (None, None, false));
        assert_eq!(card.skills, ["a", "B"]);
        assert_eq!(card.offers.len(), 1);
        assert_eq!(card.offers[0].tenant, None);
        assert!(card.whole.as_str().contains(r#""tags":null"#), "the whole card is kept");
    }

    #[test]
    fn what_stands_at_the_top_follows_the_list() {
        let card = read(
            r#"{"name":"H","url":"https://a.test/old","preferredTransport":"GRPC","protocolVersion":"0.3.0","skills":[],
                "additionalInterfaces":[{"url":"https://a.test/rest","transport":"HTTP+JSON"}],
                "supportedInterfaces":[{"url":"https://a.test/new","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
        )
        .unwrap();
        let offers: Vec<_> = card.offers.iter().map(|offer| (offer.url.as_deref().unwrap(), offer.binding.as_str())).collect();
        assert_eq!(
            offers,
            [("https://a.test/new", "JSONRPC"), ("https://a.test/old", "GRPC"), ("https://a.test/rest", "HTTP+JSON")]
        );
    }

    #[test]
    fn other_documents_are_no_cards() {
        for text in ["", "{", "[]", r#""x""#, "null", "{}", r#"{"e":1}"#, r#"{"error":"no such document"}"#] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in [
            r#"{"name":"Shop","short_name":"S","start_url":"/","display":"standalone","icons":[]}"#,
            r#"{"name":"pkg","version":"1.0.0","description":"d","url":"https://a.test"}"#,
        ] {
            assert_eq!(read(text).unwrap_err().why, "it names no A2A interface");
        }
        assert_eq!(read(&"[".repeat(200)).unwrap_err().why, "it nests deeper than `json_depth`");
        assert_eq!(format!("{}", read("<html>").unwrap_err()), "not an A2A agent card: it is no JSON");
    }
}
