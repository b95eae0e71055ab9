//! A call whose server wants to be told more before it answers: what it asks, and how the call goes on with the answers
//! (MCP 2026-07-28, multi-round-trip requests).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Run, policy};
use crate::json::{self, Json, Members, Object};
use crate::link::catalog::LinkedTool;
use crate::link::{relay, wire};
use crate::mcp::asks::{Ask, Asks, QUESTIONS, Question};
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError};

/// The member of a link by which its server tells of it later.
const LINK_ID: &str = "elicitationId";
/// How many rounds a call may take.
const ROUNDS: u64 = 64;

/// Where a call stands that was made before.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// how many answers its server gave
    pub number: u64,
    /// the approval under which it was made first
    pub approval: Option<String>,
    /// what the server wants back, literally
    state: Option<Json>,
    /// whether the user was to open links, of which the server is told nothing: it is called once more
    links: bool,
}

impl Rounds {
    /// Reads the state of a call that is made again; the beginning where there is none.
    #[must_use]
    pub fn read(state: Option<&Json>) -> Self {
        let Some(members) = state.and_then(Json::members) else { return Self::default() };
        let number = members.get("round").and_then(|raw| u64::try_from(json::integer(raw.get())?).ok());
        Self {
            number: number.unwrap_or_default(),
            approval: members.string("approval"),
            state: members.get("state").map(Json::from_raw),
            links: members.has("links"),
        }
    }

    fn to_json(&self) -> Json {
        let mut out = Object::new();
        out.integer("round", self.number).optional_string("approval", self.approval.as_deref());
        out.optional_json("state", self.state.as_ref());
        if self.links {
            out.boolean("links", true);
        }
        out.finish()
    }

    /// What a server's result asks, in the words of this gateway.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn asks(&self, run: &mut Run<'_>, tool: &LinkedTool, result: &Members<'_>) -> Result<Asks, ToolError> {
        let fault = |what: &str| fault(tool, what);
        let number = self.next(tool)?;
        let state = result.get("requestState").filter(|raw| json::string(*raw).is_some()).map(Json::from_raw);
        // It comes back as it is or not at all, and the client may read it.
        if state.as_ref().is_some_and(|state| run.scope.secrets.redact_json(state.clone()) != *state) {
            return Err(fault("asks, with a credential in the state that its client is to keep"));
        }
        let mut questions = Vec::new();
        for (key, raw) in result.get("inputRequests").and_then(json::members).unwrap_or_default().iter() {
            let request = json::members(raw).unwrap_or_default();
            let params = request.get("params").and_then(json::members).unwrap_or_default();
            let ask = request.string("method").and_then(|method| Ask::read(&method, &params));
            let ask = ask.ok_or_else(|| fault("asks what no client can be asked"))?;
            let params = relayed(run, tool, ask, &params);
            questions.push(Question { key: String::from(key), ask, params });
        }
        if questions.len() > QUESTIONS {
            return Err(fault("asks more at once than a client may be asked"));
        }
        if questions.is_empty() && state.is_none() {
            return Err(fault("answered that it needs more input, and did not say which"));
        }
        let next = Self { number, approval: self.approval.clone(), state, links: false };
        Ok(Asks { questions, state: Some(next.to_json()) })
    }

    fn next(&self, tool: &LinkedTool) -> Result<u64, ToolError> {
        let number = self.number + 1;
        if number > ROUNDS { Err(fault(tool, "asks again and again instead of answering")) } else { Ok(number) }
    }

    /// The links that the user has to open before a call is made again, as an error of the version before says it (MCP
    /// 2025-11-25, elicitation, -32042), for a client of the era that has no such error. None where there are none.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn links(&self, run: &mut Run<'_>, tool: &LinkedTool, error: &Json) -> Result<Option<Asks>, ToolError> {
        let mut questions = Vec::new();
        for raw in relay::elicitations(error).into_iter().take(QUESTIONS) {
            let params = json::members(raw).unwrap_or_default();
            if Ask::read(Ask::Link.method(), &params) == Some(Ask::Link) {
                let (key, params) = (format!("link-{}", questions.len()), relayed(run, tool, Ask::Link, &params));
                questions.push(Question { key, ask: Ask::Link, params });
            }
        }
        if questions.is_empty() {
            return Ok(None);
        }
        let next = Self { number: self.next(tool)?, approval: self.approval.clone(), state: None, links: true };
        Ok(Some(Asks { questions, state: Some(next.to_json()) }))
    }

    /// What is told to the server beside the arguments: answers, and its own state.
    ///
    /// # Errors
    /// The client refused to answer, or an answer may not leave.
    pub fn responses(&self, run: &mut Run<'_>, tool: &LinkedTool) -> Result<Option<Responses>, ToolError> {
        // Answers to what nobody asked are nobody's.
        if self.number == 0 {
            return Ok(None);
        }
        let mut answers = Vec::new();
        for (key, answer) in core::mem::take(&mut run.answers.list) {
            let answer = answer.map_err(|why| refused(&why))?;
            if self.links {
                let action = answer.members().and_then(|answer| answer.string("action"));
                if action.as_deref() != Some("accept") {
                    return Err(refused("the user did not open the link"));
                }
                continue;
            }
            answers.push((key, outgoing(run, tool, answer)?));
        }
        Ok(Some(Responses { answers, state: self.state.clone() }))
    }
}

/// What a server is told that had asked.
#[derive(Clone, Debug)]
pub struct Responses {
    /// the answers by their keys
    pub answers: Vec<(String, Json)>,
    /// its own state, as it came
    pub state: Option<Json>,
}

fn fault(tool: &LinkedTool, what: &str) -> ToolError {
    ToolError::new(Code::ProtocolError, format!("MCP server '{}' {what}", tool.server_name))
}

/// The parameters of a server's question for a client: all but what is of the protocol between the two of us. People are
/// told who asks. A link has an id in the handshake era, and none after it.
pub(super) fn relayed(run: &mut Run<'_>, tool: &LinkedTool, ask: Ask, params: &Members<'_>) -> Json {
    let (mut out, server, era) = (Object::new(), &tool.server_name, run.caller.era);
    if ask == Ask::Link && era == Era::Legacy && !params.has(LINK_ID) {
        out.string(LINK_ID, &run.ground.random.uuid());
    }
    for (name, raw) in params.iter().filter(|(name, _)| !matches!(*name, "_meta" | "task")) {
        match (name, ask, json::string(raw)) {
            ("message", Ask::Elicitation | Ask::Link, Some(message)) => out.string(name, &format!("[MCP:{server}] {message}")),
            (LINK_ID, Ask::Link, _) if era == Era::Modern => &mut out,
            _ => out.json(name, &Json::from_raw(raw)),
        };
    }
    let meta = params.get("_meta").and_then(json::members).map(|meta| wire::relayed_meta(&meta)).unwrap_or_default();
    if !meta.is_empty() {
        let mut own = Object::new();
        own.members(&meta);
        out.nested("_meta", own);
    }
    policy::inbound(run, tool, out.finish())
}

/// The error of a call whose client did not answer.
fn refused(why: &str) -> ToolError {
    ToolError::new(Code::Canceled, format!("the client refused to answer what the MCP server asked: {why}"))
}

/// An answer as it leaves for the server.
///
/// # Errors
/// It may not leave.
pub(super) fn outgoing(run: &mut Run<'_>, tool: &LinkedTool, answer: Json) -> Result<Json, ToolError> {
    let answer = run.scope.secrets.redact_json(answer);
    policy::scan_answer(run, tool, &answer)?;
    Ok(answer)
}
