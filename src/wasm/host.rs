//! What the driver takes from its host: clock, wall clock, randomness, timers and fetch, each replaceable.

use alloc::format;
use core::cell::Cell;

use js_sys::{Function, Uint8Array};
use wasm_bindgen::prelude::*;

use super::convert::{self, misuse};
use crate::gateway::Genesis;
use crate::time::{Instant, WallTime};

/// The longest timer: a longer one fires at once (WHATWG HTML §8.6, a signed 32-bit number of milliseconds).
const MAX_TIMER_MS: u64 = (1 << 31) - 1;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now, catch)]
    fn performance_now() -> Result<f64, JsValue>;
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(bytes: &Uint8Array) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = setTimeout, catch)]
    fn set_timeout(callback: &Function, ms: f64) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = clearTimeout, catch)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
    #[wasm_bindgen(js_namespace = console, js_name = error, catch)]
    fn console_error(text: &str, error: &JsValue) -> Result<(), JsValue>;
}

/// The replaced functions, and the last time seen.
#[derive(Debug)]
pub(super) struct Host {
    object: JsValue,
    pub(super) fetch: Option<Function>,
    now: Option<Function>,
    unix_now: Option<Function>,
    random: Option<Function>,
    set_timer: Option<Function>,
    last: Cell<Instant>,
}

/// A timer that runs.
#[derive(Debug)]
pub(super) enum Timer {
    /// of `setTimeout`: a number in a page, an object in Node
    Native(JsValue),
    /// of the host: the function that cancels it
    Replaced(JsValue),
}

impl Timer {
    pub(super) fn cancel(self) {
        match self {
            Self::Native(timer) => drop(clear_timeout(&timer)),
            Self::Replaced(cancel) => {
                if let Some(cancel) = cancel.dyn_ref::<Function>() {
                    report("cancel of setTimer", cancel.call0(&JsValue::UNDEFINED));
                }
            }
        }
    }
}

/// A callback that throws is the embedder's matter and never the gateway's: it goes to the console.
pub(super) fn report<T>(callback: &str, result: Result<T, JsValue>) {
    if let Err(thrown) = result {
        drop(console_error(&format!("narrows: {callback} threw"), &thrown));
    }
}

impl Host {
    /// The functions of a host object, or the defaults where there is none.
    pub(super) fn read(object: &JsValue) -> Result<Self, JsValue> {
        if !(object.is_undefined() || object.is_null() || object.is_object()) {
            return Err(misuse("`host` must be an object"));
        }
        let function = |name| match convert::member(object, name) {
            None => Ok(None),
            Some(value) => convert::function(&value, &format!("host.{name}")).map(Some),
        };
        Ok(Self {
            object: object.clone(),
            fetch: function("fetch")?,
            now: function("now")?,
            unix_now: function("unixNow")?,
            random: function("random")?,
            set_timer: function("setTimer")?,
            last: Cell::new(Instant::from_ms(0)),
        })
    }

    /// The object the functions belong to, as their `this`.
    pub(super) fn object(&self) -> &JsValue {
        &self.object
    }

    /// Seed and times of a gateway's birth.
    ///
    /// # Errors
    /// What the host's functions throw, and a `Misuse` for times that are none.
    pub(super) fn genesis(&self) -> Result<Genesis, JsValue> {
        let bytes = Uint8Array::new_with_length(32);
        match &self.random {
            Some(random) => random.call1(&self.object, &bytes)?,
            None => get_random_values(&bytes)?,
        };
        let mut seed = [0; 32];
        bytes.copy_to(&mut seed);
        let unix_ms = match &self.unix_now {
            Some(unix_now) => convert::milliseconds(&unix_now.call0(&self.object)?, "host.unixNow()")?,
            None => js_sys::Date::now() as u64,
        };
        self.last.set(Instant::from_ms(self.read_clock()?));
        Ok(Genesis { seed, now: self.last.get(), unix_ms: WallTime(i64::try_from(unix_ms).unwrap_or(i64::MAX)) })
    }

    fn read_clock(&self) -> Result<u64, JsValue> {
        match &self.now {
            Some(now) => convert::milliseconds(&now.call0(&self.object)?, "host.now()"),
            None => performance_now().map(|ms| ms as u64),
        }
    }

    /// The time; a clock that fails or goes back stands still.
    pub(super) fn now(&self) -> Instant {
        match self.read_clock() {
            Ok(ms) => self.last.set(self.last.get().max(Instant::from_ms(ms))),
            Err(thrown) => report::<()>("host.now", Err(thrown)),
        }
        self.last.get()
    }

    /// Calls back once, after that time or after 24 days, whichever is sooner.
    pub(super) fn set_timer(&self, callback: &Function, ms: u64) -> Option<Timer> {
        let ms = ms.min(MAX_TIMER_MS) as f64;
        let set = match &self.set_timer {
            Some(set_timer) => set_timer.call2(&self.object, callback, &ms.into()).map(Timer::Replaced),
            None => set_timeout(callback, ms).map(Timer::Native),
        };
        set.map_err(|thrown| report::<()>("host.setTimer", Err(thrown))).ok()
    }
}
