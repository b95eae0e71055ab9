//! Requests in every dialect, and what is told about those that are refused.

use alloc::format;

use super::*;

fn asked(verb: Verb, dialect: Dialect, params: &str) -> Result<Wish, Problem> {
    wish(verb, dialect, json::parse(params, 64).unwrap(), None)
}

fn sent(dialect: Dialect, params: &str) -> (SendRequest, Option<PushConfig>) {
    match asked(Verb::Send, dialect, params) {
        Ok(Wish::Send { request, push }) => (*request, push),
        other => panic!("{params} gave {other:?}"),
    }
}

#[test]
fn a_message_is_the_same_in_every_dialect() {
    let wanted = r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}"#;
    for (dialect, params) in [
        (
            Dialect::JsonRpc10,
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]},"configuration":{"returnImmediately":true}}"#,
        ),
        (
            Dialect::Rest10,
            r#"{"message":{"message_id":"m","role":"ROLE_USER","parts":[{"text":"a"}]},"configuration":{"return_immediately":true}}"#,
        ),
        (
            Dialect::JsonRpc03,
            r#"{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"a"}]},"configuration":{"blocking":false}}"#,
        ),
        (
            Dialect::Rest03,
            r#"{"request":{"message_id":"m","role":"ROLE_USER","content":[{"text":"a"}]},"configuration":{"blocking":false}}"#,
        ),
    ] {
        let (request, push) = sent(dialect, params);
        assert_eq!((request.message.to_json().as_str(), request.return_immediately, push), (wanted, true, None));
    }
}

#[test]
fn a_caller_waits_unless_it_says_otherwise() {
    let message = r#""message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]}"#;
    for (dialect, configuration, at_once) in [
        (Dialect::JsonRpc10, "", false),
        (Dialect::JsonRpc10, r#","configuration":{}"#, false),
        (Dialect::JsonRpc03, r#","configuration":{}"#, false),
        (Dialect::JsonRpc03, r#","configuration":{"blocking":false}"#, true),
        (Dialect::Rest03, "", false),
        (Dialect::Rest03, r#","configuration":{"blocking":true}"#, false),
        (Dialect::Rest03, r#","configuration":{"historyLength":1}"#, true),
    ] {
        let (request, _) = sent(dialect, &format!("{{{message}{configuration}}}"));
        assert_eq!(request.return_immediately, at_once, "{dialect:?} {configuration}");
    }
}

#[test]
fn what_is_missing_or_doubled_is_named() {
    for (params, field) in [
        ("{}", "message"),
        (r#"{"message":[]}"#, "message"),
        (r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}"#, "message.parts"),
        (r#"{"message":{"messageId":"m","role":"ROLE_USER"}}"#, "message.parts"),
        (r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}}"#, "message.parts"),
        (r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a","url":"b"}]}}"#, "message.parts"),
        (r#"{"message":{"role":"ROLE_USER","parts":[{"text":"a"}]}}"#, "message.messageId"),
        (r#"{"message":{"messageId":"m","parts":[{"text":"a"}]}}"#, "message.role"),
        (r#"{"message":{"messageId":"m","role":"ROLE_ROBOT","parts":[{"text":"a"}]}}"#, "message.role"),
    ] {
        let problem = asked(Verb::Send, Dialect::JsonRpc10, params).unwrap_err();
        assert_eq!((problem.code, problem.field), (-32602, Some(field)), "{params}");
    }
    let null = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":null,"kind":"data"}],"x":1}}"#;
    assert_eq!(sent(Dialect::JsonRpc10, null).0.message.parts.len(), 1);
}

#[test]
fn pages_have_a_size() {
    for (params, field) in [
        (r#"{"pageSize":0}"#, "pageSize"),
        (r#"{"pageSize":"101"}"#, "pageSize"),
        (r#"{"pageSize":-1}"#, "pageSize"),
        (r#"{"status":"TASK_STATE_DREAMING"}"#, "status"),
        (r#"{"statusTimestampAfter":"soon"}"#, "statusTimestampAfter"),
    ] {
        assert_eq!(asked(Verb::List, Dialect::JsonRpc10, params).unwrap_err().field, Some(field), "{params}");
    }
    let query = query_json("pageSize=2&includeArtifacts=true&contextId=a%20b&status=TASK_STATE_WORKING");
    let Ok(Wish::List(query)) = wish(Verb::List, Dialect::Rest10, query.raw(), None) else { panic!() };
    assert_eq!((query.page_size, query.artifacts, query.context_id.as_deref()), (2, true, Some("a b")));
    assert_eq!(query.state, Some(State::Working));
}

#[test]
fn places_are_told_from_each_other() {
    for (method, path, verb, dialect, task, config) in [
        ("POST", "/message:send", Verb::Send, Dialect::Rest10, None, None),
        ("POST", "/message%3Astream", Verb::Stream, Dialect::Rest10, None, None),
        ("GET", "/tasks", Verb::List, Dialect::Rest10, None, None),
        ("GET", "/tasks/a%2Fb", Verb::Get, Dialect::Rest10, Some("a/b"), None),
        ("POST", "/tasks/t:cancel", Verb::Cancel, Dialect::Rest10, Some("t"), None),
        ("GET", "/v1/tasks/t:subscribe", Verb::Subscribe, Dialect::Rest03, Some("t"), None),
        ("POST", "/tasks/t:subscribe", Verb::Subscribe, Dialect::Rest10, Some("t"), None),
        ("GET", "/extendedAgentCard", Verb::Card, Dialect::Rest10, None, None),
        ("GET", "/v1/card", Verb::Card, Dialect::Rest03, None, None),
        ("DELETE", "/tasks/t/pushNotificationConfigs/c", Verb::DeletePush, Dialect::Rest10, Some("t"), Some("c")),
    ] {
        let found = place(method, path, "").unwrap();
        let ids = (found.task_id.as_deref(), found.config_id.as_deref());
        assert_eq!((found.verb, found.dialect, ids), (verb, dialect, (task, config)), "{path}");
    }
    for (method, path, allowed) in [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/tasks/t", "GET"),
        ("POST", "/tasks", "GET"),
        ("GET", "/v1/tasks", ""),
        ("GET", "/nothing", ""),
        ("GET", "/tasks/", ""),
    ] {
        assert_eq!(place(method, path, "").unwrap_err(), allowed, "{method} {path}");
    }
}

#[test]
fn a_push_configuration_has_one_form_in_each_dialect() {
    for params in [
        r#"{"taskId":"t","id":"c","url":"https://h.test/","token":"k","authentication":{"scheme":"Bearer","credentials":"x"}}"#,
        r#"{"taskId":"t","pushNotificationConfig":{"id":"c","url":"https://h.test/","token":"k","authentication":{"schemes":["Bearer"],"credentials":"x"}}}"#,
    ] {
        let Ok(Wish::Push { task_id, config: Some(config), .. }) = asked(Verb::SetPush, Dialect::JsonRpc10, params) else {
            panic!()
        };
        assert_eq!(
            config.write(&task_id, Dialect::Rest10).as_str(),
            r#"{"id":"c","taskId":"t","url":"https://h.test/","token":"k","authentication":{"scheme":"Bearer","credentials":"x"}}"#
        );
        assert_eq!(
            config.write(&task_id, Dialect::JsonRpc03).as_str(),
            r#"{"taskId":"t","pushNotificationConfig":{"id":"c","url":"https://h.test/","token":"k","authentication":{"schemes":["Bearer"],"credentials":"x"}}}"#
        );
    }
}

#[test]
fn a_method_tells_its_version() {
    assert_eq!(method("GetTask"), Some((Verb::Get, Dialect::JsonRpc10)));
    assert_eq!(method("tasks/get"), Some((Verb::Get, Dialect::JsonRpc03)));
    assert_eq!((method("tasks/list"), method(""), method("gettask")), (None, None, None));
}
