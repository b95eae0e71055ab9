//! A small model of what the gateway keeps: agents, their limits, health, conversations and histories, inboxes, caller
//! cards, and the calls that run. It is told what was asked and what was answered, and after every step it is the same as
//! the gateway's own state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use narrows::bucket::Rate;
use narrows::config::Config;
use narrows::gateway::Secrets;
use narrows::io::{Input, Output};
use narrows::json;
use narrows::url::Url;

use super::view::{AgentView, Reader, ScopeView, View};
use crate::support::host::{Host, START_MS};
use crate::support::rule::{Rule, under};
use crate::support::text::{at, numbers_after, raw, string_at};

// Other tests name this file by its path, so the paths below it are named too.
#[path = "model/agent.rs"]
mod agent;
#[path = "model/comparison.rs"]
mod comparison;

use agent::{Agent, Scope, Sent, TOKEN};

pub struct Model {
    config: Config,
    scopes: BTreeMap<String, Scope>,
    sent: BTreeMap<u64, Vec<Sent>>,
    /// sends that nobody waits for, each with the ids of the outcomes that are to come
    dispatched: BTreeMap<u64, Vec<String>>,
    registrations: u64,
    seen: Vec<String>,
    reader: Reader,
    /// whether it is compared after every step, those included that say nothing
    thorough: bool,
    /// whether anything was reported or became due since it was last compared
    moved: bool,
    compared_at: u64,
    /// when the gateway wanted to be called after the last step
    timeout: Option<u64>,
}

/// What was asked by a call, where it stands, and its answer if it was told in this step.
struct Wish<'a> {
    number: u64,
    tool: String,
    arguments: String,
    result: Option<&'a str>,
    code: Option<String>,
}

impl Wish<'_> {
    fn string(&self, name: &str) -> Option<String> {
        string_at(&self.arguments, &[name])
    }

    fn aliases(&self) -> Vec<String> {
        let aliases = at(&self.arguments, &["aliases"]).map(|text| list(&text)).unwrap_or_default();
        aliases.iter().map(|alias| alias.trim_matches('"').to_owned()).collect()
    }

    /// Whether it went well, as far as this step tells.
    fn succeeded(&self) -> bool {
        self.result.is_some() && self.code.is_none()
    }
}

fn list(text: &str) -> Vec<String> {
    json::elements(raw(text)).unwrap_or_default().iter().map(|element| element.get().to_owned()).collect()
}

impl Model {
    pub fn new(config: &Config, thorough: bool) -> Self {
        let (scopes, sent, seen) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let reader = Reader::default();
        let (registrations, moved, compared_at, timeout) = (0, false, 0, None);
        let (config, dispatched) = (config.clone(), BTreeMap::new());
        Self { config, scopes, sent, dispatched, registrations, seen, reader, thorough, moved, compared_at, timeout }
    }

    /// Takes the last step in, and compares.
    pub fn follow(&mut self, host: &Host, said: &BTreeMap<u64, (String, String)>) {
        under(Rule::Model, || self.step(host, said, false));
    }

    /// Another gateway went on from the snapshot: it keeps the same.
    pub fn restarted(&mut self, host: &Host) {
        under(Rule::Model, || self.step(host, &BTreeMap::new(), true));
    }

    /// The sends whose outcomes are all there: nothing more is done for them.
    pub fn take_ended(&mut self) -> Vec<u64> {
        let is_pending = |id: &String| self.scopes.values().any(|scope| scope.pending.contains_key(id));
        let ended = self.dispatched.iter().filter(|(_, ids)| !ids.iter().any(is_pending)).map(|(number, _)| *number);
        let ended: Vec<u64> = ended.collect();
        self.dispatched.retain(|number, _| !ended.contains(number));
        ended
    }

    fn step(&mut self, host: &Host, said: &BTreeMap<u64, (String, String)>, restarted: bool) {
        let watch = &host.watch;
        let due = self.timeout.is_some_and(|at| at <= host.clock_of(watch.now));
        self.timeout = host.timeout();
        let input = host.steps.last().filter(|step| !restarted && step.outcome.is_ok()).map(|step| &step.input);
        let reports = matches!(input, Some(Input::Head { .. } | Input::Body { .. } | Input::End { .. } | Input::Failed { .. }));
        self.moved |= reports || due;
        let outputs = host.steps.last().filter(|_| !restarted).map_or(&[][..], |step| step.outputs.as_slice());
        self.sent_out(outputs);
        let is_piece = matches!(
            input,
            None | Some(Input::Head { .. } | Input::Body { .. } | Input::Request { .. } | Input::RequestBody { .. })
        );
        let is_silent = host.steps.last().is_some_and(|step| step.outputs.is_empty());
        if !self.thorough && !restarted && !due && is_piece && is_silent {
            return;
        }
        let pieces = host.gateway.snapshot(Secrets::Keep);
        let turns = restarted || matches!(input, Some(Input::Open { .. } | Input::Closed { .. }));
        if !turns && watch.begun.is_empty() && watch.answered.is_empty() && watch.scopes_gone.is_empty() && pieces == self.seen {
            return;
        }
        let mut view = self.reader.read(&pieces);
        self.seen = pieces;
        for scope in self.scopes.values_mut() {
            (scope.dispatches, scope.untold) = (false, false);
            scope.agents.values_mut().for_each(|agent| (agent.open, agent.may_pay) = (false, false));
        }
        watch.scopes_gone.iter().for_each(|scope| drop(self.scopes.remove(scope)));
        let now = host.clock_of(watch.now);
        if let Some(Input::Open { scope, .. }) = input {
            self.scope(scope, now);
        }
        let views = Self::by_key(host, &mut view);
        for number in &watch.begun {
            self.begins(host, said, *number, &views);
        }
        self.sent_out(outputs);
        for (number, text) in watch.answered.iter().filter(|(number, _)| watch.calls[number].detached) {
            self.dispatched.insert(*number, strings_after(text, r#""call_id":""#));
        }
        let moved = std::mem::take(&mut self.moved);
        self.compare(host, &views, moved);
        self.compared_at = now;
        Self::compare_running(host, &view);
        if restarted || matches!(input, Some(Input::Closed { .. })) {
            self.forget_empty(host, &view, restarted);
        }
    }

    /// What goes out in these outputs is not sent for nothing. Of a broadcast it is not known to whom.
    fn sent_out(&mut self, outputs: &[Output]) {
        for output in outputs {
            let Output::Fetch { request, .. } = output else { continue };
            let number = numbers_after(request.body.as_deref().unwrap_or_default(), "call-").first().copied();
            let alone = |number: &u64| self.sent.get(number).is_none_or(|list| list.iter().all(|sent| sent.alone));
            let Some(number) = number.filter(alone) else { continue };
            self.scopes.values_mut().flat_map(|scope| scope.agents.values_mut()).for_each(|agent| {
                agent.unsent.remove(&number);
            });
        }
    }

    /// A scope; a new one has the agents of the configuration.
    fn scope(&mut self, name: &str, now: u64) -> &mut Scope {
        if !self.scopes.contains_key(name) {
            self.scopes.insert(name.to_owned(), Scope::default());
            for agent in self.config.external_agents.clone() {
                self.register(name, &agent.name, agent.url.as_str(), None, now);
            }
        }
        self.scopes.get_mut(name).unwrap()
    }

    fn is_full(&self, scope: &str, alias: &str) -> bool {
        let agents = &self.scopes[scope].agents;
        !agents.contains_key(alias) && agents.len() as u64 >= self.config.limits.agents_per_scope
    }

    fn register(&mut self, scope: &str, alias: &str, url: &str, rate: Option<Rate>, now: u64) {
        if self.is_full(scope, alias) {
            return;
        }
        self.registrations += 1;
        let rate = rate.or(self.config.rate_limit).unwrap_or(Rate { micro_rps: 0, burst: 0 });
        let known = self.scopes.get_mut(scope).unwrap().agents.remove(alias);
        let (history, recorded) =
            known.as_ref().map(|agent| (agent.kept.history.clone(), agent.recorded.clone())).unwrap_or_default();
        // At the same URL what runs belongs to the agent still.
        let same = known.as_ref().filter(|agent| agent.kept.url == url);
        let registration = same.map_or(self.registrations, |agent| agent.registration);
        let kept = AgentView {
            url: url.to_owned(),
            micro_rps: rate.micro_rps,
            burst: rate.burst,
            level: rate.burst * TOKEN,
            context_id: known.filter(|agent| agent.kept.url == url).and_then(|agent| agent.kept.context_id.clone()),
            history,
            ..AgentView::default()
        };
        let kept = Rc::new(kept);
        let unsent = BTreeMap::new();
        let agent = Agent { kept, at: now, registration, recorded, open: false, may_pay: false, unsent };
        self.scopes.get_mut(scope).unwrap().agents.insert(alias.to_owned(), agent);
    }

    fn begins(&mut self, host: &Host, said: &BTreeMap<u64, (String, String)>, number: u64, views: &BTreeMap<String, ScopeView>) {
        let watch = &host.watch;
        let (now, call) = (host.clock_of(watch.now), &watch.calls[&number]);
        let scope = watch.served.scopes[&call.peer].clone();
        self.scope(&scope, now);
        let Some((method, params)) = said.get(&number) else { return };
        if method != "tools/call" {
            return;
        }
        let answer = watch.answered.iter().find(|(known, _)| *known == number).map(|(_, text)| text.as_str());
        let result = answer.and_then(|text| at(text, &["result"]));
        if answer.is_some() && result.is_none() {
            return;
        }
        let code = result.as_ref().and_then(|result| string_at(result, &["structuredContent", "error", "code"]));
        let tool = string_at(params, &["name"]).unwrap_or_default();
        let arguments = at(params, &["arguments"]).unwrap_or_default();
        let wish = Wish { number, tool, arguments, result: result.as_deref(), code };
        if answer.is_none() && call.unread {
            let known = self.scopes.get_mut(&scope).unwrap();
            known.untold = true;
            let aliases: Vec<String> = wish.string("agent").into_iter().chain(wish.aliases()).collect();
            // Whether it paid is not known, nor whether it gets that back.
            for alias in &aliases {
                if let Some(agent) = known.agents.get_mut(alias) {
                    agent.unsent.insert(number, false);
                }
            }
            let sent =
                aliases.into_iter().map(|alias| Sent { scope: scope.clone(), alias, registration: 0, alone: false, told: false });
            self.sent.insert(number, sent.collect());
        } else if wish.tool == "connect_agent" {
            self.connects(&scope, &wish, now);
        } else if ["send_message", "broadcast_message"].contains(&wish.tool.as_str()) {
            self.sends(host, &scope, &wish, views);
        } else {
            self.asks(host, &scope, &wish, views);
        }
    }

    fn connects(&mut self, scope: &str, wish: &Wish<'_>, now: u64) {
        let alias = wish.string("alias").unwrap_or_default();
        if wish.code.is_some() {
            let told = wish.result.is_some_and(|result| result.contains("agents_per_scope"));
            assert!(!told || self.is_full(scope, &alias), "there is room for '{alias}'");
            return;
        }
        assert!(!self.is_full(scope, &alias), "there is no room for '{alias}'");
        let url = Url::parse(&wish.string("agent_url").unwrap()).unwrap();
        let rps = at(&wish.arguments, &["rate_limit_rps"]).and_then(|text| json::scaled_up(&text, 6));
        let burst = at(&wish.arguments, &["rate_limit_burst"]).and_then(|text| text.parse().ok());
        let rate = rps.zip(burst).map(|(rps, burst)| Rate { micro_rps: u64::try_from(rps).unwrap(), burst });
        self.register(scope, &alias, url.as_str(), rate, now);
    }

    /// The tools that ask nobody: their answers show what the model has, or change it.
    fn asks(&mut self, host: &Host, name: &str, wish: &Wish<'_>, views: &BTreeMap<String, ScopeView>) {
        let wall = START_MS + i64::try_from(host.clock_of(host.watch.now)).unwrap();
        let oldest = wall - i64::try_from(self.config.inbox_ttl_ms).unwrap();
        let threshold = self.config.health_failure_threshold;
        let scope = self.scopes.get_mut(name).unwrap();
        let alias = wish.string("alias").or_else(|| wish.string("agent")).unwrap_or_default();
        let result = wish.result.unwrap_or_default();
        let part = |path: &[&str]| at(result, path).map(|text| list(&text)).unwrap_or_default();
        let structured = |name: &str| part(&["structuredContent", name]);
        if wish.tool.ends_with("_inbox") && (wish.succeeded() || wish.code.as_deref() == Some("unknown_agent")) {
            scope.inbox.retain(|(.., at)| *at >= oldest);
        }
        match wish.tool.as_str() {
            "disconnect_agent" if wish.succeeded() => {
                assert!(scope.agents.remove(&alias).is_some(), "'{alias}' was not connected");
                scope.inbox.retain(|(_, known, _)| *known != alias);
                scope.pending.retain(|_, known| *known != alias);
            }
            "create_caller_card" if wish.succeeded() => scope.caller = wish.string("name"),
            "remove_caller_card" => {
                let refused = wish.code.as_deref() == Some("invalid_argument");
                assert!(scope.caller.is_none() || !refused, "there is a caller card: {result}");
                scope.caller = scope.caller.take().filter(|_| !wish.succeeded());
            }
            "view_caller_card" if wish.succeeded() => {
                assert_eq!(string_at(result, &["structuredContent", "card", "name"]), scope.caller);
            }
            "clear_history" if wish.succeeded() => {
                let agent = scope.agents.get_mut(&alias).expect("a connected agent");
                let cleared = at(result, &["structuredContent", "cleared"]);
                assert_eq!(cleared, Some(agent.kept.history.len().to_string()));
                Rc::make_mut(&mut agent.kept).history.clear();
            }
            "get_history" if wish.succeeded() => {
                let told: Vec<_> = structured("entries").iter().map(|entry| string_at(entry, &["sent"]).unwrap()).collect();
                let kept = scope.agents[&alias].kept.history.iter().map(|entry| entry.sent.clone());
                assert_eq!(told, kept.collect::<Vec<_>>());
            }
            "list_agents" if wish.succeeded() => {
                let told = structured("agents").into_iter().map(|agent| {
                    let text = |name: &str| string_at(&agent, &[name]).unwrap();
                    (text("alias"), text("url"), text("health"))
                });
                // What was heard since the last comparison is known after it.
                let heard = |alias: &str| views.get(name).and_then(|scope| scope.agents.get(alias));
                let kept = scope.agents.iter().map(|(alias, agent)| {
                    let name = health(heard(alias).unwrap_or(&agent.kept), threshold);
                    (alias.clone(), agent.kept.url.clone(), name.to_owned())
                });
                assert_eq!(told.collect::<Vec<_>>(), kept.collect::<Vec<_>>());
            }
            "check_inbox" if wish.succeeded() && !scope.dispatches => {
                let ids = |name: &str| structured(name).iter().map(|e| string_at(e, &["call_id"]).unwrap()).collect::<Vec<_>>();
                assert_eq!(ids("entries"), scope.inbox.iter().map(|(id, ..)| id.clone()).collect::<Vec<_>>());
                assert_eq!(ids("pending").iter().collect::<BTreeSet<_>>(), scope.pending.keys().collect());
            }
            "read_inbox" if wish.succeeded() => {
                let told: Vec<_> = structured("messages").iter().map(|entry| string_at(entry, &["call_id"]).unwrap()).collect();
                let own = scope.inbox.iter().filter(|(_, known, _)| *known == alias).map(|(id, ..)| id.clone());
                let length = at(&wish.arguments, &["length"]).and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
                assert_eq!(told, own.take(length).collect::<Vec<_>>(), "each outcome is delivered once");
                scope.inbox.retain(|(id, ..)| !told.contains(id));
            }
            _ => {}
        }
    }

    /// A send or a broadcast: who pays a token for it, who is refused one, and for how long.
    fn sends(&mut self, host: &Host, name: &str, wish: &Wish<'_>, views: &BTreeMap<String, ScopeView>) {
        let now = host.clock_of(host.watch.now);
        let wall = START_MS + i64::try_from(now).unwrap();
        let alone = wish.tool == "send_message";
        let aliases = wish.string("agent").map_or_else(|| wish.aliases(), |agent| vec![agent]);
        if !alone && wish.code.is_some() {
            return;
        }
        let scope = self.scopes.get_mut(name).unwrap();
        let detached = host.watch.calls[&wish.number].detached;
        for alias in aliases.iter().map(String::as_str) {
            let Some(agent) = scope.agents.get_mut(alias) else {
                let url = alias.contains("://");
                assert!(url || !alone || wish.code.is_some(), "there is no '{alias}'");
                scope.dispatches |= detached && url;
                continue;
            };
            let entry = wish.result.map(|result| if alone { Some(result.to_owned()) } else { outcome_of(result, alias) });
            let code = match (&entry, alone) {
                (_, true) => wish.code.clone(),
                (Some(Some(entry)), false) => string_at(entry, &["error", "code"]),
                (Some(None) | None, false) => None,
            };
            let marker = format!("call-{} ", wish.number);
            let newest = views.get(name).and_then(|scope| scope.agents.get(alias)).and_then(|agent| agent.history.last());
            let recorded = newest.is_some_and(|entry| entry.sent.starts_with(&marker));
            let skipped = entry.as_ref().is_some_and(|entry| entry.as_ref().is_some_and(|entry| entry.contains("\"skipped\"")));
            let runs = wish.result.is_none();
            let paid = recorded || runs && alone || code.is_none() && !runs && !skipped;
            let wait = agent.wait(now, wall);
            if code.as_deref() == Some("rate_limited") && !recorded {
                let path: &[&str] = if alone { &["structuredContent", "error"] } else { &["error"] };
                let told = at(entry.clone().flatten().as_deref().unwrap(), &[path, &["retry_after_ms"]].concat());
                assert_eq!(told, wait.map(|wait| wait.to_string()), "the wait for a token of '{alias}'");
            }
            if paid {
                assert_eq!(wait, None, "a token of '{alias}' was there");
                agent.pay(now, wish.number, alone);
            } else if runs && wait.is_none() {
                (agent.may_pay, _) = (true, agent.unsent.insert(wish.number, alone));
            }
            if paid || runs {
                let registration = agent.registration;
                let sent = Sent { scope: name.to_owned(), alias: alias.to_owned(), registration, alone, told: true };
                self.sent.entry(wish.number).or_default().push(sent);
                scope.dispatches |= detached;
            }
            let path: &[&str] = if alone { &["structuredContent", "async", "call_id"] } else { &["call_id"] };
            let id = entry.flatten().and_then(|entry| string_at(&entry, path)).filter(|_| detached);
            let is_pending = |id: &String| views.get(name).is_some_and(|scope| scope.pending.contains_key(id));
            scope.pending.extend(id.filter(is_pending).map(|id| (id, alias.to_owned())));
        }
    }

    /// The scopes of a view under the names of the books.
    fn by_key(host: &Host, view: &mut View) -> BTreeMap<String, ScopeView> {
        let served = &host.watch.served;
        let scopes = std::mem::take(&mut view.scopes);
        let key = |name: &String| match view.sessions.get(name) {
            Some(session) => served.scopes[&served.sessions[session].peer].clone(),
            None => name.replace("http/", "http-"),
        };
        scopes.into_iter().map(|(name, scope)| (key(&name), scope)).collect()
    }

    /// A scope that holds nothing is gone with its last peer, or with the process.
    fn forget_empty(&mut self, host: &Host, view: &View, restarted: bool) {
        self.scopes.retain(|name, scope| {
            let is_stdio = !name.starts_with("http-") && !name.starts_with("session-");
            let is_named = view.named.contains(&name.replace("http-", "http/"));
            let leaves = if restarted { !is_named } else { is_stdio };
            !(scope.is_empty() && leaves && !host.watch.is_anyone_in(name))
        });
    }
}

/// The strings without escapes that follow a mark.
fn strings_after(text: &str, mark: &str) -> Vec<String> {
    text.split(mark).skip(1).filter_map(|rest| rest.split_once('"')).map(|(string, _)| string.to_owned()).collect()
}

fn health(agent: &AgentView, threshold: u64) -> &'static str {
    match agent.failures >= threshold {
        true => "unhealthy",
        false if agent.heard => "healthy",
        false => "unknown",
    }
}

/// What a broadcast says of one of its agents.
fn outcome_of(result: &str, alias: &str) -> Option<String> {
    let results = at(result, &["structuredContent", "results"])?;
    json::members(raw(&results))?.get_any(alias).map(|entry| entry.get().to_owned())
}
