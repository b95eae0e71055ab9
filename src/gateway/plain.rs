//! The plain task API: what is asked of it, and its answers.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::Gateway;
use super::agent::Asked;
use super::serving::not_allowed;
use crate::a2a::asked::{ListQuery, query_json};
use crate::a2a::{State, View};
use crate::incoming::Endpoint;
use crate::incoming::access::Refusal;
use crate::io::{Headers, RequestId};
use crate::json::{self, Array, Json, Members, Object};
use crate::plain::{self, Ask, Fault, Place};
use crate::served::TaskNumber;
use crate::text;

mod discovering;
mod sending;
mod telling;

/// What a request leads to: an answer with its HTTP status, or something that is answered later.
type Done = Result<Option<(u16, Json)>, Fault>;

impl Gateway {
    /// A request below the API.
    pub(super) fn plain_request(
        &mut self,
        request: RequestId,
        (method, below, query): Asked<'_>,
        headers: Headers,
    ) -> Result<(), Refusal> {
        let place = plain::place(method, below, query).map_err(|allowed| match allowed {
            "" => Refusal::new(404, "there is nothing at this path"),
            allowed => not_allowed(allowed, "this method is not served here"),
        })?;
        if method == "POST" {
            return self.take_in(request, headers, Endpoint::Plain(Box::new(place)));
        }
        self.plain_place(request, &headers, place, &[]);
        Ok(())
    }

    /// A complete request.
    pub(super) fn plain_place(&mut self, request: RequestId, headers: &Headers, place: Place, bytes: &[u8]) {
        let owner = self.incoming.requests.get(&request).map(|served| served.principal.clone()).unwrap_or_default();
        self.open_owner(&owner);
        let query = query_json(&place.query);
        let query = query.members().unwrap_or_default();
        let done = match place.ask {
            Ask::Agents => self.plain_agents(&owner, &query),
            Ask::Discover => self.plain_discover(request, &owner, headers, bytes),
            Ask::Approve(url) => self.plain_approve(&owner, &url),
            Ask::Send => self.plain_send(request, &owner, headers, bytes),
            Ask::Status(id) => self.plain_status(request, &owner, &id, &query),
            Ask::Begin => return self.plain_begin(request, &owner, headers, bytes),
            Ask::List => self.plain_list(&owner, &query),
            Ask::Task(id) => {
                self.plain_find(&owner, &id, None).map(|number| self.plain_task(number, &id).map(|task| (200, task)))
            }
            Ask::Messages(id) => self.plain_messages(&owner, &id),
            Ask::Events(id) => self.plain_events(request, &owner, &id, headers),
            Ask::Cancel(id) => self.plain_cancel(&owner, &id),
        };
        self.plain_done(request, done);
    }

    fn plain_done(&mut self, request: RequestId, done: Done) {
        match done {
            Ok(Some((status, body))) => self.respond_json(request, status, body),
            Ok(None) => {}
            Err(fault) => {
                if let (Some(wait_ms), Some(served)) = (fault.retry_ms, self.incoming.requests.get_mut(&request)) {
                    served.common.push(("Retry-After".to_string(), wait_ms.div_ceil(1000).to_string()));
                }
                self.respond_json(request, fault.status, fault.write(request));
            }
        }
    }

    /// The members of a body.
    fn plain_body<'b>(&self, headers: &Headers, bytes: &'b [u8]) -> Result<Members<'b>, Fault> {
        let raw = self.body_value(headers, bytes)?;
        json::members(raw).ok_or_else(|| Fault::invalid("the body must be a JSON object"))
    }

    fn plain_find(&self, owner: &str, id: &str, agent: Option<&str>) -> Result<TaskNumber, Fault> {
        let none = || Fault::new(404, "task_not_found", text::joined(&["task ", id, " was not found"], ""));
        self.served.find_sent(owner, id, agent).ok_or_else(none)
    }

    fn plain_list(&self, owner: &str, query: &Members<'_>) -> Done {
        let state = query.string("state").map(|name| State::named(&name));
        if matches!(&state, Some(State::Unknown | State::Other(_))) {
            return Err(Fault::invalid("`state` is no state of a task"));
        }
        let page_size = count(query, "limit", 50, 1..=100)?;
        let page_token = query.string("cursor");
        let query = ListQuery { context_id: None, state, since: None, page_size, page_token, turns: None, artifacts: false };
        let page = self.served.page(&query, &|task| task.owner == owner && task.sent.is_none());
        let (page, next, _) = page.map_err(|_| Fault::invalid("`cursor` is none of this list"))?;
        let (mut items, mut out) = (Array::new(), Object::new());
        for number in page {
            if let Some(task) = self.shown(number, crate::a2a::Dialect::Rest10, View { artifacts: false, ..View::WHOLE }) {
                items.json(&task);
            }
        }
        out.nested("items", items).optional_string("next_cursor", next.as_deref());
        Ok(Some((200, out.finish())))
    }

    fn plain_cancel(&mut self, owner: &str, id: &str) -> Done {
        let number = self.plain_find(owner, id, None)?;
        if let Some(task) = self.served.get(number).filter(|task| task.state().is_terminal()) {
            let message = text::joined(&["task ", id, " has ended as ", &task.state().kebab()], "");
            return Err(Fault::new(409, "task_not_cancelable", message));
        }
        self.cancel(number)?;
        Ok(self.plain_task(number, id).map(|task| (200, task)))
    }
}

/// A whole number of a query.
fn count(query: &Members<'_>, name: &str, default: u64, range: core::ops::RangeInclusive<u64>) -> Result<u64, Fault> {
    let Some(given) = query.string(name) else { return Ok(default) };
    let number = text::whole(&given).filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (least, most) = (range.start().to_string(), range.end().to_string());
        Fault::invalid(text::joined(&["`", name, "` must be a whole number from ", &least, " to ", &most], ""))
    })
}

/// A string that has to be there.
fn required(members: &Members<'_>, names: &[&str]) -> Result<String, Fault> {
    let found = names.iter().find_map(|name| members.string(name)).filter(|text| !text.trim().is_empty());
    let name = names.first().copied().unwrap_or_default();
    found.ok_or_else(|| Fault::invalid(text::joined(&["`", name, "` must be a text"], "")))
}
