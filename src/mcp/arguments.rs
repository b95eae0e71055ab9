//! The arguments of a tool call, read with faults that name the key and what was expected.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::outcome::{Code, ToolError};
use crate::bucket::micro_rps;
use crate::json::{self, Json, Kind, Members, Raw};

/// The members of `arguments`; each reader takes its key, [`finish`](Self::finish) refuses what is left.
///
/// The first fault is kept and told at the end, so that a tool reads all its keys in one go and never runs on half of
/// them. `null` is absent.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    members: Members<'a>,
    at: String,
    /// the keys that were asked for
    known: String,
    fault: Option<String>,
}

impl<'a> Arguments<'a> {
    /// The arguments of a call.
    #[must_use]
    pub fn new(members: Members<'a>) -> Self {
        Self { members, ..Self::default() }
    }

    /// An object inside the arguments; `at` is how its keys are named in faults, such as `parts[2].`.
    #[must_use]
    pub fn inside(members: Members<'a>, at: String) -> Self {
        Self { members, at, ..Self::default() }
    }

    fn take(&mut self, key: &str) -> Option<Raw<'a>> {
        self.note(key);
        self.members.take(key)
    }

    fn note(&mut self, key: &str) {
        self.known.push_str(if self.known.is_empty() { "" } else { ", " });
        self.known.push_str(key);
    }

    fn wrong(&mut self, key: &str, expected: &str, found: Raw<'_>) {
        let found = json::kind(found).name();
        self.fail(format!("`{}{key}` must be {expected}, not {found}", self.at));
    }

    /// Notes a fault of the caller's own; the first one wins.
    pub fn fail(&mut self, message: String) {
        self.fault.get_or_insert(message);
    }

    fn missing(&mut self, key: &str, expected: &str) {
        self.fail(format!("`{}{key}` is missing: {expected} is needed", self.at));
    }

    /// An optional string.
    pub fn string(&mut self, key: &str) -> Option<String> {
        let raw = self.take(key)?;
        let text = json::string(raw);
        if text.is_none() {
            self.wrong(key, "a string", raw);
        }
        text
    }

    /// A required string; empty where it is missing, which [`finish`](Self::finish) then tells.
    pub fn required_string(&mut self, key: &str) -> String {
        if self.members.get(key).is_none() {
            self.missing(key, "a string");
        }
        self.string(key).unwrap_or_default()
    }

    /// An optional boolean.
    pub fn boolean(&mut self, key: &str) -> Option<bool> {
        let raw = self.take(key)?;
        let value = json::boolean(raw);
        if value.is_none() {
            self.wrong(key, "a boolean", raw);
        }
        value
    }

    /// An optional whole number of at least `least`; `1.0` is one, `1.5` is not.
    pub fn integer(&mut self, key: &str, least: i64) -> Option<i64> {
        let raw = self.take(key)?;
        let value = (json::kind(raw) == Kind::Number).then(|| json::integer(raw.get())).flatten();
        match value {
            Some(value) if value >= least => Some(value),
            Some(value) => {
                self.fail(format!("`{}{key}` must be at least {least}, not {value}", self.at));
                None
            }
            None if json::kind(raw) == Kind::Number => {
                let what = match json::scaled(raw.get(), 0) {
                    Some(_) => String::from("a whole number"),
                    None => format!("at least {least} and at most {}", i64::MAX),
                };
                self.fail(format!("`{}{key}` must be {what}, not {}", self.at, raw.get()));
                None
            }
            None => {
                self.wrong(key, "a whole number", raw);
                None
            }
        }
    }

    /// An optional number, times ten to the power of `digits`, rounded towards zero.
    pub fn scaled(&mut self, key: &str, digits: i32) -> Option<i64> {
        self.number(key, digits, json::scaled)
    }

    /// An optional rate in tokens a second, as [`micro_rps`] reads it.
    pub fn rate(&mut self, key: &str) -> Option<i64> {
        self.number(key, 6, micro_rps)
    }

    /// An optional number, times ten to the power of `digits`, rounded away from zero.
    pub fn scaled_up(&mut self, key: &str, digits: i32) -> Option<i64> {
        self.number(key, digits, json::scaled_up)
    }

    fn number(&mut self, key: &str, digits: i32, read: fn(&str, i32) -> Option<i64>) -> Option<i64> {
        let raw = self.take(key)?;
        let value = (json::kind(raw) == Kind::Number).then(|| read(raw.get(), digits)).flatten();
        if value.is_none() {
            self.wrong(key, "a number", raw);
        }
        value
    }

    /// An optional object, whole.
    pub fn object(&mut self, key: &str) -> Option<Json> {
        let raw = self.take(key)?;
        if json::kind(raw) != Kind::Object {
            self.wrong(key, "an object", raw);
            return None;
        }
        Some(Json::from_raw(raw))
    }

    /// An optional object whose values are strings, in its order.
    pub fn string_map(&mut self, key: &str) -> Option<Vec<(String, String)>> {
        let raw = self.take(key)?;
        let Some(members) = json::members(raw) else {
            self.wrong(key, "an object of strings", raw);
            return None;
        };
        let mut list = Vec::new();
        for (name, value) in members.iter() {
            match json::string(value) {
                Some(text) => list.push((name.to_string(), text)),
                None => self.wrong(&format!("{key}.{name}"), "a string", value),
            }
        }
        Some(list)
    }

    /// An optional list of strings.
    pub fn strings(&mut self, key: &str) -> Option<Vec<String>> {
        let elements = self.elements(key, "a list of strings")?;
        let mut list = Vec::new();
        for (index, element) in elements.into_iter().enumerate() {
            match json::string(element) {
                Some(text) => list.push(text),
                None => self.wrong(&format!("{key}[{index}]"), "a string", element),
            }
        }
        Some(list)
    }

    /// An optional list.
    pub fn elements(&mut self, key: &str, expected: &str) -> Option<Vec<Raw<'a>>> {
        let raw = self.take(key)?;
        let elements = json::elements(raw);
        if elements.is_none() {
            self.wrong(key, expected, raw);
        }
        elements
    }

    /// Whether a key is absent or `null`.
    #[must_use]
    pub fn is_missing(&self, key: &str) -> bool {
        self.members.get(key).is_none()
    }

    /// A member as it stands, `null` included.
    pub fn any(&mut self, key: &str) -> Option<Raw<'a>> {
        self.note(key);
        self.members.take_any(key)
    }

    /// Tells the first fault, an unknown key among them.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`].
    pub fn finish(&mut self) -> Result<(), ToolError> {
        let unknown = self.members.iter().next().map(|(name, _)| name.to_string());
        if let Some(name) = unknown {
            let known = if self.known.is_empty() { "none" } else { self.known.as_str() };
            self.fail(format!("`{}{name}` is not a known key; known: {known}", self.at));
        }
        match self.fault.take() {
            Some(message) => Err(ToolError::new(Code::InvalidArgument, message)),
            None => Ok(()),
        }
    }
}
