//! The JavaScript face, behind the feature `wasm`: the bare machine as class [`Core`], and as class [`Fetch`] the
//! outgoing requests of pages and workers. Time, chance and what joins the two are in the package's JavaScript.
//!
//! Every exported method is synchronous and ends its borrow before JavaScript runs again: two calls side by side and
//! callbacks that call back in cannot meet a borrowed object. Values cross as JSON text or as copies of bytes, never as
//! views into the memory. A panic ends the object in which it happened and no other.

extern crate std;

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::gateway::{Gateway, Question, Secrets};
use crate::io::{self, Deadline, ExchangeId, Input, Misuse, Output, PeerId, RequestId};
use crate::json::Json;

mod body;
mod cause;
mod config;
mod contained;
mod convert;
mod exchange;
mod fetch;
mod response;
mod taint;

pub use fetch::Fetch;
pub use taint::check_outbound;

use contained::Contained;

#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = r#"
import type { ConfigObject, Genesis, HostRequest, SnapshotOptions } from "../index.js";
"#;

/// The gateway without a host: a state machine that says what to do and does nothing itself.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    gateway: Contained,
    /// what `timeout` said last
    told: Cell<Option<Deadline>>,
}

/// What an input leaves to do, as bits of a number: outputs wait.
const OUTPUTS: u32 = 1;
/// `timeout` has another answer than the last one.
const TIMEOUT: u32 = 2;

#[wasm_bindgen]
impl Core {
    /// A gateway without peers and agents.
    ///
    /// # Errors
    /// `Misuse` for the genesis, `ConfigError` naming every fault of the configuration.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "Genesis")] genesis: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "ConfigObject")] config: &JsValue,
    ) -> Result<Core, JsValue> {
        let genesis = convert::genesis(genesis)?;
        let config = config::read(config)?;
        Self::of(Contained::new(move || Ok(Gateway::new(genesis, config))))
    }

    /// Continues from the pieces of a `snapshot`, in any order.
    ///
    /// # Errors
    /// As the constructor; `RestoreError` for a piece that is unreadable or of another version.
    pub fn restore(
        #[wasm_bindgen(unchecked_param_type = "Genesis")] genesis: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "ConfigObject | undefined")] config: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "readonly string[]")] pieces: &JsValue,
    ) -> Result<Core, JsValue> {
        let genesis = convert::genesis(genesis)?;
        let config = config::read(config)?;
        let pieces = convert::texts(pieces, "pieces")?;
        Self::of(Contained::new(move || Gateway::restore(genesis, config, &pieces)))
    }

    /// Takes in what happened, in its JSON form. Gives what is to be done then: 1 where outputs wait, plus 2 where
    /// `timeout` has another answer than the last one.
    ///
    /// # Errors
    /// `Misuse`, a fault of the host; nothing changed.
    pub fn input(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] json: &JsValue,
    ) -> Result<u32, JsValue> {
        let (now, json) = (convert::instant(now)?, convert::text(json, "json")?);
        self.take(move |gateway| gateway.handle_input(now, io::read_input(&json)?))
    }

    /// A message from a peer, without an envelope.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn message(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] peer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] text: &JsValue,
    ) -> Result<u32, JsValue> {
        let peer = PeerId(convert::whole(peer, "peer")?);
        self.feed(now, Input::Message { peer, text: convert::text(text, "text")? })
    }

    /// Some bytes of a fetch's body, copied once.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    pub fn body(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] exchange: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "ArrayBufferView | ArrayBuffer")] bytes: &JsValue,
    ) -> Result<u32, JsValue> {
        let exchange = ExchangeId(convert::whole(exchange, "exchange")?);
        let bytes = convert::bytes(bytes).ok_or_else(|| convert::misuse("`bytes` must be a Uint8Array"))?;
        self.feed(now, Input::Body { exchange, bytes })
    }

    /// Some bytes of an incoming request's body, copied once.
    ///
    /// # Errors
    /// As [`input`](Self::input).
    #[wasm_bindgen(js_name = requestBody)]
    pub fn request_body(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] request: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "ArrayBufferView | ArrayBuffer")] bytes: &JsValue,
    ) -> Result<u32, JsValue> {
        let request = RequestId(convert::whole(request, "request")?);
        let bytes = convert::bytes(bytes).ok_or_else(|| convert::misuse("`bytes` must be a Uint8Array"))?;
        self.feed(now, Input::RequestBody { request, bytes })
    }

    /// Goes on with another configuration; what did not change goes on untouched.
    ///
    /// # Errors
    /// As the constructor, for the configuration; then nothing changed.
    pub fn configure(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] now: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "ConfigObject")] config: &JsValue,
    ) -> Result<u32, JsValue> {
        let config = config::read(config)?.into();
        self.feed(now, Input::Configure { config })
    }

    /// The next thing to do, as JSON text.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(unchecked_return_type = "string | undefined")]
    pub fn output(&self) -> Result<JsValue, JsValue> {
        Ok(self.polled(false)?.map_or(JsValue::UNDEFINED, |(.., json)| JsValue::from_str(&json)))
    }

    /// The same, but for a text that goes to a peer or into a response: that one comes without an envelope, as
    /// `[peer, undefined, text]` or `[undefined, request, text]`, so that nobody escapes it and reads it back.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(
        unchecked_return_type = "string | [peer: number, request: undefined, text: string] | [peer: undefined, request: number, text: string] | undefined"
    )]
    pub fn next(&self) -> Result<JsValue, JsValue> {
        let number = |id: Option<u64>| id.map_or(JsValue::UNDEFINED, |id| JsValue::from_f64(id as f64));
        Ok(match self.polled(true)? {
            None => JsValue::UNDEFINED,
            Some((None, None, json)) => JsValue::from_str(&json),
            Some((peer, request, text)) => Array::of3(&number(peer), &number(request), &JsValue::from_str(&text)).into(),
        })
    }

    /// When to come back at the latest, and why, as JSON text.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(unchecked_return_type = "string | undefined")]
    pub fn timeout(&self) -> Result<JsValue, JsValue> {
        let (deadline, json) = self.gateway.run(|gateway| {
            let deadline = gateway.poll_timeout();
            (deadline, deadline.map(|deadline| deadline.to_json()))
        })?;
        self.told.set(deadline);
        Ok(text(json))
    }

    /// All state, in pieces of JSON text under 1 MiB each. They hold credentials unless `secrets` is false.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    pub fn snapshot(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "SnapshotOptions")] options: &JsValue,
    ) -> Result<Vec<String>, JsValue> {
        snapshot(&self.gateway, options)
    }

    /// What the policy would say of a call that is not made: JSON text of a question and of its answer.
    ///
    /// # Errors
    /// `Misuse` for what is no question, `Dead` or `Disposed`.
    pub fn explain(&self, #[wasm_bindgen(unchecked_param_type = "string")] question: &JsValue) -> Result<String, JsValue> {
        let question = Question::read(&convert::text(question, "question")?).map_err(convert::misuse)?;
        self.gateway.run(move |gateway| gateway.explain(&question).into_string())
    }

    /// The tools that are held back because they changed, as JSON text.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(js_name = heldTools)]
    pub fn held_tools(&self) -> Result<String, JsValue> {
        self.gateway.run(|gateway| gateway.held_tools().into_string())
    }

    /// Starts or stops writing the trace.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    pub fn trace(&self, on: bool) -> Result<(), JsValue> {
        self.gateway.run(move |gateway| gateway.set_trace(on))
    }

    /// The next line of the trace, as JSON text with placeholders for secrets.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(js_name = traceLine)]
    pub fn trace_line(&self) -> Result<Option<String>, JsValue> {
        self.gateway.run(Gateway::poll_trace)
    }

    /// The panic message, where a panic ended this object.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dead(&self) -> Option<String> {
        self.gateway.dead()
    }

    /// Lets go of everything; later calls throw an Error named `Disposed`. Twice is fine.
    pub fn dispose(&self) {
        self.gateway.dispose();
    }

    fn polled(&self, bare: bool) -> Result<Option<Told>, JsValue> {
        self.gateway.run(move |gateway| gateway.poll_output().map(|output| told(output, bare)))
    }

    fn of(gateway: Result<Contained, JsValue>) -> Result<Self, JsValue> {
        Ok(Self { gateway: gateway?, told: Cell::new(None) })
    }

    fn feed(&self, now: &JsValue, input: Input) -> Result<u32, JsValue> {
        let now = convert::instant(now)?;
        self.take(move |gateway| gateway.handle_input(now, input))
    }

    fn take(&self, input: impl FnOnce(&mut Gateway) -> Result<(), Misuse> + 'static) -> Result<u32, JsValue> {
        let (taken, outputs, deadline) = self.gateway.run(move |gateway| {
            let taken = input(gateway);
            (taken, gateway.has_output(), gateway.poll_timeout())
        })?;
        taken.map_err(convert::misuse)?;
        Ok(u32::from(outputs) * OUTPUTS + u32::from(deadline != self.told.get()) * TIMEOUT)
    }
}

/// The peer or the request of a bare text, or neither of a JSON text.
type Told = (Option<u64>, Option<u64>, String);

fn told(output: Output, bare: bool) -> Told {
    match output {
        Output::Message { peer, text } if bare => (Some(peer.0), None, text),
        Output::ResponseBody { request, text } if bare => (None, Some(request.0), text),
        Output::Message { .. }
        | Output::Fetch { .. }
        | Output::Abort { .. }
        | Output::ResponseHead { .. }
        | Output::ResponseBody { .. }
        | Output::ResponseEnd { .. }
        | Output::Save(_)
        | Output::Work { .. }
        | Output::WorkAbort { .. }
        | Output::Link { .. }
        | Output::Tokens { .. }
        | Output::Lookup(_)
        | Output::Notice(_) => (None, None, output.to_json().into_string()),
    }
}

/// For tests of what a panic leaves behind.
#[cfg(narrows_panic)]
#[wasm_bindgen]
impl Core {
    /// The next call into the gateway panics.
    #[wasm_bindgen(js_name = panicNext)]
    pub fn panic_next(&self) {
        self.gateway.panic_next();
    }
}

fn text(json: Option<Json>) -> JsValue {
    json.map_or(JsValue::UNDEFINED, |json| JsValue::from_str(json.as_str()))
}

fn snapshot(gateway: &Contained, options: &JsValue) -> Result<Vec<String>, JsValue> {
    let secrets = match convert::member(options, "secrets") {
        Some(value) if value == JsValue::FALSE => Secrets::Drop,
        Some(value) if value == JsValue::TRUE => Secrets::Keep,
        None => Secrets::Keep,
        Some(_) => return Err(convert::misuse("`secrets` must be true or false")),
    };
    gateway.run(move |gateway| gateway.snapshot(secrets))
}
