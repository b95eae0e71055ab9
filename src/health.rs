//! The health of an agent: consecutive transport failures, any answer heals.

use crate::time::Instant;

/// How long after its last failure an unhealthy agent may be tried again.
pub const RETRY_AFTER_MS: u64 = 30_000;

/// What is known of an agent's health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    heard: bool,
    failures: u64,
    retry_at: Option<Instant>,
}

impl Health {
    /// The agent answered, if only with an error.
    pub fn answered(&mut self) {
        *self = Self { heard: true, failures: 0, retry_at: None };
    }

    /// The agent could not be reached.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Some(now.plus_ms(RETRY_AFTER_MS));
    }

    /// The health of a snapshot.
    #[must_use]
    pub const fn restored(heard: bool, failures: u64, retry_at: Option<Instant>) -> Self {
        Self { heard, failures, retry_at }
    }

    /// Whether the agent ever answered.
    #[must_use]
    pub const fn heard(&self) -> bool {
        self.heard
    }

    /// Until when an unhealthy agent is left alone.
    #[must_use]
    pub const fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// The failures since its last answer.
    #[must_use]
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// `healthy`, `unhealthy` or `unknown`; a threshold of 0 never says `unhealthy`.
    #[must_use]
    pub const fn name(&self, threshold: u64) -> &'static str {
        if threshold > 0 && self.failures >= threshold {
            "unhealthy"
        } else if self.heard {
            "healthy"
        } else {
            "unknown"
        }
    }

    /// Whether a broadcast skips the agent now.
    #[must_use]
    pub fn is_skipped(&self, threshold: u64, now: Instant) -> bool {
        threshold > 0 && self.failures >= threshold && self.retry_at.is_some_and(|at| now < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_and_one_answer() {
        let mut health = Health::default();
        assert_eq!(health.name(3), "unknown");
        for _ in 0..3 {
            health.failed(Instant::from_ms(1000));
        }
        assert_eq!((health.name(3), health.name(0), health.failures()), ("unhealthy", "unknown", 3));
        assert!(health.is_skipped(3, Instant::from_ms(30_999)));
        assert!(!health.is_skipped(3, Instant::from_ms(31_000)));
        health.answered();
        assert_eq!(health.name(3), "healthy");
    }
}
