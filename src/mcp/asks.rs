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
    /// the folders that the client works in
    Roots,
    /// the client's model writes something
    Sampling,
}

impl Ask {
    /// Each with its capability and its method.
    const ROWS: [(Self, &'static str, &'static str); 3] = [
        (Self::Elicitation, "elicitation", "elicitation/create"),
        (Self::Roots, "roots", "roots/list"),
        (Self::Sampling, "sampling", "sampling/createMessage"),
    ];

    fn row(self) -> (&'static str, &'static str) {
        let row = Self::ROWS.iter().find(|(ask, ..)| *ask == self);
        row.map_or(("", ""), |(_, capability, method)| (capability, method))
    }

    /// The capability that a client declares for it.
    #[must_use]
    pub fn capability(self) -> &'static str {
        self.row().0
    }

    /// The method of the request.
    #[must_use]
    pub fn method(self) -> &'static str {
        self.row().1
    }
}

/// What a client declared that it may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    elicitation: bool,
    roots: bool,
    sampling: bool,
}

impl Capabilities {
    /// Nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self { elicitation: false, roots: false, sampling: false }
    }

    /// Reads `ClientCapabilities`.
    #[must_use]
    pub fn read(declared: &Members<'_>) -> Self {
        let is_declared = |ask: Ask| declared.get(ask.capability()).and_then(json::members).map(|members| (ask, members));
        let mut capabilities = Self::none();
        for (ask, members) in Ask::ROWS.iter().filter_map(|(ask, ..)| is_declared(*ask)) {
            // Without a mode it means forms, as it did before there were any others.
            let for_links_alone = ask == Ask::Elicitation && members.has("url") && !members.has("form");
            capabilities.set(ask, !for_links_alone);
        }
        capabilities
    }

    fn set(&mut self, ask: Ask, declared: bool) {
        match ask {
            Ask::Elicitation => self.elicitation = declared,
            Ask::Roots => self.roots = declared,
            Ask::Sampling => self.sampling = declared,
        }
    }

    /// Whether a client that declared this may be asked for it.
    #[must_use]
    pub const fn has(self, ask: Ask) -> bool {
        match ask {
            Ask::Elicitation => self.elicitation,
            Ask::Roots => self.roots,
            Ask::Sampling => self.sampling,
        }
    }

    /// As it is read; nothing where nothing was declared.
    #[must_use]
    pub fn to_json(self) -> Option<Json> {
        let declared = Ask::ROWS.iter().map(|(ask, ..)| *ask).filter(|ask| self.has(*ask));
        let declared = named(declared);
        (!declared.is_empty()).then(|| declared.finish())
    }
}

/// An object of capabilities.
fn named(asks: impl Iterator<Item = Ask>) -> Object {
    let mut out = Object::new();
    for ask in asks {
        out.json(ask.capability(), &Object::new().finish());
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
        let names: Vec<&str> = self.0.iter().map(|ask| ask.capability()).collect();
        format!("this call needs a client with the capability {}, which was not declared", names.join(" and "))
    }

    /// The error of a modern request.
    #[must_use]
    pub fn to_rpc(&self) -> RpcError {
        let mut data = Object::new();
        data.json("requiredCapabilities", &named(self.0.iter().copied()).finish());
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
            (r#"{"elicitation":{},"sampling":{"tools":{}},"roots":{"listChanged":true}}"#, [true; 3]),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, [true, false, false]),
            (r#"{"elicitation":{"url":{}},"sampling":true,"roots":null}"#, [false; 3]),
            ("{}", [false; 3]),
        ] {
            let known = capabilities(text);
            assert_eq!([Ask::Elicitation, Ask::Roots, Ask::Sampling].map(|ask| known.has(ask)), want, "{text}");
            let again = known.to_json().map_or(Capabilities::none(), |json| capabilities(json.as_str()));
            assert_eq!(again, known, "{text}");
        }
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
