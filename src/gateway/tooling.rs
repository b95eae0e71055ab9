//! Served tasks whose work a tool of an MCP server does: a message is its arguments, its result an artifact.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use crate::a2a::{Artifact, ArtifactUpdate, Content, Event, Part, State, Status, StatusUpdate};
use crate::call::dispatch::Sink;
use crate::call::{Call, CallId, Caller, Ended, Work};
use crate::incoming::{NOBODY, scope_of};
use crate::json::{self, Json, Kind, Object};
use crate::jsonrpc::Id;
use crate::link::catalog::LinkedTool;
use crate::list::gather;
use crate::mcp::asks::Answers;
use crate::mcp::era::Era;
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::subject::Subject;
use crate::mcp::tool::Started;
use crate::served::{Duty, TaskNumber};
use crate::text;

/// Why a task fails whose server asks the client of its caller: there is none.
pub(super) const NOBODY_TO_ASK: &str = "the MCP server asks its client something, and an agent has nobody to ask";

impl Gateway {
    /// Calls the tool of a task with what its first message says. While it runs, further messages change nothing.
    pub(super) fn call_tool(&mut self, number: TaskNumber) {
        let Some(task) = self.served.get(number) else { return };
        let Duty::Tool { tool, call } = &task.duty else { return };
        if let Some(call) = call {
            if let Some(id) = self.calls.get(call).and_then(approval_of) {
                self.tell_approval(number, &id);
            }
            return;
        }
        let owner = task.owner.clone();
        let Some(tool) = self.ground.catalog.find(tool).cloned() else {
            let why = match self.links.awaited(tool) {
                _ if tool.is_empty() => "name the tool that is meant in `metadata.skill`".to_string(),
                Some((_, _, true)) => {
                    self.served.begin(number, &mut self.ground.random);
                    return self.served.await_tools(number);
                }
                Some((_, error, false)) => error.into_message(),
                None => format!("no MCP server offers {tool}"),
            };
            return self.fail_tool(number, &why);
        };
        let said = task.task().history.iter().flatten().next();
        let arguments = match arguments(&tool, said.map_or(&[][..], |message| message.parts.as_slice())) {
            Ok(arguments) => arguments,
            Err(why) => return self.fail_tool(number, &why),
        };
        let call = CallId(self.ground.call_number());
        let mut caller = Caller::new(call, NOBODY, Id::none(), Era::Legacy);
        caller.trace = self.ground.trace_context.as_ref().map(|trace| trace.child(&mut self.ground.random));
        if let Some(trace) = &caller.trace {
            trace.put_into_meta(&mut caller.meta);
        }
        // What its server says meanwhile is told as the status of the task.
        caller.progress_token = Some(Json::string("task"));
        let scope = scope_of(&owner, None);
        self.start_tool(number, scope, caller, Subject::Linked(tool), arguments, Answers::none());
    }

    /// Calls the tools of tasks that waited until it is known which there are.
    pub(super) fn call_awaited(&mut self) {
        // Where they are kept, the next process goes on waiting.
        if self.incoming.stopping && self.ground.config.storage {
            return;
        }
        for number in self.served.take_awaiting() {
            if self.served.get(number).is_some_and(|task| !task.state().is_terminal()) {
                self.call_tool(number);
            }
        }
    }

    fn tell_approval(&mut self, number: TaskNumber, id: &str) {
        let words = format!("The call waits for somebody to approve it (approval {id}).");
        self.tell_state(number, State::InputRequired, &words);
    }

    /// Starts the call of a task, or starts it again when it was approved.
    pub(super) fn start_tool(
        &mut self,
        number: TaskNumber,
        scope_name: String,
        mut caller: Caller,
        subject: Subject,
        arguments: Option<Json>,
        answers: Answers,
    ) {
        let id = caller.call;
        let scope = (scope_name.as_str(), self.scopes.get_or_default(scope_name.as_str()));
        let mut run = crate::call::Run::new(&mut self.ground, scope, &mut self.exchanges, &mut self.served, &mut caller);
        run.answers = answers;
        match subject.start(&mut run, arguments.as_ref().map(Json::raw)) {
            Ok(Started::Running(work)) => {
                if let Some(Duty::Tool { call, .. }) = self.served.get_mut(number).map(|task| &mut task.duty) {
                    *call = Some(id);
                }
                let (sink, started) = (Sink::Served(number), self.ground.now);
                let call = Box::new(Call { caller, sink, scope: scope_name, subject, work, started, timer: None });
                let approval = approval_of(&call);
                self.enter(call);
                match approval {
                    Some(id) => self.tell_approval(number, &id),
                    None => self.tell_state(number, State::Working, ""),
                }
            }
            Ok(Started::Done(result)) => self.tool_ended(number, id, Ok(result)),
            Ok(Started::Asks(_)) => self.tool_ended(number, id, Err(ToolError::new(Code::Unsupported, NOBODY_TO_ASK))),
            Err(error) => self.tool_ended(number, id, Err(error)),
        }
    }

    /// The call of a task ended.
    pub(super) fn tool_ended(&mut self, number: TaskNumber, ended: CallId, outcome: Ended) {
        let Some(task) = self.served.get_mut(number) else { return };
        if let Duty::Tool { call, .. } = &mut task.duty {
            *call = call.filter(|call| *call != ended);
        }
        if task.state().is_terminal() {
            return;
        }
        match outcome {
            Ok(result) if !result.is_error => {
                let mut artifact = Artifact::new("result".to_string(), parts(&result.structured));
                artifact.name = Some("result".to_string());
                let (task_id, context_id, metadata) = (None, None, None);
                let update = ArtifactUpdate { task_id, context_id, artifact, append: false, last_chunk: true, metadata };
                self.tell_task(number, Event::Artifact(update));
                self.tell_state(number, State::Completed, "");
            }
            Ok(result) => self.fail_tool(number, &reason(&result)),
            Err(error) => self.fail_tool(number, &error.message),
        }
    }

    fn fail_tool(&mut self, number: TaskNumber, why: &str) {
        let Some(owner) = self.served.get(number).map(|task| task.owner.clone()) else { return };
        let scope = self.scopes.get(scope_of(&owner, None).as_str());
        let why = scope.map_or_else(|| why.to_string(), |scope| scope.secrets.redact(why.to_string()));
        let at = self.ground.wall();
        self.served.fail(number, &why, at, &mut self.ground.random);
    }

    /// What is said of a task, clean of the secrets of its owner's scope.
    fn tell_task(&mut self, number: TaskNumber, mut event: Event) {
        let Some(owner) = self.served.get(number).map(|task| task.owner.clone()) else { return };
        if let Some(scope) = self.scopes.get(scope_of(&owner, None).as_str()) {
            scope.secrets.clean(&mut event);
        }
        let at = self.ground.wall();
        self.served.report(number, event, at, &mut self.ground.random);
    }

    pub(super) fn tell_state(&mut self, number: TaskNumber, state: State, words: &str) {
        let Some(task) = self.served.get(number) else { return };
        let message = (!words.is_empty()).then(|| task.words(words, &mut self.ground.random));
        let (task_id, context_id, metadata) = (None, None, None);
        let status = Status { message, ..Status::of(state) };
        self.tell_task(number, Event::Status(StatusUpdate { task_id, context_id, status, last: false, metadata }));
    }

    /// What servers told of the calls of tasks while they run.
    pub(super) fn tell_progress(&mut self) {
        while let Some((call, message)) = self.ground.unheard.pop_front() {
            let Some(Sink::Served(number)) = self.calls.get(&call).map(|call| call.sink.clone()) else { continue };
            let params = message.members().and_then(|members| members.get("params").and_then(json::members)).unwrap_or_default();
            let part = |name: &str| params.get(name).map(|raw| raw.get().to_string());
            let words = params.string("message").filter(|words| !words.is_empty()).or_else(|| {
                let done = part("progress")?;
                Some(part("total").map_or_else(|| done.clone(), |total| format!("{done} of {total}")))
            });
            let is_working = self.served.get(number).is_some_and(|task| *task.state() == State::Working);
            if let Some(words) = words.filter(|_| is_working) {
                self.tell_state(number, State::Working, &words);
            }
        }
    }

    /// A task that ended wants nothing of its tool any more.
    pub(super) fn release_tool(&mut self, number: TaskNumber) {
        let Some(Duty::Tool { call, .. }) = self.served.get_mut(number).map(|task| &mut task.duty) else { return };
        if let Some(call) = call.take() {
            self.stop(call, true);
            self.drive_links();
        }
    }
}

/// What somebody has to approve before a call is made.
#[expect(clippy::borrowed_box, reason = "calls are kept in boxes")]
fn approval_of(call: &Box<Call>) -> Option<String> {
    if let Work::Approving(work) = call.work.as_ref() { Some(work.id().to_string()) } else { None }
}

/// The arguments that a message gives: its data, or its text where the tool takes one text.
fn arguments(tool: &LinkedTool, given: &[Part]) -> Result<Option<Json>, String> {
    let (mut texts, mut object) = (Vec::new(), None);
    for part in given {
        match &part.content {
            Content::Data(json) if json.kind() == Kind::Object => object = object.or_else(|| Some(json.clone())),
            Content::Text(text) if !text.trim().is_empty() => texts.push(text.as_str()),
            Content::Data(_) | Content::Text(_) | Content::Url(_) | Content::Raw(_) | Content::Other => {}
        }
    }
    if object.is_some() || texts.is_empty() {
        return Ok(object);
    }
    let text = text::joined(&texts, "\n");
    let definition = tool.definition.members().unwrap_or_default();
    let schema = definition.get("inputSchema").and_then(json::members).unwrap_or_default();
    let properties = schema.get("properties").and_then(json::members).unwrap_or_default();
    let known = gather(properties.iter().map(|(name, _)| name.to_string()));
    let required = schema.get("required").and_then(json::strings).unwrap_or_default();
    let only = match (required.as_slice(), known.as_slice()) {
        ([only], _) | ([], [only]) => only,
        ([], []) => return Ok(None),
        ([], _) | ([..], _) => {
            return Err(format!("{} takes several arguments: send them as an object in a data part", tool.offered));
        }
    };
    let kind = properties.get(only).and_then(json::members).and_then(|schema| schema.string("type"));
    if kind.is_some_and(|kind| kind != "string") {
        return Err(format!("`{only}` of {} is no text: send it in an object in a data part", tool.offered));
    }
    let mut out = Object::new();
    out.string(only, &text);
    Ok(Some(out.finish()))
}

/// The parts of a tool's result (MCP, `CallToolResult`): structured content first, every content after it.
fn parts(result: &Json) -> Vec<Part> {
    let members = result.members().unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(raw) = members.get("structuredContent") {
        parts.push(Part::new(Content::Data(Json::from_raw(raw))));
    }
    for raw in members.get("content").and_then(json::elements).unwrap_or_default() {
        let content = json::members(raw).unwrap_or_default();
        let kind = content.string("type").unwrap_or_default();
        let inner = content.get("resource").and_then(json::members).unwrap_or_default();
        let (read, media_type) = match kind.as_str() {
            "text" => (content.string("text").map(Content::Text), None),
            "image" | "audio" => (content.string("data").map(Content::Raw), content.string("mimeType")),
            "resource_link" => (content.string("uri").map(Content::Url), content.string("mimeType")),
            "resource" => {
                let text = inner.string("text").map(Content::Text);
                (text.or_else(|| inner.string("blob").map(Content::Raw)), inner.string("mimeType"))
            }
            _ => (None, None),
        };
        let mut part = Part::new(read.unwrap_or_else(|| Content::Data(Json::from_raw(raw))));
        (part.media_type, part.filename) = (media_type, content.string("name"));
        parts.push(part);
    }
    parts
}

/// Why a tool failed, in its own words.
fn reason(result: &ToolResult) -> String {
    if let [error] = result.content.as_slice() {
        let words = error.members().and_then(|error| error.string("message"));
        return words.unwrap_or_else(|| "the MCP server refused the call".to_string());
    }
    let texts = gather(parts(&result.structured).into_iter().filter_map(|part| match part.content {
        Content::Text(text) => Some(text),
        Content::Data(_) | Content::Url(_) | Content::Raw(_) | Content::Other => None,
    }));
    if texts.is_empty() { "the tool failed and gave no reason".to_string() } else { text::joined(&texts, "\n") }
}
