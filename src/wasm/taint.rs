//! The taint scan for programs that send texts by ways of their own.

use alloc::format;
use alloc::string::String;

use wasm_bindgen::prelude::*;

use super::convert;
use crate::json::{self, Array, Json, Object};
use crate::policy::{Rules, Sink, check_outbound_json, check_outbound_text};

/// Nesting of a payload in JSON; what is nested deeper than is looked at is told as such.
const DEPTH: u32 = 1 << 16;

/// What fires on a payload, a text or JSON: JSON text of an array of `{path, rule}`. A value that is nested too deep has the
/// rule `depth`.
///
/// # Errors
/// `Misuse` for an unknown sink or rule, or a payload that is no JSON.
#[wasm_bindgen(js_name = checkOutbound)]
pub fn check_outbound(
    #[wasm_bindgen(unchecked_param_type = "string")] payload: &JsValue,
    is_json: bool,
    #[wasm_bindgen(unchecked_param_type = "string")] sink: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "readonly string[]")] skip_rules: &JsValue,
) -> Result<String, JsValue> {
    let (payload, sink) = (convert::text(payload, "payload")?, convert::text(sink, "sink")?);
    let sink = Sink::named(&sink).ok_or_else(|| convert::misuse("`sink` must be mcp_tool_call, agent_message or net_fetch"))?;
    let skip = Rules::named(&convert::texts(skip_rules, "skipRules")?);
    let skip =
        skip.map_err(|name| convert::misuse(format!("`skipRules` names {}, which is no rule", Json::string(&name).as_str())))?;
    let mut list = Array::new();
    let mut tell = |path: &str, rule: &str| {
        let mut entry = Object::new();
        entry.string("path", path).string("rule", rule);
        list.nested(entry);
    };
    let (findings, too_deep) = if is_json {
        let raw = json::parse(&payload, DEPTH).map_err(|_| convert::misuse("`payload` is no JSON"))?;
        let report = check_outbound_json(raw, sink, skip);
        (report.findings, report.too_deep)
    } else {
        (check_outbound_text(&payload, sink, skip), None)
    };
    for finding in &findings {
        tell(&finding.path, finding.rule.name());
    }
    if let Some(path) = too_deep {
        tell(&path, "depth");
    }
    Ok(list.finish().into_string())
}
