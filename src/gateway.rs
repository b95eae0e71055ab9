//! The three doors of the machine, and routing.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::config::Config;
use crate::io::{Deadline, Input, Misuse, Output};
use crate::time::{Instant, WallTime};

/// What a gateway is born with.
#[derive(Clone, Copy, Debug)]
pub struct Genesis {
    /// randomness of the host; a host that repeats a seed repeats its ids
    pub seed: [u8; 32],
    /// the moment of birth on the host's monotonic clock
    pub now: Instant,
    /// the wall-clock time at that moment
    pub unix_ms: WallTime,
}

/// Whether a snapshot holds credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// for the host's own storage
    Keep,
    /// to hand on
    Drop,
}

/// The gateway: a state machine without I/O, clock or callbacks.
#[derive(Debug)]
pub struct Gateway {
    config: Config,
    outputs: VecDeque<Output>,
    trace: Option<VecDeque<String>>,
}

impl Gateway {
    /// A gateway without peers and agents.
    #[must_use]
    pub fn new(_genesis: Genesis, config: Config) -> Self {
        Self { config, outputs: VecDeque::new(), trace: None }
    }

    /// Continues from the pieces of a [`snapshot`](Self::snapshot), in any order.
    ///
    /// # Errors
    /// A piece that is unreadable or of another version.
    pub fn restore(genesis: Genesis, config: Config, _pieces: &[String]) -> Result<Self, RestoreError> {
        Ok(Self::new(genesis, config))
    }

    /// Takes in what happened.
    ///
    /// # Errors
    /// [`Misuse`], a fault of the host; nothing changed.
    pub fn handle_input(&mut self, _now: Instant, _input: Input) -> Result<(), Misuse> {
        let _ = &self.config;
        Ok(())
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to come back at the latest, with [`Input::Tick`] if nothing else happened.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    /// All state, in pieces of JSON text under 1 MiB each.
    #[must_use]
    pub fn snapshot(&self, _secrets: Secrets) -> Vec<String> {
        Vec::new()
    }

    /// Starts or stops writing the trace.
    pub fn set_trace(&mut self, on: bool) {
        self.trace = on.then(VecDeque::new);
    }

    /// The next line of the trace: JSON, secrets replaced by placeholders.
    pub fn poll_trace(&mut self) -> Option<String> {
        self.trace.as_mut()?.pop_front()
    }
}

/// Why a snapshot was not taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreError(pub String);

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for RestoreError {}
