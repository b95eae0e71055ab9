//! An embedding over a real HTTP client, `ureq`: one thread for each request, one loop for the gateway.
//!
//! `cargo run --example http -- http://127.0.0.1:4000 "What is for dinner?"`
//!
//! For agents behind TLS give `ureq` its feature `rustls`; it is left out here to keep the build of the tests small.
#![expect(clippy::disallowed_types, reason = "a host is where the clocks are")]
#![expect(clippy::std_instead_of_core, reason = "a program with the standard library")]

use std::error::Error;
use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis};
use narrows::io::{Cause, ExchangeId, Input, Method, Output, PeerId, Request};
use narrows::json::{self, Json, Object};
use narrows::time::{Instant, WallTime};
use narrows::url::Address;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

const PEER: PeerId = PeerId(1);

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 16 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("usage: http AGENT-URL [MESSAGE]")?;
    let message = words.next().unwrap_or_else(|| "Hello".into());
    let mut host = Host::new()?;
    host.take(Input::Open { peer: PEER, scope: "example".into() })?;
    let mut arguments = Object::new();
    arguments.string("alias", "agent").string("agent_url", &url);
    println!("{}", host.call("connect_agent", &arguments.finish())?);
    let mut arguments = Object::new();
    arguments.string("agent", "agent").string("message", &message);
    println!("{}", host.call("send_message", &arguments.finish())?);
    Ok(())
}

/// A gateway, its clock, and the reports of its requests.
struct Host {
    gateway: Gateway,
    started: std::time::Instant,
    /// for what the user named, and for what an agent at a public address named
    agents: [ureq::Agent; 2],
    reports: (Sender<Input>, Receiver<Input>),
    /// what the gateway said to its peer
    said: Vec<String>,
}

impl Host {
    fn new() -> Result<Self, Box<dyn Error>> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        let unix_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis();
        let genesis = Genesis { seed, now: Instant::from_ms(0), unix_ms: WallTime(i64::try_from(unix_ms)?) };
        // Redirects, deadlines and what a status means are the gateway's matter.
        let client = ureq::Agent::config_builder().max_redirects(0).max_redirects_will_error(false);
        let client = client.http_status_as_error(false).user_agent("narrows-example").build();
        let agents = [false, true].map(|public_only| {
            let resolver = Guarded { resolver: DefaultResolver::default(), public_only };
            ureq::Agent::with_parts(client.clone(), DefaultConnector::default(), resolver)
        });
        Ok(Self {
            gateway: Gateway::new(genesis, Config::default()),
            started: std::time::Instant::now(),
            agents,
            reports: channel(),
            said: Vec::new(),
        })
    }

    /// Calls a tool and waits for its answer.
    fn call(&mut self, name: &str, arguments: &Json) -> Result<String, Box<dyn Error>> {
        const META: &str =
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let mut params = Object::new();
        params.string("name", name).json("arguments", arguments);
        params.json("_meta", &Json::parse(META, 8).map_err(|_| "no JSON")?);
        let mut request = Object::new();
        request.string("jsonrpc", "2.0").integer("id", 1).string("method", "tools/call").json("params", &params.finish());
        self.take(Input::Message { peer: PEER, text: request.finish().into_string() })?;
        loop {
            if let Some(answer) = self.said.pop() {
                return Ok(shown(&answer).unwrap_or(answer));
            }
            let input = self.next()?;
            self.take(input)?;
        }
    }

    fn now(&self) -> Instant {
        Instant::from_ms(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// The next report, or that the gateway's deadline has come.
    fn next(&self) -> Result<Input, Box<dyn Error>> {
        let Some(deadline) = self.gateway.poll_timeout() else { return Ok(self.reports.1.recv()?) };
        let left = Duration::from_millis(deadline.at.as_ms().saturating_sub(self.now().as_ms()));
        match self.reports.1.recv_timeout(left) {
            Ok(input) => Ok(input),
            Err(RecvTimeoutError::Timeout) => Ok(Input::Tick),
            Err(RecvTimeoutError::Disconnected) => Err("no thread reports any more".into()),
        }
    }

    /// Tells the gateway what happened, and does what it says.
    fn take(&mut self, input: Input) -> Result<(), Box<dyn Error>> {
        self.gateway.handle_input(self.now(), input)?;
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::Message { text, .. } => self.said.push(text),
                Output::Fetch { exchange, request } => {
                    let [any, public] = &self.agents;
                    let agent = if request.public_only { public.clone() } else { any.clone() };
                    let reports = self.reports.0.clone();
                    thread::spawn(move || fetch(&agent, exchange, &request, &reports));
                }
                // A thread cannot be stopped: the gateway ignores what it still reports.
                Output::Abort { .. } => {}
                // Nobody asks this host over HTTP.
                Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => {}
                // This host declares no storage.
                Output::Save(_) => {}
                Output::Work { .. } | Output::WorkAbort { .. } | Output::Link { .. } => {}
                Output::Tokens { .. } | Output::Lookup(_) => {}
                Output::Notice(notice) => eprintln!("{} {} {}", notice.level.name(), notice.event, notice.fields.as_str()),
            }
        }
        Ok(())
    }
}

/// The words of an answer.
fn shown(message: &str) -> Option<String> {
    let message = json::members(json::parse(message, 64).ok()?)?;
    let content = json::elements(json::members(message.get("result")?)?.get("content")?)?;
    json::members(*content.first()?)?.string("text")
}

/// Resolves names to the addresses that may be called. What is connected to is what was checked.
#[derive(Debug)]
struct Guarded {
    resolver: DefaultResolver,
    public_only: bool,
}

impl Resolver for Guarded {
    fn resolve(
        &self,
        uri: &ureq::http::Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut allowed = self.empty();
        for address in self.resolver.resolve(uri, config, timeout)?.iter() {
            let place = Address::of_ip(address.ip());
            if !(place.is_always_refused() || self.public_only && place.is_internal()) {
                allowed.push(*address);
            }
        }
        if allowed.is_empty() { Err(std::io::Error::from(std::io::ErrorKind::PermissionDenied).into()) } else { Ok(allowed) }
    }
}

/// One request, reported as it goes.
fn fetch(agent: &ureq::Agent, exchange: ExchangeId, request: &Request, reports: &Sender<Input>) {
    let ended = match converse(agent, exchange, request, reports) {
        Ok(()) => Input::End { exchange },
        Err(error) => Input::Failed { exchange, cause: cause(&error), detail: error.to_string() },
    };
    // The loop may have ended before: then nobody wants to know.
    drop(reports.send(ended));
}

fn converse(agent: &ureq::Agent, exchange: ExchangeId, request: &Request, reports: &Sender<Input>) -> Result<(), ureq::Error> {
    let mut asked = ureq::http::Request::builder().method(request.method.name()).uri(&request.url);
    for (name, value) in &request.headers {
        asked = asked.header(name, value);
    }
    let response = match request.method {
        Method::Get => agent.run(asked.body(())?)?,
        Method::Post => agent.run(asked.body(request.body.as_deref().unwrap_or_default())?)?,
    };
    let (head, body) = response.into_parts();
    let text = |value: &ureq::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    drop(reports.send(Input::Head { exchange, status: head.status.as_u16(), headers }));
    let mut reader = body.into_reader();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = reader.read(&mut chunk)?;
        let bytes = chunk.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        drop(reports.send(Input::Body { exchange, bytes: bytes.to_vec() }));
    }
}

/// What kind of failure: whether a request surely never arrived decides if it may be sent again.
fn cause(error: &ureq::Error) -> Cause {
    use std::io::ErrorKind;
    let ureq::Error::Io(io) = error else {
        return if matches!(error, ureq::Error::HostNotFound) { Cause::Dns } else { Cause::Other };
    };
    let lost = [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe, ErrorKind::UnexpectedEof];
    if io.kind() == ErrorKind::ConnectionRefused {
        Cause::Refused
    } else if io.kind() == ErrorKind::PermissionDenied {
        Cause::Blocked
    } else if lost.contains(&io.kind()) {
        Cause::Reset
    } else {
        Cause::Other
    }
}
