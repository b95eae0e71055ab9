//! Who named the place that a request goes to: the user, or an agent at a public address.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc
)]

mod support;

use narrows::a2a::Dialect;
use narrows::io::{Output, Request};
use support::case::{code, host, send, words};
use support::host::Host;
use support::text::at;
use support::wire;

fn card(url: &str) -> String {
    wire::card(Dialect::JsonRpc10, url, false, true, "bob")
}

/// An agent whose card names that interface.
fn connected(url: &str, interface: &str) -> Host {
    let mut host = host("{}");
    let number = host.call(1, "connect_agent", &format!(r#"{{"alias":"bob","agent_url":"{url}"}}"#));
    let (exchange, request) = host.fetch();
    assert!(!request.public_only, "the user named it");
    host.reply(exchange, 200, &card(interface));
    host.result(number);
    host
}

/// The request of a send.
fn sent(host: &mut Host) -> Request {
    send(host, "bob", "");
    host.fetch().1
}

#[test]
fn the_host_is_told_where_an_agent_at_a_public_address_named_the_place() {
    for (url, interface, public_only) in [
        ("https://agent.test/", "https://inward.test/rpc", true),
        ("https://agent.test/", "https://agent.test:8443/rpc", false),
        ("https://agent.test/", "https://rpc.agent.test/", true),
        ("https://agent.test/", "https://agent.test/rpc", false),
        ("http://8.8.8.8/", "http://inward.test/rpc", true),
        ("http://10.0.0.1/", "http://inward.test/rpc", false),
        ("http://localhost:3000/", "http://localhost:4000/rpc", false),
        ("http://agent:3000/", "http://agent:4000/rpc", false),
        ("http://agent.local/", "http://127.0.0.1/rpc", false),
    ] {
        let mut host = connected(url, interface);
        let request = sent(&mut host);
        assert_eq!((request.url.as_str(), request.public_only), (interface, public_only), "{url}");
        let said = host.steps.last().unwrap().outputs.iter().find(|output| matches!(output, Output::Fetch { .. })).unwrap();
        assert_eq!(at(said.to_json().as_str(), &["public_only"]).as_deref(), public_only.then_some("true"));
    }
}

#[test]
fn who_named_an_interface_is_known_after_a_restart() {
    let mut host = connected("https://agent.test/", "https://inward.test/rpc");
    host.restart(9);
    assert!(sent(&mut host).public_only);
}

#[test]
fn a_redirect_from_a_public_address_leads_to_public_addresses_alone() {
    for (url, places) in [
        ("https://agent.test/", &["https://inward.test/card", "https://further.test/card"][..]),
        ("http://10.0.0.1/", &["http://public.test/card", "http://inward.test/card"][..]),
    ] {
        let mut host = host("{}");
        host.call(1, "get_agent_card", &format!(r#"{{"agent":"{url}"}}"#));
        let mut told = Vec::new();
        for place in places {
            let (exchange, _) = host.fetch();
            host.head(exchange, 302, &[("location", place)]);
            told.push(host.fetches[0].1.public_only);
        }
        assert_eq!(told, [url.contains("agent"), true], "{url}");
    }
}

#[test]
fn a_literal_address_that_a_redirect_from_outside_names_is_refused() {
    let mut host = host("{}");
    let number = host.call(1, "get_agent_card", r#"{"agent":"http://10.0.0.1/"}"#);
    for place in ["http://public.test/card", "http://10.0.0.2/card"] {
        let (exchange, _) = host.fetch();
        host.head(exchange, 302, &[("location", place)]);
    }
    host.no_card();
    let result = host.result(number);
    assert!(words(&result).contains("10.0.0.2 is a private address"), "{result}");
}

#[test]
fn an_interface_that_was_named_from_outside_is_refused_though_the_user_named_a_private_agent() {
    let mut host = host("{}");
    let number = host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"http://10.0.0.1/"}"#);
    let (exchange, _) = host.fetch();
    host.head(exchange, 302, &[("location", "http://public.test/card")]);
    let (exchange, _) = host.fetch();
    host.reply(exchange, 200, &card("http://127.0.0.1:6379/"));
    host.result(number);
    let number = send(&mut host, "bob", "");
    assert_eq!(code(&host.result(number)).as_deref(), Some("blocked"));
}

#[test]
fn a_host_that_the_user_lists_may_be_named_by_anyone() {
    let config = r#"{"network":{"allowed_hosts":["rpc.agent.test","10.0.0.9"]}}"#;
    for (interface, listed) in [("https://rpc.agent.test/", true), ("https://10.0.0.9/", true), ("https://other.test/", false)] {
        let mut host = host(config);
        let number = host.call(1, "connect_agent", r#"{"alias":"bob","agent_url":"https://agent.test/"}"#);
        let (exchange, _) = host.fetch();
        host.reply(exchange, 200, &card(interface));
        let told = words(&host.result(number));
        assert_eq!(told.contains("network.allowed_hosts has to list it"), !listed, "{told}");
        let request = sent(&mut host);
        assert_eq!((request.url.as_str(), request.public_only), (interface, !listed));
    }
}

#[test]
fn a_registered_host_is_led_to_its_other_ports_by_itself_alone() {
    for (places, told) in [
        (&["https://agent.test:8443/card"][..], &[false][..]),
        (&["https://other.test/card", "https://agent.test:8443/card"][..], &[true, true][..]),
        (&["https://agent.test:8443/card", "https://other.test/card", "https://agent.test/card"][..], &[false, true, false][..]),
    ] {
        let mut host = host("{}");
        host.call(1, "get_agent_card", r#"{"agent":"https://agent.test/"}"#);
        for (place, public_only) in places.iter().zip(told) {
            let (exchange, _) = host.fetch();
            host.head(exchange, 302, &[("location", place)]);
            assert_eq!(host.fetches[0].1.public_only, *public_only, "{places:?}");
        }
    }
}

#[test]
fn credentials_do_not_come_back_from_another_origin() {
    let mut host = host("{}");
    let arguments = r#"{"alias":"bob","agent_url":"https://agent.test/","headers":{"Authorization":"Bearer 0123456789"}}"#;
    host.call(1, "connect_agent", arguments);
    let places = ["https://agent.test/card", "https://other.test/b", "https://agent.test/admin/delete?x=1"];
    let mut told = Vec::new();
    for place in places {
        let (exchange, request) = host.fetch();
        told.push(request.headers.iter().any(|(name, _)| name == "Authorization"));
        host.head(exchange, 302, &[("location", place)]);
    }
    told.push(host.fetch().1.headers.iter().any(|(name, _)| name == "Authorization"));
    assert_eq!(told, [true, true, false, false]);
}
