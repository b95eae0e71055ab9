//! Tools found by words: of their names, titles, descriptions and arguments. The same words find the same tools in the same
//! order.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::catalog::LinkedTool;
use crate::json::{self, Members};
use crate::list::{self, gather};

/// How many words of a query count.
const WORDS: usize = 16;
/// How much of a description is read, in bytes.
const READ: usize = 4096;

/// What a word is worth where it stands: as a whole, or where one begins with the other.
const NAME: (u64, u64) = (12, 7);
const TITLE: (u64, u64) = (6, 3);
const DESCRIPTION: (u64, u64) = (4, 2);
const ARGUMENT: (u64, u64) = (3, 1);

/// The tools that have any of a query's words, the best first; all of them, in their order, where it has none.
///
/// A tool that has more of the words comes first. Among those with equally many a word counts for more where it stands in a
/// name, and where fewer tools have it; then the name decides.
#[must_use]
pub fn found<'t>(tools: &[&'t Arc<LinkedTool>], query: &str) -> Vec<&'t Arc<LinkedTool>> {
    let mut wanted = words(query);
    wanted.dedup();
    wanted.truncate(WORDS);
    if wanted.is_empty() {
        return tools.to_vec();
    }
    let worth = gather(tools.iter().map(|tool| {
        let read = read(tool);
        gather(wanted.iter().map(|word| worth(word, &read)))
    }));
    let total = u64::try_from(tools.len()).unwrap_or(u64::MAX);
    let rarity = gather((0..wanted.len()).map(|at| {
        let having = worth.iter().map(|worth| u64::from(worth.get(at).is_some_and(|worth| *worth > 0))).sum::<u64>();
        u64::from((total / having.max(1)).max(1).ilog2()) + 1
    }));
    let mut found = Vec::new();
    for (tool, worth) in tools.iter().zip(&worth) {
        let having = worth.iter().map(|worth| u64::from(*worth > 0)).sum::<u64>();
        let score = worth.iter().zip(&rarity).map(|(worth, rarity)| worth * rarity).sum::<u64>();
        if having > 0 {
            found.push((Reverse((having, score)), tool.offered.as_str(), *tool));
        }
    }
    let rank = |place: usize| found.get(place).map(|(worth, name, _)| (worth, name));
    let order = list::order(found.len(), &|one, other| rank(one) < rank(other));
    gather(order.into_iter().filter_map(|place| found.get(place).map(|(.., tool)| *tool)))
}

/// The words of a tool, each kind of place with what a word is worth there.
fn read(tool: &LinkedTool) -> [((u64, u64), Vec<String>); 4] {
    let members = tool.definition.members().unwrap_or_default();
    let text = |members: &Members<'_>, name: &str| words(cut(&members.string(name).unwrap_or_default()));
    let mut name = words(&tool.server_name);
    name.extend(words(&tool.tool));
    let schema = members.get("inputSchema").and_then(json::members).unwrap_or_default();
    let mut arguments = Vec::new();
    for (key, _) in schema.get("properties").and_then(json::members).unwrap_or_default().iter() {
        arguments.extend(words(key));
    }
    let (title, description) = (text(&members, "title"), text(&members, "description"));
    [(NAME, name), (TITLE, title), (DESCRIPTION, description), (ARGUMENT, arguments)]
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The best that a word is worth anywhere.
fn worth(word: &str, read: &[((u64, u64), Vec<String>); 4]) -> u64 {
    let mut best = 0;
    for ((whole, part), words) in read {
        for other in words {
            // Short beginnings say nothing: `a` begins too many words.
            let is_part = word.len().min(other.len()) >= 3 && (other.starts_with(word) || word.starts_with(other.as_str()));
            best = best.max(if other == word { *whole } else { *part * u64::from(is_part) });
        }
    }
    best
}

/// The words of a text in lower case: runs of letters and digits, cut where a capital follows a small letter.
fn words(text: &str) -> Vec<String> {
    let (mut list, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for char in text.chars() {
        let starts = char.is_ascii_uppercase() && was_small;
        if (!is_part_of_word(char) || starts) && !word.is_empty() {
            list.push(core::mem::take(&mut word));
        }
        if is_part_of_word(char) {
            word.push(char.to_ascii_lowercase());
        }
        was_small = char.is_ascii_lowercase() || char.is_ascii_digit();
    }
    if !word.is_empty() {
        list.push(word);
    }
    list
}

/// Letters of all scripts are, without the tables that would tell them from other signs.
fn is_part_of_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || !char.is_ascii()
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::format;

    use super::*;
    use crate::json::Json;

    fn tool(server: &str, name: &str, description: &str, arguments: &str) -> Arc<LinkedTool> {
        let definition = format!(
            r#"{{"name":"{name}","description":"{description}","inputSchema":{{"type":"object","properties":{{{arguments}}}}}}}"#
        );
        let mut tool = LinkedTool::gone(&format!("mcp_{server}_{name}").to_lowercase());
        tool.server_name = server.to_owned();
        tool.tool = name.to_owned();
        tool.definition = Json::parse(&definition, 16).unwrap();
        Arc::new(tool)
    }

    fn names(query: &str) -> Vec<String> {
        let tools = [
            tool("github", "create_issue", "Opens a new issue in a repository.", r#""title":{},"repo":{}"#),
            tool("github", "listIssues", "Lists the issues of a repository.", r#""repo":{}"#),
            tool("files", "read_file", "Reads a file from the disk.", r#""path":{}"#),
            tool("files", "write_file", "Writes a file; creates it where there is none.", r#""path":{},"content":{}"#),
            tool("wetter", "vorhersage", "Sagt das Wetter für morgen.", r#""ort":{}"#),
        ];
        let list: Vec<_> = tools.iter().collect();
        found(&list, query).into_iter().map(|tool| tool.tool.clone()).collect()
    }

    #[test]
    fn names_count_for_more_than_descriptions_and_more_words_for_more_than_few() {
        assert_eq!(names("create issue"), ["create_issue", "listIssues", "write_file"]);
        assert_eq!(names("Issues"), ["listIssues", "create_issue"]);
        assert_eq!(names("read a file"), ["read_file", "write_file", "create_issue", "listIssues"]);
        assert_eq!(names("disk"), ["read_file"]);
        assert_eq!(names("content"), ["write_file"]);
        assert_eq!(names("für"), ["vorhersage"]);
        assert_eq!(names("files"), ["read_file", "write_file"]);
        assert!(names("zebra quark").is_empty());
    }

    #[test]
    fn without_words_all_are_found_in_their_order() {
        assert_eq!(names(" -?"), ["create_issue", "listIssues", "read_file", "write_file", "vorhersage"]);
    }
}
