//! Agents of the plain task API: known, discovered, approved.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Done, count, required};
use crate::call::card::ReadCard;
use crate::call::dispatch::Sink;
use crate::call::target::Target;
use crate::call::{Ended, Run, Work};
use crate::gateway::Gateway;
use crate::incoming::{Stage, access, principal_of, scope_of};
use crate::io::{Headers, RequestId};
use crate::json::{Array, Json, Members, Object};
use crate::list::gather;
use crate::mcp::outcome::ToolError;
use crate::mcp::tool::Started;
use crate::plain::{Fault, KnownAgent};
use crate::served::Duty;
use crate::url::Url;

impl Gateway {
    /// The agents of the configuration and those that were discovered.
    pub(super) fn plain_agents(&self, owner: &str, query: &Members<'_>) -> Done {
        let (limit, offset) = (count(query, "limit", 100, 1..=1000)?, count(query, "offset", 0, 0..=u64::MAX)?);
        let scope = self.scopes.get(scope_of(owner, None).as_str());
        let mut all = Vec::new();
        for agent in &self.ground.config.external_agents {
            let known = scope.and_then(|scope| scope.registry.get(&agent.name)).filter(|known| known.url == agent.url);
            let profile = known.and_then(|known| known.profile.as_ref());
            all.push(item(agent.url.as_str(), &agent.name, profile.map(|profile| &profile.summary), false));
        }
        for (url, agent) in scope.iter().flat_map(|scope| scope.known.iter()) {
            if self.external(url).is_none() {
                all.push(item(url.as_str(), "", Some(&agent.summary), agent.pending));
            }
        }
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (mut items, mut out) = (Array::new(), Object::new());
        for one in all.iter().skip(place(offset)).take(place(limit)) {
            items.json(one);
        }
        out.nested("items", items).integer("total", all.len() as u64).integer("offset", offset).integer("limit", limit);
        let page = out.finish();
        Ok(Some((200, self.clean(owner, page))))
    }

    /// The alias of the configured agent at a URL.
    fn external(&self, url: &Url) -> Option<&str> {
        let agents = &self.ground.config.external_agents;
        agents.iter().find(|agent| agent.url == *url).map(|agent| agent.name.as_str())
    }

    /// The agent at a URL as calls name it, where it may be sent to.
    pub(super) fn plain_trusted(&self, owner: &str, given: &str) -> Result<String, Fault> {
        let url = Url::parse(given).map_err(|fault| Fault::invalid(format!("`agent_url` {fault}")))?;
        if let Some(alias) = self.external(&url) {
            return Ok(alias.to_string());
        }
        let known = self.scopes.get(scope_of(owner, None).as_str()).and_then(|scope| scope.known.get(&url));
        let (code, message) = match known {
            Some(KnownAgent { pending: false, .. }) => return Ok(url.as_str().to_string()),
            Some(_) => ("not_approved", "waits for approval: POST /api/a2a/agents/{percent-encoded url}/approve"),
            None => ("not_discovered", "is not discovered: POST it to /api/a2a/discover first"),
        };
        Err(Fault::new(400, code, format!("the agent at {} {message}", url.as_str())))
    }

    /// Reads the card of an agent.
    pub(super) fn plain_discover(&mut self, request: RequestId, owner: &str, headers: &Headers, bytes: &[u8]) -> Done {
        let given = required(&self.plain_body(headers, bytes)?, &["url"])?;
        let url = Url::parse(&given).map_err(|fault| Fault::invalid(format!("`url` {fault}")))?;
        let agent = self.external(&url).map_or_else(|| url.as_str().to_string(), String::from);
        self.plain_call(request, owner, Some(given), |run| {
            let target = Target::resolve(run.scope, &agent)?;
            ReadCard::start(run, target)
        })
    }

    /// Asks an agent on behalf of a request, which its answer goes to.
    pub(super) fn plain_call(
        &mut self,
        request: RequestId,
        owner: &str,
        url: Option<String>,
        start: impl FnOnce(&mut Run<'_>) -> Result<Started, ToolError>,
    ) -> Done {
        let mut done = None;
        let started = self.unattended(owner, |run| {
            Ok(match start(run)? {
                Started::Running(work) => Some((Sink::Request(request, url.clone()), work as Box<Work>)),
                Started::Done(result) => {
                    done = Some(result);
                    None
                }
                Started::Asks(_) => None,
            })
        })?;
        if let (Some(call), Some(served)) = (started, self.incoming.requests.get_mut(&request)) {
            served.stage = Stage::Calling(call);
        }
        if let Some(result) = done {
            self.plain_called(request, url.as_deref(), Ok(result));
        }
        Ok(None)
    }

    /// The answer of an agent that was asked on behalf of a request.
    pub(in crate::gateway) fn plain_called(&mut self, request: RequestId, url: Option<&str>, ended: Ended) {
        let Some(owner) = self.incoming.requests.get(&request).map(|served| served.principal.clone()) else { return };
        let done = match (ended, url) {
            (Err(error), _) => {
                let mut fault = Fault::from(error);
                if let Some(scope) = self.scopes.get(scope_of(&owner, None).as_str()) {
                    fault.message = scope.secrets.redact(fault.message);
                }
                Err(fault)
            }
            (Ok(result), Some(url)) => self.plain_found(&owner, url, &self.clean(&owner, result.structured)),
            (Ok(result), None) => {
                let result = self.clean(&owner, result.structured);
                Ok(result.members().and_then(|members| members.get("task")).map(|task| (200, Json::from_raw(task))))
            }
        };
        self.plain_done(request, done);
    }

    /// An agent has a card: it is known from now on.
    fn plain_found(&mut self, owner: &str, given: &str, result: &Json) -> Done {
        let members = result.members().unwrap_or_default();
        let part = |name: &str| members.get(name).map_or_else(Json::null, Json::from_raw);
        let (card, summary) = (part("card"), part("normalized"));
        let url = Url::parse(given).map_err(|fault| Fault::invalid(format!("`url` {fault}")))?;
        let mut pending = false;
        if self.external(&url).is_none() {
            let (limit, at) = (self.ground.config.limits.agents_per_scope, self.ground.wall());
            let known = &mut self.scopes.get_or_default(scope_of(owner, None).as_str()).known;
            let before = known.get(&url).map(|agent| agent.pending);
            // An agent that works on a task is needed still.
            let mut working = Vec::new();
            if before.is_none() && known.len() >= limit {
                let open = self.served.of(owner).filter(|(_, task)| !task.state().is_terminal());
                working =
                    gather(open.filter_map(
                        |(_, task)| {
                            if let Duty::Relay { agent, .. } = &task.duty { Some(agent.clone()) } else { None }
                        },
                    ));
            }
            while before.is_none() && known.len() >= limit {
                if !known.forget_oldest(&|url| !working.iter().any(|agent| agent == url.as_str())) {
                    let message = "as many agents are known as agents_per_scope allows, and each works on a task: end one first";
                    return Err(Fault::new(429, "limit_reached", message));
                }
            }
            pending = before.unwrap_or(self.ground.config.a2a.require_approval);
            known.put(url, KnownAgent { pending, summary, at });
        }
        let mut out = Object::new();
        out.string("url", given).string("status", status(pending)).json("agent", &card);
        Ok(Some((if pending { 202 } else { 200 }, out.finish())))
    }

    /// Trusts an agent that waits for it, for everybody who discovered it. Where principals are told apart, nobody
    /// approves of its own discovery.
    pub(super) fn plain_approve(&mut self, owner: &str, given: &str) -> Done {
        let url = Url::parse(given).map_err(|fault| Fault::invalid(format!("the URL {fault}")))?;
        let server = &self.ground.config.server;
        if !access::may_approve(server, owner) {
            return Err(Fault::new(403, "permission_denied", "this principal does not approve agents: see may_approve"));
        }
        let told_apart = !server.tokens.is_empty();
        let (mut approved, mut own) = (self.external(&url).is_some(), false);
        let names = gather(self.scopes.iter().map(|(name, _)| name.clone()));
        for name in names {
            let Some(known) = self.scopes.get(name.as_str()).and_then(|scope| scope.known.get(&url)).cloned() else { continue };
            if known.pending && told_apart && principal_of(&name) == Some(owner) {
                own = true;
                continue;
            }
            approved = true;
            if known.pending {
                let agent = KnownAgent { pending: false, ..known };
                self.scopes.get_or_default(name.as_str()).known.put(url.clone(), agent);
            }
        }
        match (approved, own) {
            (true, _) => {
                let mut out = Object::new();
                out.string("url", given).string("status", status(false));
                Ok(Some((200, out.finish())))
            }
            (false, true) => Err(Fault::new(403, "permission_denied", "another principal approves of what this one discovered")),
            (false, false) => Err(Fault::new(404, "not_discovered", "nobody discovered an agent at this URL")),
        }
    }
}

const fn status(pending: bool) -> &'static str {
    if pending { "pending" } else { "trusted" }
}

/// An agent as it is listed. One whose card has not come has the name it was given.
fn item(url: &str, name: &str, summary: Option<&Json>, pending: bool) -> Json {
    let members = summary.and_then(Json::members).unwrap_or_default();
    let told = |name: &str| members.string(name).unwrap_or_default();
    let own = told("name");
    let mut out = Object::new();
    out.string("name", if own.is_empty() { name } else { &own }).string("url", url);
    out.string("description", &told("description"));
    out.raw("skills", members.get("skills").map_or("[]", |skills| skills.get()));
    out.string("version", &told("version")).string("status", status(pending));
    out.finish()
}
