//! What is told of every incoming request once it is served, and what is counted.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::incoming::Stage;
use crate::incoming::access::Refusal;
use crate::io::{Headers, Input, Level, Output, RequestId};
use crate::json::Object;
use crate::metrics::MEDIA_TYPE;
use crate::time::Instant;
use crate::trace_context::TraceContext;

/// An incoming request that goes on.
#[derive(Debug)]
pub(crate) struct Access {
    method: &'static str,
    route: &'static str,
    principal: String,
    begun: Instant,
    status: Option<u16>,
    bytes: u64,
    trace: Option<TraceContext>,
}

/// Methods that are told by their name.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Paths that are told as they are.
const PATHS: [&str; 8] =
    ["/", "/mcp", "/healthz", "/metrics", "/agents", "/api/a2a", "/.well-known/agent-card.json", "/.well-known/agent.json"];

/// Beginnings of paths, and what is told of those.
const BELOW: [(&str, &str); 3] =
    [("/agents/", "/agents/{name}"), ("/api/a2a/", "/api/a2a/*"), ("/api/approvals", "/api/approvals/*")];

impl Gateway {
    /// Which trace an input belongs to.
    pub(super) fn trace_of(&self, input: &Input) -> Option<TraceContext> {
        match input {
            Input::Request { headers, .. } => TraceContext::of_headers(headers),
            Input::RequestEnd { request } => self.accesses.get(request)?.trace.clone(),
            Input::Open { .. } | Input::Message { .. } | Input::MessageTooLong { .. } | Input::Closed { .. } => None,
            Input::Head { .. } | Input::Body { .. } | Input::End { .. } | Input::Failed { .. } => None,
            Input::RequestBody { .. } | Input::RequestGone { .. } | Input::Directory(_) | Input::Stop | Input::Tick => None,
            Input::Link { .. } | Input::Authorize { .. } | Input::Decision { .. } | Input::Configure { .. } | Input::Pins(_) => {
                None
            }
            Input::Update { .. } | Input::WorkEnd { .. } | Input::WorkFailed { .. } => None,
        }
    }

    /// A request began.
    pub(super) fn begin_access(&mut self, request: RequestId, method: &str, target: &str) {
        let path = target.split('?').next().unwrap_or_default();
        let access = Access {
            method: METHODS.iter().find(|known| **known == method).copied().unwrap_or("other"),
            route: self.route_of(if path.len() > 1 { path.trim_end_matches('/') } else { path }),
            principal: String::new(),
            begun: self.ground.now,
            status: None,
            bytes: 0,
            trace: self.ground.trace_context.clone(),
        };
        self.accesses.insert(request, access);
    }

    /// Who makes a request is known.
    pub(super) fn name_access(&mut self, request: RequestId, principal: &str) {
        if let Some(access) = self.accesses.get_mut(&request) {
            access.principal = principal.to_string();
        }
    }

    /// What is told of a path: nothing that a caller wrote.
    fn route_of(&self, path: &str) -> &'static str {
        if let Some(known) = PATHS.iter().find(|known| **known == path) {
            return known;
        }
        if let Some((_, route)) = BELOW.iter().find(|(start, _)| path.starts_with(start)) {
            return route;
        }
        match path.strip_prefix(self.ground.config.a2a.listen_path.as_str()) {
            Some("") => "{listen_path}",
            Some(rest) if rest.starts_with("/rest/") => "{listen_path}/rest/*",
            Some(_) | None => "other",
        }
    }

    /// Tells of every request whose response is complete by the outputs from that place on.
    pub(super) fn note_served(&mut self, from: usize) {
        if self.accesses.is_empty() {
            return;
        }
        let mut ended = Vec::new();
        for output in self.ground.outputs.iter().skip(from) {
            match output {
                Output::ResponseHead { request, status, .. } => {
                    if let Some(access) = self.accesses.get_mut(request) {
                        access.status = Some(*status);
                    }
                }
                Output::ResponseBody { request, text } => {
                    if let Some(access) = self.accesses.get_mut(request) {
                        access.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
                    }
                }
                Output::ResponseEnd { request } => ended.push(*request),
                Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Save(_) => {}
                Output::Work { .. } | Output::WorkAbort { .. } | Output::Lookup(_) | Output::Notice(_) => {}
                Output::Link { .. } | Output::Tokens { .. } => {}
            }
        }
        for request in ended {
            self.note(request, false);
        }
    }

    /// Tells of a request that ended, or whose client left.
    pub(super) fn note(&mut self, request: RequestId, gone: bool) {
        let Some(access) = self.accesses.remove(&request) else { return };
        let status = access.status.map_or_else(|| "none".to_string(), |status| status.to_string());
        let mut fields = Object::new();
        fields.string("method", access.method).string("route", access.route);
        if let Some(status) = access.status {
            fields.integer("status", status);
        }
        fields.optional_string("principal", Some(access.principal.as_str()).filter(|name| !name.is_empty()));
        fields.integer("ms", self.ground.now.since(access.begun)).integer("bytes", access.bytes);
        if gone {
            fields.boolean("gone", true);
        }
        if let Some(trace) = &access.trace {
            trace.add_to_notice(&mut fields);
        }
        self.ground.notice(Level::Info, "request_served", fields);
        self.metrics.add("narrows_http_requests_total", &[("route", access.route), ("status", &status)], 1);
        if access.status.is_some_and(|status| status >= 400) {
            self.metrics.add("narrows_http_refusals_total", &[("status", &status)], 1);
        }
    }

    /// Serves what was counted, with how everything is now.
    pub(super) fn serve_metrics(&mut self, request: RequestId) -> Result<(), Refusal> {
        let mut metrics = self.metrics.clone();
        let count = |items: usize| u64::try_from(items).unwrap_or(u64::MAX);
        let is_stream = |stage: &Stage| match stage {
            Stage::Waiting(waiting) => waiting.streaming,
            Stage::Watching(watching) => watching.begun,
            Stage::Body { .. } | Stage::Refused | Stage::Looking(_) | Stage::Calling(_) => false,
        };
        let requests = &self.incoming.requests;
        for (family, value) in [
            ("narrows_agents", self.scopes.values().map(|scope| scope.registry.len()).sum()),
            ("narrows_calls_running", self.calls.len()),
            ("narrows_directory_cards", self.ground.directory.len()),
            ("narrows_exchanges_running", self.exchanges.len()),
            ("narrows_exchanges_total", self.ground.counters().0.saturating_sub(1)),
            ("narrows_http_requests_running", requests.len()),
            ("narrows_peers", self.peers.len()),
            ("narrows_sessions", self.incoming.sessions.len()),
            ("narrows_streams", count(requests.values().filter(|served| is_stream(&served.stage)).count())),
            ("narrows_uptime_seconds", self.ground.now.since(self.ground.born)),
        ] {
            metrics.add(family, &[], value);
        }
        for state in ["ended", "waiting", "working"] {
            metrics.add("narrows_tasks", &[("state", state)], 0);
        }
        for (_, task) in self.served.iter() {
            let state = match (task.state().is_terminal(), task.state().is_interrupted()) {
                (true, _) => "ended",
                (false, true) => "waiting",
                (false, false) => "working",
            };
            metrics.add("narrows_tasks", &[("state", state)], 1);
        }
        let mut headers: Headers = self.common(request);
        headers.push(("Content-Type".to_string(), MEDIA_TYPE.to_string()));
        headers.push(("Cache-Control".to_string(), "no-store".to_string()));
        self.respond(request, 200, headers, metrics.to_text());
        Ok(())
    }
}
