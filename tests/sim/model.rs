//! A small model of what the gateway keeps: agents, their limits, health, conversations and histories, inboxes, caller
//! cards, and the calls that run. It is told what was asked and what was answered, and after every step it is the same as
//! the gateway's own state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use narrows::bucket::Rate;
use narrows::config::Config;
use narrows::gateway::Secrets;
use narrows::io::{Input, Output, PeerId};
use narrows::json;
use narrows::url::Url;

use super::view::{AgentView, HTTP, Reader, Said, ScopeView, View};
use crate::support::host::{Host, START_MS};
use crate::support::rule::{Rule, under};
use crate::support::served;
use crate::support::text::{at, numbers_after, raw, string_at};
use crate::support::watch::{Call, Life};

/// A token in the parts that are counted.
const TOKEN: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
struct Agent {
    kept: Rc<AgentView>,
    /// when its level was right
    at: u64,
    registration: u64,
    /// the calls that its history tells of
    recorded: BTreeSet<u64>,
    /// what this step may have done to it that nobody was told
    open: bool,
    /// whether a broadcast that goes on may have taken a token
    may_pay: bool,
    /// the calls that paid a token for what was not sent yet, as far as that is known, and whether they send to it alone
    unsent: BTreeMap<u64, bool>,
}

#[derive(Clone, Debug, Default)]
struct Scope {
    agents: BTreeMap<String, Agent>,
    inbox: Vec<(String, String, i64)>,
    pending: BTreeMap<String, String>,
    caller: Option<String>,
    /// whether sends began in this step that nobody waits for
    dispatches: bool,
    /// whether a call began in this step whose answer is told later
    untold: bool,
}

/// A send to an alias that was not refused.
#[derive(Clone, Debug)]
struct Sent {
    scope: String,
    alias: String,
    registration: u64,
    alone: bool,
    /// whether it is known what became of it at its start
    told: bool,
}

pub struct Model {
    config: Config,
    scopes: BTreeMap<String, Scope>,
    sent: BTreeMap<u64, Vec<Sent>>,
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

impl Scope {
    fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.inbox.is_empty() && self.pending.is_empty() && self.caller.is_none()
    }
}

impl Agent {
    fn level(&self, now: u64) -> u64 {
        let gained = u128::from(now - self.at) * u128::from(self.kept.micro_rps);
        let full = u128::from(self.kept.burst) * u128::from(TOKEN);
        u64::try_from((u128::from(self.kept.level) + gained).min(full)).unwrap()
    }

    /// The wait for a token.
    fn wait(&self, now: u64, wall: i64) -> Option<u64> {
        if let Some(until) = self.kept.closed_until.filter(|until| *until > wall) {
            return u64::try_from(until - wall).ok();
        }
        let level = self.level(now);
        (self.kept.micro_rps > 0 && level < TOKEN).then(|| (TOKEN - level).div_ceil(self.kept.micro_rps))
    }

    fn pay(&mut self, now: u64, number: u64, alone: bool) {
        if self.kept.micro_rps > 0 {
            let level = self.level(now) - TOKEN;
            Rc::make_mut(&mut self.kept).level = level;
            self.at = now;
            self.unsent.insert(number, alone);
        }
    }

    /// The calls that ended, as far as that is known, and got back what they paid where nothing was sent.
    fn refunded(&mut self, host: &Host, level: u64) {
        let (now, full) = (host.clock_of(host.watch.now), self.kept.burst * TOKEN);
        let expected = self.level(now);
        let ended = |number: &u64| host.watch.calls[number].life != Life::Running;
        let detached = |number: &u64| host.watch.calls[number].detached;
        // Of a broadcast that goes on a part may be over, and of what goes on by itself nobody is told.
        let over = self.unsent.iter().filter(|(number, alone)| !**alone || ended(number) || detached(number));
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        let back = (0..=over.len()).find(|back| (expected + *back as u64 * TOKEN).min(full) == level).unwrap_or(0);
        if back > 0 {
            let kept = Rc::make_mut(&mut self.kept);
            (kept.level, self.at) = (level, now);
        }
        for (at, number) in over.iter().enumerate() {
            if at < back || ended(number) && !detached(number) {
                self.unsent.remove(number);
            }
        }
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
        Self { config: config.clone(), scopes, sent, registrations, seen, reader, thorough, moved, compared_at, timeout }
    }

    /// Takes the last step in, and compares.
    pub fn follow(&mut self, host: &Host, said: &BTreeMap<u64, (String, String)>) {
        under(Rule::Model, || self.step(host, said, false));
    }

    /// Another gateway went on from the snapshot: it keeps the same.
    pub fn restarted(&mut self, host: &Host) {
        under(Rule::Model, || self.step(host, &BTreeMap::new(), true));
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
            self.scopes.get_mut(&scope).unwrap().untold = true;
            let aliases = wish.string("agent").into_iter().chain(wish.aliases());
            let sent = aliases.map(|alias| Sent { scope: scope.clone(), alias, registration: 0, alone: false, told: false });
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

    fn compare(&mut self, host: &Host, views: &BTreeMap<String, ScopeView>, reports: bool) {
        for name in views.keys() {
            assert!(self.scopes.contains_key(name), "the model has a scope {name}");
        }
        let now = host.clock_of(host.watch.now);
        let empty = ScopeView::default();
        let mut scopes = std::mem::take(&mut self.scopes);
        for (name, scope) in &mut scopes {
            let view = views.get(name).unwrap_or(&empty);
            if scope.untold {
                self.adopt(scope, view, now);
            }
            let (mine, its): (Vec<_>, Vec<_>) = (scope.agents.keys().collect(), view.agents.keys().collect());
            assert_eq!(mine, its, "the agents of {name}");
            assert_eq!(scope.caller, view.caller, "the caller card of {name}");
            self.compare_inbox(host, (name, scope), view);
            for (alias, agent) in &mut scope.agents {
                self.compare_agent(host, (name, alias, agent), &view.agents[alias], reports);
            }
        }
        self.scopes = scopes;
        self.check_recorded(host);
    }

    /// What nobody was told is taken from the gateway.
    fn adopt(&mut self, scope: &mut Scope, view: &ScopeView, now: u64) {
        scope.agents.retain(|alias, _| view.agents.contains_key(alias));
        for (alias, kept) in &view.agents {
            let known = scope.agents.get(alias);
            self.registrations += 1;
            let registration = self.registrations;
            let recorded = known.map(|agent| agent.recorded.clone()).unwrap_or_default();
            let unsent = known.map(|agent| agent.unsent.clone()).unwrap_or_default();
            let agent = Agent { kept: kept.clone(), at: now, registration, recorded, open: true, may_pay: false, unsent };
            scope.agents.insert(alias.clone(), agent);
        }
        scope.caller.clone_from(&view.caller);
        scope.inbox.retain(|entry| view.inbox.contains(entry));
        scope.dispatches = true;
    }

    fn compare_inbox(&self, host: &Host, (name, scope): (&str, &mut Scope), view: &ScopeView) {
        let known = scope.inbox.len();
        assert_eq!(scope.inbox[..], view.inbox[..known.min(view.inbox.len())], "the inbox of {name}");
        let wall = START_MS + i64::try_from(host.clock_of(host.watch.now)).unwrap();
        for (id, alias, at) in &view.inbox[known..] {
            assert!(scope.pending.remove(id).is_some() || scope.dispatches, "an outcome that nobody awaits: {id} of {alias}");
            let since = START_MS + i64::try_from(self.compared_at).unwrap();
            assert!((since..=wall).contains(at), "an outcome comes when it comes");
        }
        scope.inbox.clone_from(&view.inbox);
        let lost = scope.pending.keys().find(|id| !view.pending.contains_key(*id));
        assert_eq!(lost, None, "a send that nobody waits for has an outcome in {name}");
        let more = view.pending.keys().find(|id| !scope.pending.contains_key(*id));
        assert!(more.is_none() || scope.dispatches, "nobody dispatched {more:?}");
        scope.pending.clone_from(&view.pending);
    }

    fn compare_agent(&self, host: &Host, (name, alias, agent): (&str, &str, &mut Agent), view: &Rc<AgentView>, reports: bool) {
        let now = host.clock_of(host.watch.now);
        let wall = START_MS + i64::try_from(now).unwrap();
        let what = format!("agent '{alias}' of {name}");
        if agent.kept.micro_rps > 0 {
            agent.refunded(host, view.level);
        }
        let kept = &agent.kept.clone();
        assert_eq!((&kept.url, kept.micro_rps, kept.burst), (&view.url, view.micro_rps, view.burst), "{what}");
        if kept.micro_rps > 0 {
            let level = agent.level(now);
            let paid = agent.may_pay && view.level + TOKEN == level;
            assert!(view.level == level || paid, "the bucket of {what}: {} and not {level}", view.level);
        }
        if kept == view {
            agent.at = now;
            return;
        }
        let until = kept.closed_until.filter(|until| *until > wall);
        let before = (until, kept.heard, kept.failures);
        let after = (view.closed_until, view.heard, view.failures);
        // A call that began may have failed or been answered within the step.
        assert!(before == after || reports || agent.open, "{what} was heard of: {after:?} after {before:?}");
        let new = self.new_entries(kept, view, &what);
        for entry in &new {
            let number = numbers_after(&entry.sent, "call-").first().copied().expect("what was sent names its call");
            let is_its = |sent: &Sent| sent.scope == name && sent.alias == alias;
            let known = self.sent.get(&number).is_some_and(|list| list.iter().any(is_its));
            assert!(known || agent.open, "{what} has an entry of call {number}, which was not sent to it");
            assert!(agent.recorded.insert(number) || agent.open, "{what} has two entries of call {number}");
            check_entry(host, number, entry, &self.sent);
        }
        let expected = self.context(host, agent, &new);
        if let Some(expected) = expected.filter(|_| !agent.open) {
            assert_eq!(view.context_id, expected, "the conversation of {what}");
        }
        (agent.kept, agent.at) = (view.clone(), now);
    }

    /// What was added to a history.
    fn new_entries(&self, kept: &AgentView, view: &AgentView, what: &str) -> Vec<Said> {
        let depth = usize::try_from(self.config.history.depth).unwrap();
        for count in 0..=view.history.len() {
            let new = &view.history[view.history.len() - count..];
            let mut all = kept.history.clone();
            all.extend_from_slice(new);
            if all[all.len().saturating_sub(depth)..] == view.history[..] {
                return new.to_vec();
            }
        }
        panic!("the history of {what} is not what it was, and more");
    }

    /// The conversation after a step: `None` where the model cannot tell.
    fn context(&self, host: &Host, agent: &Agent, new: &[Said]) -> Option<Option<String>> {
        let before = agent.kept.context_id.clone();
        let numbers: Vec<u64> = new.iter().filter_map(|entry| numbers_after(&entry.sent, "call-").first().copied()).collect();
        if numbers.iter().any(|number| self.sent.get(number).is_none_or(|list| list.iter().any(|sent| !sent.told))) {
            return None;
        }
        // What was sent to the alias at another URL is no part of its conversation.
        let is_its = |sent: &Sent| sent.alone && sent.registration == agent.registration;
        let alone = |number: &&u64| self.sent.get(number).is_some_and(|list| list.iter().any(is_its));
        let mut told = numbers.iter().filter(alone);
        let Some(number) = told.next() else { return Some(before) };
        let answer = host.watch.answered.iter().find(|(known, _)| known == number).filter(|_| told.next().is_none())?;
        if host.watch.calls[number].detached {
            return None;
        }
        let part = |name: &str| at(&answer.1, &["result", "structuredContent", name]);
        // What a send had heard before a restart is kept, and the answer does not tell it.
        if part("error").is_some_and(|error| error.contains("the gateway was restarted")) {
            return None;
        }
        let context = part("message").or_else(|| part("task")).and_then(|part| string_at(&part, &["contextId"]));
        match context {
            Some(context) if context.contains("[redacted]") => None,
            Some(context) => Some(Some(context)),
            None => Some(before),
        }
    }

    /// Every send that was answered in this step stands in the history of its agent.
    fn check_recorded(&self, host: &Host) {
        // Where many end at once in a short history, the oldest are gone again.
        if host.watch.answered.len() as u64 > self.config.history.depth {
            return;
        }
        for (number, _) in host.watch.answered.iter().filter(|(number, _)| !host.watch.calls[number].detached) {
            for sent in self.sent.get(number).into_iter().flatten().filter(|sent| sent.alone) {
                let agent = self.scopes.get(&sent.scope).and_then(|scope| scope.agents.get(&sent.alias));
                let same = agent.filter(|agent| agent.registration == sent.registration);
                let restarted = host.watch.answered.iter().any(|(known, text)| known == number && text.contains("restarted"));
                let there = same.is_none_or(|agent| agent.recorded.contains(number));
                assert!(there || restarted, "call {number} is in the history of '{}'", sent.alias);
            }
        }
    }

    fn compare_running(host: &Host, view: &View) {
        let calls: Vec<&Call> = host.watch.calls.values().filter(|call| call.life == Life::Running && !call.listens).collect();
        let is_http = |peer: &PeerId| peer.0 >= served::FIRST;
        let mine: BTreeSet<(u64, &str)> =
            calls.iter().filter(|call| !is_http(&call.peer)).map(|call| (call.peer.0, call.id.as_str())).collect();
        let its: BTreeSet<(u64, &str)> =
            view.running.iter().filter(|(peer, _)| *peer < HTTP).map(|(peer, id)| (*peer, id.as_str())).collect();
        assert_eq!(mine, its, "the calls that run");
        let served: Vec<&&Call> = calls.iter().filter(|call| is_http(&call.peer)).collect();
        let unread = served.iter().filter(|call| call.unread).count();
        let running = view.running.iter().filter(|(peer, _)| *peer >= HTTP).count();
        let range = served.len() - unread..=served.len();
        assert!(range.contains(&running), "{running} calls run over HTTP, and not {range:?}");
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

/// The entry of a call that was answered in this step says what the answer says.
fn check_entry(host: &Host, number: u64, entry: &Said, sent: &BTreeMap<u64, Vec<Sent>>) {
    let answer = host.watch.answered.iter().find(|(known, _)| *known == number);
    let alone = sent.get(&number).is_some_and(|list| list.iter().any(|sent| sent.alone));
    let Some((_, text)) = answer.filter(|_| alone && !host.watch.calls[&number].detached) else { return };
    let is_error = at(text, &["result", "isError"]).as_deref() == Some("true");
    assert_eq!(entry.is_error, is_error, "the entry of call {number}");
    let words = string_at(text, &["result", "content", "0", "text"]).unwrap();
    let kept = entry.response.trim_end_matches('…');
    assert!(words.starts_with(kept), "the entry of call {number} says {kept:?} and not {words:?}");
}
