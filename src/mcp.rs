//! The MCP face: sessions, eras, the tools' seam, their results and questions, resources, prompts, completion.

pub mod arguments;
pub mod asks;
pub mod completion;
pub mod content;
pub mod era;
pub mod outcome;
pub mod prompts;
pub mod resources;
pub mod seal;
pub mod server;
pub mod session;
pub mod subject;
pub mod tool;
