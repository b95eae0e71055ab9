//! A2A as callers and agents speak it: one model in the shape of 1.0, four dialects on the wire, cards and the choice among
//! their interfaces.
//!
//! Pure functions and data. [`request`] writes what goes to an agent, [`mod@reply`] and [`mod@event`] read what comes back;
//! [`asked`] reads what callers of the gateway's own agent ask for, [`problem`] writes what they are refused with;
//! [`assembly`] makes one answer of it; [`discovery`], [`card`] and [`choice`] find out where and how an agent is spoken to.
//! Agents are sloppier than their protocol: whatever can be understood is, and what is not known is kept.

pub mod asked;
pub mod assembly;
pub mod card;
pub mod choice;
pub mod dialect;
pub mod discovery;
mod envelope;
pub mod error;
pub mod event;
mod member;
pub mod message;
pub mod part;
pub mod pieces;
pub mod problem;
pub mod reply;
pub mod request;
pub mod state;
pub mod task;
mod v03;

pub use assembly::{Applied, Assembly, Change, TooLarge};
pub use card::{Card, NotACard, skills};
pub use choice::{Choice, ChoiceFault, choose, normalized};
pub use dialect::{Dialect, Interface};
pub use discovery::card_candidates;
pub use error::{Fault, FaultKind, excerpt};
pub use event::{ArtifactUpdate, Event, StatusUpdate, event, event_of};
pub use member::Misread;
pub use message::{Message, Role};
pub use part::{Content, Part};
pub use problem::Problem;
pub use reply::{Reply, reply};
pub use request::{EncodeFault, Encoded, Operation, SendRequest, encode};
pub use state::State;
pub use task::{Artifact, Status, Task, View};
