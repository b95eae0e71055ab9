//! The body of a response, read one chunk at a time: the next read starts when the gateway has taken the last chunk.

use js_sys::{ArrayBuffer, Function, Promise, Reflect, Symbol, Uint8Array};
use wasm_bindgen::prelude::*;

use super::cause::Failure;
use super::convert::{member, method};
use super::exchange::{Break, Exchange, Source, ignore};

/// Where chunks come from.
#[derive(Debug)]
pub(super) enum Body {
    /// no body
    Empty,
    /// a reader of a stream or an async iterator: `next` gives a promise of `{done, value}`
    Chunks { object: JsValue, next: Function, cancel: Option<Function> },
    /// all bytes at once
    Whole(JsValue),
    /// none of the forms that are read here
    Unreadable,
}

impl Body {
    /// The body of a response-like object.
    pub(super) fn of(response: &JsValue) -> Self {
        let body = member(response, "body").unwrap_or(JsValue::UNDEFINED);
        if body.is_null() {
            return Self::Empty;
        }
        if body.is_undefined() {
            let all = method(response, "arrayBuffer").map(|all| all.call0(response));
            return all.map_or(Self::Empty, |all| all.map_or(Self::Unreadable, Self::Whole));
        }
        if is_bytes(&body) || body.is_string() {
            return Self::Whole(body);
        }
        if let Some(get_reader) = method(&body, "getReader") {
            return get_reader.call0(&body).map_or(Self::Unreadable, |reader| Self::chunks(reader, "read", "cancel"));
        }
        let iterate = Reflect::get(&body, &Symbol::async_iterator()).ok().and_then(|iterate| iterate.dyn_into::<Function>().ok());
        let iterator = iterate.and_then(|iterate| iterate.call0(&body).ok());
        iterator.map_or(Self::Unreadable, |iterator| Self::chunks(iterator, "next", "return"))
    }

    fn chunks(object: JsValue, next: &str, cancel: &str) -> Self {
        match method(&object, next) {
            Some(next) => Self::Chunks { next, cancel: method(&object, cancel), object },
            None => Self::Unreadable,
        }
    }

    /// What must be told when nobody reads on.
    pub(super) fn source(&self) -> Option<Source> {
        match self {
            Self::Chunks { object, cancel, .. } => Some(Source { object: object.clone(), cancel: cancel.clone() }),
            Self::Empty | Self::Whole(_) | Self::Unreadable => None,
        }
    }

    /// Whether one chunk is all.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// The bytes of the next chunk, or none at the end.
    pub(super) async fn next(&self, exchange: &Exchange) -> Result<Option<JsValue>, Break> {
        let chunk = match self {
            Self::Empty => return Ok(None),
            Self::Unreadable => return Err(Failure::protocol("the response's body cannot be read").into()),
            Self::Whole(all) => exchange.wait(Promise::resolve(all)).await?,
            Self::Chunks { object, next, .. } => {
                let read = next.call0(object).map_err(|thrown| Failure::thrown(&thrown))?;
                let step = exchange.wait(Promise::resolve(&read)).await?;
                if member(&step, "done").is_some_and(|done| done.is_truthy()) {
                    return Ok(None);
                }
                member(&step, "value").unwrap_or(JsValue::UNDEFINED)
            }
        };
        if is_bytes(&chunk) {
            return Ok(Some(chunk));
        }
        match chunk.as_string() {
            Some(text) => Ok(Some(Uint8Array::from(text.as_bytes()).into())),
            None => Err(Failure::protocol("the response's body holds a chunk that is not bytes").into()),
        }
    }

    /// Lets go of a body that nobody reads.
    pub(super) fn discard(self) {
        match self {
            Self::Whole(all) => ignore(Ok(all)),
            Self::Chunks { .. } | Self::Empty | Self::Unreadable => {
                if let Some(source) = self.source() {
                    source.cancel();
                }
            }
        }
    }
}

fn is_bytes(value: &JsValue) -> bool {
    ArrayBuffer::is_view(value) || value.is_instance_of::<ArrayBuffer>()
}
