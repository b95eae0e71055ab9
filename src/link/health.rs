//! Whether a server is alive: it is asked now and then, and one that does not answer is connected anew.

use alloc::format;
use alloc::vec::Vec;

use super::connection::{Asked, Link, Wire};
use super::handshake::said;
use super::http::Why;
use super::life::State;
use super::{Outside, Report, wire};
use crate::io::Level;
use crate::json::Object;
use crate::mcp::era::Era;
use crate::time::Instant;

/// What is known of a server's health.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// when it is asked next
    pub(super) next_at: Option<Instant>,
    /// how many questions in a row it did not answer
    missed: u64,
}

impl Link {
    /// It is ready, or is checked otherwise from here on.
    pub(super) fn watch_health(&mut self, now: Instant) {
        let check = self.server.health_check.filter(|_| self.state == State::Ready);
        self.health = Health { next_at: check.map(|check| now.plus_ms(check.interval_ms)), missed: 0 };
    }

    /// Asks whether it is alive, where it is time for that.
    pub(super) fn check_health(&mut self, out: &mut Outside<'_>, reports: &mut Vec<Report>) {
        let now = out.ground.now;
        let Some(check) = self.server.health_check else { return };
        if self.health.next_at.take_if(|at| *at <= now).is_none() {
            return;
        }
        let unanswered = self.pending.iter().find(|(_, asked)| matches!(asked, Asked::Ping)).map(|(id, _)| *id);
        if let Some(id) = unanswered {
            self.pending.remove(&id);
            if let Wire::Http(wire) = &mut self.wire {
                wire.give_up(out, id);
            }
            if self.missed(out, "no answer", reports) {
                return;
            }
        }
        self.health.next_at = Some(now.plus_ms(check.interval_ms));
        // It may wait for a token, and go on where it was.
        if self.state != State::Ready {
            return;
        }
        // The version without a handshake has no ping, and this question, which every server of it answers.
        let method = match self.era() {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        let params = wire::bare(self.era(), &out.ground.config);
        self.ask(out, Asked::Ping, method, params, reports);
    }

    /// It said something, be it an error: it is alive.
    pub(super) const fn is_alive(&mut self) {
        self.health.missed = 0;
    }

    /// There will be no answer.
    pub(super) fn ping_refused(&mut self, out: &mut Outside<'_>, why: Why, reports: &mut Vec<Report>) {
        match why {
            Why::Session(is_current) if is_current && self.state == State::Ready => self.shake_again(out, reports),
            Why::Session(_) => {}
            Why::Status(..) | Why::Words(_) => {
                let _failed = self.missed(out, &said(why), reports);
            }
        }
    }

    /// One more question without an answer; whether it was one too many.
    fn missed(&mut self, out: &mut Outside<'_>, why: &str, reports: &mut Vec<Report>) -> bool {
        self.health.missed += 1;
        let Some(check) = self.server.health_check else { return false };
        let mut fields = Object::new();
        fields.string("server", &self.server.name).string("why", why).integer("missed", self.health.missed);
        out.ground.notice(Level::Warning, "link_ping_missed", fields);
        let is_unhealthy = self.health.missed >= check.unhealthy_threshold;
        if is_unhealthy {
            self.fail(out, format!("is unhealthy: {} pings in a row failed ({why})", self.health.missed), reports);
        }
        is_unhealthy
    }
}
