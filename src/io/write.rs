//! Pieces of the JSON form that inputs and outputs share.

use alloc::string::String;

use crate::base64;
use crate::json::{Array, Json, Object};

/// Bytes as text where they are UTF-8, else in base64.
pub(super) fn bytes_json<'o>(out: &'o mut Object, bytes: &[u8]) -> &'o mut Object {
    match core::str::from_utf8(bytes) {
        Ok(text) => out.string("text", text),
        Err(_) => out.string("base64", &base64::encode(bytes)),
    }
}

pub(super) fn headers_json(headers: &[(String, String)]) -> Json {
    let mut list = Array::new();
    for (name, value) in headers {
        let mut pair = Array::new();
        pair.string(name).string(value);
        list.nested(pair);
    }
    list.finish()
}
