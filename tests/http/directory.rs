//! The directory as registrars, readers, tools and hosts see it.

use narrows::config::Config;
use narrows::gateway::{Gateway, Secrets};
use narrows::io::{DirectoryInput, Input, LookupId, Misuse, RequestId};
use narrows::json::{self, Json};
use narrows::time::Instant;

use super::storage::Storage;
use super::world::{Response, World, genesis, rpc, with_meta};

const TOKENS: &str = r#"{"directory":{"built_in":true},"auth":{"tokens":[
{"token":"alpha-token","principal":"a","may_register":true},{"token":"beta-token-2","principal":"b","may_register":true},
{"token":"plain-token","principal":"a"}]}}"#;

fn card(name: &str, description: &str) -> String {
    let (name, description) = (Json::string(name), Json::string(description));
    format!(
        r#"{{"name":{},"description":{},"url":"https://a.test/","capabilities":{{}},"skills":[{{"id":"s","tags":["t"]}}],"x":1.50}}"#,
        name.as_str(),
        description.as_str()
    )
}

fn call(world: &mut World, method: &str, target: &str, token: &str, body: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let fields = [("Authorization", bearer.as_str())];
    let request = world.send(method, target, if token.is_empty() { &[] } else { &fields }, body);
    world.done(request)
}

fn get(world: &mut World, target: &str) -> Response {
    call(world, "GET", target, "", "")
}

fn filled(count: u32) -> World {
    let mut world = World::new("{}");
    for number in 0..count {
        let name = format!("agent-{number:02}");
        let response = call(&mut world, "PUT", &format!("/agents/{name}"), "", &card(&name, "about"));
        assert_eq!(response.status, 201, "{}", response.body);
    }
    world
}

/// The names of the cards of a body, in either form.
fn names(body: &str) -> Vec<String> {
    let raw = json::parse(body, 128).unwrap();
    let list = json::members(raw).map_or(raw, |members| members.get("cards").unwrap());
    json::elements(list).unwrap().into_iter().map(|card| json::members(card).unwrap().string("name").unwrap()).collect()
}

fn token(body: &str) -> Option<String> {
    json::members(json::parse(body, 128).unwrap()).unwrap().string("next_token")
}

/// Where a `Link` leads.
fn next(response: &Response) -> Option<String> {
    let link = response.header("link")?;
    let target = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).expect("one link to what is next");
    Some(target.to_owned())
}

#[test]
fn cards_are_registered_replaced_and_removed() {
    let mut world = World::new("{}");
    let response = call(&mut world, "PUT", "/agents/Chef%20%2F%20%C3%A9+1", "", &card("Chef / é+1", "cooks"));
    assert_eq!((response.status, response.body.as_str()), (201, card("Chef / é+1", "cooks").as_str()));
    let replaced = card("Chef / é+1", "cooks more");
    assert_eq!(call(&mut world, "PUT", "/agents/Chef%20%2F%20%C3%A9+1/", "", &replaced).status, 200);
    assert_eq!(get(&mut world, "/agents").body, format!("[{replaced}]"), "a card is kept as it was registered");
    assert_eq!(call(&mut world, "DELETE", "/agents/other", "", "").status, 404);
    let response = call(&mut world, "DELETE", "/agents/Chef%20%2F%20%C3%A9+1", "", "");
    assert_eq!((response.status, response.body.as_str()), (204, ""));
    assert_eq!(get(&mut world, "/agents/").body, "[]");
}

#[test]
fn what_is_no_card_of_that_name_is_refused_and_changes_nothing() {
    let mut world = filled(1);
    let before = get(&mut world, "/agents").body;
    for body in ["", "{", "[]", "null", "{}", r#"{"name":"agent-00"}"#, &card("other", ""), "\u{feff}"] {
        let response = call(&mut world, "PUT", "/agents/agent-00", "", body);
        assert_eq!((response.status, response.header("content-type")), (400, Some("application/json")), "{body}");
        let error = json::members(json::parse(&response.body, 9).unwrap()).unwrap();
        let error = json::members(error.get("error").unwrap()).unwrap();
        assert!(error.string("code").is_some() && error.string("message").is_some(), "{}", response.body);
    }
    assert_eq!(get(&mut world, "/agents").body, before);
}

#[test]
fn every_other_method_is_told_which_are_served() {
    let mut world = filled(1);
    for (method, target, allow) in [
        ("POST", "/agents", "GET, HEAD"),
        ("PUT", "/agents", "GET, HEAD"),
        ("DELETE", "/agents/", "GET, HEAD"),
        ("GET", "/agents/agent-00", "PUT, DELETE"),
        ("POST", "/agents/agent-00", "PUT, DELETE"),
        ("PATCH", "/agents/agent-00", "PUT, DELETE"),
    ] {
        let response = call(&mut world, method, target, "", "{}");
        assert_eq!((response.status, response.header("allow")), (405, Some(allow)), "{method} {target}");
    }
    assert_eq!(call(&mut world, "HEAD", "/agents", "", "").status, 200);
}

#[test]
fn reading_is_public_and_writing_needs_a_token_that_may() {
    let mut world = World::new(TOKENS);
    let body = card("one", "");
    let put = |world: &mut World, token: &str| call(world, "PUT", "/agents/one", token, &body).status;
    assert_eq!([put(&mut world, ""), put(&mut world, "wrong-token"), put(&mut world, "plain-token")], [401, 401, 403]);
    assert_eq!(put(&mut world, "alpha-token"), 201);
    assert_eq!(names(&get(&mut world, "/agents").body), ["one"]);
    assert_eq!(put(&mut world, "beta-token-2"), 403, "the entry is another's");
    assert_eq!(call(&mut world, "DELETE", "/agents/one", "beta-token-2", "").status, 403);
    assert_eq!(call(&mut world, "DELETE", "/agents/one", "plain-token", "").status, 403);
    assert_eq!(call(&mut world, "POST", "/agents", "", "").status, 401);
    assert_eq!(put(&mut world, "alpha-token"), 200);
    assert_eq!(call(&mut world, "DELETE", "/agents/one", "alpha-token", "").status, 204);
    assert_eq!(put(&mut world, "beta-token-2"), 201);
    let mut open = World::new(r#"{"server":{"loopback":false}}"#);
    assert_eq!(call(&mut open, "PUT", "/agents/one", "", &body).status, 403, "not everybody who can reach it may write");
    assert_eq!(get(&mut open, "/agents").status, 200);
}

#[test]
fn host_origin_and_pages_of_elsewhere_are_held_to_the_rules_of_every_route() {
    let mut world = World::new(TOKENS);
    for evil in [("Host", "evil.example.com"), ("Origin", "http://evil.example.com")] {
        for (method, target) in [("GET", "/agents"), ("PUT", "/agents/one"), ("OPTIONS", "/agents/one")] {
            let request = world.head(method, target, &[evil]);
            assert_eq!(world.done(request).status, 403, "{method} {target} {evil:?}");
        }
    }
    let request = world.head("OPTIONS", "/agents/one", &[("Origin", "http://localhost:3000")]);
    let response = world.done(request);
    assert!(response.header("access-control-allow-methods").unwrap().contains("PUT"));
    let request = world.head("GET", "/agents", &[("Origin", "http://localhost:3000")]);
    let response = world.done(request);
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:3000"));
    assert!(response.header("access-control-expose-headers").unwrap().contains("Link"));
}

#[test]
fn a_card_that_is_too_large_is_refused_before_it_is_read() {
    let mut world = World::new("{}");
    let request = world.head("PUT", "/agents/one", &[("Content-Length", "1048577")]);
    assert_eq!(world.done(request).status, 413);
    let request = world.head("PUT", "/agents/one", &[]);
    world.input(Input::RequestBody { request: RequestId(request), bytes: vec![b' '; (1 << 20) + 1] });
    assert_eq!(world.done(request).status, 413);
    let bytes = card("one", "").len();
    let body = card("one", &"x".repeat((1 << 20) - bytes));
    assert_eq!(call(&mut world, "PUT", "/agents/one", "", &body).status, 201, "1 MiB is taken");
}

#[test]
fn a_full_directory_says_so() {
    let mut world = World::new(r#"{"limits":{"directory_cards":1}}"#);
    assert_eq!(call(&mut world, "PUT", "/agents/one", "", &card("one", "")).status, 201);
    let response = call(&mut world, "PUT", "/agents/two", "", &card("two", ""));
    assert!(response.status == 507 && response.body.contains("directory_cards"), "{response:?}");
    assert_eq!(call(&mut world, "PUT", "/agents/one", "", &card("one", "again")).status, 200);
    let mut world = World::new(r#"{"limits":{"directory_bytes":300}}"#);
    assert_eq!(call(&mut world, "PUT", "/agents/one", "", &card("one", "")).status, 201);
    assert_eq!(call(&mut world, "PUT", "/agents/one", "", &card("one", &"x".repeat(300))).status, 507);
    assert_eq!(call(&mut world, "PUT", "/agents/two", "", &card("two", &"x".repeat(300))).status, 507);
    assert_eq!(names(&get(&mut world, "/agents").body), ["one"]);
}

#[test]
fn pages_are_linked_or_carry_their_token() {
    let mut world = filled(5);
    let response = get(&mut world, "/agents?limit=2&filter=AGENT");
    assert_eq!(names(&response.body), ["agent-00", "agent-01"]);
    let mut shown = names(&response.body);
    let mut target = next(&response);
    while let Some(page) = target {
        let response = get(&mut world, &page);
        assert!(response.body.starts_with('['), "what begins as a list goes on as one");
        shown.extend(names(&response.body));
        target = next(&response);
    }
    assert_eq!(shown, names(&get(&mut world, "/agents").body));
    assert_eq!(get(&mut world, "/agents").header("link"), None);
    let response = get(&mut world, "/agents?limit=4&cursor=");
    assert_eq!(names(&response.body).len(), 4);
    let cursor = token(&response.body).unwrap();
    let response = get(&mut world, &format!("/agents?limit=4&cursor={cursor}"));
    assert_eq!((names(&response.body), token(&response.body)), (vec!["agent-04".to_owned()], None));
    assert_eq!(get(&mut world, "/agents?filter=nobody&cursor=").body, r#"{"cards":[]}"#);
}

#[test]
fn what_cannot_be_asked_is_400_and_help_says_what_can() {
    let mut world = filled(3);
    let cursor = token(&get(&mut world, "/agents?limit=1&cursor=").body).unwrap();
    let of_another_filter = format!("filter=other&cursor={cursor}");
    for query in [
        "limit=0",
        "limit=-1",
        "limit=1.5",
        "limit=x",
        "limit=",
        "limit=99999999999999999999",
        "cursor=x",
        "filter=%FF",
        &of_another_filter,
    ] {
        assert_eq!(get(&mut world, &format!("/agents?{query}")).status, 400, "{query}");
    }
    let help = get(&mut world, "/agents?help=true&filter=ignored");
    let members = json::members(json::parse(&help.body, 9).unwrap()).unwrap();
    assert_eq!(members.get("cards").unwrap().get(), "[]");
    let help = json::members(members.get("help").unwrap()).unwrap();
    assert!(["description", "syntax"].iter().all(|name| help.string(name).is_some()));
    assert!(["examples", "filterable_fields"].iter().all(|name| json::strings(help.get(name).unwrap()).is_some()));
    assert_eq!(names(&get(&mut world, "/agents?help=false").body).len(), 3);
}

#[test]
fn a_version_that_the_client_has_is_not_sent_again() {
    let mut world = filled(3);
    let tag = get(&mut world, "/agents?limit=2").header("etag").unwrap().to_owned();
    for (shown, status) in [(tag.clone(), 304), (format!("W/{tag}, \"x\""), 304), ("*".into(), 304), ("\"x\"".into(), 200)] {
        let request = world.head("GET", "/agents?limit=2", &[("If-None-Match", &shown)]);
        let response = world.done(request);
        assert_eq!((response.status, response.header("etag")), (status, Some(tag.as_str())), "{shown}");
        assert_eq!(response.header("vary"), Some("Origin"), "a page of another origin is not answered from what is kept");
        assert_eq!(response.body.is_empty(), status == 304);
    }
    // The same cards, but nothing behind them any more.
    assert_eq!(call(&mut world, "DELETE", "/agents/agent-02", "", "").status, 204);
    assert_ne!(get(&mut world, "/agents?limit=2").header("etag"), Some(tag.as_str()));
}

#[test]
fn a_restart_keeps_cards_owners_and_cursors() {
    let mut world = World::new(TOKENS);
    for name in ["one", "two", "three"] {
        assert_eq!(call(&mut world, "PUT", &format!("/agents/{name}"), "alpha-token", &card(name, name)).status, 201);
    }
    assert_eq!(call(&mut world, "DELETE", "/agents/two", "alpha-token", "").status, 204);
    // As deep as a card may nest.
    let deep = format!(r#"{{"name":"deep","url":"https://a.test","skills":[],"x":{}{}}}"#, "[".repeat(119), "]".repeat(119));
    assert_eq!(call(&mut world, "PUT", "/agents/deep", "beta-token-2", &deep).status, 201);
    let deeper = deep.replace("[[", "[[[").replace("]]", "]]]");
    assert_eq!(call(&mut world, "PUT", "/agents/deep", "beta-token-2", &deeper).status, 400);
    let page = get(&mut world, "/agents?limit=1&cursor=");
    let storage = world.storage.clone();
    for (pieces, storage) in [
        (storage.pieces(), storage),
        (world.gateway.snapshot(Secrets::Keep), Storage::default()),
        (world.gateway.snapshot(Secrets::Drop), Storage::default()),
    ] {
        let config = Config { storage: true, ..Config::from_json(TOKENS).unwrap() };
        let mut later = World::with(Gateway::restore(genesis(0), config.clone(), &pieces).unwrap(), config);
        later.storage = storage;
        later.drain();
        assert_eq!(get(&mut later, "/agents?limit=1&cursor=").body, page.body);
        let rest = get(&mut later, &format!("/agents?cursor={}", token(&page.body).unwrap()));
        assert_eq!(names(&rest.body), ["one", "three"]);
        assert_eq!(call(&mut later, "DELETE", "/agents/deep", "alpha-token", "").status, 403);
        assert_eq!(call(&mut later, "DELETE", "/agents/deep", "beta-token-2", "").status, 204);
    }
}

#[test]
fn the_program_registers_what_it_likes() {
    let mut world = filled(1);
    let register = |text: String| Input::Directory(DirectoryInput::Register { card: text });
    let unregister = |name: &str| Input::Directory(DirectoryInput::Unregister { name: name.into() });
    world.input(register(card("mine", "")));
    assert_eq!(call(&mut world, "DELETE", "/agents/mine", "", "").status, 403);
    assert_eq!(call(&mut world, "PUT", "/agents/mine", "", &card("mine", "x")).status, 403);
    world.input(unregister("agent-00"));
    assert_eq!(names(&get(&mut world, "/agents").body), ["mine"]);
    let mut refused = |input| world.gateway.handle_input(Instant::from_ms(0), input).unwrap_err();
    assert!(matches!(refused(unregister("agent-00")), Misuse::Directory(_)));
    assert!(matches!(refused(register("{}".into())), Misuse::Directory(_)));
    let mut without = World::new(r#"{"directory":{"built_in":false}}"#);
    assert!(without.gateway.handle_input(Instant::from_ms(0), register(card("mine", ""))).is_err());
    assert_eq!(get(&mut without, "/agents").status, 404);
}

/// The structured answer of discover_agents.
fn discover(world: &mut World, arguments: &str) -> u64 {
    let params = format!(r#"{{"name":"discover_agents","arguments":{arguments}}}"#);
    let fields = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "discover_agents"),
        ("Authorization", "Bearer beta-token-2"),
    ];
    world.post(&fields, &rpc("1", "tools/call", &with_meta(&params)))
}

fn structured(response: &Response) -> String {
    let result = json::members(json::parse(&response.body, 64).unwrap()).unwrap().get("result").unwrap();
    json::members(result).unwrap().get("structuredContent").unwrap().get().to_owned()
}

#[test]
fn discover_agents_asks_the_built_in_directory_first() {
    let mut world = World::new(&TOKENS.replace("true},\"auth", r#"true,"url":"https://d.test/agents"},"auth"#));
    for name in ["one", "two", "three"] {
        assert_eq!(call(&mut world, "PUT", &format!("/agents/{name}"), "alpha-token", &card(name, name)).status, 201);
    }
    let request = discover(&mut world, r#"{"filter":"O","limit":1}"#);
    let found = structured(&world.done(request));
    let members = json::members(json::parse(&found, 64).unwrap()).unwrap();
    assert_eq!(members.get("agents").unwrap().get(), format!("[{}]", card("one", "one")));
    let cursor = Json::string(&members.string("next_token").unwrap());
    let request = discover(&mut world, &format!(r#"{{"filter":"o","cursor":{}}}"#, cursor.as_str()));
    assert_eq!(structured(&world.done(request)), format!(r#"{{"agents":[{}]}}"#, card("two", "two")));
    let request = discover(&mut world, r#"{"cursor":"x"}"#);
    assert!(structured(&world.done(request)).contains("invalid_argument"));
    let request = discover(&mut world, r#"{"help":true}"#);
    assert!(structured(&world.done(request)).contains("filterable_fields"));
    discover(&mut world, r#"{"directory_url":"https://e.test/agents"}"#);
    assert_eq!(world.fetches.pop().unwrap().1.url, "https://e.test/agents");
    // Where it is not named as a source, a gateway does not ask itself.
    let mut world = World::new("{}");
    let request = discover(&mut world, "{}");
    assert!(structured(&world.done(request)).contains("invalid_argument"));
}

fn found(world: &mut World, text: &str) {
    let lookup = world.lookups.pop().expect("the host is asked").lookup;
    world.input(Input::Directory(DirectoryInput::Found { lookup, text: text.into() }));
}

#[test]
fn a_host_that_queries_answers_pages_of_its_own() {
    let mut world = World::new(r#"{"directory":{"built_in":true,"store":"query"}}"#);
    let request = world.send("GET", "/agents?filter=a%20b&limit=3&cursor=c1", &[], "");
    let lookup = world.lookups.last().unwrap();
    let page = lookup.page.clone().unwrap();
    assert_eq!((lookup.filter.as_deref(), page.limit, page.cursor.as_deref()), (Some("a b"), 3, Some("c1")));
    found(&mut world, &format!(r#"{{"cards":[{}],"next_token":"c2"}}"#, card("one", "")));
    assert_eq!(world.done(request).body, format!(r#"{{"cards":[{}],"next_token":"c2"}}"#, card("one", "")));
    let request = world.send("GET", "/agents", &[], "");
    assert_eq!(world.lookups.last().unwrap().page.clone().unwrap().limit, 1000);
    found(&mut world, r#"{"cards":[],"next_token":"c 3"}"#);
    assert_eq!(next(&world.done(request)).unwrap(), "/agents?page=c%203");
    let request = world.send("GET", "/agents?cursor=old", &[], "");
    let lookup = world.lookups.pop().unwrap().lookup;
    world.input(Input::Directory(DirectoryInput::Failed { lookup, bad_cursor: true, detail: "that page is gone".into() }));
    let response = world.done(request);
    assert!(response.status == 400 && response.body.contains("that page is gone"), "{response:?}");
    let request = discover(&mut world, r#"{"limit":5}"#);
    found(&mut world, &format!("[{}]", card("one", "")));
    assert_eq!(structured(&world.done(request)), format!(r#"{{"agents":[{}]}}"#, card("one", "")));
    let request = discover(&mut world, "{}");
    world.lookups.clear();
    world.pass(30_000);
    assert!(structured(&world.done(request)).contains("timeout"));
    let request = world.send("GET", "/agents", &[], "");
    let lookup = world.lookups.pop().unwrap().lookup;
    world.pass(29_999);
    assert!(!world.responses.contains_key(&request));
    world.pass(1);
    let response = world.done(request);
    assert!(response.status == 504 && response.body.contains(r#""code":"timeout""#), "{response:?}");
    world.input(Input::Directory(DirectoryInput::Found { lookup, text: "[]".into() }));
    assert_eq!(world.gateway.poll_timeout(), None, "nobody waits any more");
    for method in ["PUT", "DELETE"] {
        assert_eq!(call(&mut world, method, "/agents/one", "", &card("one", "")).status, 405, "the host's cards are its own");
    }
}

#[test]
fn a_host_that_lists_is_filtered_and_paged_here() {
    let list = format!("[{},{},{}]", card("b", "cooks"), card("c", "drives"), card("a", "cooks"));
    for (store, answer, shown) in [("list", list.as_str(), "cook"), ("filter", &list, "cook")] {
        let mut world = World::new(&format!(r#"{{"directory":{{"built_in":true,"store":"{store}"}}}}"#));
        let request = world.send("GET", &format!("/agents?filter={shown}&limit=1&cursor="), &[], "");
        let lookup = world.lookups.last().unwrap();
        assert!(lookup.page.is_none() && lookup.filter.is_some() == (store == "filter"));
        found(&mut world, answer);
        let response = world.done(request);
        assert_eq!(names(&response.body), ["a"]);
        let cursor = token(&response.body).unwrap();
        let request = world.send("GET", &format!("/agents?filter={shown}&cursor={cursor}"), &[], "");
        found(&mut world, answer);
        let expected = if store == "list" { vec!["b"] } else { vec!["b", "c"] };
        assert_eq!(names(&world.done(request).body), expected);
        let bad = get(&mut world, "/agents?cursor=x");
        assert!(bad.status == 400 && world.lookups.is_empty(), "a bad cursor is seen before the host is asked");
        let request = world.send("GET", "/agents", &[], "");
        found(&mut world, "{}");
        assert_eq!(world.done(request).status, 502);
    }
}

#[test]
fn a_lookup_whose_asker_left_answers_nobody_else() {
    let mut world = World::new(r#"{"directory":{"store":"list"}}"#);
    let request = world.send("GET", "/agents", &[], "");
    let lookup = world.lookups.pop().unwrap().lookup;
    world.gone(request);
    let headers = vec![("Host".into(), "localhost".into())];
    world.input(Input::Request { request: RequestId(request), method: "GET".into(), target: "/agents".into(), headers });
    world.input(Input::Directory(DirectoryInput::Found { lookup, text: "[]".into() }));
    assert!(!world.responses.contains_key(&request), "a late answer is nobody's");
    found(&mut world, "[]");
    assert_eq!(world.done(request).body, "[]");
    for number in [0, 3, 1 << 52] {
        let never = Input::Directory(DirectoryInput::Found { lookup: LookupId(number), text: "[]".into() });
        let misuse = world.gateway.handle_input(Instant::from_ms(0), never).unwrap_err();
        assert_eq!(misuse, Misuse::LookupUnknown(LookupId(number)));
    }
    let mut small = World::new(r#"{"directory":{"store":"list"},"limits":{"requests":1}}"#);
    small.send("GET", "/agents", &[], "");
    assert_eq!(get(&mut small, "/agents").status, 503);
    found(&mut small, "[]");
    small.send("GET", "/agents", &[], "");
    assert_eq!(small.lookups.len(), 1);
    let request = world.send("GET", "/agents", &[], "");
    world.input(Input::Stop);
    assert_eq!(world.done(request).status, 503);
    let kept = world.storage.pieces();
    let config = Config { storage: true, ..Config::from_json(r#"{"directory":{"store":"list"}}"#).unwrap() };
    let mut later = World::with(Gateway::restore(genesis(0), config.clone(), &kept).unwrap(), config);
    later.send("GET", "/agents", &[], "");
    assert_eq!(later.lookups.pop().unwrap().lookup, LookupId(4), "a number is not given twice");
}

/// A record of the field's cases.
fn case(id: &str) -> String {
    let text = include_str!("../data/cases/directory-pagination.json");
    let records = json::elements(json::parse(text, 64).unwrap()).unwrap();
    let record = records.into_iter().find(|raw| json::members(*raw).unwrap().string("id").as_deref() == Some(id));
    json::members(record.expect("the case is there")).unwrap().get("input").unwrap().get().to_owned()
}

#[test]
fn page_001_and_002_an_empty_cursor_is_the_first_page_and_no_token_is_empty() {
    assert!(case("page-001").contains(r#""nextCursor": """#) && case("page-002").contains(r#""cursor_in": """#));
    let mut world = filled(3);
    let (mut cursor, mut shown, mut requests) = (String::new(), Vec::new(), 0);
    loop {
        let body = get(&mut world, &format!("/agents?limit=1&cursor={cursor}")).body;
        shown.extend(names(&body));
        requests += 1;
        let Some(next) = token(&body) else { break };
        assert!(!next.is_empty());
        cursor = next;
    }
    assert_eq!((shown.as_slice(), requests), (names(&get(&mut world, "/agents").body).as_slice(), 3));
}

#[test]
fn page_004_every_page_is_told_of() {
    let input = case("page-004");
    let pages = json::elements(json::members(json::parse(&input, 9).unwrap()).unwrap().get("pages").unwrap()).unwrap();
    let expected: Vec<String> =
        pages.iter().flat_map(|page| json::strings(json::members(*page).unwrap().get("tools").unwrap()).unwrap()).collect();
    let mut world = World::new("{}");
    for name in &expected {
        call(&mut world, "PUT", &format!("/agents/{name}"), "", &card(name, ""));
    }
    let first = get(&mut world, "/agents?limit=1");
    let second = get(&mut world, &next(&first).expect("there is more"));
    assert_eq!([names(&first.body), names(&second.body)].concat(), expected);
    assert_eq!(next(&second), None);
}

#[test]
fn page_005_what_is_no_card_is_never_listed() {
    let input = case("page-005");
    let entries = json::members(json::parse(&input, 16).unwrap()).unwrap().get("directory").unwrap();
    let mut world = World::new("{}");
    let mut refused = 0;
    for entry in json::elements(entries).unwrap() {
        let name = json::members(entry).and_then(|members| members.string("name"));
        let target = format!("/agents/{}", name.as_deref().unwrap_or("nameless"));
        if call(&mut world, "PUT", &target, "", entry.get()).status == 400 {
            refused += 1;
        } else {
            assert!(name.is_some());
        }
    }
    assert!(refused >= 3);
    let tags_null = r#"{"name":"tags-null","url":"https://a.test","skills":[{"id":"s","name":"s","tags":null}]}"#;
    assert_eq!(call(&mut world, "PUT", "/agents/tags-null", "", tags_null).status, 201);
    assert_eq!(get(&mut world, "/agents?filter=TAGS-").body, format!("[{tags_null}]"));
}

#[test]
fn page_007_a_listed_card_is_as_rich_as_the_registered_one() {
    assert!(case("page-007").contains("bodies"));
    let mut world = World::new("{}");
    let body = card("one", "");
    call(&mut world, "PUT", "/agents/one", "", &body);
    for (target, whole) in [("/agents", format!("[{body}]")), ("/agents?cursor=", format!(r#"{{"cards":[{body}]}}"#))] {
        assert_eq!(get(&mut world, target).body, whole);
    }
}
