//! Tasks, their status and their artifacts (A2A 1.0 §4.1.1, §4.1.2, §4.1.7).

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{self, Array, Json, Kind, Object, Raw};
use crate::list::gather;

use super::dialect::Dialect;
use super::member::{self, Misread};
use super::message::{Message, Role, optional_strings};
use super::part::{Part, parts_json, read_parts, readable};
use super::state::State;
use super::v03;

/// A piece of work at an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// its id at the agent; empty where the agent gave none
    pub id: String,
    /// the conversation
    pub context_id: Option<String>,
    /// where it stands
    pub status: Status,
    /// what it made; `None` where the agent did not say, which differs from an empty list
    pub artifacts: Option<Vec<Artifact>>,
    /// what was said; `None` where the agent did not say
    pub history: Option<Vec<Message>>,
    /// free data
    pub metadata: Option<Json>,
    /// members of no known meaning
    pub extra: Vec<(String, Json)>,
}

/// How much of a task is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// whether its artifacts are
    pub artifacts: bool,
    /// how many of the last turns of its history
    pub turns: u64,
}

impl View {
    /// Everything.
    pub const WHOLE: Self = Self { artifacts: true, turns: u64::MAX };
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// the state
    pub state: State,
    /// the agent's words to it
    pub message: Option<Message>,
    /// since when, as it was written
    pub timestamp: Option<Json>,
    /// members of no known meaning
    pub extra: Vec<(String, Json)>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// its id within the task; empty where the agent gave none
    pub artifact_id: String,
    /// its name
    pub name: Option<String>,
    /// what it is
    pub description: Option<String>,
    /// its content
    pub parts: Vec<Part>,
    /// free data
    pub metadata: Option<Json>,
    /// URIs of the extensions it uses
    pub extensions: Option<Vec<String>>,
    /// members of no known meaning
    pub extra: Vec<(String, Json)>,
}

impl Task {
    /// A task of which nothing is known but its ids.
    #[must_use]
    pub const fn new(id: String, context_id: Option<String>) -> Self {
        let status = Status::of(State::Unknown);
        Self { id, context_id, status, artifacts: None, history: None, metadata: None, extra: Vec::new() }
    }

    /// Reads a task in any dialect.
    ///
    /// # Errors
    /// A value that is no object, or one with neither id nor status.
    pub fn read(raw: Raw<'_>, dialect: Dialect) -> Result<Self, Misread> {
        let mut members = json::members(raw).ok_or(Misread::new("an object"))?;
        if members.get("id").is_none() && members.get("status").is_none() {
            return Err(Misread::new("a task"));
        }
        if members.string("kind").as_deref() == Some("task") {
            members.take_any("kind");
        }
        Ok(Self {
            id: member::take_id(&mut members, &["id"]).unwrap_or_default(),
            context_id: member::take_id(&mut members, &["contextId", "context_id"]),
            status: member::take(&mut members, &["status"], |raw| Status::read(raw, dialect)).unwrap_or_default(),
            artifacts: member::take(&mut members, &["artifacts"], |raw| {
                member::list(raw, |raw| Artifact::read(raw, dialect).ok())
            }),
            history: member::take(&mut members, &["history"], |raw| member::list(raw, |raw| Message::read(raw, dialect).ok())),
            metadata: member::take_json(&mut members, "metadata"),
            extra: members.keep(),
        })
    }

    /// The 1.0 form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.write(Dialect::JsonRpc10, View::WHOLE)
    }

    /// What a view shows of it, in the form of a dialect.
    #[must_use]
    pub fn write(&self, dialect: Dialect, view: View) -> Json {
        let mut out = Object::with_capacity(self.bytes() + 512);
        if !self.id.is_empty() {
            out.string("id", &self.id);
        }
        out.optional_string("contextId", self.context_id.as_deref());
        out.json("status", &self.status.write(dialect));
        if let Some(artifacts) = self.artifacts.as_ref().filter(|_| view.artifacts) {
            let mut list = Array::new();
            for artifact in artifacts {
                list.json(&artifact.write(dialect));
            }
            out.nested("artifacts", list);
        }
        if let Some(history) = self.history.as_ref().filter(|_| view.turns > 0) {
            let (mut list, mut lost) = (Array::new(), Vec::new());
            let shown = usize::try_from(view.turns).unwrap_or(usize::MAX);
            for message in history.iter().skip(history.len().saturating_sub(shown)) {
                list.json(&message.write(dialect, &mut lost));
            }
            out.nested("history", list);
        }
        out.optional_json("metadata", self.metadata.as_ref());
        match dialect {
            // Its readers refuse members that they do not know.
            Dialect::Rest03 => {}
            Dialect::JsonRpc03 => {
                out.members(&self.extra).string("kind", "task");
            }
            Dialect::JsonRpc10 | Dialect::Rest10 => {
                out.members(&self.extra);
            }
        }
        out.finish()
    }

    /// Its artifacts, none where the agent did not say.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        self.artifacts.as_deref().unwrap_or_default()
    }

    /// Whether its status or an artifact says anything.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        let spoken = self.status.message.iter().flat_map(|message| &message.parts);
        let made = self.artifacts().iter().flat_map(|artifact| &artifact.parts);
        spoken.chain(made).any(|part| !part.is_blank())
    }

    /// The task's answer for people: the words of its status, then its artifacts, each on lines of its own. Words that an
    /// artifact repeats are said once. A completed task that holds neither is read from the last turn of its history.
    #[must_use]
    pub fn readable(&self) -> String {
        let mut pieces = gather(self.artifacts().iter().map(|artifact| readable(&artifact.parts)));
        if let Some(words) = self.status.message.as_ref().map(Message::readable)
            && !pieces.iter().any(|piece| piece.trim() == words.trim())
        {
            pieces.insert(0, words);
        }
        if self.status.state == State::Completed && !self.has_answer() {
            let last = self.history.iter().flatten().next_back();
            pieces.extend(last.filter(|message| message.role == Role::Agent).map(Message::readable));
        }
        lines(&pieces)
    }

    /// What its artifacts say, for people.
    #[must_use]
    pub fn made(&self) -> String {
        lines(&gather(self.artifacts().iter().map(|artifact| readable(&artifact.parts))))
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let history: usize = self.history.iter().flatten().map(Message::bytes).sum();
        history + self.artifacts().iter().map(Artifact::bytes).sum::<usize>()
    }
}

/// Pieces that say anything, each on lines of its own.
fn lines(pieces: &[String]) -> String {
    let mut out = String::with_capacity(pieces.iter().map(|piece| piece.len() + 1).sum());
    for piece in pieces.iter().filter(|piece| !piece.trim().is_empty()) {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(piece);
    }
    out
}

impl Default for Status {
    fn default() -> Self {
        Self::of(State::Unknown)
    }
}

impl Status {
    /// A state without words.
    #[must_use]
    pub const fn of(state: State) -> Self {
        Self { state, message: None, timestamp: None, extra: Vec::new() }
    }

    /// Reads a status in any dialect; a bare state counts as one. `None` where it is neither object nor text.
    pub(super) fn read(raw: Raw<'_>, dialect: Dialect) -> Option<Self> {
        if json::kind(raw) == Kind::String {
            return Some(Self { state: State::read(raw), ..Self::default() });
        }
        let mut members = json::members(raw)?;
        Some(Self {
            state: member::take(&mut members, &["state"], member::text).map_or(State::Unknown, |name| State::named(&name)),
            message: member::take(&mut members, &["message", "update"], |raw| words(raw, dialect)),
            timestamp: member::take_json(&mut members, "timestamp"),
            extra: members.keep(),
        })
    }

    /// The 1.0 form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.write(Dialect::JsonRpc10)
    }

    /// The form of a dialect.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> Json {
        let mut out = Object::new();
        out.string("state", &self.state.write(dialect));
        out.optional_json("message", self.message.as_ref().map(|message| message.write(dialect, &mut Vec::new())).as_ref());
        out.optional_json("timestamp", self.timestamp.as_ref());
        if dialect != Dialect::Rest03 {
            out.members(&self.extra);
        }
        out.finish()
    }
}

/// Parts in the form of a dialect.
fn write_parts(parts: &[Part], dialect: Dialect) -> Json {
    match dialect {
        Dialect::JsonRpc10 | Dialect::Rest10 => parts_json(parts),
        Dialect::JsonRpc03 => v03::parts(parts, &mut Vec::new()),
        Dialect::Rest03 => v03::rest_parts(parts, &mut Vec::new()),
    }
}

/// The message of a status; agents also write plain words there.
fn words(raw: Raw<'_>, dialect: Dialect) -> Option<Message> {
    match json::string(raw) {
        Some(text) => Some(Message { role: Role::Agent, ..Message::from_user(String::new(), [Part::text(text)].into()) }),
        None => Message::read(raw, dialect).ok(),
    }
}

impl Artifact {
    /// An artifact with nothing around its parts.
    #[must_use]
    pub const fn new(artifact_id: String, parts: Vec<Part>) -> Self {
        let (name, description, metadata, extensions) = (None, None, None, None);
        Self { artifact_id, name, description, parts, metadata, extensions, extra: Vec::new() }
    }

    /// Reads an artifact in any dialect.
    ///
    /// # Errors
    /// A value that is no object.
    pub fn read(raw: Raw<'_>, dialect: Dialect) -> Result<Self, Misread> {
        let mut members = json::members(raw).ok_or(Misread::new("an object"))?;
        Ok(Self {
            artifact_id: member::take_id(&mut members, &["artifactId", "artifact_id"]).unwrap_or_default(),
            name: member::take_text(&mut members, &["name"]),
            description: member::take_text(&mut members, &["description"]),
            parts: member::take(&mut members, &["parts"], |raw| Some(read_parts(raw, dialect))).unwrap_or_default(),
            metadata: member::take_json(&mut members, "metadata"),
            extensions: member::take(&mut members, &["extensions"], member::texts),
            extra: members.keep(),
        })
    }

    /// The 1.0 form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.write(Dialect::JsonRpc10)
    }

    /// The form of a dialect.
    #[must_use]
    pub fn write(&self, dialect: Dialect) -> Json {
        let parts = write_parts(&self.parts, dialect);
        let mut out = Object::with_capacity(parts.as_str().len() + 256);
        if !self.artifact_id.is_empty() {
            out.string("artifactId", &self.artifact_id);
        }
        out.optional_string("name", self.name.as_deref());
        out.optional_string("description", self.description.as_deref());
        out.json("parts", &parts);
        out.optional_json("metadata", self.metadata.as_ref());
        optional_strings(&mut out, "extensions", self.extensions.as_deref());
        if dialect != Dialect::Rest03 {
            out.members(&self.extra);
        }
        out.finish()
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let extra: usize = self.extra.iter().map(|(name, value)| name.len() + value.as_str().len()).sum();
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let metadata = self.metadata.as_ref().map_or(0, |json| json.as_str().len());
        self.parts.iter().map(Part::bytes).sum::<usize>() + metadata + extra + text(&self.name) + text(&self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn read(text: &str) -> Task {
        Task::read(json::parse(text, 128).unwrap(), Dialect::JsonRpc10).unwrap()
    }

    #[test]
    fn a_1_0_task_comes_back_as_it_was() {
        for text in [
            r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"done"}]},"timestamp":"2026-11-29T17:49:44.524Z","x":1},"artifacts":[{"artifactId":"a","name":"n","description":"d","parts":[{"text":"x"}],"metadata":{"am":true},"extensions":[]}],"history":[{"messageId":"q","role":"ROLE_USER","parts":[{"text":"?"}]}],"metadata":{"m":9007199254740993},"x-new":null}"#,
            r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"},"artifacts":[],"history":[]}"#,
            r#"{"id":"t","status":{"state":"TASK_STATE_DREAMING"}}"#,
        ] {
            assert_eq!(read(text).to_json().as_str(), text);
        }
    }

    #[test]
    fn what_is_nothing_in_a_list_hides_nothing_and_one_is_a_list_of_one() {
        let one = r#"{"parts":[null,{"text":"x"}]}"#;
        for artifacts in [format!("[null,{one}]"), format!("[{one},null,null]"), one.into()] {
            let text = format!(r#"{{"id":"t","status":"completed","artifacts":{artifacts},"history":[null]}}"#);
            assert_eq!((read(&text).readable(), read(&text).extra.len()), ("x".into(), 0), "{text}");
        }
        assert_eq!(read(r#"{"id":"t","status":"completed","artifacts":[1]}"#).extra.len(), 1);
    }

    #[test]
    fn a_0_3_task_becomes_one_of_1_0() {
        let text = r#"{"kind":"task","id":"t","contextId":"","status":{"state":"input-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"?"}]}},"artifacts":null}"#;
        assert_eq!(
            read(text).to_json().as_str(),
            r#"{"id":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"?"}]}}}"#
        );
    }

    #[test]
    fn what_cannot_be_read_is_kept() {
        let odd = read(r#"{"id":42,"status":"completed","artifacts":"none","history":[1]}"#);
        assert_eq!((odd.id.as_str(), &odd.status.state), ("42", &State::Completed));
        assert_eq!(
            odd.to_json().as_str(),
            r#"{"id":"42","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":"none","history":[1]}"#
        );
        let odd = read(r#"{"id":"t","status":{"state":null,"message":"words"}}"#);
        assert_eq!((odd.readable().as_str(), odd.status.state), ("words", State::Unknown));
    }

    #[test]
    fn no_name_stands_twice_in_what_is_written() {
        let odd = read(
            r#"{"id":"t","contextId":true,"context_id":"c","status":7,"history":[{"role":[],"messageId":false,"message_id":"m","parts":[{"file":{"uri":"u","name":"a"},"filename":"b","url":{}}]}]}"#,
        );
        assert_eq!(
            odd.to_json().as_str(),
            r#"{"id":"t","contextId":"c","status":{"state":"TASK_STATE_UNSPECIFIED"},"history":[{"messageId":"m","role":"ROLE_UNSPECIFIED","parts":[{"url":"u","filename":"a"}]}]}"#
        );
    }

    #[test]
    fn the_answer_is_the_status_then_the_artifacts() {
        let answer = |text: &str| read(text).readable();
        let artifacts = r#""artifacts":[{"artifactId":"a","parts":[{"text":"one "},{"text":"two"}]},{"artifactId":"b","parts":[{"data":[1]}]}]"#;
        let status = |state: &str, text: &str| {
            alloc::format!(
                r#"{{"id":"t","status":{{"state":"{state}","message":{{"role":"agent","parts":[{{"text":"{text}"}}]}}}},{artifacts}}}"#
            )
        };
        assert_eq!(answer(&status("input-required", "which one?")), "which one?\none two\n[1]");
        assert_eq!(answer(&status("completed", "one two")), "one two\n[1]", "repeated words are said once");
        assert_eq!(answer(r#"{"id":"t","status":{"state":"completed"}}"#), "");
        assert!(!read(r#"{"id":"t","status":{"state":"completed","message":{"parts":[{"text":" "}]}}}"#).has_answer());
        assert!(read(&status("working", "")).has_answer());
    }

    #[test]
    fn the_last_turn_speaks_for_a_completed_task_that_says_nothing_else() {
        let history = r#""history":[{"role":"user","parts":[{"text":"q"}]},{"role":"agent","parts":[{"text":"a"}]}]"#;
        let task = |state: &str| read(&alloc::format!(r#"{{"id":"t","status":{{"state":"{state}"}},{history}}}"#)).readable();
        assert_eq!(task("completed"), "a");
        assert_eq!(task("working"), "");
    }
}
