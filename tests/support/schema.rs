//! JSON Schema, as far as the gateway's tools use it. A keyword that it does not know is a failure, so that none is
//! passed over.

use narrows::json::{self, Kind, Raw};
use narrows::tools::TOOLS;

use super::text::{at, raw};

/// Fails where a result does not match the output schema that its tool is listed with.
pub fn check_result(tool: &str, structured: &str) {
    let known = TOOLS.iter().find(|known| known.name == tool).unwrap_or_else(|| panic!("no tool {tool}"));
    let listed = known.to_json();
    let schema = at(listed.as_str(), &["outputSchema"]).unwrap();
    let faults = faults(raw(&schema), raw(structured), "");
    assert!(faults.is_empty(), "{tool}: {faults:?} in {structured}");
}

/// How a value does not match a schema; empty where it does.
pub fn faults(schema: Raw<'_>, value: Raw<'_>, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, rule) in json::members(schema).expect("a schema is an object").iter() {
        match keyword {
            "title" | "description" | "default" => {}
            "type" => {
                let names = json::string(rule).map_or_else(|| json::strings(rule).unwrap(), |name| vec![name]);
                if !names.iter().any(|name| is(value, name)) {
                    found.push(format!("{path}: not {names:?}"));
                }
            }
            "enum" => {
                if !json::elements(rule).unwrap().iter().any(|one| one.get() == value.get()) {
                    found.push(format!("{path}: none of {}", rule.get()));
                }
            }
            "anyOf" => {
                if !json::elements(rule).unwrap().iter().any(|one| faults(*one, value, path).is_empty()) {
                    found.push(format!("{path}: none of {}", rule.get()));
                }
            }
            "minimum" | "maximum" => {
                let bound: f64 = rule.get().parse().unwrap();
                let number: Option<f64> = is(value, "number").then(|| value.get().parse().unwrap());
                if number.is_some_and(|number| if keyword == "minimum" { number < bound } else { number > bound }) {
                    found.push(format!("{path}: {keyword} {bound}"));
                }
            }
            "required" | "properties" | "additionalProperties" | "items" => {}
            unknown => panic!("the validator does not know {unknown}"),
        }
    }
    found.extend(faults_inside(schema, value, path));
    found
}

fn faults_inside(schema: Raw<'_>, value: Raw<'_>, path: &str) -> Vec<String> {
    let (schema, mut found) = (json::members(schema).unwrap(), Vec::new());
    if let Some(elements) = json::elements(value)
        && let Some(items) = schema.get("items")
    {
        let each = elements.iter().enumerate();
        found.extend(each.flat_map(|(index, element)| faults(items, *element, &format!("{path}[{index}]"))));
    }
    let Some(members) = json::members(value) else { return found };
    for name in schema.get("required").and_then(json::strings).unwrap_or_default() {
        if members.get_any(&name).is_none() {
            found.push(format!("{path}: `{name}` is missing"));
        }
    }
    let properties = schema.get("properties").and_then(json::members).unwrap_or_default();
    for (name, member) in members.iter() {
        let path = format!("{path}.{name}");
        match (properties.get(name), schema.get("additionalProperties")) {
            (Some(inner), _) => found.extend(faults(inner, member, &path)),
            (None, Some(more)) if json::boolean(more) == Some(false) => found.push(format!("{path}: not allowed")),
            (None, Some(more)) if json::boolean(more).is_none() => found.extend(faults(more, member, &path)),
            (None, Some(_) | None) => {}
        }
    }
    found
}

fn is(value: Raw<'_>, name: &str) -> bool {
    let kind = match json::kind(value) {
        Kind::Null => "null",
        Kind::Boolean => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    };
    kind == name || name == "integer" && kind == "number" && json::integer(value.get()).is_some()
}
