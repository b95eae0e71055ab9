//! The configuration object, read into its JSON form.
//!
//! `JSON.stringify` would turn a `Map` into `{}`, drop functions, write `null` for NaN and throw at a BigInt. Here the
//! first and the last mean what they say and the others are faults, each with the path of its key.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use js_sys::{JSON, Map, Object, Reflect};
use wasm_bindgen::prelude::*;

use super::convert::error;
use crate::config::{Config, ConfigError};
use crate::json::{self, Json};

/// Nesting of a configuration: deeper is an object that holds itself.
const DEPTH: u32 = 16;

/// Reads a configuration; `undefined` and `null` are the defaults.
pub(super) fn read(value: &JsValue) -> Result<Config, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(Config::default());
    }
    let mut writer = Writer { faults: Vec::new() };
    let json = writer.value(value, "", DEPTH).unwrap_or_else(Json::null);
    let config = if writer.faults.is_empty() { Config::from_json(json.as_str()) } else { Err(ConfigError(writer.faults)) };
    config.map_err(|faults| error("ConfigError", &faults.to_string()))
}

struct Writer {
    faults: Vec<String>,
}

impl Writer {
    /// The value as JSON, or none for `undefined` and for a fault, which is noted.
    fn value(&mut self, value: &JsValue, path: &str, depth: u32) -> Option<Json> {
        if value.is_undefined() {
            return None;
        }
        if let Some(text) = value.as_string() {
            return Some(Json::string(&text));
        }
        let finite = value.as_f64().is_none_or(f64::is_finite);
        if value.is_null() || value.as_bool().is_some() || (value.as_f64().is_some() && finite) {
            return JSON::stringify(value).ok().map(|text| Json::trusted(text.into()));
        }
        if value.is_bigint() {
            return js_sys::BigInt::unchecked_from_js_ref(value).to_string(10).ok().map(|text| Json::trusted(text.into()));
        }
        if depth == 0 {
            return self.fault(path, "nests too deep");
        }
        if js_sys::Array::is_array(value) {
            return Some(self.array(&js_sys::Array::from(value), path, depth - 1));
        }
        if let Some(map) = value.dyn_ref::<Map>() {
            return Some(self.object(&js_sys::Array::from(&map.entries()), path, depth - 1));
        }
        if is_plain(value) {
            return Some(self.object(&Object::entries(value.unchecked_ref()).unchecked_into(), path, depth - 1));
        }
        self.fault(path, "is no value that a configuration can hold")
    }

    fn array(&mut self, array: &js_sys::Array, path: &str, depth: u32) -> Json {
        let mut out = json::Array::new();
        for (at, element) in array.iter().enumerate() {
            out.json(&self.value(&element, &format!("{path}[{at}]"), depth).unwrap_or_else(Json::null));
        }
        out.finish()
    }

    fn object(&mut self, entries: &js_sys::Array, path: &str, depth: u32) -> Json {
        let mut out = json::Object::new();
        for entry in entries.iter() {
            let entry = js_sys::Array::from(&entry);
            let Some(key) = entry.get(0).as_string() else {
                self.fault(path, "has a key that is not a string");
                continue;
            };
            if let Some(value) = self.value(&entry.get(1), &member_path(path, &key), depth) {
                out.json(&key, &value);
            }
        }
        out.finish()
    }

    fn fault(&mut self, path: &str, fault: &str) -> Option<Json> {
        self.faults.push(if path.is_empty() { format!("the configuration {fault}") } else { format!("`{path}` {fault}") });
        None
    }
}

fn member_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

/// Whether it is an object literal, of this realm or another: a Date or a Set would lose all it holds.
fn is_plain(value: &JsValue) -> bool {
    if !value.is_object() {
        return false;
    }
    let prototype = Reflect::get_prototype_of(value).unwrap_or_default();
    JsValue::from(&prototype).is_null() || Reflect::get_prototype_of(&prototype).is_ok_and(|base| JsValue::from(base).is_null())
}
