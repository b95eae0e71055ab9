//! One outgoing request, with the fetch of page and worker or with one that the host brings: head, body chunk by
//! chunk, end.
//!
//! A fetch that the host brings never passes through `gloo-net`, which takes a response of another class for a bug.

use alloc::rc::Rc;
use alloc::string::ToString;

use gloo_net::http::{Headers, Method, RequestBuilder};
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, RequestCache, RequestCredentials, RequestRedirect};

use super::body::Body;
use super::cause::Failure;
use super::convert::{callback, member, method, misuse};
use super::exchange::{Break, Exchange};
use super::response;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(request: &web_sys::Request) -> Result<JsValue, JsValue>;
}

/// A request under way. Redirects are not followed, no cookies are kept, nothing is repeated.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Fetch {
    exchange: Rc<Exchange>,
}

#[wasm_bindgen]
impl Fetch {
    /// Starts a request `{method, url, headers, body?, public_only?}`, with the global fetch, which can see no addresses and
    /// so does not look at `public_only`, or with `own`, which gets the same object with a `signal` in it. What becomes of it is told to the methods of `report`: `head(status, headers)`, then
    /// `body(bytes)` any number of times, then `end()`; or `failed(cause, detail)` at any point. Nothing is told before
    /// this returns.
    ///
    /// # Errors
    /// `Misuse` where `own` is no function.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "object")] request: JsValue,
        #[wasm_bindgen(unchecked_param_type = "object")] report: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "(request: HostRequest) => unknown")] own: &JsValue,
    ) -> Result<Fetch, JsValue> {
        let own = callback(own, "own")?;
        let exchange = Rc::new(Exchange::new()?);
        spawn_local(run(Rc::clone(&exchange), Round { request, report, own }));
        Ok(Self { exchange })
    }

    /// Aborts the request and cancels its body. Nothing more is told.
    pub fn abort(&self) {
        self.exchange.stop();
    }
}

/// What one request is made of.
struct Round {
    request: JsValue,
    report: JsValue,
    own: Option<Function>,
}

async fn run(exchange: Rc<Exchange>, round: Round) {
    match converse(&exchange, &round).await {
        Ok(()) => {
            exchange.reads(None);
            round.tell("end", &Array::new());
        }
        Err(Break::Failed(Failure { cause, detail })) => {
            exchange.stop();
            round.tell("failed", &Array::of2(&JsValue::from_str(cause.name()), &JsValue::from_str(&detail)));
        }
        Err(Break::Stopped) => {}
    }
}

async fn converse(exchange: &Rc<Exchange>, round: &Round) -> Result<(), Break> {
    exchange.check()?;
    let sent = round.send(&exchange.signal());
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
    round.tell("head", &Array::of2(&status.into(), &headers));
    while let Some(bytes) = body.next(exchange).await? {
        exchange.check()?;
        round.tell("body", &Array::of1(&bytes));
        if body.is_whole() {
            break;
        }
    }
    exchange.check()
}

impl Round {
    fn tell(&self, what: &str, arguments: &Array) {
        if let Some(told) = method(&self.report, what) {
            drop(told.apply(&self.report, arguments));
        }
    }

    fn send(&self, signal: &AbortSignal) -> Result<JsValue, JsValue> {
        let Some(own) = &self.own else { return send(&self.request, signal) };
        Reflect::set(&self.request, &JsValue::from_str("signal"), signal)?;
        own.call1(&JsValue::UNDEFINED, &self.request)
    }
}

/// The fetch of page and worker.
fn send(request: &JsValue, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    let url = member(request, "url").and_then(|url| url.as_string()).ok_or_else(|| misuse("`url` must be a string"))?;
    let headers = member(request, "headers").unwrap_or_else(|| Array::new().into());
    let headers = web_sys::Headers::new_with_str_sequence_sequence(&headers)?;
    let posts = member(request, "method").is_some_and(|method| method == "POST");
    let mut builder = RequestBuilder::new(&url)
        .method(if posts { Method::POST } else { Method::GET })
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
    let built = match member(request, "body") {
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
