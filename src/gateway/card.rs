//! The gateway's own card (A2A 1.0 §4.4, §8; A2A 0.3 §5): pure 1.0, or one that callers of both versions read.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use super::agent::asked_version;
use crate::a2a::problem::UNSUPPORTED_OPERATION;
use crate::a2a::{Problem, choice};
use crate::config::{Responder, Skill};
use crate::history;
use crate::http;
use crate::incoming::access::LOCAL;
use crate::incoming::{Form, scope_of};
use crate::io::{Headers, RequestId};
use crate::json::{self, Array, Json, Object};
use crate::list::gather;
use crate::scope::Scope;

const MODES: [&str; 2] = ["text/plain", "application/json"];
/// How many skills of an agent behind the gateway are shown, with how many tags, and how long their texts may be, in code
/// points, and their ids and tags, in bytes.
const SKILLS: usize = 100;
const TAGS: usize = 16;
const SKILL_POINTS: u64 = 1000;
const ID_BYTES: usize = 256;
/// What a proxy says about how it was called.
const FORWARDED: &str = "X-Forwarded-Proto";

impl Gateway {
    /// Serves the card.
    pub(super) fn own_card(&mut self, request: RequestId, query: &str, headers: &Headers) {
        let a2a = &self.ground.config.a2a;
        // Whoever asks for a version that is not spoken learns here which ones are.
        let pure = !a2a.v03 || a2a.v10 && choice::asked_version(&asked_version(headers, query)) == Some(true);
        // Where nobody shows a token everybody is the same, and sees what whoever asks may use.
        let everybody = scope_of(LOCAL, None);
        let scope = self.scopes.get(everybody.as_str()).filter(|_| self.ground.config.server.tokens.is_empty());
        let card = self.card(&self.base(headers), pure, scope).into_string();
        let tag = format!("\"{:016x}\"", fnv(card.as_bytes()));
        let mut fields = self.common_kept(request);
        fields.push(("ETag".to_string(), tag.clone()));
        fields.push(("Cache-Control".to_string(), "public, max-age=300".to_string()));
        let varies = [("A2A-Version", a2a.v10 && a2a.v03), (FORWARDED, a2a.url.is_none())];
        let varies = gather(varies.into_iter().filter(|(_, varies)| *varies).map(|(name, _)| name));
        if !varies.is_empty() {
            fields.push(("Vary".to_string(), crate::text::joined(&varies, ", ")));
        }
        if is_known(http::header(headers, "if-none-match").unwrap_or_default(), &tag) {
            return self.respond(request, 304, fields, String::new());
        }
        fields.push(("Content-Type".to_string(), "application/json".to_string()));
        self.respond(request, 200, fields, card);
    }

    /// The card for those who showed a token: with what the agents behind it are known to do.
    pub(super) fn extended_card(&self, owner: &str, form: &Form) -> Result<Json, Problem> {
        if self.ground.config.server.tokens.is_empty() {
            return Err(Problem::new(UNSUPPORTED_OPERATION, "this agent has one card for everybody"));
        }
        let scope = self.scopes.get(scope_of(owner, None).as_str());
        Ok(self.card(&form.base, form.dialect.is_10(), scope))
    }

    /// Where the gateway is, as its caller sees it.
    pub(super) fn base(&self, headers: &Headers) -> String {
        if let Some(url) = &self.ground.config.a2a.url {
            let path = if url.path() == "/" { &self.ground.config.a2a.listen_path } else { "" };
            return crate::text::joined(&[url.as_str().trim_end_matches('/'), path], "");
        }
        let host = http::header(headers, "host").unwrap_or_default();
        let is_https = http::header(headers, FORWARDED).is_some_and(|shown| shown.eq_ignore_ascii_case("https"));
        crate::text::joined(&[if is_https { "https://" } else { "http://" }, host, &self.ground.config.a2a.listen_path], "")
    }

    fn card(&self, base: &str, pure: bool, scope: Option<&Scope>) -> Json {
        let config = &self.ground.config;
        let (a2a, secured) = (&config.a2a, !config.server.tokens.is_empty());
        let rest = crate::text::joined(&[base, "/rest"], "");
        let mut interfaces = Array::new();
        for (version, _) in [("1.0", a2a.v10), ("0.3", a2a.v03 && !pure)].into_iter().filter(|(_, spoken)| *spoken) {
            for (url, binding) in [(base, "JSONRPC"), (rest.as_str(), "HTTP+JSON")] {
                let mut interface = Object::new();
                interface.string("url", url).string("protocolBinding", binding).string("protocolVersion", version);
                interfaces.nested(interface);
            }
        }
        let mut card = Object::new();
        card.string("name", a2a.name.as_deref().unwrap_or(&config.name));
        card.string("description", a2a.description.as_deref().unwrap_or("A gateway between MCP hosts and A2A agents."));
        card.string("version", &config.version);
        card.nested("supportedInterfaces", interfaces);
        let mut capabilities = Object::new();
        capabilities.boolean("streaming", true).boolean("pushNotifications", true).boolean("extendedAgentCard", secured);
        card.nested("capabilities", capabilities);
        card.strings("defaultInputModes", MODES).strings("defaultOutputModes", MODES);
        card.json("skills", &self.skills(scope));
        if !pure {
            card.string("protocolVersion", "0.3.0").string("url", base).string("preferredTransport", "JSONRPC");
            let mut other = Object::new();
            other.string("url", &rest).string("transport", "HTTP+JSON");
            let mut additional = Array::new();
            additional.nested(other);
            card.nested("additionalInterfaces", additional);
            card.boolean("supportsAuthenticatedExtendedCard", secured);
        }
        if secured {
            secure(&mut card, pure);
        }
        card.finish()
    }

    fn skills(&self, scope: Option<&Scope>) -> Json {
        let (a2a, mut list) = (&self.ground.config.a2a, Array::new());
        for skill in &a2a.skills {
            list.json(&skill_json(skill));
        }
        // Who does what no skill names is one too.
        if a2a.skills.iter().any(|skill| skill.responder.as_ref().is_none_or(|responder| *responder == a2a.responder)) {
            return list.finish();
        }
        let plain = |id: &str, name: &str, description: &str| Skill {
            id: id.to_string(),
            name: name.to_string(),
            description: description.to_string(),
            tags: [id.to_string()].into(),
            responder: None,
        };
        match &a2a.responder {
            Responder::Echo => list.json(&skill_json(&plain("echo", "Echo", "Says back what was said."))),
            Responder::Inbox => {
                list.json(&skill_json(&plain("inbox", "Inbox", "A person or a model reads the message and answers it.")))
            }
            Responder::Function => {
                list.json(&skill_json(&plain("function", "Function", "The program that runs this gateway does the work.")))
            }
            Responder::Tool(name) => {
                for tool in self.ground.catalog.iter().filter(|tool| name.as_ref().is_none_or(|name| *name == tool.offered)) {
                    let description = tool.definition.members().and_then(|members| members.string("description"));
                    let description = description.unwrap_or_default();
                    let mut skill = plain(&tool.offered, &tool.tool, &description);
                    skill.tags = [tool.server_name.clone()].into();
                    list.json(&skill_json(&skill));
                }
                &mut list
            }
            Responder::Relay(alias) => {
                let known = scope.and_then(|scope| Some((scope, scope.registry.get(alias)?.card()?)));
                for skill in known.map_or_else(Vec::new, |(scope, card)| skills_there(scope, card)) {
                    if skill.id != *alias && a2a.skills.iter().all(|own| own.id != skill.id) {
                        list.json(&skill_json(&skill));
                    }
                }
                list.json(&skill_json(&plain(alias, alias, "Passed on to the agent behind this gateway.")))
            }
        };
        list.finish()
    }
}

/// The skills of the card of an agent behind the gateway, by the ids that it knows them by. It may have named one by what
/// it was called with.
fn skills_there(scope: &Scope, card: &Json) -> Vec<Skill> {
    let card = scope.secrets.redact_json(card.clone());
    let known = card.members().and_then(|card| card.get("skills").and_then(json::elements)).unwrap_or_default();
    let mut skills = Vec::new();
    for skill in known.into_iter().filter_map(json::members).take(SKILLS) {
        let text =
            |name: &str| skill.string(name).map(|text| history::shorten(&text, SKILL_POINTS)).filter(|text| !text.is_empty());
        let Some(id) = skill.string("id").filter(|id| !id.is_empty() && id.len() <= ID_BYTES) else { continue };
        let mut tags = skill.get("tags").and_then(json::strings).unwrap_or_default();
        tags.truncate(TAGS);
        tags.retain(|tag| tag.len() <= ID_BYTES);
        let name = text("name").unwrap_or_else(|| id.clone());
        skills.push(Skill { id, name, description: text("description").unwrap_or_default(), tags, responder: None });
    }
    skills
}

fn skill_json(skill: &Skill) -> Json {
    let mut out = Object::new();
    out.string("id", &skill.id).string("name", &skill.name);
    out.string("description", if skill.description.is_empty() { &skill.name } else { &skill.description });
    // A skill has at least one (A2A 1.0 §4.4.5).
    out.strings("tags", if skill.tags.is_empty() { core::slice::from_ref(&skill.id) } else { &skill.tags });
    out.finish()
}

/// A bearer token, in the form of 1.0, beside it that of 0.3 where its callers read the card too: each passes over the
/// members of the other.
fn secure(card: &mut Object, pure: bool) {
    let (mut new, mut scheme, mut schemes) = (Object::new(), Object::new(), Object::new());
    new.string("scheme", "Bearer");
    scheme.nested("httpAuthSecurityScheme", new);
    if !pure {
        scheme.string("type", "http").string("scheme", "bearer");
    }
    schemes.nested("bearer", scheme);
    card.nested("securitySchemes", schemes);
    let (mut none, mut needed, mut wrapper, mut list) = (Object::new(), Object::new(), Object::new(), Array::new());
    none.nested("list", Array::new());
    needed.nested("bearer", none);
    wrapper.nested("schemes", needed);
    list.nested(wrapper);
    card.nested("securityRequirements", list);
    if !pure {
        let (mut old, mut list) = (Object::new(), Array::new());
        old.nested("bearer", Array::new());
        list.nested(old);
        card.nested("security", list);
    }
}

/// Whether a version is one of those that a client has, as `If-None-Match` lists them (RFC 9110 §13.1.2).
pub(super) fn is_known(known: &str, tag: &str) -> bool {
    known.split(',').map(str::trim).any(|known| known.strip_prefix("W/").unwrap_or(known) == tag || known == "*")
}

/// FNV-1a of 64 bits: enough to tell one version of a card from another.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
