//! How URLs are read, joined and told apart.

use alloc::string::{String, ToString};

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|fault| panic!("{text} {fault}"))
}

#[test]
fn urls_are_normalised() {
    let cases = [
        ("https://agent.test", "https://agent.test/"),
        ("HTTPS://Agent.TEST:443/a2a#top", "https://agent.test/a2a"),
        ("http://agent.test:80/?", "http://agent.test/?"),
        ("http://agent.test:/", "http://agent.test/"),
        ("http://agent.test:0080/", "http://agent.test/"),
        ("http://agent.test:443/", "http://agent.test:443/"),
        ("https://agent.test:65535/", "https://agent.test:65535/"),
        ("https://agent.test/a/./b/../c/%2e%2E/d", "https://agent.test/a/d"),
        ("https://agent.test/..", "https://agent.test/"),
        ("https://agent.test/%7euser/%2f%c3%a9", "https://agent.test/~user/%2F%C3%A9"),
        ("https://agent.test//a//b", "https://agent.test//a//b"),
        ("https://ex%41mple.test/", "https://example.test/"),
        ("https://xn--bcher-kva.test/?q=%20+&r=a/b?c", "https://xn--bcher-kva.test/?q=%20+&r=a/b?c"),
        ("http://agent.test./", "http://agent.test./"),
        ("http://[2001:DB8:0:0:0:0:0:1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://[::127.0.0.1]/", "http://[::7f00:1]/"),
        ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
    ];
    for (text, expected) in cases {
        assert_eq!(url(text).as_str(), expected, "{text}");
        assert_eq!(url(expected), url(text));
    }
}

#[test]
fn hosts_that_end_in_a_number_are_addresses() {
    let cases = [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0X7F000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"),
        ("1.2.0x0304", "1.2.3.4"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("0x.0x.0", "0.0.0.0"),
        ("00000000000000000000000000000000000000000001", "0.0.0.1"),
        ("4294967295", "255.255.255.255"),
        ("1.0x10.test", "1.0x10.test"),
        ("1.2.3.4.test", "1.2.3.4.test"),
        ("1e1", "1e1"),
        ("0x7f.g", "0x7f.g"),
        ("a..", "a.."),
    ];
    for (host, expected) in cases {
        assert_eq!(url(&alloc::format!("http://{host}/")).host(), expected, "{host}");
    }
    let bad = ["4294967296", "256.0.0.1", "1.256.1", "1.2.3.4.5", "1.2.65536", "08", "0x7g.1", "agent.1", "agent.0x1", "1..2"];
    for host in bad.into_iter().chain(["1.16777216", "99999999999999999999999", "0xffffffffffffffffffffffff"]) {
        assert_eq!(Url::parse(&alloc::format!("http://{host}/")), Err(UrlFault::Host), "{host}");
    }
}

#[test]
fn faults_say_what_to_do_and_never_repeat_the_text() {
    let character = |character, at| UrlFault::Character { character, at };
    let cases = [
        ("", UrlFault::NotAbsolute),
        ("agent.test", UrlFault::NotAbsolute),
        ("/a2a", UrlFault::NotAbsolute),
        ("//agent.test/", UrlFault::NotAbsolute),
        ("127.0.0.1:8080/x", UrlFault::NotAbsolute),
        ("agent test", UrlFault::NotAbsolute),
        ("localhost:8080", UrlFault::Scheme),
        ("ftp://agent.test/", UrlFault::Scheme),
        ("file:///etc/passwd", UrlFault::Scheme),
        ("javascript:alert(1)", UrlFault::Scheme),
        ("http:", UrlFault::NoHost),
        ("http:agent.test", UrlFault::NoHost),
        ("http:/agent.test", UrlFault::NoHost),
        ("http://", UrlFault::NoHost),
        ("http:///agent.test", UrlFault::NoHost),
        ("http://:80/", UrlFault::NoHost),
        ("http://?x", UrlFault::NoHost),
        ("http://[v1.x]/", UrlFault::Host),
        ("http://[::1", UrlFault::Host),
        ("http://[fe80::1%25eth0]/", UrlFault::Host),
        ("http://[1::2::3]/", UrlFault::Host),
        ("http://a%00b/", UrlFault::Host),
        ("http://a%2fb/", UrlFault::Host),
        ("http://a%40b/", UrlFault::Host),
        ("http://a%22b/", UrlFault::Host),
        ("http://%60/", UrlFault::Host),
        ("http://a.%7bb%7d/", UrlFault::Host),
        ("http://bücher.test/", UrlFault::NotAscii),
        ("http://b%C3%BCcher.test/", UrlFault::NotAscii),
        ("http://１２７.0.0.1/", UrlFault::NotAscii),
        ("http://agent.test:65536/", UrlFault::Port),
        ("http://agent.test:99999/", UrlFault::Port),
        ("http://agent.test:8o80/", UrlFault::Port),
        ("http://agent.test:-1/", UrlFault::Port),
        ("http://[::1]:x/", UrlFault::Port),
        ("http://[::1]x/", UrlFault::Host),
        ("http://é.test/", UrlFault::NotAscii),
        ("http://agent.test/%zz", UrlFault::PercentEncoding),
        ("http://agent.test/100%", UrlFault::PercentEncoding),
        ("http://agent.test/a b", character(' ', 20)),
        (" http://agent.test/", character(' ', 1)),
        ("http://agent.test/é", character('é', 19)),
        ("http://agent.test/é|", character('é', 19)),
        ("http://agent.test\\x/", character('\\', 18)),
        ("http://agent.test/\\evil.test", character('\\', 19)),
        ("http://agent.test/a\tb", character('\t', 20)),
        ("http://agent.test/x?a|b", character('|', 22)),
        ("http://agent.test/?a#b#c", character('#', 23)),
        ("http://agent.test/[x]", character('[', 19)),
        ("http://a gent.test:80/", character(' ', 9)),
    ];
    for (text, expected) in cases {
        assert_eq!(Url::parse(text), Err(expected), "{text}");
    }
    let said = |text: &str| -> String { Url::parse(text).unwrap_err().to_string() };
    assert_eq!(said("http://agent.test/é"), "has U+00E9 as character 19, which is not allowed there: percent-encode it (%C3%A9)");
    assert_eq!(said("http://agent.test/|"), "has `|` as character 19, which is not allowed there: percent-encode it (%7C)");
    for text in ["http://@h/", "http://u@h/", "http://u:hunter2@h/", "http://u:hun ter2@h/", "http://:@h/", "http://u:é@h/x"] {
        assert_eq!(Url::parse(text), Err(UrlFault::UserInfo), "{text}");
        assert!(!Url::parse(text).unwrap_err().to_string().contains("hun"));
        assert_eq!(url("http://h/").join(text), Err(UrlFault::UserInfo), "{text}");
    }
}

#[test]
fn parts_are_read() {
    let full = url("https://[::1]:8443/a/b?c=d?e");
    assert_eq!((full.scheme(), full.host(), full.port()), (Scheme::Https, "[::1]", 8443));
    assert_eq!((full.path(), full.query()), ("/a/b", Some("c=d?e")));
    assert_eq!(full.origin().to_string(), "https://[::1]:8443");
    assert_eq!(full.origin_url().as_str(), "https://[::1]:8443/");
    let short = url("http://Agent.test?");
    assert_eq!((short.scheme(), short.host(), short.port()), (Scheme::Http, "agent.test", 80));
    assert_eq!((short.path(), short.query()), ("/", Some("")));
    assert_eq!(url("http://agent.test").query(), None);
    assert_eq!(short.origin().to_string(), "http://agent.test");
}

#[test]
fn origins_are_scheme_host_and_port() {
    let origin = |text| url(text).origin();
    assert_eq!(origin("https://agent.test/a?b"), origin("HTTPS://AGENT.test:443"));
    assert_eq!(origin("http://2130706433/"), origin("http://127.0.0.1/"));
    for other in ["https://agent.test:8443/", "http://agent.test/", "http://agent.test:443/", "https://agent.test./"] {
        assert_ne!(origin("https://agent.test/"), origin(other), "{other}");
    }
}

#[test]
fn the_debug_form_hides_the_query() {
    assert_eq!(alloc::format!("{:?}", url("https://agent.test/a?key=hunter2")), "https://agent.test/a?...");
    assert_eq!(alloc::format!("{:?}", url("https://agent.test/a")), "https://agent.test/a");
}

#[test]
fn references_are_resolved() {
    let cases = [
        ("/a2a/", "https://agent.test:8443/a2a/"),
        ("rpc", "https://agent.test:8443/x/.well-known/rpc"),
        ("../rpc?y", "https://agent.test:8443/x/rpc?y"),
        ("../../../../rpc", "https://agent.test:8443/rpc"),
        ("%2e%2e/rpc", "https://agent.test:8443/x/rpc"),
        ("", "https://agent.test:8443/x/.well-known/agent-card.json?q"),
        ("#f", "https://agent.test:8443/x/.well-known/agent-card.json?q"),
        ("?r", "https://agent.test:8443/x/.well-known/agent-card.json?r"),
        ("//evil.test", "https://evil.test/"),
        ("//agent.test/a2a", "https://agent.test/a2a"),
        ("HTTP://agent.test/a2a", "http://agent.test/a2a"),
        ("/a//b", "https://agent.test:8443/a//b"),
        ("./a:b", "https://agent.test:8443/x/.well-known/a:b"),
    ];
    let base = url("https://agent.test:8443/x/.well-known/agent-card.json?q");
    for (reference, expected) in cases {
        assert_eq!(base.join(reference).as_ref().map(Url::as_str), Ok(expected), "{reference}");
    }
    let bad = [
        ("https:rpc", UrlFault::NoHost),
        ("///evil.test/", UrlFault::NoHost),
        ("mailto:a@b", UrlFault::Scheme),
        ("data:text/plain,x", UrlFault::Scheme),
        ("//evil.test:99999", UrlFault::Port),
        ("/\\evil.test", UrlFault::Character { character: '\\', at: 2 }),
        ("\\\\evil.test", UrlFault::Character { character: '\\', at: 1 }),
        ("/\t/evil.test", UrlFault::Character { character: '\t', at: 2 }),
        ("/a b", UrlFault::Character { character: ' ', at: 3 }),
    ];
    for (reference, expected) in bad {
        assert_eq!(base.join(reference), Err(expected), "{reference}");
    }
}

#[test]
fn paths_are_appended_within_the_origin() {
    let appended = |base: &str, suffix: &str| url(base).with_path_appended(suffix).map(|url| url.as_str().to_owned());
    for base in ["https://agent.test/d", "https://agent.test/d/", "https://agent.test/d//", "https://agent.test/d?key=1#f"] {
        for suffix in ["/.well-known/agent-card.json", ".well-known/agent-card.json"] {
            assert_eq!(appended(base, suffix).unwrap(), "https://agent.test/d/.well-known/agent-card.json");
        }
    }
    assert_eq!(appended("https://agent.test", "/health?x=1").unwrap(), "https://agent.test/health?x=1");
    assert_eq!(appended("https://agent.test/d", "").unwrap(), "https://agent.test/d/");
    for suffix in ["//evil.test/", "/@evil.test", "/../../../x", "/https://evil.test", ":80", "@evil.test", "?//evil.test", "#"] {
        let result = url("https://agent.test:1/d").with_path_appended(suffix).unwrap();
        assert_eq!(result.origin(), url("https://agent.test:1/").origin(), "{suffix}");
    }
    assert_eq!(appended("https://agent.test", "/a b"), Err(UrlFault::Character { character: ' ', at: 21 }));
}

#[test]
fn segments_cannot_leave_their_place() {
    let with = |base: &str, segments: &[&str], suffix: &str| {
        url(base).with_path_segments(segments, suffix).map(|url| url.as_str().to_owned())
    };
    let task = |id: &str| with("https://agent.test/v1/", &["tasks", id], ":cancel");
    assert_eq!(with("https://agent.test", &["message"], ":send").unwrap(), "https://agent.test/message:send");
    assert_eq!(with("https://agent.test/a?code=1", &["tasks"], "").unwrap(), "https://agent.test/a/tasks?code=1");
    let cases = [
        ("a-b.c_d~1", "a-b.c_d~1"),
        ("a/../b", "a%2F..%2Fb"),
        ("../x", "..%2Fx"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        (".a", ".a"),
        ("a?b#c", "a%3Fb%23c"),
        ("a:b\\c", "a%3Ab%5Cc"),
        ("a b\r\n\t\0", "a%20b%0D%0A%09%00"),
        ("é🙂", "%C3%A9%F0%9F%99%82"),
        ("a;b=c&d+e@f", "a%3Bb%3Dc%26d%2Be%40f"),
    ];
    for (id, expected) in cases {
        assert_eq!(task(id).unwrap(), alloc::format!("https://agent.test/v1/tasks/{expected}:cancel"), "{id}");
    }
    for id in ["", ".", ".."] {
        assert_eq!(task(id), Err(UrlFault::Segment), "{id}");
    }
}

#[test]
fn queries_are_added_encoded() {
    let list = url("https://agent.test/cards").with_query("cursor", "a&b=c/é").with_query("limit", "5");
    assert_eq!(list.as_str(), "https://agent.test/cards?cursor=a%26b%3Dc%2F%C3%A9&limit=5");
    assert_eq!(list.query(), Some("cursor=a%26b%3Dc%2F%C3%A9&limit=5"));
    assert_eq!(url(list.as_str()), list);
}

#[test]
fn http_becomes_https_on_a_given_port() {
    let plain = url("http://agent.test:8080/a?b");
    assert_eq!(plain.with_scheme_https_on_port(443).as_str(), "https://agent.test/a?b");
    assert_eq!(plain.with_scheme_https_on_port(8443), url("https://agent.test:8443/a?b"));
}

#[test]
fn a_url_that_is_longer_than_any_is_none() {
    let long = |bytes: usize| alloc::format!("https://a.test/{}", "x".repeat(bytes));
    assert!(Url::parse(&long(16_000)).is_ok());
    assert_eq!(Url::parse(&long(17_000)), Err(UrlFault::Length));
    assert_eq!(Url::parse("https://a.test/").unwrap().join(&long(17_000)), Err(UrlFault::Length));
}
