//! How a server's era is found out, and the handshake of those that want one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::connection::{Asked, Link, Spoken, Wire};
use super::http::Why;
use super::life::{Event, State};
use super::{Outside, Report, wire};
use crate::json::{self, Json, Members, Object, Raw};
use crate::jsonrpc::{self, Outcome};
use crate::mcp::era::{Era, LEGACY_VERSIONS, MODERN_VERSIONS, UNSUPPORTED_VERSION};

/// The longest wait for the answer to a question that some servers never answer.
const PROBE_MS: u64 = 10_000;

impl Link {
    /// The process runs, or the address may be called.
    pub fn opened(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        if self.state != State::Opening {
            return;
        }
        // Events on a stream of their own are older than the version without a handshake.
        let is_old = matches!(&self.wire, Wire::Http(wire) if wire.events);
        if self.spoken == Spoken::Legacy || is_old {
            self.go(Event::OpenedLegacy);
            return self.shake(out, reports);
        }
        self.go(Event::Opened);
        self.due_in(out, PROBE_MS.min(self.server.timeout_ms / 2));
        self.probe(out, reports);
    }

    fn probe(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let params = wire::bare(Era::Modern, &out.ground.config);
        self.ask(out, Asked::Probe, "server/discover", params, reports);
    }

    pub(super) fn shake(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        self.due_in(out, self.server.timeout_ms);
        let params = wire::initialize(&out.ground.config);
        self.ask(out, Asked::Initialize, "initialize", params, reports);
    }

    /// Whether it speaks the version without a handshake. Where the handshake is out already, the answer to that decides.
    pub(super) fn probed(&mut self, out: &mut Outside<'_>, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        let versions = |raw| json::members(raw)?.get("supportedVersions").and_then(json::strings);
        let is_modern = match outcome {
            Outcome::Result(raw) => {
                let is_modern = versions(raw).is_some_and(|list| speaks_modern(&list));
                if is_modern {
                    self.learn(raw);
                }
                is_modern
            }
            Outcome::Error(raw) => {
                let error = json::members(raw).unwrap_or_default();
                if self.state == State::Probing && refuses_handshakes(&error) && !core::mem::replace(&mut self.asked_again, true)
                {
                    return self.probe(out, reports);
                }
                false
            }
        };
        self.discovered = is_modern;
        match (self.state, is_modern) {
            (State::Probing, true) => self.go_modern(out, reports),
            (State::Probing, false) => {
                self.go(Event::NotModern);
                self.shake(out, reports);
            }
            (
                State::Waiting
                | State::Opening
                | State::Shaking
                | State::Listing
                | State::Authorizing
                | State::Locked
                | State::Ready
                | State::Stopped,
                _,
            ) => {}
        }
    }

    /// There is no answer to the question. What an address says of credentials or of its own trouble says nothing of eras.
    pub(super) fn probe_refused(&mut self, out: &mut Outside<'_>, why: Why, reports: &mut Vec<Report>) {
        if self.state != State::Probing {
            return;
        }
        match why {
            Why::Status(401 | 403 | 429 | 500.., _) | Why::Words(_) => self.fail(out, said(why), reports),
            Why::Status(_, body) => {
                let text = Json::parse(&body, 64).ok();
                let error = text.as_ref().and_then(Json::members).and_then(|answer| answer.get("error"));
                match error {
                    Some(error) => self.probed(out, Outcome::Error(error), reports),
                    None => {
                        self.go(Event::NotModern);
                        self.shake(out, reports);
                    }
                }
            }
            Why::Session(_) => {}
        }
    }

    /// What the server calls itself.
    fn learn(&mut self, raw: Raw<'_>) {
        self.told.clear();
        let members = json::members(raw).unwrap_or_default();
        let meta = members.get("_meta").and_then(json::members).unwrap_or_default();
        let info = meta.get("io.modelcontextprotocol/serverInfo").or_else(|| members.get("serverInfo"));
        let info = info.and_then(json::members).unwrap_or_default();
        for (name, field) in [("name", "server_name"), ("version", "server_version")] {
            if let Some(text) = info.string(name) {
                self.told.push((field, text.chars().take(80).collect()));
            }
        }
    }

    fn go_modern(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        self.spoken = Spoken::Modern;
        self.told.push(("protocol_version", MODERN_VERSIONS.first().copied().unwrap_or_default().to_string()));
        self.go(Event::Modern);
        self.list(out, reports);
    }

    pub(super) fn initialized(&mut self, out: &mut Outside<'_>, outcome: Outcome<'_>, reports: &mut Vec<Report>) {
        if self.state != State::Shaking {
            return;
        }
        match outcome {
            Outcome::Result(raw) => {
                let version = json::members(raw).and_then(|result| result.string("protocolVersion")).unwrap_or_default();
                if !LEGACY_VERSIONS.contains(&version.as_str()) {
                    let version: String = version.chars().take(40).collect();
                    return self.fail(out, format!("speaks a version that is not spoken here: '{version}'"), reports);
                }
                self.spoken = Spoken::Legacy;
                self.learn(raw);
                self.told.push(("protocol_version", version.clone()));
                self.go(Event::Shook);
                if let Wire::Http(wire) = &mut self.wire {
                    wire.agree(&version);
                }
                let text = jsonrpc::notification("notifications/initialized", &Object::new().finish());
                self.say(out, "notifications/initialized", text);
                if let Wire::Http(wire) = &mut self.wire
                    && !wire.events
                {
                    // A server need not offer it.
                    let _ = wire.listen(out);
                }
                self.list(out, reports);
            }
            Outcome::Error(raw) => {
                let error = json::members(raw).unwrap_or_default();
                if self.discovered || refuses_handshakes(&error) {
                    return self.go_modern(out, reports);
                }
                self.fail(out, format!("refused the handshake: {}", words(&error)), reports);
            }
        }
    }

    /// The handshake was refused over HTTP: some want the version named at once, and older ones events on a stream of their
    /// own.
    pub(super) fn handshake_refused(&mut self, out: &mut Outside<'_>, why: Why, reports: &mut Vec<Report>) {
        let Wire::Http(wire) = &mut self.wire else { return };
        let is_new = !wire.events;
        match &why {
            Why::Status(400, body) => {
                let text = Json::parse(body, 64).ok();
                let error = text.as_ref().and_then(Json::members).and_then(|answer| answer.get("error").and_then(json::members));
                if error.is_some_and(|error| refuses_handshakes(&error)) {
                    return self.go_modern(out, reports);
                }
                if is_new && !core::mem::replace(&mut self.asked_again, true) {
                    wire.agree(LEGACY_VERSIONS.last().copied().unwrap_or_default());
                    return self.shake(out, reports);
                }
            }
            Why::Status(..) | Why::Session(_) | Why::Words(_) => {}
        }
        if let (true, Why::Status(400 | 404 | 405 | 406 | 415, _)) = (is_new, &why) {
            wire.reset(out);
            wire.events = true;
            self.cause = said(why);
            self.go(Event::Older);
            self.due_in(out, self.server.timeout_ms);
            return self.listen_for_all(out, reports);
        }
        self.fail(out, said(why), reports);
    }
}

/// What there is instead of an answer, for people.
pub(super) fn said(why: Why) -> String {
    match why {
        Why::Status(status @ (401 | 403), _) => format!("answered HTTP {status}: it wants credentials, give them as headers"),
        Why::Status(200, _) => "answered HTTP 200 with something else than its answer".to_string(),
        Why::Status(status, _) => format!("answered HTTP {status}"),
        Why::Session(_) => "ended its session".to_string(),
        Why::Words(words) => words,
    }
}

fn speaks_modern(versions: &[String]) -> bool {
    versions.iter().any(|version| MODERN_VERSIONS.contains(&version.as_str()))
}

/// Whether an error says that the version without a handshake is spoken.
fn refuses_handshakes(error: &Members<'_>) -> bool {
    let code = error.get("code").and_then(|code| json::integer(code.get()));
    let supported = error.get("data").and_then(json::members).and_then(|data| data.get("supported").and_then(json::strings));
    code == Some(UNSUPPORTED_VERSION) && supported.is_some_and(|list| speaks_modern(&list))
}

/// What an error says, cut to a readable length.
pub(super) fn words(error: &Members<'_>) -> String {
    error.string("message").unwrap_or_else(|| "it gave no reason".to_string()).chars().take(300).collect()
}
