//! connect_agent.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bucket::{MOST_BURST, RPS_RANGE, Rate};
use crate::call::Run;
use crate::call::connect::Connect;
use crate::config::ExternalAgent;
use crate::http;
use crate::json::Json;
use crate::list::gather;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::redact::Secrets;
use crate::redirect::{self, Reach};
use crate::registry::Registration;
use crate::text;
use crate::url::Url;

/// How many header fields an alias may have.
const HEADERS: usize = 20;
/// How many bytes they may have: as many as `header_bytes` lets others send.
const HEADER_BYTES: u64 = 64 << 10;
/// How long an alias may be.
const ALIAS: u64 = 64;
/// How long a ping endpoint may be, in bytes.
const PING_BYTES: usize = 256;

/// The tool.
pub(crate) const TOOL: Tool = Tool {
    name: "connect_agent",
    title: "Connect agent",
    description: "Registers an A2A agent under an alias and reads its card, so that send_message can reach it. An alias that exists is replaced. Credentials go into headers; they are sent to this agent's origin only.",
    input: r#"{"type":"object","properties":{"alias":{"type":"string","description":"1 to 64 of a-z, 0-9 and -"},"agent_url":{"type":"string","description":"absolute http(s) URL"},"headers":{"type":"object","additionalProperties":{"type":"string"}},"rate_limit_rps":{"type":"number","minimum":0,"description":"sends a second, 0 for no limit; with rate_limit_burst"},"rate_limit_burst":{"type":"integer","minimum":0},"ping_endpoint":{"type":"string","description":"path for ping_agent, default the card"}},"required":["alias","agent_url"],"additionalProperties":false}"#,
    output: output!(
        r#""alias":{"type":"string"},"url":{"type":"string"},"replaced":{"type":"boolean"},"card":{"anyOf":[{"type":"object","properties":{"name":{"type":"string"},"version":{"type":"string"},"protocol_version":{"type":"string"},"transport":{"type":"string"},"streaming":{"type":"boolean"},"skills":{"type":"array","items":{"type":"string"}}}},{"type":"null"}]},"card_error":{"type":"string"}"#,
        r#""alias","url","replaced","card""#
    ),
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let alias = arguments.required_string("alias");
    let url = arguments.required_string("agent_url");
    let headers = arguments.string_map("headers").unwrap_or_default();
    let rps = arguments.rate("rate_limit_rps");
    let burst = arguments.integer("rate_limit_burst", i64::MIN);
    let ping_endpoint = arguments.string("ping_endpoint");
    arguments.finish()?;
    check_alias(&alias)?;
    let url = Url::parse(&url).map_err(|fault| invalid(format!("`agent_url` {fault}")))?;
    check_headers(&headers)?;
    let rate = rate(rps, burst)?.or(run.ground.config.rate_limit).unwrap_or(Rate { micro_rps: 0, burst: 0 });
    if let Some(path) = &ping_endpoint {
        check_ping(path, &url)?;
    }
    let remarks = gather([kept_secret(&headers), dropped_by_browsers(&headers)].into_iter().flatten());
    let remark = (!remarks.is_empty()).then(|| text::joined(&remarks, " "));
    register(run, &alias, Registration { url, headers, rate, ping_endpoint }, remark)
}

/// Connects an agent of the configuration.
///
/// # Errors
/// Where its address is not called, or the scope is full.
pub(crate) fn connect_external(run: &mut Run<'_>, agent: &ExternalAgent) -> Result<Started, ToolError> {
    run.scope.learn(&run.ground.config.mcp_servers, |secrets| {
        agent.headers.iter().for_each(|(name, value)| secrets.learn(name, value))
    });
    let rate = run.ground.config.rate_limit.unwrap_or(Rate { micro_rps: 0, burst: 0 });
    let registration = Registration { url: agent.url.clone(), headers: agent.headers.clone(), rate, ping_endpoint: None };
    register(run, &agent.name, registration, None)
}

/// Registers an agent whose values are checked, and looks for its card.
fn register(run: &mut Run<'_>, alias: &str, registration: Registration, remark: Option<String>) -> Result<Started, ToolError> {
    let allow_private = run.ground.config.network.allows_private(registration.url.host());
    let reach = Reach { allow_private, named_by_public: false };
    redirect::permit(&registration.url, reach)
        .map_err(|why| ToolError::new(Code::Blocked, format!("`agent_url` is not called: {why}")))?;
    let limit = run.ground.config.limits.agents_per_scope;
    if run.scope.registry.get(alias).is_none() && run.scope.registry.len() >= limit {
        let message = format!("there are {limit} agents already, as many as agents_per_scope allows: disconnect one first");
        return Err(ToolError::new(Code::Busy, message).with("limit", Json::string("agents_per_scope")));
    }
    let now = run.ground.now;
    let replaced = run.scope.registry.register(alias, registration, now);
    Connect::start(run, alias, replaced, remark)
}

fn invalid(message: String) -> ToolError {
    ToolError::new(Code::InvalidArgument, message)
}

/// Whether a text may be an alias; what is wrong otherwise.
pub(crate) fn check_alias(alias: &str) -> Result<(), ToolError> {
    let length = text::code_points(alias);
    if length == 0 || length > ALIAS {
        return Err(invalid(format!("`alias` has {length} characters; 1 to {ALIAS} of a-z, 0-9 and - are allowed")));
    }
    match alias.chars().enumerate().find(|(_, char)| !matches!(char, 'a'..='z' | '0'..='9' | '-')) {
        Some((at, char)) => {
            let (char, at) = (if char.is_control() { char::REPLACEMENT_CHARACTER } else { char }, at + 1);
            Err(invalid(format!("`alias` has '{char}' at position {at}; only a-z, 0-9 and - are allowed")))
        }
        None => Ok(()),
    }
}

/// Checks header fields.
///
/// # Errors
/// The first fault.
pub(crate) fn check_headers(headers: &[(String, String)]) -> Result<(), ToolError> {
    header_faults(headers).into_iter().next().map_or(Ok(()), |fault| Err(invalid(fault)))
}

/// What is wrong with header fields: their number, size, names, and values.
pub(crate) fn header_faults(headers: &[(String, String)]) -> Vec<String> {
    if headers.len() > HEADERS {
        return [format!("`headers` has {} fields; at most {HEADERS} are allowed", headers.len())].into();
    }
    if http::section_bytes(headers) > HEADER_BYTES {
        return [format!("`headers` has more than {HEADER_BYTES} bytes: no server takes as many")].into();
    }
    let mut faults = Vec::new();
    for (at, (name, value)) in headers.iter().enumerate() {
        if !http::is_token(name) {
            faults.push(format!("`headers` has a name that is no HTTP field name: {}", shown(name)));
            continue;
        }
        if http::is_forbidden(name) {
            faults.push(format!("`headers` may not set {name}: the gateway and its host write that field themselves"));
        }
        if headers.iter().take(at).any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            faults.push(format!("`headers` has {name} twice: field names are the same in any case"));
        }
        if !http::is_field_value(value) {
            faults.push(format!("the value of `headers.{name}` must be visible ASCII, spaces and tabs"));
        }
    }
    faults
}

/// A name that may be shown: cut, so that a value put in the wrong place is not repeated whole, and quoted.
fn shown(name: &str) -> String {
    Json::string(&name.chars().take(20).collect::<String>()).into_string()
}

/// Both or neither; 0 is no limit whatever the burst.
fn rate(micro_rps: Option<i64>, burst: Option<i64>) -> Result<Option<Rate>, ToolError> {
    let (micro_rps, burst) = match (micro_rps, burst) {
        (None, None) => return Ok(None),
        (Some(micro_rps), Some(burst)) => (micro_rps, burst),
        (Some(_), None) => return Err(invalid("`rate_limit_burst` is missing: both or neither of the two are needed".into())),
        (None, Some(_)) => return Err(invalid("`rate_limit_rps` is missing: both or neither of the two are needed".into())),
    };
    let micro_rps = u64::try_from(micro_rps).map_err(|_| invalid(format!("`rate_limit_rps` must be {RPS_RANGE}")))?;
    let burst = u64::try_from(burst).ok().filter(|burst| *burst <= MOST_BURST);
    let burst = burst.ok_or_else(|| invalid(format!("`rate_limit_burst` must be at least 0 and at most {MOST_BURST}")))?;
    if micro_rps > 0 && burst == 0 {
        return Err(invalid("`rate_limit_burst` must be at least 1 where `rate_limit_rps` is over 0".into()));
    }
    Ok(Some(Rate { micro_rps, burst }))
}

fn check_ping(path: &str, url: &Url) -> Result<(), ToolError> {
    if !path.starts_with('/') || path.len() > PING_BYTES {
        return Err(invalid(format!("`ping_endpoint` must start with / and have at most {PING_BYTES} bytes")));
    }
    let appended = url.with_path_appended(path).map_err(|fault| invalid(format!("`ping_endpoint` cannot be used: {fault}")))?;
    if appended.origin() != url.origin() {
        return Err(invalid("`ping_endpoint` must be a path of the agent's own host".into()));
    }
    Ok(())
}

/// What to say about header fields that are kept out of everything said.
fn kept_secret(headers: &[(String, String)]) -> Option<String> {
    let is_secret = |(name, value): &&(String, String)| Secrets::is_credential(name, value);
    let names = gather(headers.iter().filter(is_secret).map(|(name, _)| name.as_str()));
    let told = if names.is_empty() { "none of the header fields".into() } else { text::joined(&names, ", ") };
    (!headers.is_empty()).then(|| format!("Credentials, kept out of every answer: {told}."))
}

/// What to say about header fields that a browser would drop in silence.
fn dropped_by_browsers(headers: &[(String, String)]) -> Option<String> {
    let names = gather(headers.iter().map(|(name, _)| name.as_str()).filter(|name| http::is_dropped_by_browsers(name)));
    (!names.is_empty()).then(|| format!("A browser does not send {}; other hosts do.", text::joined(&names, ", ")))
}
