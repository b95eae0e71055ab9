//! Narrows: one gateway core between MCP hosts and A2A agents.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
// Links std into the cdylib (allocator, panic handler) without giving it a name: `std::time` does not resolve here.
#[cfg(not(target_os = "none"))]
extern crate std as _;

pub mod a2a;
pub mod bucket;
pub mod call;
pub mod caller;
pub mod config;
pub mod contexts;
pub mod exchange;
pub mod gateway;
pub mod ground;
pub mod health;
pub mod history;
pub mod http;
pub mod ids;
pub mod inbox;
pub mod io;
pub mod json;
pub mod jsonrpc;
pub mod limits;
pub mod mcp;
pub mod redact;
pub mod redirect;
pub mod registry;
pub mod scope;
pub mod snapshot;
pub mod sse;
pub mod table;
pub mod time;
pub mod tools;
pub mod trace;
pub mod url;
#[cfg(feature = "wasm")]
pub mod wasm;
