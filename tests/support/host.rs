//! A host: it gives inputs, takes every output, and keeps a record of both.

use std::collections::VecDeque;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Cause, ExchangeId, Headers, Input, LinkId, LinkOrder, Misuse, Output, PeerId, Request};
use narrows::time::{Instant, WallTime};

use super::chance::Chance;
use super::rule;
use super::storage::Storage;
use super::text::{at, shortened};
use super::watch::{Call, Life, Step, Watch};

/// The wall-clock time at which a test's clock stands at 0: 2026-11-29T12:00:00Z.
pub const START_MS: i64 = 1_795_953_600_000;

pub struct Host {
    pub gateway: Gateway,
    pub config: Config,
    pub genesis: Genesis,
    /// what the first gateway was born with
    first: Genesis,
    /// milliseconds since the test began
    pub clock: u64,
    /// the moment of the test at which the gateway's clock stood at 0
    epoch: u64,
    pub steps: Vec<Step>,
    /// where in the steps the gateway was replaced by one from its snapshot, with the birth of that
    life: Vec<(usize, Genesis)>,
    /// the input that is being handled
    begun: Option<(Instant, Input)>,
    pub watch: Watch,
    /// requests that were not answered yet
    pub fetches: VecDeque<(ExchangeId, Request)>,
    /// what peers were told and have not read yet
    pub said: VecDeque<(PeerId, String)>,
    pub aborted: Vec<ExchangeId>,
    /// what was asked of links and was not done yet
    pub orders: VecDeque<(LinkId, LinkOrder)>,
    /// what the gateway had kept
    pub storage: Storage,
    /// what clients over HTTP were told and have not got yet
    pub responses: VecDeque<Output>,
    /// whether the trace and snapshots are kept
    traced: bool,
    /// the lines of the trace
    pub trace: Vec<String>,
    /// pieces of snapshots without credentials, taken now and then
    pub handed_on: Vec<String>,
    numbers: u64,
    /// what a gateway that was restored said at once
    pub last_outputs: Vec<Output>,
    /// and from what it was restored
    pub last_pieces: Vec<String>,
    /// under which name the transcript of a failure is written; without one it is not
    pub name: String,
}

pub fn genesis(seed: u64, now: u64, clock: u64) -> Genesis {
    let mut chance = Chance::new(seed);
    let bytes = chance.bytes(32);
    let wall = START_MS + i64::try_from(clock).unwrap();
    Genesis { seed: bytes.try_into().unwrap(), now: Instant::from_ms(now), unix_ms: WallTime(wall) }
}

impl Host {
    pub fn new(seed: u64, config: &str) -> Self {
        Self::with(seed, Config::from_json(config).expect("the test's configuration is right"))
    }

    pub fn with(seed: u64, config: Config) -> Self {
        let genesis = genesis(seed, 0, 0);
        let watch = Watch::new(&config);
        Self {
            gateway: Gateway::new(genesis, config.clone()),
            config,
            genesis,
            first: genesis,
            clock: 0,
            epoch: 0,
            steps: Vec::new(),
            life: Vec::new(),
            begun: None,
            watch,
            fetches: VecDeque::new(),
            said: VecDeque::new(),
            aborted: Vec::new(),
            orders: VecDeque::new(),
            storage: Storage::default(),
            responses: VecDeque::new(),
            traced: false,
            trace: Vec::new(),
            handed_on: Vec::new(),
            numbers: 0,
            last_outputs: Vec::new(),
            last_pieces: Vec::new(),
            name: String::new(),
        }
    }

    /// Keeps the trace from now on, and now and then a snapshot to hand on.
    pub fn begin_trace(&mut self) {
        self.traced = true;
        self.gateway.set_trace(true);
    }

    /// A number that no call had yet.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The number that the next call will have.
    pub fn coming_number(&self) -> u64 {
        self.numbers + 1
    }

    pub fn now(&self) -> Instant {
        Instant::from_ms(self.clock - self.epoch)
    }

    /// A moment of the gateway's clock on the clock of the test.
    pub fn clock_of(&self, at: Instant) -> u64 {
        at.as_ms().saturating_add(self.epoch)
    }

    /// When the gateway wants to be called at the latest.
    pub fn timeout(&self) -> Option<u64> {
        self.gateway.poll_timeout().map(|deadline| self.clock_of(deadline.at))
    }

    pub fn input(&mut self, input: Input) -> Result<(), Misuse> {
        let now = self.now();
        self.input_at(now, input)
    }

    /// Gives an input at a moment of the host's choice, which may lie in the past.
    pub fn input_at(&mut self, now: Instant, input: Input) -> Result<(), Misuse> {
        let before = self.watch.predict(&input).is_err().then(|| self.gateway.snapshot(Secrets::Keep));
        self.begun = Some((now, input.clone()));
        let outcome = self.gateway.handle_input(now, input.clone());
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        self.trace.extend(std::iter::from_fn(|| self.gateway.poll_trace()));
        if self.traced && self.steps.len().is_multiple_of(32) {
            self.handed_on.extend(self.gateway.snapshot(Secrets::Drop));
        }
        if let Some(before) = before {
            assert_eq!(self.gateway.snapshot(Secrets::Keep), before, "a misuse changes nothing");
        }
        self.begun = None;
        let step = Step { now, input, outcome: outcome.clone(), outputs };
        self.keep(&step.outputs);
        self.steps.push(step);
        self.watch.after(self.steps.last().unwrap(), self.gateway.poll_timeout());
        if self.watch.is_in_doubt() {
            let pieces = self.gateway.snapshot(Secrets::Keep).concat();
            self.watch.keep_sessions(|name| pieces.contains(name));
        }
        outcome
    }

    fn keep(&mut self, outputs: &[Output]) {
        for output in outputs {
            match output.clone() {
                Output::Fetch { exchange, request } => self.fetches.push_back((exchange, request)),
                Output::Message { peer, text } => self.said.push_back((peer, text)),
                Output::Abort { exchange } => {
                    self.fetches.retain(|(known, _)| *known != exchange);
                    self.aborted.push(exchange);
                }
                Output::Save(save) => self.storage.keep(save),
                Output::Notice(_) => {}
                response @ (Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. }) => {
                    self.responses.push_back(response);
                }
                Output::Work { .. } | Output::WorkAbort { .. } => panic!("no function serves tasks"),
                Output::Link { link, order } => self.orders.push_back((link, order)),
                Output::Lookup(_) | Output::Tokens { .. } => panic!("the host has no directory and no store of tokens"),
            }
        }
    }

    /// Stops the gateway and starts another one from its snapshot, whose clock begins anew.
    pub fn restart(&mut self, seed: u64) {
        let pieces = if self.config.storage { self.storage.pieces() } else { self.gateway.snapshot(Secrets::Keep) };
        self.epoch = self.clock;
        self.genesis = genesis(seed, 0, self.clock);
        self.life.push((self.steps.len(), self.genesis));
        self.gateway = Gateway::restore(self.genesis, self.config.clone(), &pieces).expect("its own snapshot");
        self.gateway.set_trace(self.traced);
        self.fetches.clear();
        self.responses.clear();
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        self.keep(&outputs);
        self.last_outputs.clone_from(&outputs);
        self.last_pieces = pieces;
        self.watch.after_restart(Instant::from_ms(0), &outputs, self.gateway.poll_timeout());
    }

    pub fn open(&mut self, peer: u64, scope: &str) {
        self.input(Input::Open { peer: PeerId(peer), scope: scope.to_owned() }).unwrap();
    }

    /// Sends a message that has no id.
    pub fn tell(&mut self, peer: u64, text: &str) {
        self.input(Input::Message { peer: PeerId(peer), text: text.to_owned() }).unwrap();
    }

    /// Sends a request and gives its number, which is also its id.
    pub fn request(&mut self, peer: u64, method: &str, params: &str) -> u64 {
        let number = self.number();
        let detached = params.contains(r#""async":true"#);
        let token = at(params, &["_meta", "progressToken"]);
        self.watch.expect(number, Call { detached, ..call(peer, &number.to_string(), token, None) });
        self.tell(peer, &format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#));
        number
    }

    pub fn call(&mut self, peer: u64, tool: &str, arguments: &str) -> u64 {
        self.request(peer, "tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#))
    }

    /// The answer to a request, whole; `None` where there is none yet.
    pub fn answer(&mut self, number: u64) -> Option<String> {
        let id = number.to_string();
        let found = self.said.iter().position(|(_, text)| at(text, &["id"]).as_deref() == Some(id.as_str()))?;
        self.said.remove(found).map(|(_, text)| text)
    }

    /// The result of a tool call that must have ended.
    pub fn result(&mut self, number: u64) -> String {
        let text = self.answer(number).unwrap_or_else(|| panic!("call {number} has no answer yet"));
        at(&text, &["result"]).unwrap_or_else(|| panic!("no result: {text}"))
    }

    /// The one request that waits.
    pub fn fetch(&mut self) -> (ExchangeId, Request) {
        assert_eq!(self.fetches.len(), 1, "{:?}", self.fetches);
        self.fetches.pop_front().unwrap()
    }

    pub fn head(&mut self, exchange: ExchangeId, status: u16, headers: &[(&str, &str)]) {
        let headers: Headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.input(Input::Head { exchange, status, headers }).unwrap();
    }

    pub fn body(&mut self, exchange: ExchangeId, bytes: &[u8]) {
        self.input(Input::Body { exchange, bytes: bytes.to_vec() }).unwrap();
    }

    pub fn end(&mut self, exchange: ExchangeId) {
        self.input(Input::End { exchange }).unwrap();
    }

    pub fn fail(&mut self, exchange: ExchangeId, cause: Cause) {
        self.input(Input::Failed { exchange, cause, detail: String::new() }).unwrap();
    }

    /// A whole answer.
    pub fn reply(&mut self, exchange: ExchangeId, status: u16, body: &str) {
        self.head(exchange, status, &[("content-type", "application/json")]);
        if self.watch.is_running(exchange) {
            self.body(exchange, body.as_bytes());
            self.end(exchange);
        }
    }

    /// Answers every card request with 404 until none waits.
    pub fn no_card(&mut self) {
        while self.fetches.front().is_some_and(|(_, request)| request.body.is_none()) {
            let (exchange, _) = self.fetches.pop_front().unwrap();
            self.reply(exchange, 404, "");
        }
    }

    /// Lets time pass, with a tick whenever the gateway wants one.
    pub fn advance(&mut self, ms: u64) {
        let until = self.clock + ms;
        while let Some(at) = self.timeout().filter(|at| *at <= until) {
            self.clock = at;
            self.input(Input::Tick).unwrap();
        }
        self.clock = until;
        self.input(Input::Tick).unwrap();
    }

    /// The last steps, for a failure.
    pub fn last_steps(&self) -> String {
        let mut lines = Vec::new();
        for step in self.steps.iter().rev().take(12).rev() {
            lines.push(shortened(&format!("{} {} {:?}", step.now.as_ms(), step.input.to_json().as_str(), step.outcome)));
            lines.extend(step.outputs.iter().map(|output| shortened(&format!("    {}", output.to_json().as_str()))));
        }
        lines.join("\n")
    }
}

impl Host {
    /// The inputs so far as a transcript that `tests/transcripts` takes in.
    pub fn transcript(&self) -> Vec<String> {
        let birth = |genesis: Genesis| {
            let seed: String = genesis.seed.iter().map(|byte| format!("{byte:02x}")).collect();
            format!(r#"{{"seed":"{seed}","now":{},"unix_ms":{}}}"#, genesis.now.as_ms(), genesis.unix_ms.0)
        };
        let mut lines = vec![format!(r#"{{"genesis":{},"config":{}}}"#, birth(self.first), self.config.to_json().as_str())];
        let line = |now: Instant, input: &Input| format!(r#"{{"now":{},"input":{}}}"#, now.as_ms(), input.to_json().as_str());
        for (index, step) in self.steps.iter().enumerate() {
            let restores = self.life.iter().filter(|(at, _)| *at == index);
            lines.extend(restores.map(|(_, genesis)| format!(r#"{{"snapshot":[],"restore":{}}}"#, birth(*genesis))));
            lines.push(line(step.now, &step.input));
        }
        lines.extend(self.begun.iter().map(|(now, input)| line(*now, input)));
        lines
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        if self.name.is_empty() {
            eprintln!("{}", self.last_steps());
            return;
        }
        // Only where it is built as a test is there such a folder.
        let folder = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, std::path::PathBuf::from);
        let path = folder.join(format!("{}.jsonl", self.name));
        let written = std::fs::write(&path, self.transcript().join("\n") + "\n");
        let path = path.display();
        rule::report(format!("{}\nits transcript, as tests/transcripts takes it in: {path} {written:?}", self.last_steps()));
    }
}

/// A call that waits, without limit.
pub fn call(peer: u64, id: &str, token: Option<String>, due: Option<Instant>) -> Call {
    let life = Life::Running;
    let (peer, id) = (PeerId(peer), id.to_owned());
    Call {
        peer,
        id,
        token,
        due,
        life,
        progress: 0,
        detached: false,
        sends: 0,
        cancels: 0,
        unread: false,
        heard: false,
        late_cancel: false,
        listens: false,
    }
}
