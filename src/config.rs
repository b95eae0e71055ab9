//! The configuration: one typed value, read from a JSON object, every fault named.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use crate::bucket::Rate;
use crate::io::Headers;
use crate::json::{self, Json, Kind, Members, Object, Raw};
use crate::limits::Limits;
use crate::policy::Settings;
use crate::text;
use crate::tools::{TOOLS, offered};
use crate::url::Url;

mod a2a;
mod directory;
mod mcp;
mod mcp_servers;
mod oauth;
mod policy;
mod sections;

pub use a2a::{A2a, Responder, Skill};
pub use directory::DirectoryConfig;
pub use mcp::McpConfig;
pub use mcp_servers::{HealthCheck, McpServer, Transport};
pub use oauth::Oauth;
pub(crate) use sections::external_agents;

/// Nesting of a configuration.
const DEPTH: u32 = 16;

/// What a gateway is told at birth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// the server's name in MCP; `name`
    pub name: String,
    /// the server's version in MCP; `version`
    pub version: String,
    /// the deadline of a send that names none; `poll_timeout_seconds`
    pub poll_timeout_ms: u64,
    /// the deadline of a send that starts as a stream and names none; `stream_timeout_seconds`
    pub stream_timeout_ms: u64,
    /// the rate of agents that name none; `rate_limit`
    pub rate_limit: Option<Rate>,
    /// what is kept of the sends to an agent
    pub history: HistoryConfig,
    /// how long an inbox entry lives; `inbox_ttl_seconds`
    pub inbox_ttl_ms: u64,
    /// where agents are discovered
    pub directory: DirectoryConfig,
    /// the tools that are offered, all where it is absent; `tools`
    pub tools: Option<Vec<String>>,
    /// agents that are connected in every new scope; `external_agents`
    pub external_agents: Vec<ExternalAgent>,
    /// consecutive failures that make an agent unhealthy, 0 for never; `health.failure_threshold`
    pub health_failure_threshold: u64,
    /// which addresses may be called
    pub network: Network,
    /// how the HTTP face is served; `server` and `auth`
    pub server: Server,
    /// whether the host keeps what it is told to save; the host knows; `storage`
    pub storage: bool,
    /// whether the host keeps pins of tools, if nothing else; the host knows; `storage` is `"pins"`
    pub pin_storage: bool,
    /// how it is an agent itself
    pub a2a: A2a,
    /// the MCP servers behind it; `mcp_servers`
    pub mcp_servers: Vec<McpServer>,
    /// how their tools are offered; `mcp`
    pub mcp: McpConfig,
    /// the policy on calls to MCP servers; `approval`, `users`, `agents`, `mcp_taint_policy`, `taint_rules`, `taint_policy`
    pub policy: Settings,
    /// who the peers are that the host opens; the host knows; `caller`
    pub caller: CallerConfig,
    /// the bounds
    pub limits: Limits,
}

/// Who a caller is: the host knows, never the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerConfig {
    /// which agent calls; `agent`
    pub agent: Option<String>,
    /// on whose behalf; `sender`
    pub sender: Option<String>,
    /// from where; `channel`
    pub channel: Option<String>,
}

/// What is kept of the sends to an agent; `history`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryConfig {
    /// how many sends, 0 for none
    pub depth: u64,
    /// how many code points of a text
    pub max_entry_length: u64,
}

/// An agent that is connected without a call.
#[derive(Clone, PartialEq, Eq)]
pub struct ExternalAgent {
    /// its alias
    pub name: String,
    /// its URL
    pub url: Url,
    /// the header fields of its requests
    pub headers: Headers,
}

impl fmt::Debug for ExternalAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} with {} header fields", self.name, self.url.as_str(), self.headers.len())
    }
}

/// Which addresses may be called; `network`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// loopback and private addresses too
    pub allow_private: bool,
    /// hosts that may be called although they are private, also where an agent at a public address names them
    pub allowed_hosts: Vec<String>,
}

/// How the HTTP face is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// whether only this machine can reach it; the host knows
    pub loopback: bool,
    /// host names that are served, beside loopback ones on a loopback bind; `server.hosts`
    pub hosts: Vec<String>,
    /// origins of browsers that are admitted; `server.cors_origins`
    pub cors_origins: Vec<String>,
    /// who may ask, everybody where there is none; `auth.tokens`
    pub tokens: Vec<Token>,
}

impl Default for Server {
    fn default() -> Self {
        Self { loopback: true, hosts: Vec::new(), cors_origins: Vec::new(), tokens: Vec::new() }
    }
}

/// A bearer token and whose it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// the token
    pub token: String,
    /// its principal
    pub principal: String,
    /// whether it answers the tasks of other principals through the inbox
    pub may_answer: bool,
    /// whether it decides what other principals may call or get to know that waits for a person
    pub may_approve: bool,
    /// who calls with it
    pub caller: CallerConfig,
    /// whether it registers cards in the directory
    pub may_register: bool,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a token of {}", self.principal)
    }
}

impl Network {
    /// Whether a private address may be called at this host.
    #[must_use]
    pub fn allows_private(&self, host: &str) -> bool {
        self.allow_private || self.names(host)
    }

    /// Whether the user named this host as one that may be called wherever it is.
    #[must_use]
    pub fn names(&self, host: &str) -> bool {
        self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            name: "narrows".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            poll_timeout_ms: 60_000,
            stream_timeout_ms: 60_000,
            rate_limit: None,
            history: HistoryConfig { depth: 50, max_entry_length: 1000 },
            inbox_ttl_ms: 1_800_000,
            directory: DirectoryConfig::default(),
            tools: None,
            external_agents: Vec::new(),
            health_failure_threshold: 3,
            network: Network { allow_private: true, allowed_hosts: Vec::new() },
            server: Server::default(),
            storage: false,
            pin_storage: false,
            a2a: A2a::default(),
            mcp_servers: Vec::new(),
            mcp: McpConfig::default(),
            policy: Settings::default(),
            caller: CallerConfig::default(),
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// Reads the JSON form; what is absent has its default.
    ///
    /// # Errors
    /// Every fault, with the path of its key.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let mut faults = Vec::new();
        let raw = json::parse(text, DEPTH).map_err(|_| ConfigError(alloc::vec!["the configuration is no JSON".to_string()]))?;
        let mut config = Self::default();
        let mut table = Table::new(raw, String::new(), &mut faults);
        table.string("name", &mut config.name);
        table.string("version", &mut config.version);
        table.milliseconds("poll_timeout_seconds", &mut config.poll_timeout_ms);
        table.milliseconds("stream_timeout_seconds", &mut config.stream_timeout_ms);
        table.milliseconds("inbox_ttl_seconds", &mut config.inbox_ttl_ms);
        table.optional("tools", "a list of names of tools", &mut config.tools, |raw| json::strings(raw));
        let mut storage = (false, false);
        table.read("storage", "true, false or pins", &mut storage, |raw| match json::string(raw) {
            Some(word) => (word == "pins").then_some((false, true)),
            None => json::boolean(raw).map(|all| (all, false)),
        });
        (config.storage, config.pin_storage) = storage;
        let health = table.table("health");
        let sections =
            ["rate_limit", "history", "directory", "external_agents", "server", "auth", "a2a"].map(|name| table.table(name));
        let network = table.table("network");
        let (mcp, mcp_servers) = (table.table("mcp"), table.table("mcp_servers"));
        let policy = policy::SECTIONS.map(|name| table.table(name));
        let limits = table.table("limits");
        table.finish();
        if let Some(raw) = health {
            let mut table = Table::new(raw, "health.".into(), &mut faults);
            table.whole("failure_threshold", 0, &mut config.health_failure_threshold);
            table.finish();
        }
        if let Some(raw) = limits {
            let mut table = Table::new(raw, "limits.".into(), &mut faults);
            for (name, _, field) in Limits::TABLE {
                let (least, most) = Limits::bounds(name);
                table.between(name, least..=most, field(&mut config.limits));
            }
            table.finish();
        }
        sections::read_network(network, &mut config, &mut faults);
        let [rate_limit, history, directory, external_agents, server, auth, a2a] = sections;
        sections::read_rate_limit(rate_limit, &mut config, &mut faults);
        sections::read_history(history, &mut config, &mut faults);
        directory::read(directory, &mut config, &mut faults);
        sections::read_server(server, &mut config, &mut faults);
        sections::read_auth(auth, &mut config, &mut faults);
        sections::read_external_agents(external_agents, "external_agents", &mut config, &mut faults);
        a2a::read(a2a, &mut config, &mut faults);
        mcp::read(mcp, &mut config, &mut faults);
        policy::read(policy, &mut config, &mut faults);
        mcp_servers::read(mcp_servers, &mut config, &mut faults);
        a2a::check(&config, &mut faults);
        check_tools(&config, &mut faults);
        let (agents, limit) = (config.external_agents.len(), config.limits.agents_per_scope);
        if u64::try_from(agents).is_ok_and(|agents| agents > limit) {
            faults.push(format!("`external_agents` names {agents} agents, more than `limits.agents_per_scope` ({limit}) allows"));
        }
        policy::check_callers(&config, &mut faults);
        if faults.is_empty() { Ok(config) } else { Err(ConfigError(faults)) }
    }

    /// The policy's sections in JSON: what an approval is bound to.
    #[must_use]
    pub fn policy_json(&self) -> Json {
        let mut out = Object::new();
        policy::write(self, &mut out);
        out.finish()
    }

    /// The JSON form, every key written out.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut health = Object::new();
        health.integer("failure_threshold", self.health_failure_threshold);
        let mut network = Object::new();
        network.boolean("allow_private", self.network.allow_private);
        network.strings("allowed_hosts", &self.network.allowed_hosts);
        let mut limits = Object::new();
        let mut values = self.limits.clone();
        for (name, _, field) in Limits::TABLE {
            limits.integer(name, *field(&mut values));
        }
        let mut out = Object::new();
        out.string("name", &self.name).string("version", &self.version);
        out.json("poll_timeout_seconds", &seconds(self.poll_timeout_ms));
        out.json("stream_timeout_seconds", &seconds(self.stream_timeout_ms));
        sections::write(self, &mut out);
        if self.storage {
            out.boolean("storage", true);
        } else if self.pin_storage {
            out.string("storage", "pins");
        }
        mcp::write(&self.mcp, &mut out);
        out.optional_json("a2a", self.a2a.configured.then(|| a2a::write(&self.a2a)).as_ref());
        if !self.mcp_servers.is_empty() {
            out.json("mcp_servers", &mcp_servers::write(&self.mcp_servers));
        }
        policy::write(self, &mut out);
        out.nested("health", health).nested("network", network).nested("limits", limits);
        out.finish()
    }
}

/// Whether a text is a host as it stands in a URL. No part of a name is left open by a star.
fn is_host(text: &str) -> bool {
    !text::holds(text, "*") && Url::parse(&format!("http://{text}/")).is_ok_and(|url| url.host().eq_ignore_ascii_case(text))
}

/// Milliseconds as a decimal number of seconds.
fn seconds(ms: u64) -> Json {
    Json::trusted(format!("{}.{:03}", ms / 1000, ms % 1000))
}

/// Why a configuration was refused: every fault, each naming its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub Vec<String>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::joined(&self.0, "; "))
    }
}

impl core::error::Error for ConfigError {}

/// One object of the configuration: its keys are taken, what is left is a fault.
struct Table<'a, 'f> {
    members: Members<'a>,
    path: String,
    /// The keys that were asked for.
    known: Vec<&'static str>,
    faults: &'f mut Vec<String>,
}

impl<'a, 'f> Table<'a, 'f> {
    fn new(raw: Raw<'a>, path: String, faults: &'f mut Vec<String>) -> Self {
        let members = json::members(raw).unwrap_or_else(|| {
            let name =
                if path.is_empty() { "the configuration".to_string() } else { format!("`{}`", path.trim_end_matches('.')) };
            faults.push(format!("{name} must be an object, not {}", json::kind(raw).name()));
            Members::default()
        });
        for (at, (name, _)) in members.iter().enumerate() {
            if members.iter().skip(at + 1).any(|(other, _)| other == name) {
                faults.push(format!("`{path}{name}` is given twice"));
            }
        }
        Self { members, path, known: Vec::new(), faults }
    }

    fn fault(&mut self, key: &str, expected: &str) {
        self.faults.push(format!("`{}{key}` must be {expected}", self.path));
    }

    fn read<T>(&mut self, key: &'static str, expected: &str, into: &mut T, read: impl FnOnce(Raw<'a>) -> Option<T>) {
        let Some(raw) = self.table(key) else { return };
        match read(raw) {
            Some(value) => *into = value,
            None => self.fault(key, expected),
        }
    }

    fn string(&mut self, key: &'static str, into: &mut String) {
        self.read(key, "a string that is not empty", into, |raw| json::string(raw).filter(|text| !text.trim().is_empty()));
    }

    fn boolean(&mut self, key: &'static str, into: &mut bool) {
        self.read(key, "true or false", into, json::boolean);
    }

    fn strings(&mut self, key: &'static str, into: &mut Vec<String>) {
        self.read(key, "a list of strings", into, json::strings);
    }

    /// Every string of a list has to pass a check.
    fn each(&mut self, key: &str, expected: &str, list: &[String], check: fn(&str) -> bool) {
        for (at, text) in list.iter().enumerate().filter(|(_, text)| !check(text)) {
            self.faults.push(format!("`{}{key}[{at}]` must be {expected}, not {}", self.path, Json::string(text).as_str()));
        }
    }

    fn whole(&mut self, key: &'static str, least: u64, into: &mut u64) {
        self.between(key, least..=u64::MAX, into);
    }

    fn between(&mut self, key: &'static str, range: RangeInclusive<u64>, into: &mut u64) {
        let mut expected = format!("a whole number of at least {}", range.start());
        if *range.end() < u64::MAX {
            expected.push_str(&format!(" and at most {}", range.end()));
        }
        self.read(key, &expected, into, |raw| {
            let number = (json::kind(raw) == Kind::Number).then(|| json::integer(raw.get())).flatten()?;
            u64::try_from(number).ok().filter(|number| range.contains(number))
        });
    }

    fn milliseconds(&mut self, key: &'static str, into: &mut u64) {
        self.read(key, "a number of seconds of at least 0.001", into, |raw| {
            let number = (json::kind(raw) == Kind::Number).then(|| json::scaled(raw.get(), 3)).flatten()?;
            u64::try_from(number).ok().filter(|number| *number > 0)
        });
    }

    /// A string that has to pass a check.
    fn optional_string(&mut self, key: &'static str, expected: &str, into: &mut String, check: impl FnOnce(&str) -> bool) {
        self.read(key, expected, into, |raw| json::string(raw).filter(|text| check(text)));
    }

    /// A value that may be absent altogether.
    fn optional<T>(&mut self, key: &'static str, expected: &str, into: &mut Option<T>, read: impl FnOnce(Raw<'a>) -> Option<T>) {
        self.read(key, expected, into, |raw| read(raw).map(Some));
    }

    fn table(&mut self, key: &'static str) -> Option<Raw<'a>> {
        self.known.push(key);
        self.members.take(key)
    }

    /// A list of texts that each stand for something; each that stands for nothing is a fault.
    fn list<T>(&mut self, key: &'static str, expected: &str, into: &mut Vec<T>, read: impl Fn(&str) -> Option<T>) {
        let Some(raw) = self.table(key) else { return };
        let Some(texts) = json::strings(raw) else {
            self.fault(key, &format!("a list, each of it {expected}"));
            return;
        };
        for (index, text) in texts.iter().enumerate() {
            match read(text) {
                Some(item) => into.push(item),
                None => self.fault(&format!("{key}[{index}]"), &format!("{expected}, not {}", Json::string(text).as_str())),
            }
        }
    }

    /// A name that an earlier table of the list must not have as well.
    fn once<'n>(&mut self, key: &str, name: &str, mut earlier: impl Iterator<Item = &'n String>) {
        if !name.is_empty() && earlier.any(|other| other == name) {
            self.faults.push(format!("`{}{key}` is taken twice: {name}", self.path));
        }
    }

    /// A key that has to be there, and is not.
    fn needs(&mut self, key: &'static str, missing: bool) {
        let named = format!("`{}{key}`", self.path);
        if missing && !self.faults.iter().any(|fault| fault.starts_with(&named)) {
            self.faults.push(format!("{named} is missing"));
        }
    }

    fn finish(self) {
        for (name, _) in self.members.iter() {
            let near = text::nearest(name, &self.known).map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            self.faults.push(format!("`{}{name}` is not a known key{near}", self.path));
        }
    }
}

/// Every tool that is named is there.
fn check_tools(config: &Config, faults: &mut Vec<String>) {
    let is_named = config.tools.as_ref().is_some_and(|names| !names.is_empty());
    let is_clear = !faults.iter().any(|fault| ["`history", "`a2a", "`tools"].iter().any(|key| fault.starts_with(key)));
    if is_named && config.mcp_servers.is_empty() && is_clear && offered(config).next().is_none() {
        faults.push("`tools` names none that is offered: see `history.depth` and `a2a`".to_string());
    }
    for name in config.tools.iter().flatten().filter(|name| !TOOLS.iter().any(|tool| tool.name == **name)) {
        faults.push(format!("`tools` names {}, which is no tool of this gateway", Json::string(name).as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_keys_have_their_defaults_and_the_json_form_reads_back() {
        assert_eq!(Config::from_json("{}"), Ok(Config::default()));
        let config = Config::default();
        assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
    }

    #[test]
    fn every_fault_is_named() {
        let text = r#"{"name":"","histroy":1,"poll_timeout_seconds":"soon","network":[],"limits":{"reply_bytes":0,"x":1}}"#;
        let faults = Config::from_json(text).unwrap_err().0;
        for key in ["`name`", "`histroy`", "`poll_timeout_seconds`", "`network`", "`limits.reply_bytes`", "`limits.x`"] {
            assert!(faults.iter().any(|fault| fault.contains(key)), "{key}: {faults:?}");
        }
        assert_eq!(faults.len(), 6, "{faults:?}");
    }

    #[test]
    fn durations_are_seconds() {
        let config = Config::from_json(r#"{"poll_timeout_seconds":2.5,"stream_timeout_seconds":90}"#).unwrap();
        assert_eq!((config.poll_timeout_ms, config.stream_timeout_ms), (2500, 90_000));
    }
}
