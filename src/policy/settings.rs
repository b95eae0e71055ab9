//! What the configuration says about calls to MCP servers.

use alloc::string::String;
use alloc::vec::Vec;

use super::glob::{Glob, Names};
use super::rule::{Action, Rules};
use super::taint::{PathPattern, Scanned};

/// The policy as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// which calls wait for a person; `approval`
    pub approval: Approval,
    /// what single users may do; `users`
    pub users: Vec<User>,
    /// what single agents may do, by their names; `agents`
    pub agents: Vec<Agent>,
    /// rules that are muted for some tools; `mcp_taint_policy`
    pub mutes: Vec<Mute>,
    /// rules that do not block where a tool names the set; `taint_rules`
    pub rule_sets: Vec<RuleSet>,
    /// what is done about results that come in; `taint_policy.results`
    pub results: Results,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            approval: Approval::default(),
            users: Vec::new(),
            agents: Vec::new(),
            mutes: Vec::new(),
            rule_sets: Vec::new(),
            results: Results::Off,
        }
    }
}

/// Which calls wait for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// tools whose calls wait; `require_approval`
    pub required: Vec<Glob>,
    /// how long a person has, 10 to 300 seconds; `timeout_secs`
    pub timeout_ms: u64,
    /// what comes after that; `timeout_fallback`
    pub fallback: Fallback,
    /// whether a tool that was approved in a session is not asked about again there; `cache_approvals_per_session`
    pub cached_per_session: bool,
    /// who need not ask for what is of little risk; `trusted_senders`
    pub trusted_senders: Vec<String>,
    /// whether the asking client may put the question to its user; on stdio and in process only where absent; `elicitation`
    pub elicitation: Option<bool>,
    /// what may be called from where; `channel_rules`
    pub channel_rules: Vec<ChannelRule>,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            timeout_ms: 60_000,
            fallback: Fallback::Deny,
            cached_per_session: true,
            trusted_senders: Vec::new(),
            elicitation: None,
            channel_rules: Vec::new(),
        }
    }
}

/// What comes of a request that nobody decided in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// the call fails
    Deny,
    /// the call ends with a result that says it was skipped
    Skip,
    /// it is asked again
    Escalate {
        /// how much longer a person has then
        extra_ms: u64,
    },
}

/// What may be called from a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelRule {
    /// the channel
    pub channel: String,
    /// if there are any, nothing else may be called; these wait for nobody
    pub allowed_tools: Vec<Glob>,
    /// these may not be called
    pub denied_tools: Vec<Glob>,
}

/// What a user may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// as the host names the sender; `id`
    pub id: String,
    /// if there are any, nothing else may be called
    pub allow: Vec<Glob>,
    /// these may not be called
    pub deny: Vec<Glob>,
    /// these wait for a person, whatever else is configured
    pub needs_approval: Vec<Glob>,
}

/// What an agent may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// as the host names it
    pub name: String,
    /// the servers that it may use, `*` for all
    pub mcp_servers: Vec<String>,
    /// it may use none
    pub mcp_disabled: bool,
    /// `hand:` before one says that it is trusted with its tools
    pub tags: Vec<String>,
}

/// Rules that are muted for some tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mute {
    /// the tools
    pub tool: Glob,
    /// the rules
    pub rules: Rules,
}

/// Rules that are answered otherwise than by blocking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSet {
    /// how a tool names it
    pub name: String,
    /// what is done
    pub action: Action,
    /// the rules
    pub rules: Rules,
}

/// What is done about results in which a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// they are not looked at
    Off,
    /// it is written down
    Warn,
    /// what fires is replaced
    Redact,
}

impl Results {
    /// Every one with its name.
    pub const NAMES: [(Self, &'static str); 3] = [(Self::Off, "off"), (Self::Warn, "warn"), (Self::Redact, "redact")];
}

/// What is looked for in calls to one server; `taint_scanning` and `taint_policy` of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTaint {
    /// whether contents are looked at at all
    pub scanning: bool,
    /// its tools by their own names
    pub tools: Vec<ToolTaint>,
}

impl Default for ServerTaint {
    fn default() -> Self {
        Self { scanning: true, tools: Vec::new() }
    }
}

/// What is looked for in calls to one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTaint {
    /// the tool's own name
    pub tool: String,
    /// whether contents are looked at; `default`
    pub scanning: bool,
    /// rules that are muted at some places; `paths`
    pub paths: Vec<(PathPattern, Rules)>,
    /// sets that say what is done instead of blocking; `rule_sets`
    pub rule_sets: Vec<String>,
}

impl Settings {
    /// Whether anything may be called by some and not by others.
    #[must_use]
    pub fn tells_callers_apart(&self) -> bool {
        !(self.agents.is_empty() && self.users.is_empty() && self.approval.channel_rules.is_empty())
    }

    /// The patterns that a check says fit no tool, each once.
    #[must_use]
    pub fn idle(&self, is_idle: &dyn Fn(&Glob) -> bool) -> Vec<String> {
        let mut lists = Vec::from([self.approval.required.as_slice()]);
        lists.extend(self.approval.channel_rules.iter().flat_map(|rule| [rule.allowed_tools.as_slice(), &rule.denied_tools]));
        lists.extend(self.users.iter().flat_map(|user| [user.allow.as_slice(), &user.deny, &user.needs_approval]));
        let mut idle = Vec::new();
        for glob in lists.into_iter().flatten().chain(self.mutes.iter().map(|mute| &mute.tool)) {
            if is_idle(glob) && !idle.iter().any(|known| known == glob.as_str()) {
                idle.push(String::from(glob.as_str()));
            }
        }
        idle
    }

    /// The rules that are muted for a tool everywhere.
    #[must_use]
    pub fn muted(&self, names: Names<'_>) -> Rules {
        let mutes = self.mutes.iter().filter(|mute| mute.tool.matches_both(names));
        mutes.fold(Rules::NONE, |muted, mute| muted.with(mute.rules))
    }

    /// What is to be looked for in the arguments of a tool. Names of keys and depth are looked at whatever is switched off.
    #[must_use]
    pub fn scanned<'s>(&self, names: Names<'_>, raw_tool: &str, server: &'s ServerTaint) -> Scanned<'s> {
        let tool = server.tools.iter().find(|tool| tool.tool == raw_tool);
        let scanning = server.scanning && tool.is_none_or(|tool| tool.scanning);
        let rules = if scanning { Rules::ALL } else { Rules::only(super::rule::Rule::SensitiveKeyName) };
        let sets = tool.map(|tool| tool.rule_sets.as_slice()).unwrap_or_default();
        let mut actions = Vec::new();
        for set in self.rule_sets.iter().filter(|set| sets.contains(&set.name)) {
            actions.push((set.rules, set.action));
        }
        let paths = tool.map(|tool| tool.paths.as_slice()).unwrap_or_default();
        Scanned { rules: rules.without(self.muted(names)), paths, actions }
    }
}
