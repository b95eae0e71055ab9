//! The tools of a server, listed page by page.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{self, Json, Kind, Members, Raw};
use crate::limits::Limits;

/// How many pages are followed.
const PAGES: usize = 256;

/// A tool as its server told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTool {
    /// its name, as it goes back to the server
    pub name: String,
    /// all that was said of it, raw
    pub definition: Json,
}

/// A list that is being read.
#[derive(Debug, Default)]
pub struct Listing {
    /// the tools so far
    pub tools: Vec<ListedTool>,
    /// what was left out, each in a sentence
    pub faults: Vec<String>,
    cursors: Vec<String>,
    bytes: u64,
}

/// How a list goes on.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// with the page of this cursor
    Page(String),
    /// it is complete
    Done,
}

impl Listing {
    /// Takes a page in. A tool that cannot be offered is left out and the others stay; a cursor that came before ends the
    /// list, as does a limit.
    ///
    /// # Errors
    /// A result that is no list.
    pub fn page(&mut self, result: &Members<'_>, limits: &Limits) -> Result<Next, String> {
        let tools = result.get("tools").and_then(json::elements);
        for raw in tools.ok_or_else(|| "answered tools/list without a list of tools".to_string())? {
            if u64::try_from(self.tools.len()).unwrap_or(u64::MAX) >= limits.tools_per_server {
                self.fault(format!("it has more tools than tools_per_server allows: {}", limits.tools_per_server));
                return Ok(Next::Done);
            }
            self.bytes = self.bytes.saturating_add(u64::try_from(raw.get().len()).unwrap_or(u64::MAX));
            if self.bytes > limits.tool_list_bytes {
                self.fault(format!("its tools are larger than tool_list_bytes allows: {}", limits.tool_list_bytes));
                return Ok(Next::Done);
            }
            self.tool(raw);
        }
        // An empty text is a cursor like any other (MCP, pagination).
        let Some(cursor) = result.string("nextCursor") else { return Ok(Next::Done) };
        if self.cursors.contains(&cursor) || self.cursors.len() >= PAGES {
            self.fault("its list does not end: a cursor came twice, or there are too many pages".to_string());
            return Ok(Next::Done);
        }
        self.cursors.push(cursor.clone());
        Ok(Next::Page(cursor))
    }

    fn tool(&mut self, raw: Raw<'_>) {
        let Some((members, name)) = json::members(raw).and_then(|members| members.string("name").map(|name| (members, name)))
        else {
            return self.fault("a tool without a name was left out".to_string());
        };
        let shown: String = name.chars().take(80).collect();
        if name.is_empty() {
            return self.fault("a tool with an empty name was left out".to_string());
        }
        if members.get("inputSchema").is_none_or(|schema| json::kind(schema) != Kind::Object) {
            return self.fault(format!("{shown} was left out: its inputSchema is no object"));
        }
        if self.tools.iter().any(|known| known.name == name) {
            return self.fault(format!("{shown} is listed twice; the first one counts"));
        }
        self.tools.push(ListedTool { name, definition: Json::from_raw(raw) });
    }

    fn fault(&mut self, fault: String) {
        // A server that has nothing but faults must not fill the log.
        if self.faults.len() < 16 {
            self.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(listing: &mut Listing, text: &str, limits: &Limits) -> Result<Next, String> {
        listing.page(&json::members(json::parse(text, 32).unwrap()).unwrap(), limits)
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn pages_are_followed_to_the_end() {
        let (mut listing, limits) = (Listing::default(), Limits::default());
        let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"x":1e400}}"#);
        let text = format!(r#"{{"tools":[{},{}],"nextCursor":""}}"#, tool("a"), tool("b"));
        assert_eq!(page(&mut listing, &text, &limits), Ok(Next::Page(String::new())));
        let text = format!(r#"{{"tools":[{}],"nextCursor":"2"}}"#, tool("c"));
        assert_eq!(page(&mut listing, &text, &limits), Ok(Next::Page("2".into())));
        assert_eq!(page(&mut listing, &format!(r#"{{"tools":[{}]}}"#, tool("d")), &limits), Ok(Next::Done));
        assert_eq!(names(&listing), ["a", "b", "c", "d"]);
        assert!(listing.tools[0].definition.as_str().contains("1e400"));
    }

    #[test]
    fn a_list_that_goes_in_circles_ends() {
        let (mut listing, limits) = (Listing::default(), Limits::default());
        let text = r#"{"tools":[],"nextCursor":"x"}"#;
        assert_eq!(page(&mut listing, text, &limits), Ok(Next::Page("x".into())));
        assert_eq!(page(&mut listing, text, &limits), Ok(Next::Done));
        assert_eq!(listing.faults.len(), 1);
    }

    #[test]
    fn one_bad_tool_leaves_the_rest() {
        let (mut listing, limits) = (Listing::default(), Limits::default());
        let text = r#"{"tools":[7,{"name":""},{"name":"a","inputSchema":true},{"inputSchema":{}},{"name":"ok","inputSchema":{}},{"name":"ok","inputSchema":{}}]}"#;
        assert_eq!(page(&mut listing, text, &limits), Ok(Next::Done));
        assert_eq!((names(&listing), listing.faults.len()), (alloc::vec!["ok"], 5));
        assert!(page(&mut listing, r#"{"tools":{}}"#, &limits).is_err());
    }

    #[test]
    fn limits_end_a_list() {
        let mut listing = Listing::default();
        let limits = Limits { tools_per_server: 1, ..Limits::default() };
        let text = r#"{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}],"nextCursor":"x"}"#;
        assert_eq!(page(&mut listing, text, &limits), Ok(Next::Done));
        assert_eq!(names(&listing), ["a"]);
        let mut listing = Listing::default();
        let limits = Limits { tool_list_bytes: 40, ..Limits::default() };
        assert_eq!(page(&mut listing, text, &limits), Ok(Next::Done));
        assert_eq!(names(&listing), ["a"]);
    }
}
