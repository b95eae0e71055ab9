//! The MCP face: sessions, eras, the tools' seam and their results.

pub mod arguments;
pub mod era;
pub mod outcome;
pub mod server;
pub mod session;
pub mod tool;
