//! What a host says about tools that changed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Object;

/// What a host says about the pins of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinsInput {
    /// What was kept under keys that begin with `pin/`, by this gateway before or by another one. What is pinned otherwise
    /// is pinned so from now on.
    Pinned {
        /// all pieces, in any order
        pieces: Vec<String>,
    },
    /// A person accepts a tool that is held back, as it is listed now.
    Accept {
        /// the server's name in the configuration
        server: String,
        /// the tool's own name
        tool: String,
        /// the digest of what the person saw
        digest: String,
    },
}

impl PinsInput {
    pub(super) fn write<'o>(&self, out: &'o mut Object) -> &'o mut Object {
        match self {
            Self::Pinned { pieces } => out.string("type", "pinned").strings("pieces", pieces),
            Self::Accept { server, tool, digest } => {
                out.string("type", "accept").string("server", server).string("tool", tool).string("digest", digest)
            }
        }
    }
}
