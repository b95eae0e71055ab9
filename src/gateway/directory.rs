//! The directory over HTTP: `GET /agents`, `PUT` and `DELETE /agents/{name}`; and what the host says about it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Gateway;
use super::agent::Asked;
use super::card::{fnv, is_known};
use super::serving::{busy, not_allowed};
use crate::call::Work;
use crate::call::task::TIMEOUT_MS;
use crate::directory::listing::{HELP, Listing};
use crate::directory::lookups::{self, Asker};
use crate::directory::{Bounds, PROGRAM, Question, Refused, Registered};
use crate::http;
use crate::incoming::access::{self, Refusal};
use crate::incoming::{Endpoint, Looking, Served, Stage};
use crate::io::{DirectoryInput, Headers, LookupId, Misuse, Output, RequestId};
use crate::json::{Json, Object};
use crate::text;
use crate::url::{form_decode, is_form_text, percent_encode};

const PATH: &str = "/agents";
const BELOW: &str = "/agents/";

impl Gateway {
    /// Whether the directory is at that path.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        self.ground.config.directory.is_served() && (path == PATH || path.starts_with(BELOW))
    }

    /// Whether everybody may ask for that: the directory is read without a token.
    pub(super) fn is_directory_read(&self, path: &str, method: &str) -> bool {
        matches!(method, "GET" | "HEAD") && self.is_directory(path)
    }

    /// A request at a path of the directory.
    pub(super) fn directory_request(
        &mut self,
        request: RequestId,
        (method, path, query): Asked<'_>,
        headers: Headers,
    ) -> Result<(), Refusal> {
        let not_served = |methods| Err(not_allowed(methods, "this method is not served here"));
        let Some(name) = path.strip_prefix(BELOW) else {
            return match method {
                "GET" | "HEAD" => {
                    self.list_cards(request, query, &headers);
                    Ok(())
                }
                _ => not_served("GET, HEAD"),
            };
        };
        if self.ground.config.directory.store.is_some() {
            return not_served("");
        }
        if !matches!(method, "PUT" | "DELETE") {
            return not_served("PUT, DELETE");
        }
        let principal = self.principal_of(request);
        if !access::may_register(&self.ground.config.server, &headers) {
            return Err(Refusal::new(403, "this token may not register: give it may_register in auth.tokens"));
        }
        if !is_form_text(name) {
            return Err(Refusal::new(400, "the name is no UTF-8"));
        }
        // A plus is a plus in a path.
        let name = form_decode(&name.replace('+', "%2B"));
        if method == "PUT" {
            return self.take_in(request, headers, Endpoint::Card(name));
        }
        match self.ground.directory.unregister(&principal, &name) {
            Ok(()) => {
                let common = self.common(request);
                self.respond(request, 204, common, String::new());
            }
            Err(refused) => self.refuse_card(request, &refused),
        }
        Ok(())
    }

    fn principal_of(&self, request: RequestId) -> String {
        self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default()
    }

    /// A card that was put.
    pub(super) fn put_card(&mut self, request: RequestId, name: &str, body: Vec<u8>) {
        let (principal, bounds) = (self.principal_of(request), Bounds::of(&self.ground.config.limits));
        let text = String::from_utf8(body).map_err(|_| Refused::Card("the body is no UTF-8".to_string()));
        match text.and_then(|text| self.ground.directory.register(&principal, Some(name), &text, bounds)) {
            Ok(registered) => {
                let status = if registered == Registered::New { 201 } else { 200 };
                let card = self.ground.directory.card(name).map_or_else(Json::null, Clone::clone);
                self.respond_json(request, status, card);
            }
            Err(refused) => self.refuse_card(request, &refused),
        }
    }

    fn refuse_card(&mut self, request: RequestId, refused: &Refused) {
        let (status, code) = match refused {
            Refused::Card(_) => (400, "invalid_argument"),
            Refused::Owner => (403, "not_allowed"),
            Refused::Unknown => (404, "not_found"),
            Refused::Full => (507, "too_large"),
            Refused::Closed => (405, "unsupported"),
        };
        self.refuse_in_json(request, status, code, &refused.to_string());
    }

    fn refuse_in_json(&mut self, request: RequestId, status: u16, code: &str, message: &str) {
        let (mut error, mut out) = (Object::new(), Object::new());
        error.string("code", code).string("message", message);
        out.nested("error", error);
        self.respond_json(request, status, out.finish());
    }

    fn list_cards(&mut self, request: RequestId, query: &str, headers: &Headers) {
        let known = http::header(headers, "if-none-match").unwrap_or_default().to_string();
        let mut wanted =
            Looking { lookup: None, until: self.ground.now, question: Question::default(), with_token: false, known };
        if !is_form_text(query) {
            return self.refuse_in_json(request, 400, "invalid_argument", "the query is no UTF-8");
        }
        for (name, value) in query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
            let (name, value) = (form_decode(name), form_decode(value));
            match name.as_str() {
                "help" if value == "true" => {
                    let help = Json::trusted(format!(r#"{{"cards":[],"help":{HELP}}}"#));
                    return self.respond_json(request, 200, help);
                }
                "filter" => wanted.question.filter = value,
                "limit" => {
                    wanted.question.limit = text::whole(&value).filter(|limit| *limit > 0);
                    if wanted.question.limit.is_none() {
                        let message = "`limit` must be a whole number of at least 1";
                        return self.refuse_in_json(request, 400, "invalid_argument", message);
                    }
                }
                "cursor" => (wanted.with_token, wanted.question.cursor) = (true, Some(value).filter(|value| !value.is_empty())),
                // Of a link: it goes on as it began.
                "page" => wanted.question.cursor = Some(value).filter(|value| !value.is_empty()),
                _ => {}
            }
        }
        let Some(store) = self.ground.config.directory.store else {
            let page = self.ground.directory.page(&wanted.question);
            return match page {
                Ok(listing) => self.respond_listing(request, &wanted, &listing),
                Err(fault) => self.refuse_in_json(request, 400, "invalid_argument", &fault.to_string()),
            };
        };
        // Everybody reads, so nobody's room is taken: what waits for the host is bounded as a whole.
        if self.ground.lookups.len() >= self.ground.config.limits.requests {
            return self.refuse(request, busy("as many look into the host's directory as the limit `requests` allows"));
        }
        match self.ground.lookups.begin(store, Asker::Request(request), wanted.question.clone()) {
            Ok(lookup) => {
                if let Some(served) = self.incoming.requests.get_mut(&request) {
                    wanted.lookup = Some(lookup.lookup);
                    wanted.until = self.ground.now.plus_ms(TIMEOUT_MS);
                    self.incoming.keep_alive.insert((wanted.until, request), ());
                    served.stage = Stage::Looking(wanted.into());
                }
                self.ground.outputs.push_back(Output::Lookup(lookup));
            }
            Err(fault) => self.refuse_in_json(request, 400, "invalid_argument", &fault.to_string()),
        }
    }

    fn respond_listing(&mut self, request: RequestId, wanted: &Looking, listing: &Listing) {
        let mut fields = self.common_kept(request);
        let link = listing.next.as_ref().map(|next| link(wanted, next)).unwrap_or_default();
        let body = if wanted.with_token { listing.to_json() } else { listing.cards.clone() };
        // What is linked belongs to the version.
        let tag = format!("\"{:016x}\"", fnv(body.as_str().as_bytes()) ^ fnv(link.as_bytes()));
        if !link.is_empty() {
            fields.push(("Link".to_string(), link));
        }
        fields.push(("ETag".to_string(), tag.clone()));
        fields.push(("Cache-Control".to_string(), "no-cache".to_string()));
        if is_known(&wanted.known, &tag) {
            return self.respond(request, 304, fields, String::new());
        }
        fields.push(("Content-Type".to_string(), "application/json".to_string()));
        self.respond(request, 200, fields, body.into_string());
    }

    /// What the host says about the directory.
    pub(super) fn directory_input(&mut self, input: DirectoryInput) -> Result<(), Misuse> {
        let changed = match input {
            DirectoryInput::Found { lookup, text } => return self.looked_up(lookup, Ok(text)),
            DirectoryInput::Failed { lookup, bad_cursor, detail } => return self.looked_up(lookup, Err((bad_cursor, detail))),
            DirectoryInput::Register { .. } | DirectoryInput::Unregister { .. } if !self.ground.config.directory.is_own() => {
                Err(Refused::Closed)
            }
            DirectoryInput::Register { card } => {
                let bounds = Bounds::of(&self.ground.config.limits);
                self.ground.directory.register(PROGRAM, None, &card, bounds).map(|_| ())
            }
            DirectoryInput::Unregister { name } => self.ground.directory.unregister(PROGRAM, &name),
        };
        changed.map_err(Misuse::Directory)
    }

    /// What a lookup gave, or whether the cursor was at fault and why it failed.
    fn looked_up(&mut self, lookup: LookupId, found: Result<String, (bool, String)>) -> Result<(), Misuse> {
        let taken = self.ground.lookups.take(lookup).map_err(Misuse::LookupUnknown)?;
        let (Some((asker, question)), Some(store)) = (taken, self.ground.config.directory.store) else { return Ok(()) };
        let depth = self.ground.config.limits.depth();
        let found = found.and_then(|text| lookups::read(store, &question, &text, depth).map_err(|detail| (false, detail)));
        match asker {
            Asker::Request(request) => self.looked_up_for(request, lookup, found),
            Asker::Call(call) => self.work(call, |work, _| match work {
                Work::Directory(asking) => asking.found(lookup, found),
                Work::Connect(_) | Work::Card(_) | Work::Send(_) | Work::Task(_) | Work::Broadcast(_) => None,
                Work::Ping(_) | Work::Push(_) | Work::Asking(_) | Work::Linked(_) | Work::Approving(_) | Work::Kept(_) => None,
            }),
        }
        Ok(())
    }

    /// The host looks for too long. Whether the request was one that waits for that.
    pub(super) fn looked_too_long(&mut self, request: RequestId) -> bool {
        let Some(Served { stage: Stage::Looking(wanted), .. }) = self.incoming.requests.get(&request) else { return false };
        if let Some(lookup) = wanted.lookup {
            self.ground.lookups.forget(lookup);
        }
        self.refuse_in_json(request, 504, "timeout", "the host did not look into its directory in 30 seconds");
        true
    }

    fn looked_up_for(&mut self, request: RequestId, lookup: LookupId, found: Result<Listing, (bool, String)>) {
        // The number of a request whose asker left may be another's by now.
        let Some(Served { stage: Stage::Looking(wanted), .. }) = self.incoming.requests.get(&request) else { return };
        if wanted.lookup != Some(lookup) {
            return;
        }
        let wanted = wanted.clone();
        match found {
            Ok(listing) => self.respond_listing(request, &wanted, &listing),
            Err((true, detail)) => self.refuse_in_json(request, 400, "invalid_argument", &detail),
            Err((false, detail)) => self.refuse_in_json(request, 502, "unreachable", &detail),
        }
    }
}

/// The next page (RFC 8288).
fn link(wanted: &Looking, next: &str) -> String {
    let mut link = String::from("</agents?");
    let limit = wanted.question.limit.map(|limit| limit.to_string()).unwrap_or_default();
    let place = if wanted.with_token { "cursor" } else { "page" };
    for (name, value) in [("filter", wanted.question.filter.as_str()), ("limit", &limit), (place, next)] {
        if value.is_empty() {
            continue;
        }
        if !link.ends_with('?') {
            link.push('&');
        }
        link.push_str(name);
        link.push('=');
        percent_encode(&mut link, value);
    }
    link.push_str(">; rel=\"next\"");
    link
}
