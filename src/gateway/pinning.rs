//! Tools that changed: held back, told of, accepted.

use alloc::string::String;

use super::Gateway;
use crate::io::{Level, Misuse, PinsInput};
use crate::json::{Json, Object};
use crate::link::Outside;
use crate::snapshot;

impl Gateway {
    /// The tools that are held back because their servers describe them otherwise than when they were first listed or
    /// accepted last: a list of `server`, `tool`, the `name` by which it is called, `digest` and `changes`, each with `path`,
    /// `before` and `after`.
    #[must_use]
    pub fn held_tools(&self) -> Json {
        self.ground.pins.to_json(&self.ground.catalog)
    }

    /// Takes in what the host says about pins.
    pub(super) fn pins_input(&mut self, input: PinsInput) -> Result<(), Misuse> {
        match input {
            PinsInput::Pinned { pieces } => self.take_pins(&pieces)?,
            PinsInput::Accept { server, tool, digest } => {
                if !self.ground.pins.accept(&server, &tool, &digest) {
                    return Err(Misuse::ToolNotHeld);
                }
                let mut fields = Object::new();
                fields.string("server", &server).string("tool", &tool);
                self.ground.notice(Level::Notice, "tool_accepted", fields);
            }
        }
        self.links.look(&mut Outside { ground: &mut self.ground, exchanges: &mut self.exchanges });
        self.offer_anew();
        Ok(())
    }

    fn take_pins(&mut self, pieces: &[String]) -> Result<(), Misuse> {
        snapshot::pins(pieces, &mut self.ground.pins).map_err(|_| Misuse::Unreadable("pieces"))
    }
}
