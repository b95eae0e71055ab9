//! The life of a link, as a table.

/// Where a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// not connected; it is tried again later
    Waiting,
    /// its process is started
    Opening,
    /// it was asked whether it speaks the version without a handshake
    Probing,
    /// the handshake is out
    Shaking,
    /// its tools are asked for
    Listing,
    /// it wants a token, which is asked for
    Authorizing,
    /// it wants a token, for which a person has to log in
    Locked,
    /// its tools are known and may be called
    Ready,
    /// it was ended for good
    Stopped,
}

/// What happens to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// the wait is over
    Due,
    /// the process runs
    Opened,
    /// the process runs, and is known to want a handshake
    OpenedLegacy,
    /// it speaks the version without a handshake
    Modern,
    /// it does not, or does not say so
    NotModern,
    /// it ended while it was asked
    Died,
    /// it answered the handshake
    Shook,
    /// it speaks an older transport, if any
    Older,
    /// its session is over
    SessionOver,
    /// it wants a token, or another one
    Challenged,
    /// there is a token; it is connected with it
    Authorized,
    /// there is another token; it goes on
    Renewed,
    /// there is no token without a person
    LoginNeeded,
    /// its tools are known
    Listed,
    /// it broke, was silent for too long, or does not keep to the protocol
    Failure,
    /// the gateway stops
    Stop,
}

/// Every transition: in this state, on this event, to that state, and the words of the diagram.
pub const TABLE: [(State, Event, State, &str); 21] = {
    use {Event as E, State as S};
    [
        (S::Waiting, E::Due, S::Opening, "at once, then 1, 2, 4 up to 60 s"),
        (S::Opening, E::Opened, S::Probing, "runs"),
        (S::Opening, E::OpenedLegacy, S::Shaking, "runs, wants a handshake"),
        (S::Probing, E::Modern, S::Listing, "speaks 2026-07-28"),
        (S::Probing, E::NotModern, S::Shaking, "does not say so in time"),
        (S::Probing, E::Died, S::Opening, "died of the question"),
        (S::Shaking, E::Shook, S::Listing, "handshake done"),
        (S::Shaking, E::Modern, S::Listing, "wants none after all"),
        (S::Shaking, E::Older, S::Opening, "refused, tries HTTP with events"),
        (S::Listing, E::Listed, S::Ready, "tools known"),
        (S::Ready, E::SessionOver, S::Shaking, "its session is over"),
        (S::Ready, E::Failure, S::Waiting, "broken"),
        (S::Opening, E::Challenged, S::Authorizing, "wants a token"),
        (S::Probing, E::Challenged, S::Authorizing, "wants a token"),
        (S::Shaking, E::Challenged, S::Authorizing, "wants a token"),
        (S::Listing, E::Challenged, S::Authorizing, "wants a token"),
        (S::Ready, E::Challenged, S::Authorizing, "wants another token"),
        (S::Authorizing, E::Authorized, S::Opening, "has a token"),
        (S::Authorizing, E::Renewed, S::Ready, "has another token"),
        (S::Authorizing, E::LoginNeeded, S::Locked, "a person has to log in"),
        (S::Locked, E::Authorized, S::Opening, "a person logged in"),
    ]
};

impl State {
    /// The name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Opening => "starting",
            Self::Probing | Self::Shaking => "handshake",
            Self::Listing => "listing",
            Self::Authorizing => "authorizing",
            Self::Locked => "login needed",
            Self::Ready => "ready",
            Self::Stopped => "stopped",
        }
    }

    /// Where an event leads. Every state may fail and be stopped; what the table does not hold stays.
    #[must_use]
    pub fn after(self, event: Event) -> Self {
        match (self, event) {
            (Self::Stopped, _) | (_, Event::Stop) => Self::Stopped,
            (_, Event::Failure) => Self::Waiting,
            (_, _) => {
                let row = TABLE.iter().find(|(from, on, ..)| *from == self && *on == event);
                row.map_or(self, |(_, _, to, _)| *to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_fails_and_stops_and_only_ready_ones_are_ready() {
        use {Event as E, State as S};
        for state in [S::Waiting, S::Opening, S::Probing, S::Shaking, S::Listing, S::Authorizing, S::Locked, S::Ready] {
            assert_eq!(state.after(E::Failure), S::Waiting);
            assert_eq!(state.after(E::Stop), S::Stopped);
            assert_eq!(state.after(E::Listed) == S::Ready, matches!(state, S::Listing | S::Ready));
        }
        assert_eq!(S::Stopped.after(E::Due), S::Stopped);
        assert_eq!(S::Stopped.after(E::Failure), S::Stopped);
    }
}
