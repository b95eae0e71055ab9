//! The life of a send, as a table.

/// Where a send is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// the card of the agent is looked up, or awaited
    Finding,
    /// the message is out, one answer is awaited
    Sending,
    /// the message is out, a stream is awaited or read
    Streaming,
    /// the stream told of the end; its closing events are taken
    Closing,
    /// the finished task is read once, because the stream held no answer
    Confirming,
    /// the stream broke; the task is read
    Reading,
    /// the stream is taken up again
    Resuming,
    /// the task runs; the next reading waits
    Waiting,
    /// the task is read again
    Polling,
    /// the call was answered
    Ended,
}

/// What happens to a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// the interface is known, the agent does not stream
    Found,
    /// the interface is known, the agent streams
    FoundStreaming,
    /// the interface is known, and so is the task
    FoundTask,
    /// the agent surely did not take the streamed message
    StreamRefused,
    /// the agent does not speak the version
    VersionRefused,
    /// the remembered task that the message was to continue is finished or gone
    TaskRefused,
    /// the task that a relayed message was to continue has ended meanwhile
    TaskEnded,
    /// a message, or a task that ended or waits for the caller
    Answer,
    /// a task that goes on
    Running,
    /// a task that goes on and whose stream may be taken up again
    RunningStreamed,
    /// a status of the stream that ends the task
    Terminal,
    /// the ended stream held no answer
    Unanswered,
    /// the stream ended too early; the task is known
    Broken,
    /// the agent does not resume the stream
    ResumeRefused,
    /// a reading failed in a way that may pass
    ReadFailed,
    /// the next reading is due
    Due,
    /// an error, the deadline, a cancellation, a lost agent
    Failure,
}

/// Every state with its name in the diagram.
pub const STATES: [(State, &str); 10] = [
    (State::Finding, "Finding"),
    (State::Sending, "Sending"),
    (State::Streaming, "Streaming"),
    (State::Closing, "Closing"),
    (State::Confirming, "Confirming"),
    (State::Reading, "Reading"),
    (State::Resuming, "Resuming"),
    (State::Waiting, "Waiting"),
    (State::Polling, "Polling"),
    (State::Ended, "Ended"),
];

/// Every transition: in this state, on this event, to that state, and the words of the diagram.
pub const TABLE: [(State, Event, State, &str); 38] = {
    use {Event as E, State as S};
    [
        (S::Finding, E::Found, S::Sending, "interface known"),
        (S::Finding, E::FoundStreaming, S::Streaming, "interface known, streams"),
        (S::Finding, E::FoundTask, S::Reading, "interface and task known"),
        (S::Sending, E::VersionRefused, S::Sending, "once more in 0.3"),
        (S::Sending, E::TaskRefused, S::Sending, "once more without the finished task"),
        (S::Sending, E::TaskEnded, S::Reading, "relayed too late"),
        (S::Sending, E::Answer, S::Ended, "message, terminal or interrupted task"),
        (S::Sending, E::Running, S::Waiting, "task goes on"),
        (S::Streaming, E::VersionRefused, S::Streaming, "once more in 0.3"),
        (S::Streaming, E::TaskRefused, S::Streaming, "once more without the finished task"),
        (S::Streaming, E::TaskEnded, S::Reading, "relayed too late"),
        (S::Streaming, E::StreamRefused, S::Sending, "surely not processed"),
        (S::Streaming, E::Answer, S::Ended, "message or interrupted task"),
        (S::Streaming, E::Running, S::Waiting, "plain answer, task goes on"),
        (S::Streaming, E::Terminal, S::Closing, "terminal status"),
        (S::Streaming, E::Broken, S::Reading, "cut, task known"),
        (S::Closing, E::Answer, S::Ended, "closed or half a second"),
        (S::Closing, E::Unanswered, S::Confirming, "no answer held"),
        (S::Confirming, E::Answer, S::Ended, "task read"),
        (S::Reading, E::Answer, S::Ended, "terminal or interrupted"),
        (S::Reading, E::RunningStreamed, S::Resuming, "task goes on, resubscribe"),
        (S::Reading, E::Running, S::Waiting, "task goes on"),
        (S::Reading, E::ReadFailed, S::Waiting, "may pass"),
        (S::Resuming, E::Answer, S::Ended, "message or interrupted task"),
        (S::Resuming, E::Terminal, S::Closing, "terminal status"),
        (S::Resuming, E::Running, S::Waiting, "plain answer, task goes on"),
        (S::Resuming, E::Broken, S::Waiting, "cut again"),
        (S::Resuming, E::VersionRefused, S::Resuming, "once more in 0.3"),
        (S::Resuming, E::ResumeRefused, S::Waiting, "not offered"),
        (S::Waiting, E::Due, S::Polling, "0.25 s growing to 5 s"),
        (S::Polling, E::Answer, S::Ended, "terminal or interrupted"),
        (S::Polling, E::Running, S::Waiting, "task goes on"),
        (S::Polling, E::RunningStreamed, S::Resuming, "task goes on, resubscribe"),
        (S::Polling, E::ReadFailed, S::Waiting, "may pass"),
        (S::Finding, E::Failure, S::Ended, ""),
        (S::Sending, E::Failure, S::Ended, "error"),
        (S::Streaming, E::Failure, S::Ended, "error"),
        (S::Waiting, E::Failure, S::Ended, "deadline"),
    ]
};

/// Where an event leads. Every state may fail; what the table does not hold stays.
#[must_use]
pub fn next(state: State, event: Event) -> Option<State> {
    if event == Event::Failure {
        return Some(State::Ended);
    }
    TABLE.iter().find(|(from, on, ..)| *from == state && *on == event).map(|(_, _, to, _)| *to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn name(state: State) -> &'static str {
        STATES.iter().find(|(known, _)| *known == state).map_or("", |(_, name)| name)
    }

    fn diagram() -> String {
        let mut out = String::from("stateDiagram-v2\n    [*] --> Finding\n");
        for (from, _, to, words) in TABLE {
            out.push_str(&format!("    {} --> {}", name(from), name(to)));
            out.push_str(&if words.is_empty() { String::from("\n") } else { format!(": {words}\n") });
        }
        out.push_str("    Ended --> [*]\n");
        out
    }

    #[test]
    fn every_state_is_reached_and_left() {
        for (state, name) in STATES {
            let reached = state == State::Finding || TABLE.iter().any(|(_, _, to, _)| *to == state);
            let left = state == State::Ended || TABLE.iter().any(|(from, ..)| *from == state);
            assert!(reached && left, "{name}");
        }
        assert!(TABLE.iter().all(|(from, ..)| *from != State::Ended));
    }

    #[test]
    fn the_table_is_a_function() {
        for (index, (from, on, ..)) in TABLE.iter().enumerate() {
            assert!(!TABLE[index + 1..].iter().any(|(other, event, ..)| other == from && event == on), "{from:?} {on:?}");
        }
    }

    #[test]
    fn the_diagram_of_the_architecture_page_is_this_table() {
        let page = include_str!("../../ARCHITECTURE.md");
        let wanted = diagram();
        assert!(page.contains(&wanted), "put this into ARCHITECTURE.md:\n{wanted}");
    }
}
