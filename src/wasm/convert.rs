//! JavaScript values in, typed values out; what does not fit is an Error that names the field.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use js_sys::{ArrayBuffer, Function, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::gateway::Genesis;
use crate::time::{Instant, WallTime};

/// The largest integer that JavaScript holds exactly, as a number of either kind.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
const MAX_SAFE_NUMBER: f64 = 9_007_199_254_740_991.0;

/// An Error of that name.
pub(super) fn error(name: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    error.set_name(name);
    error.into()
}

/// An Error named `Misuse`.
pub(super) fn misuse(fault: impl Display) -> JsValue {
    error("Misuse", &fault.to_string())
}

/// A member that is there and not `undefined`; none of a value that is no object.
pub(super) fn member(value: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(value, &JsValue::from_str(name)).ok().filter(|member| !member.is_undefined())
}

/// A method of an object.
pub(super) fn method(value: &JsValue, name: &str) -> Option<Function> {
    member(value, name)?.dyn_into().ok()
}

/// A time: numbers lose their fraction, BigInt is fine.
pub(super) fn milliseconds(value: &JsValue, field: &str) -> Result<u64, JsValue> {
    number(value, field)?.map_or_else(|| big(value, field), |number| Ok(number as u64))
}

/// A number that names something.
pub(super) fn whole(value: &JsValue, field: &str) -> Result<u64, JsValue> {
    let Some(number) = number(value, field)? else { return big(value, field) };
    let whole = number as u64;
    if whole as f64 == number { Ok(whole) } else { Err(misuse(format!("`{field}` must be a whole number"))) }
}

/// A number of the range, or none where the value may be a BigInt.
fn number(value: &JsValue, field: &str) -> Result<Option<f64>, JsValue> {
    let Some(number) = value.as_f64() else { return Ok(None) };
    let fault = if number.is_nan() {
        "is NaN"
    } else if number < 0.0 {
        "is negative"
    } else if number > MAX_SAFE_NUMBER {
        "is over 2^53 - 1"
    } else {
        return Ok(Some(number));
    };
    Err(misuse(format!("`{field}` {fault}")))
}

fn big(value: &JsValue, field: &str) -> Result<u64, JsValue> {
    if !value.is_bigint() {
        return Err(misuse(format!("`{field}` must be a number or a BigInt")));
    }
    let number = u64::try_from(value.clone()).ok().filter(|number| *number <= MAX_SAFE_INTEGER);
    number.ok_or_else(|| misuse(format!("`{field}` must be from 0 to 2^53 - 1")))
}

/// The moment of an input.
pub(super) fn instant(value: &JsValue) -> Result<Instant, JsValue> {
    milliseconds(value, "now").map(Instant::from_ms)
}

/// A string; lone surrogates become U+FFFD.
pub(super) fn text(value: &JsValue, field: &str) -> Result<String, JsValue> {
    value.as_string().ok_or_else(|| misuse(format!("`{field}` must be a string")))
}

/// An array of strings.
pub(super) fn texts(value: &JsValue, field: &str) -> Result<Vec<String>, JsValue> {
    let fault = || misuse(format!("`{field}` must be an array of strings"));
    let list = js_sys::Array::is_array(value).then(|| js_sys::Array::from(value)).ok_or_else(fault)?;
    list.iter().map(|element| element.as_string().ok_or_else(fault)).collect()
}

/// A function.
pub(super) fn function(value: &JsValue, field: &str) -> Result<Function, JsValue> {
    value.clone().dyn_into().map_err(|_| misuse(format!("`{field}` must be a function")))
}

/// A callback, or none.
pub(super) fn callback(value: &JsValue, field: &str) -> Result<Option<Function>, JsValue> {
    if value.is_undefined() || value.is_null() { Ok(None) } else { function(value, field).map(Some) }
}

/// A copy of the bytes of any view or buffer, of this realm or another.
pub(super) fn bytes(value: &JsValue) -> Option<Vec<u8>> {
    if value.is_instance_of::<Uint8Array>() {
        return Some(value.unchecked_ref::<Uint8Array>().to_vec());
    }
    if !ArrayBuffer::is_view(value) {
        return value.is_instance_of::<ArrayBuffer>().then(|| Uint8Array::new(value).to_vec());
    }
    let offset = member(value, "byteOffset")?.as_f64()? as u32;
    let length = member(value, "byteLength")?.as_f64()? as u32;
    let buffer = member(value, "buffer")?;
    Some(Uint8Array::new_with_byte_offset_and_length(&buffer, offset, length).to_vec())
}

/// What a gateway is born with.
pub(super) fn genesis(value: &JsValue) -> Result<Genesis, JsValue> {
    let field = |name| member(value, name).unwrap_or(JsValue::UNDEFINED);
    let seed = bytes(&field("seed")).and_then(|seed| seed.try_into().ok());
    let unix_ms = milliseconds(&field("unixMs"), "unixMs")?;
    Ok(Genesis {
        seed: seed.ok_or_else(|| misuse("`seed` must be a Uint8Array of 32 bytes"))?,
        now: instant(&field("now"))?,
        unix_ms: WallTime(i64::try_from(unix_ms).unwrap_or(i64::MAX)),
    })
}
