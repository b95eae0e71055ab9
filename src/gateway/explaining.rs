//! What the policy would say of a call that nobody makes, with every rule that it looks at.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Gateway;
use crate::call::policy;
use crate::config::CallerConfig;
use crate::json::{self, Array, Json, Kind, Object};
use crate::link::catalog::LinkedTool;
use crate::link::naming;
use crate::list::gather;
use crate::policy::evaluation::Step;
use crate::policy::{Evaluation, Verdict};
use crate::text;
use crate::tools::call_tool::CALL_TOOL;
use crate::tools::own;

/// Nesting of a question: deeper arguments than the scan looks at are told as such.
const DEPTH: u32 = 1 << 10;
/// What a question may have.
const KEYS: [&str; 6] = ["tool", "agent", "sender", "channel", "approved_before", "arguments"];

/// A call that nobody makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// the name of the tool
    pub tool: String,
    /// who would call; what is absent is as the configuration's `caller` says
    pub caller: CallerConfig,
    /// whether the tool was approved in the caller's session before
    pub approved_before: bool,
    /// what it would be called with; the scan is left out where it is absent
    pub arguments: Option<Json>,
}

impl Question {
    /// Reads a question: an object with `tool`, and where they are known `agent`, `sender`, `channel`, `approved_before`
    /// and `arguments`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let raw = json::parse(text, DEPTH).map_err(|_| "the question is no JSON, or nested too deep".to_string())?;
        let members = json::members(raw).ok_or_else(|| "the question must be an object".to_string())?;
        if let Some((name, _)) = members.iter().find(|(name, _)| !KEYS.contains(name)) {
            return Err(format!("`{name}` is no part of a question: {}", text::joined(&KEYS, ", ")));
        }
        let tool = members.string("tool").ok_or_else(|| "`tool` must be a string".to_string())?;
        let arguments = members.get("arguments");
        if arguments.is_some_and(|raw| json::kind(raw) != Kind::Object) {
            return Err("`arguments` must be an object".to_string());
        }
        let caller =
            CallerConfig { agent: members.string("agent"), sender: members.string("sender"), channel: members.string("channel") };
        let approved_before = members.get("approved_before").and_then(json::boolean).unwrap_or(false);
        Ok(Self { tool, caller, approved_before, arguments: arguments.map(Json::from_raw) })
    }
}

/// A tool that the call may mean.
struct Candidate {
    tool: Arc<LinkedTool>,
    is_listed: bool,
}

impl Gateway {
    /// What the policy would say of a call, by the functions that every call is held against: `tool`, `answers` with
    /// `server`, `raw_tool`, `verdict` and `trace` for each tool that may be meant, and `unknown`, sentences about what
    /// decides as well and cannot be told now. Of a server that has not listed its tools the configuration alone is known.
    #[must_use]
    pub fn explain(&self, question: &Question) -> Json {
        let (mut out, mut answers, mut unknown) = (Object::new(), Array::new(), Vec::new());
        out.string("tool", &question.tool);
        let candidates = self.candidates(&question.tool);
        for candidate in &candidates {
            answers.nested(self.explained(candidate, question, &mut unknown));
        }
        if candidates.is_empty() {
            answers.nested(self.not_linked(&question.tool, &mut unknown));
        }
        out.nested("answers", answers).strings("unknown", &unknown);
        out.finish()
    }

    /// The tool of that name; where none is listed, what it would be of the servers whose tools are not known.
    fn candidates(&self, name: &str) -> Vec<Candidate> {
        if own(&self.ground.config, name).is_some() {
            return Vec::new();
        }
        if let Some(tool) = self.ground.catalog.find(name) {
            return Vec::from([Candidate { tool: tool.clone(), is_listed: true }]);
        }
        let mut found = Vec::new();
        for (server, prefix) in self.links.unlisted() {
            let Some(rest) = name.strip_prefix(prefix.as_str()) else { continue };
            // The scan's exceptions go by the tool's own name, which may be one of those that the configuration has.
            let own = server.taint.tools.iter().find(|tool| naming::normalised(&tool.tool) == rest);
            let tool = own.map_or(rest, |own| own.tool.as_str()).to_string();
            let tool = Arc::new(LinkedTool { server_name: server.name.clone(), tool, ..LinkedTool::gone(name) });
            found.push(Candidate { tool, is_listed: false });
        }
        found
    }

    /// What is to be said of a name that no server stands behind.
    fn not_linked(&self, name: &str, unknown: &mut Vec<String>) -> Object {
        let (verdict, outcome, rule) = if own(&self.ground.config, name).is_some() {
            unknown.push(match name {
                CALL_TOOL => "which tool it calls: that one is held against the policy under its own name".to_string(),
                _ => "what is in a message to an agent: it is scanned for secrets when it is sent".to_string(),
            });
            (Verdict::Run, "pass", "a tool of the gateway itself, which needs no approval".to_string())
        } else {
            let near = self.ground.catalog.near(name, &|_| true);
            let near = if near.is_empty() { String::new() } else { format!("; offered are {}", text::joined(&near, ", ")) };
            let rule = format!("no server offers a tool of that name{near}");
            (Verdict::Refused(rule.clone()), "deny", rule)
        };
        let mut out = Object::new();
        Evaluation { verdict, trace: Vec::from([Step { gate: "name", outcome, rule }]) }.write(&mut out);
        out
    }

    fn explained(&self, candidate: &Candidate, question: &Question, unknown: &mut Vec<String>) -> Object {
        let (config, tool) = (&self.ground.config, &candidate.tool);
        let or = |given: &Option<String>, configured: &Option<String>| given.clone().or_else(|| configured.clone());
        let caller = CallerConfig {
            agent: or(&question.caller.agent, &config.caller.agent),
            sender: or(&question.caller.sender, &config.caller.sender),
            channel: or(&question.caller.channel, &config.caller.channel),
        };
        let mut evaluation = policy::evaluation(config, tool, &caller, question.approved_before);
        let server = &tool.server_name;
        let (outcome, rule) = if candidate.is_listed {
            ("pass", format!("{server} lists it as {}", tool.tool))
        } else {
            unknown.push(format!("whether {server} has such a tool, and what its schema asks for: it has listed none yet"));
            ("unknown", format!("it would be a tool of {server}"))
        };
        evaluation.trace.insert(0, Step { gate: "name", outcome, rule });
        match &question.arguments {
            _ if matches!(evaluation.verdict, Verdict::Refused(_)) => {}
            Some(arguments) => self.look_into(tool, arguments, &mut evaluation),
            None => unknown.push("what the scan finds in the arguments: none were given".to_string()),
        }
        if evaluation.verdict == (Verdict::Ask { force_human: false }) && config.policy.approval.cached_per_session {
            unknown.push("whether the caller's session approved the tool before: it would run then".to_string());
        }
        let mut out = Object::new();
        out.string("server", server);
        out.optional_string("raw_tool", candidate.is_listed.then_some(tool.tool.as_str()));
        evaluation.write(&mut out);
        out
    }

    /// Adds what the scan and the tool's schema say of the arguments.
    fn look_into(&self, tool: &LinkedTool, arguments: &Json, evaluation: &mut Evaluation) {
        let sent = policy::Sent { arguments: Some(arguments.clone()), envelope: None };
        let report = policy::findings(&self.ground.config, tool, &sent);
        let schema = policy::check_schema(tool, Some(arguments)).err();
        let found = gather(report.findings.iter().map(|it| format!("{} ({})", it.path, it.rule.name())));
        let (gate, outcome, rule) = if report.blocks() {
            (
                "scan",
                "deny",
                policy::blocked([&format!("{} was not called", tool.offered), "its arguments"], &report).into_message(),
            )
        } else if let Some(error) = schema {
            ("schema", "deny", error.into_message())
        } else if found.is_empty() {
            ("scan", "pass", "nothing in the arguments fires".to_string())
        } else {
            ("scan", "pass", format!("it may leave all the same: {}", text::joined(&found, ", ")))
        };
        if outcome == "deny" {
            evaluation.verdict = Verdict::Refused(rule.clone());
        }
        evaluation.trace.push(Step { gate, outcome, rule });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::gateway::Genesis;
    use crate::time::{Instant, WallTime};

    const CONFIG: &str = r#"{"mcp_servers":[
        {"name":"everyapi","transport":{"type":"http","url":"https://a.example/mcp"}},
        {"name":"everyapi-x","transport":{"type":"http","url":"https://b.example/mcp"},
         "taint_policy":{"tools":{"Y":{"default":"scan","rule_sets":["soft"]}}}}],
        "taint_rules":[{"name":"soft","action":"warn","rules":["PiiEmail"]}],
        "agents":{"default":{"mcp_servers":["*"]},"cron":{"mcp_servers":["everyapi"]}},
        "users":[{"id":"ada"}],
        "approval":{"require_approval":["mcp_everyapi_add_*"],"channel_rules":[{"channel":"web","denied_tools":["*_add_*"]}]},
        "caller":{"sender":"ada"}}"#;

    fn explained(question: &str) -> String {
        let genesis = Genesis { seed: [1; 32], now: Instant::from_ms(0), unix_ms: WallTime(0) };
        let gateway = Gateway::new(genesis, Config::from_json(CONFIG).unwrap());
        gateway.explain(&Question::read(question).unwrap()).into_string()
    }

    /// The gates with their outcomes, and the verdict, of every answer.
    fn outcomes(question: &str) -> Vec<String> {
        let text = explained(question);
        let answers = Json::parse(&text, 16).unwrap();
        let answers = json::elements(answers.members().unwrap().get("answers").unwrap()).unwrap();
        let told = answers.iter().map(|answer| {
            let answer = json::members(*answer).unwrap();
            let trace = json::elements(answer.get("trace").unwrap()).unwrap();
            let steps = trace.iter().map(|step| {
                let step = json::members(*step).unwrap();
                format!("{}={}", step.string("gate").unwrap(), step.string("outcome").unwrap())
            });
            let steps: Vec<_> = steps.collect();
            format!("{}: {}", answer.string("verdict").unwrap(), steps.join(" "))
        });
        told.collect()
    }

    #[test]
    fn every_gate_is_told_up_to_the_one_that_decides() {
        let asks = "ask: name=unknown agent=pass channel=pass user=pass approval=needed waiver=ask";
        assert_eq!(outcomes(r#"{"tool":"mcp_everyapi_add_key"}"#), [asks]);
        let text = explained(r#"{"tool":"mcp_everyapi_add_key"}"#);
        for words in [
            r"`approval.require_approval` has mcp_everyapi_add_*",
            "whether everyapi has such a tool",
            "what the scan finds in the arguments",
            "whether the caller's session approved the tool before",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let runs = "run: name=unknown agent=pass channel=pass user=pass approval=needed waiver=auto_approved";
        assert_eq!(outcomes(r#"{"tool":"mcp_everyapi_add_key","approved_before":true}"#), [runs]);
        let denied = "refused: name=unknown agent=pass channel=deny";
        assert_eq!(outcomes(r#"{"tool":"mcp_everyapi_add_key","channel":"web"}"#), [denied]);
        let stranger = "ask: name=unknown agent=pass channel=pass user=force_human approval=needed waiver=ask";
        assert_eq!(outcomes(r#"{"tool":"mcp_everyapi_list","sender":"eve"}"#), [stranger]);
    }

    #[test]
    fn a_name_that_two_servers_may_mean_is_held_against_the_policy_of_each() {
        let both = outcomes(r#"{"tool":"mcp_everyapi_x_y","agent":"cron","arguments":{"to":"ada@example.com"}}"#);
        let first = "refused: name=unknown agent=pass channel=pass user=pass approval=not_needed scan=deny";
        assert_eq!(both, [first, "refused: name=unknown agent=deny"]);
        let soft = outcomes(r#"{"tool":"mcp_everyapi_x_y","arguments":{"to":"ada@example.com"}}"#);
        assert_eq!(soft[1], "run: name=unknown agent=pass channel=pass user=pass approval=not_needed scan=pass");
    }

    #[test]
    fn own_tools_run_and_others_are_refused() {
        assert_eq!(outcomes(r#"{"tool":"send_message"}"#), ["run: name=pass"]);
        assert_eq!(outcomes(r#"{"tool":"mcp_other_x"}"#), ["refused: name=deny"]);
    }

    #[test]
    fn a_question_that_is_none_is_told() {
        for (question, words) in [
            ("[]", "must be an object"),
            ("{", "is no JSON"),
            ("{}", "`tool` must be a string"),
            (r#"{"tool":"x","sendr":"a"}"#, "`sendr` is no part of a question"),
            (r#"{"tool":"x","arguments":[]}"#, "`arguments` must be an object"),
        ] {
            let fault = Question::read(question).unwrap_err();
            assert!(fault.contains(words), "{fault}");
        }
    }
}
