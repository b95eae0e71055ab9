//! The policy on calls to MCP servers: `approval`, `users`, `agents`, `mcp_taint_policy`, `taint_rules`, `taint_policy`,
//! `caller`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{CallerConfig, Config, Table, Token};
use crate::json::{self, Array, Json, Kind, Members, Object, Raw};
use crate::policy::glob::{self, Glob};
use crate::policy::settings::{
    Agent, Approval, ChannelRule, Fallback, Mute, Results, RuleSet, ServerTaint, Settings, ToolTaint, User,
};
use crate::policy::taint::{EXPECTED_PATH, PathPattern};
use crate::policy::{Action, Rule, Rules};
use crate::text;

/// The sections, in the order in which they are read.
pub(super) const SECTIONS: [&str; 7] =
    ["approval", "users", "agents", "mcp_taint_policy", "taint_rules", "taint_policy", "caller"];

/// How much longer a person has after an escalation that says nothing else.
const EXTRA_MS: u64 = 120_000;

pub(super) fn read(sections: [Option<Raw<'_>>; 7], config: &mut Config, faults: &mut Vec<String>) {
    let [approval, users, agents, mutes, rule_sets, taint_policy, caller] = sections;
    let policy = &mut config.policy;
    if let Some(raw) = approval {
        read_approval(raw, &mut policy.approval, faults);
    }
    for (path, raw) in tables(users, "users", faults) {
        let mut table = Table::new(raw, path, faults);
        let (mut user, mut own) = (User::default(), None);
        table.string("id", &mut user.id);
        table.optional("tool_policy", "a table", &mut own, Some);
        let path = format!("{}tool_policy.", table.path);
        table.needs("id", user.id.is_empty());
        table.once("id", &user.id, policy.users.iter().map(|user| &user.id));
        table.finish();
        if let Some(raw) = own {
            let mut table = Table::new(raw, path, faults);
            globs(&mut table, "allow", &mut user.allow);
            globs(&mut table, "deny", &mut user.deny);
            globs(&mut table, "needs_approval", &mut user.needs_approval);
            table.finish();
        }
        policy.users.push(user);
    }
    if let Some(raw) = agents {
        read_agents(raw, policy, faults);
    }
    for (path, raw) in tables(mutes, "mcp_taint_policy", faults) {
        let mut table = Table::new(raw, path, faults);
        let (mut tool, mut rules) = (Vec::new(), Rules::NONE);
        table.read("tool", glob::EXPECTED, &mut tool, |raw| Glob::read(&json::string(raw)?).map(|glob| [glob].into()));
        read_rules(&mut table, "skip_rules", &mut rules);
        table.needs("tool", tool.is_empty());
        table.finish();
        policy.mutes.extend(tool.pop().map(|tool| Mute { tool, rules }));
    }
    for (path, raw) in tables(rule_sets, "taint_rules", faults) {
        let mut table = Table::new(raw, path, faults);
        let mut set = RuleSet { name: String::new(), action: Action::Block, rules: Rules::NONE };
        table.string("name", &mut set.name);
        table.read("action", "block, warn or log", &mut set.action, |raw| Action::named(&json::string(raw)?));
        read_rules(&mut table, "rules", &mut set.rules);
        table.needs("name", set.name.is_empty());
        table.once("name", &set.name, policy.rule_sets.iter().map(|set| &set.name));
        table.needs("rules", set.rules == Rules::NONE);
        table.finish();
        policy.rule_sets.push(set);
    }
    if let Some(raw) = taint_policy {
        let mut table = Table::new(raw, "taint_policy.".into(), faults);
        table.read("results", "off, warn or redact", &mut policy.results, |raw| {
            let name = json::string(raw)?;
            Results::NAMES.iter().find(|(_, known)| *known == name).map(|(results, _)| *results)
        });
        table.finish();
    }
    if let Some(raw) = caller {
        let mut table = Table::new(raw, "caller.".into(), faults);
        read_caller(&mut table, &mut config.caller);
        table.finish();
    }
}

/// The tables of a list, each with its path.
fn tables<'a>(raw: Option<Raw<'a>>, name: &str, faults: &mut Vec<String>) -> Vec<(String, Raw<'a>)> {
    let Some(raw) = raw else { return Vec::new() };
    let Some(list) = json::elements(raw) else {
        faults.push(format!("`{name}` must be a list of tables"));
        return Vec::new();
    };
    let mut out = Vec::new();
    for (index, raw) in list.into_iter().enumerate() {
        out.push((format!("{name}[{index}]."), raw));
    }
    out
}

fn globs(table: &mut Table<'_, '_>, key: &'static str, into: &mut Vec<Glob>) {
    table.list(key, glob::EXPECTED, into, Glob::read);
}

/// Rules by their names; one that is unknown is told with the nearest that is.
pub(super) fn read_rules(table: &mut Table<'_, '_>, key: &'static str, into: &mut Rules) {
    let Some(raw) = table.table(key) else { return };
    let Some(names) = json::strings(raw) else {
        table.fault(key, "a list of names of rules");
        return;
    };
    for (index, name) in names.iter().enumerate() {
        match Rule::named(name) {
            Some(rule) => into.add(rule),
            None => {
                let known = Rule::NAMES.map(|(_, snake, _)| snake);
                let near = text::nearest(name, &known).map_or_else(|| text::joined(&known, ", "), ToString::to_string);
                table.fault(
                    &format!("{key}[{index}]"),
                    &format!("the name of a rule, not {}: {near}", Json::string(name).as_str()),
                );
            }
        }
    }
}

fn read_approval(raw: Raw<'_>, approval: &mut Approval, faults: &mut Vec<String>) {
    let mut table = Table::new(raw, "approval.".into(), faults);
    match table.members.get("require_approval").and_then(json::boolean) {
        Some(all) => {
            table.table("require_approval");
            approval.required.extend(Glob::read("*").filter(|_| all));
        }
        None => globs(&mut table, "require_approval", &mut approval.required),
    }
    table.read("timeout_secs", "a whole number from 10 to 300", &mut approval.timeout_ms, |raw| {
        whole(raw).filter(|seconds| (10..=300).contains(seconds)).map(|seconds| seconds * 1000)
    });
    table.read("timeout_fallback", "deny, skip, escalate or {escalate: {extra_timeout_secs}}", &mut approval.fallback, fallback);
    table.boolean("cache_approvals_per_session", &mut approval.cached_per_session);
    table.strings("trusted_senders", &mut approval.trusted_senders);
    table.optional("elicitation", "true or false", &mut approval.elicitation, json::boolean);
    let channel_rules = table.table("channel_rules");
    table.finish();
    for (path, raw) in tables(channel_rules, "approval.channel_rules", faults) {
        let mut table = Table::new(raw, path, faults);
        let mut rule = ChannelRule::default();
        table.string("channel", &mut rule.channel);
        globs(&mut table, "allowed_tools", &mut rule.allowed_tools);
        globs(&mut table, "denied_tools", &mut rule.denied_tools);
        table.needs("channel", rule.channel.is_empty());
        table.finish();
        approval.channel_rules.push(rule);
    }
}

fn whole(raw: Raw<'_>) -> Option<u64> {
    u64::try_from((json::kind(raw) == Kind::Number).then(|| json::integer(raw.get())).flatten()?).ok()
}

fn fallback(raw: Raw<'_>) -> Option<Fallback> {
    if let Some(mut members) = json::members(raw) {
        let mut inner = json::members(members.take("escalate")?)?;
        let extra = inner.take("extra_timeout_secs").map_or(Some(EXTRA_MS / 1000), whole)?;
        let known = members.is_empty() && inner.is_empty() && (1..=3600).contains(&extra);
        return known.then_some(Fallback::Escalate { extra_ms: extra * 1000 });
    }
    match json::string(raw)?.as_str() {
        "deny" => Some(Fallback::Deny),
        "skip" => Some(Fallback::Skip),
        "escalate" => Some(Fallback::Escalate { extra_ms: EXTRA_MS }),
        _ => None,
    }
}

fn read_agents(raw: Raw<'_>, policy: &mut Settings, faults: &mut Vec<String>) {
    let Some(members) = json::members(raw) else {
        faults.push("`agents` must be a table with a table for each agent".to_string());
        return;
    };
    for (name, raw) in members.iter() {
        let mut table = Table::new(raw, format!("agents.{name}."), faults);
        let mut agent = Agent { name: name.to_string(), ..Agent::default() };
        table.strings("mcp_servers", &mut agent.mcp_servers);
        table.boolean("mcp_disabled", &mut agent.mcp_disabled);
        table.strings("tags", &mut agent.tags);
        table.finish();
        policy.agents.push(agent);
    }
}

/// What is looked for in calls to one server, by its tools' own names.
pub(super) fn read_server_taint(
    raw: Raw<'_>,
    path: &str,
    rule_sets: &[RuleSet],
    taint: &mut ServerTaint,
    faults: &mut Vec<String>,
) {
    let mut table = Table::new(raw, path.to_string(), faults);
    let tools = table.table("tools");
    table.finish();
    let Some(raw) = tools else { return };
    let Some(members) = json::members(raw) else {
        faults.push(format!("`{path}tools` must be a table with a table for each tool"));
        return;
    };
    for (name, raw) in members.iter() {
        let path = format!("{path}tools.{name}.");
        let mut tool = ToolTaint { tool: name.to_string(), scanning: true, paths: Vec::new(), rule_sets: Vec::new() };
        let mut table = Table::new(raw, path.clone(), faults);
        table.read("default", "scan or skip", &mut tool.scanning, |raw| match json::string(raw)?.as_str() {
            "scan" => Some(true),
            "skip" => Some(false),
            _ => None,
        });
        table.list("rule_sets", "the name of a set of `taint_rules`", &mut tool.rule_sets, |name| {
            rule_sets.iter().any(|set| set.name == *name).then(|| name.to_string())
        });
        let mut paths = Members::default();
        table.read("paths", "a table with a table for each path", &mut paths, json::members);
        table.finish();
        for (place, raw) in paths.iter() {
            let mut table = Table::new(raw, format!("{path}paths.{place}."), faults);
            let mut rules = Rules::NONE;
            read_rules(&mut table, "skip_rules", &mut rules);
            table.finish();
            match PathPattern::read(place) {
                Some(pattern) => tool.paths.push((pattern, rules)),
                None => faults.push(format!("`{path}paths.{place}` must be {EXPECTED_PATH}")),
            }
        }
        taint.tools.push(tool);
    }
}

/// Writes what is looked for in calls to one server, where it is not as by default.
pub(super) fn write_server_taint(out: &mut Object, taint: &ServerTaint) {
    if !taint.scanning {
        out.boolean("taint_scanning", false);
    }
    if taint.tools.is_empty() {
        return;
    }
    let (mut section, mut tools) = (Object::new(), Object::new());
    for tool in &taint.tools {
        let (mut entry, mut paths) = (Object::new(), Object::new());
        for (pattern, rules) in &tool.paths {
            let mut place = Object::new();
            write_rules(&mut place, "skip_rules", *rules);
            paths.nested(pattern.as_str(), place);
        }
        entry.string("default", if tool.scanning { "scan" } else { "skip" }).nested("paths", paths);
        entry.strings("rule_sets", &tool.rule_sets);
        tools.nested(&tool.tool, entry);
    }
    section.nested("tools", tools);
    out.nested("taint_policy", section);
}

/// Over HTTP a caller is known by the principal alone, so that all tokens of one say the same.
pub(super) fn check_callers(config: &Config, faults: &mut Vec<String>) {
    for (index, token) in config.server.tokens.iter().enumerate() {
        let differs = |other: &Token| other.principal == token.principal && other.caller != token.caller;
        if config.server.tokens.iter().take(index).any(differs) {
            faults.push(format!(
                "`auth.tokens[{index}]` has another agent, sender or channel than an earlier token of {}",
                token.principal
            ));
        }
    }
}

/// Reads who a caller is out of a table that holds more than that.
pub(super) fn read_caller(table: &mut Table<'_, '_>, caller: &mut CallerConfig) {
    let text = |raw| json::string(raw).filter(|text| !text.trim().is_empty());
    table.optional("agent", "a string that is not empty", &mut caller.agent, text);
    table.optional("sender", "a string that is not empty", &mut caller.sender, text);
    table.optional("channel", "a string that is not empty", &mut caller.channel, text);
}

/// Writes who a caller is.
pub(super) fn write_caller(out: &mut Object, caller: &CallerConfig) {
    out.optional_string("agent", caller.agent.as_deref()).optional_string("sender", caller.sender.as_deref());
    out.optional_string("channel", caller.channel.as_deref());
}

fn write_globs(out: &mut Object, key: &str, globs: &[Glob]) {
    out.strings(key, globs.iter().map(Glob::as_str));
}

fn write_rules(out: &mut Object, key: &str, rules: Rules) {
    out.strings(key, rules.list().into_iter().map(Rule::name));
}

fn list<T>(items: &[T], write: impl Fn(&T, &mut Object)) -> Option<Json> {
    let mut out = Array::new();
    for item in items {
        let mut entry = Object::new();
        write(item, &mut entry);
        out.nested(entry);
    }
    (!items.is_empty()).then(|| out.finish())
}

fn write_approval(approval: &Approval) -> Json {
    let mut out = Object::new();
    write_globs(&mut out, "require_approval", &approval.required);
    out.integer("timeout_secs", approval.timeout_ms / 1000);
    match approval.fallback {
        Fallback::Deny => out.string("timeout_fallback", "deny"),
        Fallback::Skip => out.string("timeout_fallback", "skip"),
        Fallback::Escalate { extra_ms } => {
            let (mut fallback, mut escalate) = (Object::new(), Object::new());
            escalate.integer("extra_timeout_secs", extra_ms / 1000);
            fallback.nested("escalate", escalate);
            out.nested("timeout_fallback", fallback)
        }
    };
    out.boolean("cache_approvals_per_session", approval.cached_per_session);
    out.strings("trusted_senders", &approval.trusted_senders);
    if let Some(elicitation) = approval.elicitation {
        out.boolean("elicitation", elicitation);
    }
    let rules = list(&approval.channel_rules, |rule, out| {
        out.string("channel", &rule.channel);
        write_globs(out, "allowed_tools", &rule.allowed_tools);
        write_globs(out, "denied_tools", &rule.denied_tools);
    });
    out.optional_json("channel_rules", rules.as_ref());
    out.finish()
}

/// Writes the sections that are not as they are by default.
pub(super) fn write(config: &Config, out: &mut Object) {
    let policy = &config.policy;
    if policy.approval != Approval::default() {
        out.json("approval", &write_approval(&policy.approval));
    }
    let users = list(&policy.users, |user, out| {
        let mut own = Object::new();
        write_globs(&mut own, "allow", &user.allow);
        write_globs(&mut own, "deny", &user.deny);
        write_globs(&mut own, "needs_approval", &user.needs_approval);
        out.string("id", &user.id).nested("tool_policy", own);
    });
    out.optional_json("users", users.as_ref());
    if !policy.agents.is_empty() {
        let mut agents = Object::new();
        for agent in &policy.agents {
            let mut entry = Object::new();
            entry.strings("mcp_servers", &agent.mcp_servers).boolean("mcp_disabled", agent.mcp_disabled);
            entry.strings("tags", &agent.tags);
            agents.nested(&agent.name, entry);
        }
        out.nested("agents", agents);
    }
    let mutes = list(&policy.mutes, |mute, out| {
        out.string("tool", mute.tool.as_str());
        write_rules(out, "skip_rules", mute.rules);
    });
    out.optional_json("mcp_taint_policy", mutes.as_ref());
    let sets = list(&policy.rule_sets, |set, out| {
        out.string("name", &set.name).string("action", set.action.name());
        write_rules(out, "rules", set.rules);
    });
    out.optional_json("taint_rules", sets.as_ref());
    if let Some((_, name)) = Results::NAMES.iter().find(|(results, _)| *results == policy.results && *results != Results::Off) {
        let mut section = Object::new();
        section.string("results", name);
        out.nested("taint_policy", section);
    }
    if config.caller != CallerConfig::default() {
        let mut section = Object::new();
        write_caller(&mut section, &config.caller);
        out.nested("caller", section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        Config::from_json(text).map_or_else(|error| error.0, |_| Vec::new())
    }

    #[test]
    fn every_section_reads_back() {
        let text = r#"{
            "approval":{"require_approval":["mcp_a_*","mcp__b__c"],"timeout_secs":30,
                "timeout_fallback":{"escalate":{"extra_timeout_secs":7}},"cache_approvals_per_session":false,
                "trusted_senders":["ada"],"elicitation":true,
                "channel_rules":[{"channel":"chat","allowed_tools":["*"],"denied_tools":["x_*"]}]},
            "users":[{"id":"ada","tool_policy":{"allow":["*"],"deny":["a"],"needs_approval":["b"]}},{"id":"eve"}],
            "agents":{"cron":{"mcp_servers":["everyapi"],"tags":["hand:x"]},"default":{"mcp_disabled":true}},
            "mcp_taint_policy":[{"tool":"mcp__github__create_pr","skip_rules":["AuthorizationLiteral","pii_email"]}],
            "taint_rules":[{"name":"soft","action":"warn","rules":["OpaqueToken"]}],
            "taint_policy":{"results":"redact"},
            "caller":{"agent":"cron","sender":"ada","channel":"chat"},
            "auth":{"tokens":[{"token":"12345678","principal":"a","may_approve":true,"agent":"cron"}]}
        }"#;
        let config = Config::from_json(text).unwrap();
        let policy = &config.policy;
        assert_eq!(policy.approval.required[1].as_str(), "mcp__b__c");
        assert_eq!(policy.approval.fallback, Fallback::Escalate { extra_ms: 7000 });
        assert_eq!(policy.mutes[0].rules.list(), [Rule::AuthorizationLiteral, Rule::PiiEmail]);
        assert_eq!((policy.results, policy.agents.len(), policy.users.len()), (Results::Redact, 2, 2));
        assert!(config.server.tokens[0].may_approve);
        assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
    }

    #[test]
    fn words_stand_for_lists_and_for_the_usual() {
        let approval = |text: &str| Config::from_json(&format!(r#"{{"approval":{text}}}"#)).unwrap().policy.approval;
        assert_eq!(approval(r#"{"require_approval":true}"#).required, [Glob::read("*").unwrap()]);
        assert_eq!(approval(r#"{"require_approval":false}"#), Approval::default());
        for (word, want) in
            [("deny", Fallback::Deny), ("skip", Fallback::Skip), ("escalate", Fallback::Escalate { extra_ms: 120_000 })]
        {
            assert_eq!(approval(&format!(r#"{{"timeout_fallback":"{word}"}}"#)).fallback, want);
        }
    }

    #[test]
    fn every_fault_is_named_with_the_nearest_known_word() {
        let told = faults(
            r#"{"aproval":{},"approval":{"require_aproval":[],"require_approval":["a b","ok","?"],"timeout_secs":5,
            "timeout_fallback":"never","channel_rules":[{"denied_tools":"x"}]},"users":[{"tool_policy":[]},{"id":"ada"},{"id":"ada"}],"agents":{"x":{"mcp_server":[]}},
            "mcp_taint_policy":[{"skip_rules":["Nope","opaque_tokn"]}],"taint_rules":[{"name":"r","rules":["PiiEmail"]},{"name":"r","action":"log"}],"taint_policy":{"results":"all"},"auth":{"tokens":[{"token":"12345678","principal":"a"},
            {"token":"12345679","principal":"a","agent":"cron"}]}}"#,
        );
        for words in [
            "`aproval` is not a known key: did you mean `approval`?",
            "`approval.require_aproval` is not a known key: did you mean `require_approval`?",
            "`approval.require_approval[0]` must be 1 to 128 of A-Z, a-z, 0-9, _ and *, not \"a b\"",
            "`approval.require_approval[2]`",
            "`approval.timeout_secs` must be a whole number from 10 to 300",
            "`approval.timeout_fallback`",
            "`approval.channel_rules[0].channel` is missing",
            "`approval.channel_rules[0].denied_tools`",
            "`users[0].id` is missing",
            "`users[0].tool_policy` must be an object",
            "`agents.x.mcp_server` is not a known key: did you mean `mcp_servers`?",
            "`mcp_taint_policy[0].tool` is missing",
            "`mcp_taint_policy[0].skip_rules[0]` must be the name of a rule, not \"Nope\"",
            "not \"opaque_tokn\": opaque_token",
            "`users[2].id` is taken twice: ada",
            "`taint_rules[1].name` is taken twice: r",
            "`taint_rules[1].rules` is missing",
            "`taint_policy.results` must be off, warn or redact",
            "`auth.tokens[1]` has another agent, sender or channel",
        ] {
            assert!(told.iter().any(|fault| fault.contains(words)), "{words}: {told:#?}");
        }
        assert_eq!(faults(r#"{"taint_rules":{}}"#), ["`taint_rules` must be a list of tables"]);
    }
}
