//! The gateway as an agent: tasks served to others over both bindings and in both versions of A2A.
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
#![allow(clippy::disallowed_types, reason = "answers of the gateway, whose numbers and order no test here asks for")]

mod access;
mod bounds;
mod caller;
mod card;
mod functions;
mod further;
mod guarantees;
mod hygiene;
mod inbox;
mod plain;
mod push;
mod relay;
mod restart;
mod secrets;
mod sends;
#[path = "../support/storage.rs"]
mod storage;
#[path = "../http/world.rs"]
mod world;
