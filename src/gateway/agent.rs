//! The gateway as an agent: what is asked of it at its A2A endpoints, in either binding and version (A2A 1.0 §9, §11).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use super::approving::decides;
use super::serving::not_allowed;
use crate::a2a::asked::{self, Place, Verb};
use crate::a2a::problem::{CONTENT_TYPE_NOT_SUPPORTED, VERSION_NOT_SUPPORTED};
use crate::a2a::{Dialect, Problem, choice};
use crate::http;
use crate::incoming::access::Refusal;
use crate::incoming::{Endpoint, Face, Form};
use crate::io::{Headers, RequestId};
use crate::json::{self, Fault, Json, Object, Raw};
use crate::jsonrpc::{ID_FAULT, Id};
use crate::list::gather;

/// What JSON-RPC is spoken at beside the configured path.
const API_PATH: &str = "/api/a2a";
const CARD_PATHS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
const A2A_JSON: &str = "application/a2a+json";
const PLAIN_JSON: &str = "application/json";

/// Method, path and query.
pub(super) type Asked<'a> = (&'a str, &'a str, &'a str);

impl Gateway {
    /// Whether the gateway's own card is at that path.
    pub(super) fn is_card(&self, path: &str) -> bool {
        self.ground.config.a2a.enabled && CARD_PATHS.contains(&path)
    }

    /// A request at a path that is not MCP's.
    pub(super) fn agent_request(
        &mut self,
        request: RequestId,
        (method, path, query): Asked<'_>,
        headers: Headers,
    ) -> Result<(), Refusal> {
        let a2a = &self.ground.config.a2a;
        let nothing = || Refusal::new(404, "there is nothing at this path: MCP is at /mcp");
        if !a2a.enabled {
            return Err(nothing());
        }
        if self.is_card(path) {
            return match method {
                "GET" | "HEAD" => {
                    self.own_card(request, query, &headers);
                    Ok(())
                }
                _ => Err(not_allowed("GET, HEAD", "this method is not served here")),
            };
        }
        if path == a2a.listen_path || path == API_PATH {
            return match method {
                "POST" => self.take_in(request, headers, Endpoint::Rpc(query.to_string())),
                _ => Err(not_allowed("POST", "A2A over JSON-RPC is posted")),
            };
        }
        if let Some(below) = plain_path(path) {
            return self.plain_request(request, (method, below, query), headers);
        }
        let Some(below) = self.rest_path(path) else { return Err(nothing()) };
        let place = asked::place(method, below, query).map_err(|allowed| match allowed {
            "" => Refusal::new(404, "there is nothing at this path"),
            allowed => not_allowed(allowed, "this method is not served here"),
        })?;
        if method == "POST" {
            return self.take_in(request, headers, Endpoint::Rest(place.into()));
        }
        self.agent_place(request, &headers, place, Vec::new());
        Ok(())
    }

    /// What is below the endpoint of HTTP+JSON.
    fn rest_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(self.ground.config.a2a.listen_path.as_str())?.strip_prefix("/rest")?;
        Some(below).filter(|below| below.starts_with('/'))
    }

    /// How refusals at a path are written.
    pub(super) fn face(&self, target: &str) -> Face {
        let path = target.split_once('?').map_or(target, |(path, _)| path);
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        if decides(path) || self.is_directory(path) {
            return Face::Plain;
        }
        let a2a = &self.ground.config.a2a;
        if !a2a.enabled {
            return Face::Words;
        }
        if path == a2a.listen_path || path == API_PATH {
            return Face::Rpc;
        }
        if plain_path(path).is_some() {
            return Face::Plain;
        }
        match self.rest_path(path) {
            Some(below) if below.starts_with("/v1/") => Face::Rest(Dialect::Rest03),
            Some(_) => Face::Rest(Dialect::Rest10),
            None => Face::Words,
        }
    }

    /// The version that is asked for, where one is.
    ///
    /// # Errors
    /// One that is not spoken here (A2A 1.0 §3.6.2).
    fn version(&self, headers: &Headers, query: &str) -> Result<Option<bool>, Problem> {
        let asked = asked_version(headers, query);
        if asked.is_empty() {
            return Ok(None);
        }
        let a2a = &self.ground.config.a2a;
        match choice::asked_version(&asked) {
            Some(is_10) if self.speaks(is_10) => Ok(Some(is_10)),
            Some(_) | None => {
                let spoken = [(a2a.v10, "1.0"), (a2a.v03, "0.3")].into_iter().filter(|(spoken, _)| *spoken);
                let spoken = crate::text::joined(&gather(spoken.map(|(_, version)| version)), ", ");
                let message = format!("version {asked} is not spoken here, but {spoken}");
                Err(Problem::new(VERSION_NOT_SUPPORTED, message))
            }
        }
    }

    const fn speaks(&self, is_10: bool) -> bool {
        if is_10 { self.ground.config.a2a.v10 } else { self.ground.config.a2a.v03 }
    }

    /// A JSON-RPC request.
    pub(super) fn agent_call(&mut self, request: RequestId, headers: &Headers, query: &str, bytes: &[u8]) {
        let id = Some(Json::null());
        let mut form = Form { dialect: Dialect::JsonRpc10, id, media_type: PLAIN_JSON, base: String::new(), plain: None };
        let read = self.read_call(headers, query, bytes, &mut form);
        if let Ok((Verb::Card, _)) = &read {
            form.base = self.base(headers);
        }
        match read {
            Ok((verb, params)) => self.grant(request, verb, &params, None, &form),
            Err(problem) => self.respond_problem(request, &form, &problem),
        }
    }

    /// The value of a body.
    pub(super) fn body_value<'b>(&self, headers: &Headers, bytes: &'b [u8]) -> Result<Raw<'b>, Problem> {
        check_type(headers, bytes)?;
        let text = core::str::from_utf8(bytes).map_err(|_| Problem::new(-32700, "the body is no UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        json::parse(text, self.ground.config.limits.depth()).map_err(|fault| match fault {
            Fault::Syntax => Problem::new(-32700, "the body is no JSON"),
            Fault::Depth => Problem::new(-32600, "the body nests too deep"),
        })
    }

    /// The checks of JSON-RPC 2.0 §4, with the id as soon as it is known.
    fn read_call(&self, headers: &Headers, query: &str, bytes: &[u8], form: &mut Form) -> Result<(Verb, Json), Problem> {
        let raw = self.body_value(headers, bytes)?;
        let members = json::members(raw).ok_or_else(|| Problem::new(-32600, "the body is no JSON-RPC request"))?;
        let id = members.get_any("id");
        let given = id.filter(|raw| !json::is_null(*raw));
        let read = given.and_then(Id::read);
        if given.is_some() && read.is_none() {
            return Err(Problem::new(-32600, ID_FAULT));
        }
        form.id = Some(read.map_or_else(Json::null, |id| id.as_json().clone()));
        if members.string("jsonrpc").as_deref() != Some("2.0") {
            return Err(Problem::new(-32600, "`jsonrpc` must be \"2.0\""));
        }
        let name = members.string("method").ok_or_else(|| Problem::new(-32600, "`method` must be a string"))?;
        // Whoever gives no id wants no answer (JSON-RPC 2.0 §4.1), but is told what is wrong with what was said.
        form.id = form.id.take().filter(|_| id.is_some());
        let found = asked::method(&name);
        if let Some((_, dialect)) = found {
            form.dialect = dialect;
        }
        self.version(headers, query)?;
        let (verb, dialect) = found
            .filter(|(_, dialect)| self.speaks(dialect.is_10()))
            .ok_or_else(|| Problem::new(-32601, format!("there is no method {}", Json::string(&name).as_str())))?;
        form.dialect = dialect;
        let params = members.get("params").map_or_else(|| Object::new().finish(), Json::from_raw);
        Ok((verb, params))
    }

    /// An HTTP+JSON request.
    pub(super) fn agent_place(&mut self, request: RequestId, headers: &Headers, place: Place, bytes: Vec<u8>) {
        let accepts = http::header(headers, "accept").unwrap_or_default();
        // What 1.0.1 prefers is unknown to clients of 1.0.0: it is for those who name it.
        let named = place.dialect.is_10() && accepts.split(',').any(|range| http::content_type_is(range, A2A_JSON));
        let media_type = if named { A2A_JSON } else { PLAIN_JSON };
        let base = if place.verb == Verb::Card { self.base(headers) } else { String::new() };
        let form = Form { dialect: place.dialect, id: Some(Json::null()), media_type, base, plain: None };
        match self.read_place(headers, &place, &bytes) {
            Ok(params) => self.grant(request, place.verb, &params, Some(&place), &form),
            Err(problem) => self.respond_problem(request, &form, &problem),
        }
    }

    fn read_place(&self, headers: &Headers, place: &Place, bytes: &[u8]) -> Result<Json, Problem> {
        self.version(headers, &place.query)?;
        if !self.speaks(place.dialect.is_10()) {
            let message = format!("version {} is not spoken here", place.dialect.version());
            return Err(Problem::new(VERSION_NOT_SUPPORTED, message));
        }
        // Where everything is said by the path, clients send an empty body with a type, or none.
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(asked::query_json(&place.query));
        }
        self.body_value(headers, bytes).map(Json::from_raw)
    }

    /// The answer to a request.
    pub(super) fn respond_result(&mut self, request: RequestId, form: &Form, status: u16, result: Option<&Json>) {
        if form.dialect.is_rest() {
            let body = result.map_or("", Json::as_str);
            return self.respond_form(request, form, status, body.to_string());
        }
        if form.id.is_none() {
            let headers = self.common(request);
            return self.respond(request, 204, headers, String::new());
        }
        let null = Json::null();
        self.respond_form(request, form, 200, rpc(form, "result", result.unwrap_or(&null)).into_string());
    }

    /// What is said in place of an answer.
    pub(super) fn respond_problem(&mut self, request: RequestId, form: &Form, problem: &Problem) {
        let error = problem.write(form.dialect);
        if form.dialect.is_rest() {
            return self.respond_form(request, form, problem.status(form.dialect), error.into_string());
        }
        self.respond_form(request, form, 200, rpc(form, "error", &error).into_string());
    }

    fn respond_form(&mut self, request: RequestId, form: &Form, status: u16, body: String) {
        let mut headers = self.common(request);
        if !body.is_empty() {
            headers.push(("Content-Type".to_string(), form.media_type.to_string()));
        }
        self.respond(request, status, headers, body);
    }
}

/// What is below the plain task API.
fn plain_path(path: &str) -> Option<&str> {
    path.strip_prefix(API_PATH).and_then(|below| below.strip_prefix('/'))
}

/// A JSON-RPC answer.
pub(super) fn rpc(form: &Form, name: &str, value: &Json) -> Json {
    let mut out = Object::with_capacity(value.as_str().len() + 64);
    out.string("jsonrpc", "2.0").raw("id", form.id.as_ref().map_or("null", Json::as_str)).json(name, value);
    out.finish()
}

/// The version that a request names in its header, else in its query (A2A 1.0 §3.6.1); empty where it names none.
pub(super) fn asked_version(headers: &Headers, query: &str) -> String {
    let of_header = http::header(headers, "a2a-version").map(str::trim).filter(|version| !version.is_empty());
    let of_query = || asked::query_json(query).members().and_then(|members| members.string("A2A-Version"));
    of_header.map(ToString::to_string).or_else(of_query).unwrap_or_default().trim().to_string()
}

/// JSON under either of its names; nothing is said about a body that says nothing about itself.
fn check_type(headers: &Headers, bytes: &[u8]) -> Result<(), Problem> {
    let Some(shown) = http::header(headers, "content-type") else { return Ok(()) };
    if bytes.is_empty() || [PLAIN_JSON, A2A_JSON].iter().any(|known| http::content_type_is(shown, known)) {
        return Ok(());
    }
    Err(Problem::new(CONTENT_TYPE_NOT_SUPPORTED, "the body must be application/json or application/a2a+json"))
}
