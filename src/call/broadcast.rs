//! One message to several agents at once; none waits for another.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::send::Send;
use super::{Ended, Run, Work, fitting};
use crate::exchange::Report;
use crate::io::{Deadline, ExchangeId};
use crate::json::{self, Json, Object};
use crate::mcp::outcome::{Code, ToolError, ToolResult};
use crate::mcp::tool::Started;
use crate::text;

/// What became of one agent, or is becoming.
#[derive(Debug)]
pub enum Part {
    /// it was not sent to
    Skipped(String),
    /// it runs
    Running(Box<Send>),
    /// it ended
    Ended(Ended),
}

/// A broadcast_message.
#[derive(Debug)]
pub struct Broadcast {
    parts: Vec<(String, Part)>,
    /// how many bytes the answers that are still to come may take
    room: u64,
}

impl Broadcast {
    /// Waits for those that run.
    pub fn start(run: &mut Run<'_>, parts: Vec<(String, Part)>) -> Result<Started, ToolError> {
        let limit = run.ground.config.limits.answer_bytes;
        // Whose answer finds no room is still told why.
        let reserved = fitting::LEFT * u64::try_from(parts.len()).unwrap_or(u64::MAX);
        let mut work = Self { parts, room: fitting::room(limit).saturating_sub(reserved) };
        for (alias, part) in &mut work.parts {
            match part {
                Part::Running(_) => {}
                Part::Skipped(why) => work.room = work.room.saturating_sub(fitting::text(why) * 2),
                Part::Ended(ended) => {
                    let whole = core::mem::replace(ended, Err(ToolError::new(Code::Internal, "")));
                    *ended = fit(whole, alias, &mut work.room, limit);
                }
            }
        }
        for (alias, part) in &work.parts {
            match part {
                Part::Running(_) => {}
                Part::Skipped(_) | Part::Ended(_) => work.tell(run, alias),
            }
        }
        match work.outcome() {
            Some(ended) => ended.map(Started::Done),
            None => Ok(Started::Running(Box::new(Work::Broadcast(work)))),
        }
    }

    /// One notification per agent finished, with the number of all.
    fn tell(&self, run: &mut Run<'_>, alias: &str) {
        let total = u64::try_from(self.parts.len()).unwrap_or(u64::MAX);
        run.progress_of(&format!("{alias} is done"), total);
    }

    fn act(&mut self, run: &mut Run<'_>, mut act: impl FnMut(&mut Send, &mut Run<'_>) -> Option<Ended>) -> Option<Ended> {
        let (mut done, limit) = (Vec::new(), run.ground.config.limits.answer_bytes);
        for (alias, part) in &mut self.parts {
            let Part::Running(send) = part else { continue };
            let call = run.caller.call;
            if let Some(ended) = run.alone(call, |run| act(send, run)) {
                *part = Part::Ended(fit(ended, alias, &mut self.room, limit));
                done.push(alias.clone());
            }
        }
        for alias in &done {
            self.tell(run, alias);
        }
        if done.is_empty() { None } else { self.outcome() }
    }

    /// Takes a report in.
    pub fn report(&mut self, run: &mut Run<'_>, exchange: ExchangeId, report: Report<'_>) -> Option<Ended> {
        let mut report = Some(report);
        self.act(run, |send, run| {
            if !send.awaits(exchange) {
                return None;
            }
            report.take().and_then(|report| send.report(run, exchange, report))
        })
    }

    /// Does what is due.
    pub fn due(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.act(run, |send, run| send.due(run))
    }

    /// A look-up of the card of one of its agents has ended.
    pub fn looked_up(&mut self, run: &mut Run<'_>) -> Option<Ended> {
        self.act(run, |send, run| send.looked_up(run))
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let running = self.parts.iter().filter_map(|(_, part)| match part {
            Part::Running(send) => send.deadline(),
            Part::Skipped(_) | Part::Ended(_) => None,
        });
        running.min_by_key(|deadline| deadline.at)
    }

    /// Stops all that run.
    pub fn stop(&mut self, run: &mut Run<'_>, cancelled: bool) {
        for (_, part) in &mut self.parts {
            if let Part::Running(send) = part {
                send.stop(run, cancelled);
            }
        }
    }

    /// Ends all that run with the same error.
    pub fn interrupt(&mut self, run: &mut Run<'_>, error: &ToolError) {
        for (_, part) in &mut self.parts {
            if let Part::Running(send) = part {
                let _ = send.fail(run, error.clone());
            }
        }
    }

    /// Ends the send to an alias that was disconnected; the result once all have ended.
    pub fn disconnect(&mut self, run: &mut Run<'_>, alias: &str) -> Option<Ended> {
        self.act(run, |send, run| {
            if send.target().alias.as_ref().is_none_or(|(known, _)| known != alias) {
                return None;
            }
            let message = format!("agent '{alias}' was disconnected while this broadcast was running");
            Some(send.fail(run, ToolError::new(Code::Canceled, message)))
        })
    }

    /// The aliases whose sends run.
    pub fn running(&self) -> impl Iterator<Item = &str> {
        self.sends().map(|(alias, _)| alias)
    }

    /// The sends that run.
    pub fn sends(&self) -> impl Iterator<Item = (&str, &Send)> {
        self.parts.iter().filter_map(|(alias, part)| match part {
            Part::Running(send) => Some((alias.as_str(), &**send)),
            Part::Skipped(_) | Part::Ended(_) => None,
        })
    }

    /// The result, once every agent has one.
    fn outcome(&self) -> Option<Ended> {
        let (mut results, mut lines) = (Object::new(), Vec::new());
        let (mut succeeded, mut failed) = (0_u64, 0_u64);
        for (alias, part) in &self.parts {
            let (entry, line, success) = match part {
                Part::Running(_) => return None,
                Part::Skipped(why) => skipped(why),
                Part::Ended(Ok(result)) => success_entry(result),
                Part::Ended(Err(error)) => error_entry(error),
            };
            results.json(alias, &entry);
            lines.push(format!("{alias}: {line}"));
            if success {
                succeeded += 1;
            } else {
                failed += 1;
            }
        }
        let mut out = Object::new();
        out.nested("results", results).integer("succeeded", succeeded).integer("failed", failed);
        let text = format!("Answered: {succeeded} of {}.\n{}", succeeded + failed, text::joined(&lines, "\n"));
        let mut result = ToolResult::new(text, out);
        result.is_error = succeeded == 0;
        Some(Ok(result))
    }
}

/// An outcome that the room is left for, or an error of this agent alone. What came first has it.
fn fit(ended: Ended, alias: &str, room: &mut u64, limit: u64) -> Ended {
    // The text of an answer stands beside it too, as its response.
    let around = |ended: &Ended| {
        let response = ended.as_ref().ok().and_then(|result| result.texts.first()).map_or(0, |text| fitting::text(text));
        response + fitting::text(alias) * 2
    };
    let free = room.saturating_sub(around(&ended));
    let ended = fitting::within(ended, free, limit);
    *room = room.saturating_sub(fitting::bytes(&ended) + around(&ended));
    ended
}

fn skipped(why: &str) -> (Json, String, bool) {
    let mut entry = Object::new();
    entry.string("status", "skipped").string("response", why);
    (entry.finish(), format!("skipped: {why}"), false)
}

fn success_entry(result: &ToolResult) -> (Json, String, bool) {
    let members = result.structured.members().unwrap_or_default();
    let status = members.get("task").and_then(json::members).and_then(|task| task.get("status")).and_then(json::members);
    let state = status.and_then(|status| status.string("state")).map(|name| crate::a2a::State::named(&name));
    let state = match &state {
        Some(state) if state.is_interrupted() => state.kebab().into_owned(),
        Some(_) | None => "success".to_string(),
    };
    let said = result.texts.first().map_or("", String::as_str);
    let mut entry = Object::new();
    entry.string("status", &state).string("response", said).members(&members.keep());
    // What its answer takes: a broadcast leaves no conversation.
    let ids = result.texts.get(2..).unwrap_or_default();
    let line = if state == "success" { said.to_string() } else { format!("{state}: {said} ({})", text::joined(ids, ", ")) };
    (entry.finish(), line, true)
}

fn error_entry(error: &ToolError) -> (Json, String, bool) {
    let mut entry = Object::new();
    entry.string("status", "error").json("error", &error.to_json()).members(&error.received);
    (entry.finish(), format!("error: {}", error.message), false)
}
