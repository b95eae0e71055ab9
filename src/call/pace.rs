//! How often a caller is told how far its call is: an agent that floods its gateway floods nobody else.

use crate::json::Json;
use crate::time::Instant;

/// How many notifications one call gives within a second.
const MOST: u32 = 10;
/// How long they count.
const SECOND_MS: u64 = 1000;

/// The notifications of the second that runs, and the last one that had no place in it.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    until: Instant,
    told: u32,
    held: Option<Json>,
}

impl Pace {
    /// The notification, where it is told now. If not, it waits in place of the one before.
    pub fn take(&mut self, now: Instant, notification: Json) -> Option<Json> {
        if now >= self.until {
            (self.until, self.told) = (now.plus_ms(SECOND_MS), 0);
        }
        let is_told = self.told < MOST;
        self.told += u32::from(is_told);
        let (now, later) = if is_told { (Some(notification), None) } else { (None, Some(notification)) };
        self.held = later;
        now
    }

    /// The notification that waits, where its second or its call is over.
    pub fn release(&mut self, now: Instant, is_over: bool) -> Option<Json> {
        let held = self.held.take_if(|_| is_over || now >= self.until)?;
        // The first of the next second.
        (self.until, self.told) = (now.plus_ms(SECOND_MS), 1);
        Some(held)
    }

    /// When the one that waits is told.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.held.as_ref().map(|_| self.until)
    }
}
