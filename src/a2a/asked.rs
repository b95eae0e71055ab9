//! Requests of callers, read from the four dialects into one (A2A 1.0 §3.1, §9, §11; A2A 0.3 §7, §3.2).

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use crate::base64;
use crate::json::{self, Json, Kind, Members, Object, Raw};
use crate::list::gather;
use crate::time::WallTime;
use crate::url::form_decode;

use super::dialect::Dialect;
use super::member::{self, ID_BYTES};
use super::message::{Message, Role};
use super::problem::Problem;
use super::request::SendRequest;
use super::state::State;

/// What may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// send a message, one answer
    Send,
    /// send a message, a stream of events
    Stream,
    /// read a task
    Get,
    /// list tasks
    List,
    /// cancel a task
    Cancel,
    /// attach to a task, a stream of events
    Subscribe,
    /// have changes of a task delivered
    SetPush,
    /// read where they are delivered
    GetPush,
    /// every place where they are
    ListPush,
    /// no longer
    DeletePush,
    /// the card for those who are known
    Card,
}

/// Every verb with its methods in 1.0 and 0.3; 0.3 lists no tasks.
const METHODS: [(Verb, &str, &str); 11] = [
    (Verb::Send, "SendMessage", "message/send"),
    (Verb::Stream, "SendStreamingMessage", "message/stream"),
    (Verb::Get, "GetTask", "tasks/get"),
    (Verb::List, "ListTasks", ""),
    (Verb::Cancel, "CancelTask", "tasks/cancel"),
    (Verb::Subscribe, "SubscribeToTask", "tasks/resubscribe"),
    (Verb::SetPush, "CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set"),
    (Verb::GetPush, "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get"),
    (Verb::ListPush, "ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/list"),
    (Verb::DeletePush, "DeleteTaskPushNotificationConfig", "tasks/pushNotificationConfig/delete"),
    (Verb::Card, "GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"),
];

/// What a method of JSON-RPC means, and in which version: its spelling tells both.
#[must_use]
pub fn method(name: &str) -> Option<(Verb, Dialect)> {
    let row = METHODS.iter().find(|(_, new, old)| !name.is_empty() && (name == *new || name == *old));
    row.map(|(verb, new, _)| (*verb, if name == *new { Dialect::JsonRpc10 } else { Dialect::JsonRpc03 }))
}

/// A place of HTTP+JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// what is asked for
    pub verb: Verb,
    /// the version
    pub dialect: Dialect,
    /// the task of the path
    pub task_id: Option<String>,
    /// the push configuration of the path
    pub config_id: Option<String>,
    /// the query
    pub query: String,
}

/// What a method at a path below the endpoint of HTTP+JSON means (A2A 1.0 §11.3, A2A 0.3 §3.2.3).
///
/// # Errors
/// The methods that are served at that path; none where there is no such path.
pub fn place(method: &str, path: &str, query: &str) -> Result<Place, &'static str> {
    let (path, dialect) = match path.strip_prefix("/v1/") {
        Some(rest) => (rest, Dialect::Rest03),
        None => (path.trim_start_matches('/'), Dialect::Rest10),
    };
    let segments = gather(path.split('/').map(decoded));
    let segments = gather(segments.iter().map(String::as_str));
    let found = |verb, task_id: Option<&str>, config_id: Option<&str>| {
        let owned = |id: Option<&str>| id.map(ToString::to_string);
        Ok(Place { verb, dialect, task_id: owned(task_id), config_id: owned(config_id), query: query.to_string() })
    };
    let card = if dialect.is_10() { "extendedAgentCard" } else { "card" };
    match (method, segments.as_slice()) {
        ("POST", ["message:send"]) => found(Verb::Send, None, None),
        ("POST", ["message:stream"]) => found(Verb::Stream, None, None),
        (_, ["message:send" | "message:stream"]) => Err("POST"),
        ("GET", ["tasks"]) if dialect.is_10() => found(Verb::List, None, None),
        (_, ["tasks"]) if dialect.is_10() => Err("GET"),
        ("GET", [name]) if *name == card => found(Verb::Card, None, None),
        (_, [name]) if *name == card => Err("GET"),
        ("POST", ["tasks", id]) if id.ends_with(":cancel") => found(Verb::Cancel, id.strip_suffix(":cancel"), None),
        (_, ["tasks", id]) if id.ends_with(":cancel") => Err("POST"),
        ("GET" | "POST", ["tasks", id]) if id.ends_with(":subscribe") => {
            found(Verb::Subscribe, id.strip_suffix(":subscribe"), None)
        }
        (_, ["tasks", id]) if id.ends_with(":subscribe") => Err("GET, POST"),
        ("GET", ["tasks", id]) if !id.is_empty() => found(Verb::Get, Some(id), None),
        (_, ["tasks", id]) if !id.is_empty() => Err("GET"),
        ("POST", ["tasks", id, "pushNotificationConfigs"]) => found(Verb::SetPush, Some(id), None),
        ("GET", ["tasks", id, "pushNotificationConfigs"]) => found(Verb::ListPush, Some(id), None),
        (_, ["tasks", _, "pushNotificationConfigs"]) => Err("GET, POST"),
        ("GET", ["tasks", id, "pushNotificationConfigs", config]) => found(Verb::GetPush, Some(id), Some(config)),
        ("DELETE", ["tasks", id, "pushNotificationConfigs", config]) => found(Verb::DeletePush, Some(id), Some(config)),
        (_, ["tasks", _, "pushNotificationConfigs", _]) => Err("GET, DELETE"),
        _ => Err(""),
    }
}

/// A segment of a path; a plus sign in it stands for itself.
#[must_use]
pub fn decoded(segment: &str) -> String {
    form_decode(&segment.replace('+', "%2B"))
}

/// The parameters of a query as an object of strings.
#[must_use]
pub fn query_json(query: &str) -> Json {
    let mut out = Object::new();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        out.string(&form_decode(name), &form_decode(value));
    }
    out.finish()
}

/// Where changes of a task are delivered (A2A 1.0 §4.3.1).
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// its id within the task; empty until one is given
    pub id: String,
    /// the webhook
    pub url: String,
    /// what the receiver knows the delivery by
    pub token: Option<String>,
    /// the scheme of the credentials, such as `Bearer`
    pub scheme: Option<String>,
    /// the credentials
    pub credentials: Option<String>,
}

impl core::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "push configuration {}", self.id)
    }
}

impl PushConfig {
    /// How long each of its texts is.
    #[must_use]
    pub fn lengths(&self) -> [u64; 5] {
        let length = |text: Option<&String>| text.map_or(0, |text| u64::try_from(text.len()).unwrap_or(u64::MAX));
        let texts = [Some(&self.id), Some(&self.url), self.token.as_ref(), self.scheme.as_ref(), self.credentials.as_ref()];
        texts.map(length)
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lengths().iter().fold(256, |all, length| length.saturating_add(all))
    }

    /// Reads it in any form, alone or wrapped as in 0.3.
    ///
    /// # Errors
    /// A missing URL.
    pub fn read(raw: Raw<'_>) -> Result<Self, Problem> {
        let mut members = json::members(raw).ok_or_else(|| Problem::invalid("pushNotificationConfig", "must be an object"))?;
        for wrapper in ["config", "pushNotificationConfig", "push_notification_config"] {
            if let Some(inner) = members.get(wrapper).and_then(json::members) {
                members = inner;
            }
        }
        let url = member::take_text(&mut members, &["url"]).ok_or_else(|| Problem::invalid("url", "is missing"))?;
        let given = members.get("authentication").filter(|raw| !json::is_null(*raw));
        let wrong = || Problem::invalid("authentication", "must be an object of texts");
        let mut authentication = given.map_or_else(|| Some(Members::default()), json::members).ok_or_else(wrong)?;
        let is_wrong =
            |name: &str| authentication.get(name).is_some_and(|raw| !matches!(json::kind(raw), Kind::String | Kind::Null));
        if is_wrong("scheme") || is_wrong("credentials") {
            return Err(wrong());
        }
        let scheme = member::take_text(&mut authentication, &["scheme"]);
        let schemes = member::take(&mut authentication, &["schemes"], member::texts).unwrap_or_default();
        Ok(Self {
            id: member::take_text(&mut members, &["id"]).unwrap_or_default(),
            url,
            token: member::take_text(&mut members, &["token"]),
            scheme: scheme.or_else(|| schemes.into_iter().next()),
            credentials: member::take_text(&mut authentication, &["credentials"]),
        })
    }

    /// The form of a dialect, with the task.
    #[must_use]
    pub fn write(&self, task_id: &str, dialect: Dialect) -> Json {
        let mut out = Object::new();
        out.string("id", &self.id);
        if dialect.is_10() {
            out.string("taskId", task_id);
        }
        out.string("url", &self.url).optional_string("token", self.token.as_deref());
        if self.scheme.is_some() || self.credentials.is_some() {
            let mut authentication = Object::new();
            if dialect.is_10() {
                authentication.optional_string("scheme", self.scheme.as_deref());
            } else {
                authentication.strings("schemes", self.scheme.as_deref());
            }
            authentication.optional_string("credentials", self.credentials.as_deref());
            out.nested("authentication", authentication);
        }
        if dialect.is_10() {
            return out.finish();
        }
        let mut wrapper = Object::new();
        if dialect.is_rest() {
            wrapper.string("name", &crate::text::joined(&["tasks/", task_id, "/pushNotificationConfigs/", &self.id], ""));
        } else {
            wrapper.string("taskId", task_id);
        }
        wrapper.nested("pushNotificationConfig", out);
        wrapper.finish()
    }
}

/// Which tasks are listed (A2A 1.0 §3.1.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// of this conversation
    pub context_id: Option<String>,
    /// in this state
    pub state: Option<State>,
    /// with a status of that moment or later
    pub since: Option<WallTime>,
    /// how many at most
    pub page_size: u64,
    /// after which
    pub page_token: Option<String>,
    /// how many turns of their history
    pub turns: Option<u64>,
    /// whether with their artifacts
    pub artifacts: bool,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// send a message
    Send {
        /// the message and what is wanted for it
        request: Box<SendRequest>,
        /// where the changes of its task are delivered
        push: Option<PushConfig>,
    },
    /// list tasks
    List(Box<ListQuery>),
    /// read, cancel or attach to a task
    Task {
        /// which
        task_id: String,
        /// how many turns of its history
        turns: Option<u64>,
    },
    /// a push configuration of a task
    Push {
        /// of which task
        task_id: String,
        /// which one; in 0.3 the only one may be read without
        id: Option<String>,
        /// the new one
        config: Option<PushConfig>,
    },
    /// the card
    Card,
}

/// Reads what is asked for. Ids of the path win over those of the body.
///
/// # Errors
/// A member that is missing or wrong.
pub fn wish(verb: Verb, dialect: Dialect, params: Raw<'_>, place: Option<&Place>) -> Result<Wish, Problem> {
    let mut members = json::members(params).ok_or_else(|| Problem::invalid("params", "must be an object"))?;
    let of_path = |id: fn(&Place) -> &Option<String>| place.and_then(|place| id(place).clone());
    let (path_task, path_config) = (of_path(|place| &place.task_id), of_path(|place| &place.config_id));
    let missing = |field| move || Problem::invalid(field, "is missing");
    match verb {
        Verb::Send | Verb::Stream => send(members, dialect),
        Verb::List => list(members).map(|query| Wish::List(Box::new(query))),
        Verb::Get | Verb::Cancel | Verb::Subscribe => {
            let task_id = path_task.or_else(|| member::take_text(&mut members, &["id", "name"]));
            let turns = count(&mut members, "historyLength", "history_length")?;
            Ok(Wish::Task { task_id: task_id.ok_or_else(missing("id"))?, turns })
        }
        Verb::SetPush => {
            let config = PushConfig::read(params)?;
            let task_id = path_task.or_else(|| member::take_text(&mut members, &["taskId", "task_id"]));
            Ok(Wish::Push { task_id: task_id.ok_or_else(missing("taskId"))?, id: None, config: Some(config) })
        }
        Verb::GetPush | Verb::ListPush | Verb::DeletePush => {
            // In 0.3 `id` is the task's (A2A 0.3 §7.6), in 1.0 the configuration's.
            let (tasks, configs): (&[&str], &[&str]) = if dialect.is_10() {
                (&["taskId", "task_id"], &["id"])
            } else {
                (&["id", "taskId"], &["pushNotificationConfigId", "push_notification_config_id"])
            };
            let task_id = path_task.or_else(|| member::take_text(&mut members, tasks));
            let id = path_config.or_else(|| member::take_text(&mut members, configs));
            // In 0.3 the only one may be read without naming it (A2A 0.3 §7.6).
            let needed = verb == Verb::DeletePush || verb == Verb::GetPush && dialect.is_10();
            if needed && id.is_none() {
                return Err(Problem::invalid(if dialect.is_10() { "id" } else { "pushNotificationConfigId" }, "is missing"));
            }
            Ok(Wish::Push { task_id: task_id.ok_or_else(missing("taskId"))?, id, config: None })
        }
        Verb::Card => Ok(Wish::Card),
    }
}

fn send(mut members: Members<'_>, dialect: Dialect) -> Result<Wish, Problem> {
    // The schema of 0.3 calls it `request`, its JSON form `message`.
    let raw = members.get("message").or_else(|| members.get("request"));
    let raw = raw.ok_or_else(|| Problem::invalid("message", "is missing"))?;
    check_message(raw)?;
    let message = Message::read(raw, dialect).map_err(|_| Problem::invalid("message", "is no message"))?;
    if message.message_id.is_empty() {
        return Err(Problem::invalid("message.messageId", "is missing"));
    }
    if message.role != Role::User && message.role != Role::Agent {
        return Err(Problem::invalid("message.role", "must be ROLE_USER or ROLE_AGENT"));
    }
    let given = members.get("configuration").and_then(json::members);
    // The schema of 0.3 over HTTP leaves out what is false.
    let unsaid = dialect == Dialect::Rest03 && given.is_some();
    let mut configuration = given.unwrap_or_default();
    let push = ["taskPushNotificationConfig", "task_push_notification_config", "pushNotificationConfig", "pushNotification"];
    let push = push.iter().find_map(|name| configuration.get(name)).map(PushConfig::read).transpose()?;
    let immediately = member::take(&mut configuration, &["returnImmediately", "return_immediately"], member::flag);
    let blocking = member::take(&mut configuration, &["blocking"], member::flag);
    let turns = count(&mut configuration, "historyLength", "history_length")?;
    check(&members, &[("metadata", "metadata", "metadata", Shape::Object)])?;
    let request = SendRequest {
        message,
        metadata: member::take_json(&mut members, "metadata"),
        accepted_output_modes: member::take(&mut configuration, &["acceptedOutputModes", "accepted_output_modes"], member::texts),
        // To some peers of 0.3 a length of 0 means everything.
        history_length: turns.filter(|turns| dialect.is_10() || *turns > 0),
        return_immediately: immediately.unwrap_or(!blocking.unwrap_or(!unsaid)),
    };
    Ok(Wish::Send { request: Box::new(request), push })
}

/// What kind of value a member is.
#[derive(Clone, Copy)]
enum Shape {
    Id,
    Text,
    Texts,
    Object,
    Base64,
}

impl Shape {
    /// Whether a value is of that kind; what else it must be.
    fn check(self, raw: Raw<'_>) -> Result<(), &'static str> {
        let (fits, wanted) = match self {
            Self::Id => (json::string(raw).is_some_and(|id| id.len() <= ID_BYTES), "must be a string of at most 4,096 bytes"),
            Self::Text => (json::kind(raw) == Kind::String, "must be a string"),
            Self::Texts => (json::strings(raw).is_some(), "must be a list of strings"),
            Self::Object => (json::kind(raw) == Kind::Object, "must be an object"),
            Self::Base64 => (json::string(raw).is_some_and(|text| base64::decode_any(&text).is_some()), "must be base64"),
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}

/// A member in both of its spellings, what it is called in an error, and what it must be.
type Rule = (&'static str, &'static str, &'static str, Shape);

const MESSAGE: [Rule; 7] = [
    ("messageId", "message_id", "message.messageId", Shape::Id),
    ("role", "role", "message.role", Shape::Text),
    ("contextId", "context_id", "message.contextId", Shape::Id),
    ("taskId", "task_id", "message.taskId", Shape::Id),
    ("metadata", "metadata", "message.metadata", Shape::Object),
    ("extensions", "extensions", "message.extensions", Shape::Texts),
    ("referenceTaskIds", "reference_task_ids", "message.referenceTaskIds", Shape::Texts),
];

const PART: [Rule; 7] = [
    ("text", "text", "message.parts.text", Shape::Text),
    ("url", "url", "message.parts.url", Shape::Text),
    ("raw", "raw", "message.parts.raw", Shape::Base64),
    ("file", "file", "message.parts.file", Shape::Object),
    ("metadata", "metadata", "message.parts.metadata", Shape::Object),
    ("filename", "filename", "message.parts.filename", Shape::Text),
    ("mediaType", "media_type", "message.parts.mediaType", Shape::Text),
];

/// The file of 0.3.
const FILE: [Rule; 6] = [
    ("bytes", "bytes", "message.parts.file.bytes", Shape::Base64),
    ("fileWithBytes", "file_with_bytes", "message.parts.file.fileWithBytes", Shape::Base64),
    ("uri", "uri", "message.parts.file.uri", Shape::Text),
    ("fileWithUri", "file_with_uri", "message.parts.file.fileWithUri", Shape::Text),
    ("name", "name", "message.parts.file.name", Shape::Text),
    ("mimeType", "mime_type", "message.parts.file.mimeType", Shape::Text),
];

/// Whether the members that are there are what they must be.
fn check(members: &Members<'_>, rules: &[Rule]) -> Result<(), Problem> {
    for (camel, snake, field, shape) in rules {
        for raw in [members.get(camel), members.get(snake)].into_iter().flatten() {
            shape.check(raw).map_err(|wanted| Problem::invalid(field, wanted))?;
        }
    }
    Ok(())
}

/// Checks what a message is made of: it has parts, and each part exactly one content (A2A 1.0 §4.1.4, §4.1.6).
///
/// # Errors
/// The member at fault.
pub fn check_message(raw: Raw<'_>) -> Result<(), Problem> {
    let members = json::members(raw).ok_or_else(|| Problem::invalid("message", "must be an object"))?;
    check(&members, &MESSAGE)?;
    let parts = members.get("parts").or_else(|| members.get("content")).and_then(json::elements).unwrap_or_default();
    if parts.is_empty() {
        return Err(Problem::invalid("message.parts", "must hold at least one part"));
    }
    for part in parts {
        let part = json::members(part).unwrap_or_default();
        check(&part, &PART)?;
        let file = part.get("file").and_then(json::members);
        let filled = ["text", "raw", "url", "file"].iter().filter(|name| part.get(name).is_some()).count();
        let kinds = ["kind", "type"].iter().filter_map(|name| part.string(name));
        if !gather(kinds).iter().all(|kind| ["text", "file", "data"].contains(&kind.as_str())) {
            return Err(Problem::invalid("message.parts", "must each be of the kind text, file or data where they name one"));
        }
        if filled + usize::from(part.has("data")) != 1 {
            return Err(Problem::invalid("message.parts", "must each hold exactly one of text, raw, url and data"));
        }
        if let Some(file) = file {
            check(&file, &FILE)?;
            let content = ["bytes", "fileWithBytes", "file_with_bytes", "uri", "fileWithUri", "file_with_uri"];
            if content.iter().filter(|name| file.get(name).is_some()).count() != 1 {
                return Err(Problem::invalid("message.parts.file", "must hold either bytes or a URI"));
            }
        }
    }
    Ok(())
}

fn list(mut members: Members<'_>) -> Result<ListQuery, Problem> {
    let page_size = count(&mut members, "pageSize", "page_size")?.unwrap_or(50);
    if !(1..=100).contains(&page_size) {
        return Err(Problem::invalid("pageSize", "must be 1 to 100"));
    }
    let state = member::take_text(&mut members, &["status"]).map(|name| State::named(&name));
    if state.as_ref().is_some_and(|state| matches!(state, State::Unknown | State::Other(_))) {
        return Err(Problem::invalid("status", "is no state of a task"));
    }
    let since = member::take_text(&mut members, &["statusTimestampAfter", "status_timestamp_after"]);
    let since =
        since.map(|text| WallTime::from_rfc3339(&text).ok_or_else(|| Problem::invalid("statusTimestampAfter", "is no time")));
    Ok(ListQuery {
        context_id: member::take_text(&mut members, &["contextId", "context_id"]),
        state,
        since: since.transpose()?,
        page_size,
        page_token: member::take_text(&mut members, &["pageToken", "page_token"]),
        turns: count(&mut members, "historyLength", "history_length")?,
        artifacts: member::take(&mut members, &["includeArtifacts", "include_artifacts"], member::flag).unwrap_or_default(),
    })
}

/// An optional whole number of at least 0.
fn count(members: &mut Members<'_>, name: &'static str, snake: &str) -> Result<Option<u64>, Problem> {
    let Some(raw) = members.take(name).or_else(|| members.take(snake)) else { return Ok(None) };
    let number = member::integer(raw).and_then(|number| u64::try_from(number).ok());
    number.map(Some).ok_or_else(|| Problem::invalid(name, "must be a whole number of at least 0"))
}

#[cfg(test)]
mod tests;
