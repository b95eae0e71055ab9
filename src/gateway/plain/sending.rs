//! Messages of the plain task API: sent to other agents, and taken in as tasks here.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Done, required};
use crate::a2a::asked::check_message;
use crate::a2a::{Dialect, Message, Part, Role, SendRequest, State};
use crate::call::outgoing;
use crate::call::target::Target;
use crate::call::task::{TaskCall, Wish};
use crate::gateway::Gateway;
use crate::gateway::card::fnv;
use crate::gateway::granting::{HOPS, hops};
use crate::http;
use crate::io::{Headers, RequestId};
use crate::json::{self, Kind, Members};
use crate::plain::Fault;
use crate::served::{Duty, Sent, ServedTask, TaskNumber, begun_by};
use crate::text;
use crate::tools::SEND_MESSAGE;
use crate::url;

/// How long a send waits for its task where its caller does not say.
const WAIT_MS: u64 = 60_000;
/// How long it waits at most.
const LONGEST_MS: u64 = 3_600_000;
/// How long the name of a request or a task may be, in bytes.
const NAME_BYTES: usize = 255;

impl Gateway {
    /// Sends a message to an agent and waits for its task.
    pub(super) fn plain_send(&mut self, request: RequestId, owner: &str, headers: &Headers, bytes: &[u8]) -> Done {
        let members = self.plain_body(headers, bytes)?;
        let agent_url = required(&members, &["agent_url", "url"])?;
        let wait_ms = wait(&members)?;
        let mut send = self.plain_message(&members)?;
        if let Some(session) = members.string("session_id").filter(|session| !session.is_empty()) {
            send.message.context_id = Some(session);
        }
        let key = http::header(headers, "idempotency-key").map(str::trim).filter(|key| !key.is_empty());
        if key.is_some_and(|key| key.len() > NAME_BYTES) {
            return Err(Fault::invalid(format!("`Idempotency-Key` must have at most {NAME_BYTES} bytes")));
        }
        let [message, session] = ["message", "session_id"].map(|name| members.get(name).map_or("", |raw| raw.get()));
        let print = fnv(text::joined(&[agent_url.as_str(), message, session], "\n").as_bytes());
        if let Some(sent) = key.and_then(|key| self.sent_as(owner, key)) {
            if sent.1 != print {
                return Err(Fault::new(422, "idempotency_conflict", "another request was made with this Idempotency-Key"));
            }
            return self.plain_wait(request, sent.0, wait_ms);
        }
        let agent = self.plain_trusted(owner, &agent_url)?;
        outgoing::check(&mut self.ground, SEND_MESSAGE.name, &send)?;
        let number = match send.message.task_id.clone() {
            Some(id) => self.plain_more(owner, &id, Some(&agent), &send)?,
            None => self.plain_new(owner, agent, &send)?,
        };
        let sent = self.served.get_mut(number).and_then(|task| task.sent.as_mut());
        if let Some(sent) = sent {
            sent.last = key.map(String::from);
            sent.keys.extend(key.map(|key| (key.to_string(), print)));
        }
        self.set_to_work(number, send, 0);
        self.tell_watchers();
        self.plain_wait(request, number, wait_ms)
    }

    /// The task of an earlier request of that name, and what was asked for then.
    fn sent_as(&self, owner: &str, key: &str) -> Option<(TaskNumber, u64)> {
        self.served.of(owner).find_map(|(number, task)| {
            let (_, print) = task.sent.as_ref()?.keys.iter().find(|(known, _)| known == key)?;
            Some((number, *print))
        })
    }

    /// A task at another agent.
    fn plain_new(&mut self, owner: &str, agent: String, send: &SendRequest) -> Result<TaskNumber, Fault> {
        let (limit, at) = (self.ground.config.limits.artifact_bytes, self.ground.wall());
        let task = begun_by(&send.message, None, &mut self.ground.random);
        let mut task = ServedTask::new(owner.to_string(), task, Duty::relay(agent), limit, at);
        task.sent =
            Some(Box::new(Sent { keys: [].into(), last: None, fault: None, retry_ms: None, is_ours: false, is_apart: false }));
        let number = self.served.admit(task)?;
        self.served.begin(number, &mut self.ground.random);
        Ok(number)
    }

    /// One more message for a task, at that agent where one is meant.
    fn plain_more(&mut self, owner: &str, id: &str, agent: Option<&str>, send: &SendRequest) -> Result<TaskNumber, Fault> {
        let (number, at) = (self.plain_find(owner, id, agent)?, self.ground.wall());
        let mut message = send.message.clone();
        message.context_id = None;
        self.served.check_message(number, &message)?;
        self.may_pass_on(number)?;
        self.served.message(number, &message, at, &mut self.ground.random);
        Ok(number)
    }

    /// Begins a task here.
    pub(super) fn plain_begin(&mut self, request: RequestId, owner: &str, headers: &Headers, bytes: &[u8]) {
        match self.plain_begun(owner, headers, bytes) {
            Ok((number, id)) => {
                let mut place = String::from("/api/a2a/tasks/");
                url::percent_encode(&mut place, &id);
                let mut fields = self.common(request);
                fields.push(("Location".to_string(), place));
                fields.push(("Content-Type".to_string(), "application/json".to_string()));
                let task = self.plain_task(number, &id).map(json::Json::into_string).unwrap_or_default();
                self.respond(request, 202, fields, task);
            }
            Err(fault) => self.plain_done(request, Err(fault)),
        }
    }

    fn plain_begun(&mut self, owner: &str, headers: &Headers, bytes: &[u8]) -> Result<(TaskNumber, String), Fault> {
        let members = self.plain_body(headers, bytes)?;
        let mut send = self.plain_message(&members)?;
        let session = members.string("sessionId").or_else(|| members.string("session_id"));
        if let Some(session) = session.filter(|session| !session.is_empty()) {
            send.message.context_id = Some(session);
        }
        let id = match members.get("id") {
            Some(raw) => {
                let id = json::string(raw).filter(|id| !id.is_empty() && id.len() <= NAME_BYTES);
                Some(id.ok_or_else(|| Fault::invalid(format!("`id` must be a text of 1 to {NAME_BYTES} bytes")))?)
            }
            None => None,
        };
        if id.as_deref().is_some_and(|id| self.served.is_taken(owner, id) || self.served.find_sent(owner, id, None).is_some()) {
            return Err(Fault::new(409, "conflict", "this id is taken by another task"));
        }
        let hops = hops(&send);
        let number = match send.message.task_id.clone() {
            Some(known) if hops <= HOPS => self.plain_more(owner, &known, None, &send)?,
            Some(_) => return Err(Fault::invalid(format!("this message was passed on by more than {HOPS} gateways"))),
            None => self.new_task(owner, &send, id)?,
        };
        self.served.begin(number, &mut self.ground.random);
        if hops > HOPS {
            let (at, why) = (self.ground.wall(), format!("this message was passed on by more than {HOPS} gateways"));
            self.served.end(number, State::Rejected, &why, at, &mut self.ground.random);
        } else {
            self.set_to_work(number, send, hops);
        }
        self.tell_watchers();
        let id = self.served.get(number).map(|task| task.task().id.clone()).unwrap_or_default();
        Ok((number, id))
    }

    /// The message of a body: a text, or a message in any form of A2A, with an id where it has none.
    fn plain_message(&mut self, members: &Members<'_>) -> Result<SendRequest, Fault> {
        let raw = members.get("message").ok_or_else(|| Fault::invalid("`message` is missing"))?;
        let mut message = match json::kind(raw) {
            Kind::String => {
                let text = json::string(raw).filter(|text| !text.trim().is_empty());
                let text = text.ok_or_else(|| Fault::invalid("`message` is blank"))?;
                Message::from_user(String::new(), [Part::text(text)].into())
            }
            Kind::Object => {
                check_message(raw)?;
                Message::read(raw, Dialect::JsonRpc03).map_err(|_| Fault::invalid("`message` is no message"))?
            }
            Kind::Null | Kind::Boolean | Kind::Number | Kind::Array => {
                return Err(Fault::invalid("`message` must be a text or an object"));
            }
        };
        if message.message_id.is_empty() {
            message.message_id = self.ground.random.uuid();
        }
        message.role = match message.role {
            Role::Agent => Role::Agent,
            Role::User | Role::Unspecified => Role::User,
            Role::Other(_) => return Err(Fault::invalid("`message.role` must be user or agent")),
        };
        let (metadata, accepted_output_modes, history_length) = (None, None, None);
        Ok(SendRequest { message, metadata, accepted_output_modes, history_length, return_immediately: false })
    }

    /// How a task is that was sent, to the agent that the query names where it names one; one that is not known here is read
    /// from there.
    pub(super) fn plain_status(&mut self, request: RequestId, owner: &str, id: &str, query: &Members<'_>) -> Done {
        let agent = query.string("url").map(|url| self.plain_trusted(owner, &url)).transpose()?;
        let found = self.plain_find(owner, id, agent.as_deref());
        let Some(agent) = agent.filter(|_| found.is_err()) else {
            return found.map(|number| self.plain_task(number, id).map(|task| (200, task)));
        };
        let id = id.to_string();
        self.plain_call(request, owner, None, |run| {
            let target = Target::resolve(run.scope, &agent)?;
            TaskCall::start(run, target, id, Wish::Get { history_length: None })
        })
    }
}

/// How long to wait, in milliseconds.
fn wait(members: &Members<'_>) -> Result<u64, Fault> {
    let Some(raw) = members.get("wait") else { return Ok(WAIT_MS) };
    let ms = (json::kind(raw) == Kind::Number).then(|| json::scaled(raw.get(), 3)).flatten();
    let ms = ms.and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms <= LONGEST_MS);
    ms.ok_or_else(|| Fault::invalid("`wait` must be a number of seconds from 0 to 3600"))
}
