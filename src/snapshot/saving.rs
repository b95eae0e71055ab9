//! What an input changed, told to a host that keeps it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use super::pieces::Kept;
use super::records::{Form, Writer, call_record, event_record, peer_record, seal_record, session_record, stream_record};
use crate::gateway::Gateway;
use crate::incoming::sessions::HttpSession;
use crate::io::{Output, Save};
use crate::json::Json;
use crate::mcp::subject::may_ask;
use crate::policy::approvals::Request;
use crate::scope::Scope;
use crate::table::Table;
use crate::url;

/// What the host was told to keep, as far as it changes in place, and what it is to be told next.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    last: Table<String, Json>,
    saves: Vec<Save>,
    /// whether it was told which agents are configured
    pub(crate) is_furnished: bool,
}

/// A key of these parts.
fn key(parts: &[&str]) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() {
            out.push('/');
        }
        url::percent_encode(&mut out, part);
    }
    out
}

impl Keeper {
    /// Keeps a record that may be kept already as it is.
    fn put(&mut self, key: String, record: Option<Json>) {
        let is_kept = self.last.get(&key) == record.as_ref();
        if is_kept {
            return;
        }
        match &record {
            Some(record) => self.last.insert(key.clone(), record.clone()),
            None => self.last.remove(&key),
        };
        self.saves.push(Save { key, record });
    }

    /// Keeps a record that never changes in place, or keeps it no more.
    fn write(&mut self, key: String, record: Option<Json>) {
        self.saves.push(Save { key, record });
    }

    /// Keeps nothing more under a key and below it.
    fn forget(&mut self, key: String) {
        let below = crate::text::joined(&[key.as_str(), "/"], "");
        self.last.retain(|known, _| *known != key && !known.starts_with(&below));
        self.saves.push(Save { key, record: None });
    }
}

impl Gateway {
    /// Tells the host what changed, before the outputs from that place on, which came of it.
    pub(crate) fn save(&mut self, from: usize) {
        let mut keeper = mem::take(&mut self.keeper);
        for pin in self.ground.pins.take_changed() {
            keeper.write(key(&["pin", &pin.0, &pin.1]), self.ground.pins.record(&pin));
        }
        self.save_rest(&mut keeper);
        if !self.ground.config.storage && !self.ground.config.pin_storage {
            keeper.saves.clear();
        }
        if !keeper.saves.is_empty() {
            let later = self.ground.outputs.split_off(from);
            self.ground.outputs.extend(keeper.saves.drain(..).map(Output::Save));
            self.ground.outputs.extend(later);
        }
        self.keeper = keeper;
    }

    fn save_rest(&mut self, keeper: &mut Keeper) {
        if !self.ground.config.storage {
            self.scopes.clear_touched(Scope::clear_changed);
            self.incoming.sessions.clear_touched(HttpSession::clear_changed);
            self.peers.clear_touched(|_| ());
            self.served.clear_touched();
            self.ground.directory.take_changed();
            self.ground.approvals.take_changed();
            return;
        }
        self.save_scopes(keeper);
        self.save_sessions(keeper);
        keeper.put("counters".to_string(), Some(self.counters_record()));
        if !mem::replace(&mut keeper.is_furnished, true) {
            keeper.put("external_agents".to_string(), self.external_record());
        }
        if may_ask(&self.ground.config) {
            keeper.put("seal".to_string(), Some(seal_record(&self.ground.seal())));
        }
        for (peer, _) in self.peers.take_touched().iter() {
            let session = self.peers.get(peer).filter(|_| self.is_kept(*peer, Form::Kept));
            keeper.put(key(&["peer", &peer.0.to_string()]), session.map(|session| peer_record(*peer, session)));
        }
        for (name, ()) in self.ground.directory.take_changed().iter() {
            keeper.write(key(&["directory", name]), self.ground.directory.record(name));
        }
        for (task, _) in self.served.take_touched().iter() {
            let place = key(&["task", &task.0.to_string()]);
            for (part, record) in self.served.unsaved(*task) {
                keeper.write(crate::text::joined(&[place.as_str(), "/", &part], ""), record);
            }
            keeper.put(place, self.served.record(*task, false));
        }
        for (id, _) in self.ground.approvals.take_changed().iter() {
            keeper.write(key(&["approval", id]), self.ground.approvals.get(id).map(Request::record));
        }
        for (call, ()) in mem::take(&mut self.touched_calls).iter() {
            let record = self.calls.get(call).and_then(|call| call_record(call, Form::Kept, &self.ground));
            keeper.put(key(&["call", &call.0.to_string()]), record);
        }
    }

    fn save_scopes(&mut self, keeper: &mut Keeper) {
        for (name, _) in self.scopes.take_touched().iter() {
            let Some(scope) = self.scopes.reach(name.as_str()) else {
                keeper.forget(key(&["scope", name]));
                continue;
            };
            let (agents, cards, inbox) = (scope.registry.take_touched(), scope.cards.take_changed(), scope.inbox.take_changed());
            let (secrets, known) = (scope.unsaved_secrets(), scope.known.take_changed());
            let unsaved = |(alias, _): (&String, &bool)| {
                scope.registry.unsaved_history(alias).map(|history| (history, scope.registry.take_new_card(alias)))
            };
            let unsaved: Vec<_> = agents.iter().map(unsaved).collect();
            let Some(scope) = self.scopes.get(name.as_str()) else { continue };
            let writer = Writer { ground: &self.ground, name, scope, form: Form::Kept };
            let at = |kind: &str, number: u64| key(&["scope", name, kind, &number.to_string()]);
            secrets.gone.for_each(|number| keeper.write(at("secret", number), None));
            for (number, secret) in scope.secrets.since(secrets.new.start) {
                keeper.write(at("secret", number), Some(writer.secret(number, secret)));
            }
            for ((alias, was_removed), unsaved) in agents.iter().zip(unsaved) {
                let place = key(&["scope", name, "agent", alias]);
                if *was_removed {
                    keeper.forget(place.clone());
                }
                let (Some(agent), Some((history, is_card_new))) = (scope.registry.get(alias), unsaved) else { continue };
                keeper.put(place.clone(), Some(writer.agent(alias, agent)));
                if is_card_new {
                    let card = agent.card().map(|card| writer.whole_card(alias, card));
                    keeper.put(crate::text::joined(&[place.as_str(), "/card"], ""), card);
                }
                let said = |number: u64| crate::text::joined(&[place.as_str(), "/", &number.to_string()], "");
                history.gone.for_each(|number| keeper.write(said(number), None));
                for (number, entry) in agent.history.since(history.new.start) {
                    keeper.write(said(number), Some(writer.said(alias, number, entry)));
                }
            }
            for (number, url) in cards.iter() {
                let card = scope.cards.numbered(*number, url).and_then(|card| writer.card(url, card));
                keeper.write(at("card", *number), card);
            }
            for (number, ()) in inbox.iter() {
                keeper.write(at("inbox", *number), scope.inbox.get(*number).map(|entry| writer.inbox(*number, entry)));
            }
            for (url, ()) in known.iter() {
                let record = scope.known.get(url).map(|agent| writer.known(url, agent));
                keeper.write(key(&["scope", name, "known", url.as_str()]), record);
            }
            keeper.put(key(&["scope", name, "caller"]), scope.caller.as_ref().map(|caller| writer.caller(caller)));
        }
    }

    fn save_sessions(&mut self, keeper: &mut Keeper) {
        for (name, _) in self.incoming.sessions.take_touched().iter() {
            let place = key(&["session", name]);
            let Some(session) = self.incoming.sessions.reach(name.as_str()) else {
                keeper.forget(place);
                continue;
            };
            for (number, ()) in session.take_changed().iter() {
                let place = crate::text::joined(&[place.as_str(), "/", &number.to_string()], "");
                let Some(unsaved) = session.unsaved_events(*number) else {
                    keeper.write(place, None);
                    continue;
                };
                keeper.write(place.clone(), stream_record(name, session, *number));
                let at = |event: u64| crate::text::joined(&[place.as_str(), "/", &event.to_string()], "");
                unsaved.gone.for_each(|event| keeper.write(at(event), None));
                for (event, wire) in session.events(*number, unsaved.new.start) {
                    keeper.write(at(event), Some(event_record(name, *number, event, wire)));
                }
            }
            keeper.put(place, Some(session_record(name, session)));
        }
    }

    /// Goes on from what the host keeps: tells it what is different by now, first what is new: a host that is stopped
    /// between two of them has something twice and nothing not at all.
    pub(super) fn keep_from(&mut self, mut kept: Kept) {
        self.save(0);
        let outputs = mem::take(&mut self.ground.outputs);
        let (mut lacking, mut later) = (Vec::new(), Vec::new());
        for output in outputs {
            let Output::Save(save) = &output else {
                later.push(output);
                continue;
            };
            if save.pieces() != kept.remove(&save.key).unwrap_or_default() {
                lacking.push(output);
            }
        }
        self.ground.outputs.extend(lacking);
        if self.ground.config.storage || self.ground.config.pin_storage {
            let gone = kept.iter().map(|(key, _)| Output::Save(Save { key: key.clone(), record: None }));
            self.ground.outputs.extend(gone);
        }
        self.ground.outputs.extend(later);
    }
}
