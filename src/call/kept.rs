//! The outcome of a call whose client was asked by a result, or whose connection went with a process that ended, and has
//! not come back yet.

use alloc::string::String;
use alloc::vec::Vec;

use super::Ended;
use crate::ground::Ground;
use crate::io::{Deadline, Reason};
use crate::json::{Json, Object};
use crate::mcp::outcome::ToolResult;
use crate::snapshot::Record;
use crate::time::{Instant, WallTime};

/// An outcome that is kept for a while.
#[derive(Debug)]
pub struct Kept {
    /// the outcome
    pub ended: Ended,
    /// until when
    pub until: Instant,
    /// the digest of the call, where making it again is how its caller comes back
    pub digest: Option<String>,
}

impl Kept {
    /// When it is forgotten.
    #[must_use]
    pub const fn deadline(&self) -> Deadline {
        Deadline { at: self.until, reason: Reason::CallTimeout }
    }

    /// As it stands in a snapshot. An error is what its caller would be told.
    #[must_use]
    pub fn record(&self, ground: &Ground) -> Json {
        let result = match &self.ended {
            Ok(result) => result.clone(),
            Err(error) => {
                let told = error.clone().into_result();
                ToolResult { structured: told.to_object().finish(), content: Vec::new(), ..told }
            }
        };
        let mut out = Object::new();
        out.integer("until", ground.wall_of(self.until).0).optional_string("digest", self.digest.as_deref());
        out.json("result", &result.structured).optional_json("refusal", result.content.first());
        out.boolean("is_error", result.is_error);
        out.finish()
    }

    /// Reads what [`record`](Self::record) wrote.
    #[must_use]
    pub fn read(record: &Record<'_, '_>, ground: &Ground) -> Self {
        let content = record.value("refusal").map(Json::from_raw).into_iter().collect();
        let (structured, is_error) = (record.json("result"), record.boolean("is_error"));
        Self {
            ended: Ok(ToolResult { texts: Vec::new(), content, structured, is_error }),
            until: ground.instant_of(WallTime(record.integer("until"))),
            digest: record.optional("digest"),
        }
    }
}
