//! The model held against the gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use narrows::io::PeerId;

use super::Model;
use super::agent::{Agent, Scope, Sent, TOKEN};
use crate::support::host::{Host, START_MS};
use crate::support::served;
use crate::support::text::{at, numbers_after, string_at};
use crate::support::watch::{Call, Life};
use crate::view::{AgentView, HTTP, Said, ScopeView, View};

impl Model {
    pub(super) fn compare(&mut self, host: &Host, views: &BTreeMap<String, ScopeView>, reports: bool) {
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
            // At the same URL what runs belongs to the agent still.
            let same = known.filter(|agent| agent.kept.url == kept.url);
            let registration = same.map_or(self.registrations, |agent| agent.registration);
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

    pub(super) fn compare_running(host: &Host, view: &View) {
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
