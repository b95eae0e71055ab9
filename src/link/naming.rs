//! The names under which the tools of other servers are offered: `mcp_{server}_{tool}`.
//!
//! A name is never read back: calls are routed by the table of those that were offered.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::table::Table;

/// How long a name may be: what the interfaces of models allow.
pub const NAME_BYTES: usize = 64;

/// What is left of a name in front of an underscore and its eight digits.
const STEM_BYTES: usize = NAME_BYTES - 9;

/// A server's or a tool's name as part of an offered one: in lower case, whatever is no letter, digit or underscore
/// written as an underscore.
#[must_use]
pub fn normalised(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for char in name.chars() {
        out.push(if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '_' });
    }
    out
}

/// The full name of a tool, before anything is cut: what patterns are held against beside the offered one.
#[must_use]
pub fn composed(server: &str, tool: &str) -> String {
    format!("mcp_{}_{}", normalised(server), normalised(tool))
}

/// A name that ends in eight digits of a hash of the pair as it was written. `round` tells pairs apart whose digits are
/// the same by chance or by somebody's will.
fn hashed(composed: &str, server: &str, tool: &str, round: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(server.as_bytes());
    hash.update([0]);
    hash.update(tool.as_bytes());
    if round > 0 {
        hash.update([0]);
        hash.update(round.to_be_bytes());
    }
    let stem = composed.get(..composed.len().min(STEM_BYTES)).unwrap_or(composed);
    let mut out = format!("{stem}_");
    for byte in hash.finalize().iter().take(4) {
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

/// The names of tools, in their order, and which of them would have shared one. `reserved` are names that none may have.
#[must_use]
pub fn offered(pairs: &[(&str, &str)], reserved: impl Fn(&str) -> bool) -> Vec<(String, bool)> {
    let mut wanted: Table<String, u32> = Table::new();
    let mut full = Vec::with_capacity(pairs.len());
    for (server, tool) in pairs {
        let name = composed(server, tool);
        *wanted.get_or_default(name.as_str()) += 1;
        full.push(name);
    }
    let shared = |name: &str| wanted.get(name).is_some_and(|count| *count > 1) || reserved(name);
    let mut shares: Vec<bool> = full.iter().map(|name| shared(name)).collect();
    // Whoever calls its tool as another one's with its digits does not take its name away.
    let mut digits: Table<String, ()> = Table::new();
    let mut seen = Table::new();
    loop {
        let before = digits.len();
        for (at, (name, (server, tool))) in full.iter().zip(pairs).enumerate() {
            if (name.len() > NAME_BYTES || shares.get(at) == Some(&true)) && seen.insert(at, ()).is_none() {
                digits.insert(hashed(name, server, tool, 0), ());
            }
        }
        if digits.len() == before {
            break;
        }
        for (name, share) in full.iter().zip(&mut shares) {
            *share |= digits.has(name.as_str());
        }
    }
    let mut taken: Table<String, ()> = Table::new();
    for (name, _) in full.iter().zip(&shares).filter(|(name, share)| name.len() <= NAME_BYTES && !**share) {
        taken.insert(name.clone(), ());
    }
    let mut names = Vec::with_capacity(pairs.len());
    for ((name, is_shared), (server, tool)) in full.into_iter().zip(shares).zip(pairs) {
        if name.len() <= NAME_BYTES && !is_shared {
            names.push((name, false));
            continue;
        }
        let mut round = 0;
        let mut own = hashed(&name, server, tool, round);
        while taken.has(own.as_str()) || reserved(&own) {
            round += 1;
            own = hashed(&name, server, tool, round);
        }
        taken.insert(own.clone(), ());
        names.push((own, is_shared));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pairs: &[(&str, &str)]) -> Vec<String> {
        offered(pairs, |name| name == "send_message").into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn short_names_are_composed_as_they_are() {
        let pairs = [("everyapi", "everyapi_status"), ("Web-Search", "get.Page"), ("a2a", "send_message"), ("café", "ü")];
        let want = ["mcp_everyapi_everyapi_status", "mcp_web_search_get_page", "mcp_a2a_send_message", "mcp_caf___"];
        assert_eq!(names(&pairs), want);
    }

    #[test]
    fn names_that_would_be_shared_are_both_told_apart() {
        let pairs = [("a", "b_c"), ("a_b", "c"), ("a", "x")];
        let all = offered(&pairs, |_| false);
        assert!(all[0].1 && all[1].1 && !all[2].1);
        assert!(all.iter().take(2).all(|(name, _)| name.starts_with("mcp_a_b_c_") && name.len() == 18), "{all:?}");
        assert_ne!(all[0].0, all[1].0);
        assert_eq!(all[2].0, "mcp_a_x");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let server = "customer_internal_ticketing_onprem_eu";
        let pairs = [
            (server, "list_all_open_tickets_for_the_current_sprint_a"),
            (server, "list_all_open_tickets_for_the_current_sprint_b"),
        ];
        let all = names(&pairs);
        assert!(all.iter().all(|name| name.len() == NAME_BYTES), "{all:?}");
        assert_ne!(all[0], all[1]);
        // A name does not hang on what else is offered.
        assert_eq!(names(&pairs[1..]), all[1..]);
    }

    #[test]
    fn a_name_that_somebody_has_is_not_given_twice_and_never_taken_over() {
        let first = names(&[("s", "t_é"), ("s", "t_ü")]);
        let tool = first[0].strip_prefix("mcp_s_").unwrap();
        for server in ["s", "S"] {
            let all = names(&[("s", "t_é"), ("s", "t_ü"), (server, tool)]);
            assert_eq!(all[..2], first);
            assert!(all[2].starts_with(&format!("{}_", first[0])), "{all:?}");
        }
        // One that takes the name of one that was told apart from another one.
        let second = names(&[("s", "t_é"), ("s", "t_ü"), ("s", tool)])[2].clone();
        let all = names(&[("s", "t_é"), ("s", "t_ü"), ("s", tool), ("s", second.strip_prefix("mcp_s_").unwrap())]);
        assert_eq!((&all[..2], &all[2]), (&first[..], &second));
        assert_ne!(all[3], second);
        let long = "l".repeat(70);
        let cut = names(&[("s", &long)]);
        let all = names(&[("s", cut[0].strip_prefix("mcp_s_").unwrap()), ("s", &long)]);
        assert_eq!(all[1], cut[0]);
        assert_ne!(all[0], cut[0]);
        let reserved = offered(&[("s", "t")], |name| name == "mcp_s_t");
        assert!(reserved[0].1 && reserved[0].0.starts_with("mcp_s_t_"));
    }
}
