//! Files read, every fault with its place, and edits that leave the rest as it is.

use alloc::string::String;
use alloc::vec::Vec;

use super::*;

const FILE: &str = r#"# mine
[[mcp_servers]] # the files
name = "files"
transport = { type = "stdio", command = "npx", args = ["-y", "server"] }

# of the account
[[mcp_servers]]
name = "everyapi"
timeout_secs = 3_0

[mcp_servers.transport]
type = "stdio"
command = "everyapi"

# who asks
[approval]
require_approval = ["mcp_*"]
"#;

fn said(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(|fault| format!("{}:{} {}", fault.place.line, fault.place.column, fault.message)).collect()
}

#[test]
fn a_file_is_read_with_its_places() {
    let document = read(FILE).unwrap();
    assert_eq!(
        document.json.as_str(),
        concat!(
            r#"{"mcp_servers":[{"name":"files","transport":{"type":"stdio","command":"npx","args":["-y","server"]}},"#,
            r#"{"name":"everyapi","timeout_secs":30,"transport":{"type":"stdio","command":"everyapi"}}],"#,
            r#""approval":{"require_approval":["mcp_*"]}}"#
        )
    );
    let place = |path: &str| document.places.iter().find(|(known, _)| known == path).map(|(_, place)| (place.line, place.column));
    assert_eq!(place("mcp_servers[1].timeout_secs"), Some((9, 1)));
    assert_eq!(place("mcp_servers[1]"), Some((7, 1)));
    assert_eq!(place("mcp_servers[0].transport.args[1]"), Some((4, 62)));
    assert_eq!(place("approval.require_approval"), Some((17, 1)));
}

#[test]
fn values_become_json() {
    let text = "s = 'a\\b \"'\nm = \"\"\"\nx\u{e9}\n\"\"\"\nh = 0xff\nf = +1_0.5e3\nb = false\nd = 1979-05-27T07:32:00Z\ne = []\nt = {}\n\"a b\" = -0.0\n";
    assert_eq!(
        read(text).unwrap().json.as_str(),
        "{\"s\":\"a\\\\b \\\"\",\"m\":\"x\u{e9}\\n\",\"h\":255,\"f\":10.5e3,\"b\":false,\"d\":\"1979-05-27T07:32:00Z\",\"e\":[],\"t\":{},\"a b\":-0.0}"
    );
}

#[test]
fn every_fault_is_told_with_its_place() {
    let faults = read("a = 1\na = 2\nf = inf\nc = \nd = tru\nbig = 9223372036854775808\n[x\n[y]\n").unwrap_err();
    let told = said(&faults);
    assert_eq!(told.len(), 6, "{told:#?}");
    for (line, word) in [(2, "duplicate"), (3, "finite"), (4, ""), (5, ""), (6, "64 bits"), (7, "unclosed")] {
        assert!(
            told.iter().any(|fault| fault.starts_with(&format!("{line}:")) && fault.contains(word)),
            "{line} {word}: {told:#?}"
        );
    }
    assert_eq!(said(&read("ä = ü").unwrap_err())[0].split(' ').next(), Some("1:1"));
}

#[test]
fn a_table_is_put_at_the_end_and_taken_out_again() {
    let entry = Json::parse(
        r#"{"name":"a \"b\" \u00e9\/","transport":{"type":"http","url":"https://x.test"},"env":["A=1"],"n":3,"off":{}}"#,
        8,
    )
    .unwrap();
    let added = add(FILE, "mcp_servers", &entry).unwrap();
    assert!(added.starts_with(FILE.trim_end()), "what is there stays as it is");
    let json = read(&added).unwrap().json;
    assert!(
        json.as_str()
            .contains(r#"{"name":"a \"b\" é/","transport":{"type":"http","url":"https://x.test"},"env":["A=1"],"n":3,"off":{}}"#),
        "{json:?}"
    );
    assert_eq!(remove(&added, "mcp_servers", "name", "a \"b\" é/").unwrap().as_deref(), Some(FILE));
    assert_eq!(add("", "mcp_servers", &Json::parse(r#"{"name":"x"}"#, 2).unwrap()).unwrap(), "[[mcp_servers]]\nname = \"x\"\n");
}

#[test]
fn a_table_goes_with_its_comment_and_with_what_belongs_to_it() {
    let (first, rest) = FILE.split_once("# of the account").unwrap();
    let last = rest.split_once("# who asks").unwrap().1;
    assert_eq!(remove(FILE, "mcp_servers", "name", "everyapi").unwrap(), Some(format!("{first}# who asks{last}")));
    let others = FILE.split_once("# of the account").unwrap().1;
    assert_eq!(remove(FILE, "mcp_servers", "name", "files").unwrap(), Some(format!("# of the account{others}")));
    assert_eq!(remove(FILE, "mcp_servers", "name", "none").unwrap(), None);
}

#[test]
fn what_cannot_be_edited_is_said() {
    let text = "mcp_servers = [{ name = \"x\" }]\n";
    assert_eq!(remove(text, "mcp_servers", "name", "x").unwrap(), None);
    let faults = add(text, "mcp_servers", &Json::parse(r#"{"name":"y"}"#, 2).unwrap()).unwrap_err();
    assert_eq!(faults[0].place.line, 3, "{:?}", said(&faults).to_vec());
    assert!(add("a = ", "mcp_servers", &Json::null()).is_err() && remove("a = ", "a", "b", "c").is_err());
}

#[test]
fn what_stands_behind_a_table_stays() {
    let without = |text: &str| remove(text, "mcp_servers", "name", "a").unwrap().unwrap();
    let table = "[[mcp_servers]]\nname = \"a\"\ntransport = { type = \"stdio\", command = \"x\" } # why\n";
    assert_eq!(
        without(&format!("{table}\n# --- section: policy ---\n\n[approval]\nelicitation = true\n")),
        "# --- section: policy ---\n\n[approval]\nelicitation = true\n"
    );
    assert_eq!(without(&format!("name = \"x\"\n\n{table}\n# end\n")), "name = \"x\"\n\n# end\n");
    assert_eq!(without(&format!("name = \"x\"\n\n{table}# end")), "name = \"x\"\n\n# end");
    assert_eq!(without(&format!("name = \"x\"\n\n# of a\n{table}\n\n")), "name = \"x\"\n");
    assert_eq!(without(table), "");
    let dotted =
        "[[mcp_servers]]\nname = \"a\"\ntransport.type = \"stdio\"\ntransport.args = [\n  \"x\",\n]\n# of the next\n[mcp]\n";
    assert_eq!(without(dotted), "# of the next\n[mcp]\n");
}

#[test]
fn all_sections_of_a_table_go_wherever_they_stand() {
    let text = "[[mcp_servers]]\nname = \"a\"\n# inside\n\n[mcp_servers.transport]\ntype = \"stdio\"\n\n[mcp]\nsearch = true\n\n\
        # of its scan\n[mcp_servers.taint_policy.tools.t]\ndefault = \"skip\"\n\n# last\n";
    assert_eq!(remove(text, "mcp_servers", "name", "a").unwrap().unwrap(), "[mcp]\nsearch = true\n\n# last\n");
}

#[test]
fn lines_end_as_they_did() {
    let text = "# mine\r\nname = \"x\"\r\n";
    let added = add(text, "mcp_servers", &Json::parse(r#"{"name":"a","n":1}"#, 2).unwrap()).unwrap();
    assert_eq!(added, "# mine\r\nname = \"x\"\r\n\r\n[[mcp_servers]]\r\nname = \"a\"\r\nn = 1\r\n");
    assert_eq!(remove(&added, "mcp_servers", "name", "a").unwrap().as_deref(), Some(text));
    let next = format!("{added}\r\n# next\r\n[mcp]\r\n");
    assert_eq!(remove(&next, "mcp_servers", "name", "a").unwrap().unwrap(), format!("{text}\r\n# next\r\n[mcp]\r\n"));
}
