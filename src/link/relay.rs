//! What a server answered, in the shape of its caller's era: raw but for what one era has and the other has not.

use alloc::string::String;
use alloc::vec::Vec;

use super::wire;
use crate::config::Config;
use crate::json::{self, Array, Json, Kind, Members, Object, Raw};
use crate::jsonrpc::INTERNAL_ERROR;
use crate::mcp::asks::MISSING_CAPABILITY;
use crate::mcp::content;
use crate::mcp::era::{self, Era, RpcError};
use crate::mcp::outcome::{Code, ToolError, ToolResult};

/// Whether a result says that its server wants to be told more first.
#[must_use]
pub fn asks(raw: &Json) -> bool {
    raw.members().and_then(|members| members.string("resultType")).as_deref() == Some("input_required")
}

/// The outcome of a call that its server answered with a result.
///
/// # Errors
/// A result of a kind that is not understood (MCP 2026-07-28, `resultType`).
pub fn result(server: &str, raw: Json) -> Result<ToolResult, ToolError> {
    let members = raw.members();
    let fault = |what: &str| ToolError::new(Code::ProtocolError, alloc::format!("MCP server '{server}' answered {what}"));
    let Some(members) = members else { return Err(fault("with a result that is no object")) };
    match members.string("resultType").as_deref() {
        None | Some("complete") => {}
        Some(_) => return Err(fault("with a result of an unknown type")),
    }
    let is_error = members.get("isError").and_then(json::boolean).unwrap_or(false);
    Ok(ToolResult { texts: Vec::new(), content: Vec::new(), structured: raw, is_error })
}

/// The outcome of a call that its server refused with an error of JSON-RPC.
#[must_use]
pub fn refusal(raw: Json) -> ToolResult {
    ToolResult { texts: Vec::new(), content: alloc::vec![raw], structured: Object::new().finish(), is_error: true }
}

/// The answer to the caller.
///
/// # Errors
/// The server's own error of JSON-RPC.
pub fn answer(result: &ToolResult, era: Era, config: &Config) -> Result<Json, RpcError> {
    if let [error] = result.content.as_slice() {
        return Err(relayed_error(&error.members().unwrap_or_default(), era));
    }
    Ok(shaped(&result.structured.members().unwrap_or_default(), era, config))
}

/// Codes that are about the request of the gateway, not about that of its caller (MCP 2026-07-28, error codes).
const BETWEEN_US: core::ops::RangeInclusive<i64> = -32099..=-32020;

/// The user has to open a link before the call is made again (MCP 2025-11-25, elicitation).
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// What the user has to open first, where an error says that; else nothing.
#[must_use]
pub fn elicitations(error: &Json) -> Vec<Raw<'_>> {
    let error = error.members().unwrap_or_default();
    let code = error.get("code").and_then(|code| json::integer(code.get()));
    let data = error.get("data").and_then(json::members).filter(|_| code == Some(URL_ELICITATION_REQUIRED));
    data.and_then(|data| data.get("elicitations").and_then(json::elements)).unwrap_or_default()
}

fn relayed_error(error: &Members<'_>, era: Era) -> RpcError {
    let code = error.get("code").and_then(|code| json::integer(code.get())).unwrap_or(INTERNAL_ERROR);
    let message = error.string("message").unwrap_or_else(|| String::from("the MCP server gave no reason"));
    // What the caller itself lacks or has to open is about the caller.
    let is_the_caller_s = match era {
        Era::Legacy => code == URL_ELICITATION_REQUIRED,
        Era::Modern => code == MISSING_CAPABILITY,
    };
    let is_ours = BETWEEN_US.contains(&code) && !is_the_caller_s;
    let data = error.get("data").filter(|_| !is_ours).map(Json::from_raw);
    RpcError { code: if is_ours { INTERNAL_ERROR } else { code }, message, data }
}

fn shaped(members: &Members<'_>, era: Era, config: &Config) -> Json {
    let mut out = Object::with_capacity(256);
    let structured = members.get_any("structuredContent");
    // Before 2026-07-28 structured content is an object.
    let bare = structured.filter(|raw| era == Era::Legacy && json::kind(*raw) != Kind::Object);
    let content = members.get("content");
    let is_list = content.and_then(json::elements).is_some_and(|list| !list.is_empty() || bare.is_none());
    for (name, raw) in members.iter() {
        match name {
            "_meta" | "resultType" => {}
            "structuredContent" if bare.is_some() => {}
            "content" if !is_list => {}
            _ => {
                out.json(name, &Json::from_raw(raw));
            }
        }
    }
    if !is_list {
        // Clients refuse a result whose content is no list.
        let mut list = Array::new();
        if let Some(raw) = content.filter(|raw| json::kind(*raw) != Kind::Array).or(bare) {
            let words = json::string(raw).unwrap_or_else(|| raw.get().into());
            list.json(&if json::kind(raw) == Kind::Object { Json::from_raw(raw) } else { content::text(&words) });
        }
        out.nested("content", list);
    }
    let meta = members.get("_meta").and_then(json::members).map(|meta| wire::relayed_meta(&meta)).unwrap_or_default();
    match era {
        Era::Legacy => {
            if !meta.is_empty() {
                let mut own = Object::new();
                own.members(&meta);
                out.nested("_meta", own);
            }
            out.finish()
        }
        Era::Modern => era::modern_with(out, "complete", &meta, config),
    }
}

/// The parameters of a progress notification for the caller: all that the server said, under the caller's token.
#[must_use]
pub fn progress(params: &Json, token: &Json) -> Json {
    let mut out = Object::new();
    out.json("progressToken", token);
    let members = params.members().unwrap_or_default();
    for (name, raw) in members.iter().filter(|(name, _)| !matches!(*name, "progressToken" | "_meta")) {
        out.json(name, &Json::from_raw(raw));
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn told(text: &str, era: Era) -> String {
        let result = result("s", Json::parse(text, 32).unwrap()).unwrap();
        answer(&result, era, &Config::default()).unwrap().into_string()
    }

    const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"narrows","title":"Narrows","version":"0.1.0"}"#;

    #[test]
    fn all_that_is_not_of_an_era_passes() {
        let text = r#"{"content":[{"type":"hologram","data":1e400},{"type":"text","text":"a","_meta":{"x":1}}],"structuredContent":{"b":[9007199254740993]},"isError":true,"vendor":null,"_meta":{"traceparent":"00-1","io.modelcontextprotocol/serverInfo":{"name":"x"}},"resultType":"complete"}"#;
        let kept = r#"{"content":[{"type":"hologram","data":1e400},{"type":"text","text":"a","_meta":{"x":1}}],"structuredContent":{"b":[9007199254740993]},"isError":true,"vendor":null,"#;
        assert_eq!(told(text, Era::Legacy), alloc::format!(r#"{kept}"_meta":{{"traceparent":"00-1"}}}}"#));
        let modern = alloc::format!(r#"{kept}"resultType":"complete","_meta":{{{INFO},"traceparent":"00-1"}}}}"#);
        assert_eq!(told(text, Era::Modern), modern);
    }

    #[test]
    fn structure_that_is_no_object_is_a_text_for_those_who_know_objects_alone() {
        assert_eq!(told(r#"{"structuredContent":[1]}"#, Era::Legacy), r#"{"content":[{"type":"text","text":"[1]"}]}"#);
        for (content, list) in [
            ("[ ]", r#"[{"type":"text","text":"[1]"}]"#),
            ("null", r#"[{"type":"text","text":"[1]"}]"#),
            (r#""all of it""#, r#"[{"type":"text","text":"all of it"}]"#),
            (r#"{"type":"text","text":"a"}"#, r#"[{"type":"text","text":"a"}]"#),
        ] {
            let text = format!(r#"{{"isError":true,"content":{content},"structuredContent":[1]}}"#);
            assert_eq!(told(&text, Era::Legacy), format!(r#"{{"isError":true,"content":{list}}}"#));
        }
        assert_eq!(told(r#"{"content":[]}"#, Era::Legacy), r#"{"content":[]}"#);
        assert_eq!(told(r#"{"content":null}"#, Era::Legacy), r#"{"content":[]}"#);
        let text = r#"{"content":[{"type":"text","text":"one"}],"structuredContent":[1]}"#;
        assert_eq!(told(text, Era::Legacy), r#"{"content":[{"type":"text","text":"one"}]}"#);
        assert!(told(text, Era::Modern).starts_with(text.strip_suffix('}').unwrap()));
    }

    #[test]
    fn results_that_are_not_understood_are_errors() {
        for text in ["[]", r#"{"resultType":"task"}"#, r#"{"resultType":"input_required"}"#] {
            assert_eq!(result("s", Json::parse(text, 4).unwrap()).unwrap_err().code, Code::ProtocolError, "{text}");
        }
    }

    #[test]
    fn errors_pass_but_for_those_about_the_gateway_s_own_request() {
        let error = |text: &str| answer(&refusal(Json::parse(text, 8).unwrap()), Era::Legacy, &Config::default()).unwrap_err();
        let plain = error(r#"{"code":-32602,"message":"no such tool","data":{"a":1}}"#);
        assert_eq!((plain.code, plain.message.as_str(), plain.data.unwrap().as_str()), (-32602, "no such tool", r#"{"a":1}"#));
        let ours = error(r#"{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}"#);
        assert_eq!((ours.code, ours.data), (INTERNAL_ERROR, None));
        assert_eq!(error("{}").code, INTERNAL_ERROR);
        let link = r#"{"code":-32042,"message":"m","data":{"elicitations":[]}}"#;
        assert_eq!((error(link).code, error(link).data.unwrap().as_str()), (-32042, r#"{"elicitations":[]}"#));
        let lack = Json::parse(r#"{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}"#, 8).unwrap();
        assert_eq!(answer(&refusal(lack), Era::Modern, &Config::default()).unwrap_err().code, MISSING_CAPABILITY);
    }

    #[test]
    fn progress_is_told_under_the_callers_token() {
        let params = Json::parse(r#"{"progress":0.5,"progressToken":7,"total":1,"message":"m","_meta":{"a":1}}"#, 8).unwrap();
        let told = progress(&params, &Json::string("t"));
        assert_eq!(told.as_str(), r#"{"progressToken":"t","progress":0.5,"total":1,"message":"m"}"#);
    }
}
