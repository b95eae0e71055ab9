//! The life of a served task, as a table: its states, who may cause each change, what those who watch it see.

use crate::a2a::State;

/// Who changes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// whoever does the work
    Responder,
    /// the caller, by one more message
    Message,
    /// the caller, who does not want it any more
    Cancel,
    /// the gateway, where the work cannot go on
    Gateway,
}

/// What becomes of a stream at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// it goes on
    Stays,
    /// it ends behind the event (A2A 1.0 §3.1.2, §7.6)
    Ends,
}

/// Every state that a served task is in, and what a stream and a blocking send do there: whether the one ends, whether
/// the other is answered.
pub const STATES: [(State, Stream, bool); 8] = [
    (State::Submitted, Stream::Stays, false),
    (State::Working, Stream::Stays, false),
    (State::InputRequired, Stream::Ends, true),
    (State::AuthRequired, Stream::Stays, true),
    (State::Completed, Stream::Ends, true),
    (State::Failed, Stream::Ends, true),
    (State::Canceled, Stream::Ends, true),
    (State::Rejected, Stream::Ends, true),
];

/// From the state of the row to that of the column, in the order of [`STATES`]: who may. `r` the responder, `m` a
/// message, `c` a cancellation, `g` the gateway. The last four rows are empty: an ended task stays as it is.
pub const TABLE: [[&str; 8]; 8] = [
    // submitted, working, input, auth, completed, failed, canceled, rejected
    ["r", "rm", "r", "r", "r", "rg", "rc", "rg"],
    ["", "rm", "r", "r", "r", "rg", "rc", "rg"],
    ["", "rm", "r", "r", "r", "rg", "rc", "rg"],
    ["", "rm", "r", "r", "r", "rg", "rc", "rg"],
    ["", "", "", "", "", "", "", ""],
    ["", "", "", "", "", "", "", ""],
    ["", "", "", "", "", "", "", ""],
    ["", "", "", "", "", "", "", ""],
];

fn place(state: &State) -> Option<usize> {
    STATES.iter().position(|(known, ..)| known == state)
}

/// Whether somebody may lead a task from one state to another.
#[must_use]
pub fn may(who: Who, from: &State, to: &State) -> bool {
    let letter = match who {
        Who::Responder => 'r',
        Who::Message => 'm',
        Who::Cancel => 'c',
        Who::Gateway => 'g',
    };
    let cell = place(from).and_then(|row| TABLE.get(row)).zip(place(to)).and_then(|(row, column)| row.get(column));
    cell.is_some_and(|cell| cell.contains(letter))
}

/// Whether a stream ends at that state.
#[must_use]
pub fn ends_stream(state: &State) -> bool {
    STATES.iter().any(|(known, stream, _)| known == state && *stream == Stream::Ends)
}

/// Whether a blocking send is answered at that state.
#[must_use]
pub fn answers(state: &State) -> bool {
    STATES.iter().any(|(known, _, answered)| known == state && *answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Who; 4] = [Who::Responder, Who::Message, Who::Cancel, Who::Gateway];

    #[test]
    fn an_ended_task_stays_as_it_is() {
        for (from, stream, answered) in &STATES {
            assert_eq!(from.is_terminal() || *from == State::InputRequired, *stream == Stream::Ends, "{from:?}");
            assert_eq!(from.is_terminal() || from.is_interrupted(), *answered, "{from:?}");
            for (to, ..) in &STATES {
                let changed = ALL.into_iter().any(|who| may(who, from, to));
                assert!(!(from.is_terminal() && changed), "{from:?} to {to:?}");
                assert!(from.is_terminal() || !to.is_terminal() || changed, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn everybody_causes_what_is_theirs() {
        for (from, ..) in STATES.iter().filter(|(state, ..)| !state.is_terminal()) {
            for (to, ..) in &STATES {
                assert_eq!(may(Who::Cancel, from, to), *to == State::Canceled, "{from:?} to {to:?}");
                assert_eq!(may(Who::Message, from, to), *to == State::Working, "{from:?} to {to:?}");
                assert_eq!(may(Who::Gateway, from, to), matches!(to, State::Failed | State::Rejected), "{from:?} to {to:?}");
                assert!(*to == State::Submitted || may(Who::Responder, from, to), "{from:?} to {to:?}");
            }
        }
        assert!(!may(Who::Responder, &State::Working, &State::Other("DREAMING".into())));
    }
}
