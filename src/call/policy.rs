//! The policy at the one place where calls leave: who may call, what may not leave, and what waits for a person.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::approving::Approving;
use super::{Run, Work};
use crate::config::{CallerConfig, Config};
use crate::incoming::{is_http, principal_of};
use crate::io::Level;
use crate::json::{self, Array, Json, Object, Raw};
use crate::link::catalog::LinkedTool;
use crate::mcp::outcome::{Code, ToolError};
use crate::policy::approvals::Proposal;
use crate::policy::evaluation::Risk;
use crate::policy::glob::Names;
use crate::policy::settings::{Results, ServerTaint};
use crate::policy::taint::{self, PathPattern, Scanned};
use crate::policy::{Action, Evaluation, Facts, Report, Rule, Rules, Verdict, canonical, evaluate};

/// How much of a call a person is shown.
const SUMMARY: usize = 2000;

/// What the policy says of a call.
pub(super) enum Admitted {
    /// it goes out, with the approval that it used up
    Yes(Option<String>),
    /// it waits
    Waits(Box<Work>),
}

/// Holds a call to a server's tool against the policy, with its arguments as they are sent.
///
/// # Errors
/// It is refused.
pub(super) fn admit(run: &mut Run<'_>, tool: &Arc<LinkedTool>, arguments: Option<&Json>) -> Result<Admitted, ToolError> {
    let approval = run.caller.approval.take();
    let admitted = decide(run, tool, arguments, approval.as_deref());
    if let Some(id) = approval.filter(|_| admitted.is_err()) {
        run.ground.approvals.withdraw(&id);
    }
    admitted
}

fn decide(
    run: &mut Run<'_>,
    tool: &Arc<LinkedTool>,
    arguments: Option<&Json>,
    approval: Option<&str>,
) -> Result<Admitted, ToolError> {
    let caller = caller(run);
    let approved_before = run.ground.approvals.remembers(run.scope_name, &tool.offered);
    let evaluation = evaluation(&run.ground.config, tool, &caller, approved_before);
    if let Verdict::Refused(reason) = &evaluation.verdict {
        return Err(ToolError::new(Code::Blocked, format!("{} was not called: {reason}", tool.offered)));
    }
    scan(run, tool, arguments)?;
    check_schema(tool, arguments)?;
    let digest = canonical::digest(&tool.offered, arguments.map(Json::raw));
    let policy = canonical::hash(&[run.ground.config.policy_json().as_str(), tool.definition.as_str()]);
    if let Some(id) = approval {
        let executed = run.ground.approvals.take(id, &digest, &policy);
        notice(run, "approval_executed", id);
        return if executed {
            Ok(Admitted::Yes(Some(id.to_string())))
        } else {
            Err(ToolError::new(Code::ApprovalDenied, "the tool or the policy changed after the approval: call it once more"))
        };
    }
    match evaluation.verdict {
        Verdict::Ask { .. } => {}
        Verdict::Run | Verdict::Refused(_) => return Ok(Admitted::Yes(None)),
    }
    let asker = match principal_of(run.scope_name).filter(|_| !run.ground.config.server.tokens.is_empty()) {
        Some(principal) => principal.to_string(),
        None => run.scope_name.to_string(),
    };
    let proposal = Proposal {
        tool: tool.offered.clone(),
        server: tool.server_name.clone(),
        raw_tool: tool.tool.clone(),
        agent: caller.agent,
        session: run.scope_name.to_string(),
        sender: caller.sender,
        channel: caller.channel,
        asker,
        risk: Risk::High,
        summary: summary(tool, arguments),
        digest,
        policy,
    };
    let (now, ground) = (run.ground.wall(), &mut *run.ground);
    let proposed = ground.approvals.propose(proposal, &ground.config.policy.approval, &mut ground.random, now);
    let id = proposed.map_err(|_| ToolError::new(Code::Busy, "too many calls wait for an approval: try again later"))?;
    notice(run, PROPOSED, &id);
    let work = Approving::start(run, id, arguments.cloned());
    Ok(Admitted::Waits(Box::new(Work::Approving(work))))
}

/// What the policy says of a call, whatever its arguments are.
pub(crate) fn evaluation(config: &Config, tool: &LinkedTool, caller: &CallerConfig, approved_before: bool) -> Evaluation {
    let facts = Facts {
        names: Names { offered: &tool.offered, composed: &tool.composed },
        server: &tool.server_name,
        agent: caller.agent.as_deref(),
        sender: caller.sender.as_deref(),
        channel: caller.channel.as_deref(),
        approved_before,
    };
    evaluate(&config.policy, &facts)
}

/// Who calls: of a peer that the host opened the host says it, of one that came over HTTP its token.
fn caller(run: &Run<'_>) -> CallerConfig {
    let config = &run.ground.config;
    if !is_http(run.caller.peer) {
        return config.caller.clone();
    }
    let principal = principal_of(run.scope_name);
    let token = config.server.tokens.iter().find(|token| Some(token.principal.as_str()) == principal);
    token.map_or_else(CallerConfig::default, |token| token.caller.clone())
}

/// The notice that asks whoever decides.
const PROPOSED: &str = "approval_proposed";

/// Writes down how far a request for an approval has come.
pub(crate) fn notice(run: &mut Run<'_>, event: &'static str, id: &str) {
    let mut fields = Object::new();
    if let Some(request) = run.ground.approvals.get(id) {
        request.write(&mut fields);
        if event == PROPOSED {
            fields.string("summary", &request.proposal.summary);
        }
        run.ground.notice(Level::Notice, event, fields);
    }
}

/// The call in words, without what may not be shown.
fn summary(tool: &LinkedTool, arguments: Option<&Json>) -> String {
    let clean = arguments.and_then(|arguments| taint::redacted_json(arguments.raw(), Rules::ALL)).map(|(json, _)| json);
    let shown = clean.as_ref().or(arguments).map_or("{}", Json::as_str);
    let text = format!("{} of {} with {shown}", tool.tool, tool.server_name);
    text.char_indices().nth(SUMMARY).map_or_else(|| text.clone(), |(at, _)| format!("{}…", text.get(..at).unwrap_or_default()))
}

fn scan(run: &mut Run<'_>, tool: &LinkedTool, arguments: Option<&Json>) -> Result<(), ToolError> {
    let Some(arguments) = arguments else { return Ok(()) };
    let report = findings(&run.ground.config, tool, arguments);
    tell(run, &tool.offered, report)
}

/// What fires in the arguments of a call.
pub(crate) fn findings(config: &Config, tool: &LinkedTool, arguments: &Json) -> Report {
    let names = Names { offered: &tool.offered, composed: &tool.composed };
    let own = ServerTaint::default();
    let server = config.mcp_servers.iter().find(|server| server.name == tool.server_name);
    let scanned = config.policy.scanned(names, &tool.tool, server.map_or(&own, |server| &server.taint));
    taint::check(arguments.raw(), &scanned)
}

/// Writes down what was found and may leave all the same.
///
/// # Errors
/// It may not leave.
fn tell(run: &mut Run<'_>, tool: &str, report: Report) -> Result<(), ToolError> {
    if report.blocks() {
        return Err(blocked(tool, &report));
    }
    for finding in report.findings {
        let mut fields = Object::new();
        fields.string("tool", tool).string("path", &finding.path).string("rule", finding.rule.name());
        let level = if finding.action == Action::Log { Level::Info } else { Level::Warning };
        run.ground.notice(level, "taint", fields);
    }
    Ok(())
}

/// The error that names what may not leave.
pub(crate) fn blocked(tool: &str, report: &Report) -> ToolError {
    if let Some(path) = &report.too_deep {
        let message = format!("{tool} was not called: the arguments are nested deeper than {} at {path}", taint::DEPTH);
        return ToolError::new(Code::Blocked, message);
    }
    let (mut words, mut list) = (Vec::new(), Array::new());
    for finding in report.findings.iter().filter(|finding| finding.action == Action::Block) {
        let mut entry = Object::new();
        entry.string("path", &finding.path).string("rule", finding.rule.name());
        list.nested(entry);
        words.push(format!("{} ({})", finding.path, finding.rule.name()));
    }
    words.truncate(10);
    let message =
        format!("{tool} was not called: something in its arguments may not leave: {}", crate::text::joined(&words, ", "));
    ToolError::new(Code::Blocked, message).with("findings", list.finish())
}

/// The arguments have what the tool's schema says that they must have.
///
/// # Errors
/// They lack something.
pub(crate) fn check_schema(tool: &LinkedTool, arguments: Option<&Json>) -> Result<(), ToolError> {
    let definition = tool.definition.members().unwrap_or_default();
    let schema = definition.get("inputSchema").and_then(json::members).unwrap_or_default();
    let given = arguments.and_then(Json::members).unwrap_or_default();
    for name in schema.get("required").and_then(json::strings).unwrap_or_default() {
        if !given.has(&name) {
            let message = format!("`{name}` is missing: {} of {} requires it", tool.tool, tool.server_name);
            return Err(ToolError::new(Code::InvalidArgument, message));
        }
    }
    Ok(())
}

/// A result as it is passed on, where results are looked at.
pub(super) fn inbound(run: &mut Run<'_>, tool: &LinkedTool, raw: Json) -> Json {
    let policy = &run.ground.config.policy;
    let results = policy.results;
    if results == Results::Off {
        return raw;
    }
    let names = Names { offered: &tool.offered, composed: &tool.composed };
    let Some((redacted, fired)) = taint::redacted_json(raw.raw(), Rules::ALL.without(policy.muted(names))) else { return raw };
    let mut fields = Object::new();
    fields.string("tool", &tool.offered).strings("rules", fired.list().into_iter().map(Rule::name));
    run.ground.notice(Level::Warning, "taint_result", fields);
    if results == Results::Redact { redacted } else { raw }
}

/// Tools of the gateway that send what their caller writes to agents.
const SENDING: [&str; 2] = ["send_message", "broadcast_message"];
/// What they send.
const SENT: [&str; 3] = ["message", "parts", "metadata"];

/// Holds a message to agents against the rules that look for secrets.
///
/// # Errors
/// It may not leave.
pub(crate) fn check_message(run: &mut Run<'_>, tool: &str, arguments: Option<Raw<'_>>) -> Result<(), ToolError> {
    let Some(members) = arguments.and_then(json::members).filter(|_| SENDING.contains(&tool)) else { return Ok(()) };
    let mut sent = Object::new();
    for name in SENT {
        if let Some(raw) = members.get(name) {
            sent.json(name, &Json::from_raw(raw));
        }
    }
    let names = Names { offered: tool, composed: tool };
    // The bytes of a file are no token.
    let paths: Vec<_> =
        PathPattern::read("$.parts[*].raw").map(|path| (path, Rules::only(Rule::OpaqueToken))).into_iter().collect();
    let rules = Rules::SECRETS.without(run.ground.config.policy.muted(names));
    let report = taint::check(sent.finish().raw(), &Scanned { rules, paths: &paths, actions: Vec::new() });
    tell(run, tool, report)
}
