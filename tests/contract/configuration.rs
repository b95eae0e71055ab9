//! A configuration that can never work is refused when it is given, with every fault named.

use narrows::config::Config;

fn faults(text: &str) -> Vec<String> {
    Config::from_json(text).map_or_else(|refused| refused.0, |_| Vec::new())
}

#[test]
fn what_is_never_called_is_refused() {
    for (text, key) in [
        (r#"{"external_agents":[{"name":"a","url":"http://169.254.169.254/"}]}"#, "external_agents[0].url"),
        (r#"{"external_agents":[{"name":"a","url":"http://[fe80::1]/"}]}"#, "external_agents[0].url"),
        (
            r#"{"network":{"allow_private":false},"external_agents":[{"name":"a","url":"http://10.0.0.1/"}]}"#,
            "external_agents[0].url",
        ),
        (r#"{"directory":{"url":"http://169.254.169.254/"}}"#, "directory.url"),
    ] {
        let found = faults(text);
        assert!(found.len() == 1 && found[0].contains(key) && found[0].contains("not called"), "{text}: {found:?}");
    }
    let allowed = r#"{"network":{"allow_private":false,"allowed_hosts":["10.0.0.1"]},"external_agents":[{"name":"a","url":"http://10.0.0.1/"}]}"#;
    assert_eq!(faults(allowed), Vec::<String>::new());
}

#[test]
fn hosts_and_origins_that_nothing_can_match_are_refused() {
    for entry in ["a b", "http://x", "x:80", "x/", "", "10.1", "*.example.com", "é"] {
        let found = faults(&format!(r#"{{"network":{{"allowed_hosts":["ok","{entry}"]}}}}"#));
        assert!(found.len() == 1 && found[0].contains("network.allowed_hosts[1]"), "{entry}: {found:?}");
    }
    for entry in ["http://x", "a b", "x/", "", "x:y", "x:70000", "::1"] {
        let found = faults(&format!(r#"{{"server":{{"hosts":["{entry}"]}}}}"#));
        assert!(found.len() == 1 && found[0].contains("server.hosts[0]"), "{entry}: {found:?}");
    }
    for entry in ["app.test", "https://app.test/", "https://App.test", "*", "https://*.test", "", "https://"] {
        let found = faults(&format!(r#"{{"server":{{"cors_origins":["{entry}"]}}}}"#));
        assert!(found.len() == 1 && found[0].contains("server.cors_origins[0]"), "{entry}: {found:?}");
    }
    let good = r#"{"network":{"allowed_hosts":["10.0.0.1","[::1]","Agent.Test"]},"server":{"hosts":["gw.test","gw.test:8443","[::1]","[::1]:1","10.0.0.1"],"cors_origins":["https://app.test","http://localhost:3000","null","chrome-extension://abc"]}}"#;
    assert_eq!(faults(good), Vec::<String>::new());
}

#[test]
fn tools_that_are_never_offered_are_no_list_of_tools() {
    let found = faults(r#"{"tools":["get_history","clear_history"],"history":{"depth":0}}"#);
    assert!(found.len() == 1 && found[0].contains("`tools`"), "{found:?}");
    assert_eq!(faults(r#"{"tools":["list_tasks"]}"#).len(), 1);
    assert_eq!(faults(r#"{"tools":["list_tasks"],"a2a":{}}"#), Vec::<String>::new());
    assert_eq!(faults(r#"{"tools":[]}"#), Vec::<String>::new(), "who wants none says so");
}

#[test]
fn a_key_given_twice_is_a_fault_beside_all_others() {
    let text = r#"{"name":"a","histroy":1,"name":"b","limits":{"requests":1,"requests":2,"sessions":0},"name":"c"}"#;
    let found = faults(text);
    for part in ["`name` is given twice", "`histroy`", "`limits.requests` is given twice", "`limits.sessions`"] {
        assert!(found.iter().any(|fault| fault.contains(part)), "{part}: {found:?}");
    }
    assert!(Config::from_json(r#"{"name":"a","name":"a"}"#).is_err());
}

#[test]
fn rates_that_no_bucket_has_are_refused_with_the_bound() {
    for rps in ["1e-7", "0.0000009", "-1", "1e300", "1000000000001"] {
        let found = faults(&format!(r#"{{"rate_limit":{{"rps":{rps},"burst":1}}}}"#));
        assert!(found.len() == 1 && found[0].contains("0.000001 to 1000000000000"), "{rps}: {found:?}");
    }
    let found = faults(r#"{"rate_limit":{"rps":1,"burst":1000000001}}"#);
    assert!(found.len() == 1 && found[0].contains("at most 1000000000"), "{found:?}");
    for rps in ["0", "0.000001", "1e12", "-0", "7.3"] {
        assert_eq!(faults(&format!(r#"{{"rate_limit":{{"rps":{rps},"burst":1}}}}"#)), Vec::<String>::new(), "{rps}");
    }
}

#[test]
fn a_fault_hides_no_other() {
    let long =
        format!(r#"{{"external_agents":[{{"name":"y","url":"http://a.test","headers":{{"X":"{}"}}}}]}}"#, "x".repeat(65_532));
    let cases: [(&str, &[&str]); 8] = [
        (r#"{"rate_limit":{"rps":1},"health":{"failure_threshold":-1}}"#, &["`rate_limit.burst`", "`health.failure_threshold`"]),
        (
            r#"{"external_agents":[{"name":"y"},{"url":"x:"},{}],"nope":1}"#,
            &[
                "`external_agents[0].url`",
                "`external_agents[1].name`",
                "`external_agents[1].url`",
                "`external_agents[2].name`",
                "`external_agents[2].url`",
                "`nope`",
            ],
        ),
        (r#"{"tools":["get_history"],"history":{"depth":0},"nope":1}"#, &["`tools`", "`nope`"]),
        (r#"{"auth":{"tokens":[{"token":"short","principal":"ada"}]}}"#, &["`auth.tokens[0].token`"]),
        (r#"{"poll_timeout_seconds":0.0001}"#, &["at least 0.001"]),
        (
            r#"{"external_agents":[{"name":"y","url":"http://a.test","headers":{"Host":"b","X":"c"}}]}"#,
            &["`external_agents[0].headers` may not set Host"],
        ),
        (
            r#"{"external_agents":[{"name":"y","url":"http://a.test","headers":{"Host":"b","a b":"c","ok":"\u00e9","X-Tok":"1","x-tok":"2"}}]}"#,
            &[
                "`external_agents[0].headers` may not set Host",
                "`external_agents[0].headers` has a name that is no HTTP field name: \"a b\"",
                "`external_agents[0].headers.ok` must be visible",
                "`external_agents[0].headers` has x-tok twice",
            ],
        ),
        (&long, &["`external_agents[0].headers` has more than 65536 bytes"]),
    ];
    for (text, expected) in cases {
        let faults = faults(text);
        assert_eq!(faults.len(), expected.len(), "{text}: {faults:?}");
        for words in expected {
            assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
        }
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let two = r#"[{"name":"a","url":"http://a.test"},{"name":"b","url":"http://b.test"}]"#;
    let many = faults(&format!(r#"{{"external_agents":{two},"limits":{{"agents_per_scope":1}}}}"#));
    assert!(many.len() == 1 && many[0].contains("`limits.agents_per_scope` (1)"), "{many:?}");
    let entry = |principal: &str| format!(r#"{{"token":"one-token","principal":"{principal}"}}"#);
    let same = faults(&format!(r#"{{"auth":{{"tokens":[{},{}]}}}}"#, entry("ada"), entry("bob")));
    assert!(same.len() == 1 && same[0].contains("`auth.tokens[1].token`") && !same[0].contains("one-token"), "{same:?}");
    assert_eq!(faults(&format!(r#"{{"limits":{{"answer_bytes":{}}}}}"#, (256 << 20) + 1)).len(), 1);
}
