//! The head of a response of any class: status and header fields, by their looks.

use alloc::format;

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use super::cause::Failure;
use super::convert::{member, method};
use crate::io::Cause;

/// The content codings that every fetch undoes. What it hands over under another name is still coded.
const CODINGS: [&str; 6] = ["identity", "gzip", "x-gzip", "deflate", "br", "zstd"];

/// Status and header fields, these as a list of pairs.
///
/// # Errors
/// A redirect that the browser hides (WHATWG Fetch §2.2.6, an opaque-redirect filtered response), and what is no response.
pub(super) fn head(response: &JsValue) -> Result<(u16, Array), Failure> {
    if member(response, "type").is_some_and(|kind| kind == "opaqueredirect") {
        let detail = "the browser hides where it was redirected; register the final address";
        return Err(Failure { cause: Cause::Redirect, detail: detail.into() });
    }
    let status = member(response, "status").and_then(|status| status.as_f64());
    let status = status.filter(|status| (100.0..1000.0).contains(status)).map(|status| status as u16);
    let status = status.ok_or_else(|| Failure::protocol("the response has no status from 100 to 999"))?;
    let headers = fields(&member(response, "headers").unwrap_or(JsValue::UNDEFINED))?;
    for field in headers.iter() {
        check(&field)?;
    }
    Ok((status, headers))
}

/// Header fields given as a Headers, a Map, a list of pairs, anything with `entries` or `forEach`, or a plain object.
fn fields(headers: &JsValue) -> Result<Array, Failure> {
    if headers.is_undefined() || headers.is_null() {
        return Ok(Array::new());
    }
    let unreadable = |_| Failure::protocol("the response's headers cannot be read");
    if let Some(pairs) = js_sys::try_iter(headers).map_err(unreadable)? {
        return pairs.map(|pair| pair.map_err(unreadable)).collect();
    }
    if let Some(entries) = method(headers, "entries") {
        let entries = entries.call0(headers).map_err(unreadable)?;
        let pairs = js_sys::try_iter(&entries).map_err(unreadable)?.into_iter().flatten();
        return pairs.map(|pair| pair.map_err(unreadable)).collect();
    }
    if let Some(for_each) = method(headers, "forEach") {
        let list = Array::new();
        let filled = list.clone();
        let visit = Closure::<dyn Fn(JsValue, JsValue)>::new(move |value: JsValue, name: JsValue| {
            filled.push(&Array::of2(&name, &value).into());
        });
        for_each.call1(headers, visit.as_ref()).map_err(unreadable)?;
        return Ok(list);
    }
    Ok(Object::entries(headers.unchecked_ref()).unchecked_into())
}

/// A header field is two texts, and no content coding is left that nobody undoes.
fn check(field: &JsValue) -> Result<(), Failure> {
    let text = |at| member(field, at).and_then(|text| text.as_string());
    let (name, value) =
        text("0").zip(text("1")).ok_or_else(|| Failure::protocol("the response has a header that is not text"))?;
    if !name.eq_ignore_ascii_case("content-encoding") {
        return Ok(());
    }
    let unknown = |coding: &&str| !CODINGS.iter().any(|known| coding.eq_ignore_ascii_case(known));
    match value.split(',').map(str::trim).find(unknown) {
        Some(coding) => {
            Err(Failure::protocol(format!("the response has the content coding `{coding}`, which nobody here undoes")))
        }
        None => Ok(()),
    }
}
