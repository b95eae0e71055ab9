//! The host for pages and workers: moves messages, fetches and time between JavaScript and one gateway.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use js_sys::{Function, JSON};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::contained::Contained;
use super::exchange::Exchange;
use super::host::{self, Host, Timer, report};
use super::{cause::Failure, config, convert, fetch};
use crate::gateway::Gateway;
use crate::io::{ExchangeId, Input, Notice, Output, PeerId, Request};

/// A gateway with a host around it: the fetch, clock and timers of the page or worker, or replaced ones.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Driver {
    inner: Rc<Inner>,
}

#[wasm_bindgen]
impl Driver {
    /// A running gateway without peers.
    ///
    /// # Errors
    /// `ConfigError` naming every fault of the configuration, `Misuse` for the host's functions.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_optional_param_type = "ConfigObject")] config: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "Host")] host: &JsValue,
    ) -> Result<Driver, JsValue> {
        let (config, host) = (config::read(config)?, Host::read(host::checked(host)?)?);
        let genesis = host.genesis()?;
        Inner::start(host, Contained::new(move || Ok(Gateway::new(genesis, config)))?)
    }

    /// Continues from the pieces of a `snapshot`, in any order.
    ///
    /// # Errors
    /// As the constructor; `RestoreError` for a piece that is unreadable or of another version.
    pub fn restore(
        #[wasm_bindgen(unchecked_param_type = "ConfigObject | undefined")] config: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Host | undefined")] host: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "readonly string[]")] pieces: &JsValue,
    ) -> Result<Driver, JsValue> {
        let (config, host) = (config::read(config)?, Host::read(host::checked(host)?)?);
        let (genesis, pieces) = (host.genesis()?, convert::texts(pieces, "pieces")?);
        Inner::start(host, Contained::new(move || Gateway::restore(genesis, config, &pieces))?)
    }

    /// An MCP client is there; `on_message` gets what the gateway says to it.
    ///
    /// # Errors
    /// `Misuse`, `Dead` or `Disposed`.
    pub fn open(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] peer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] scope: &JsValue,
        #[wasm_bindgen(js_name = onMessage, unchecked_param_type = "(text: string) => void")] on_message: &JsValue,
    ) -> Result<(), JsValue> {
        let peer = PeerId(convert::whole(peer, "peer")?);
        let (scope, on_message) = (convert::text(scope, "scope")?, convert::function(on_message, "onMessage")?);
        self.inner.take_in(Input::Open { peer, scope })?;
        self.inner.peers.borrow_mut().push((peer, on_message));
        self.inner.pump();
        Ok(())
    }

    /// One JSON-RPC message from a peer.
    ///
    /// # Errors
    /// `Misuse`, `Dead` or `Disposed`.
    pub fn message(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number | bigint")] peer: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] text: &JsValue,
    ) -> Result<(), JsValue> {
        let peer = PeerId(convert::whole(peer, "peer")?);
        self.inner.feed(Input::Message { peer, text: convert::text(text, "text")? })
    }

    /// A peer left: it gets nothing more.
    ///
    /// # Errors
    /// `Misuse`, `Dead` or `Disposed`.
    pub fn close(&self, #[wasm_bindgen(unchecked_param_type = "number | bigint")] peer: &JsValue) -> Result<(), JsValue> {
        let peer = PeerId(convert::whole(peer, "peer")?);
        self.inner.take_in(Input::Closed { peer })?;
        self.inner.peers.borrow_mut().retain(|(open, _)| *open != peer);
        self.inner.pump();
        Ok(())
    }

    /// Who gets the gateway's notices; `undefined` for nobody.
    ///
    /// # Errors
    /// `Misuse` where it is no function.
    #[wasm_bindgen(js_name = onNotice)]
    pub fn on_notice(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "(notice: Notice) => void")] callback: &JsValue,
    ) -> Result<(), JsValue> {
        self.inner.on_notice.replace(host::callback(callback, "onNotice")?);
        Ok(())
    }

    /// Who is told, once, that a panic ended this gateway.
    ///
    /// # Errors
    /// `Misuse` where it is no function.
    #[wasm_bindgen(js_name = onDead)]
    pub fn on_dead(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "(message: string) => void")] callback: &JsValue,
    ) -> Result<(), JsValue> {
        self.inner.on_dead.replace(host::callback(callback, "onDead")?);
        Ok(())
    }

    /// All state, in pieces of JSON text under 1 MiB each. They hold credentials unless `secrets` is false.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    pub fn snapshot(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "SnapshotOptions")] options: &JsValue,
    ) -> Result<Vec<String>, JsValue> {
        super::snapshot(&self.inner.gateway, options)
    }

    /// Starts or stops writing the trace.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    pub fn trace(&self, on: bool) -> Result<(), JsValue> {
        self.inner.gateway.run(move |gateway| gateway.set_trace(on))
    }

    /// The next line of the trace, as JSON text with placeholders for secrets.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(js_name = traceLine)]
    pub fn trace_line(&self) -> Result<Option<String>, JsValue> {
        self.inner.gateway.run(Gateway::poll_trace)
    }

    /// The panic message, where a panic ended this object.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dead(&self) -> Option<String> {
        self.inner.gateway.dead()
    }

    /// Aborts every fetch, cancels the timer and lets go of everything; later calls throw an Error named `Disposed`.
    /// Twice is fine.
    pub fn dispose(&self) {
        self.inner.gateway.dispose();
        self.inner.rest();
        self.inner.on_notice.replace(None);
        self.inner.on_dead.replace(None);
    }
}

/// For tests of what a panic leaves behind.
#[cfg(narrows_panic)]
#[wasm_bindgen]
impl Driver {
    /// The next entry into the gateway panics.
    #[wasm_bindgen(js_name = panicNext)]
    pub fn panic_next(&self) {
        self.inner.gateway.panic_next();
    }
}

/// What timers and fetches hold on to. No borrow lasts while JavaScript runs.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) host: Host,
    gateway: Contained,
    peers: RefCell<Vec<(PeerId, Function)>>,
    exchanges: RefCell<Vec<Rc<Exchange>>>,
    on_notice: RefCell<Option<Function>>,
    on_dead: RefCell<Option<Function>>,
    wake: Closure<dyn Fn()>,
    armed: RefCell<Option<Armed>>,
    pumping: Cell<bool>,
    again: Cell<bool>,
}

/// A timer that runs. It keeps the driver alive, as the timers of JavaScript keep what they will call.
#[derive(Debug)]
struct Armed {
    at_ms: u64,
    timer: Timer,
    _driver: Rc<Inner>,
}

impl Inner {
    fn start(host: Host, gateway: Contained) -> Result<Driver, JsValue> {
        let inner = Rc::new_cyclic(|weak: &alloc::rc::Weak<Self>| {
            let weak = weak.clone();
            let wake = move || {
                if let Some(inner) = weak.upgrade() {
                    let fired = inner.armed.take();
                    drop(inner.feed(Input::Tick));
                    drop(fired);
                }
            };
            Self {
                host,
                gateway,
                peers: RefCell::default(),
                exchanges: RefCell::default(),
                on_notice: RefCell::default(),
                on_dead: RefCell::default(),
                wake: Closure::new(wake),
                armed: RefCell::default(),
                pumping: Cell::new(false),
                again: Cell::new(false),
            }
        });
        inner.pump();
        Ok(Driver { inner })
    }

    /// Tells the gateway what happened and does what it says.
    ///
    /// # Errors
    /// An Error named `Misuse`, `Dead` or `Disposed`.
    pub(super) fn feed(self: &Rc<Self>, input: Input) -> Result<(), JsValue> {
        self.take_in(input)?;
        self.pump();
        Ok(())
    }

    fn take_in(&self, input: Input) -> Result<(), JsValue> {
        let now = self.host.now();
        match self.gateway.run(move |gateway| gateway.handle_input(now, input)) {
            Ok(taken) => taken.map_err(convert::misuse),
            Err(ended) => {
                self.bury();
                Err(ended)
            }
        }
    }

    /// Does what the gateway says, in order. A callback that calls back in is carried on by the loop outside it.
    fn pump(self: &Rc<Self>) {
        if self.pumping.replace(true) {
            self.again.set(true);
            return;
        }
        loop {
            self.again.set(false);
            while let Some(output) = self.poll(Gateway::poll_output) {
                self.act(output);
            }
            self.arm();
            if !self.again.get() {
                break;
            }
        }
        self.pumping.set(false);
    }

    fn poll<T: 'static>(&self, poll: impl FnOnce(&mut Gateway) -> Option<T> + 'static) -> Option<T> {
        let polled = self.gateway.run(poll);
        if polled.is_err() {
            self.bury();
        }
        polled.ok().flatten()
    }

    fn act(self: &Rc<Self>, output: Output) {
        match output {
            Output::Message { peer, text } => {
                let on_message =
                    self.peers.borrow().iter().find(|(open, _)| *open == peer).map(|(_, on_message)| on_message.clone());
                if let Some(on_message) = on_message {
                    report("onMessage", on_message.call1(&JsValue::UNDEFINED, &JsValue::from_str(&text)));
                }
            }
            Output::Fetch { exchange, request } => self.begin(exchange, request),
            Output::Abort { exchange } => {
                if let Some(exchange) = self.take(exchange) {
                    exchange.stop();
                }
            }
            Output::Notice(notice) => self.tell(notice),
        }
    }

    fn tell(&self, notice: Notice) {
        let on_notice = self.on_notice.borrow().clone();
        let Some(on_notice) = on_notice else { return };
        let parsed = JSON::parse(Output::Notice(notice).to_json().as_str());
        report("onNotice", parsed.and_then(|notice| on_notice.call1(&JsValue::UNDEFINED, &notice)));
    }

    fn begin(self: &Rc<Self>, id: ExchangeId, request: Request) {
        match Exchange::new(id).map(Rc::new) {
            Ok(exchange) => {
                self.exchanges.borrow_mut().push(Rc::clone(&exchange));
                spawn_local(fetch::run(Rc::clone(self), exchange, request));
            }
            Err(thrown) => {
                let Failure { cause, detail } = Failure::thrown(&thrown);
                report("AbortController", self.feed(Input::Failed { exchange: id, cause, detail }));
            }
        }
    }

    fn take(&self, id: ExchangeId) -> Option<Rc<Exchange>> {
        let mut exchanges = self.exchanges.borrow_mut();
        let at = exchanges.iter().position(|exchange| exchange.id == id)?;
        Some(exchanges.swap_remove(at))
    }

    /// The last report of an exchange. What it still reads is let go.
    pub(super) fn finish(self: &Rc<Self>, exchange: &Exchange, last: Input) {
        drop(self.take(exchange.id));
        if let Input::Failed { .. } = last {
            exchange.stop();
        }
        drop(self.feed(last));
    }

    /// Sets the timer to the gateway's next deadline, where it changed.
    fn arm(self: &Rc<Self>) {
        let wanted = self.poll(|gateway| gateway.poll_timeout()).map(|deadline| deadline.at.as_ms());
        if wanted == self.armed.borrow().as_ref().map(|armed| armed.at_ms) {
            return;
        }
        self.disarm();
        let Some(at_ms) = wanted else { return };
        let after_ms = at_ms.saturating_sub(self.host.now().as_ms());
        if let Some(timer) = self.host.set_timer(self.wake.as_ref().unchecked_ref(), after_ms) {
            self.armed.replace(Some(Armed { at_ms, timer, _driver: Rc::clone(self) }));
        }
    }

    fn disarm(&self) {
        let armed = self.armed.take();
        if let Some(armed) = armed {
            armed.timer.cancel();
        }
    }

    /// Ends all that a dead gateway left behind, and says so once.
    fn bury(&self) {
        let Some(message) = self.gateway.dead() else { return };
        let on_dead = self.on_dead.take();
        self.rest();
        if let Some(on_dead) = on_dead {
            report("onDead", on_dead.call1(&JsValue::UNDEFINED, &JsValue::from_str(&message)));
        }
    }

    /// Stops fetches and timer and forgets the peers.
    fn rest(&self) {
        let exchanges = self.exchanges.take();
        exchanges.iter().for_each(|exchange| exchange.stop());
        self.disarm();
        drop(self.peers.take());
    }
}
