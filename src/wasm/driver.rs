//! The class `Driver`: the host for pages and workers.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::*;

use super::contained::Contained;
use super::host::Host;
use super::pump::Pump;
use super::{config, convert};
use crate::gateway::Gateway;
use crate::io::{Input, PeerId};

/// A gateway with a host around it: the fetch, clock and timers of the page or worker, or replaced ones.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Driver {
    pump: Rc<Pump>,
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
        let (config, host) = (config::read(config)?, Host::read(host)?);
        let genesis = host.genesis()?;
        let gateway = Contained::new(move || Ok(Gateway::new(genesis, config)))?;
        Ok(Self { pump: Pump::start(host, gateway) })
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
        let (config, host) = (config::read(config)?, Host::read(host)?);
        let (genesis, pieces) = (host.genesis()?, convert::texts(pieces, "pieces")?);
        let gateway = Contained::new(move || Gateway::restore(genesis, config, &pieces))?;
        Ok(Self { pump: Pump::start(host, gateway) })
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
        self.pump.open(peer, scope, on_message)
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
        self.pump.feed(Input::Message { peer, text: convert::text(text, "text")? })
    }

    /// A peer left: it gets nothing more.
    ///
    /// # Errors
    /// `Misuse`, `Dead` or `Disposed`.
    pub fn close(&self, #[wasm_bindgen(unchecked_param_type = "number | bigint")] peer: &JsValue) -> Result<(), JsValue> {
        self.pump.close(PeerId(convert::whole(peer, "peer")?))
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
        self.pump.on_notice(convert::callback(callback, "onNotice")?);
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
        self.pump.on_dead(convert::callback(callback, "onDead")?);
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
        super::snapshot(self.pump.gateway(), options)
    }

    /// Starts or stops writing the trace.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    pub fn trace(&self, on: bool) -> Result<(), JsValue> {
        self.pump.gateway().run(move |gateway| gateway.set_trace(on))
    }

    /// The next line of the trace, as JSON text with placeholders for secrets.
    ///
    /// # Errors
    /// `Dead` or `Disposed`.
    #[wasm_bindgen(js_name = traceLine)]
    pub fn trace_line(&self) -> Result<Option<String>, JsValue> {
        self.pump.gateway().run(Gateway::poll_trace)
    }

    /// The panic message, where a panic ended this object.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dead(&self) -> Option<String> {
        self.pump.gateway().dead()
    }

    /// Aborts every fetch, cancels the timer and lets go of everything; later calls throw an Error named `Disposed`.
    /// Twice is fine.
    pub fn dispose(&self) {
        self.pump.dispose();
    }
}

/// For tests of what a panic leaves behind.
#[cfg(narrows_panic)]
#[wasm_bindgen]
impl Driver {
    /// The next entry into the gateway panics.
    #[wasm_bindgen(js_name = panicNext)]
    pub fn panic_next(&self) {
        self.pump.gateway().panic_next();
    }
}
