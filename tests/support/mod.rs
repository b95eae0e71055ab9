//! A world around the gateway for the tests: a host that keeps the books, agents that follow a script or misbehave, and
//! chance from a seed.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

pub mod agent;
pub mod case;
pub mod chance;
pub mod host;
pub mod memory;
pub mod replay;
pub mod rule;
pub mod schema;
pub mod secret;
pub mod served;
pub mod session;
pub mod storage;
pub mod text;
pub mod watch;
pub mod wire;
