//! What a server asks its client for: forms, links, folders, samples (MCP 2025-11-25, client features). It is for the
//! client of a call; which call that is the stream of its request says, and else the calls that run.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::connection::{Asked, Link};
use super::{Outside, Report, ServerQuestion};
use crate::json::{self, Json, Object, Raw};
use crate::jsonrpc::{self, Id, METHOD_NOT_FOUND};
use crate::mcp::asks::Ask;

impl Link {
    /// A request of the server's. `about` is the request of ours on whose stream it came.
    pub(super) fn requested(
        &mut self,
        out: &mut Outside<'_>,
        (id, method, params): (Id, &str, Option<Raw<'_>>),
        about: Option<u64>,
        reports: &mut Vec<Report>,
    ) {
        if method == "ping" {
            return self.answer(out, &id, Ok(Object::new().finish()));
        }
        let members = params.and_then(json::members).unwrap_or_default();
        let Some(ask) = Ask::read(method, &members) else {
            return self.answer(out, &id, Err((METHOD_NOT_FOUND, "this client does not serve that".into())));
        };
        let mut calls = Vec::new();
        for (number, asked) in self.pending.iter() {
            if let Asked::Call(order) = asked
                && about.is_none_or(|about| about == *number)
            {
                calls.push(order.call);
            }
        }
        let params = params.map_or_else(|| Object::new().finish(), Json::from_raw);
        reports.push(Report::Asks(Box::new(ServerQuestion { server: self.number, id, ask, params, calls })));
    }

    /// Answers a request of the server's.
    pub(super) fn answer(&mut self, out: &mut Outside<'_>, id: &Id, outcome: Result<Json, (i64, String)>) {
        let text = match outcome {
            Ok(result) => jsonrpc::result(id, &result),
            Err((code, words)) => jsonrpc::error(Some(id), code, &words, None),
        };
        self.say(out, "", text);
    }

    /// The server takes a request back.
    pub(super) fn unasked(&self, params: Option<Raw<'_>>, reports: &mut Vec<Report>) {
        let id = params.and_then(json::members).and_then(|members| members.get("requestId").and_then(Id::read));
        reports.extend(id.map(|id| Report::Unasks(self.number, id)));
    }
}
