//! The contract of the tools, held against inputs of the field and against random worlds.
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

mod cases;
mod configuration;
mod inbox;
mod schemas;
mod sessions;
#[path = "../support/mod.rs"]
mod support;
mod texts;
#[path = "../http/world.rs"]
mod world;

use support::storage;
