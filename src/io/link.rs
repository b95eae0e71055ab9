//! Processes of MCP servers behind the gateway: what is asked of a host, and what it tells.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, Object};

/// One process of an MCP server behind the gateway, from its start to its end, named by the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u64);

/// What happened to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The process runs.
    Opened,
    /// One line of its standard output, without the line end.
    Line(String),
    /// A line over [`Limits::link_line_bytes`](crate::limits::Limits::link_line_bytes) that the host did not keep.
    LineTooLong {
        /// its first bytes (4 KiB are enough), from which the id is read
        start: String,
        /// its last bytes (1 KiB is enough): many servers write the id last
        end: String,
        /// its whole length
        bytes: u64,
    },
    /// What the process wrote to its standard error of late: some lines are kept for error messages.
    Stderr(String),
    /// The process ended, or could not be started: why, in words for people. Nothing more comes of this link.
    Closed(String),
}

/// What a host is to do with a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOrder {
    /// Start a process and tell what it writes, line by line.
    Open(Box<Process>),
    /// Write a line to its standard input; the text has no line ends.
    Write(String),
    /// Close its standard input, and end it and all that it started where it does not end by itself. Reports that come
    /// later are ignored.
    Close,
}

/// A process to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// the server's name in the configuration
    pub server: String,
    /// the program, looked up as a shell would, but without a shell
    pub command: String,
    /// its arguments
    pub args: Vec<String>,
    /// what its environment holds beside a fixed safe list: `NAME` to pass the host's variable on, `NAME=value` to set one
    pub env: Vec<String>,
}

impl LinkOrder {
    /// The JSON form of the output.
    #[must_use]
    pub(super) fn to_json(&self, link: LinkId) -> Json {
        let mut out = Object::new();
        match self {
            Self::Open(process) => {
                out.string("type", "open_link").integer("link", link.0).string("server", &process.server);
                out.string("command", &process.command).strings("args", &process.args).strings("env", &process.env);
            }
            Self::Write(text) => {
                out.string("type", "write_link").integer("link", link.0).string("text", text);
            }
            Self::Close => {
                out.string("type", "close_link").integer("link", link.0);
            }
        }
        out.finish()
    }
}

impl LinkEvent {
    /// Writes the JSON form of the input.
    pub(super) fn write<'o>(&self, out: &'o mut Object, link: LinkId) -> &'o mut Object {
        let kind = match self {
            Self::Opened => "link_opened",
            Self::Line(_) => "link_line",
            Self::LineTooLong { .. } => "link_line_too_long",
            Self::Stderr(_) => "link_stderr",
            Self::Closed(_) => "link_closed",
        };
        out.string("type", kind).integer("link", link.0);
        match self {
            Self::Opened => out,
            Self::Line(text) | Self::Stderr(text) => out.string("text", text),
            Self::LineTooLong { start, end, bytes } => out.string("start", start).string("end", end).integer("bytes", *bytes),
            Self::Closed(detail) => out.string("detail", detail),
        }
    }
}
