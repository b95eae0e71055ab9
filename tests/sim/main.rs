//! The seven guarantees, a reference model beside the gateway, and the schemas of results, over random worlds.
//!
//! Every world is checked after every input and once more at its end. `WORLDS=<n>` runs more of them, `SEED=<seed>` one
//! alone. A failure says its seed, what was broken and where, the last steps, and where its transcript is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    unreachable_pub
)]

mod client;
#[allow(
    clippy::disallowed_types,
    clippy::wildcard_enum_match_arm,
    reason = "what the gateway says is read as plain JSON; a greed decides about a few things only"
)]
mod crowd;
mod fleet;
#[allow(
    clippy::disallowed_types,
    clippy::wildcard_enum_match_arm,
    reason = "answers of the gateway, whose numbers and order no test here asks for; a request that is of another kind fails its world"
)]
mod inbound;
mod judge;
mod mischief;
mod model;
mod network;
#[allow(dead_code, reason = "golden transcripts ask for more of it")]
#[path = "../transcripts/play.rs"]
mod play;
#[path = "../support/mod.rs"]
mod support;
mod twin;
mod view;
mod visits;
mod wish;
mod world;
mod written;

use support::memory::Counting;
use support::rule::Rule;

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn every_accepted_call_gets_exactly_one_answer() {
    fleet::holds(Rule::OneAnswer);
}

#[test]
fn after_its_answer_a_call_causes_nothing_more() {
    fleet::holds(Rule::NothingMore);
}

#[test]
fn outputs_depend_on_inputs_and_not_on_when_they_are_drained() {
    fleet::holds(Rule::Drains);
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    fleet::holds(Rule::SameBytes);
}

#[test]
fn work_and_memory_are_bounded_by_limits() {
    fleet::holds(Rule::Bounds);
}

#[test]
fn no_secret_leaves_except_to_its_origin() {
    fleet::holds(Rule::Secrets);
}

#[test]
fn a_restored_gateway_goes_on() {
    fleet::holds(Rule::Restore);
}

#[test]
fn the_gateway_keeps_what_the_model_keeps() {
    fleet::holds(Rule::Model);
}

#[test]
fn results_match_the_schemas_of_their_tools() {
    fleet::holds(Rule::Schemas);
}

#[test]
fn served_tasks_are_what_everybody_is_told() {
    fleet::holds(Rule::Served);
}

#[test]
fn a_crowd_that_is_held_by_no_limit_is_noticed() {
    fleet::needs_limits();
}

#[test]
fn worlds_are_worth_something() {
    fleet::is_varied();
}
