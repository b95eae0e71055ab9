//! What callers asked for and have got.

use serde_json::Value;

use super::book::{Book, Seen, text};
use crate::support::rule::{Rule, under};

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// a message, whose answer is awaited or not
    Send {
        immediate: bool,
    },
    /// a message, with all that comes of it
    Stream,
    Get(String),
    /// somebody else's task
    Foreign(String),
    Subscribe(String),
    Cancel(String),
    List,
    /// a place where changes are delivered
    Push(String, String),
    /// an answer to a task of the inbox
    Respond,
    /// the events of the plain task API
    Events,
}

/// What a stream told.
#[derive(Clone, Debug)]
pub struct View {
    pub id: String,
    pub seen: Seen,
    /// events since the first
    pub events: u64,
    /// whether its caller was asked for more since the first
    pub is_asked: bool,
    /// how often the task had changed at the first
    pub since: Option<u64>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Ask {
    pub owner: &'static str,
    pub what: What,
    /// JSON-RPC, or HTTP+JSON
    pub rpc: bool,
    pub status: Option<u16>,
    pub is_stream: bool,
    pub body: String,
    pub view: Option<View>,
    pub ended: bool,
}

impl Ask {
    pub fn new(owner: &'static str, what: What, rpc: bool) -> Self {
        let (status, is_stream, body, view, ended) = (None, false, String::new(), None, false);
        Self { owner, what, rpc, status, is_stream, body, view, ended }
    }

    /// A piece of the response.
    pub fn take(&mut self, text: &str) {
        assert!(self.status.is_some() && !self.ended, "the head comes first, and nothing after the end");
        if !self.is_stream {
            return self.body.push_str(text);
        }
        for event in text.split_inclusive("\n\n") {
            let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let Some(data) = line("data: ") else { continue };
            let data: Value = serde_json::from_str(data).expect("JSON");
            match line("event: ") {
                // Said by the status that follows.
                Some("message") => {}
                Some("task") => self.event(&serde_json::json!({ "task": data })),
                Some("status") => self.event(&serde_json::json!({ "statusUpdate": data })),
                Some("artifact") => self.event(&serde_json::json!({ "artifactUpdate": data })),
                Some(other) => panic!("no event of a task: {other}"),
                None if self.rpc => self.event(&data["result"]),
                None => self.event(&data),
            }
        }
    }

    fn event(&mut self, event: &Value) {
        if event.get("message").is_some() {
            assert!(self.view.is_none(), "a message comes alone");
            return;
        }
        under(Rule::Served, || match &mut self.view {
            None => {
                let task = event.get("task").unwrap_or_else(|| panic!("a stream begins with its task: {event}"));
                self.view = Some(View { id: text(task, "/id"), seen: Seen::of(task), events: 0, is_asked: false, since: None });
            }
            Some(view) => {
                assert!(!view.seen.is_terminal(), "nothing comes after a terminal state: {event}");
                view.seen.apply(event);
                view.events += 1;
                view.is_asked |= event.get("statusUpdate").is_some() && view.seen.state == "INPUT_REQUIRED";
            }
        });
    }

    /// The answer, where it is no stream: the result, or the code of an error.
    pub fn answer(&self) -> Result<Value, i64> {
        let body: Value = serde_json::from_str(&self.body).unwrap_or(Value::Null);
        if let Some(error) = body.get("error") {
            let reason = text(&body, "/error/details/0/reason");
            let by_reason = match reason.as_str() {
                "TASK_NOT_FOUND" => -32001,
                "TASK_NOT_CANCELABLE" => -32002,
                "UNSUPPORTED_OPERATION" => -32004,
                _ => -32603,
            };
            return Err(if self.rpc { error["code"].as_i64().unwrap_or_default() } else { by_reason });
        }
        Ok(if self.rpc { body["result"].clone() } else { body })
    }

    /// After a step that nothing interrupted: what was told is what is kept.
    pub fn check(&mut self, book: &Book) {
        let Some(view) = &mut self.view else { return };
        let Some(kept) = book.tasks.get(&view.id) else { panic!("{} is told and not kept", view.id) };
        assert_eq!(view.seen, kept.seen, "whoever watches {} sees it as it is", view.id);
        let since = *view.since.get_or_insert(kept.changes - view.events);
        assert_eq!(since + view.events, kept.changes, "each change of {} is told once", view.id);
        // Whoever begins to watch where the caller is asked watches what comes of it.
        let is_asked = view.is_asked && self.what != What::Events;
        let ends = kept.seen.is_terminal() || is_asked;
        assert_eq!(self.ended, ends, "a stream ends with its task, or where its caller is asked: {:?}", kept.seen);
    }

    /// After a step that was cut off: nothing was told that is not kept.
    pub fn check_cut(&self, book: &Book) {
        let Some(view) = &self.view else { return };
        let Some(kept) = book.tasks.get(&view.id) else { panic!("{} is told and not kept", view.id) };
        let Some(since) = view.since else { return };
        assert!(since + view.events <= kept.changes, "nothing of {} is told before it is kept", view.id);
        assert!(since + view.events < kept.changes || view.seen == kept.seen, "{} is told as it is kept", view.id);
    }

    /// The answer is complete: it says what is kept.
    pub fn check_answer(&self, book: &Book) {
        if self.is_stream {
            return;
        }
        let answer = self.answer();
        let kept = |id: &str| book.tasks.get(id);
        match &self.what {
            What::Get(id) => match answer {
                Ok(task) => assert_eq!(Some(&Seen::of(&task)), kept(id).map(|kept| &kept.seen), "{id} is read as it is"),
                Err(code) => assert!(code == -32001 && kept(id).is_none(), "{id} is there: {code}"),
            },
            What::Foreign(id) => assert_eq!(answer, Err(-32001), "{id} is another's"),
            What::Cancel(id) => match answer {
                Ok(task) => {
                    assert_eq!(Seen::of(&task).state, "CANCELED", "one of the two wins");
                    assert_eq!(kept(id).map(|kept| kept.seen.state.as_str()), Some("CANCELED"));
                }
                Err(-32001) => assert!(kept(id).is_none(), "{id} is there"),
                Err(code) => {
                    let ended = kept(id).is_some_and(|kept| kept.seen.is_terminal() && kept.seen.state != "CANCELED");
                    assert!(code == -32002 && ended, "{id} cannot be canceled: {code}");
                }
            },
            What::Send { immediate } => {
                let Some(task) = answer.ok().and_then(|answer| answer.get("task").cloned()) else { return };
                let (id, seen) = (text(&task, "/id"), Seen::of(&task));
                let Some(kept) = kept(&id) else { panic!("{id} is told and not kept") };
                assert!(*immediate || seen.is_terminal() || seen.is_interrupted(), "an answer is awaited: {seen:?}");
                assert!(!seen.is_terminal() || seen == kept.seen, "{id} ends once");
            }
            What::List => {
                let answer = answer.expect("a list");
                for task in answer["tasks"].as_array().into_iter().flatten() {
                    let id = text(task, "/id");
                    let own = kept(&id).is_some_and(|kept| kept.owner == self.owner);
                    assert!(own, "{id} is another's or not there");
                }
            }
            What::Subscribe(id) => {
                let code = answer.expect_err("a stream, or why there is none");
                let is = kept(id).is_some_and(|kept| kept.seen.is_terminal());
                assert!(code == -32004 && is || code == -32001 && kept(id).is_none(), "{id} can be watched: {code}");
            }
            What::Stream | What::Push(..) | What::Respond | What::Events => {}
        }
    }
}
