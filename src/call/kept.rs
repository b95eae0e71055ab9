//! The outcome of a call whose client was asked by a result, and has not come back yet.

use super::Ended;
use crate::io::{Deadline, Reason};
use crate::time::Instant;

/// An outcome that is kept for a while.
#[derive(Debug)]
pub struct Kept {
    /// the outcome
    pub ended: Ended,
    /// until when
    pub until: Instant,
}

impl Kept {
    /// When it is forgotten.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }
}
