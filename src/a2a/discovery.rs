//! Where an agent's card may be (A2A 1.0 §8.2; `agent.json` before 0.3).

use alloc::vec::Vec;

use crate::url::Url;

/// The newer name first.
const WELL_KNOWN: [&str; 2] = [".well-known/agent-card.json", ".well-known/agent.json"];

/// The places to look for a card, in order, each once: below the given URL, at its origin, the URL itself. A URL that
/// names a document is tried first, and what it stands in counts as the given URL.
#[must_use]
pub fn card_candidates(given: &Url) -> Vec<Url> {
    let base = endpoint(given);
    let names_document = base.path() != given.path() && given.path().ends_with(".json");
    let mut candidates = Vec::new();
    if names_document {
        candidates.push(given.clone());
    }
    for place in [&base, &given.origin_url()] {
        candidates.extend(WELL_KNOWN.iter().filter_map(|name| place.with_path_appended(name).ok()));
    }
    candidates.push(given.clone());
    let mut seen: Vec<Url> = Vec::new();
    candidates.retain(|url| {
        let new = !seen.contains(url);
        seen.push(url.clone());
        new
    });
    candidates
}

/// The URL without a card's place at its end: what is spoken to where the card names nothing else.
#[must_use]
pub fn endpoint(given: &Url) -> Url {
    let path = given.path().trim_end_matches('/');
    let well_known = WELL_KNOWN.iter().find_map(|name| path.strip_suffix(name)?.strip_suffix('/'));
    let document = path.ends_with(".json").then(|| path.rsplit_once('/').map_or("", |(parent, _)| parent));
    match well_known.or(document) {
        Some("") => given.origin_url(),
        Some(prefix) => given.origin_url().with_path_appended(prefix).unwrap_or_else(|_| given.clone()),
        None => given.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(given: &str) -> Vec<alloc::string::String> {
        card_candidates(&Url::parse(given).unwrap()).iter().map(|url| url.as_str().into()).collect()
    }

    #[test]
    fn below_the_path_then_at_the_origin_then_the_url_itself() {
        let places = [
            "https://a.test/d/.well-known/agent-card.json",
            "https://a.test/d/.well-known/agent.json",
            "https://a.test/.well-known/agent-card.json",
            "https://a.test/.well-known/agent.json",
        ];
        for given in ["https://a.test/d", "https://a.test/d/", "https://a.test/d?key=1"] {
            let found = candidates(given);
            assert_eq!(found[..4], places);
            assert_eq!(found[4..], [given]);
        }
        assert_eq!(
            candidates("https://a.test"),
            ["https://a.test/.well-known/agent-card.json", "https://a.test/.well-known/agent.json", "https://a.test/"]
        );
    }

    #[test]
    fn a_url_of_a_document_is_tried_first() {
        assert_eq!(
            candidates("https://a.test/d/.well-known/agent.json"),
            [
                "https://a.test/d/.well-known/agent.json",
                "https://a.test/d/.well-known/agent-card.json",
                "https://a.test/.well-known/agent-card.json",
                "https://a.test/.well-known/agent.json",
            ]
        );
        assert_eq!(
            candidates("https://a.test/not-well-known/agent-card.json")[1],
            "https://a.test/not-well-known/.well-known/agent-card.json"
        );
        assert_eq!(candidates("https://a.test/card.json").len(), 3);
    }

    #[test]
    fn whole_segments_are_compared() {
        let endpoint = |given: &str| alloc::string::String::from(super::endpoint(&Url::parse(given).unwrap()).as_str());
        assert_eq!(endpoint("https://a.test/d/.well-known/agent-card.json"), "https://a.test/d");
        assert_eq!(endpoint("https://a.test/.well-known/agent-card.json"), "https://a.test/");
        assert_eq!(endpoint("https://a.test/x.well-known/agent-card.json"), "https://a.test/x.well-known");
        assert_eq!(endpoint("https://a.test/a2a"), "https://a.test/a2a");
    }
}
