//! What a call asks of its client, and what it is answered: elicitation, sampling, roots.
//!
//! A tool that needs something of the client gives its questions instead of a result, and is started again with the same
//! arguments once they are answered. What it must remember until then is its state. How the questions reach the client
//! is a matter of the era: as requests of their own while the call waits (MCP 2025-11-25, client features), or as the
//! result of this call, which the client then makes once more (MCP 2026-07-28, multi-round-trip requests).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::era::RpcError;
use super::outcome::{Code, ToolError};
use crate::json::{self, Json, Kind, Members, Object};
use crate::jsonrpc::INVALID_PARAMS;

/// The client did not declare what a request needs (MCP 2026-07-28, capabilities).
pub const MISSING_CAPABILITY: i64 = -32021;

/// How many questions a call may ask at once.
pub const QUESTIONS: usize = 16;

/// What a client may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// the user fills in a form
    Elicitation,
    /// the user opens a link
    Link,
    /// the folders that the client works in
    Roots,
    /// the client's model writes something
    Sampling,
    /// the same with tools that the model may want called
    SamplingWithTools,
}

impl Ask {
    /// Each with its capability, what in that declares it, its method, and its name for people.
    const ROWS: [(Self, &'static str, &'static str, &'static str, &'static str); 5] = [
        (Self::Elicitation, "elicitation", "form", "elicitation/create", "elicitation"),
        (Self::Link, "elicitation", "url", "elicitation/create", "elicitation with links"),
        (Self::Roots, "roots", "", "roots/list", "roots"),
        (Self::Sampling, "sampling", "", "sampling/createMessage", "sampling"),
        (Self::SamplingWithTools, "sampling", "tools", "sampling/createMessage", "sampling with tools"),
    ];

    fn row(self) -> &'static (Self, &'static str, &'static str, &'static str, &'static str) {
        let [first, ..] = &Self::ROWS;
        Self::ROWS.iter().find(|(ask, ..)| *ask == self).unwrap_or(first)
    }

    /// The method of the request.
    #[must_use]
    pub fn method(self) -> &'static str {
        self.row().3
    }

    /// What a request asks for; nothing that a client could be asked where its method is another one.
    #[must_use]
    pub fn read(method: &str, params: &Members<'_>) -> Option<Self> {
        Some(match method {
            "elicitation/create" if params.string("mode").as_deref() == Some("url") => Self::Link,
            "elicitation/create" => Self::Elicitation,
            "roots/list" => Self::Roots,
            "sampling/createMessage" if params.has("tools") => Self::SamplingWithTools,
            "sampling/createMessage" => Self::Sampling,
            _ => return None,
        })
    }
}

/// What a client declared that it may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(u8);

impl Capabilities {
    /// Nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self(0)
    }

    /// Everything that there is.
    #[must_use]
    pub const fn all() -> Self {
        Self(u8::MAX)
    }

    /// Reads `ClientCapabilities`.
    #[must_use]
    pub fn read(declared: &Members<'_>) -> Self {
        let mut capabilities = Self::none();
        for (ask, capability, within, ..) in &Ask::ROWS {
            let Some(members) = declared.get(capability).and_then(json::members) else { continue };
            // Without a mode it means forms, as it did before there were any others.
            let is_declared = within.is_empty() || members.has(within) || *within == "form" && !members.has("url");
            if is_declared {
                capabilities.0 |= Self::bit(*ask);
            }
        }
        capabilities
    }

    const fn bit(ask: Ask) -> u8 {
        1 << ask as u8
    }

    /// Whether a client that declared this may be asked for it.
    #[must_use]
    pub const fn has(self, ask: Ask) -> bool {
        self.0 & Self::bit(ask) != 0
    }

    /// As it is read.
    #[must_use]
    pub fn to_object(self) -> Object {
        let mut declared = Vec::new();
        declared.extend(Ask::ROWS.iter().map(|(ask, ..)| *ask).filter(|ask| self.has(*ask)));
        named(&declared)
    }

    /// As it is read; nothing where nothing was declared.
    #[must_use]
    pub fn to_json(self) -> Option<Json> {
        let declared = self.to_object();
        (!declared.is_empty()).then(|| declared.finish())
    }
}

/// An object of capabilities, in the order in which they are named first.
fn named(asks: &[Ask]) -> Object {
    let mut out = Object::new();
    for (at, ask) in asks.iter().enumerate() {
        let capability = ask.row().1;
        if asks.iter().take(at).any(|before| before.row().1 == capability) {
            continue;
        }
        let mut inner = Object::new();
        for (ask, of, within, ..) in asks.iter().map(|ask| ask.row()) {
            // Forms are what the capability means by itself.
            let is_told = !within.is_empty() && (*ask != Ask::Elicitation || asks.contains(&Ask::Link));
            if *of == capability && is_told {
                inner.nested(within, Object::new());
            }
        }
        out.nested(capability, inner);
    }
    out
}

/// One question to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// what its answer is called
    pub key: String,
    /// what for
    pub ask: Ask,
    /// the parameters of the request, an object
    pub params: Json,
}

/// What a call needs to be told before it can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    /// the questions, one to [`QUESTIONS`], each with a key of its own
    pub questions: Vec<Question>,
    /// what the tool is to know when it goes on. A modern client can read it; credentials are replaced in it. Without
    /// one a client may answer before it was asked.
    pub state: Option<Json>,
}

impl Asks {
    /// Holds questions against what the client declared.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check(&self, capabilities: Capabilities) -> Result<(), Lack> {
        let mut lack: Vec<Ask> = Vec::new();
        for question in self.questions.iter().filter(|question| !capabilities.has(question.ask)) {
            if !lack.contains(&question.ask) {
                lack.push(question.ask);
            }
        }
        if lack.is_empty() { Ok(()) } else { Err(Lack(lack)) }
    }

    /// Whether there are as many as there may be.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self.questions.len(), 1..=QUESTIONS)
    }

    /// The result that asks a modern client, without the members of its era.
    #[must_use]
    pub fn to_object(&self, sealed: Option<&str>) -> Object {
        let mut requests = Object::new();
        for question in &self.questions {
            let mut request = Object::new();
            request.string("method", question.ask.method()).json("params", &question.params);
            requests.json(&question.key, &request.finish());
        }
        let mut out = Object::new();
        out.json("inputRequests", &requests.finish()).optional_string("requestState", sealed);
        out
    }
}

/// What a client did not declare and a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack(Vec<Ask>);

impl Lack {
    fn message(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|ask| ask.row().4).collect();
        format!("this call needs a client with the capability {}, which was not declared", names.join(" and "))
    }

    /// The error of a modern request.
    #[must_use]
    pub fn to_rpc(&self) -> RpcError {
        let mut data = Object::new();
        data.json("requiredCapabilities", &named(&self.0).finish());
        RpcError { code: MISSING_CAPABILITY, message: self.message(), data: Some(data.finish()) }
    }

    /// The error of a call in a session.
    #[must_use]
    pub fn to_tool(&self) -> ToolError {
        ToolError::new(Code::Unsupported, self.message())
    }
}

/// The answer to a question: a result, or what the client refused it with.
pub type Answer = Result<Json, String>;

/// What a call knows when it goes on; nothing when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// the answers by their keys
    pub list: Vec<(String, Answer)>,
    /// the state that came with the questions
    pub state: Option<Json>,
}

impl Answers {
    /// Those of a call that begins.
    #[must_use]
    pub const fn none() -> Self {
        Self { list: Vec::new(), state: None }
    }

    /// The answers in the parameters of a modern request; its state is opened elsewhere.
    ///
    /// # Errors
    /// -32602 where they are no objects.
    pub fn read(params: &Members<'_>) -> Result<Self, RpcError> {
        let fault = |key: &str| RpcError::new(INVALID_PARAMS, format!("`inputResponses{key}` must be an object"));
        let mut answers = Self::none();
        let Some(raw) = params.get("inputResponses") else { return Ok(answers) };
        for (key, value) in json::members(raw).ok_or_else(|| fault(""))?.iter() {
            if json::kind(value) != Kind::Object {
                return Err(fault(&format!(".{}", super::server::shortened(key))));
            }
            answers.list.push((key.to_string(), Ok(Json::from_raw(value))));
        }
        Ok(answers)
    }

    /// The answer to a question, where there is one.
    ///
    /// # Errors
    /// The client refused.
    pub fn get(&self, key: &str) -> Result<Option<Members<'_>>, ToolError> {
        match self.list.iter().rev().find(|(known, _)| known == key) {
            None => Ok(None),
            Some((_, Ok(result))) => Ok(result.members()),
            Some((_, Err(message))) => Err(ToolError::new(Code::Canceled, format!("the client refused to answer: {message}"))),
        }
    }

    /// What the user said to an elicitation, where it was answered as it should be.
    ///
    /// # Errors
    /// The client refused.
    pub fn elicited(&self, key: &str) -> Result<Option<Elicited>, ToolError> {
        let Some(answer) = self.get(key)? else { return Ok(None) };
        Ok(match answer.string("action").as_deref() {
            Some("accept") => {
                let content = answer.get("content").filter(|raw| json::kind(*raw) == Kind::Object);
                Some(Elicited::Accepted(content.map_or_else(|| Object::new().finish(), Json::from_raw)))
            }
            Some("decline") => Some(Elicited::Declined),
            Some("cancel") => Some(Elicited::Dismissed),
            Some(_) | None => None,
        })
    }
}

/// What a user said to an elicitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elicited {
    /// yes, with what was filled in
    Accepted(Json),
    /// no
    Declined,
    /// neither
    Dismissed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(text: &str) -> Capabilities {
        Capabilities::read(&json::members(json::parse(text, 8).unwrap()).unwrap())
    }

    #[test]
    fn capabilities_are_objects() {
        for (text, want) in [
            (r#"{"elicitation":{},"sampling":{"tools":{}},"roots":{"listChanged":true}}"#, [true, false, true, true, true]),
            (r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#, [true, true, false, true, false]),
            (r#"{"elicitation":{"url":{}},"sampling":true,"roots":null}"#, [false, true, false, false, false]),
            ("{}", [false; 5]),
        ] {
            let known = capabilities(text);
            assert_eq!(Ask::ROWS.map(|(ask, ..)| known.has(ask)), want, "{text}");
            let again = known.to_json().map_or(Capabilities::none(), |json| capabilities(json.as_str()));
            assert_eq!(again, known, "{text}");
        }
    }

    #[test]
    fn what_is_declared_is_told_in_the_fewest_words() {
        for text in [
            r#"{"elicitation":{},"roots":{},"sampling":{}}"#,
            r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}"#,
            r#"{"elicitation":{"url":{}}}"#,
        ] {
            assert_eq!(capabilities(text).to_json().unwrap().as_str(), text);
        }
    }

    #[test]
    fn a_request_says_what_it_asks_for() {
        let read = |method, params: &str| Ask::read(method, &json::members(json::parse(params, 8).unwrap()).unwrap());
        assert_eq!(read("elicitation/create", r#"{"message":"m"}"#), Some(Ask::Elicitation));
        assert_eq!(read("elicitation/create", r#"{"mode":"url"}"#), Some(Ask::Link));
        assert_eq!(read("sampling/createMessage", r#"{"tools":[]}"#), Some(Ask::SamplingWithTools));
        assert_eq!(read("sampling/createMessage", "{}"), Some(Ask::Sampling));
        assert_eq!(read("roots/list", "{}"), Some(Ask::Roots));
        assert_eq!(read("tasks/get", "{}"), None);
    }

    #[test]
    fn what_is_lacking_is_named_once() {
        let question = |key: &str, ask| Question { key: key.into(), ask, params: Object::new().finish() };
        let questions = alloc::vec![
            question("a", Ask::Sampling),
            question("b", Ask::Roots),
            question("c", Ask::Sampling),
            question("d", Ask::Elicitation)
        ];
        let asks = Asks { questions, state: None };
        assert_eq!(asks.check(capabilities(r#"{"elicitation":{},"sampling":{},"roots":{}}"#)), Ok(()));
        let lack = asks.check(capabilities(r#"{"elicitation":{}}"#)).unwrap_err();
        let error = lack.to_rpc();
        assert_eq!(error.data.unwrap().as_str(), r#"{"requiredCapabilities":{"sampling":{},"roots":{}}}"#);
        assert!(error.code == -32021 && error.message.contains("sampling and roots"), "{}", error.message);
        assert_eq!(lack.to_tool().code, Code::Unsupported);
    }

    #[test]
    fn answers_are_held_to_their_form() {
        let read = |text: &str| Answers::read(&json::members(json::parse(text, 8).unwrap()).unwrap());
        let answers = read(
            r#"{"inputResponses":{"a":{"action":"accept","content":{"x":1}},"b":{"action":"decline"},
            "c":{"action":"cancel"},"d":{"action":7},"e":{"action":"accept"}}}"#,
        );
        let answers = answers.unwrap();
        let content = |text: &str| Some(Elicited::Accepted(Json::parse(text, 4).unwrap()));
        assert_eq!(answers.elicited("a"), Ok(content(r#"{"x":1}"#)));
        assert_eq!(answers.elicited("b"), Ok(Some(Elicited::Declined)));
        assert_eq!(answers.elicited("c"), Ok(Some(Elicited::Dismissed)));
        assert_eq!(answers.elicited("d"), Ok(None));
        assert_eq!(answers.elicited("e"), Ok(content("{}")));
        assert_eq!(answers.elicited("f"), Ok(None));
        assert_eq!(read(r#"{"inputResponses":null}"#), Ok(Answers::none()));
        for wrong in [r#"{"inputResponses":7}"#, r#"{"inputResponses":{"a":12345}}"#, r#"{"inputResponses":{"a":null}}"#] {
            assert_eq!(read(wrong).unwrap_err().code, INVALID_PARAMS, "{wrong}");
        }
        let refused = Answers { list: alloc::vec![("a".into(), Err("no".into()))], state: None };
        assert_eq!(refused.elicited("a").unwrap_err().code, Code::Canceled);
    }
}
