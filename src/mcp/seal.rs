//! What a tool wants to remember between two rounds of questions, given to the client under seal.
//!
//! A modern client brings it back with its answers (MCP 2026-07-28, multi-round-trip requests, `requestState`). It can
//! read it but neither change it nor use it for another call, as another user, or when it is old.

use alloc::format;
use alloc::string::String;
use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base64;
use crate::json::{Json, Object};
use crate::time::WallTime;

/// How long a state is taken back: people are slow to answer, and a day is long enough for anyone who still wants to.
const KEPT_MS: i64 = 86_400_000;
/// Nesting of a state around what the tool put in.
const DEPTH: u32 = 64;

/// The key of a gateway's seals.
#[derive(Clone, PartialEq, Eq)]
pub struct Seal([u8; 64]);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// A seal with that key, which nobody else may know.
    #[must_use]
    pub const fn new(key: [u8; 64]) -> Self {
        Self(key)
    }

    /// The key, for a snapshot.
    #[must_use]
    pub const fn key(&self) -> &[u8; 64] {
        &self.0
    }

    /// Seals a state for whoever makes the same call again. `call` is all that makes it the same: user, method, name and
    /// arguments.
    #[must_use]
    pub fn close(&self, state: &Json, call: &[String], now: WallTime) -> String {
        let mut out = Object::new();
        out.integer("until", now.0.saturating_add(KEPT_MS)).json("state", state);
        let text = out.finish().into_string();
        let code = self.code(&text, call).finalize().into_bytes();
        format!("{}.{text}", base64::encode(&code))
    }

    /// The state in a sealed text; `None` where it was not sealed here for this call, or is too old.
    #[must_use]
    pub fn open(&self, sealed: &str, call: &[String], now: WallTime) -> Option<Json> {
        let (code, text) = sealed.split_once('.')?;
        self.code(text, call).verify_slice(&base64::decode(code)?).ok()?;
        let inside = Json::parse(text, DEPTH).ok()?;
        let members = inside.members()?;
        let until = crate::json::integer(members.get("until")?.get())?;
        (now.0 < until).then(|| members.get_any("state").map(Json::from_raw)).flatten()
    }

    /// Each piece goes in with its length before it, so that no two lists of pieces are the same text.
    fn code(&self, text: &str, call: &[String]) -> Hmac<Sha256> {
        let mut code = Hmac::new(&self.0.into());
        for piece in call.iter().map(String::as_str).chain([text]) {
            code.update(&u64::try_from(piece.len()).unwrap_or(u64::MAX).to_be_bytes());
            code.update(piece.as_bytes());
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WallTime = WallTime(1_800_000_000_000);

    fn call(pieces: [&str; 3]) -> [String; 3] {
        pieces.map(String::from)
    }

    fn ours() -> [String; 3] {
        call(["http/ada", "tool", r#"{"a":1}"#])
    }

    #[test]
    fn a_state_comes_back_for_the_same_call_only() {
        let (seal, state) = (Seal::new([7; 64]), Json::string("step two"));
        let sealed = seal.close(&state, &ours(), NOW);
        assert_eq!(seal.open(&sealed, &ours(), NOW), Some(state));
        for other in [
            ["http/bob", "tool", r#"{"a":1}"#],
            ["http/ada", "tool2", r#"{"a":1}"#],
            ["http/ada", "tool", r#"{"a":2}"#],
            ["http/adat", "ool", r#"{"a":1}"#],
        ] {
            assert_eq!(seal.open(&sealed, &call(other), NOW), None, "{other:?}");
        }
        assert_eq!(Seal::new([8; 64]).open(&sealed, &ours(), NOW), None);
    }

    #[test]
    fn a_changed_state_is_not_taken() {
        let seal = Seal::new([7; 64]);
        let sealed = seal.close(&Json::string("step two"), &ours(), NOW);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] ^= 1;
            assert_eq!(seal.open(&String::from_utf8(changed).unwrap(), &ours(), NOW), None, "{at}");
            assert_eq!(seal.open(&sealed[..at], &ours(), NOW), None, "{at}");
        }
        assert_eq!(seal.open(&(sealed + "-TAMPERED"), &ours(), NOW), None);
        assert_eq!(seal.open("", &ours(), NOW), None);
    }

    #[test]
    fn a_state_grows_old() {
        let seal = Seal::new([7; 64]);
        let sealed = seal.close(&Json::null(), &ours(), NOW);
        assert_eq!(seal.open(&sealed, &ours(), WallTime(NOW.0 + KEPT_MS - 1)), Some(Json::null()));
        assert_eq!(seal.open(&sealed, &ours(), WallTime(NOW.0 + KEPT_MS)), None);
    }
}
