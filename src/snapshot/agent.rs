//! An agent as a record.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Secrets, number};
use crate::a2a::{Dialect, Interface};
use crate::bucket::{Bucket, Rate};
use crate::contexts::Conversation;
use crate::ground::Ground;
use crate::health::Health;
use crate::history::{Entry, History};
use crate::json::{self, Array, Json, Members, Object, Raw};
use crate::registry::{Agent, Profile};
use crate::scope::Scope;
use crate::table::Table;
use crate::time::{Instant, WallTime};
use crate::url::Url;

const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::JsonRpc10, "JSONRPC 1.0"),
    (Dialect::Rest10, "HTTP+JSON 1.0"),
    (Dialect::JsonRpc03, "JSONRPC 0.3"),
    (Dialect::Rest03, "HTTP+JSON 0.3"),
];

/// Writes an agent, named by its scope and alias. Moments are wall-clock times, so that another clock can go on with them.
pub(super) fn record(
    (scope, alias): (&str, &str),
    agent: &Agent,
    known: Option<&Profile>,
    secrets: Secrets,
    ground: &Ground,
) -> Json {
    let mut record = Object::new();
    record.string("kind", "agent").string("scope", scope).string("alias", alias).string("url", agent.url.as_str());
    let mut headers = Object::new();
    match secrets {
        Secrets::Keep => {
            for (name, value) in &agent.headers {
                headers.string(name, value);
            }
        }
        Secrets::Drop => {}
    }
    record.json("headers", &headers.finish()).optional_string("ping_endpoint", agent.ping_endpoint.as_deref());
    record.json("bucket", &bucket(&agent.bucket, ground)).json("health", &health(&agent.health, ground));
    record.json("conversation", &conversation(&agent.conversation));
    let mut history = Array::new();
    for entry in agent.history.newest(u64::MAX) {
        history.json(&entry.record());
    }
    record.json("history", &history.finish());
    record.optional_json("card", known.map(profile).as_ref());
    record.finish()
}

/// What is known of an agent that was called by URL: where, until when, and what.
pub(super) type KnownCard = (Url, Instant, Option<Profile>);

/// Writes what is known of an agent that was called by URL, until when.
pub(super) fn card_record(scope: &str, url: &Url, until: WallTime, known: Option<&Profile>) -> Json {
    let mut record = Object::new();
    record.string("kind", "card").string("scope", scope).string("url", url.as_str()).integer("until", until.0);
    record.optional_json("card", known.map(profile).as_ref());
    record.finish()
}

/// Reads it back.
pub(super) fn read_card(record: &Members<'_>, ground: &Ground) -> Option<KnownCard> {
    let url = Url::parse(&record.string("url")?).ok()?;
    let profile = match record.get("card") {
        Some(raw) => Some(read_profile(raw)?),
        None => None,
    };
    Some((url, moment(record, "until", ground)?, profile))
}

fn bucket(bucket: &Bucket, ground: &Ground) -> Json {
    let mut out = Object::new();
    out.integer("micro_rps", bucket.rate().micro_rps).integer("burst", bucket.rate().burst);
    out.integer("nano_tokens", bucket.nano_tokens(ground.now)).integer("at", ground.wall().0);
    if let Some(until) = bucket.closed_until().filter(|until| *until > ground.now) {
        out.integer("closed_until", ground.wall_of(until).0);
    }
    out.finish()
}

fn health(health: &Health, ground: &Ground) -> Json {
    let mut out = Object::new();
    out.boolean("heard", health.heard()).integer("failures", health.failures());
    if let Some(at) = health.retry_at().filter(|at| *at > ground.now) {
        out.integer("retry_at", ground.wall_of(at).0);
    }
    out.finish()
}

fn conversation(conversation: &Conversation) -> Json {
    let mut tasks = Array::new();
    for (task, context) in conversation.tasks() {
        let mut pair = Array::new();
        pair.string(task).string(context);
        tasks.json(&pair.finish());
    }
    let mut out = Object::new();
    out.optional_string("context_id", conversation.context_id.as_deref());
    out.optional_string("waiting_task", conversation.waiting_task.as_deref());
    out.optional_string("finished_task", conversation.finished_task.as_deref());
    out.json("tasks", &tasks.finish());
    out.finish()
}

fn profile(profile: &Profile) -> Json {
    let mut out = Object::new();
    out.json("summary", &profile.summary).boolean("streaming", profile.streaming).boolean("foreign", profile.foreign);
    out.strings("offered", profile.offered.iter().map(String::as_str));
    out.strings("notes", profile.notes.iter().map(String::as_str));
    if let Some(interface) = &profile.interface {
        let dialect = DIALECTS.iter().find(|(dialect, _)| *dialect == interface.dialect).map_or("", |(_, name)| name);
        let mut to = Object::new();
        to.string("url", interface.url.as_str()).string("dialect", dialect);
        to.optional_string("tenant", interface.tenant.as_deref()).boolean("declared", interface.declared);
        out.json("interface", &to.finish());
    }
    out.finish()
}

/// Reads an agent back; `None` where a member is missing or of the wrong type.
pub(super) fn restore(record: &Members<'_>, scopes: &mut Table<String, Scope>, ground: &Ground) -> Option<()> {
    let scope = scopes.get_or_default(record.string("scope")?.as_str());
    let mut headers = Vec::new();
    for (name, value) in json::members(record.get("headers")?)?.iter() {
        let value = json::string(value)?;
        scope.secrets.learn(name, &value);
        headers.push((String::from(name), value));
    }
    let agent = Agent {
        url: Url::parse(&record.string("url")?).ok()?,
        headers,
        ping_endpoint: record.string("ping_endpoint"),
        bucket: read_bucket(&json::members(record.get("bucket")?)?, ground)?,
        profile: match record.get("card") {
            Some(raw) => Some(read_profile(raw)?),
            None => None,
        },
        health: read_health(&json::members(record.get("health")?)?, ground)?,
        history: read_history(record.get("history")?)?,
        conversation: read_conversation(&json::members(record.get("conversation")?)?)?,
        registration: 0,
    };
    scope.registry.restore(record.string("alias")?, agent);
    Some(())
}

fn moment(members: &Members<'_>, name: &str, ground: &Ground) -> Option<Instant> {
    members.get(name).and_then(|raw| json::integer(raw.get())).map(|ms| ground.instant_of(WallTime(ms)))
}

fn read_bucket(members: &Members<'_>, ground: &Ground) -> Option<Bucket> {
    let rate = Rate { micro_rps: number(members, "micro_rps")?, burst: number(members, "burst")? };
    let closed_until = moment(members, "closed_until", ground);
    let at = members.get("at").and_then(|raw| json::integer(raw.get()))?;
    // What flowed in between the snapshot and now: a millionth of a token a second is a billionth a millisecond.
    let gained = u64::try_from(ground.wall().0.saturating_sub(at)).unwrap_or(0).saturating_mul(rate.micro_rps);
    let nano_tokens = number(members, "nano_tokens")?.saturating_add(gained);
    Some(Bucket::restored(rate, nano_tokens, closed_until, ground.now))
}

fn read_health(members: &Members<'_>, ground: &Ground) -> Option<Health> {
    let heard = json::boolean(members.get("heard")?)?;
    Some(Health::restored(heard, number(members, "failures")?, moment(members, "retry_at", ground)))
}

fn read_conversation(members: &Members<'_>) -> Option<Conversation> {
    let mut conversation = Conversation::default();
    conversation.context_id = members.string("context_id");
    conversation.waiting_task = members.string("waiting_task");
    conversation.finished_task = members.string("finished_task");
    for pair in json::elements(members.get("tasks")?)? {
        let pair: Option<Vec<String>> = json::elements(pair)?.into_iter().map(json::string).collect();
        let mut pair = pair?.into_iter();
        conversation.remember(pair.next()?, pair.next()?);
    }
    Some(conversation)
}

fn read_history(raw: Raw<'_>) -> Option<History> {
    let mut history = History::default();
    for entry in json::elements(raw)? {
        history.add(Entry::read(&json::members(entry)?)?, u64::MAX);
    }
    Some(history)
}

fn read_profile(raw: Raw<'_>) -> Option<Profile> {
    let members = json::members(raw)?;
    let list =
        |name: &str| -> Option<Vec<String>> { json::elements(members.get(name)?)?.into_iter().map(json::string).collect() };
    Some(Profile {
        summary: Json::from_raw(members.get("summary")?),
        interface: match members.get("interface") {
            Some(raw) => Some(read_interface(&json::members(raw)?)?),
            None => None,
        },
        offered: list("offered")?,
        streaming: json::boolean(members.get("streaming")?)?,
        foreign: json::boolean(members.get("foreign")?)?,
        notes: list("notes")?,
    })
}

fn read_interface(members: &Members<'_>) -> Option<Interface> {
    let name = members.string("dialect")?;
    Some(Interface {
        url: Url::parse(&members.string("url")?).ok()?,
        dialect: DIALECTS.iter().find(|(_, known)| *known == name).map(|(dialect, _)| *dialect)?,
        tenant: members.string("tenant"),
        declared: json::boolean(members.get("declared")?)?,
    })
}
