//! MCP over HTTP, as a client sees it: every check, status and stream of the gateway's HTTP face.
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

mod admission;
mod bounds;
mod directory;
mod modern;
mod persistence;
mod resumption;
mod sessions;
#[path = "../support/storage.rs"]
mod storage;
mod telling;
mod world;
