//! Each gate, alone and against the others.

use alloc::vec;

use super::*;
use crate::policy::settings::{Approval, ChannelRule, User};

fn globs(list: &[&str]) -> Vec<Glob> {
    list.iter().map(|text| Glob::read(text).unwrap()).collect()
}

fn facts(name: &str) -> Facts<'_> {
    let names = Names { offered: name, composed: name };
    Facts { names, server: "everyapi", agent: None, sender: None, channel: None, approved_before: false }
}

/// The patterns of a gateway's account server, which cover all that writes and nothing that reads.
fn guarded() -> Settings {
    let required = globs(&[
        "mcp_everyapi_everyapi_seller_add_*",
        "mcp_everyapi_everyapi_seller_withdraw",
        "mcp_everyapi_everyapi_admin_marketplace_set",
        "mcp_everyapi_everyapi_edge_remove",
    ]);
    Settings { approval: Approval { required, ..Approval::default() }, ..Settings::default() }
}

const WITHDRAW: &str = "mcp_everyapi_everyapi_seller_withdraw";

fn decided(settings: &Settings, facts: &Facts<'_>) -> (Verdict, &'static str) {
    let evaluation = evaluate(settings, facts);
    (evaluation.verdict, evaluation.trace.last().unwrap().gate)
}

const ASK: Verdict = Verdict::Ask { force_human: false };

#[test]
fn four_patterns_gate_eight_tools_that_write_and_none_that_reads() {
    let settings = guarded();
    for tool in [
        "seller_add_key",
        "seller_withdraw",
        "admin_marketplace_set",
        "edge_remove",
        "seller_add_oauth_codex_start",
        "seller_add_oauth_codex_poll",
        "seller_add_oauth_claude_start",
        "seller_add_oauth_claude_complete",
    ] {
        assert_eq!(decided(&settings, &facts(&format!("mcp_everyapi_everyapi_{tool}"))), (ASK, "waiver"), "{tool}");
    }
    for tool in ["status", "topup", "seller_list", "seller_eligibility", "edge_list", "edge_status", "admin_marketplace_status"] {
        assert_eq!(decided(&settings, &facts(&format!("mcp_everyapi_everyapi_{tool}"))), (Verdict::Run, "approval"), "{tool}");
    }
}

#[test]
fn an_agent_uses_the_servers_of_its_own_list_alone() {
    let agent = |name: &str, servers: &[&str]| Agent {
        name: name.into(),
        mcp_servers: servers.iter().map(|server| (*server).into()).collect(),
        ..Agent::default()
    };
    let named = |agent, server| Facts { agent, server, ..facts("mcp_x_y") };
    let runs = |settings: &Settings, agent, server| evaluate(settings, &named(agent, server)).verdict == Verdict::Run;
    let mut settings = Settings { agents: vec![agent("cron", &["my-server"]), agent("all", &["*"])], ..Settings::default() };
    settings.agents.push(Agent { mcp_disabled: true, ..agent("off", &["*"]) });
    assert!(runs(&settings, Some("cron"), "my_server") && runs(&settings, Some("all"), "anything"));
    for (agent, server) in [(Some("cron"), "my_server_x"), (Some("cron"), "my"), (Some("off"), "x"), (Some("stranger"), "x")] {
        assert!(!runs(&settings, agent, server), "{agent:?} {server}");
    }
    assert!(runs(&settings, None, "anything"));
    settings.agents.push(agent("default", &[]));
    assert!(!runs(&settings, None, "anything") && !runs(&settings, Some("stranger"), "anything"));
    assert!(runs(&Settings::default(), Some("stranger"), "anything"));
}

#[test]
fn the_first_rule_of_a_channel_counts_and_its_denials_win() {
    let rule = |allowed: &[&str], denied: &[&str]| ChannelRule {
        channel: "chat".into(),
        allowed_tools: globs(allowed),
        denied_tools: globs(denied),
    };
    let mut settings = guarded();
    settings.approval.channel_rules = vec![rule(&["mcp_everyapi_*"], &["*_remove"]), rule(&[], &["*"])];
    let from = |name, channel| Facts { channel: Some(channel), ..facts(name) };
    assert_eq!(decided(&settings, &from(WITHDRAW, "chat")), (Verdict::Run, "approval"));
    assert_eq!(decided(&settings, &from("mcp_everyapi_everyapi_edge_remove", "chat")).1, "channel");
    assert_eq!(decided(&settings, &from("mcp_other_tool", "chat")).1, "channel");
    assert_eq!(decided(&settings, &from(WITHDRAW, "mail")), (ASK, "waiver"));
}

#[test]
fn what_a_user_needs_approval_for_is_waived_by_nothing() {
    let mut settings = guarded();
    settings.approval.trusted_senders = vec!["ada".into()];
    settings.approval.channel_rules =
        vec![ChannelRule { channel: "chat".into(), allowed_tools: globs(&["*"]), denied_tools: Vec::new() }];
    settings.agents =
        vec![Agent { name: "hand".into(), mcp_servers: vec!["*".into()], tags: vec!["hand:ops".into()], mcp_disabled: false }];
    settings.users = vec![User { id: "ada".into(), needs_approval: globs(&["*_withdraw"]), ..User::default() }];
    let all = Facts { agent: Some("hand"), sender: Some("ada"), channel: Some("chat"), approved_before: true, ..facts(WITHDRAW) };
    let forced = Verdict::Ask { force_human: true };
    assert_eq!(decided(&settings, &all).0, forced);
    for sender in [None, Some("eve")] {
        assert_eq!(decided(&settings, &Facts { sender, ..all }).0, forced, "{sender:?}");
    }
    settings.users[0] = User { id: "ada".into(), deny: globs(&["*"]), allow: globs(&["*"]), ..User::default() };
    assert_eq!(decided(&settings, &all).1, "user");
    settings.users[0] = User { id: "ada".into(), allow: globs(&["mcp_other_*"]), ..User::default() };
    assert_eq!(decided(&settings, &all).1, "user");
}

#[test]
fn hands_and_sessions_stand_in_for_a_person_but_trust_does_not() {
    let mut settings = guarded();
    settings.approval.trusted_senders = vec!["ada".into()];
    assert_eq!(decided(&settings, &Facts { sender: Some("ada"), ..facts(WITHDRAW) }), (ASK, "waiver"));
    let again = Facts { approved_before: true, ..facts(WITHDRAW) };
    assert_eq!(decided(&settings, &again), (Verdict::Run, "waiver"));
    settings.approval.cached_per_session = false;
    assert_eq!(decided(&settings, &again), (ASK, "waiver"));
    settings.agents =
        vec![Agent { name: "default".into(), mcp_servers: vec!["*".into()], tags: vec!["hand:x".into()], mcp_disabled: false }];
    assert_eq!(decided(&settings, &facts(WITHDRAW)), (Verdict::Run, "waiver"));
    settings.approval.required = globs(&["*"]);
    assert_eq!(decided(&settings, &Facts { sender: Some("ada"), ..facts("send_message") }), (Verdict::Run, "approval"));
}

#[test]
fn an_evaluation_is_told_in_json() {
    let text = evaluate(&guarded(), &facts(WITHDRAW)).to_json();
    assert!(
        text.as_str().starts_with(r#"{"verdict":"ask","force_human":false,"trace":[{"gate":"agent","outcome":"pass","#),
        "{text:?}"
    );
}
