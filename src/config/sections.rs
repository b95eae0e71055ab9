//! The sections of the configuration that tools read.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{CallerConfig, Config, ExternalAgent, Network, Table, Token, is_host, policy, seconds};
use crate::bucket::{MOST_BURST, RPS_RANGE, Rate, micro_rps};
use crate::io::Headers;
use crate::json::{self, Array, Json, Kind, Object, Raw};
use crate::list::{gather, gather_all};
use crate::redirect::{self, Reach};
use crate::text;
use crate::tools::connect_agent::{check_alias, header_faults};
use crate::url::Url;

pub(super) fn read_rate_limit(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "rate_limit.".into(), faults);
    let (mut micro_rps, mut burst) = (None, None);
    table.optional("rps", RPS_RANGE, &mut micro_rps, micro);
    table.optional("burst", &format!("a whole number of at least 0 and at most {MOST_BURST}"), &mut burst, |raw| {
        let number = (json::kind(raw) == Kind::Number).then(|| json::integer(raw.get())).flatten()?;
        u64::try_from(number).ok().filter(|burst| *burst <= MOST_BURST)
    });
    table.needs("burst", micro_rps.is_some() && burst.is_none());
    table.needs("rps", burst.is_some() && micro_rps.is_none());
    table.finish();
    match (micro_rps, burst) {
        (Some(micro_rps), Some(0)) if micro_rps > 0 => {
            faults.push("`rate_limit.burst` must be at least 1 where `rate_limit.rps` is over 0".to_string());
        }
        (Some(micro_rps), Some(burst)) => config.rate_limit = Some(Rate { micro_rps, burst }),
        (Some(_) | None, None) | (None, Some(_)) => {}
    }
}

fn micro(raw: Raw<'_>) -> Option<u64> {
    let micro = (json::kind(raw) == Kind::Number).then(|| micro_rps(raw.get(), 6)).flatten()?;
    u64::try_from(micro).ok()
}

pub(super) fn read_history(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "history.".into(), faults);
    table.whole("depth", 0, &mut config.history.depth);
    table.whole("max_entry_length", 1, &mut config.history.max_entry_length);
    table.finish();
}

/// Writes the list.
pub(crate) fn external_agents(agents: &[ExternalAgent]) -> Array {
    let mut list = Array::new();
    for agent in agents {
        let (mut entry, mut headers) = (Object::new(), Object::new());
        for (name, value) in &agent.headers {
            headers.string(name, value);
        }
        entry.string("name", &agent.name).string("url", agent.url.as_str()).nested("headers", headers);
        list.nested(entry);
    }
    list
}

/// Agents at the top of the configuration or in `a2a`.
pub(super) fn read_external_agents(raw: Option<Raw<'_>>, key: &str, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let Some(list) = json::elements(raw) else {
        faults.push(format!("`{key}` must be a list"));
        return;
    };
    let mut names = gather(config.external_agents.iter().map(|known| known.name.clone()));
    for (index, raw) in list.into_iter().enumerate() {
        let path = format!("{key}[{index}].");
        let mut table = Table::new(raw, path.clone(), faults);
        let (mut name, mut url, mut headers) = (String::new(), None, None::<Headers>);
        table.optional_string("name", "1 to 64 of a-z, 0-9 and -", &mut name, |name| check_alias(name).is_ok());
        table.optional("url", "an absolute http or https URL without a user name", &mut url, |raw| {
            Url::parse(&json::string(raw)?).ok()
        });
        table.optional("headers", "an object of strings", &mut headers, |raw| {
            let members = json::members(raw)?;
            gather_all(members.iter().map(|(name, raw)| Some((name.to_string(), json::string(raw)?))))
        });
        table.needs("name", name.is_empty());
        table.once("name", &name, names.iter());
        table.needs("url", url.is_none());
        table.finish();
        names.push(name.clone());
        let headers = headers.unwrap_or_default();
        let told = format!("`{path}headers");
        faults.extend(header_faults(&headers).into_iter().map(|fault| fault.replace("`headers", &told)));
        if let Some(url) = &url {
            check_reach(&format!("{path}url"), url, &config.network, faults);
        }
        config.external_agents.extend(url.map(|url| ExternalAgent { name, url, headers }));
    }
}

pub(super) fn read_server(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "server.".into(), faults);
    table.boolean("loopback", &mut config.server.loopback);
    table.strings("hosts", &mut config.server.hosts);
    table.each("hosts", "a host name, with its port or without", &config.server.hosts, is_authority);
    table.strings("cors_origins", &mut config.server.cors_origins);
    let expected = "an origin as browsers send it, such as https://app.example.com";
    table.each("cors_origins", expected, &config.server.cors_origins, is_origin);
    table.finish();
}

/// What a `Host` header may say.
fn is_authority(text: &str) -> bool {
    let port = text.rsplit_once(':').filter(|(_, port)| text::whole(port).is_some_and(|port| port <= 65_535));
    is_host(port.map_or(text, |(host, _)| host))
}

/// What an `Origin` header may say (RFC 6454 §6.2); browsers have schemes of their own for pages of extensions.
fn is_origin(text: &str) -> bool {
    let (scheme, authority) = text::split_once(text, "://").unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b'@' | b'*' | b'A'..=b'Z');
    text == "null" || !scheme.is_empty() && !authority.is_empty() && scheme.bytes().chain(authority.bytes()).all(is_plain)
}

/// A URL that is called from here; what is wrong otherwise.
pub(super) fn check_reach(key: &str, url: &Url, network: &Network, faults: &mut Vec<String>) {
    let reach = Reach { allow_private: network.allows_private(url.host()), named_by_public: false };
    if let Err(why) = redirect::permit(url, reach) {
        faults.push(format!("`{key}` is not called: {why}"));
    }
}

pub(super) fn read_auth(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let mut table = Table::new(raw, "auth.".into(), faults);
    let mut list = None;
    table.optional("tokens", "a list of tables", &mut list, json::elements);
    table.finish();
    for (index, raw) in list.unwrap_or_default().into_iter().enumerate() {
        let mut table = Table::new(raw, format!("auth.tokens[{index}]."), faults);
        let (mut token, mut principal, mut may_answer, mut may_register) = (String::new(), String::new(), false, false);
        let (mut may_approve, mut caller) = (false, CallerConfig::default());
        table.optional_string("token", "a text of at least 8 characters without blanks", &mut token, |token| {
            token.len() >= 8 && token.bytes().all(|byte| byte.is_ascii_graphic())
        });
        table.optional_string("principal", "1 to 64 of a-z, 0-9 and -", &mut principal, |name| check_alias(name).is_ok());
        table.boolean("may_answer", &mut may_answer);
        table.boolean("may_approve", &mut may_approve);
        policy::read_caller(&mut table, &mut caller);
        table.boolean("may_register", &mut may_register);
        table.needs("token", token.is_empty());
        table.needs("principal", principal.is_empty());
        table.finish();
        if let Some(other) = config.server.tokens.iter().position(|known| known.token == token && !token.is_empty()) {
            faults.push(format!("`auth.tokens[{index}].token` is that of `auth.tokens[{other}]`: whose it is could not be told"));
        }
        config.server.tokens.push(Token { token, principal, may_answer, may_approve, caller, may_register });
    }
}

/// Writes the sections; what has no default is written where it is set.
pub(super) fn write(config: &Config, out: &mut Object) {
    if let Some(rate) = config.rate_limit {
        let mut section = Object::new();
        section.json("rps", &Json::trusted(format!("{}.{:06}", rate.micro_rps / 1_000_000, rate.micro_rps % 1_000_000)));
        section.integer("burst", rate.burst);
        out.nested("rate_limit", section);
    }
    let mut history = Object::new();
    history.integer("depth", config.history.depth).integer("max_entry_length", config.history.max_entry_length);
    out.nested("history", history).json("inbox_ttl_seconds", &seconds(config.inbox_ttl_ms));
    super::directory::write(&config.directory, out);
    if let Some(tools) = &config.tools {
        out.strings("tools", tools);
    }
    out.nested("external_agents", external_agents(&config.external_agents));
    let mut server = Object::new();
    server.boolean("loopback", config.server.loopback).strings("hosts", &config.server.hosts);
    server.strings("cors_origins", &config.server.cors_origins);
    out.nested("server", server);
    if !config.server.tokens.is_empty() {
        let (mut tokens, mut auth) = (Array::new(), Object::new());
        for known in &config.server.tokens {
            let mut token = Object::new();
            token.string("token", &known.token).string("principal", &known.principal);
            if known.may_answer {
                token.boolean("may_answer", true);
            }
            if known.may_approve {
                token.boolean("may_approve", true);
            }
            policy::write_caller(&mut token, &known.caller);
            if known.may_register {
                token.boolean("may_register", true);
            }
            tokens.nested(token);
        }
        auth.nested("tokens", tokens);
        out.nested("auth", auth);
    }
}

/// Reads `network`.
pub(super) fn read_network(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    if let Some(raw) = raw {
        let mut table = Table::new(raw, "network.".into(), faults);
        table.boolean("allow_private", &mut config.network.allow_private);
        table.strings("allowed_hosts", &mut config.network.allowed_hosts);
        table.each("allowed_hosts", "a host name or address, without scheme and port", &config.network.allowed_hosts, is_host);
        table.finish();
    }
}
