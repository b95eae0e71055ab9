//! What goes on the wire in each dialect.

use alloc::borrow::ToOwned;
use alloc::vec;

use super::*;
use crate::a2a::{Content, Part};

fn interface(url: &str, dialect: Dialect, tenant: Option<&str>) -> Interface {
    Interface { url: Url::parse(url).unwrap(), dialect, tenant: tenant.map(ToOwned::to_owned), declared: true }
}

fn hello() -> SendRequest {
    SendRequest {
        message: Message::from_user("m".into(), vec![Part::text("hi")]),
        metadata: None,
        accepted_output_modes: None,
        history_length: None,
        return_immediately: false,
    }
}

fn written(dialect: Dialect, operation: &Operation<'_>) -> (Method, String, Option<String>) {
    let encoded = encode(&interface("https://a.test/api/", dialect, None), operation, 7).unwrap();
    (encoded.method, encoded.url.as_str().into(), encoded.body)
}

#[test]
fn sends_over_json_rpc() {
    let (method, url, body) = written(Dialect::JsonRpc10, &Operation::Send(&hello()));
    assert_eq!((method, url.as_str()), (Method::Post, "https://a.test/api/"));
    assert_eq!(
        body.unwrap(),
        r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#
    );
    let (.., body) = written(Dialect::JsonRpc03, &Operation::Stream(&hello()));
    assert_eq!(
        body.unwrap(),
        r#"{"jsonrpc":"2.0","id":7,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]},"configuration":{"blocking":true}}}"#
    );
}

#[test]
fn sends_over_http() {
    let (method, url, body) = written(Dialect::Rest10, &Operation::Stream(&hello()));
    assert_eq!((method, url.as_str()), (Method::Post, "https://a.test/api/message:stream"));
    assert_eq!(body.unwrap(), r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#);
    let (_, url, body) = written(Dialect::Rest03, &Operation::Send(&hello()));
    assert_eq!(url, "https://a.test/api/v1/message:send");
    assert_eq!(
        body.unwrap(),
        r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]},"configuration":{"blocking":true}}"#
    );
}

#[test]
fn what_the_caller_asks_for_is_asked_of_the_agent() {
    let request = SendRequest {
        metadata: Some(Json::parse(r#"{"n":9007199254740993}"#, 8).unwrap()),
        accepted_output_modes: Some(vec!["text/plain".into()]),
        history_length: Some(0),
        return_immediately: true,
        ..hello()
    };
    let (.., body) = written(Dialect::Rest10, &Operation::Send(&request));
    assert!(body.unwrap().ends_with(
        r#","configuration":{"acceptedOutputModes":["text/plain"],"historyLength":0,"returnImmediately":true},"metadata":{"n":9007199254740993}}"#
    ));
    for dialect in [Dialect::JsonRpc03, Dialect::Rest03] {
        let (.., body) = written(dialect, &Operation::Send(&request));
        assert!(
            body.unwrap().contains(r#""configuration":{"acceptedOutputModes":["text/plain"],"blocking":false}"#),
            "0 means all to some"
        );
    }
}

#[test]
fn tasks_are_named_in_every_dialect() {
    let get = |history_length| Operation::Get { task_id: "a/b c", history_length };
    for (dialect, operation, method, url, body) in [
        (Dialect::JsonRpc10, get(Some(2)), Method::Post, "", r#""method":"GetTask","params":{"id":"a/b c","historyLength":2}}"#),
        (Dialect::JsonRpc03, get(Some(0)), Method::Post, "", r#""method":"tasks/get","params":{"id":"a/b c"}}"#),
        (
            Dialect::JsonRpc10,
            Operation::Cancel { task_id: "t" },
            Method::Post,
            "",
            r#""method":"CancelTask","params":{"id":"t"}}"#,
        ),
        (
            Dialect::JsonRpc03,
            Operation::Subscribe { task_id: "t" },
            Method::Post,
            "",
            r#""method":"tasks/resubscribe","params":{"id":"t"}}"#,
        ),
        (
            Dialect::JsonRpc10,
            Operation::Subscribe { task_id: "t" },
            Method::Post,
            "",
            r#""method":"SubscribeToTask","params":{"id":"t"}}"#,
        ),
        (Dialect::Rest10, get(Some(0)), Method::Get, "tasks/a%2Fb%20c?historyLength=0", ""),
        (Dialect::Rest03, get(Some(3)), Method::Get, "v1/tasks/a%2Fb%20c?historyLength=3", ""),
        (Dialect::Rest10, get(None), Method::Get, "tasks/a%2Fb%20c", ""),
        (Dialect::Rest10, Operation::Cancel { task_id: "t" }, Method::Post, "tasks/t:cancel", "{}"),
        (Dialect::Rest03, Operation::Cancel { task_id: "t:1" }, Method::Post, "v1/tasks/t%3A1:cancel", "{}"),
        (Dialect::Rest10, Operation::Subscribe { task_id: "t" }, Method::Post, "tasks/t:subscribe", "{}"),
        (Dialect::Rest03, Operation::Subscribe { task_id: "t" }, Method::Get, "v1/tasks/t:subscribe", ""),
    ] {
        let found = written(dialect, &operation);
        assert_eq!((found.0, found.1), (method, format!("https://a.test/api/{url}")), "{operation:?}");
        assert!(found.2.unwrap_or_default().ends_with(body), "{operation:?}");
    }
}

#[test]
fn headers_name_version_and_type() {
    let headers = |dialect, operation: &Operation<'_>| {
        let list = encode(&interface("https://a.test/", dialect, None), operation, 1).unwrap().headers;
        list.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
    };
    let get = Operation::Get { task_id: "t", history_length: None };
    assert_eq!(
        headers(Dialect::JsonRpc10, &Operation::Send(&hello())),
        "Content-Type: application/json\nAccept: application/json\nA2A-Version: 1.0"
    );
    assert_eq!(headers(Dialect::Rest10, &get), "Accept: application/a2a+json, application/json\nA2A-Version: 1.0");
    assert_eq!(headers(Dialect::Rest03, &get), "Accept: application/json\nA2A-Version: 0.3");
    assert!(headers(Dialect::JsonRpc03, &Operation::Stream(&hello())).contains("Accept: text/event-stream, application/json"));
}

#[test]
fn the_tenant_goes_to_1_0_alone() {
    let at = |dialect, operation: &Operation<'_>| {
        encode(&interface("https://a.test/x?k=1", dialect, Some("ac/me")), operation, 1).unwrap()
    };
    let get = Operation::Get { task_id: "t", history_length: Some(1) };
    assert!(at(Dialect::JsonRpc10, &get).body.unwrap().contains(r#""params":{"tenant":"ac/me","id":"t""#));
    assert!(!at(Dialect::JsonRpc03, &get).body.unwrap().contains("tenant"));
    assert_eq!(at(Dialect::Rest10, &get).url.as_str(), "https://a.test/x/ac%2Fme/tasks/t?k=1&historyLength=1");
    assert_eq!(at(Dialect::Rest03, &get).url.as_str(), "https://a.test/x/v1/tasks/t?k=1&historyLength=1");
}

#[test]
fn a_url_that_ends_in_v1_is_not_given_another() {
    let encoded = encode(&interface("https://a.test/a2a/v1/", Dialect::Rest03, None), &Operation::Send(&hello()), 1).unwrap();
    assert_eq!(encoded.url.as_str(), "https://a.test/a2a/v1/message:send");
}

#[test]
fn ids_that_no_url_can_hold_are_refused() {
    let get = |task_id| Operation::Get { task_id, history_length: None };
    for id in ["", ".", ".."] {
        let fault = encode(&interface("https://a.test/", Dialect::Rest10, None), &get(id), 1).unwrap_err();
        assert_eq!(fault, EncodeFault::TaskId(UrlFault::Segment));
        assert!(encode(&interface("https://a.test/", Dialect::JsonRpc10, None), &get(id), 1).is_ok());
    }
    let fault = encode(&interface("https://a.test/", Dialect::Rest10, Some("..")), &get("t"), 1).unwrap_err();
    assert_eq!(fault, EncodeFault::Tenant(UrlFault::Segment));
}

#[test]
fn subscribing_can_be_tried_with_the_other_method() {
    let subscribe = Operation::Subscribe { task_id: "t" };
    let post = encode(&interface("https://a.test/", Dialect::Rest10, None), &subscribe, 1).unwrap();
    let get = post.clone().with_other_method();
    assert_eq!((get.method, get.body.as_deref(), get.headers.len()), (Method::Get, None, 2));
    let back = get.with_other_method();
    assert_eq!((back.method, back.body, back.headers.len()), (Method::Post, post.body, 3));
}

#[test]
fn every_part_in_the_forms_of_0_3() {
    let mut message = Message::from_user("m".into(), Vec::new());
    message.context_id = Some("c".into());
    message.task_id = Some("t".into());
    message.reference_task_ids = Some(vec!["t0".into()]);
    let data = Json::parse(r#"{"a":[1,2.50,null]}"#, 8).unwrap();
    let named = |content, media_type: &str| Part {
        filename: Some("f".into()),
        media_type: Some(media_type.into()),
        metadata: Some(Json::parse("{}", 1).unwrap()),
        ..Part::new(content)
    };
    message.parts = vec![
        Part::text("x"),
        named(Content::Raw("dGNr".into()), "text/plain"),
        Part::new(Content::Url("https://e.test/a".into())),
        named(Content::Data(data), "application/json"),
    ];
    let request = SendRequest { message, ..hello() };
    let encoded = |dialect| encode(&interface("https://a.test/", dialect, None), &Operation::Send(&request), 1).unwrap();
    let old = encoded(Dialect::JsonRpc03);
    assert!(old.body.unwrap().contains(concat!(
        r#""parts":[{"kind":"text","text":"x"},"#,
        r#"{"kind":"file","file":{"bytes":"dGNr","name":"f","mimeType":"text/plain"},"metadata":{}},"#,
        r#"{"kind":"file","file":{"uri":"https://e.test/a"}},"#,
        r#"{"kind":"data","data":{"a":[1,2.50,null]},"metadata":{}}],"#,
        r#""contextId":"c","taskId":"t","referenceTaskIds":["t0"]}"#,
    )));
    assert_eq!(old.lost, ["parts[3]: filename", "parts[3]: media_type"]);
    let rest = encoded(Dialect::Rest03);
    assert!(rest.body.unwrap().contains(concat!(
        r#""content":[{"text":"x"},{"file":{"fileWithBytes":"dGNr","name":"f","mimeType":"text/plain"},"metadata":{}},"#,
        r#"{"file":{"fileWithUri":"https://e.test/a"}},{"data":{"data":{"a":[1,2.50,null]}},"metadata":{}}],"#,
        r#""contextId":"c","taskId":"t"}"#,
    )));
    assert_eq!(rest.lost, ["parts[3]: filename", "parts[3]: media_type", "reference_task_ids"]);
    assert!(encoded(Dialect::Rest10).lost.is_empty());
}
