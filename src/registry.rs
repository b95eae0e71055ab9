//! The agents of a scope: where they are, what goes with their requests, what their cards say.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::mem;

use crate::a2a::Interface;
use crate::bucket::{Bucket, Rate};
use crate::call::discovery::Found;
use crate::contexts::Conversation;
use crate::health::Health;
use crate::held::{Pool, Share};
use crate::history::History;
use crate::io::Headers;
use crate::json::{Json, Object};
use crate::redact::Secrets;
use crate::saved::Unsaved;
use crate::table::{Table, Tracked};
use crate::time::Instant;
use crate::url::{Origin, Url};

/// Header fields that go to one origin and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// the origin of the registered URL
    pub origin: Origin,
    /// the fields
    pub headers: Headers,
}

impl Credentials {
    /// Whether the address of another origin holds one of them.
    #[must_use]
    pub fn are_told_by(&self, url: &Url) -> bool {
        if url.origin() == self.origin {
            return false;
        }
        let mut secrets = Secrets::new();
        self.headers.iter().for_each(|(name, value)| secrets.learn(name, value));
        secrets.redact(String::from(url.as_str())) != url.as_str()
    }
}

impl core::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} header fields for {}", self.headers.len(), self.origin)
    }
}

/// What a card says, as far as calls need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// name, version, protocol version, transport, streaming, skills
    pub summary: Json,
    /// the interface to call; `None` where the card offers none that is spoken here
    pub interface: Option<Interface>,
    /// the one in the other version that the card offers too
    pub other: Option<Box<Interface>>,
    /// the one for messages that hold the bytes of files, where that is another one
    pub files: Option<Box<Interface>>,
    /// what the card offers instead
    pub offered: Vec<String>,
    /// whether sends are streamed
    pub streaming: bool,
    /// whether the interface lies on another origin than the registered URL, so that no header field goes there
    pub foreign: bool,
    /// whether an agent at a public address named the interface
    pub by_public: bool,
    /// what the user should know
    pub notes: Vec<String>,
}

impl Profile {
    /// What was found out about an agent that has no card.
    #[must_use]
    pub fn without_card(interface: Interface) -> Self {
        let mut summary = Object::new();
        summary.string("protocol_version", interface.dialect.version()).string("transport", interface.dialect.transport());
        Self {
            summary: summary.finish(),
            interface: Some(interface),
            other: None,
            files: None,
            offered: Vec::new(),
            streaming: false,
            foreign: false,
            by_public: false,
            notes: Vec::new(),
        }
    }

    /// About how many bytes its words take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lists = self.offered.iter().chain(&self.notes).map(String::len).sum::<usize>();
        (self.summary.as_str().len() + lists) as u64
    }

    /// What calls need of it, without the words for people.
    fn without_words(self) -> Self {
        let (offered, notes) = (Vec::new(), Vec::new());
        let summary =
            self.interface.clone().map_or_else(|| Object::new().finish(), |interface| Self::without_card(interface).summary);
        Self { summary, offered, notes, ..self }
    }
}

/// A registered agent.
#[derive(Clone, Debug)]
pub struct Agent {
    /// the registered URL
    pub url: Url,
    /// the header fields of its requests
    pub headers: Headers,
    /// the path to ping instead of the card
    pub ping_endpoint: Option<String>,
    /// its token bucket
    pub bucket: Bucket,
    /// what its card says
    pub profile: Option<Profile>,
    /// how many look-ups of its card run
    pub looking: u64,
    /// until when a look-up that found no card stands
    pub cardless_until: Option<Instant>,
    /// whether its card was once awaited in vain
    pub is_card_late: bool,
    /// its card, whole
    card: Option<Json>,
    /// whether the card is to be saved
    is_card_new: bool,
    /// what its card takes
    share: Option<Share>,
    /// its health
    pub health: Health,
    /// the conversation with it
    pub conversation: Conversation,
    /// what was said
    pub history: History,
    /// which registration this is: what comes late for an earlier one is dropped
    pub registration: u64,
}

impl Agent {
    /// An agent of which nothing is known yet.
    #[must_use]
    pub fn new(registration: Registration, bucket: Bucket) -> Self {
        Self {
            url: registration.url,
            headers: registration.headers,
            ping_endpoint: registration.ping_endpoint,
            bucket,
            profile: None,
            looking: 0,
            cardless_until: None,
            is_card_late: false,
            card: None,
            is_card_new: true,
            share: None,
            health: Health::default(),
            conversation: Conversation::default(),
            history: History::default(),
            registration: 0,
        }
    }

    /// The card as it was read, where it was.
    #[must_use]
    pub const fn card(&self) -> Option<&Json> {
        self.card.as_ref()
    }

    /// Takes in a card that was found. Where all cards are as large as `limit` allows, it is what calls need.
    pub fn learn_card(&mut self, found: &Found, pool: &Pool, limit: u64) {
        let share = self.share.get_or_insert_with(|| pool.share());
        let bytes = found.profile.bytes() + found.card.whole.as_str().len() as u64;
        if !share.may_be(bytes, limit) {
            share.set(0);
            self.is_card_new |= self.card.take().is_some();
            self.profile = Some(found.profile.clone().without_words());
            return;
        }
        share.set(bytes);
        self.profile = Some(found.profile.clone());
        if self.card.as_ref() != Some(&found.card.whole) {
            self.card = Some(found.card.whole.clone());
            self.is_card_new = true;
        }
    }

    /// Puts a card of a snapshot back.
    pub fn restore_card(&mut self, card: Json, pool: &Pool) {
        let words = self.profile.as_ref().map_or(0, Profile::bytes);
        self.share.get_or_insert_with(|| pool.share()).set(words + card.as_str().len() as u64);
        self.card = Some(card);
        self.is_card_new = true;
    }

    /// The header fields, bound to the origin they were given for.
    #[must_use]
    pub fn credentials(&self) -> Credentials {
        Credentials { origin: self.url.origin(), headers: self.headers.clone() }
    }
}

/// What an alias is registered with.
#[derive(Clone, Debug)]
pub struct Registration {
    /// the agent's URL
    pub url: Url,
    /// the header fields of its requests
    pub headers: Headers,
    /// its rate; no limit where it is 0
    pub rate: Rate,
    /// the path to ping instead of the card
    pub ping_endpoint: Option<String>,
}

/// The agents of a scope by alias.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    agents: Tracked<String, Agent>,
    registrations: u64,
    /// the list for people and for machines, as long as nobody could change an agent
    listing: OnceCell<(String, Json)>,
}

impl Registry {
    /// The agents where one of them may be changed: the list is written anew after that.
    fn changing(&mut self) -> &mut Tracked<String, Agent> {
        self.listing.take();
        &mut self.agents
    }

    /// The list of the agents, for people and for machines: asked for again and again, and seldom another one.
    pub fn listing(&self, write: impl FnOnce(&Self) -> (String, Json)) -> &(String, Json) {
        self.listing.get_or_init(|| write(self))
    }

    /// Registers or replaces. The same URL keeps the conversation, another one ends it; history is kept, health starts anew.
    /// Returns whether an agent was replaced.
    pub fn register(&mut self, alias: &str, registration: Registration, now: Instant) -> bool {
        self.registrations += 1;
        let known = self.changing().get_mut(alias);
        let replaced = known.is_some();
        let same_url = known.as_ref().is_some_and(|agent| agent.url == registration.url);
        let take = |agent: &mut Agent| (mem::take(&mut agent.conversation), mem::take(&mut agent.history));
        let (conversation, history) = known.map(take).unwrap_or_default();
        let bucket = Bucket::new(registration.rate, now);
        let mut agent = Agent::new(registration, bucket);
        (agent.history, agent.registration) = (history, self.registrations);
        if same_url {
            agent.conversation = conversation;
        }
        self.changing().insert(alias.into(), agent);
        replaced
    }

    /// Puts an agent of a snapshot back.
    pub fn restore(&mut self, alias: String, mut agent: Agent) {
        self.registrations += 1;
        agent.registration = self.registrations;
        self.changing().insert(alias, agent);
    }

    /// Removes an agent.
    pub fn remove(&mut self, alias: &str) -> Option<Agent> {
        self.changing().remove(alias)
    }

    /// The agent of that alias.
    #[must_use]
    pub fn get(&self, alias: &str) -> Option<&Agent> {
        self.agents.get(alias)
    }

    /// The agent of that alias.
    pub fn get_mut(&mut self, alias: &str) -> Option<&mut Agent> {
        self.changing().get_mut(alias)
    }

    /// The agent of that alias, where it is still the same registration.
    pub fn same(&mut self, alias: &str, registration: u64) -> Option<&mut Agent> {
        self.changing().get_mut(alias).filter(|agent| agent.registration == registration)
    }

    /// The agent of that alias, where it is still at that URL: another registration there goes on with the conversation.
    pub fn still_at(&mut self, alias: &str, url: &Url) -> Option<&mut Agent> {
        self.changing().get_mut(alias).filter(|agent| agent.url == *url)
    }

    /// The aliases whose agents were reached to be changed since this was last asked, and whether one was removed
    /// meanwhile.
    pub fn take_touched(&mut self) -> Table<String, bool> {
        self.agents.take_touched()
    }

    /// Takes no agent for reached any more.
    pub fn clear_touched(&mut self) {
        self.agents.clear_touched(|_| ());
    }

    /// Whether the card of an agent is to be saved, for which it counts as unchanged.
    pub fn take_new_card(&mut self, alias: &str) -> bool {
        self.agents.reach(alias).is_some_and(|agent| mem::take(&mut agent.is_card_new))
    }

    /// The sends of an agent that are to be saved, for which it counts as unchanged.
    pub fn unsaved_history(&mut self, alias: &str) -> Option<Unsaved> {
        self.agents.reach(alias).map(|agent| agent.history.unsaved())
    }

    /// All agents by alias, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Agent)> {
        self.agents.iter().map(|(alias, agent)| (alias.as_str(), agent))
    }

    /// How many agents there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.agents.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }
}
