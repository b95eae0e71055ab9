//! A gateway that is played through a transcript, and what it says.

use std::path::Path;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Deadline, Input, Output, read_input};
use narrows::json::{self, Array, Json, Members, Object};
use narrows::time::{Instant, WallTime};

/// Nesting of a line: an input with a list of pairs.
const DEPTH: u32 = 16;

/// How a gateway is born.
#[derive(Clone, Debug)]
pub(crate) struct Birth {
    pub(crate) seed: [u8; 32],
    pub(crate) now: u64,
    pub(crate) unix_ms: i64,
    /// the configuration, as it was written
    pub(crate) config: Json,
}

impl Birth {
    fn genesis(&self) -> Genesis {
        Genesis { seed: self.seed, now: Instant::from_ms(self.now), unix_ms: WallTime(self.unix_ms) }
    }

    fn config(&self) -> Config {
        Config::from_json(self.config.as_str()).expect("the configuration of a transcript")
    }

    fn to_json(&self) -> Json {
        let seed: String = self.seed.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut out = Object::new();
        out.string("seed", &seed).integer("now", self.now).integer("unix_ms", self.unix_ms);
        out.finish()
    }
}

/// A line of a transcript that is not said by the gateway.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    Birth(Birth),
    Note(String),
    Input(u64, Input),
    /// a snapshot was taken, and another gateway goes on from it
    Restore(Birth),
}

/// When outputs are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drain {
    AfterEachInput,
    AtTheEnd,
}

/// A gateway at play.
pub(crate) struct Play {
    gateway: Gateway,
    config: Json,
    drain: Drain,
    timeout: Option<Deadline>,
    /// what happened and what the gateway said
    pub(crate) lines: Vec<String>,
    /// the exchanges that were asked for, each with the id of its JSON-RPC request
    pub(crate) fetches: Vec<(u64, Option<String>)>,
}

impl Play {
    /// A gateway is born.
    pub(crate) fn begin(birth: &Birth, drain: Drain) -> Self {
        let mut line = Object::new();
        line.json("genesis", &birth.to_json()).json("config", &birth.config);
        let gateway = Gateway::new(birth.genesis(), birth.config());
        let lines = vec![line.finish().into_string()];
        Self { gateway, config: birth.config.clone(), drain, timeout: None, lines, fetches: Vec::new() }
    }

    /// A word to the reader.
    pub(crate) fn note(&mut self, text: &str) {
        let mut line = Object::new();
        line.string("note", text);
        self.lines.push(line.finish().into_string());
    }

    /// Something happens.
    pub(crate) fn input(&mut self, now: u64, input: Input) {
        let mut line = Object::new();
        line.integer("now", now).json("input", &input.to_json());
        if let Err(misuse) = self.gateway.handle_input(Instant::from_ms(now), input) {
            line.string("misuse", &misuse.to_string());
        }
        self.lines.push(line.finish().into_string());
        if self.drain == Drain::AfterEachInput {
            self.take_outputs();
        }
    }

    /// A snapshot is taken, and another gateway goes on from it.
    pub(crate) fn restore(&mut self, birth: &Birth) {
        self.take_outputs();
        let pieces = self.gateway.snapshot(Secrets::Keep);
        let mut list = Array::new();
        for piece in &pieces {
            list.string(piece);
        }
        let mut line = Object::new();
        line.json("snapshot", &list.finish()).json("restore", &birth.to_json());
        self.lines.push(line.finish().into_string());
        self.gateway = Gateway::restore(birth.genesis(), birth.config(), &pieces).expect("a snapshot is taken up");
        self.timeout = None;
        self.take_outputs();
    }

    /// When the gateway wants to be woken.
    pub(crate) fn timeout(&self) -> Option<u64> {
        self.gateway.poll_timeout().map(|deadline| deadline.at.as_ms())
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.gateway.poll_output() {
            if let Output::Fetch { exchange, request } = &output {
                self.fetches.push((exchange.0, request.body.as_deref().and_then(request_id)));
            }
            let mut line = Object::new();
            line.json("output", &output.to_json());
            self.lines.push(line.finish().into_string());
        }
        let timeout = self.gateway.poll_timeout();
        if timeout != self.timeout {
            let mut line = Object::new();
            line.json("timeout", &timeout.map_or(Json::null(), |deadline| deadline.to_json()));
            self.lines.push(line.finish().into_string());
            self.timeout = timeout;
        }
    }

    /// Its outputs, without the inputs and the time-outs between them.
    pub(crate) fn outputs(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).filter(|line| line.starts_with("{\"output\"")).collect()
    }
}

fn request_id(body: &str) -> Option<String> {
    let raw = json::parse(body, 128).ok()?;
    Some(json::members(raw)?.get("id")?.get().to_string())
}

/// Plays the lines of a transcript.
pub(crate) fn replay(lines: &[Line], drain: Drain) -> Play {
    let mut play = born(lines, drain);
    for line in lines {
        perform(&mut play, line);
    }
    play.take_outputs();
    play
}

fn born(lines: &[Line], drain: Drain) -> Play {
    let Some(Line::Birth(birth)) = lines.first() else { panic!("a transcript begins with a genesis") };
    Play::begin(birth, drain)
}

fn perform(play: &mut Play, line: &Line) {
    match line {
        Line::Birth(_) => {}
        Line::Note(text) => play.note(text),
        Line::Input(now, input) => play.input(*now, input.clone()),
        Line::Restore(birth) => {
            let config = play.config.clone();
            play.restore(&Birth { config, ..birth.clone() });
        }
    }
}

/// The gateway's own trace of a run.
pub(crate) fn traced(lines: &[Line]) -> Vec<String> {
    let mut play = born(lines, Drain::AfterEachInput);
    play.gateway.set_trace(true);
    let mut trace = Vec::new();
    for line in lines {
        perform(&mut play, line);
        trace.extend(std::iter::from_fn(|| play.gateway.poll_trace()));
    }
    trace
}

/// Reads a transcript; what the gateway said in it is passed over.
pub(crate) fn read_lines(path: &Path, text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate();
    let place = |number: usize| format!("{}, line {}", path.display(), number + 1);
    lines.filter_map(|(number, line)| read_line(line, &place(number))).collect()
}

fn read_line(line: &str, place: &str) -> Option<Line> {
    let raw = json::parse(line, DEPTH).unwrap_or_else(|fault| panic!("{place}: {fault:?}"));
    let members = json::members(raw).unwrap_or_else(|| panic!("{place}: no object"));
    if let Some(birth) = members.get("genesis").or_else(|| members.get("restore")) {
        let config = members.get("config").map_or(Object::new().finish(), Json::from_raw);
        let birth = read_birth(&json::members(birth).expect(place), config).expect(place);
        return Some(if members.has("restore") { Line::Restore(birth) } else { Line::Birth(birth) });
    }
    if let Some(input) = members.get("input") {
        let now = whole(&members, "now").expect(place);
        let input = read_input(input.get()).unwrap_or_else(|misuse| panic!("{place}: {misuse}"));
        return Some(Line::Input(now.unsigned_abs(), input));
    }
    if let Some(note) = members.string("note") {
        return Some(Line::Note(note));
    }
    assert!(members.has("output") || members.has("timeout"), "{place}: a line of no known kind");
    None
}

fn read_birth(members: &Members<'_>, config: Json) -> Option<Birth> {
    let text = members.string("seed")?;
    let mut seed = [0; 32];
    for (at, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(Birth { seed, now: whole(members, "now")?.unsigned_abs(), unix_ms: whole(members, "unix_ms")?, config })
}

fn whole(members: &Members<'_>, name: &str) -> Option<i64> {
    members.get(name).and_then(|raw| json::integer(raw.get()))
}
