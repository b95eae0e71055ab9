//! A stream of what a server says unasked, which is asked for again whenever it breaks.

use crate::ids::Random;
use crate::time::Instant;

/// How often the wait is doubled at most.
const DOUBLED: u32 = 6;

/// The shortest first wait, whatever a server wants. Nothing is lost meanwhile: what is said has an id, or the list is read
/// again.
const LEAST_MS: u64 = 1000;

/// How long a stream has to last to be one that went well.
const WELL_MS: u64 = 5000;

/// How often it was asked for in vain, and when last.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    times: u32,
    asked_at: Instant,
}

impl Again {
    /// One that was never asked for before.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self { times: 0, asked_at: now }
    }

    /// It is asked for.
    pub const fn ask(&mut self, now: Instant) {
        self.asked_at = now;
    }

    /// Something was said on it.
    pub fn went_well(&mut self) {
        self.times = self.times.min(1);
    }

    /// It broke.
    pub fn broke(&mut self, now: Instant) {
        if now.since(self.asked_at) >= WELL_MS {
            self.times = 0;
        }
    }

    /// Whether one that is refused with that status of HTTP is to be had later, or was there before.
    #[must_use]
    pub const fn is_later(&self, status: u16) -> bool {
        matches!(status, 408 | 429 | 500 | 502..) || self.times > 0 && !matches!(status, ..300 | 404 | 405 | 501)
    }

    /// Whether it was there before.
    #[must_use]
    pub const fn was_there(&self) -> bool {
        self.times > 0
    }

    /// How long it is left alone: after the first time that long, then each time twice as long, and some more by chance. The
    /// first wait is an hour at most.
    pub fn wait_ms(&mut self, first_ms: u64, random: &mut Random) -> u64 {
        let wait_ms = first_ms.max(LEAST_MS) << self.times.min(DOUBLED);
        self.times = self.times.saturating_add(1);
        wait_ms + random.below(wait_ms / 4)
    }
}
