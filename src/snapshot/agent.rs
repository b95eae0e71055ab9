//! An agent as a record.

use alloc::boxed::Box;
use alloc::string::String;

use super::{Form, Record};
use crate::a2a::{Dialect, Interface};
use crate::bucket::{Bucket, Rate};
use crate::contexts::Conversation;
use crate::ground::Ground;
use crate::health::Health;
use crate::json::{self, Array, Json, Object};
use crate::registry::{Agent, Profile, Registration};
use crate::scope::{Card, Scope};
use crate::table::Tracked;
use crate::time::{Instant, WallTime};
use crate::url::Url;

const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::JsonRpc10, "JSONRPC 1.0"),
    (Dialect::Rest10, "HTTP+JSON 1.0"),
    (Dialect::JsonRpc03, "JSONRPC 0.3"),
    (Dialect::Rest03, "HTTP+JSON 0.3"),
];

/// What can be read back of a bucket's level: nine thousand million tokens.
const MOST_NANO_TOKENS: u64 = i64::MAX.unsigned_abs();

/// Writes an agent, named by its scope and alias. Moments are wall-clock times, so that another clock can go on with them.
pub(super) fn record((scope, alias): (&str, &str), agent: &Agent, known: Option<&Profile>, form: Form, ground: &Ground) -> Json {
    let mut record = Object::new();
    record.string("kind", "agent").string("scope", scope).string("alias", alias).string("url", agent.url.as_str());
    let mut headers = Object::new();
    if form.keeps_secrets() {
        for (name, value) in &agent.headers {
            headers.string(name, value);
        }
    }
    record.nested("headers", headers).optional_string("ping_endpoint", agent.ping_endpoint.as_deref());
    // What is kept must not change while nobody takes a token.
    let at = if form == Form::Kept { agent.bucket.at() } else { ground.now };
    record.json("bucket", &bucket(&agent.bucket, at, ground)).json("health", &health(&agent.health, ground));
    record.json("conversation", &conversation(&agent.conversation));
    record.optional_json("card", known.map(profile).as_ref());
    if let Some(until) = agent.cardless_until.filter(|until| *until > ground.now) {
        record.integer("cardless_until", ground.wall_of(until).0);
    }
    record.finish()
}

/// Writes what is known of an agent that was called by URL, until when.
pub(super) fn card_record(scope: &str, url: &Url, card: &Card, ground: &Ground) -> Json {
    let mut record = Object::new();
    record.string("kind", "card").string("scope", scope).integer("number", card.number).string("url", url.as_str());
    record.integer("until", ground.wall_of(card.until).0);
    record.optional_json("card", card.profile.as_ref().map(profile).as_ref());
    record.finish()
}

/// Reads it back.
pub(super) fn read_card(record: &Record<'_, '_>, ground: &Ground) -> Option<(Url, Card)> {
    let until = ground.instant_of(WallTime(record.integer("until")));
    Some((record.url("url")?, Card { number: record.place("number"), until, profile: read_profile(record) }))
}

fn bucket(bucket: &Bucket, at: Instant, ground: &Ground) -> Json {
    let mut out = Object::new();
    out.integer("micro_rps", bucket.rate().micro_rps).integer("burst", bucket.rate().burst);
    // A full one was full at any moment.
    let since = if bucket.is_full(at) { 0 } else { ground.wall_of(at).0 };
    out.integer("nano_tokens", bucket.nano_tokens(at).min(MOST_NANO_TOKENS)).integer("at", since);
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
        tasks.nested(pair);
    }
    let mut out = Object::new();
    out.optional_string("context_id", conversation.context_id.as_deref());
    out.optional_string("waiting_task", conversation.waiting_task.as_deref());
    out.optional_string("finished_task", conversation.finished_task.as_deref());
    out.nested("tasks", tasks);
    out.finish()
}

fn profile(profile: &Profile) -> Json {
    let mut out = Object::new();
    out.json("summary", &profile.summary).boolean("streaming", profile.streaming).boolean("foreign", profile.foreign);
    if profile.by_public {
        out.boolean("by_public", true);
    }
    out.strings("offered", &profile.offered);
    out.strings("notes", &profile.notes);
    let others = [("other", profile.other.as_deref()), ("files", profile.files.as_deref())];
    for (name, interface) in [("interface", profile.interface.as_ref())].into_iter().chain(others) {
        let Some(interface) = interface else { continue };
        let dialect = DIALECTS.iter().find(|(dialect, _)| *dialect == interface.dialect).map_or("", |(_, name)| name);
        let mut to = Object::new();
        to.string("url", interface.url.as_str()).string("dialect", dialect);
        to.optional_string("tenant", interface.tenant.as_deref()).boolean("declared", interface.declared);
        out.nested(name, to);
    }
    out.finish()
}

/// Reads an agent back.
pub(super) fn restore(record: &Record<'_, '_>, scopes: &mut Tracked<String, Scope>, ground: &Ground) {
    let scope = scopes.get_or_default(record.text("scope").as_str());
    let headers = record.pairs("headers");
    headers.iter().for_each(|(name, value)| scope.secrets.learn(name, value));
    let Some(url) = record.url("url") else { return };
    let bucket = read_bucket(&record.inner("bucket"), ground);
    let rate = bucket.rate();
    let mut agent = Agent::new(Registration { url, headers, rate, ping_endpoint: record.optional("ping_endpoint") }, bucket);
    agent.profile = read_profile(record);
    agent.health = read_health(&record.inner("health"), ground);
    agent.conversation = read_conversation(&record.inner("conversation"));
    agent.cardless_until = moment(record, "cardless_until", ground);
    scope.registry.restore(record.text("alias"), agent);
}

/// A moment that may be absent.
fn moment(record: &Record<'_, '_>, name: &str, ground: &Ground) -> Option<Instant> {
    record.value(name).map(|_| ground.instant_of(WallTime(record.integer(name))))
}

fn read_bucket(record: &Record<'_, '_>, ground: &Ground) -> Bucket {
    let rate = Rate { micro_rps: record.number("micro_rps"), burst: record.number("burst") };
    // What flowed in between the snapshot and now: a millionth of a token a second is a billionth a millisecond.
    let gained = match record.integer("at") {
        0 => u64::MAX,
        at => u64::try_from(ground.wall().0.saturating_sub(at)).unwrap_or(0).saturating_mul(rate.micro_rps),
    };
    let nano_tokens = record.number("nano_tokens").saturating_add(gained);
    Bucket::restored(rate, nano_tokens, moment(record, "closed_until", ground), ground.now)
}

fn read_health(record: &Record<'_, '_>, ground: &Ground) -> Health {
    Health::restored(record.boolean("heard"), record.number("failures"), moment(record, "retry_at", ground))
}

fn read_conversation(record: &Record<'_, '_>) -> Conversation {
    let mut conversation = Conversation::default();
    conversation.context_id = record.optional("context_id");
    conversation.waiting_task = record.optional("waiting_task");
    conversation.finished_task = record.optional("finished_task");
    for pair in record.list("tasks") {
        let mut pair = record.found(json::strings(pair)).into_iter();
        conversation.remember(record.found(pair.next()), record.found(pair.next()));
    }
    conversation
}

/// What the member `card` says, where it is there.
fn read_profile(record: &Record<'_, '_>) -> Option<Profile> {
    let card = record.of(Some(record.value("card")?));
    let interface = |name| card.value(name).and_then(|raw| read_interface(&card.of(Some(raw))));
    Some(Profile {
        summary: card.json("summary"),
        interface: interface("interface"),
        other: interface("other").map(Box::new),
        files: interface("files").map(Box::new),
        offered: card.texts("offered"),
        streaming: card.boolean("streaming"),
        foreign: card.boolean("foreign"),
        by_public: card.value("by_public").is_some(),
        notes: card.texts("notes"),
    })
}

fn read_interface(record: &Record<'_, '_>) -> Option<Interface> {
    let name = record.text("dialect");
    let dialect = DIALECTS.iter().find(|(_, known)| *known == name).map(|(dialect, _)| Some(*dialect));
    let (dialect, url) = (record.found(dialect), record.url("url"));
    Some(Interface { url: url?, dialect: dialect?, tenant: record.optional("tenant"), declared: record.boolean("declared") })
}
