//! One gateway behind a wall: a panic inside is caught and is the end of that gateway alone.
//!
//! In WebAssembly a panic is a trap: no destructor runs, what was borrowed stays borrowed, and only JavaScript can
//! catch it. So each entry goes out to a JavaScript function and through it back in. The trap ends there, the frame
//! outside lives on and marks its gateway dead.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cell::{Cell, RefCell};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::convert::{error, member};
use super::std;
use crate::gateway::{Gateway, RestoreError};

type Work = Box<dyn FnOnce()>;
type GatewayWork = Box<dyn FnOnce(&mut Option<Gateway>)>;

std::thread_local! {
    static WORK: RefCell<Option<Work>> = const { RefCell::new(None) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static ENTRANCE: Function = entrance();
}

/// The JavaScript function through which all work enters.
fn entrance() -> Function {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with(|message| message.replace(Some(panic.to_string())));
    }));
    let enter = Closure::<dyn Fn()>::new(|| {
        if let Some(work) = WORK.with(RefCell::take) {
            work();
        }
    });
    enter.into_js_value().unchecked_into()
}

/// Does the work; a trap comes back as its message.
fn enter(work: Work) -> Result<(), String> {
    let entrance = ENTRANCE.with(Clone::clone);
    WORK.with(|slot| slot.replace(Some(work)));
    entrance.call0(&JsValue::UNDEFINED).map(drop).map_err(|trap| {
        // A stack overflow and the like trap without a panic.
        let trapped = || member(&trap, "message").and_then(|message| message.as_string());
        PANIC.with(RefCell::take).or_else(trapped).unwrap_or_else(|| "trapped".into())
    })
}

#[derive(Clone, Debug)]
enum State {
    Alive,
    Dead(String),
    Disposed,
}

/// A gateway and whether it can still be called.
#[derive(Debug)]
pub(super) struct Contained {
    gateway: Rc<RefCell<Option<Gateway>>>,
    state: RefCell<State>,
    #[cfg(narrows_panic)]
    panics: Cell<bool>,
}

impl Contained {
    /// The gateway that `make` makes.
    ///
    /// # Errors
    /// An Error named `RestoreError` or `Dead`.
    pub(super) fn new(make: impl FnOnce() -> Result<Gateway, RestoreError> + 'static) -> Result<Self, JsValue> {
        let contained = Self {
            gateway: Rc::new(RefCell::new(None)),
            state: RefCell::new(State::Alive),
            #[cfg(narrows_panic)]
            panics: Cell::new(false),
        };
        let fault = Rc::new(Cell::new(None));
        let refused = Rc::clone(&fault);
        contained.enter(Box::new(move |slot| match make() {
            Ok(gateway) => *slot = Some(gateway),
            Err(fault) => refused.set(Some(fault)),
        }))?;
        fault.take().map_or(Ok(contained), |fault| Err(error("RestoreError", &fault.to_string())))
    }

    /// Works on the gateway.
    ///
    /// # Errors
    /// An Error named `Dead` or `Disposed`.
    pub(super) fn run<T: 'static>(&self, work: impl FnOnce(&mut Gateway) -> T + 'static) -> Result<T, JsValue> {
        let result = Rc::new(Cell::new(None));
        let answer = Rc::clone(&result);
        self.enter(Box::new(move |slot| {
            if let Some(gateway) = slot {
                answer.set(Some(work(gateway)));
            }
        }))?;
        result.take().ok_or_else(disposed)
    }

    fn enter(&self, work: GatewayWork) -> Result<(), JsValue> {
        match &*self.state.borrow() {
            State::Alive => {}
            State::Dead(message) => return Err(dead(message)),
            State::Disposed => return Err(disposed()),
        }
        let gateway = Rc::clone(&self.gateway);
        #[cfg(narrows_panic)]
        let panics = self.panics.take();
        let entered = enter(Box::new(move || {
            if let Ok(mut slot) = gateway.try_borrow_mut() {
                #[cfg(narrows_panic)]
                if panics {
                    told_to_panic();
                }
                work(&mut slot);
            }
        }));
        entered.map_err(|message| {
            let error = dead(&message);
            self.state.replace(State::Dead(message));
            error
        })
    }

    /// The panic message, where there was one.
    pub(super) fn dead(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Dead(message) => Some(message.clone()),
            State::Alive | State::Disposed => None,
        }
    }

    /// Drops the gateway. After a panic it stays borrowed, and its memory is lost.
    pub(super) fn dispose(&self) {
        let gateway = self.gateway.try_borrow_mut().ok().and_then(|mut slot| slot.take());
        drop(gateway);
        if self.dead().is_none() {
            self.state.replace(State::Disposed);
        }
    }

    #[cfg(narrows_panic)]
    pub(super) fn panic_next(&self) {
        self.panics.set(true);
    }
}

#[cfg(narrows_panic)]
#[expect(clippy::panic, reason = "this build is for tests of what a panic leaves behind")]
fn told_to_panic() {
    panic!("told to panic");
}

fn dead(message: &str) -> JsValue {
    error("Dead", &format!("a fault in Narrows ended this gateway; make a new one ({message})"))
}

fn disposed() -> JsValue {
    error("Disposed", "this gateway was disposed; make a new one")
}
