//! Which of a card's interfaces is used (A2A 1.0 §8.3; A2A 0.3 §5.6), and where it really is.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::json::{Json, Object};
use crate::text;
use crate::url::{Address, Scheme, Url};

use super::card::{Card, Offer};
use super::dialect::{Dialect, Interface};
use super::discovery::endpoint;

/// The interface of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// where and how
    pub interface: Interface,
    /// the first one in the other version, for an agent that turns out not to speak the first
    pub other: Option<Interface>,
    /// the one for messages that hold the bytes of files, where that is another one
    pub files: Option<Interface>,
    /// whether it lies on another origin than the registered URL, so that no header of the alias goes there
    pub foreign: bool,
    /// what was corrected or passed over, in sentences for people
    pub notes: Vec<String>,
}

/// A card without an interface that is spoken here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceFault {
    /// what the card offers, at most eight entries
    pub offered: Vec<String>,
}

impl fmt::Display for ChoiceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no supported binding (JSONRPC, HTTP+JSON): the card offers {}", text::joined(&self.offered, ", "))
    }
}

impl core::error::Error for ChoiceFault {}

/// The bindings spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    JsonRpc,
    Rest,
}

/// The binding of that name, in any case; `REST` is what cards of 0.3 also call HTTP+JSON.
pub(super) fn binding_of(name: &str) -> Option<Binding> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_uppercase()).collect();
    match plain.as_str() {
        "JSONRPC" | "JSONRPC20" => Some(Binding::JsonRpc),
        "HTTPJSON" | "REST" => Some(Binding::Rest),
        _ => None,
    }
}

/// What a version label says.
enum Label {
    New,
    Old,
    Unsupported,
    Nothing,
}

/// Only the major number tells: 1.x is spoken as 1.0 (§3.6: patch and minor versions are compatible), 0.x as 0.3.
fn label(version: Option<&str>) -> Label {
    let version = version.unwrap_or_default().trim().trim_start_matches(['v', 'V']);
    match text::whole(version.split('.').next().unwrap_or_default()) {
        Some(0) => Label::Old,
        Some(1) => Label::New,
        Some(_) => Label::Unsupported,
        None => Label::Nothing,
    }
}

/// What the header `A2A-Version` asks for: whether that is 1.0, `None` where it names neither version.
pub fn asked_version(version: &str) -> Option<bool> {
    match label(Some(version)) {
        Label::New => Some(true),
        Label::Old => Some(false),
        Label::Unsupported | Label::Nothing => None,
    }
}

/// Whether an offer is of 1.0, and whether the agent said so. `None` for a version that is not spoken.
fn version_of(offer: &Offer, card: &Card) -> Option<(bool, bool)> {
    let whole = label(card.protocol_version.as_deref());
    match (label(offer.version.as_deref()), whole) {
        (Label::New, _) => Some((true, true)),
        (Label::Old, _) => Some((false, true)),
        (Label::Unsupported, _) => None,
        (Label::Nothing, Label::Old) => Some((false, !offer.listed)),
        // A card in the old shape that calls itself 1.0: one of the two is wrong.
        (Label::Nothing, Label::New) => Some((true, false)),
        (Label::Nothing, Label::Unsupported) => None,
        (Label::Nothing, Label::Nothing) => Some((offer.listed, false)),
    }
}

/// Chooses the first interface in the card's order that is spoken here. `card_url` is where the card was found.
///
/// # Errors
/// A card that offers none.
pub fn choose(card: &Card, card_url: &Url, registered: &Url) -> Result<Choice, ChoiceFault> {
    let mut offered = Vec::new();
    let mut notes = Vec::new();
    let (mut chosen, mut other, mut files): (Option<Interface>, _, _) = (None, None, None);
    for offer in &card.offers {
        let Some(binding) = binding_of(&offer.binding) else {
            offered.push(offer.binding.clone());
            continue;
        };
        let Some((is_10, declared)) = version_of(offer, card) else {
            let version = offer.version.as_ref().or(card.protocol_version.as_ref());
            offered.push(format!("{} in version {}", offer.binding, version.map_or("", String::as_str)));
            continue;
        };
        // Agents of 0.3 do not agree on how HTTP+JSON holds bytes, and do over JSON-RPC.
        let is_for_files = binding == Binding::JsonRpc
            && chosen.as_ref().is_some_and(|chosen| !is_10 && chosen.dialect == Dialect::Rest03)
            && files.is_none();
        let is_known = |known: &Option<Interface>| known.as_ref().is_some_and(|known| known.dialect.is_10() == is_10);
        if !is_for_files && (is_known(&chosen) || is_known(&other)) {
            continue;
        }
        // What is said of addresses is said of the one that is used.
        let told = if chosen.is_none() { &mut notes } else { &mut Vec::new() };
        let url = match place(offer, card_url, registered, told) {
            Ok(url) => url,
            Err(why) => {
                offered.push(format!("{} at a URL that {why}", offer.binding));
                continue;
            }
        };
        let dialect = match (binding, is_10) {
            (Binding::JsonRpc, true) => Dialect::JsonRpc10,
            (Binding::JsonRpc, false) => Dialect::JsonRpc03,
            (Binding::Rest, true) => Dialect::Rest10,
            (Binding::Rest, false) => Dialect::Rest03,
        };
        let interface = Interface { url, dialect, tenant: offer.tenant.clone(), declared };
        match &chosen {
            Some(chosen) if is_for_files => files = Some(interface).filter(|files| files.url.origin() == chosen.url.origin()),
            Some(_) => other = Some(interface),
            None => chosen = Some(interface),
        }
    }
    if let Some(interface) = chosen {
        let foreign = interface.url.origin() != registered.origin();
        return Ok(Choice { interface, other, files, foreign, notes });
    }
    if offered.is_empty() {
        offered.push("nothing".into());
    }
    offered.truncate(8);
    Err(ChoiceFault { offered })
}

/// Where an offer really is. Servers behind a proxy write addresses that only they know.
fn place(offer: &Offer, card_url: &Url, registered: &Url, notes: &mut Vec<String>) -> Result<Url, String> {
    let Some(written) = &offer.url else { return Ok(endpoint(registered)) };
    let mut url = card_url.join(written.trim()).map_err(|fault| fault.to_string())?;
    if url.address() == Address::Unspecified && url.host() != registered.host() {
        notes.push(format!("The card names the unspecified address {}; the registered host is used.", url.host()));
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        url = Url::parse(&format!("{}{}{query}", registered.origin(), url.path())).map_err(|fault| fault.to_string())?;
    }
    if url.scheme() == Scheme::Http && registered.scheme() == Scheme::Https && url.host() == registered.host() {
        notes.push("The card names an http URL on the registered host; https is used.".into());
        url = url.with_scheme_https_on_port(registered.port());
    }
    // Nobody listens between this machine and itself.
    let is_open = url.scheme() == Scheme::Http && url.address() != Address::Loopback;
    if is_open && registered.scheme() == Scheme::Https {
        return Err("is http, where the agent is https".into());
    }
    if url.address() == Address::Loopback && registered.address() != Address::Loopback {
        notes.push(format!("The card names an interface on {}, which is this machine and not the agent's.", url.host()));
    }
    Ok(url)
}

/// The summary of a card: `{name, version, description?, protocol_version?, transport?, url?, streaming, skills}`; what
/// comes of the choice is absent where there is none.
#[must_use]
pub fn normalized(card: &Card, choice: Option<&Choice>) -> Json {
    let mut out = Object::new();
    out.string("name", &card.name).string("version", card.version.as_deref().unwrap_or_default());
    out.optional_string("description", card.description.as_deref());
    if let Some(choice) = choice {
        out.string("protocol_version", choice.interface.dialect.version());
        out.string("transport", choice.interface.dialect.transport());
        out.string("url", choice.interface.url.as_str());
    }
    out.boolean("streaming", card.streaming);
    out.strings("skills", &card.skills);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: &str = "https://agent.test/x/.well-known/agent-card.json";
    const REGISTERED: &str = "https://agent.test/x";

    fn choice(card: &str) -> Result<Choice, ChoiceFault> {
        choose(&Card::read(card, 128).unwrap(), &Url::parse(FOUND).unwrap(), &Url::parse(REGISTERED).unwrap())
    }

    fn old(members: &str) -> Choice {
        choice(&format!(r#"{{"name":"n","capabilities":{{}},"skills":[]{members}}}"#)).unwrap()
    }

    fn listed(entries: &str) -> Result<Choice, ChoiceFault> {
        choice(&format!(r#"{{"name":"n","supportedInterfaces":[{entries}]}}"#))
    }

    #[test]
    fn the_first_that_is_spoken_wins() {
        let entry = |url: &str, binding: &str, version: &str| {
            format!(r#"{{"url":"https://agent.test/{url}","protocolBinding":"{binding}","protocolVersion":"{version}"}}"#)
        };
        let list = [
            entry("g", "GRPC", "1.0"),
            entry("2", "JSONRPC", "2.0"),
            entry("a", "http+json", "1.7"),
            entry("b", "JSONRPC", "1.0"),
        ];
        let chosen = listed(&list.join(",")).unwrap();
        assert_eq!(
            (chosen.interface.url.path(), chosen.interface.dialect, chosen.interface.declared),
            ("/a", Dialect::Rest10, true)
        );
        assert_eq!(chosen.other, None);
        let old = listed(&[list[2].clone(), entry("c", "JSONRPC", "0.3.0"), entry("d", "HTTP+JSON", "0.3.0")].join(",")).unwrap();
        let other = old.other.unwrap();
        assert_eq!((other.url.path(), other.dialect, other.declared), ("/c", Dialect::JsonRpc03, true));
        let fault = listed(&list[..2].join(",")).unwrap_err();
        assert_eq!(format!("{fault}"), "no supported binding (JSONRPC, HTTP+JSON): the card offers GRPC, JSONRPC in version 2.0");
    }

    #[test]
    fn versions_in_every_spelling() {
        for (version, dialect, declared) in [
            ("1.0", Dialect::JsonRpc10, true),
            ("1", Dialect::JsonRpc10, true),
            ("1.0.0", Dialect::JsonRpc10, true),
            ("v1.2", Dialect::JsonRpc10, true),
            ("0.3.0", Dialect::JsonRpc03, true),
            ("0.3", Dialect::JsonRpc03, true),
            ("0.2.5", Dialect::JsonRpc03, true),
            ("0.1", Dialect::JsonRpc03, true),
            ("latest", Dialect::JsonRpc10, false),
            ("", Dialect::JsonRpc10, false),
        ] {
            let entry = format!(r#"{{"url":"/","protocolBinding":"jsonrpc","protocolVersion":"{version}"}}"#);
            let chosen = listed(&entry).unwrap().interface;
            assert_eq!((chosen.dialect, chosen.declared), (dialect, declared), "{version}");
        }
        for (label, dialect, declared) in [
            (r#","protocolVersion":"0.3.0""#, Dialect::JsonRpc03, true),
            (r#","protocolVersion":"1.0""#, Dialect::JsonRpc10, false),
            ("", Dialect::JsonRpc03, false),
            (r#","preferredTransport":"REST","protocolVersion":"0.3.0""#, Dialect::Rest03, true),
        ] {
            let chosen = old(&format!(r#","url":"/a2a"{label}"#)).interface;
            assert_eq!((chosen.dialect, chosen.declared), (dialect, declared), "{label}");
        }
    }

    #[test]
    fn urls_are_taken_from_where_they_make_sense() {
        for (url, place, foreign, notes) in [
            (r#""/a2a""#, "https://agent.test/a2a", false, 0),
            (r#""rpc""#, "https://agent.test/x/.well-known/rpc", false, 0),
            (r#""""#, "https://agent.test/x", false, 0),
            ("null", "https://agent.test/x", false, 0),
            (r#""http://[::]:8080/invoke?k=1""#, "https://agent.test/invoke?k=1", false, 1),
            (r#""http://0.0.0.0:8000/""#, "https://agent.test/", false, 1),
            (r#""http://agent.test/a2a/x""#, "https://agent.test/a2a/x", false, 1),
            (r#""http://agent.test:8080/y""#, "https://agent.test/y", false, 1),
            (r#""http://localhost:9999/""#, "http://localhost:9999/", true, 1),
            (r#""https://other.test/a2a""#, "https://other.test/a2a", true, 0),
            (r#""https://agent.test:8443/""#, "https://agent.test:8443/", true, 0),
        ] {
            let chosen = old(&format!(r#","url":{url}"#));
            assert_eq!((chosen.interface.url.as_str(), chosen.foreign, chosen.notes.len()), (place, foreign, notes), "{url}");
        }
    }

    #[test]
    fn an_interface_without_a_usable_url_is_passed_over() {
        let chosen = listed(r#"{"url":"grpc.agent.test:443"},{"url":"https://u:p@agent.test/"},{"url":"/b"}"#).unwrap();
        assert_eq!(chosen.interface.url.path(), "/b");
        let fault = listed(r#"{"url":"ftp://agent.test/"}"#).unwrap_err();
        assert!(fault.offered[0].starts_with("JSONRPC at a URL that must begin with"), "{fault}");
    }

    #[test]
    fn nothing_goes_from_https_to_http() {
        let chosen = listed(r#"{"url":"http://other.test/"},{"url":"http://10.0.0.1/"},{"url":"https://other.test/b"}"#).unwrap();
        assert_eq!(chosen.interface.url.as_str(), "https://other.test/b");
        let fault = listed(r#"{"url":"http://other.test/"}"#).unwrap_err();
        assert_eq!(fault.offered, ["JSONRPC at a URL that is http, where the agent is https"]);
    }

    #[test]
    fn the_summary_names_what_is_spoken() {
        let text = r#"{"name":"Carded","version":"1.2.3","capabilities":{"streaming":true},"skills":[{"id":"e","name":"Echo"}],
            "supportedInterfaces":[{"url":"https://agent.test/a","protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"acme"}]}"#;
        let card = Card::read(text, 128).unwrap();
        let chosen = choice(text).unwrap();
        assert_eq!(chosen.interface.tenant.as_deref(), Some("acme"));
        assert_eq!(
            normalized(&card, Some(&chosen)).as_str(),
            r#"{"name":"Carded","version":"1.2.3","protocol_version":"1.0","transport":"HTTP+JSON","url":"https://agent.test/a","streaming":true,"skills":["Echo"]}"#
        );
    }
}
