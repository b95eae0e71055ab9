//! Who is let in, and which stream a client listens to.

use narrows::io::{Headers, RequestId};
use narrows::time::Instant;

use super::super::session::event_id;
use super::super::watch::Watch;
use super::{Owed, Served, Stage, VERSIONS, accepts, field, is_modern};

impl Served {
    fn admit_address(&self, headers: &Headers) -> Result<(), u16> {
        let hosts: Vec<&str> =
            headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.as_str()).collect();
        let near = |name: &str| name.starts_with("localhost") || name.starts_with("127.0.0.1") || name.starts_with("[::1]");
        let [host] = hosts[..] else { return Err(403) };
        if !near(host) {
            return Err(403);
        }
        let origin = field(headers, "origin").unwrap_or("http://localhost");
        let configured = self.config.server.cors_origins.iter().any(|known| known == origin);
        if configured || origin.strip_prefix("http://").is_some_and(near) { Ok(()) } else { Err(403) }
    }

    fn principal(&self, headers: &Headers) -> Result<String, u16> {
        let tokens = &self.config.server.tokens;
        if tokens.is_empty() {
            return Ok("local".to_owned());
        }
        let shown = field(headers, "authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        tokens.iter().find(|token| token.token == shown).map(|token| token.principal.clone()).ok_or(401)
    }

    /// The session that a head names.
    pub(super) fn session(&mut self, principal: &str, headers: &Headers, now: Instant) -> Result<String, u16> {
        let name = field(headers, "mcp-session-id").ok_or(400_u16)?;
        if field(headers, "mcp-protocol-version").is_some_and(|version| !VERSIONS.contains(&version)) {
            return Err(400);
        }
        match self.sessions.get_mut(name).filter(|session| session.principal == principal) {
            Some(session) => {
                session.used = now;
                Ok(name.to_owned())
            }
            None => Err(404),
        }
    }
}

impl Watch {
    pub(super) fn admit(&mut self, request: RequestId, method: &str, target: &str, headers: &Headers) -> Result<(), u16> {
        let served = &mut self.served;
        served.admit_address(headers)?;
        let limits = &served.config.limits;
        if served.stopping {
            return Err(503);
        }
        if headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() as u64 > limits.header_bytes {
            return Err(431);
        }
        let path = target.split('?').next().unwrap_or_default().trim_end_matches('/');
        if method == "OPTIONS" {
            return Err(204);
        }
        if path == "/healthz" {
            return Err(if method == "GET" || method == "HEAD" { 200 } else { 405 });
        }
        let principal = served.principal(headers)?;
        if served.requests.values().filter(|asked| asked.principal == principal).count() as u64 >= limits.requests {
            return Err(503);
        }
        let request_bytes = limits.request_bytes;
        served.requests.get_mut(&request).unwrap().principal.clone_from(&principal);
        match (path, method) {
            ("/mcp", "POST") => {
                let kind = field(headers, "content-type").unwrap_or_default();
                if kind.split(';').next() != Some("application/json") {
                    return Err(415);
                }
                if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
                    return Err(406);
                }
                let length = field(headers, "content-length").and_then(|length| length.parse::<u64>().ok());
                if length.is_some_and(|length| length > request_bytes) {
                    return Err(413);
                }
                served.requests.get_mut(&request).unwrap().stage = Stage::Body(headers.clone(), Vec::new());
                Ok(())
            }
            ("/mcp", "GET") => self.listen(request, &principal, headers),
            ("/mcp", "DELETE") if is_modern(headers) => Err(405),
            ("/mcp", "DELETE") => {
                let name = self.served.session(&principal, headers, self.now)?;
                self.end_session(&name);
                Err(204)
            }
            ("/mcp", _) => Err(405),
            _ => Err(404),
        }
    }

    fn listen(&mut self, request: RequestId, principal: &str, headers: &Headers) -> Result<(), u16> {
        if is_modern(headers) || field(headers, "mcp-session-id").is_none() {
            return Err(405);
        }
        if !accepts(headers, "text/event-stream") {
            return Err(406);
        }
        let name = self.served.session(principal, headers, self.now)?;
        let session = self.served.sessions.get_mut(&name).unwrap();
        let peer = session.peer;
        let (stream, next_event) = match field(headers, "last-event-id") {
            None => (session.open(request, Vec::new()), 0),
            Some(last) => {
                let (stream, event) = event_id(last).ok_or(400_u16)?;
                let log = session.streams.get_mut(&stream).ok_or(400_u16)?;
                if event >= log.events.len() as u64 {
                    return Err(400);
                }
                (stream, event + 1)
            }
        };
        let log = session.streams.get(&stream).unwrap();
        let (calls, standing, resumes) = (log.calls.clone(), log.standing, next_event > 0);
        // What was seen of it may be forgotten where little is kept.
        let scarce = self.served.config.limits.session_event_bytes < 1 << 20 && resumes;
        self.served.owed.push((request, if scarce { Owed::Anything } else { Owed::Stream }));
        self.wait(request, peer, Some((name, stream)), calls, false);
        let waiting = self.served.waiting(request);
        (waiting.standing, waiting.next_event, waiting.resumes) = (standing, next_event, resumes);
        Ok(())
    }
}
