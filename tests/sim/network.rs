//! The faulty wire as a machine without I/O: what was put on it arrives later, in pieces, twice or never.

use std::collections::BTreeMap;

use narrows::io::{ExchangeId, Headers, Input, RequestId};

use super::mischief::{Piece, Script};

/// What arrives at one of its ends.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// at the gateway's host: a report about an exchange
    Report(Input),
    /// at the gateway's host: something of an incoming request
    Asked(Input),
    /// at a client: something of a response
    Told(RequestId, Told),
}

#[derive(Clone, Debug)]
pub enum Told {
    Head(u16, Headers),
    Bytes(Vec<u8>),
    End,
}

#[derive(Clone, Debug)]
enum Load {
    Arrival(Arrival),
    /// the same bytes again and again, as long as somebody listens
    Endless(ExchangeId, Vec<u8>, u64),
}

/// Everything that is on its way.
#[derive(Debug, Default)]
pub struct Network {
    queue: BTreeMap<(u64, u64), Load>,
    count: u64,
    /// exchanges that the host closed, and since when nothing of them arrives
    closed: BTreeMap<ExchangeId, u64>,
    /// when the last piece for a client arrives: pieces keep their order
    last: BTreeMap<RequestId, u64>,
}

impl Network {
    fn put(&mut self, at: u64, load: Load) {
        self.count += 1;
        self.queue.insert((at, self.count), load);
    }

    /// What an agent sends in answer to an exchange.
    pub fn answer(&mut self, now: u64, exchange: ExchangeId, script: Script) {
        let mut at = now;
        for (wait, piece) in script {
            at += wait;
            let load = match piece {
                Piece::Head(status, headers) => Load::Arrival(Arrival::Report(Input::Head { exchange, status, headers })),
                Piece::Body(bytes) => Load::Arrival(Arrival::Report(Input::Body { exchange, bytes })),
                Piece::End => Load::Arrival(Arrival::Report(Input::End { exchange })),
                Piece::Failed(cause, detail) => Load::Arrival(Arrival::Report(Input::Failed { exchange, cause, detail })),
                Piece::Endless(bytes, every) => Load::Endless(exchange, bytes, every),
            };
            self.put(at, load);
        }
    }

    /// The gateway gave an exchange up, and its host closes the connection at that time.
    pub fn close(&mut self, at: u64, exchange: ExchangeId) {
        self.closed.insert(exchange, at);
    }

    /// Something of a client's request.
    pub fn ask(&mut self, at: u64, input: Input) {
        self.put(at, Load::Arrival(Arrival::Asked(input)));
    }

    /// Something of a response, on its way to the client.
    pub fn tell(&mut self, now: u64, wait: u64, request: RequestId, told: Told) {
        let last = self.last.entry(request).or_default();
        *last = (*last).max(now + wait);
        let at = *last;
        self.put(at, Load::Arrival(Arrival::Told(request, told)));
    }

    /// The connection of a request broke: nothing more arrives at either end.
    pub fn cut(&mut self, request: RequestId) {
        self.last.remove(&request);
        self.queue.retain(|_, load| match load {
            Load::Arrival(Arrival::Told(known, _)) => *known != request,
            Load::Arrival(Arrival::Asked(
                Input::Request { request: known, .. }
                | Input::RequestBody { request: known, .. }
                | Input::RequestEnd { request: known },
            )) => *known != request,
            Load::Arrival(Arrival::Asked(_) | Arrival::Report(_)) | Load::Endless(..) => true,
        });
    }

    /// When the next thing arrives.
    pub fn next_at(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next thing that arrives, if its time has come. `listens` says whether anybody waits for an exchange.
    pub fn poll(&mut self, now: u64, listens: impl Fn(ExchangeId) -> bool) -> Option<Arrival> {
        while self.next_at().is_some_and(|at| at <= now) {
            let ((at, _), load) = self.queue.pop_first()?;
            let arrival = match load {
                Load::Arrival(arrival) => arrival,
                Load::Endless(exchange, ..) if !listens(exchange) => continue,
                Load::Endless(exchange, bytes, every) => {
                    self.put(at.max(now) + every, Load::Endless(exchange, bytes.clone(), every));
                    Arrival::Report(Input::Body { exchange, bytes })
                }
            };
            let exchange = match &arrival {
                Arrival::Report(
                    Input::Head { exchange, .. }
                    | Input::Body { exchange, .. }
                    | Input::End { exchange }
                    | Input::Failed { exchange, .. },
                ) => Some(exchange),
                Arrival::Report(_) | Arrival::Asked(_) | Arrival::Told(..) => None,
            };
            if exchange.and_then(|exchange| self.closed.get(exchange)).is_none_or(|since| at < *since) {
                return Some(arrival);
            }
        }
        None
    }
}
