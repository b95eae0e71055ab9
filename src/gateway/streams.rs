//! What peers of the HTTP face are told: JSON while it is one quick answer, events once there is more.

use alloc::format;
use alloc::string::String;

use super::Gateway;
use super::posting::{batch, literal};
use crate::incoming::access::Refusal;
use crate::incoming::mcp as rules;
use crate::incoming::{Message, Stage, Waiting};
use crate::io::{Output, PeerId, RequestId};
use crate::jsonrpc::Id;
use crate::list::gather;
use crate::mcp::era::Era;

/// The version from which streams begin with an event that carries an id alone.
const PRIMED_VERSION: &str = "2025-11-25";

impl Gateway {
    /// Hands on what was said to peers of the HTTP face.
    pub(crate) fn route(&mut self) {
        while !self.ground.outbox.is_empty() {
            for message in core::mem::take(&mut self.ground.outbox) {
                let request = match self.incoming.alone.get(&message.peer) {
                    Some(request) => Some(*request),
                    None => self.reader_of(&message),
                };
                match request {
                    Some(request) => self.tell(request, message),
                    None => self.keep_for_later(&message),
                }
            }
        }
    }

    fn reader_of(&self, message: &Message) -> Option<RequestId> {
        let session = self.incoming.sessions.get(self.incoming.session_of.get(&message.peer)?.as_str())?;
        match message.about.as_deref() {
            Some(about) => session.route(about)?.1,
            None => session.standing()?.1,
        }
    }

    /// Nobody reads: the event is kept for who comes back.
    fn keep_for_later(&mut self, message: &Message) {
        let Some(name) = self.incoming.session_of.get(&message.peer) else { return };
        let Some(session) = self.incoming.sessions.get_mut(name.as_str()) else { return };
        let about = message.about.as_deref();
        let stream = about.map_or_else(|| session.standing(), |about| session.route(about));
        let Some((stream, _)) = stream else { return };
        session.event(stream, message.text.as_str(), &self.ground.config.limits);
        if let Some(about) = about.filter(|_| message.last) {
            session.answered(about);
        }
    }

    pub(super) fn waiting(&mut self, request: RequestId) -> Option<&mut Waiting> {
        match &mut self.incoming.requests.get_mut(&request)?.stage {
            Stage::Waiting(waiting) => Some(waiting),
            Stage::Body { .. } | Stage::Refused | Stage::Watching(_) | Stage::Calling(_) | Stage::Looking(_) => None,
        }
    }

    fn tell(&mut self, request: RequestId, message: Message) {
        let (last, about) = (message.last, message.about.clone());
        let limit = self.ground.config.limits.answer_bytes;
        let Some(waiting) = self.waiting(request) else { return };
        // Of answers to a batch that are too much for one text each is an event.
        let bytes = waiting.answers.iter().map(|known| known.text.as_str().len()).sum::<usize>() + message.text.as_str().len();
        let is_large = !waiting.answers.is_empty() && u64::try_from(bytes).is_ok_and(|bytes| bytes > limit);
        if waiting.streaming || !last || is_large {
            if !waiting.streaming {
                self.start_stream(request, true);
            }
            self.event(request, message.text.as_str());
        } else {
            waiting.answers.push(message);
        }
        if let Some(about) = about.filter(|_| last) {
            self.settle(request, &about);
        }
    }

    /// Nothing more comes about a request; the response ends where it was the last one.
    fn settle(&mut self, request: RequestId, about: &str) {
        let Some(waiting) = self.waiting(request) else { return };
        waiting.open.retain(|id| id != about);
        let done = waiting.open.is_empty() && !waiting.standing;
        let plain = !waiting.streaming && !waiting.answers.is_empty();
        if let Some((name, _)) = waiting.stream.clone()
            && let Some(session) = self.incoming.sessions.get_mut(&name)
        {
            session.answered(about);
        }
        match (done, plain) {
            (true, true) => self.end_plainly(request),
            (true, false) => {
                // A response without an answer, whose request was cancelled, is a stream without events.
                if self.waiting(request).is_some_and(|waiting| !waiting.streaming) {
                    self.start_stream(request, false);
                }
                self.end_stream(request, Refusal::new(503, ""));
            }
            (false, _) => {}
        }
    }

    /// A cancelled request of a session is never answered.
    pub(super) fn give_up(&mut self, peer: PeerId, id: &Id) {
        let about = literal(id);
        let Some(name) = self.incoming.session_of.get(&peer) else { return };
        let Some(session) = self.incoming.sessions.get_mut(name.as_str()) else { return };
        match session.route(&about) {
            Some((_, Some(reader))) => self.settle(reader, &about),
            Some((_, None)) => session.answered(&about),
            None => {}
        }
    }

    /// One answer as JSON; the answers to a batch as an array.
    fn end_plainly(&mut self, request: RequestId) {
        let Some(waiting) = self.waiting(request) else { return };
        let (era, answers, several) = (waiting.era, core::mem::take(&mut waiting.answers), waiting.batch);
        let code = answers.first().and_then(|message| message.code);
        let status = match era {
            Era::Modern => rules::status_of(code),
            Era::Legacy => 200,
        };
        let body = match <[Message; 1]>::try_from(answers) {
            Ok([one]) if !several => one.text,
            Ok(one) => batch(&one),
            Err(answers) => batch(&answers),
        };
        self.forget_waiting(request);
        self.respond_json(request, status, body);
    }

    /// Turns a response into a stream; a new one begins with an event that carries an id.
    pub(super) fn start_stream(&mut self, request: RequestId, primed: bool) {
        let Some(waiting) = self.waiting(request) else { return };
        waiting.streaming = true;
        let answers = core::mem::take(&mut waiting.answers);
        let peer = waiting.peer;
        self.respond_events(request);
        let version = self.peers.get(&peer).and_then(|session| session.version);
        if primed && version == Some(PRIMED_VERSION) {
            self.event(request, "");
        }
        for answer in answers {
            self.event(request, answer.text.as_str());
        }
    }

    /// One event of a response. In a session it has an id and is kept.
    fn event(&mut self, request: RequestId, data: &str) {
        let stream = self.waiting(request).and_then(|waiting| waiting.stream.clone());
        let text = match stream {
            Some((name, stream)) => match self.incoming.sessions.get_mut(&name) {
                Some(session) => session.event(stream, data, &self.ground.config.limits),
                None => return,
            },
            None => format!("event: message\ndata: {data}\n\n"),
        };
        self.ground.outputs.push_back(Output::ResponseBody { request, text });
    }

    /// Completes a response that is a stream; one that is none is refused.
    pub(super) fn end_stream(&mut self, request: RequestId, refusal: Refusal) {
        let streaming = self.waiting(request).is_some_and(|waiting| waiting.streaming);
        self.forget_waiting(request);
        if streaming {
            self.ground.outputs.push_back(Output::ResponseEnd { request });
            self.incoming.remove(request);
        } else {
            self.refuse(request, refusal);
        }
    }

    /// Ends the response of a reader whose stream somebody else goes on reading.
    pub(super) fn part(&mut self, reader: RequestId) {
        if self.incoming.remove(reader).is_some() {
            self.ground.outputs.push_back(Output::ResponseEnd { request: reader });
        }
    }

    /// Takes what a response waits for out of the books.
    fn forget_waiting(&mut self, request: RequestId) {
        let Some(served) = self.incoming.requests.get_mut(&request) else { return };
        let Stage::Waiting(waiting) = core::mem::replace(&mut served.stage, Stage::Refused) else { return };
        self.incoming.keep_alive.remove(&(waiting.comment_at, request));
        self.let_go(waiting, false);
    }

    /// Nobody reads a response any more: a stream of a session stays for who comes back, a peer of one request goes.
    pub(super) fn let_go(&mut self, waiting: Waiting, cancelled: bool) {
        match waiting.stream {
            Some((name, stream)) => {
                if let Some(session) = self.incoming.sessions.get_mut(&name) {
                    session.leave(stream);
                }
            }
            None => {
                self.incoming.alone.remove(&waiting.peer);
                self.leave(waiting.peer, cancelled);
            }
        }
    }

    /// Comments on streams that were silent for a while; an answer that is slow becomes a stream.
    pub(super) fn keep_alive(&mut self) {
        let now = self.ground.now;
        let due =
            gather(self.incoming.keep_alive.iter().take_while(|((at, _), ())| *at <= now).map(|((_, request), ())| *request));
        for request in due {
            if self.plain_late(request) || self.looked_too_long(request) || self.begin_silent(request) {
                continue;
            }
            if !self.incoming.comment_later(request, now) {
                continue;
            }
            if self.waiting(request).is_some_and(|waiting| !waiting.streaming) {
                self.start_stream(request, true);
            }
            self.ground.outputs.push_back(Output::ResponseBody { request, text: String::from(": keep-alive\n\n") });
        }
    }
}
