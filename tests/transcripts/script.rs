//! Scripts: what happens to a gateway, in a form that people write. `README.md` lists the commands.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use narrows::io::{Cause, ExchangeId, Headers, Input, PeerId};
use narrows::json::{self, Json};

use crate::play::{Birth, Drain, Play};

/// 1 January 2027, midnight.
const UNIX_MS: i64 = 1_798_761_600_000;

/// Plays a script; the lines of its transcript.
pub(crate) fn play(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a script is UTF-8");
    play_text(&text, &path.display().to_string())
}

/// Plays the text of a script; `name` is told with its faults.
pub(crate) fn play_text(text: &str, name: &str) -> Vec<String> {
    let mut stage = Stage {
        birth: Birth { seed: [7; 32], now: 0, unix_ms: UNIX_MS, config: Json::parse("{}", 1).expect("an object") },
        play: None,
        now: 0,
        peer: 0,
        cut: 0,
        words: Vec::new(),
    };
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line = stage.with_words(line);
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if stage.command(command, rest).is_none() {
            panic!("{name}, line {}: {line}", number + 1);
        }
    }
    stage.play().lines.clone()
}

/// Where a script stands.
struct Stage {
    birth: Birth,
    play: Option<Play>,
    now: u64,
    peer: u64,
    /// how many bytes of a body come at once, 0 for all
    cut: usize,
    /// what stands for `$name`
    words: Vec<(String, String)>,
}

impl Stage {
    fn play(&mut self) -> &mut Play {
        self.play.get_or_insert_with(|| Play::begin(&self.birth, Drain::AfterEachInput))
    }

    fn with_words(&self, line: &str) -> String {
        self.words.iter().rev().fold(line.to_string(), |line, (name, word)| line.replace(&format!("${name}"), word))
    }

    fn input(&mut self, input: Input) -> Option<()> {
        let now = self.now;
        self.play().input(now, input);
        Some(())
    }

    fn message(&mut self, text: String) -> Option<()> {
        self.input(Input::Message { peer: PeerId(self.peer), text })
    }

    /// `None` where the line cannot be read.
    fn command(&mut self, command: &str, rest: &str) -> Option<()> {
        match command {
            // A gateway that is born keeps its configuration.
            "config" if self.play.is_none() => self.birth.config = Json::parse(rest, 16).ok()?,
            "let" => {
                let (name, word) = rest.split_once(' ')?;
                self.words.push((name.into(), word.into()));
            }
            "#" => self.play().note(rest),
            "cut" => self.cut = rest.parse().ok()?,
            "tick" => self.input(Input::Tick)?,
            "due" => {
                self.now = self.play().timeout()?;
                self.input(Input::Tick)?;
            }
            "restore" => {
                let (now, unix_ms) = rest.split_once(' ')?;
                self.now = now.parse().ok()?;
                let birth = Birth { seed: [9; 32], now: self.now, unix_ms: unix_ms.parse().ok()?, ..self.birth.clone() };
                self.play().restore(&birth);
            }
            "open" | "close" | "peer" | ">" | "ask" | "call" | "watch" | "cancel" | "too-long" => self.client(command, rest)?,
            _ if command.starts_with('+') => self.now += command.get(1..)?.parse::<u64>().ok()?,
            _ => self.agent(command, rest)?,
        }
        Some(())
    }

    /// What an MCP client does.
    fn client(&mut self, command: &str, rest: &str) -> Option<()> {
        match command {
            "open" => {
                let (peer, scope) = rest.split_once(' ')?;
                self.peer = peer.parse().ok()?;
                self.input(Input::Open { peer: PeerId(self.peer), scope: scope.into() })
            }
            "close" => self.input(Input::Closed { peer: PeerId(rest.parse().ok()?) }),
            "peer" => {
                self.peer = rest.parse().ok()?;
                Some(())
            }
            ">" => self.message(rest.into()),
            "ask" => {
                let (id, rest) = rest.split_once(' ')?;
                let (method, params) = rest.split_once(' ').unwrap_or((rest, "{}"));
                self.message(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
            }
            "call" | "watch" => {
                let (id, rest) = rest.split_once(' ')?;
                let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let meta = if command == "watch" { format!(r#","_meta":{{"progressToken":{id}}}"#) } else { String::new() };
                let params = format!(r#"{{"name":"{tool}","arguments":{arguments}{meta}}}"#);
                self.message(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
            }
            "cancel" => {
                let params = format!(r#"{{"requestId":{rest}}}"#);
                self.message(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#))
            }
            "too-long" => {
                let (bytes, text) = rest.split_once(' ')?;
                let (start, end) = text.split_once('…').unwrap_or((text, ""));
                let (peer, bytes) = (PeerId(self.peer), bytes.parse().ok()?);
                self.input(Input::MessageTooLong { peer, start: start.into(), end: end.into(), bytes })
            }
            _ => None,
        }
    }

    /// What comes back for an exchange: the one that `@` names, else the newest.
    fn agent(&mut self, command: &str, rest: &str) -> Option<()> {
        let newest = self.play().fetches.last().map(|(exchange, _)| *exchange);
        let (exchange, rest) = match rest.strip_prefix('@') {
            Some(rest) => {
                let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                (number.parse().ok()?, rest)
            }
            None => (newest?, rest),
        };
        let known = self.play().fetches.iter().find(|(known, _)| *known == exchange);
        let id = known.and_then(|(_, id)| id.clone()).unwrap_or_else(|| "null".into());
        let exchange = ExchangeId(exchange);
        match command {
            "head" => self.head(exchange, rest),
            "stream" => self.head(exchange, "200 Content-Type: text/event-stream"),
            "body" => self.body(exchange, json::string(json::parse(rest, 1).ok()?)?.as_bytes()),
            "bytes" => self.body(exchange, &STANDARD.decode(rest).ok()?),
            "data" => self.body(exchange, format!("data: {rest}\n\n").as_bytes()),
            "event" => self.body(exchange, format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{rest}}}\n\n").as_bytes()),
            "end" => self.input(Input::End { exchange }),
            "fail" => {
                let (name, detail) = rest.split_once(' ').unwrap_or((rest, ""));
                let (cause, _) = Cause::NAMES.into_iter().find(|(_, known)| *known == name)?;
                self.input(Input::Failed { exchange, cause, detail: detail.into() })
            }
            "reply" => {
                let (head, body) = rest.split_once(" << ").unwrap_or((rest, ""));
                self.reply(exchange, head, body)
            }
            "result" => self.reply(exchange, "200", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{rest}}}"#)),
            "error" => self.reply(exchange, "200", &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{rest}}}"#)),
            _ => None,
        }
    }

    /// A status and header fields between bars.
    fn head(&mut self, exchange: ExchangeId, text: &str) -> Option<()> {
        let (status, fields) = text.split_once(' ').unwrap_or((text, ""));
        let status = status.parse().ok()?;
        let pairs = fields.split(" | ").filter(|field| !field.is_empty()).map(|field| field.split_once(": "));
        let headers = pairs.map(|pair| pair.map(|(name, value)| (name.into(), value.into()))).collect::<Option<Headers>>()?;
        self.input(Input::Head { exchange, status, headers })
    }

    fn body(&mut self, exchange: ExchangeId, bytes: &[u8]) -> Option<()> {
        let size = if self.cut == 0 { bytes.len().max(1) } else { self.cut };
        for chunk in bytes.chunks(size) {
            self.input(Input::Body { exchange, bytes: chunk.to_vec() })?;
        }
        Some(())
    }

    /// A whole answer, of JSON unless its head says otherwise.
    fn reply(&mut self, exchange: ExchangeId, head: &str, body: &str) -> Option<()> {
        let typed = head.to_ascii_lowercase().contains("content-type: ") || body.is_empty();
        let bar = if head.contains(": ") { " |" } else { "" };
        let head = if typed { head.into() } else { format!("{head}{bar} Content-Type: application/json") };
        self.head(exchange, &head)?;
        self.body(exchange, body.as_bytes())?;
        self.input(Input::End { exchange })
    }
}
