//! How an agent is spoken to: binding, version, place.

use alloc::string::String;

use crate::url::Url;

/// A binding in a version. The HTTP binding of 0.3 is a dialect of its own, ProtoJSON of another schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// JSON-RPC of A2A 1.0 (§9)
    JsonRpc10,
    /// HTTP+JSON of A2A 1.0 (§11)
    Rest10,
    /// JSON-RPC of A2A 0.3 and 0.2
    JsonRpc03,
    /// HTTP+JSON of A2A 0.3
    Rest03,
}

impl Dialect {
    /// Whether requests are resources rather than JSON-RPC calls.
    #[must_use]
    pub const fn is_rest(self) -> bool {
        match self {
            Self::Rest10 | Self::Rest03 => true,
            Self::JsonRpc10 | Self::JsonRpc03 => false,
        }
    }

    /// Whether it is of 1.0.
    #[must_use]
    pub const fn is_10(self) -> bool {
        match self {
            Self::JsonRpc10 | Self::Rest10 => true,
            Self::JsonRpc03 | Self::Rest03 => false,
        }
    }

    /// The version, as the header `A2A-Version` names it.
    #[must_use]
    pub const fn version(self) -> &'static str {
        if self.is_10() { "1.0" } else { "0.3" }
    }

    /// The binding, as cards name it.
    #[must_use]
    pub const fn transport(self) -> &'static str {
        if self.is_rest() { "HTTP+JSON" } else { "JSONRPC" }
    }

    /// The same binding in the other version.
    #[must_use]
    pub const fn other_version(self) -> Self {
        match self {
            Self::JsonRpc10 => Self::JsonRpc03,
            Self::Rest10 => Self::Rest03,
            Self::JsonRpc03 => Self::JsonRpc10,
            Self::Rest03 => Self::Rest10,
        }
    }
}

/// Where an agent is and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// the endpoint
    pub url: Url,
    /// binding and version
    pub dialect: Dialect,
    /// the tenant that every 1.0 request carries
    pub tenant: Option<String>,
    /// whether the agent itself said the version; where it did not, another one may be tried
    pub declared: bool,
}

impl Interface {
    /// What is tried at an agent without a card: 1.0 over JSON-RPC.
    #[must_use]
    pub const fn assumed(url: Url) -> Self {
        Self { url, dialect: Dialect::JsonRpc10, tenant: None, declared: false }
    }

    /// The same place in the other version.
    #[must_use]
    pub fn in_other_version(&self) -> Self {
        Self { dialect: self.dialect.other_version(), ..self.clone() }
    }
}
