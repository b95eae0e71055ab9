//! MCP servers behind the gateway: eras, lists, names, calls, and what becomes of them when a server misbehaves.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    missing_docs,
    dead_code,
    unreachable_pub
)]

mod approvals;
mod asking;
mod calls;
mod cases;
#[path = "../support/chance.rs"]
mod chance;
mod dialogues;
mod eras;
mod grants;
mod health;
mod lists;
mod loss;
mod pins;
mod questions;
mod random;
mod reload;
mod remote;
mod restarts;
mod search;
mod taint;
mod tasks;
mod tokens;
mod world;
