//! The rules of the taint scan by name, and where a text is going.

use alloc::string::String;
use alloc::vec::Vec;

/// One kind of thing that should not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// `Authorization:` with a credential after it
    AuthorizationLiteral,
    /// the name of a secret with a value after it
    KeyValueSecret,
    /// a token with the prefix of its issuer, a private key, a JSON web token
    WellKnownPrefix,
    /// a long random token
    OpaqueToken,
    /// an address for mail
    PiiEmail,
    /// a telephone number
    PiiPhone,
    /// the number of a payment card
    PiiCreditCard,
    /// a social security number of the United States
    PiiSsn,
    /// a JSON key that names a secret
    SensitiveKeyName,
}

impl Rule {
    /// Every rule with its two spellings.
    pub const NAMES: [(Self, &'static str, &'static str); 9] = [
        (Self::AuthorizationLiteral, "authorization_literal", "AuthorizationLiteral"),
        (Self::KeyValueSecret, "key_value_secret", "KeyValueSecret"),
        (Self::WellKnownPrefix, "well_known_prefix", "WellKnownPrefix"),
        (Self::OpaqueToken, "opaque_token", "OpaqueToken"),
        (Self::PiiEmail, "pii_email", "PiiEmail"),
        (Self::PiiPhone, "pii_phone", "PiiPhone"),
        (Self::PiiCreditCard, "pii_credit_card", "PiiCreditCard"),
        (Self::PiiSsn, "pii_ssn", "PiiSsn"),
        (Self::SensitiveKeyName, "sensitive_key_name", "SensitiveKeyName"),
    ];

    /// The name in what is told.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(rule, ..)| *rule == self).map_or("", |(_, name, _)| name)
    }

    /// The rule of that name, in either spelling.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, snake, camel)| *snake == name || *camel == name).map(|(rule, ..)| *rule)
    }
}

/// Some of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// None.
    pub const NONE: Self = Self(0);
    /// All.
    pub const ALL: Self = Self(0x1ff);
    /// Those that look for secrets, not for what belongs to persons.
    pub const SECRETS: Self = Self(0x10f);

    /// One alone.
    #[must_use]
    pub const fn only(rule: Rule) -> Self {
        Self(1 << rule as u16)
    }

    /// Whether one is among them.
    #[must_use]
    pub const fn has(self, rule: Rule) -> bool {
        self.0 >> rule as u16 & 1 == 1
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds one.
    pub fn add(&mut self, rule: Rule) {
        self.0 |= Self::only(rule).0;
    }

    /// These and others.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Those in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Each of them in order.
    #[must_use]
    pub fn list(self) -> Vec<Rule> {
        let mut list = Vec::new();
        for (rule, ..) in Rule::NAMES.iter().filter(|(rule, ..)| self.has(*rule)) {
            list.push(*rule);
        }
        list
    }

    /// The rules of these names.
    ///
    /// # Errors
    /// The first name that no rule has.
    pub fn named(names: &[String]) -> Result<Self, String> {
        let mut rules = Self::NONE;
        for name in names {
            rules.add(Rule::named(name).ok_or_else(|| name.clone())?);
        }
        Ok(rules)
    }
}

/// Where a text is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// the arguments of a call to an MCP server: all rules
    McpToolCall,
    /// a message to an A2A agent: the rules that look for secrets
    AgentMessage,
    /// a request of its own: all rules
    NetFetch,
}

impl Sink {
    /// Every sink with its name.
    pub const NAMES: [(Self, &'static str); 3] =
        [(Self::McpToolCall, "mcp_tool_call"), (Self::AgentMessage, "agent_message"), (Self::NetFetch, "net_fetch")];

    /// The sink of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(sink, _)| *sink)
    }

    /// The rules that hold there.
    #[must_use]
    pub const fn rules(self) -> Rules {
        match self {
            Self::McpToolCall | Self::NetFetch => Rules::ALL,
            Self::AgentMessage => Rules::SECRETS,
        }
    }
}

/// What is done about a rule that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// it is written down
    Log,
    /// it is written down as a warning
    Warn,
    /// what holds it does not leave
    Block,
}

impl Action {
    /// Every action with its name.
    pub const NAMES: [(Self, &'static str); 3] = [(Self::Log, "log"), (Self::Warn, "warn"), (Self::Block, "block")];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    /// The action of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(action, _)| *action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_two_spellings_and_a_place_in_a_set() {
        let mut all = Rules::NONE;
        for (rule, snake, camel) in Rule::NAMES {
            assert_eq!((Rule::named(snake), Rule::named(camel)), (Some(rule), Some(rule)));
            assert!(!all.has(rule));
            all.add(rule);
        }
        assert_eq!(all, Rules::ALL);
        assert_eq!(Rule::named("Nope"), None);
        let personal = Rules::ALL.without(Rules::SECRETS).list();
        assert_eq!(personal, [Rule::PiiEmail, Rule::PiiPhone, Rule::PiiCreditCard, Rule::PiiSsn]);
        assert_eq!(Rules::named(&["OpaqueToken".into(), "Nope".into()]), Err("Nope".into()));
    }
}
