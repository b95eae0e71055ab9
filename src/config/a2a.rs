//! How the gateway is an agent itself; `a2a`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Config, Table, sections};
use crate::json::{self, Array, Json, Object, Raw};
use crate::tools::connect_agent::check_alias;
use crate::url::Url;

/// What the gateway's own agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct A2a {
    /// whether the configuration speaks of it: the tools of the inbox are offered only there
    pub configured: bool,
    /// whether it is served at all; `enabled`
    pub enabled: bool,
    /// its name, the gateway's where absent; `name`
    pub name: Option<String>,
    /// what it is; `description`
    pub description: Option<String>,
    /// where it is reached, as its callers see it; from the request where absent; `url`
    pub url: Option<Url>,
    /// the path of its endpoint; `listen_path`
    pub listen_path: String,
    /// whether it speaks 1.0; `versions`
    pub v10: bool,
    /// whether it speaks 0.3; `versions`
    pub v03: bool,
    /// who does the work; `responder`
    pub responder: Responder,
    /// what it can do; `skills`
    pub skills: Vec<Skill>,
    /// whether agents that are discovered over HTTP wait for somebody's approval; `require_approval`
    pub require_approval: bool,
}

/// Who does the work of served tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Responder {
    /// nobody: what was said is said back
    Echo,
    /// a person or a model with this gateway's tools
    Inbox,
    /// a function of the host
    Function,
    /// a tool of an MCP server, by the name under which it is offered; that of the skill where absent
    Tool(Option<String>),
    /// another agent, by its alias
    Relay(String),
}

impl Responder {
    /// Reads `echo`, `inbox`, `function`, `tool`, `tool:` with a name, or `relay:` with an alias.
    fn named(name: &str) -> Option<Self> {
        match name {
            "echo" => Some(Self::Echo),
            "inbox" => Some(Self::Inbox),
            "function" => Some(Self::Function),
            "tool" => Some(Self::Tool(None)),
            _ if name.starts_with("tool:mcp_") => Some(Self::Tool(name.strip_prefix("tool:").map(String::from))),
            _ => name.strip_prefix("relay:").filter(|alias| check_alias(alias).is_ok()).map(|alias| Self::Relay(alias.into())),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Echo => "echo".into(),
            Self::Inbox => "inbox".into(),
            Self::Function => "function".into(),
            Self::Tool(None) => "tool".into(),
            Self::Tool(Some(name)) => format!("tool:{name}"),
            Self::Relay(alias) => format!("relay:{alias}"),
        }
    }
}

/// Something that the agent can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skill {
    /// how a caller names it, in `metadata.skill`
    pub id: String,
    /// its name
    pub name: String,
    /// what it is
    pub description: String,
    /// words to find it by
    pub tags: Vec<String>,
    /// who does it, where it is not the agent's responder
    pub responder: Option<Responder>,
}

impl Default for A2a {
    fn default() -> Self {
        Self {
            configured: false,
            enabled: true,
            name: None,
            description: None,
            url: None,
            listen_path: "/a2a".into(),
            v10: true,
            v03: true,
            responder: Responder::Inbox,
            skills: Vec::new(),
            require_approval: false,
        }
    }
}

impl A2a {
    /// Who does the work of a skill; the agent's responder where none is named or known.
    #[must_use]
    pub fn responder(&self, skill: Option<&str>) -> &Responder {
        let skill = skill.and_then(|id| self.skills.iter().find(|skill| skill.id == id));
        skill.and_then(|skill| skill.responder.as_ref()).unwrap_or(&self.responder)
    }

    /// Whether somebody answers through the inbox.
    #[must_use]
    pub fn has_inbox(&self) -> bool {
        self.configured && self.enabled && self.responders().any(|responder| *responder == Responder::Inbox)
    }

    fn responders(&self) -> impl Iterator<Item = &Responder> {
        core::iter::once(&self.responder).chain(self.skills.iter().filter_map(|skill| skill.responder.as_ref()))
    }
}

/// Where paths of others begin.
const TAKEN: [&str; 6] = ["mcp", "api", "agents", "healthz", "metrics", ".well-known"];

const RESPONDERS: &str =
    "echo, inbox, function, tool, tool: with the name of a tool, or relay: with the name of an external agent";

pub(super) fn read(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let a2a = &mut config.a2a;
    a2a.configured = true;
    let mut table = Table::new(raw, "a2a.".into(), faults);
    table.boolean("enabled", &mut a2a.enabled);
    table.optional("name", "a string", &mut a2a.name, json::string);
    table.optional("description", "a string", &mut a2a.description, json::string);
    table.optional("url", "an absolute http or https URL without a user name, a query and a fragment", &mut a2a.url, |raw| {
        let text = json::string(raw)?;
        Url::parse(&text).ok().filter(|url| url.query().is_none() && !text.contains('#'))
    });
    table.optional_string(
        "listen_path",
        "a path such as /a2a, of letters, digits, /, -, . and _, below none that something else is at",
        &mut a2a.listen_path,
        |path| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._".contains(&byte);
            let is_taken = path.split('/').nth(1).is_some_and(|first| TAKEN.contains(&first));
            path.len() > 1 && path.starts_with('/') && !path.ends_with('/') && path.bytes().all(fits) && !is_taken
        },
    );
    let mut versions = None;
    table.optional("versions", "a list of \"1.0\" and \"0.3\"", &mut versions, |raw| {
        let list = json::strings(raw)?;
        let known = !list.is_empty() && list.iter().all(|version| version == "1.0" || version == "0.3");
        known.then(|| ["1.0", "0.3"].map(|version| list.iter().any(|listed| listed == version)))
    });
    if let Some([v10, v03]) = versions {
        (a2a.v10, a2a.v03) = (v10, v03);
    }
    table.read("responder", RESPONDERS, &mut a2a.responder, |raw| Responder::named(&json::string(raw)?));
    table.boolean("require_approval", &mut a2a.require_approval);
    let (mut skills, mut agents) = (None, None);
    table.optional("skills", "a list of tables", &mut skills, json::elements);
    table.optional("external_agents", "a list of tables", &mut agents, Some);
    table.finish();
    for (index, raw) in skills.unwrap_or_default().into_iter().enumerate() {
        let (path, mut skill) = (format!("a2a.skills[{index}]."), Skill::default());
        let mut table = Table::new(raw, path.clone(), faults);
        table.string("id", &mut skill.id);
        table.string("name", &mut skill.name);
        table.string("description", &mut skill.description);
        table.strings("tags", &mut skill.tags);
        table.optional("responder", RESPONDERS, &mut skill.responder, |raw| Responder::named(&json::string(raw)?));
        table.finish();
        if skill.id.is_empty() || skill.name.is_empty() {
            faults.push(format!("`{path}id` and `{path}name` are both needed"));
        }
        if a2a.skills.iter().any(|known| known.id == skill.id) {
            faults.push(format!("`{path}id` is taken twice: {}", skill.id));
        }
        a2a.skills.push(skill);
    }
    sections::read_external_agents(agents, "a2a.external_agents", config, faults);
}

/// Names of agents are checked once all of them are read.
pub(super) fn check(config: &Config, faults: &mut Vec<String>) {
    for responder in config.a2a.responders() {
        if let Responder::Relay(alias) = responder
            && !config.external_agents.iter().any(|agent| agent.name == *alias)
        {
            faults.push(format!("`a2a` relays to {alias}, which is none of `external_agents`"));
        }
        if matches!(responder, Responder::Tool(_)) && config.mcp_servers.is_empty() {
            faults.push("`a2a` has the responder tool, and there are no `mcp_servers` that have any".into());
            return;
        }
    }
}

pub(super) fn write(a2a: &A2a) -> Json {
    let mut out = Object::new();
    out.boolean("enabled", a2a.enabled).optional_string("name", a2a.name.as_deref());
    out.optional_string("description", a2a.description.as_deref());
    out.optional_string("url", a2a.url.as_ref().map(Url::as_str)).string("listen_path", &a2a.listen_path);
    let versions = [("1.0", a2a.v10), ("0.3", a2a.v03)];
    out.strings("versions", versions.iter().filter(|(_, spoken)| *spoken).map(|(version, _)| *version));
    out.string("responder", &a2a.responder.name()).boolean("require_approval", a2a.require_approval);
    let mut skills = Array::new();
    for skill in &a2a.skills {
        let mut entry = Object::new();
        entry.string("id", &skill.id).string("name", &skill.name);
        entry.optional_string("description", Some(skill.description.as_str()).filter(|text| !text.is_empty()));
        entry.strings("tags", skill.tags.iter().map(String::as_str));
        entry.optional_string("responder", skill.responder.as_ref().map(Responder::name).as_deref());
        skills.nested(entry);
    }
    out.nested("skills", skills);
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_reads_back() {
        let text = r#"{"external_agents":[{"name":"bistro","url":"https://a.test/"}],"a2a":{"enabled":true,"name":"N","description":"D","url":"https://gw.test/","listen_path":"/agent","versions":["1.0"],"responder":"relay:bistro","require_approval":true,"skills":[{"id":"e","name":"Echo","description":"d","tags":["t"],"responder":"echo"},{"id":"f","name":"F"}]}}"#;
        let config = Config::from_json(text).unwrap();
        assert_eq!(config.a2a.responder(Some("e")), &Responder::Echo);
        assert_eq!(config.a2a.responder(Some("f")), &Responder::Relay("bistro".into()));
        assert!(config.a2a.v10 && !config.a2a.v03 && !config.a2a.has_inbox());
        assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
    }

    #[test]
    fn its_agents_are_those_of_the_configuration() {
        let inner = r#"{"a2a":{"external_agents":[{"name":"bistro","url":"https://a.test/"}],"responder":"relay:bistro"}}"#;
        let config = Config::from_json(inner).unwrap();
        assert_eq!(config.external_agents[0].name, "bistro");
        assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
        let twice = inner.replacen('{', r#"{"external_agents":[{"name":"bistro","url":"https://b.test/"}],"#, 1);
        let faults = Config::from_json(&twice).unwrap_err().0;
        assert!(faults[0].contains("`a2a.external_agents[0].name` is taken twice"), "{faults:?}");
    }

    #[test]
    fn every_fault_is_named() {
        for (section, key) in [
            (r#"{"listen_path":"a2a"}"#, "`a2a.listen_path`"),
            (r#"{"listen_path":"/a2a/"}"#, "`a2a.listen_path`"),
            (r#"{"listen_path":"/mcp"}"#, "`a2a.listen_path`"),
            (r#"{"listen_path":"/api/a2a"}"#, "`a2a.listen_path`"),
            (r#"{"url":"https://gw.test/a2a?x=1"}"#, "`a2a.url`"),
            (r#"{"url":"https://gw.test/#a"}"#, "`a2a.url`"),
            (r#"{"versions":["2.0"]}"#, "`a2a.versions`"),
            (r#"{"versions":[]}"#, "`a2a.versions`"),
            (r#"{"responder":"robot"}"#, "`a2a.responder`"),
            (r#"{"responder":"relay:nobody"}"#, "relays to nobody"),
            (r#"{"skills":[{"id":"a"}]}"#, "`a2a.skills[0].name`"),
            (r#"{"skills":[{"id":"a","name":"A"},{"id":"a","name":"B"}]}"#, "`a2a.skills[1].id` is taken twice"),
            (r#"{"url":"ftp://x"}"#, "`a2a.url`"),
            (r#"{"respond":"echo"}"#, "`a2a.respond`"),
        ] {
            let faults = Config::from_json(&format!(r#"{{"a2a":{section}}}"#)).unwrap_err().0;
            assert!(faults.len() == 1 && faults[0].contains(key), "{section}: {faults:?}");
        }
    }
}
