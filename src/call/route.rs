//! How an agent is spoken to: its interface, and the other version where it turns out to speak that.

use super::Run;
use super::target::Target;
use crate::a2a::{Dialect, Fault, FaultKind, Interface};
use crate::mcp::outcome::ToolError;
use crate::registry::Profile;

/// The interface of a call.
#[derive(Clone, Debug)]
pub struct Route {
    interface: Interface,
    by_public: bool,
    downgraded: bool,
}

impl Route {
    /// The interface that the card offers, or the default one.
    ///
    /// # Errors
    /// Where the card offers none that is spoken here.
    pub fn new(target: &Target, profile: Option<&Profile>) -> Result<Self, ToolError> {
        let by_public = profile.is_some_and(|profile| profile.by_public);
        Ok(Self { interface: target.interface(profile)?, by_public, downgraded: false })
    }

    /// Whether an agent at a public address named the interface.
    #[must_use]
    pub const fn by_public(&self) -> bool {
        self.by_public
    }

    /// The interface.
    #[must_use]
    pub const fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The dialect.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.interface.dialect
    }

    /// Goes over to the other version once, where the agent's answer proves that it does not know this one: it says so, or does not know
    /// our method at an address whose version was only guessed.
    pub fn downgrade(&mut self, problem: &Fault) -> bool {
        let kind = match problem {
            Fault::Agent { kind, .. } => *kind,
            // Over HTTP+JSON the two versions have different paths, so a plain 404 says as much.
            Fault::Status { kind, .. } if self.dialect().is_rest() => *kind,
            Fault::Status { .. } | Fault::Protocol(_) | Fault::Depth => return false,
        };
        let asks = match kind {
            FaultKind::VersionNotSupported => true,
            FaultKind::MethodNotFound => !self.interface.declared,
            FaultKind::TaskNotFound
            | FaultKind::TaskNotCancelable
            | FaultKind::Unsupported
            | FaultKind::ContentType
            | FaultKind::PushNotSupported
            | FaultKind::Terminal
            | FaultKind::Other => false,
        };
        if !asks || self.downgraded {
            return false;
        }
        self.interface = self.interface.in_other_version();
        self.downgraded = true;
        true
    }

    /// After an answer: the dialect is no guess any more, and one that was found out is remembered.
    pub fn learn(&mut self, run: &mut Run<'_>, target: &Target) {
        self.interface.declared = true;
        if self.downgraded {
            target.learn(run, &self.interface);
        }
    }
}
