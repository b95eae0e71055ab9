//! MCP clients over HTTP: they ask, read answers as they come off the wire, lose connections and take streams up again.

use std::collections::{BTreeMap, BTreeSet};

use narrows::io::{Headers, RequestId};
use narrows::json;

use super::network::Told;
use crate::support::text::{at, string_at};

pub const MODERN: &str = "2026-07-28";

/// What a client waits for on one connection.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// the ids of the calls that it posted
    pub ids: Vec<String>,
    pub standing: bool,
    /// the scope of the session that it is to begin
    pub scope: Option<String>,
    status: Option<u16>,
    streaming: bool,
    bytes: Vec<u8>,
    /// the last event that was read whole
    pub last: Option<String>,
}

/// One client.
#[derive(Debug)]
pub struct Client {
    /// the header field with its token; `None` where none is asked for
    pub token: Option<String>,
    /// the version that it speaks
    pub version: &'static str,
    /// its scope as the books name it
    pub scope: String,
    pub session: Option<String>,
    pub connections: BTreeMap<RequestId, Connection>,
    /// streams that broke off, by their last event
    pub torn: Vec<(String, Connection)>,
    /// the calls of the session, by their ids
    pub numbers: BTreeMap<String, u64>,
    /// how often each call was answered, as far as the client got it
    pub answers: BTreeMap<u64, u32>,
    /// calls whose answer cannot be read any more
    pub lost: BTreeSet<u64>,
}

impl Connection {
    pub fn standing() -> Self {
        Self { standing: true, ..Self::default() }
    }
}

impl Client {
    pub fn new(token: Option<String>, version: &'static str, scope: String) -> Self {
        Self {
            token,
            version,
            scope,
            session: None,
            connections: BTreeMap::new(),
            torn: Vec::new(),
            numbers: BTreeMap::new(),
            answers: BTreeMap::new(),
            lost: BTreeSet::new(),
        }
    }

    pub fn is_modern(&self) -> bool {
        self.version == MODERN
    }

    /// The fields of a request that is all right.
    pub fn fields(&self) -> Headers {
        let mut fields = vec![("Host".to_owned(), "localhost:4545".to_owned())];
        fields.extend(self.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
        if let Some(session) = &self.session {
            fields.push(("Mcp-Session-Id".to_owned(), session.clone()));
            fields.push(("MCP-Protocol-Version".to_owned(), self.version.to_owned()));
        }
        fields
    }

    /// Something of a response arrives. Gives the name of a session that began.
    pub fn told(&mut self, request: RequestId, told: Told) {
        let Some(connection) = self.connections.get_mut(&request) else { return };
        match told {
            Told::Head(status, headers) => {
                connection.status = Some(status);
                let field = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                connection.streaming = field("Content-Type").as_deref() == Some("text/event-stream");
                if let Some((name, scope)) = field("Mcp-Session-Id").zip(connection.scope.take()) {
                    self.session = Some(name);
                    self.scope = scope;
                }
            }
            Told::Bytes(bytes) => {
                connection.bytes.extend(bytes);
                if connection.streaming {
                    self.events(request);
                }
            }
            Told::End => self.ended(request),
        }
    }

    fn events(&mut self, request: RequestId) {
        let connection = self.connections.get_mut(&request).unwrap();
        let mut data = Vec::new();
        while let Some(end) = connection.bytes.windows(2).position(|two| two == b"\n\n") {
            let event: Vec<u8> = connection.bytes.drain(..end + 2).collect();
            let event = String::from_utf8(event).expect("a response is UTF-8");
            for line in event.lines() {
                if let Some(id) = line.strip_prefix("id: ") {
                    connection.last = Some(id.to_owned());
                } else if let Some(text) = line.strip_prefix("data:") {
                    data.push(text.trim_start().to_owned());
                }
            }
        }
        let ids = connection.ids.clone();
        data.iter().for_each(|text| self.read(text, &ids));
    }

    fn read(&mut self, text: &str, ids: &[String]) {
        if text.is_empty() || at(text, &["method"]).is_some() {
            return;
        }
        let number = at(text, &["id"]).filter(|id| ids.contains(id)).and_then(|id| self.numbers.get(&id).copied());
        if let Some(number) = number {
            *self.answers.entry(number).or_default() += 1;
        }
    }

    fn ended(&mut self, request: RequestId) {
        let connection = self.connections.remove(&request).unwrap();
        if !connection.streaming {
            let body = String::from_utf8(connection.bytes.clone()).expect("a response is UTF-8");
            let parsed = json::parse(&body, 200).ok();
            let list = parsed.map(|raw| json::elements(raw).unwrap_or_else(|| vec![raw])).unwrap_or_default();
            list.iter().for_each(|element| self.read(element.get(), &connection.ids));
            if connection.status == Some(404) && string_at(&body, &["jsonrpc"]).is_none() {
                self.forget_session();
            }
            if connection.last.is_some() && connection.status == Some(400) {
                // What it would go on from is forgotten.
                self.lost.extend(connection.ids.iter().filter_map(|id| self.numbers.get(id)));
                return;
            }
        }
        self.broke(connection);
    }

    /// A connection is over. A stream on which something is missing is torn.
    fn broke(&mut self, connection: Connection) {
        let missing: Vec<u64> = connection
            .ids
            .iter()
            .filter_map(|id| self.numbers.get(id).copied())
            .filter(|number| !self.answers.contains_key(number))
            .collect();
        if missing.is_empty() && !connection.standing {
            return;
        }
        match connection.last.clone() {
            Some(last) if !self.is_modern() && self.session.is_some() => self.torn.push((last, connection)),
            _ => self.lost.extend(missing),
        }
    }

    /// A connection is lost in the middle.
    pub fn cut(&mut self, request: RequestId) -> bool {
        let Some(connection) = self.connections.remove(&request) else { return false };
        self.broke(connection);
        true
    }

    /// The stream goes on under another request.
    pub fn resumes(&mut self, request: RequestId, (last, connection): (String, Connection)) {
        let (ids, standing) = (connection.ids, connection.standing);
        let again = Connection { ids, standing, last: Some(last), ..Connection::default() };
        self.connections.insert(request, again);
    }

    /// The session is over; the next one begins anew.
    pub fn forget_session(&mut self) {
        self.session = None;
        self.torn.clear();
        self.lost.extend(self.numbers.values().filter(|number| !self.answers.contains_key(number)));
        self.numbers.clear();
    }
}
