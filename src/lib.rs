//! Narrows joins MCP hosts, which call tools, with A2A agents, which take tasks.
//!
//! It is one state machine that does no I/O. A host tells it what happened and does what it asks; the machine has no
//! clock, no randomness of its own, no callbacks and no async. The same code runs as WebAssembly in Node, in a worker
//! and in a page, and natively in a Rust program.
//!
//! # Three doors
//!
//! - [`Gateway::handle_input`](gateway::Gateway::handle_input): what happened, as an [`io::Input`], and when.
//! - [`Gateway::poll_output`](gateway::Gateway::poll_output): what to do, as an [`io::Output`], until there is none.
//! - [`Gateway::poll_timeout`](gateway::Gateway::poll_timeout): when to come back at the latest, and why.
//!
//! ```
//! use narrows::config::Config;
//! use narrows::gateway::{Gateway, Genesis};
//! use narrows::io::{Input, Output, PeerId};
//! use narrows::time::{Instant, WallTime};
//!
//! let genesis = Genesis { seed: [7; 32], now: Instant::from_ms(0), unix_ms: WallTime(0) };
//! let mut gateway = Gateway::new(genesis, Config::default());
//! let peer = PeerId(1);
//! let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_string();
//! for input in [Input::Open { peer, scope: "stdio".into() }, Input::Message { peer, text: ping }] {
//!     gateway.handle_input(Instant::from_ms(1), input)?;
//!     while let Some(output) = gateway.poll_output() {
//!         match output {
//!             Output::Message { text, .. } => assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
//!             Output::Fetch { .. } | Output::Abort { .. } => {} // outgoing HTTP is the host's
//!             Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => {} // incoming too
//!             Output::Save(_) => {} // asked for by `Config::storage`, which is off here
//!             Output::Work { .. } | Output::WorkAbort { .. } | Output::Lookup(_) => {} // where the host has functions of its own
//!             Output::Link { .. } => {} // where MCP servers are processes behind it
//!             Output::Tokens { .. } => {} // where they are at a URL and want one
//!             Output::Notice(_) => {} // and the log
//!         }
//!     }
//! }
//! # Ok::<(), narrows::io::Misuse>(())
//! ```
//!
//! # Guarantees
//!
//! 1. Every accepted call gets exactly one answer, a result or an error, whatever the agent does; or none if its caller
//!    cancelled it or left.
//! 2. After its answer a call causes nothing more towards its caller and its agent but an abort and, if it was
//!    cancelled with a task running, the cancel request. The answer of an async call is its inbox entry.
//! 3. Outputs depend on inputs, not on when or how often they are drained.
//! 4. The same genesis, configuration and inputs give the same bytes on every target, wasm and native.
//! 5. Work per input and memory are bounded by [`limits::Limits`]; reaching a limit is an error the caller sees, and
//!    nothing else suffers.
//! 6. No secret leaves except to the origin it was given for.
//! 7. [`Gateway::restore`](gateway::Gateway::restore) continues as if nothing had happened, exchanges in flight apart,
//!    which end as failed and recover.
//!
//! Each is the name of a test in `tests/sim`.
//!
//! # The map
//!
//! | where | what |
//! | --- | --- |
//! | [`io`], [`gateway`], [`ground`], [`snapshot`], [`trace`] | the border and the machine |
//! | [`time`], [`ids`], [`limits`], [`config`], [`table`], [`list`], [`saved`], [`text`], [`json`], [`held`] | what everything stands on |
//! | [`scope`], [`registry`], [`contexts`], [`bucket`], [`health`], [`history`], [`inbox`], [`caller`] | the state of one user |
//! | [`call`], [`exchange`], [`redirect`], [`redact`] | the life of a call and its HTTP rounds |
//! | [`jsonrpc`], [`sse`], [`http`], [`url`] | wire formats |
//! | [`incoming`] | incoming HTTP: access, sessions, streams |
//! | [`metrics`], [`trace_context`] | what is counted; which trace a request belongs to |
//! | [`mcp`], [`tools`] | the MCP face: sessions, eras, and one file for each tool |
//! | [`policy`] | who may call what, what waits for a person, and what may not leave |
//! | [`link`] | MCP servers behind the gateway: their handshakes, lists, names and calls |
//! | [`oauth`] | where tokens for those come from, and what has to happen until there is one |
//! | [`a2a`], [`served`] | the A2A face: one model, four dialects, cards; the tasks served to other agents |
//! | [`directory`] | cards that agents register, found by a filter |
//! | [`plain`] | the task API for programs without an A2A library |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
// Links std into the cdylib (allocator, panic handler) without giving it a name: `std::time` does not resolve here.
#[cfg(not(target_os = "none"))]
extern crate std as _;

pub mod a2a;
pub mod base64;
pub mod bucket;
pub mod call;
pub mod caller;
pub mod config;
pub mod contexts;
pub mod directory;
pub mod exchange;
#[cfg(any(test, narrows_fixtures))]
mod fixtures;
pub mod gateway;
pub mod ground;
pub mod health;
pub mod held;
pub mod history;
pub mod http;
pub mod ids;
pub mod inbox;
pub mod incoming;
pub mod io;
pub mod json;
pub mod jsonrpc;
pub mod limits;
pub mod link;
pub mod list;
pub mod mcp;
pub mod metrics;
pub mod oauth;
pub mod plain;
pub mod policy;
pub mod redact;
pub mod redirect;
pub mod registry;
pub mod saved;
pub mod scope;
pub mod served;
pub mod snapshot;
pub mod sse;
pub mod table;
pub mod text;
pub mod time;
#[cfg(feature = "cli")]
pub mod toml;
pub mod tools;
pub mod trace;
pub mod trace_context;
pub mod url;
#[cfg(feature = "wasm")]
pub mod wasm;

/// The program in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
