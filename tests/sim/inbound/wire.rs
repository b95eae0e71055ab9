//! The wire between the two: requests and responses in pieces, which take their time, and connections that are lost.

use narrows::io::{ExchangeId, Input, RequestId};

/// A connection from one gateway to the other.
#[derive(Clone, Debug)]
pub struct Link {
    pub from: usize,
    pub exchange: ExchangeId,
    pub to: usize,
    pub request: RequestId,
    /// whether the one who asked still listens
    pub asks: bool,
    /// whether the one who is asked knows of it and has not ended its response
    pub answers: bool,
    /// when its last piece arrives: pieces keep their order
    pub last_at: u64,
}

/// What happens later.
#[derive(Clone, Debug)]
pub enum Event {
    /// somebody does something
    Act,
    /// something arrives at whom a link leads to
    Asked(usize, Input),
    /// something arrives at whom it comes from
    Answered(usize, Input),
    /// its connection is lost
    Cut(usize),
    /// a webhook answers or does not
    Hook(usize, u64, ExchangeId, Option<u16>),
    /// a function goes on with its work: the node, its life, the work
    Work(usize, u64, u64),
    /// a new process is there
    Up(usize),
    /// nothing goes wrong any more, and what is open is brought to its end
    Close,
}
