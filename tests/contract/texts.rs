//! What people are told, where it was easy to tell them something else.

use narrows::io::Cause;

use super::support::case::{code, connect, host, host_with, part, rpc, send, words};
use super::support::host::Host;
use super::support::text::{at, string_at};
use super::world::World;

#[test]
fn a_directory_that_wants_credentials_is_given_them_by_its_own_tool() {
    let mut host = host("{}");
    for status in [401, 403] {
        let number = host.call(1, "discover_agents", r#"{"directory_url":"https://dir.test/"}"#);
        let (exchange, _) = host.fetch();
        host.reply(exchange, status, "");
        let text = words(&host.result(number));
        assert!(text.contains("headers of this call") && !text.contains("connect_agent"), "{text}");
    }
}

#[test]
fn a_directory_tells_what_its_agents_can_do_and_which_entries_it_could_not_read() {
    let mut host = host("{}");
    let number = host.call(1, "discover_agents", r#"{"directory_url":"https://dir.test/"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, r#"[{"name":"A","description":"d","skills":[{"id":"s","name":"Sum"},{"id":"t"}]},{"no":"name"}]"#);
    let text = words(&host.result(number));
    assert_eq!(text, "A (no URL): d Skills: Sum, t.\n1 entries could not be read, among them: 1.");
}

#[test]
fn a_card_that_nests_too_deep_loses_itself_alone() {
    let mut host = host("{}");
    let number = host.call(1, "discover_agents", r#"{"directory_url":"https://dir.test/"}"#);
    let (exchange, _) = host.fetch();
    let deep = format!(r#"{{"name":"deep","x":{}{}}}"#, "[".repeat(130), "]".repeat(130));
    host.reply(exchange, 200, &format!(r#"{{"cards":[{deep},{{"name":"A"}}]}}"#));
    let result = host.result(number);
    assert_eq!(string_at(&result, &["structuredContent", "agents", "0", "name"]).as_deref(), Some("A"));
    let why = string_at(&result, &["structuredContent", "problems", "0", "why"]);
    assert_eq!(why.as_deref(), Some("it nests deeper than json_depth allows"));
}

#[test]
fn a_connect_that_was_overtaken_says_what_stands() {
    for found in [true, false] {
        let mut host = host("{}");
        let early = host.call(1, "connect_agent", r#"{"alias":"l","agent_url":"https://early.test/"}"#);
        let (exchange, _) = host.fetch();
        connect(&mut host, "l", "https://late.test/", "");
        if found {
            host.reply(exchange, 200, r#"{"name":"Early","url":"https://early.test/rpc","skills":[],"capabilities":{}}"#);
        } else {
            host.fail(exchange, Cause::Refused);
            host.no_card();
        }
        let result = host.result(early);
        assert!(words(&result).contains("stands for https://late.test/"), "{result}");
        assert_eq!(string_at(&result, &["structuredContent", "url"]).as_deref(), Some("https://late.test/"));
        assert_eq!(at(&result, &["structuredContent", "card"]).as_deref(), Some("null"));
        let listed = host.call(1, "list_agents", "{}");
        assert!(!host.result(listed).contains("early.test"));
    }
}

#[test]
fn rates_out_of_range_are_refused_and_slow_ones_are_shown() {
    let mut host = host("{}");
    for (limit, bound) in [
        (r#","rate_limit_rps":1e-7,"rate_limit_burst":1"#, "0.000001 to 1000000000000"),
        (r#","rate_limit_rps":1e300,"rate_limit_burst":1"#, "0.000001 to 1000000000000"),
        (r#","rate_limit_rps":1,"rate_limit_burst":1000000001"#, "at most 1000000000"),
    ] {
        let result = connect(&mut host, "bob", "https://bob.test", limit);
        assert_eq!(code(&result).as_deref(), Some("invalid_argument"));
        assert!(words(&result).contains(bound), "{result}");
    }
    connect(&mut host, "bob", "https://bob.test", r#","rate_limit_rps":0.000001,"rate_limit_burst":1"#);
    let listed = host.call(1, "list_agents", "{}");
    let limit = string_at(&host.result(listed), &["structuredContent", "agents", "0", "rate_limit"]);
    assert_eq!(limit.as_deref(), Some("0.000001 rps, burst 1"));
}

#[test]
fn a_batch_without_messages_is_called_empty() {
    let mut world = World::new("{}");
    let session = world.session("2025-03-26", &[]);
    let answer = world.answer(&[("Mcp-Session-Id", &session)], "[]");
    assert_eq!((answer.status, at(&answer.body, &["error", "code"]).as_deref()), (400, Some("-32600")));
    assert!(string_at(&answer.body, &["error", "message"]).unwrap().contains("empty"), "{answer:?}");
    let mut host = Host::new(1, "{}");
    host.open(1, "one");
    let hello = host.request(1, "initialize", r#"{"protocolVersion":"2025-03-26","capabilities":{}}"#);
    host.answer(hello).unwrap();
    host.tell(1, "[]");
    let (_, text) = host.said.pop_back().unwrap();
    assert!(string_at(&text, &["error", "message"]).unwrap().contains("empty"), "{text}");
}

#[test]
fn the_resource_of_an_agent_holds_its_card() {
    let card = r#"{"name":"Bob","url":"https://bob.test/rpc","protocolVersion":"0.3.0","x-vendor":{"n":1e400},"skills":[{"id":"s","name":"S","description":"what it does"}],"capabilities":{},"security":[{"key":[]}]}"#;
    let mut host = host(r#"{"storage":true}"#);
    let read = |host: &mut Host| {
        let number = host.request(1, "resources/read", r#"{"uri":"narrows://agents/bob"}"#);
        let answer = host.answer(number).unwrap();
        let text = string_at(&answer, &["result", "contents", "0", "text"]).unwrap();
        assert_eq!(string_at(&text, &["agent", "alias"]).as_deref(), Some("bob"));
        at(&text, &["card"])
    };
    let number = host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"https://bob.test/"}"#);
    assert_eq!(read(&mut host), None, "it is on its way");
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, card);
    host.result(number);
    assert_eq!(read(&mut host).as_deref(), Some(card));
    host.restart(3);
    assert_eq!(read(&mut host).as_deref(), Some(card), "after a restart");
    let other = card.replace("Bob", "Robert");
    let number = host.call(1, "get_agent_card", r#"{"agent":"bob"}"#);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &other);
    host.result(number);
    assert_eq!(read(&mut host), Some(other), "as it was read last");
    connect(&mut host, "bob", "https://other.test/", "");
    assert_eq!(read(&mut host), None, "the card of another place");
    host.restart(4);
    assert_eq!(read(&mut host), None, "and after a restart");
}

#[test]
fn a_wait_that_is_told_is_long_enough_for_bucket_and_agent() {
    // The agent asks for a second, the bucket has the next token after five; and the other way round.
    for (limit, after, told) in
        [(r#","rate_limit_rps":0.2,"rate_limit_burst":1"#, "1", 5000), (r#","rate_limit_rps":2,"rate_limit_burst":1"#, "3", 3000)]
    {
        let mut host = host_with("bob", "https://bob.test/a2a", limit);
        let number = send(&mut host, "bob", "");
        let (exchange, _) = host.fetch();
        host.head(exchange, 429, &[("Retry-After", after)]);
        host.end(exchange);
        let retry_after = |result: &str| part(result, &["structuredContent", "error", "retry_after_ms"]).parse::<u64>().unwrap();
        let result = host.result(number);
        assert_eq!(retry_after(&result), told, "{result}");
        host.advance(700);
        let early = send(&mut host, "bob", "");
        let wait = retry_after(&host.result(early));
        assert_eq!(wait, told - 700);
        host.advance(wait - 1);
        let early = send(&mut host, "bob", "");
        assert_eq!(retry_after(&host.result(early)), 1, "no less is enough");
        host.advance(1);
        let number = send(&mut host, "bob", "");
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &rpc(r#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"at last"}]}}"#));
        assert_eq!(words(&host.result(number)), "at last");
    }
}
