//! The state of a task (A2A 1.0 §4.1.3), in every spelling in use.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::json::Raw;

use super::dialect::Dialect;
use super::member;

/// What a task is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// taken in, not begun
    Submitted,
    /// being worked on
    Working,
    /// waiting for a message (interrupted)
    InputRequired,
    /// waiting for a login (interrupted)
    AuthRequired,
    /// done (terminal)
    Completed,
    /// ended by an error (terminal)
    Failed,
    /// ended on demand (terminal)
    Canceled,
    /// never begun, by the agent's will (terminal)
    Rejected,
    /// indeterminate: `TASK_STATE_UNSPECIFIED` in 1.0, `unknown` in 0.3, or no state at all
    Unknown,
    /// a state of no known version, as it was written; of a long name the beginning
    Other(String),
}

/// How much of the name of an unknown state is kept, in code points.
const NAME: usize = 256;

/// Every state that has a name.
const KNOWN: [State; 9] = [
    State::Submitted,
    State::Working,
    State::InputRequired,
    State::AuthRequired,
    State::Completed,
    State::Failed,
    State::Canceled,
    State::Rejected,
    State::Unknown,
];

impl State {
    /// Reads a state: `TASK_STATE_INPUT_REQUIRED`, `input-required`, `input_required`, `inputRequired`.
    /// A value that is neither text nor number is unknown.
    #[must_use]
    pub fn read(raw: Raw<'_>) -> Self {
        member::text(raw).map_or(Self::Unknown, |text| Self::named(&text))
    }

    /// The state of that name, in any spelling.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let plain = plain(name);
        let plain = plain.strip_prefix("taskstate").unwrap_or(&plain);
        match plain {
            "" | "unspecified" => return Self::Unknown,
            "cancelled" => return Self::Canceled,
            _ => {}
        }
        let known = KNOWN.into_iter().find(|state| self::plain(state.names().0) == plain);
        known.unwrap_or_else(|| Self::Other(name.chars().take(NAME).collect()))
    }

    /// The kebab form and the 1.0 form.
    const fn names(&self) -> (&str, &str) {
        match self {
            Self::Submitted => ("submitted", "TASK_STATE_SUBMITTED"),
            Self::Working => ("working", "TASK_STATE_WORKING"),
            Self::InputRequired => ("input-required", "TASK_STATE_INPUT_REQUIRED"),
            Self::AuthRequired => ("auth-required", "TASK_STATE_AUTH_REQUIRED"),
            Self::Completed => ("completed", "TASK_STATE_COMPLETED"),
            Self::Failed => ("failed", "TASK_STATE_FAILED"),
            Self::Canceled => ("canceled", "TASK_STATE_CANCELED"),
            Self::Rejected => ("rejected", "TASK_STATE_REJECTED"),
            Self::Unknown => ("unknown", "TASK_STATE_UNSPECIFIED"),
            Self::Other(name) => (name.as_str(), name.as_str()),
        }
    }

    /// The lower-case form for people, `input-required`.
    #[must_use]
    pub fn kebab(&self) -> Cow<'_, str> {
        let name = self.names().0;
        match name.strip_prefix("TASK_STATE_") {
            Some(other) => Cow::Owned(other.to_ascii_lowercase().replace('_', "-")),
            None => Cow::Borrowed(name),
        }
    }

    /// The form of A2A 1.0, `TASK_STATE_INPUT_REQUIRED`; an unknown name as it came.
    #[must_use]
    pub const fn wire(&self) -> &str {
        self.names().1
    }

    /// The form of a dialect. The schema of 0.3 over HTTP spells one state with two L.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> Cow<'_, str> {
        match dialect {
            Dialect::JsonRpc03 => self.kebab(),
            Dialect::Rest03 if *self == Self::Canceled => Cow::Borrowed("TASK_STATE_CANCELLED"),
            Dialect::Rest03 | Dialect::JsonRpc10 | Dialect::Rest10 => Cow::Borrowed(self.wire()),
        }
    }

    /// Whether the task has ended for good.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => true,
            Self::Submitted | Self::Working | Self::InputRequired | Self::AuthRequired | Self::Unknown | Self::Other(_) => false,
        }
    }

    /// Whether the task waits for its caller.
    #[must_use]
    pub const fn is_interrupted(&self) -> bool {
        match self {
            Self::InputRequired | Self::AuthRequired => true,
            Self::Submitted
            | Self::Working
            | Self::Completed
            | Self::Failed
            | Self::Canceled
            | Self::Rejected
            | Self::Unknown
            | Self::Other(_) => false,
        }
    }

    /// Whether more is to come without anyone doing anything: neither terminal nor interrupted.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        !self.is_terminal() && !self.is_interrupted()
    }
}

/// Letters and digits in lower case: what is left when spellings are laid aside.
fn plain(name: &str) -> String {
    name.chars().filter(|char| char.is_ascii_alphanumeric()).map(|char| char.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_one_state() {
        for name in ["TASK_STATE_INPUT_REQUIRED", "input-required", "input_required", "inputRequired", "INPUT_REQUIRED"] {
            assert_eq!(State::named(name), State::InputRequired, "{name}");
        }
        for name in ["TASK_STATE_CANCELLED", "cancelled", "canceled", "TASK_STATE_CANCELED"] {
            assert_eq!(State::named(name), State::Canceled, "{name}");
        }
        for name in ["unknown", "TASK_STATE_UNSPECIFIED", "TASK_STATE_UNKNOWN", ""] {
            assert_eq!(State::named(name), State::Unknown, "{name}");
        }
        for state in KNOWN {
            assert_eq!(State::named(&state.kebab()), state);
            assert_eq!(State::named(state.wire()), state);
            assert_eq!(State::named(&state.kebab().replace('-', "_")), state);
            assert!(!(state.is_terminal() && state.is_interrupted()));
        }
    }

    #[test]
    fn what_nobody_knows_is_kept() {
        let dreaming = State::named("TASK_STATE_DREAMING_DEEP");
        assert_eq!((dreaming.wire(), dreaming.kebab().as_ref()), ("TASK_STATE_DREAMING_DEEP", "dreaming-deep"));
        assert!(dreaming.is_running());
        assert_eq!(State::read(crate::json::parse("3", 1).unwrap()), State::Other("3".into()));
        assert_eq!(State::named(&"z".repeat(9999)).wire(), "z".repeat(NAME));
        assert_eq!(State::read(crate::json::parse("{}", 1).unwrap()), State::Unknown);
    }
}
