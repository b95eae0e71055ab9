//! What the command calls. Every answer is JSON text: what was asked for, or `{faults: [{message, line, column}…]}`.

use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::*;

use super::{Fault, add, faults_json, read_to_json, remove};
use crate::json::{Json, Object};

/// Nesting of an entry that is added.
const DEPTH: u32 = 16;

/// Reads a file: `{config, places: [[path, line, column]…]}`.
#[wasm_bindgen(js_name = readToml)]
#[must_use]
pub fn read_toml(text: &str) -> String {
    read_to_json(text).into_string()
}

/// The file with one more table in an array of tables, given as the JSON of an object: `{text}`.
#[wasm_bindgen(js_name = addTable)]
#[must_use]
pub fn add_table(text: &str, array: &str, table: &str) -> String {
    let table = Json::parse(table, DEPTH).unwrap_or_else(|_| Json::null());
    answer(add(text, array, &table).map(Some))
}

/// The file without the table whose `key` has this value: `{text}`, without the member where there is no such table.
#[wasm_bindgen(js_name = removeTable)]
#[must_use]
pub fn remove_table(text: &str, array: &str, key: &str, value: &str) -> String {
    answer(remove(text, array, key, value))
}

fn answer(edited: Result<Option<String>, Vec<Fault>>) -> String {
    let mut out = Object::new();
    match edited {
        Ok(text) => out.optional_string("text", text.as_deref()),
        Err(faults) => out.nested("faults", faults_json(&faults)),
    };
    out.finish().into_string()
}
