//! discover_agents.

use alloc::format;
use alloc::string::{String, ToString};

use super::connect_agent::check_headers;
use crate::call::directory::AskDirectory;
use crate::call::{Run, outgoing};
use crate::directory::Question;
use crate::mcp::arguments::Arguments;
use crate::mcp::outcome::{Code, ToolError};
use crate::mcp::tool::{Hints, Started, Tool};
use crate::registry::Credentials;
use crate::text;
use crate::url::Url;

/// How long a filter may be, in characters.
const FILTER: u64 = 256;

/// The tool.
pub(super) const TOOL: Tool = Tool {
    name: "discover_agents",
    title: "Discover agents",
    description: "Asks an agent directory for agent cards. Connect what you find with connect_agent. With help it tells the filter syntax.",
    input: r#"{"type":"object","properties":{"directory_url":{"type":"string","description":"needed where there is no default"},"filter":{"type":"string","maxLength":256},"query":{"type":"string","description":"same as filter"},"limit":{"type":"integer","minimum":1},"cursor":{"type":"string","description":"next_token of the page before"},"headers":{"type":"object","additionalProperties":{"type":"string"}},"help":{"type":"boolean"}},"additionalProperties":false}"#,
    output: output!(
        r#""agents":{"type":"array","items":{"type":"object"}},"next_token":{"type":"string"},"problems":{"type":"array","items":{"type":"object","properties":{"index":{"type":"integer"},"why":{"type":"string"}},"required":["why"]}},"help":{"type":"object"}"#,
        r#""agents""#,
        r#""help""#
    ),
    hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: true },
    asks: false,
    start,
};

fn start(run: &mut Run<'_>, mut arguments: Arguments<'_>) -> Result<Started, ToolError> {
    let url = arguments.string("directory_url");
    let query = arguments.string("query");
    let filter = arguments.string("filter");
    if filter.is_some() && query.is_some() {
        arguments.fail("`filter` and `query` are one thing under two names: give one of them".to_string());
    }
    let filter = filter.or(query);
    let limit = arguments.integer("limit", 1);
    let cursor = arguments.string("cursor");
    let headers = arguments.string_map("headers").unwrap_or_default();
    let help = arguments.boolean("help").unwrap_or(false);
    arguments.finish()?;
    let invalid = |message: String| ToolError::new(Code::InvalidArgument, message);
    let directory = &run.ground.config.directory;
    let given = match url {
        Some(text) => Some(Url::parse(&text).map_err(|fault| invalid(format!("`directory_url` {fault}")))?),
        None if directory.is_source() => None,
        None => Some(directory.url.clone().ok_or_else(|| {
            invalid("`directory_url` is missing, and no default directory is configured: give the URL of a directory".to_string())
        })?),
    };
    if filter.as_ref().is_some_and(|filter| text::code_points(filter) > FILTER) {
        return Err(invalid(format!("`filter` has more than {FILTER} characters")));
    }
    check_headers(&headers)?;
    outgoing::check_text(run.ground, TOOL.name, "filter", filter.as_deref().unwrap_or_default())?;
    let Some(given) = given else {
        let filter = filter.unwrap_or_default();
        let limit = limit.map(|limit| u64::try_from(limit).unwrap_or(u64::MAX));
        let question = Question { filter, limit, cursor: cursor.filter(|cursor| !cursor.is_empty()) };
        return AskDirectory::built_in(run, question, help).map_err(|fault| invalid(format!("`cursor`: {fault}")));
    };
    let mut asked = given.clone();
    if let Some(page) = cursor.as_deref().and_then(|cursor| whole_page(&given, cursor)) {
        asked = page;
    } else {
        let limit = limit.map(|limit| limit.to_string());
        let (filter, limit, help) = (filter.as_deref(), limit.as_deref(), help.then_some("true"));
        for (name, value) in [("filter", filter), ("limit", limit), ("cursor", cursor.as_deref()), ("help", help)] {
            if let Some(value) = value {
                asked = asked.with_query(name, value);
            }
        }
    }
    let credentials = (!headers.is_empty()).then(|| Credentials { origin: given.origin(), headers });
    AskDirectory::start(run, given, asked, credentials, help, cursor)
}

/// A cursor that is a page's whole URL, as directories with `Link` headers give it; of the same origin only.
fn whole_page(given: &Url, cursor: &str) -> Option<Url> {
    Url::parse(cursor).ok().filter(|page| page.origin() == given.origin())
}
