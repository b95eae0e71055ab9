//! Random worlds of a server that wants tokens, of two gateways that share a store, and of people who log in: tokens end,
//! are taken back and renewed, answers are late or lost, people refuse, come back twice or to the wrong gateway. A token is
//! renewed by one for all, nobody else sees it, a code is used once, and no call runs twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use narrows::config::Config;
use narrows::gateway::Gateway;
use narrows::io::{AuthorizeEvent, Cause, ExchangeId, Input, PeerId, Request, TokenOrder};

use crate::asking::shake;
use crate::chance::{Chance, seeds};
use crate::world::{World, at, birth, string_at};

const URL: &str = "https://s.test/mcp";
const TOKEN_URL: &str = "https://as.test/token";
const RESOURCE: &str = r#"{"resource":"https://s.test/mcp","authorization_servers":["https://as.test"]}"#;
const METADATA: &str = r#"{"issuer":"https://as.test","authorization_endpoint":"https://as.test/authorize","token_endpoint":"https://as.test/token","registration_endpoint":"https://as.test/register","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}"#;
const CONFIG: &str = r#"{"mcp_servers":[{"name":"s","transport":{"type":"http","url":"https://s.test/mcp"}}]}"#;
/// How long a token is good, and how long a store waits for whoever replaces a record.
const TOKEN_MS: u64 = 3_600_000;
const STORE_MS: u64 = 30_000;

/// Somebody who was sent to the authorization server.
#[derive(Clone)]
struct Visitor {
    gateway: usize,
    state: String,
    code: u64,
}

struct Grants {
    chance: Chance,
    worlds: [World; 2],
    lives: u8,
    /// whether nothing goes wrong any more
    calm: bool,
    record: Option<String>,
    /// who is about to replace the record, and until when the store waits for it
    holder: Option<(usize, u64)>,
    loads: VecDeque<(usize, bool)>,
    numbers: u64,
    /// the tokens that are good, with the end of the first
    access: Option<(u64, u64)>,
    refresh: Option<u64>,
    /// tokens for others that were given, and answers that told of it
    renewed: BTreeSet<u64>,
    visitors: Vec<Visitor>,
    codes: BTreeSet<u64>,
    /// calls that are to be answered, and those that ran
    open: BTreeSet<(usize, u64)>,
    ran: BTreeSet<(usize, u64)>,
    counts: BTreeMap<String, u64>,
}

/// Each life of a gateway has randomness of its own.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.split(word).nth(1)?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

fn token(request: &Request) -> Option<u64> {
    let field = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"))?;
    number_after(&field.1, "Bearer access-token-")
}

impl Grants {
    fn new(seed: u64) -> Self {
        let mut worlds = [0, 1].map(|gateway| World::with(Gateway::new(birth(gateway, 0), Config::from_json(CONFIG).unwrap())));
        for world in &mut worlds {
            world.open(1);
            shake(world, 1, "{}");
        }
        Self {
            chance: Chance::new(seed),
            worlds,
            lives: 1,
            calm: false,
            record: None,
            holder: None,
            loads: VecDeque::new(),
            numbers: 0,
            access: None,
            refresh: None,
            renewed: BTreeSet::new(),
            visitors: Vec::new(),
            codes: BTreeSet::new(),
            open: BTreeSet::new(),
            ran: BTreeSet::new(),
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn now(&self) -> u64 {
        self.worlds[0].now
    }

    fn goes_wrong(&mut self, one_in: u64) -> bool {
        !self.calm && self.chance.one_in(one_in)
    }

    fn step(&mut self) {
        let gateway = self.chance.index(2);
        match self.chance.below(32) {
            0..=5 => self.call(gateway),
            6..=19 => self.serve(gateway),
            20..=23 => self.give_record(),
            24 | 25 => {
                let ms = *self.chance.pick(&[500, 3000, 40_000, TOKEN_MS - 20_000, TOKEN_MS + 100_000]);
                self.pass(ms);
            }
            26 => self.log_in(gateway),
            27..=29 => self.come_back(),
            30 if self.chance.one_in(2) => {
                // The server takes the token back; more rarely the authorization server takes all back.
                self.access = None;
                if self.chance.one_in(4) {
                    self.refresh = None;
                }
            }
            31 if self.chance.one_in(3) => self.restart(gateway),
            _ => {}
        }
        self.look();
    }

    fn pass(&mut self, ms: u64) {
        self.worlds.iter_mut().for_each(|world| world.advance(ms));
        self.look();
    }

    fn call(&mut self, gateway: usize) {
        let call = self.number();
        self.open.insert((gateway, call));
        self.worlds[gateway].call(call, "mcp_s_x", &format!(r#","arguments":{{"call":{call}}}"#));
    }

    /// A person begins to log in.
    fn log_in(&mut self, gateway: usize) {
        let event = AuthorizeEvent::LogIn { redirect_uri: "http://127.0.0.1:4000/callback".into() };
        self.worlds[gateway].input(Input::Authorize { server: "s".into(), event });
    }

    /// Somebody comes back: who was sent, or who was there before, or to another gateway, or without having agreed.
    fn come_back(&mut self) {
        if self.visitors.is_empty() {
            return;
        }
        let newest = self.visitors.len() - 1;
        let index = if self.goes_wrong(4) { self.chance.index(newest + 1) } else { newest };
        let visitor = self.visitors[index].clone();
        let gateway = if self.goes_wrong(8) { 1 - visitor.gateway } else { visitor.gateway };
        let (code, state) = (visitor.code, visitor.state);
        let query = if self.goes_wrong(5) {
            self.count("somebody refuses");
            format!("error=access_denied&state={state}")
        } else if self.goes_wrong(8) {
            format!("code=code-{code}&state=no{state}")
        } else {
            format!("code=code-{code}&state={state}")
        };
        self.worlds[gateway].input(Input::Authorize { server: "s".into(), event: AuthorizeEvent::CameBack { query } });
    }

    /// The store answers the first that may have the record.
    fn give_record(&mut self) {
        let now = self.now();
        self.holder = self.holder.filter(|(_, until)| *until > now);
        let is_free = |(gateway, refresh): &(usize, bool)| !refresh || self.holder.is_none_or(|(holder, _)| holder == *gateway);
        let Some(index) = self.loads.iter().position(is_free) else { return };
        let (gateway, refresh) = self.loads.remove(index).unwrap();
        if refresh {
            self.holder = Some((gateway, now + STORE_MS));
        }
        if self.goes_wrong(20) {
            return self.count("the store is silent");
        }
        let record = self.record.clone();
        self.worlds[gateway].input(Input::Authorize { server: "s".into(), event: AuthorizeEvent::Tokens { record } });
    }

    /// The gateway ends and goes on from its snapshot.
    fn restart(&mut self, gateway: usize) {
        self.look();
        self.lives += 1;
        self.worlds[gateway] = self.worlds[gateway].restarted(self.lives, CONFIG);
        self.loads.retain(|(of, _)| *of != gateway);
        self.holder = self.holder.filter(|(holder, _)| *holder != gateway);
        self.count("restarted");
    }

    /// Somebody answers a request of the gateway.
    fn serve(&mut self, gateway: usize) {
        if self.worlds[gateway].fetches.is_empty() {
            return;
        }
        let index = self.chance.index(self.worlds[gateway].fetches.len());
        let (exchange, request) = self.worlds[gateway].fetches.remove(index).unwrap();
        if self.goes_wrong(25) {
            return self.breaks(gateway, exchange);
        }
        if self.goes_wrong(25) {
            return self.worlds[gateway].reply(exchange, 500, &[], "");
        }
        let is_protected = request.url.contains("oauth-protected-resource");
        match request.url.as_str() {
            URL => self.serve_call(gateway, exchange, &request),
            TOKEN_URL => self.give_tokens(gateway, exchange, &request),
            "https://as.test/register" => self.worlds[gateway].reply(exchange, 201, &[], r#"{"client_id":"c-1"}"#),
            _ => self.worlds[gateway].reply(exchange, 200, &[], if is_protected { RESOURCE } else { METADATA }),
        }
    }

    fn breaks(&mut self, gateway: usize, exchange: ExchangeId) {
        self.worlds[gateway].input(Input::Failed { exchange, cause: Cause::Reset, detail: String::new() });
    }

    fn serve_call(&mut self, gateway: usize, exchange: ExchangeId, request: &Request) {
        let body = request.body.clone().unwrap_or_default();
        let now = self.now();
        let is_good =
            token(request).is_some() && token(request) == self.access.filter(|(_, end)| *end > now).map(|(number, _)| number);
        let world = &mut self.worlds[gateway];
        if !is_good {
            self.count("401");
            return self.worlds[gateway].reply(exchange, 401, &[("WWW-Authenticate", "Bearer")], "");
        }
        let id = at(&body, &["id"]).unwrap_or_default();
        let outcome = match string_at(&body, &["method"]).unwrap_or_default().as_str() {
            "server/discover" => r#""supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete""#.to_owned(),
            "tools/list" => r#""tools":[{"name":"x","inputSchema":{"type":"object"}}]"#.to_owned(),
            "subscriptions/listen" => return world.events(exchange, &[], ""),
            "tools/call" => {
                let call: u64 = at(&body, &["params", "arguments", "call"]).unwrap().parse().unwrap();
                if self.goes_wrong(12) {
                    let more = r#"Bearer error="insufficient_scope", scope="admin""#;
                    return self.worlds[gateway].reply(exchange, 403, &[("WWW-Authenticate", more)], "");
                }
                assert!(self.ran.insert((gateway, call)), "call {call} runs twice");
                if self.goes_wrong(12) {
                    return self.breaks(gateway, exchange);
                }
                format!(r#""content":[{{"type":"text","text":"done-{call}."}}]"#)
            }
            _ => String::new(),
        };
        self.worlds[gateway].reply(exchange, 200, &[], &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{outcome}}}}}"#));
    }

    fn give_tokens(&mut self, gateway: usize, exchange: ExchangeId, request: &Request) {
        let form = request.body.clone().unwrap_or_default();
        let fault = |world: &mut World| world.reply(exchange, 400, &[], r#"{"error":"invalid_grant"}"#);
        let renews = number_after(&form, "refresh_token=refresh-token-");
        if let Some(code) = number_after(&form, "code=code-") {
            assert!(self.codes.insert(code), "code {code} is used twice");
            let of = self.visitors.iter().find(|visitor| visitor.code == code).expect("a code that was given").gateway;
            assert_eq!(of, gateway, "a code is used by another gateway");
            self.count("logged in");
        } else {
            let number = renews.expect("a code or a token");
            assert!(!self.renewed.contains(&number), "refresh-token-{number} is used again, though others were given for it");
            if self.refresh != Some(number) || self.goes_wrong(12) {
                self.refresh = self.refresh.filter(|known| *known != number);
                self.count("not renewed");
                return fault(&mut self.worlds[gateway]);
            }
        }
        let (number, now) = (self.number(), self.now());
        (self.access, self.refresh) = (Some((number, now + TOKEN_MS)), Some(number));
        if self.goes_wrong(10) {
            self.count("tokens are lost");
            return self.breaks(gateway, exchange);
        }
        self.renewed.extend(renews);
        if renews.is_some() {
            self.count("renewed");
        }
        let tokens = format!(
            r#"{{"access_token":"access-token-{number}","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-token-{number}"}}"#
        );
        self.worlds[gateway].reply(exchange, 200, &[], &tokens);
    }

    /// Takes note of what the gateways said, and to whom.
    fn look(&mut self) {
        for gateway in 0..2 {
            for (event, fields) in std::mem::take(&mut self.worlds[gateway].notices) {
                is_clean(&fields);
                if event == "authorization_url" {
                    let place = string_at(&fields, &["url"]).unwrap();
                    let state = place.split('&').find_map(|field| field.strip_prefix("state=")).unwrap().to_owned();
                    let code = self.number();
                    self.visitors.push(Visitor { gateway, state, code });
                }
            }
            for (server, order) in std::mem::take(&mut self.worlds[gateway].orders) {
                assert_eq!(server, "s");
                match order {
                    TokenOrder::Load { refresh } => self.loads.push_back((gateway, refresh)),
                    TokenOrder::Save(record) => {
                        self.record = Some(record.into_string());
                        self.holder = self.holder.filter(|(holder, _)| *holder != gateway);
                    }
                }
            }
            for (_, request) in &self.worlds[gateway].fetches {
                is_for(request);
            }
            for (PeerId(peer), text) in std::mem::take(&mut self.worlds[gateway].said) {
                is_clean(&text);
                let id = at(&text, &["id"]).and_then(|id| id.parse::<u64>().ok());
                let Some(id) = id.filter(|id| *id > 0 && string_at(&text, &["method"]).is_none()) else { continue };
                assert!(self.open.remove(&(gateway, id)), "{peer} does not wait for {text}");
                if let Some(done) = number_after(&text, "done-") {
                    assert!(done == id && self.ran.contains(&(gateway, id)), "another answer: {text}");
                    self.count("done");
                } else if text.contains(r#""login_needed":true"#) {
                    self.count("login needed");
                }
            }
        }
    }

    /// Everybody does as they should, and somebody logs in: then calls go through.
    fn recovers(&mut self) {
        self.calm = true;
        self.settle();
        self.log_in(0);
        self.settle();
        self.come_back();
        self.settle();
        let call = self.number();
        self.open.insert((0, call));
        self.worlds[0].call(call, "mcp_s_x", &format!(r#","arguments":{{"call":{call}}}"#));
        self.settle();
        assert!(self.ran.contains(&(0, call)), "who has logged in is served");
        assert!(self.open.is_empty(), "never answered: {:?}", self.open);
    }

    fn settle(&mut self) {
        for _ in 0..90 {
            for gateway in [0, 1] {
                self.look();
                self.serve(gateway);
                self.look();
                self.give_record();
            }
            self.look();
            self.pass(1000);
        }
    }
}

/// Nobody is told a credential.
fn is_clean(text: &str) {
    for word in ["access-token-", "refresh-token-", "code-"] {
        assert!(number_after(text, word).is_none(), "a credential is told: {text}");
    }
}

/// A request has the credentials that its receiver gave, and no others.
fn is_for(request: &Request) {
    let body = request.body.as_deref().unwrap_or_default();
    let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    if request.url != TOKEN_URL {
        is_clean(body);
    }
    if request.url != URL {
        is_clean(&fields);
    }
    is_clean(&request.url);
}

#[test]
fn a_token_is_renewed_once_for_all_and_seen_by_nobody_else() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds(100) {
        println!("seed {seed}");
        let mut grants = Grants::new(seed);
        for _ in 0..250 {
            grants.step();
        }
        grants.recovers();
        for (what, count) in grants.counts {
            *counts.entry(what).or_default() += count;
        }
    }
    println!("{counts:?}");
    let expected = [
        "401",
        "done",
        "logged in",
        "login needed",
        "not renewed",
        "renewed",
        "restarted",
        "somebody refuses",
        "the store is silent",
        "tokens are lost",
    ];
    for what in expected {
        assert!(counts.get(what).is_some_and(|count| *count > 0), "it never came to this: {what}: {counts:?}");
    }
}
