//! What moves between one gateway and JavaScript: messages, fetches, notices and time.

use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use js_sys::{Function, JSON};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::cause::Failure;
use super::contained::Contained;
use super::exchange::Exchange;
use super::host::{Host, Timer, report};
use super::{convert, fetch};
use crate::gateway::Gateway;
use crate::io::{ExchangeId, Input, Notice, Output, PeerId, Request};

/// What timers and fetches hold on to. No borrow lasts while JavaScript runs.
#[derive(Debug)]
pub(super) struct Pump {
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
    _pump: Rc<Pump>,
}

impl Pump {
    /// A pump with its gateway newly born or restored.
    pub(super) fn start(host: Host, gateway: Contained) -> Rc<Self> {
        let pump = Rc::new_cyclic(|weak: &Weak<Self>| {
            let weak = weak.clone();
            let wake = move || {
                if let Some(pump) = weak.upgrade() {
                    let fired = pump.armed.take();
                    drop(pump.feed(Input::Tick));
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
        pump.pump();
        pump
    }

    pub(super) fn gateway(&self) -> &Contained {
        &self.gateway
    }

    pub(super) fn on_notice(&self, callback: Option<Function>) {
        self.on_notice.replace(callback);
    }

    pub(super) fn on_dead(&self, callback: Option<Function>) {
        self.on_dead.replace(callback);
    }

    /// A peer is there: whom to call must be known before the gateway speaks to it.
    pub(super) fn open(self: &Rc<Self>, peer: PeerId, scope: String, on_message: Function) -> Result<(), JsValue> {
        self.take_in(Input::Open { peer, scope })?;
        self.peers.borrow_mut().push((peer, on_message));
        self.pump();
        Ok(())
    }

    /// A peer left: it hears nothing more, not even what is already said.
    pub(super) fn close(self: &Rc<Self>, peer: PeerId) -> Result<(), JsValue> {
        self.take_in(Input::Closed { peer })?;
        self.peers.borrow_mut().retain(|(open, _)| *open != peer);
        self.pump();
        Ok(())
    }

    pub(super) fn dispose(&self) {
        self.gateway.dispose();
        self.rest();
        self.on_notice.replace(None);
        self.on_dead.replace(None);
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
            // This host hands no requests in.
            Output::ResponseHead { .. } | Output::ResponseBody { .. } | Output::ResponseEnd { .. } => {}
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
            self.armed.replace(Some(Armed { at_ms, timer, _pump: Rc::clone(self) }));
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
