//! The MCP face: sessions, eras, the tools' seam and their results, resources, prompts, completion.

pub mod arguments;
pub mod completion;
pub mod era;
pub mod outcome;
pub mod prompts;
pub mod resources;
pub mod server;
pub mod session;
pub mod tool;
