//! The books of a host: what it asked, what it was asked, and what must hold after every input.

use std::collections::{BTreeMap, BTreeSet};

use narrows::config::Config;
use narrows::io::{Deadline, ExchangeId, Input, Misuse, Output, PeerId, Request};
use narrows::json::{self, Members, Raw};
use narrows::time::Instant;

use super::rule::{Rule, under};
use super::secret::{Secret, origin};
use super::served::Served;
use super::text::{at, holds, members, shortened};
use super::wire::{Ask, asked};

/// One input and all that came of it.
#[derive(Clone, Debug)]
pub struct Step {
    pub now: Instant,
    pub input: Input,
    pub outcome: Result<(), Misuse>,
    pub outputs: Vec<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Running,
    Answered,
    Cancelled,
    /// its peer left
    Lost,
}

/// A request of a peer that has an id.
#[derive(Clone, Debug)]
pub struct Call {
    pub peer: PeerId,
    /// the id, literally
    pub id: String,
    /// the progress token, literally
    pub token: Option<String>,
    /// when it must have its answer; `None` for one without limit
    pub due: Option<Instant>,
    pub life: Life,
    pub progress: u64,
    /// it goes on after its answer
    pub detached: bool,
    /// how often a message went out for it, and a cancel request
    pub sends: u64,
    pub cancels: u64,
    /// nobody reads the response that its answer belongs to
    pub unread: bool,
    /// its request arrived
    pub heard: bool,
    /// it was cancelled when it may have ended already
    pub late_cancel: bool,
    /// it is no call but a subscription, which a restart leaves alone
    pub listens: bool,
}

impl Call {
    /// Whether requests may be made for it.
    fn is_at_work(&self) -> bool {
        self.life == Life::Running || self.detached && self.life != Life::Cancelled
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Begun,
    Over,
}

#[derive(Clone, Debug)]
struct Exchange {
    phase: Phase,
    /// the calls that may have asked for it
    owners: BTreeSet<u64>,
    /// a cancel request, for which nobody waits
    unowned: bool,
    /// a look-up of a card, for which others may wait too
    shared: bool,
}

#[derive(Debug, Default)]
pub struct Watch {
    pub secrets: Vec<Secret>,
    pub calls: BTreeMap<u64, Call>,
    /// which calls an agent named a task to
    pub tasks: BTreeMap<u64, BTreeSet<u64>>,
    /// the calls that the last step began, and those that it answered
    pub begun: Vec<u64>,
    pub answered: Vec<(u64, String)>,
    /// scopes that the last step ended
    pub scopes_gone: Vec<String>,
    /// the ids of running calls that were taken a second time
    repeated: Vec<(PeerId, String)>,
    /// incoming HTTP
    pub served: Served,
    pub(super) peers: BTreeSet<PeerId>,
    pub(super) requests: BTreeMap<(PeerId, String), u64>,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    pub now: Instant,
    timeout: Option<Deadline>,
}

/// What an input is about, for the outputs that follow it.
#[derive(Default)]
pub(super) struct Cause {
    calls: BTreeSet<u64>,
    unowned: bool,
    /// a new scope connects the agents of the configuration, for nobody in particular
    pub(super) connects: bool,
    pub(super) cancelled: Option<u64>,
}

impl Watch {
    pub fn new(config: &Config) -> Self {
        Self { served: Served::new(config), ..Self::default() }
    }

    /// Notes a request that is about to be sent, under its number.
    pub fn expect(&mut self, number: u64, call: Call) {
        let known = self.requests.insert((call.peer, call.id.clone()), number);
        assert!(known.is_none(), "the test used an id twice");
        self.calls.insert(number, call);
    }

    /// The outcome of a send that nobody waits for is there.
    pub fn has_ended(&mut self, number: u64) {
        self.calls.get_mut(&number).expect("a call").detached = false;
    }

    pub fn is_running(&self, exchange: ExchangeId) -> bool {
        self.exchanges.get(&exchange).is_some_and(|exchange| exchange.phase != Phase::Over)
    }

    /// The exchanges that run.
    pub fn running(&self) -> Vec<ExchangeId> {
        self.exchanges.iter().filter(|(_, exchange)| exchange.phase != Phase::Over).map(|(id, _)| *id).collect()
    }

    /// The calls that wait for their answer.
    pub fn open_calls(&self) -> Vec<u64> {
        self.calls.iter().filter(|(_, call)| call.life == Life::Running).map(|(number, _)| *number).collect()
    }

    /// Whether a peer of that scope is open.
    pub fn is_anyone_in(&self, scope: &str) -> bool {
        self.peers.iter().any(|peer| self.served.scopes.get(peer).is_some_and(|known| known == scope))
    }

    /// What the border says about an input.
    pub fn predict(&self, input: &Input) -> Result<(), Misuse> {
        let phase = |exchange: &ExchangeId| match self.exchanges.get(exchange) {
            Some(known) => Ok(known.phase),
            None => Err(Misuse::ExchangeUnknown(*exchange)),
        };
        let open = |peer: &PeerId| if self.peers.contains(peer) { Ok(()) } else { Err(Misuse::PeerUnknown(*peer)) };
        match input {
            Input::Open { peer, .. } if self.peers.contains(peer) => Err(Misuse::PeerOpen(*peer)),
            Input::Open { .. } | Input::Tick => Ok(()),
            Input::Message { peer, .. } | Input::MessageTooLong { peer, .. } | Input::Closed { peer } => open(peer),
            Input::Head { status, .. } if !(100..=999).contains(status) => Err(Misuse::OutOfRange("status")),
            Input::Head { exchange, .. } => match phase(exchange)? {
                Phase::Begun => Err(Misuse::ExchangeOrder(*exchange)),
                Phase::Waiting | Phase::Over => Ok(()),
            },
            Input::Body { exchange, .. } | Input::End { exchange } => match phase(exchange)? {
                Phase::Waiting => Err(Misuse::ExchangeOrder(*exchange)),
                Phase::Begun | Phase::Over => Ok(()),
            },
            Input::Failed { exchange, .. } => phase(exchange).map(|_| ()),
            Input::Request { request, .. } if request.0 >= 1 << 53 => Err(Misuse::OutOfRange("request")),
            Input::Request { request, .. } if self.served.runs(*request) => Err(Misuse::RequestOpen(*request)),
            Input::Request { .. }
            | Input::RequestBody { .. }
            | Input::RequestEnd { .. }
            | Input::RequestGone { .. }
            | Input::Update { .. }
            | Input::WorkEnd { .. }
            | Input::WorkFailed { .. }
            | Input::Link { .. }
            | Input::Directory(_)
            | Input::Pins(_)
            | Input::Authorize { .. }
            | Input::Decision { .. }
            | Input::Configure { .. }
            | Input::Stop => Ok(()),
        }
    }

    /// Checks a step against what is known, and notes it. `timeout` is when the gateway wants to be called next.
    pub fn after(&mut self, step: &Step, timeout: Option<Deadline>) {
        self.begun.clear();
        self.answered.clear();
        self.scopes_gone.clear();
        assert_eq!(step.outcome, self.predict(&step.input), "the outcome of {:?}", step.input);
        if step.outcome.is_err() {
            assert_eq!(step.outputs, [], "a misuse causes nothing");
            assert_eq!(timeout, self.timeout, "a misuse changes nothing");
            return;
        }
        self.now = self.now.max(step.now);
        if self.is_late(&step.input) && self.timeout.is_none_or(|timeout| timeout.at > self.now) {
            under(Rule::NothingMore, || assert_eq!(step.outputs, [], "a late report causes nothing"));
        }
        let mut cause = self.take_in(&step.input);
        self.asked(&step.input, &mut cause);
        for output in &step.outputs {
            self.output(output, &cause);
        }
        self.owed();
        assert_eq!(self.repeated, [], "a request whose id is taken is refused at once");
        self.at_rest(timeout);
    }

    /// Checks what a gateway that was restored says at once.
    pub fn after_restart(&mut self, now: Instant, outputs: &[Output], timeout: Option<Deadline>) {
        self.now = now;
        for exchange in self.exchanges.values_mut() {
            exchange.phase = Phase::Over;
        }
        self.serving_restarted();
        self.begun.clear();
        self.answered.clear();
        self.scopes_gone.clear();
        for output in outputs {
            self.output(output, &Cause::default());
        }
        let goes_on = |call: &u64| self.calls[call].unread || self.calls[call].listens;
        let open: Vec<u64> = self.open_calls().into_iter().filter(|call| !goes_on(call)).collect();
        under(Rule::Restore, || {
            assert_eq!(
                open,
                [0; 0],
                "calls that were running are answered after a restore: {:?}",
                open.first().map(|call| &self.calls[call])
            )
        });
        self.at_rest(timeout);
    }

    fn is_late(&self, input: &Input) -> bool {
        let (Input::Head { exchange, .. }
        | Input::Body { exchange, .. }
        | Input::End { exchange }
        | Input::Failed { exchange, .. }) = input
        else {
            return false;
        };
        !self.is_running(*exchange)
    }

    fn take_in(&mut self, input: &Input) -> Cause {
        let mut cause = Cause::default();
        match input {
            Input::Open { peer, scope } => {
                self.peers.insert(*peer);
                self.served.scopes.insert(*peer, scope.clone());
                cause.connects = true;
            }
            Input::Closed { peer } => {
                self.peers.remove(peer);
                for call in self.calls.values_mut().filter(|call| call.peer == *peer && call.life == Life::Running) {
                    call.life = Life::Lost;
                }
                self.requests.retain(|(known, _), _| known != peer);
            }
            Input::Message { peer, text } => self.message(*peer, text, &mut cause),
            Input::MessageTooLong { .. } | Input::Tick => {}
            Input::Request { .. }
            | Input::RequestBody { .. }
            | Input::RequestEnd { .. }
            | Input::RequestGone { .. }
            | Input::Update { .. }
            | Input::WorkEnd { .. }
            | Input::WorkFailed { .. }
            | Input::Link { .. }
            | Input::Directory(_)
            | Input::Pins(_)
            | Input::Authorize { .. }
            | Input::Decision { .. }
            | Input::Configure { .. }
            | Input::Stop => {}
            Input::Head { exchange, .. } | Input::Body { exchange, .. } => {
                self.report(*exchange, Phase::Begun, &mut cause);
            }
            Input::End { exchange } | Input::Failed { exchange, .. } => self.report(*exchange, Phase::Over, &mut cause),
        }
        cause
    }

    fn report(&mut self, exchange: ExchangeId, phase: Phase, cause: &mut Cause) {
        let Some(known) = self.exchanges.get_mut(&exchange).filter(|known| known.phase != Phase::Over) else { return };
        known.phase = phase;
        cause.calls.clone_from(&known.owners);
        cause.unowned = known.unowned;
        if known.shared {
            cause.calls.extend(self.at_work());
        }
    }

    /// The calls for which requests may be made.
    fn at_work(&self) -> Vec<u64> {
        self.calls.iter().filter(|(_, call)| call.is_at_work()).map(|(number, _)| *number).collect()
    }

    pub(super) fn message(&mut self, peer: PeerId, text: &str, cause: &mut Cause) {
        let parsed = json::parse(text, 200).ok();
        let list = parsed.map(|parsed| json::elements(parsed).unwrap_or_else(|| vec![parsed])).unwrap_or_default();
        for element in list {
            let number = |path: &[&str]| self.requests.get(&(peer, at(element.get(), path)?)).copied();
            let begun = number(&["id"]).filter(|_| at(element.get(), &["method"]).is_some());
            if let Some(call) = begun.and_then(|number| self.calls.get_mut(&number)) {
                if std::mem::replace(&mut call.heard, true) {
                    self.repeated.push((peer, call.id.clone()));
                    continue;
                }
                call.listens = at(element.get(), &["method"]).as_deref() == Some("\"subscriptions/listen\"");
                self.begun.extend(begun.filter(|number| !self.begun.contains(number)));
            }
            cause.calls.extend(begun);
            let cancels = at(element.get(), &["method"]).as_deref() == Some("\"notifications/cancelled\"");
            let number = number(&["params", "requestId"]).filter(|_| cancels);
            if let Some(call) = number.and_then(|number| self.calls.get_mut(&number)).filter(|call| call.life == Life::Running) {
                // The answer of one that nobody reads about may be on its way.
                if call.unread {
                    call.late_cancel = true;
                } else {
                    call.life = Life::Cancelled;
                }
                cause.cancelled = number;
            }
        }
    }

    fn output(&mut self, output: &Output, cause: &Cause) {
        under(Rule::Secrets, || self.check_secrets(output));
        match output {
            Output::Fetch { exchange, request } => self.fetched(*exchange, request, cause),
            Output::Abort { exchange } => {
                let known = self.exchanges.get_mut(exchange).expect("an exchange that was asked for is aborted");
                under(Rule::NothingMore, || {
                    assert_ne!(known.phase, Phase::Over, "exchange {} is aborted after its end", exchange.0)
                });
                known.phase = Phase::Over;
            }
            Output::Message { peer, text } => {
                self.check_words(*peer, text);
                self.said(*peer, text);
            }
            Output::Save(save) => assert!(save.pieces().iter().all(|piece| super::wire::is_json(piece) && piece.len() < 1 << 20)),
            Output::Notice(notice) => assert!(super::wire::is_json(notice.fields.as_str())),
            Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => self.serves(output),
            Output::Work { .. } | Output::WorkAbort { .. } => panic!("no function serves tasks"),
            Output::Link { .. } | Output::Tokens { .. } => {}
            Output::Lookup(_) => panic!("the host has no directory"),
        }
    }

    fn fetched(&mut self, exchange: ExchangeId, request: &Request, cause: &Cause) {
        let newest = self.exchanges.last_key_value().map_or(0, |(id, _)| id.0);
        assert!(exchange.0 > newest, "exchange ids grow: {} after {newest}", exchange.0);
        let asked = asked(request);
        if asked.ask == Ask::Cancel {
            let id = at(request.body.as_deref().unwrap_or_default(), &["params", "id"]);
            assert!(id.as_deref() != Some("\"\"") && !request.url.contains("/tasks/:"), "a task without an id is canceled");
        }
        let named = asked.tasks.iter().filter_map(|task| self.tasks.get(task)).flatten();
        // A call over HTTP is known before it arrives, if it ever does.
        let named: BTreeSet<u64> = named.filter(|call| self.calls.contains_key(call)).copied().collect();
        let mut owners = match (asked.ask, asked.call) {
            (Ask::Send | Ask::Stream, Some(call)) => BTreeSet::from([call]),
            // A reading is of the calls that know its task, whatever else is at work.
            (Ask::Get | Ask::Cancel | Ask::Subscribe, _) if !named.is_empty() => named,
            (Ask::Card | Ask::Send | Ask::Stream | Ask::Get | Ask::Cancel | Ask::Subscribe, _) => cause.calls.clone(),
        };
        if matches!(asked.ask, Ask::Send | Ask::Stream) {
            self.calls.iter_mut().filter(|(number, _)| owners.contains(number)).for_each(|(_, call)| call.sends += 1);
        }
        if owners.is_empty() && asked.ask == Ask::Cancel {
            // A broken answer may have named a task that nobody knows.
            owners.extend(cause.cancelled);
        }
        // A card that one call looks up may be wanted by others, who look on where it stops. A task that goes by no name of
        // the random worlds may be any call's.
        let shared = asked.ask == Ask::Card;
        let is_nameless = asked.tasks.is_empty() && cause.calls.is_empty();
        if shared || is_nameless {
            owners.extend(self.at_work());
        }
        let running = owners.iter().any(|owner| self.calls[owner].is_at_work());
        let mut unowned = cause.unowned || cause.connects && asked.ask == Ask::Card;
        if let Some(number) = cause.cancelled.filter(|number| asked.ask == Ask::Cancel && owners.contains(number)) {
            let call = self.calls.get_mut(&number).unwrap();
            call.cancels += 1;
            under(Rule::NothingMore, || assert!(call.cancels <= call.sends, "call {number} is cancelled twice at its agent"));
            unowned = true;
        }
        let what = format!("a request for nobody: {:?} {} for {owners:?}", asked.ask, request.url);
        under(Rule::NothingMore, || assert!(running || unowned, "{what}"));
        self.exchanges.insert(exchange, Exchange { phase: Phase::Waiting, owners, unowned, shared });
    }

    pub(super) fn said(&mut self, peer: PeerId, text: &str) {
        assert!(self.peers.contains(&peer), "peer {} is gone and is told {text}", peer.0);
        assert!(!text.contains('\n'), "one line: {text}");
        let members = members(text);
        assert_eq!(members.string("jsonrpc").as_deref(), Some("2.0"), "{text}");
        if let Some(method) = members.string("method") {
            if method == "notifications/progress" {
                self.progressed(peer, text);
            }
            return;
        }
        let id = members.get_any("id").expect("a response has an id").get();
        if id == "null" {
            assert!(members.has("error"), "{text}");
            return;
        }
        if let Some(at) = self.repeated.iter().position(|known| *known == (peer, id.to_owned())) {
            assert!(members.has("error"), "an id that is taken is refused: {text}");
            self.repeated.remove(at);
            return;
        }
        let number = self.requests.get(&(peer, id.to_owned())).unwrap_or_else(|| panic!("nobody asked: {text}"));
        let call = self.calls.get_mut(number).unwrap();
        assert_eq!(call.life, Life::Running, "the one answer of call {number}: {text}");
        call.life = Life::Answered;
        check_answer(&members);
        self.answered.push((*number, text.to_owned()));
    }

    fn progressed(&mut self, peer: PeerId, text: &str) {
        let token = at(text, &["params", "progressToken"]).expect("progress has a token");
        let progress = json::integer(&at(text, &["params", "progress"]).unwrap()).unwrap();
        let mut waiting = self.calls.values_mut().filter(|call| call.peer == peer && call.token.as_ref() == Some(&token));
        let call = waiting.next().unwrap_or_else(|| panic!("nobody asked for progress: {text}"));
        assert_eq!(call.life, Life::Running, "progress ends with its call: {text}");
        assert!(progress > i64::try_from(call.progress).unwrap(), "progress rises: {text}");
        call.progress = u64::try_from(progress).unwrap();
    }

    fn check_secrets(&self, output: &Output) {
        let (to, text) = match output {
            Output::Fetch { request, .. } => (origin(&request.url), output.to_json().into_string()),
            Output::Message { text, .. } | Output::ResponseBody { text, .. } => (String::new(), text.clone()),
            Output::ResponseHead { .. } => (String::new(), output.to_json().into_string()),
            Output::Notice(notice) => (String::new(), notice.fields.as_str().to_owned()),
            // What is kept is the host's own.
            Output::Abort { .. } | Output::ResponseEnd { .. } | Output::Save(_) => return,
            Output::Work { order, .. } => (String::new(), order.as_str().to_owned()),
            Output::WorkAbort { .. } | Output::Link { .. } | Output::Tokens { .. } | Output::Lookup(_) => return,
        };
        for secret in self.secrets.iter().filter(|secret| secret.origin != to) {
            for needle in &secret.needles {
                assert!(!holds(&text, needle), "{needle} of {} leaves: {}", secret.origin, shortened(&text));
            }
        }
    }

    /// What holds between two inputs.
    fn at_rest(&mut self, timeout: Option<Deadline>) {
        self.timeout = timeout;
        assert!(timeout.is_none_or(|timeout| timeout.at > self.now), "{timeout:?} is not after {:?}", self.now);
        self.serving_at_rest(timeout.map(|timeout| timeout.at));
        for (number, call) in self.calls.iter().filter(|(_, call)| call.life == Life::Running && !call.unread) {
            let Some(due) = call.due else { continue };
            assert!(due > self.now, "call {number} is answered by its deadline");
            assert!(timeout.is_some_and(|timeout| timeout.at <= due), "call {number} is woken by its deadline");
        }
        for (id, exchange) in self.exchanges.iter().filter(|(_, exchange)| exchange.phase != Phase::Over) {
            let wanted = exchange.owners.iter().any(|owner| self.calls[owner].is_at_work());
            under(Rule::NothingMore, || assert!(wanted || exchange.unowned, "exchange {} goes on for nobody", id.0));
        }
    }
}

/// The shape of an answer: JSON-RPC, and of a tool's result text and structure.
fn check_answer(answer: &Members<'_>) {
    let inside = |raw: Option<Raw<'_>>, name: &str| raw.and_then(json::members)?.get_any(name).map(|raw| raw.get().to_owned());
    if let Some(error) = answer.get("error") {
        assert!(inside(Some(error), "code").is_some() && inside(Some(error), "message").is_some(), "{answer:?}");
        return;
    }
    let result = json::members(answer.get("result").expect("a result or an error")).expect("an object");
    let Some(content) = result.get("content").and_then(json::elements) else { return };
    let words = content.first().and_then(|item| json::members(*item)).and_then(|item| item.string("text"));
    assert!(words.is_some_and(|words| !words.is_empty()), "words for people: {answer:?}");
    let structured = result.get("structuredContent").and_then(json::members).expect("a tool's result has structure");
    let code = structured.get("error").and_then(json::members).and_then(|error| error.string("code"));
    let is_error = result.get("isError").and_then(json::boolean).unwrap_or(false);
    assert!(is_error == code.is_some() || structured.has("results"), "errors have codes: {answer:?}");
    assert_ne!(code.as_deref(), Some("internal"), "{answer:?}");
}
