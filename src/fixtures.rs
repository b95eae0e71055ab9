//! What the official conformance suite of MCP calls by name: tools, resources and prompts of a build that is never shipped.
//!
//! They stand in the same tables as the gateway's own and have nothing that those could not have. The suite says what
//! each is to do.
#![allow(clippy::indexing_slicing, reason = "the tables are joined when they are compiled, where a wrong index is an error")]

use crate::mcp::prompts::{self, Prompt};
use crate::mcp::resources::{self, Resource, Template};
use crate::mcp::tool::Tool;
use crate::tools;

mod asking;
mod forms;
mod plain;
mod prompting;
mod reading;

/// The gateway's tools and the suite's.
pub(crate) const TOOLS: &[&Tool] = {
    const SUITE: [&[&Tool]; 3] = [&plain::TOOLS, &asking::TOOLS, &forms::TOOLS];
    const OWN: usize = tools::OWN.len();
    const PLAIN: usize = OWN + SUITE[0].len();
    const ASKING: usize = PLAIN + SUITE[1].len();
    const ALL: usize = ASKING + SUITE[2].len();
    &joined::<_, ASKING, ALL>(&joined::<_, PLAIN, ASKING>(&joined::<_, OWN, PLAIN>(&tools::OWN, SUITE[0]), SUITE[1]), SUITE[2])
};

/// The gateway's prompts and the suite's.
pub(crate) const PROMPTS: &[Prompt] = {
    const OWN: usize = prompts::OWN.len();
    &joined::<_, OWN, { OWN + prompting::PROMPTS.len() }>(&prompts::OWN, &prompting::PROMPTS)
};

/// The gateway's resources and the suite's.
pub(crate) const RESOURCES: &[Resource] = {
    const OWN: usize = resources::OWN.len();
    &joined::<_, OWN, { OWN + reading::RESOURCES.len() }>(&resources::OWN, &reading::RESOURCES)
};

/// The gateway's templates and the suite's.
pub(crate) const TEMPLATES: &[Template] = {
    const OWN: usize = resources::OWN_TEMPLATES.len();
    &joined::<_, OWN, { OWN + reading::TEMPLATES.len() }>(&resources::OWN_TEMPLATES, &reading::TEMPLATES)
};

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// Two samples of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

const fn joined<T: Copy, const FIRST: usize, const ALL: usize>(first: &[T; FIRST], then: &[T]) -> [T; ALL] {
    let mut all = [first[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < FIRST { first[at] } else { then[at - FIRST] };
        at += 1;
    }
    all
}
