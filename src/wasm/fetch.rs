//! The life of one fetch: request, head, body chunk by chunk, end.
//!
//! A fetch that the host brings never passes through `gloo-net`, which takes a response of another class for a bug.

use alloc::rc::Rc;
use alloc::string::ToString;

use gloo_net::http::{Headers, Method as HttpMethod, RequestBuilder};
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, RequestCache, RequestCredentials, RequestRedirect};

use super::body::Body;
use super::cause::Failure;
use super::convert::member;

use super::exchange::{Break, Exchange};
use super::pump::Pump;
use super::response;
use crate::io::{Input, Method, Request};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(request: &web_sys::Request) -> Result<JsValue, JsValue>;
}

/// Carries one fetch through, and tells the gateway of each step.
pub(super) async fn run(pump: Rc<Pump>, exchange: Rc<Exchange>, request: Request) {
    let last = match converse(&pump, &exchange, &request).await {
        Ok(()) => Input::End { exchange: exchange.id },
        Err(Break::Failed(failure)) => Input::Failed { exchange: exchange.id, cause: failure.cause, detail: failure.detail },
        Err(Break::Stopped) => return,
    };
    if matches!(last, Input::End { .. }) {
        exchange.reads(None);
    }
    pump.finish(&exchange, last);
}

async fn converse(pump: &Rc<Pump>, exchange: &Rc<Exchange>, request: &Request) -> Result<(), Break> {
    exchange.check()?;
    let signal = exchange.signal();
    let sent = match &pump.host.fetch {
        Some(fetch) => init(request, &signal).and_then(|init| fetch.call1(pump.host.object(), &init)),
        None => send(request, &signal),
    };
    let promise = Promise::resolve(&sent.map_err(|thrown| Failure::thrown(&thrown))?);
    let response = match exchange.wait(promise.clone()).await {
        Err(Break::Stopped) => {
            // A fetch that knows nothing of signals may still answer: its body is let go.
            spawn_local(async move {
                if let Ok(response) = JsFuture::from(promise).await {
                    Body::of(&response).discard();
                }
            });
            return Err(Break::Stopped);
        }
        settled => settled?,
    };
    let body = Body::of(&response);
    exchange.reads(body.source());
    let (status, headers) = response::head(&response)?;
    tell(pump, exchange, Input::Head { exchange: exchange.id, status, headers })?;
    while let Some(bytes) = body.next(exchange).await? {
        tell(pump, exchange, Input::Body { exchange: exchange.id, bytes })?;
        if body.is_whole() {
            break;
        }
    }
    Ok(())
}

/// Tells the gateway, which may have had enough.
fn tell(pump: &Rc<Pump>, exchange: &Exchange, input: Input) -> Result<(), Break> {
    pump.feed(input).map_err(|_| Break::Stopped)?;
    exchange.check()
}

/// The request as the host's own fetch gets it.
fn init(request: &Request, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    let init = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&init, &JsValue::from_str(name), value).map(drop);
    let headers = js_sys::Array::new();
    for (name, value) in &request.headers {
        headers.push(&js_sys::Array::of2(&JsValue::from_str(name), &JsValue::from_str(value)).into());
    }
    set("method", &JsValue::from_str(request.method.name()))?;
    set("url", &JsValue::from_str(&request.url))?;
    set("headers", &headers)?;
    if let Some(body) = &request.body {
        set("body", &JsValue::from_str(body))?;
    }
    set("signal", signal)?;
    Ok(init.into())
}

/// The fetch of page and worker.
fn send(request: &Request, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    let headers = web_sys::Headers::new()?;
    for (name, value) in &request.headers {
        headers.append(name, value)?;
    }
    let method = match request.method {
        Method::Get => HttpMethod::GET,
        Method::Post => HttpMethod::POST,
    };
    let mut builder = RequestBuilder::new(&request.url)
        .method(method)
        .headers(Headers::from_raw(headers))
        .redirect(RequestRedirect::Manual)
        .abort_signal(Some(signal));
    // Workers have no cookies to omit, and some versions throw at members they do not know.
    if request_has("credentials") {
        builder = builder.credentials(RequestCredentials::Omit);
    }
    if request_has("cache") {
        builder = builder.cache(RequestCache::NoStore);
    }
    let built = match &request.body {
        Some(body) => builder.body(body),
        None => builder.build(),
    };
    let built = built.map_err(|fault| JsValue::from_str(&fault.to_string()))?;
    global_fetch(&built.into())
}

fn request_has(name: &str) -> bool {
    let prototype = member(&js_sys::global(), "Request").and_then(|class| member(&class, "prototype"));
    prototype.is_some_and(|prototype| Reflect::has(&prototype, &JsValue::from_str(name)).unwrap_or(false))
}
