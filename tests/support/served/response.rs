//! Responses: their heads, events and ends, and what had to come of each request.

use narrows::io::{Headers, Output, RequestId};
use narrows::json;

use super::super::rule::{Rule, under};
use super::super::session::{Session, event_id};
use super::super::text::{at, raw};
use super::super::watch::{Life, Watch};
use super::{Asked, COMMENT_MS, Owed, Stage, Waiting, field};

impl Watch {
    /// Takes a piece of a response in.
    pub(in super::super) fn serves(&mut self, output: &Output) {
        match output {
            Output::ResponseHead { request, status, headers } => self.head(*request, *status, headers),
            Output::ResponseBody { request, text } => {
                let asked = self.served.requests.get_mut(request).expect("a body belongs to a request that runs");
                assert!(asked.status.is_some(), "the head comes before the body");
                if !asked.streaming {
                    return asked.body.push_str(text);
                }
                assert!(text.ends_with("\n\n"), "events are told whole: {text:?}");
                text.split_inclusive("\n\n").for_each(|event| self.event(*request, event));
            }
            Output::ResponseEnd { request } => self.end(*request),
            Output::Message { .. } | Output::Fetch { .. } | Output::Abort { .. } | Output::Notice(_) => {}
            Output::Save(_)
            | Output::Work { .. }
            | Output::WorkAbort { .. }
            | Output::Link { .. }
            | Output::Tokens { .. }
            | Output::Lookup(_) => {}
        }
    }

    fn head(&mut self, request: RequestId, status: u16, headers: &Headers) {
        let asked = self.served.requests.get_mut(&request).expect("a head belongs to a request that runs");
        assert_eq!(asked.status.replace(status), None, "a response has one head");
        asked.streaming = field(headers, "content-type") == Some("text/event-stream");
        let principal = asked.principal.clone();
        let name = field(headers, "mcp-session-id");
        let Stage::Waiting(waiting) = &mut asked.stage else {
            assert_eq!(name, None, "only an accepted handshake names a session");
            return;
        };
        if waiting.batch && status == 200 {
            waiting.calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().unread = false);
        }
        if waiting.resumes && status == 200 {
            let (stream, calls) = (waiting.stream.clone(), waiting.calls.clone());
            calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().unread = false);
            let (name, stream) = stream.unwrap();
            self.served.sessions.get_mut(&name).unwrap().streams.get_mut(&stream).unwrap().reader = Some(request);
        }
        let Some(version) = waiting.opens.take().filter(|_| status != 503) else {
            assert_eq!(name, None, "only a handshake names a session");
            return;
        };
        let (peer, calls) = (waiting.peer, waiting.calls.clone());
        let name = name.expect("a handshake names its session").to_owned();
        waiting.stream = Some((name.clone(), 1));
        under(Rule::Restore, || assert!(self.served.names.insert(name.clone()), "the name of a session comes once: {name}"));
        let mut session = Session::new(principal, peer, version, self.now);
        session.open(request, calls);
        self.served.words.push((self.served.scopes[&peer].clone(), name.clone()));
        self.served.sessions.insert(name, session);
    }

    fn event(&mut self, request: RequestId, event: &str) {
        let now = self.now;
        let Some(Asked { stage: Stage::Waiting(waiting), .. }) = self.served.requests.get_mut(&request) else {
            panic!("an event for nobody: {event}")
        };
        if event.starts_with(':') {
            waiting.comment_at = now.plus_ms(COMMENT_MS);
            return;
        }
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let (id, data, peer) = (line("id: "), line("data:").unwrap_or_default(), waiting.peer);
        let scarce = self.served.config.limits.session_event_bytes < 1 << 20 && waiting.resumes;
        match &waiting.stream {
            Some((name, stream)) => {
                if let Some((_, number)) = id.as_deref().and_then(event_id).filter(|_| scarce) {
                    waiting.next_event = waiting.next_event.max(number);
                }
                let expected = format!("{stream}-{}", waiting.next_event);
                assert_eq!(id.as_deref(), Some(expected.as_str()), "no event twice, none lost: {event}");
                waiting.next_event += 1;
                let (number, name, stream) = (waiting.next_event - 1, name.clone(), *stream);
                let is_new =
                    self.served.sessions.get_mut(&name).is_none_or(|session| session.event(stream, number, event, scarce));
                if !is_new {
                    return;
                }
            }
            None => assert_eq!(id, None, "no event of this era can be asked for again: {event}"),
        }
        let data = data.trim_start();
        if !data.is_empty() {
            self.check_words(peer, data);
            self.said(peer, data);
        }
    }

    fn end(&mut self, request: RequestId) {
        let asked = self.served.requests.remove(&request).expect("an end belongs to a request that runs");
        let status = asked.status.expect("the head comes before the end");
        self.served.ended.insert(request, status);
        let Stage::Waiting(waiting) = asked.stage else { return };
        if !asked.streaming {
            self.ended_plainly(&waiting, status, &asked.body);
        }
        match &waiting.stream {
            Some((name, stream)) => {
                let log = self.served.sessions.get_mut(name).and_then(|session| session.streams.get_mut(stream));
                if let Some(log) = log.filter(|log| log.reader == Some(request)) {
                    log.reader = None;
                    self.served.parted.push((name.clone(), *stream, status));
                }
            }
            None if status == 503 && !asked.streaming => {
                // There was no room for one more session.
                waiting.calls.iter().for_each(|call| self.calls.get_mut(call).unwrap().life = Life::Lost);
                self.forget_client(waiting.peer);
            }
            None => {
                let open = waiting.calls.iter().find(|call| self.calls[call].life == Life::Running);
                assert_eq!(open, None, "every call of a response is answered by it");
                self.forget_client(waiting.peer);
            }
        }
    }

    /// A response that is no stream: one answer, those of a batch, or a refusal of the whole.
    fn ended_plainly(&mut self, waiting: &Waiting, status: u16, body: &str) {
        if json::parse(body, 200).is_err() {
            // In plain words: the session ended, the gateway stops, or the stream has another reader.
            assert!([400, 404, 503].contains(&status), "{status} {body}");
            return;
        }
        self.check_words(waiting.peer, body);
        let list = json::elements(raw(body)).map(|list| list.iter().map(|element| element.get().to_owned()).collect());
        assert_eq!(list.is_some(), waiting.batch, "a batch is answered by a list, a call by an object: {body}");
        let list: Vec<String> = list.unwrap_or_else(|| vec![body.to_owned()]);
        let code = at(&list[0], &["error", "code"]);
        let is_modern = waiting.stream.is_none();
        let expected = match code.as_deref() {
            Some("-32601") if is_modern => 404,
            Some("-32020" | "-32022") if is_modern => 400,
            Some(_) | None => 200,
        };
        assert_eq!(status, expected, "{body}");
        list.iter().for_each(|text| self.said(waiting.peer, text));
    }

    /// After the outputs of a step: what had to come of it came, and no response waits for nothing.
    pub(in super::super) fn owed(&mut self) {
        for (request, owed) in std::mem::take(&mut self.served.owed) {
            let ended = self.served.ended.get(&request).copied();
            let asked = self.served.requests.get(&request);
            match owed {
                Owed::Status(status) => assert_eq!(ended, Some(status), "the status of request {}", request.0),
                Owed::End => assert!(ended.is_some(), "request {} ends", request.0),
                Owed::Stream => {
                    let streams = asked.is_some_and(|asked| asked.streaming);
                    assert!(streams || ended == Some(200), "request {} is answered by a stream", request.0);
                }
                Owed::Anything => {}
            }
        }
        for (request, name) in std::mem::take(&mut self.served.doubts) {
            // The id was free: the answer had a stream of its own.
            let session = self.served.sessions.get_mut(&name);
            if let Some(session) = session.filter(|_| self.served.ended.get(&request) == Some(&200)) {
                let stream = session.open(request, Vec::new());
                session.leave(stream);
            }
        }
        self.served.ended.clear();
        // A stream ends before its answers only where another reader goes on with it, or where the gateway stops.
        for (name, stream, status) in std::mem::take(&mut self.served.parted) {
            let Some(log) = self.served.sessions.get(&name).and_then(|session| session.streams.get(&stream)) else { continue };
            let open = log.calls.iter().find(|call| self.calls[call].life == Life::Running);
            let excused = log.reader.is_some() || self.served.stopping && status == 503;
            if let Some(call) = open.filter(|_| !excused) {
                let call = self.calls.get_mut(call).unwrap();
                assert!(call.late_cancel, "not answered: {call:?}");
                call.life = Life::Cancelled;
            }
        }
        for (request, asked) in &self.served.requests {
            match &asked.stage {
                Stage::Refused => panic!("request {} was refused and goes on", request.0),
                Stage::Body(..) => assert_eq!(asked.status, None, "a body that is not whole has no answer"),
                Stage::Waiting(waiting) => {
                    let open = waiting.calls.iter().any(|call| self.calls[call].life == Life::Running);
                    assert!(open || waiting.standing, "request {} waits for nothing", request.0);
                }
            }
        }
    }
}
