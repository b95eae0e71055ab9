//! The MCP servers behind the gateway; `mcp_servers`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{Config, Oauth, Table, oauth, policy};
use crate::io::Headers;
use crate::json::{self, Array, Json, Object, Raw};
use crate::link::naming;
use crate::list::gather_all;
use crate::policy::settings::{ServerTaint, Settings};
use crate::redact::Secrets;
use crate::text;
use crate::tools::connect_agent::header_faults;
use crate::url::Url;

/// How long a server may take for its handshake, its list and each call, where it says nothing else.
const TIMEOUT_MS: u64 = 30_000;

/// How many servers there may be.
const SERVERS: usize = 64;

/// How often a server is asked whether it is alive, and how often it may fail to answer.
const CHECK_SECS: u64 = 60;
const CHECK_THRESHOLD: u64 = 3;

/// Programs that run whatever they are told: with one of them as the command, an argument is a program.
const SHELLS: &str = "sh bash rbash zsh rzsh dash ash posh yash ksh rksh lksh mksh pdksh csh tcsh fish nu elvish xonsh \
    osh ysh git-shell cmd powershell pwsh command";

/// Programs that run the program that their arguments name.
const WRAPPERS: &str = "busybox toybox env exec nohup nice ionice setsid stdbuf timeout time xargs chroot unshare sudo doas";

/// A server, as it is configured.
#[derive(Clone, PartialEq, Eq)]
pub struct McpServer {
    /// its name, as it was written
    pub name: String,
    /// how it is reached
    pub transport: Transport,
    /// how long its handshake, its list and each call may take; `timeout_secs`
    pub timeout_ms: u64,
    /// the header fields of its requests
    pub headers: Headers,
    /// `NAME` for a variable of the host that is passed on, `NAME=value` for one that is set
    pub env: Vec<String>,
    /// the entry of the catalog it came from
    pub template_id: Option<String>,
    /// how it is asked whether it is alive, not at all where it is absent; `health_check`
    pub health_check: Option<HealthCheck>,
    /// what is looked for in calls to it; `taint_scanning` and `taint_policy`
    pub taint: ServerTaint,
    /// how tokens for it are had, where it is at a URL and has no header field of its own for that; `oauth`
    pub oauth: Option<Oauth>,
}

/// How a server is asked whether it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    /// how often; `interval_secs`
    pub interval_ms: u64,
    /// after how many questions in a row without an answer it is connected anew; `unhealthy_threshold`
    pub unhealthy_threshold: u64,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// a process of the host's, over its standard input and output
    Stdio {
        /// the program
        command: String,
        /// its arguments
        args: Vec<String>,
    },
    /// a URL
    Http {
        /// which
        url: Url,
        /// whether answers come on a stream of their own, as in 2024-11-05; `sse`
        events: bool,
    },
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} variables and {} header fields", self.name, self.env.len(), self.headers.len())
    }
}

impl McpServer {
    /// Whether a connection to it is one to the other as well: the same process, or the same requests.
    #[must_use]
    pub fn is_reached_as(&self, other: &Self) -> bool {
        let Self { timeout_ms, template_id, health_check, taint, .. } = other.clone();
        Self { timeout_ms, template_id, health_check, taint, ..self.clone() } == *other
    }

    /// How it is reached, without what only this server may see.
    #[must_use]
    pub fn place(&self) -> Json {
        let (mut place, taint) = (self.clone(), ServerTaint::default());
        place.headers.iter_mut().for_each(|(_, value)| value.clear());
        for entry in &mut place.env {
            if let Some(at) = entry.find('=').filter(|at| is_secret_name(entry.get(..*at).unwrap_or_default())) {
                entry.truncate(at);
            }
        }
        write(&[Self { timeout_ms: 0, template_id: None, health_check: None, oauth: None, taint, ..place }])
    }

    /// The values that only this server may see: those of its header fields, and of variables that are named like
    /// credentials.
    pub fn teach(&self, secrets: &mut Secrets) {
        self.headers.iter().for_each(|(name, value)| secrets.learn(name, value));
        let set = self.env.iter().filter_map(|entry| entry.split_once('='));
        set.filter(|(name, _)| is_secret_name(name)).for_each(|(_, value)| secrets.add(value));
        self.oauth.iter().filter_map(|oauth| oauth.client_secret.as_ref()).for_each(|secret| secrets.add(secret));
    }
}

/// Whether the value of a variable of that name is a credential.
fn is_secret_name(name: &str) -> bool {
    ["key", "token", "secret", "passw", "credential", "auth", "pat"].iter().any(|word| text::holds(name, word))
        && !text::holds(name, "path")
}

pub(super) fn read(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let Some(list) = json::elements(raw) else {
        faults.push("`mcp_servers` must be a list of tables".to_string());
        return;
    };
    if list.len() > SERVERS {
        faults.push(format!("`mcp_servers` has {} entries, at most {SERVERS}", list.len()));
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        let path = format!("mcp_servers[{index}].");
        // Also one with faults has its name, so that all of them are told at once.
        let mut name = String::new();
        let server = read_server(raw, &path, &mut name, &config.policy, faults);
        let key = naming::normalised(&name);
        if let Some(known) = names.iter().find(|known| !key.is_empty() && naming::normalised(known) == key) {
            faults.push(format!("`{path}name` is taken: {known} and {name} are both {key} in names of tools"));
        }
        names.push(name);
        config.mcp_servers.extend(server);
    }
}

fn read_server(raw: Raw<'_>, path: &str, name: &mut String, policy: &Settings, faults: &mut Vec<String>) -> Option<McpServer> {
    let before = faults.len();
    let mut table = Table::new(raw, path.to_string(), faults);
    let (mut timeout_secs, mut env, mut headers) = (TIMEOUT_MS / 1000, Vec::new(), Vec::new());
    let mut template_id = None;
    table.string("name", name);
    table.whole("timeout_secs", 1, &mut timeout_secs);
    table.read("env", "a list of \"NAME\" and \"NAME=value\"", &mut env, |raw| {
        json::strings(raw).filter(|list| list.iter().all(|entry| is_variable(entry)))
    });
    table.read("headers", "a list of at most 20 header fields that may be set, each \"Name: value\"", &mut headers, |raw| {
        let list = gather_all(json::strings(raw)?.iter().map(|field| header(field)))?;
        header_faults(&list).is_empty().then_some(list)
    });
    table.optional("template_id", "a string", &mut template_id, json::string);
    let transport = table.table("transport");
    let health_check = table.table("health_check");
    let mut taint = ServerTaint::default();
    table.boolean("taint_scanning", &mut taint.scanning);
    let taint_policy = table.table("taint_policy");
    let oauth = table.table("oauth");
    table.finish();
    if let Some(raw) = taint_policy {
        policy::read_server_taint(raw, &format!("{path}taint_policy."), &policy.rule_sets, &mut taint, faults);
    }
    if name.is_empty() && !faults.iter().any(|fault| fault.contains(&format!("`{path}name`"))) {
        faults.push(format!("`{path}name` is missing"));
    }
    let health_check = health_check.map(|raw| read_health_check(raw, path, faults));
    let transport = match transport {
        Some(raw) => read_transport(raw, &format!("{path}transport."), faults),
        None => {
            faults.push(format!("`{path}transport` is missing: a table such as {{\"type\":\"stdio\",\"command\":\"npx\"}}"));
            None
        }
    };
    let has_token = headers.iter().any(|(name, _): &(String, String)| name.eq_ignore_ascii_case("Authorization"));
    let stranger = match &transport {
        Some(Transport::Stdio { .. }) if !headers.is_empty() => Some("headers` belongs to servers at a URL"),
        Some(Transport::Stdio { .. }) if oauth.is_some() => Some("oauth` belongs to servers at a URL"),
        Some(Transport::Http { .. }) if oauth.is_some() && has_token => {
            Some("oauth` and the header field Authorization exclude each other")
        }
        Some(Transport::Http { .. }) if !env.is_empty() => Some("env` belongs to processes"),
        Some(Transport::Stdio { .. } | Transport::Http { .. }) | None => None,
    };
    faults.extend(stranger.map(|fault| format!("`{path}{fault}")));
    let is_remote = matches!(&transport, Some(Transport::Http { .. })) && !has_token;
    let oauth = match oauth {
        Some(raw) => Some(oauth::read(raw, &format!("{path}oauth."), faults)),
        None => is_remote.then(Oauth::default),
    };
    (faults.len() == before).then_some(())?;
    Some(McpServer {
        name: name.clone(),
        transport: transport?,
        oauth,
        timeout_ms: timeout_secs.saturating_mul(1000),
        env,
        headers,
        template_id,
        health_check,
        taint,
    })
}

fn read_health_check(raw: Raw<'_>, path: &str, faults: &mut Vec<String>) -> HealthCheck {
    let mut table = Table::new(raw, format!("{path}health_check."), faults);
    let (mut interval_secs, mut unhealthy_threshold) = (CHECK_SECS, CHECK_THRESHOLD);
    table.whole("interval_secs", 1, &mut interval_secs);
    table.whole("unhealthy_threshold", 1, &mut unhealthy_threshold);
    table.finish();
    HealthCheck { interval_ms: interval_secs.saturating_mul(1000), unhealthy_threshold }
}

fn read_transport(raw: Raw<'_>, path: &str, faults: &mut Vec<String>) -> Option<Transport> {
    let before = faults.len();
    let mut table = Table::new(raw, path.to_string(), faults);
    let (mut kind, mut command, mut args, mut url) = (String::new(), String::new(), Vec::new(), None);
    table.optional_string("type", "stdio, http or sse", &mut kind, |kind| matches!(kind, "stdio" | "http" | "sse"));
    // A key of another kind of transport is as unknown as any other.
    if kind == "stdio" {
        table.string("command", &mut command);
        table.strings("args", &mut args);
    } else if !kind.is_empty() {
        table.optional("url", "an absolute http or https URL without a user name", &mut url, |raw| {
            Url::parse(&json::string(raw)?).ok()
        });
    }
    table.finish();
    if kind.is_empty() {
        // Which keys belong to it is not known.
        faults.truncate(before);
        faults.push(format!("`{path}type` must be stdio, http or sse"));
        return None;
    }
    let (needed, is_there) = if kind == "stdio" { ("command", !command.is_empty()) } else { ("url", url.is_some()) };
    if !is_there {
        if faults.len() == before {
            faults.push(format!("`{path}{needed}` is missing"));
        }
        return None;
    }
    if let Some(why) = refused(&command, &args) {
        faults.push(format!("`{path}command` {why}"));
    }
    Some(match url {
        Some(url) => Transport::Http { url, events: kind == "sse" },
        None => Transport::Stdio { command, args },
    })
}

fn header(field: &str) -> Option<(String, String)> {
    let (name, value) = field.split_once(':')?;
    Some((name.trim().to_string(), value.trim().to_string()))
}

/// Why a command is not run.
fn refused(command: &str, args: &[String]) -> Option<String> {
    if command.contains("..") {
        return Some("must not contain `..`".to_string());
    }
    if command.contains('\0') {
        return Some("must not contain a zero byte".to_string());
    }
    let named = if is_one_of(WRAPPERS, command) { args } else { &[] };
    let words = named.iter().flat_map(|arg| arg.split_whitespace());
    let shell = [command].into_iter().chain(words).find(|word| is_one_of(SHELLS, word))?;
    Some(format!("must not be a shell: name the program that {} would run", shell.trim()))
}

/// Whether a path names one of these programs, in whatever version.
fn is_one_of(programs: &str, path: &str) -> bool {
    let program = path.trim().rsplit(['/', '\\']).next().unwrap_or(path);
    let name = match program.rsplit_once('.') {
        Some((name, "exe" | "EXE" | "com" | "COM" | "cmd" | "CMD" | "bat" | "BAT")) => name,
        Some(_) | None => program,
    };
    let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || matches!(char, '-' | '_' | '.'));
    programs.split(' ').any(|known| name.eq_ignore_ascii_case(known))
}

fn is_variable(entry: &str) -> bool {
    let name = entry.split_once('=').map_or(entry, |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) && !entry.contains('\0')
}

/// Writes the list.
pub(super) fn write(servers: &[McpServer]) -> Json {
    let mut list = Array::new();
    for server in servers {
        let (mut entry, mut transport) = (Object::new(), Object::new());
        match &server.transport {
            Transport::Stdio { command, args } => {
                transport.string("type", "stdio").string("command", command).strings("args", args);
            }
            Transport::Http { url, events } => {
                transport.string("type", if *events { "sse" } else { "http" }).string("url", url.as_str());
            }
        }
        entry.string("name", &server.name).nested("transport", transport);
        entry.integer("timeout_secs", server.timeout_ms / 1000).strings("env", &server.env);
        let headers = server.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        entry.strings("headers", headers);
        entry.optional_string("template_id", server.template_id.as_deref());
        if let Some(check) = server.health_check {
            let mut section = Object::new();
            section.integer("interval_secs", check.interval_ms / 1000);
            section.integer("unhealthy_threshold", check.unhealthy_threshold);
            entry.nested("health_check", section);
        }
        policy::write_server_taint(&mut entry, &server.taint);
        server.oauth.iter().for_each(|known| oauth::write(&mut entry, known));
        list.nested(entry);
    }
    list.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(servers: &str) -> Result<Config, Vec<String>> {
        Config::from_json(&format!(r#"{{"mcp_servers":{servers}}}"#)).map_err(|error| error.0)
    }

    #[test]
    fn the_section_reads_back() {
        let text = r#"[{"name":"Web Search","transport":{"type":"stdio","command":"npx","args":["-y","x"]},"timeout_secs":5,"health_check":{"interval_secs":7},"env":["A","B_TOKEN=hunter2hunter2","P=q"],"template_id":"t"},{"name":"b","transport":{"type":"stdio","command":"/opt/x/server"}},{"name":"c","transport":{"type":"sse","url":"https://c.test/sse"},"headers":["X-Key: correct horse: battery"]},{"name":"d","transport":{"type":"http","url":"https://d.test/mcp"}}]"#;
        let config = config(text).unwrap();
        let servers = &config.mcp_servers;
        assert_eq!((servers[0].timeout_ms, servers[1].timeout_ms), (5000, 30_000));
        let check = HealthCheck { interval_ms: 7000, unhealthy_threshold: 3 };
        assert_eq!((servers[0].health_check, servers[1].health_check), (Some(check), None));
        let mut secrets = Secrets::new();
        servers.iter().for_each(|server| server.teach(&mut secrets));
        assert!(secrets.iter().eq(["hunter2hunter2", "correct horse: battery"]));
        assert!(!format!("{config:?}").contains("hunter2"));
        assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
    }

    #[test]
    fn a_fault_hides_no_other() {
        let told = Config::from_json(
            r#"{"taint_rules":[{"name":"soft","rules":["PiiEmail"]}],"mcp_servers":[
            {"name":"a","timeout_secs":"5","transport":{"type":"stdio","command":"x"}},
            {"name":"A","transport":{"type":"stdio","command":"sh"},"taint_policy":{"tools":{"t":{"rule_sets":["soft","hard"]}}}},
            {"name":"b","transport":{"type":"stdio","command":"x"},"taint_policy":{"tools":{"t":{"paths":{"x":{}}},"u":{"paths":1}}}}],
            "external_agents":[{"name":"x","url":"nowhere"},{"name":"x"}]}"#,
        );
        let told = told.unwrap_err().0;
        for words in [
            "`mcp_servers[0].timeout_secs` must be",
            "`mcp_servers[1].transport.command` must not be a shell",
            "`mcp_servers[1].name` is taken: a and A are both a in",
            "`mcp_servers[1].taint_policy.tools.t.rule_sets[1]` must be the name of a set of `taint_rules`, not \"hard\"",
            "`mcp_servers[2].taint_policy.tools.t.paths.x` must be",
            "`mcp_servers[2].taint_policy.tools.u.paths` must be a table",
            "`external_agents[0].url` must be",
            "`external_agents[1].name` is taken twice: x",
            "`external_agents[1].url` is missing",
        ] {
            assert!(told.iter().any(|fault| fault.starts_with(words)), "{words}: {told:#?}");
        }
        assert_eq!(told.len(), 9, "{told:#?}");
    }

    #[test]
    fn a_shell_is_one_by_any_name() {
        let with = |command: &str, args: &str| {
            config(&format!(r#"[{{"name":"a","transport":{{"type":"stdio","command":"{command}","args":{args}}}}}]"#))
        };
        for command in ["rbash", "ksh93", "bash-5.2", "nu", "git-shell", "bash ", "/opt/x/zsh-5.9", "Bash5.exe", "sh.cmd"] {
            let faults = with(command, "[]").unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains("must not be a shell"), "{command}: {faults:?}");
        }
        for (command, args) in [
            ("busybox", r#"["sh","-c","x"]"#),
            ("/usr/bin/env", r#"["bash"]"#),
            ("env", r#"["-i","A=b","/bin/bash"]"#),
            ("env", r#"["-S","bash -c x"]"#),
            ("timeout", r#"["5","nice","sh"]"#),
        ] {
            let faults = with(command, args).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains("must not be a shell"), "{command} {args}: {faults:?}");
        }
        for (command, args) in
            [("env", r#"["A=b","node","bash.js"]"#), ("node", r#"["sh"]"#), ("bash-language-server", "[]"), ("5", "[]")]
        {
            assert!(with(command, args).is_ok(), "{command} {args}");
        }
    }

    #[test]
    fn every_fault_is_named() {
        let stdio = |command: &str| format!(r#"[{{"name":"a","transport":{{"type":"stdio","command":"{command}"}}}}]"#);
        for (servers, words) in [
            ("{}".to_string(), "`mcp_servers` must be a list"),
            (r#"[{"transport":{"type":"stdio","command":"x"}}]"#.to_string(), "`mcp_servers[0].name` is missing"),
            (r#"[{"name":" ","transport":{"type":"stdio","command":"x"}}]"#.to_string(), "`mcp_servers[0].name` must be"),
            (r#"[{"name":"a"}]"#.to_string(), "`mcp_servers[0].transport` is missing"),
            (r#"[{"name":"a","command":"x","transport":{"type":"stdio","command":"x"}}]"#.to_string(), "`mcp_servers[0].command` is not"),
            (r#"[{"name":"a","transport":{"type":"pipe","command":"x"}}]"#.to_string(), "`mcp_servers[0].transport.type`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x","url":"y"}}]"#.to_string(), "`mcp_servers[0].transport.url`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"env":{"A":"b"}}]"#.to_string(), "`mcp_servers[0].env`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"env":["=b"]}]"#.to_string(), "`mcp_servers[0].env`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"timeout_secs":0}]"#.to_string(), "`mcp_servers[0].timeout_secs`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"health_check":{"interval_secs":0}}]"#.to_string(), "`mcp_servers[0].health_check.interval_secs`"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"health_check":{"every":1}}]"#.to_string(), "`mcp_servers[0].health_check.every`"),
            (r#"[{"name":"a","transport":{"type":"http","command":"x"}}]"#.to_string(), "`mcp_servers[0].transport.command`"),
            (r#"[{"name":"a","transport":{"type":"http"}}]"#.to_string(), "`mcp_servers[0].transport.url` is missing"),
            (r#"[{"name":"a","transport":{"type":"http","url":"x"}}]"#.to_string(), "`mcp_servers[0].transport.url` must be"),
            (r#"[{"name":"a","transport":{"type":"http","url":"https://a.test"},"headers":["x"]}]"#.to_string(), "`mcp_servers[0].headers`"),
            (r#"[{"name":"a","transport":{"type":"http","url":"https://a.test"},"env":["X"]}]"#.to_string(), "`mcp_servers[0].env` belongs"),
            (r#"[{"name":"a","transport":{"type":"stdio","command":"x"},"headers":["A: b"]}]"#.to_string(), "`mcp_servers[0].headers` belongs"),
            (stdio("bash"), "must not be a shell"),
            (stdio("/bin/sh"), "must not be a shell"),
            (stdio("C:\\\\Windows\\\\CMD.EXE"), "must not be a shell"),
            (stdio("../server"), "`..`"),
            (stdio("sh\\u0000"), "zero byte"),
            (
                r#"[{"name":"a-b","transport":{"type":"stdio","command":"x"}},{"name":"A b","transport":{"type":"stdio","command":"x"}}]"#.to_string(),
                "`mcp_servers[1].name` is taken: a-b and A b are both a_b",
            ),
        ] {
            let faults = config(&servers).unwrap_err();
            assert!(faults.len() == 1 && faults[0].contains(words), "{servers}: {faults:?}");
        }
    }
}
