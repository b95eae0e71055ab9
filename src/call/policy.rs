//! The policy at the one place where calls leave: who may call, what may not leave, and what waits for a person.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::approving::Approving;
use super::rounds::Rounds;
use super::{Run, Work};
use crate::config::{CallerConfig, Config, McpServer};
use crate::ground::Ground;
use crate::incoming::{is_http, principal_of};
use crate::io::Level;
use crate::json::{self, Array, Json, Object};
use crate::link::catalog::{LinkedTool, held_words};
use crate::link::wire::CallOrder;
use crate::mcp::outcome::{Code, ToolError};
use crate::policy::approvals::Proposal;
use crate::policy::evaluation::Risk;
use crate::policy::glob::Names;
use crate::policy::settings::{Results, ServerTaint};
use crate::policy::taint::{self, PathPattern, Scanned};
use crate::policy::{Action, Evaluation, Facts, Report, Rule, Rules, Verdict, canonical, evaluate};
use crate::redact::Secrets;
use crate::trace_context;

/// How much of a call a person is shown at once, in characters, and how much of that is its end.
const SUMMARY: usize = 2000;
const ENDING: usize = 400;

/// What the policy says of a call.
pub(super) enum Admitted {
    /// it goes out, with the approval that it used up
    Yes(Option<String>),
    /// it waits
    Waits(Box<Work>),
}

/// Holds a call to a server's tool against the policy, as it is sent: with its arguments and its `_meta`.
///
/// # Errors
/// It is refused.
pub(super) fn admit(
    run: &mut Run<'_>,
    tool: &Arc<LinkedTool>,
    order: &CallOrder,
    rounds: &Rounds,
) -> Result<Admitted, ToolError> {
    let approval = run.caller.approval.take();
    let admitted = decide(run, tool, order, approval.as_deref(), rounds);
    if let Some(id) = approval.filter(|_| admitted.is_err()) {
        run.ground.approvals.withdraw(&id);
    }
    admitted
}

/// What an approval is asked of: the policy, and the tool as it is described by the server as it is reached.
fn asked_of(config: &Config, tool: &LinkedTool) -> String {
    let server = config.mcp_servers.iter().find(|server| server.name == tool.server_name).map(McpServer::place);
    let server = server.unwrap_or_else(|| Array::new().finish());
    canonical::policy(&config.policy_json()) + &canonical::hash(&[server.as_str(), &tool.tool, tool.definition.as_str()])
}

/// All that a caller sends to a server.
pub(crate) struct Sent {
    /// the arguments
    pub(crate) arguments: Option<Json>,
    /// `{"_meta": {…}}`, where there is any
    pub(crate) envelope: Option<Json>,
}

/// `{"_meta": {…}}`, where there is any.
fn envelope(members: &[(String, Json)]) -> Option<Json> {
    let (mut meta, mut envelope) = (Object::new(), Object::new());
    meta.members(members);
    envelope.nested("_meta", meta);
    (!members.is_empty()).then(|| envelope.finish())
}

/// The digest of a call as it is sent. Which trace it belongs to is no part of it: the same call made once more is in
/// another one (W3C Trace Context).
pub(crate) fn digest(tool: &str, arguments: Option<&Json>, meta: &[(String, Json)]) -> String {
    let mut meta = meta.to_vec();
    meta.retain(|(name, _)| name != trace_context::PARENT && name != trace_context::STATE);
    canonical::digest(tool, arguments.map(Json::raw), envelope(&meta).as_ref().map(Json::raw))
}

/// What of a caller's `_meta` is sent: what it knows of other servers' and agents' credentials is not.
pub(crate) fn sent_meta(secrets: &Secrets, members: &[(String, Json)]) -> Vec<(String, Json)> {
    let mut meta = Object::new();
    meta.members(members);
    let meta = secrets.redact_json(meta.finish());
    meta.members().unwrap_or_default().keep()
}

fn decide(
    run: &mut Run<'_>,
    tool: &Arc<LinkedTool>,
    order: &CallOrder,
    approval: Option<&str>,
    rounds: &Rounds,
) -> Result<Admitted, ToolError> {
    let sent = Sent { arguments: order.arguments.clone(), envelope: envelope(&order.meta) };
    let caller = caller(run);
    let policy = || asked_of(&run.ground.config, tool);
    let approved_before = run.ground.approvals.remembers(run.scope_name, &tool.offered, &policy);
    let evaluation = evaluation(&run.ground.config, tool, &caller, approved_before);
    if let Verdict::Refused(reason) = &evaluation.verdict {
        return Err(ToolError::new(Code::Blocked, format!("{} was not called: {reason}", tool.offered)));
    }
    scan(run, tool, &sent)?;
    check_schema(tool, sent.arguments.as_ref())?;
    let asks = matches!(evaluation.verdict, Verdict::Ask { .. });
    if !asks && approval.is_none() && rounds.approval.is_none() {
        return Ok(Admitted::Yes(None));
    }
    let digest = digest(&tool.offered, order.arguments.as_ref(), &order.meta);
    let policy = asked_of(&run.ground.config, tool);
    if let Some(id) = &rounds.approval
        && run.ground.approvals.goes_on(id, rounds.number, &policy)
    {
        return Ok(Admitted::Yes(Some(id.clone())));
    }
    if let Some(id) = approval {
        let executed = run.ground.approvals.take(id, &digest, &policy);
        notice(run, "approval_executed", id);
        while let Some((session, tool)) = run.ground.approvals.take_forgotten() {
            let mut fields = Object::new();
            fields.string("session", &session).string("tool", &tool);
            run.ground.notice(Level::Notice, "approval_forgotten", fields);
        }
        return if executed {
            Ok(Admitted::Yes(Some(id.to_string())))
        } else {
            Err(ToolError::new(Code::ApprovalDenied, "the tool or the policy changed after the approval: call it once more"))
        };
    }
    if !asks {
        return Ok(Admitted::Yes(None));
    }
    let asker = principal_of(run.scope_name).filter(|_| !run.ground.config.server.tokens.is_empty());
    let proposal = Proposal {
        tool: tool.offered.clone(),
        server: tool.server_name.clone(),
        raw_tool: tool.tool.clone(),
        agent: caller.agent,
        session: run.scope_name.to_string(),
        sender: caller.sender,
        channel: caller.channel,
        asker: asker.unwrap_or_default().to_string(),
        risk: Risk::High,
        summary: summary(tool, &sent),
        digest,
        policy,
    };
    let (now, ground) = (run.ground.wall(), &mut *run.ground);
    let proposed = ground.approvals.propose(proposal, &ground.config.policy.approval, &mut ground.random, now);
    let id = proposed.map_err(|_| ToolError::new(Code::Busy, "too many calls wait for an approval: try again later"))?;
    notice(run, PROPOSED, &id);
    let work = Approving::start(run, id, sent.arguments.clone());
    Ok(Admitted::Waits(Box::new(Work::Approving(work))))
}

/// Whether a caller may call a tool at all, be it after a person said so.
pub(crate) fn may_call_tool(config: &Config, caller: &CallerConfig, tool: &LinkedTool) -> bool {
    !matches!(evaluation(config, tool, caller, false).verdict, Verdict::Refused(_))
}

/// The same of a tool that is known by its name alone, and by the server that it is taken for.
pub(crate) fn may_call(config: &Config, caller: &CallerConfig, name: &str, server: &str) -> bool {
    may_call_tool(config, caller, &LinkedTool { server_name: server.to_string(), ..LinkedTool::gone(name) })
}

/// What the policy says of a call, whatever its arguments are.
pub(crate) fn evaluation(config: &Config, tool: &LinkedTool, caller: &CallerConfig, approved_before: bool) -> Evaluation {
    if let Some(changed) = &tool.held {
        return Evaluation::refused("pin", held_words(&tool.server_name, changed));
    }
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
pub(crate) fn caller(run: &Run<'_>) -> CallerConfig {
    caller_of(&run.ground.config, run.scope_name, is_http(run.caller.peer))
}

/// Who calls from a scope: of the HTTP face, or of a peer that the host opened.
pub(crate) fn caller_of(config: &Config, scope_name: &str, is_http: bool) -> CallerConfig {
    if !is_http {
        return config.caller.clone();
    }
    let principal = principal_of(scope_name);
    let token = config.server.tokens.iter().find(|token| Some(token.principal.as_str()) == principal);
    token.map_or_else(CallerConfig::default, |token| token.caller.clone())
}

/// The notice that asks whoever decides.
const PROPOSED: &str = "approval_proposed";
/// The notice that asks once more.
pub(super) const ESCALATED: &str = "approval_escalated";
/// The notice that asks after a restart.
pub(crate) const PENDING: &str = "approval_pending";

/// Writes down how far a request for an approval has come.
pub(crate) fn notice(run: &mut Run<'_>, event: &'static str, id: &str) {
    note(run.ground, event, id);
}

/// The same where no call is at hand.
pub(crate) fn note(ground: &mut Ground, event: &'static str, id: &str) {
    let mut fields = Object::new();
    if let Some(request) = ground.approvals.get(id) {
        request.write(&mut fields);
        if event == PROPOSED || event == PENDING {
            fields.string("summary", &request.proposal.summary);
        }
        if [PROPOSED, ESCALATED, PENDING].contains(&event) && ground.config.server.tokens.is_empty() {
            fields.string("code", &request.code);
        }
        ground.notice(Level::Notice, event, fields);
    }
}

/// The call in words, without what may not be shown.
fn summary(tool: &LinkedTool, sent: &Sent) -> String {
    let mut text = format!("{} of {} with ", tool.tool, tool.server_name);
    text.push_str(&shown(sent.arguments.as_ref()));
    if sent.envelope.is_some() {
        text.push_str(" and ");
        text.push_str(&shown(sent.envelope.as_ref()));
    }
    shortened(text)
}

/// A text without its middle where it is too long. What is left out is counted, so that nobody takes the rest for the whole.
fn shortened(text: String) -> String {
    let length = text.chars().count();
    if length <= SUMMARY {
        return text;
    }
    let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    let (start, end) = (text.get(..at(SUMMARY - ENDING)), text.get(at(length - ENDING)..));
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    format!("{start}… [{} characters are not shown here] …{end}", length - SUMMARY)
}

/// A value of a call as people may see it.
fn shown(value: Option<&Json>) -> String {
    spelled(&value.map_or_else(|| "{}".to_string(), |value| without_secrets(value.clone()).into_string()))
}

/// A text in which everything can be seen: what cannot is written out, as JSON does it.
fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if taint::is_unseen(char) {
            let mut units = [0; 2];
            char.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    out
}

/// A value without what may not be shown.
pub(crate) fn without_secrets(value: Json) -> Json {
    taint::redacted_json(value.raw(), Rules::ALL).map_or(value, |(json, _)| json)
}

/// Members of `_meta` whose values are ids by design (W3C Trace Context, Baggage).
const TRACES: [&str; 3] = ["$._meta.traceparent", "$._meta.tracestate", "$._meta.baggage"];

fn scan(run: &mut Run<'_>, tool: &LinkedTool, sent: &Sent) -> Result<(), ToolError> {
    let report = findings(&run.ground.config, tool, sent);
    let words = format!("{} was not called", tool.offered);
    tell(run.ground, &tool.offered, [&words, "its arguments"], report)
}

/// Holds what a client answered to a server's question against the rules for what leaves for that server.
///
/// # Errors
/// It may not leave.
pub(super) fn scan_answer(run: &mut Run<'_>, tool: &LinkedTool, answer: &Json) -> Result<(), ToolError> {
    let report = findings(&run.ground.config, tool, &Sent { arguments: Some(answer.clone()), envelope: None });
    let words = format!("MCP server '{}' was not answered", tool.server_name);
    tell(run.ground, &tool.offered, [&words, "what the client said"], report)
}

/// What fires in a call, as it is sent.
pub(crate) fn findings(config: &Config, tool: &LinkedTool, sent: &Sent) -> Report {
    let names = Names { offered: &tool.offered, composed: &tool.composed };
    let own = ServerTaint::default();
    let server = config.mcp_servers.iter().find(|server| server.name == tool.server_name);
    let scanned = config.policy.scanned(names, &tool.tool, server.map_or(&own, |server| &server.taint));
    let mut report = sent.arguments.as_ref().map(|arguments| taint::check(arguments.raw(), &scanned)).unwrap_or_default();
    if let Some(envelope) = &sent.envelope {
        let mut paths = scanned.paths.to_vec();
        paths.extend(TRACES.iter().filter_map(|path| Some((PathPattern::read(path)?, Rules::only(Rule::OpaqueToken)))));
        let more = taint::check(envelope.raw(), &Scanned { paths: &paths, ..scanned });
        report.findings.extend(more.findings);
        report.too_deep = report.too_deep.or(more.too_deep);
    }
    report
}

/// Writes down what was found and may leave all the same. `words` say what was not done, and with what.
///
/// # Errors
/// It may not leave.
pub(super) fn tell(ground: &mut Ground, tool: &str, words: [&str; 2], report: Report) -> Result<(), ToolError> {
    if report.blocks() {
        return Err(blocked(words, &report));
    }
    for finding in report.findings {
        let mut fields = Object::new();
        fields.string("tool", tool).string("path", &finding.path).string("rule", finding.rule.name());
        let level = if finding.action == Action::Log { Level::Info } else { Level::Warning };
        ground.notice(level, "taint", fields);
    }
    Ok(())
}

/// The error that names what may not leave.
pub(crate) fn blocked([refused, what]: [&str; 2], report: &Report) -> ToolError {
    if let Some(path) = &report.too_deep {
        let message = format!("{refused}: {what} is nested deeper than {} at {path}", taint::DEPTH);
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
    let message = format!("{refused}: something in {what} may not leave: {}", crate::text::joined(&words, ", "));
    ToolError::new(Code::Blocked, message).with("findings", list.finish())
}

/// The arguments have what the tool's schema says that they must have.
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

/// The error of a call in whose words a server may be quoted, where results are looked at.
pub(crate) fn inbound_error(ground: &mut Ground, names: Names<'_>, mut error: ToolError) -> ToolError {
    let policy = &ground.config.policy;
    let results = policy.results;
    if results == Results::Off {
        return error;
    }
    let Some((redacted, fired)) = taint::redacted(&error.message, Rules::ALL.without(policy.muted(names))) else { return error };
    let mut fields = Object::new();
    fields.string("tool", names.offered).strings("rules", fired.list().into_iter().map(Rule::name));
    ground.notice(Level::Warning, "taint_result", fields);
    if results == Results::Redact {
        error.message = redacted;
    }
    error
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
