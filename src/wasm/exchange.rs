//! One fetch in flight: it can be stopped at any moment, whatever it waits for.

use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Poll, Waker};

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::AbortController;

use super::cause::Failure;

/// Why a fetch is not read on.
#[derive(Debug)]
pub(super) enum Break {
    /// Nobody wants the rest.
    Stopped,
    /// It failed by itself.
    Failed(Failure),
}

impl From<Failure> for Break {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The stop switch of one fetch.
#[derive(Debug)]
pub(super) struct Exchange {
    controller: AbortController,
    stopped: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    source: RefCell<Option<Source>>,
}

/// A body being read, and how it is told that nobody reads on.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) object: JsValue,
    pub(super) cancel: Option<Function>,
}

impl Exchange {
    pub(super) fn new() -> Result<Self, JsValue> {
        Ok(Self {
            controller: AbortController::new()?,
            stopped: Cell::new(false),
            waker: RefCell::new(None),
            source: RefCell::new(None),
        })
    }

    pub(super) fn signal(&self) -> web_sys::AbortSignal {
        self.controller.signal()
    }

    /// Notes what must be told when nobody reads on.
    pub(super) fn reads(&self, source: Option<Source>) {
        self.source.replace(source);
    }

    pub(super) fn check(&self) -> Result<(), Break> {
        if self.stopped.get() { Err(Break::Stopped) } else { Ok(()) }
    }

    /// Waits for a value; ends at once when the exchange is stopped, even if the promise never settles.
    pub(super) async fn wait(&self, promise: Promise) -> Result<JsValue, Break> {
        let mut settled = JsFuture::from(promise);
        let result = poll_fn(|context| {
            if self.stopped.get() {
                return Poll::Ready(Err(Break::Stopped));
            }
            self.waker.replace(Some(context.waker().clone()));
            Pin::new(&mut settled).poll(context).map(|result| result.map_err(|thrown| Break::Failed(Failure::thrown(&thrown))))
        });
        result.await
    }

    /// Aborts the request and cancels its body.
    pub(super) fn stop(&self) {
        if self.stopped.replace(true) {
            return;
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        self.controller.abort();
        if let Some(source) = self.source.take() {
            source.cancel();
        }
    }
}

impl Source {
    pub(super) fn cancel(self) {
        if let Some(cancel) = self.cancel {
            ignore(cancel.call0(&self.object));
        }
    }
}

/// Lets a promise settle as it likes: nobody is told of its rejection.
pub(super) fn ignore(promise: Result<JsValue, JsValue>) {
    if let Ok(Ok(promise)) = promise.map(JsCast::dyn_into::<Promise>) {
        spawn_local(async move { drop(JsFuture::from(promise).await) });
    }
}
