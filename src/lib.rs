//! Narrows: one gateway core between MCP hosts and A2A agents.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
// Links std into the cdylib (allocator, panic handler) without giving it a name: `std::time` does not resolve here.
#[cfg(not(target_os = "none"))]
extern crate std as _;

pub mod config;
pub mod gateway;
pub mod http;
pub mod ids;
pub mod io;
pub mod json;
pub mod limits;
pub mod redact;
pub mod sse;
pub mod time;
pub mod url;
