//! How an agent is spoken to: its interface, and the other version where it turns out to speak that.

use alloc::boxed::Box;

use super::Run;
use super::target::Target;
use crate::a2a::{Dialect, Fault, FaultKind, Interface};
use crate::mcp::outcome::ToolError;
use crate::registry::Profile;

/// The interface of a call.
#[derive(Clone, Debug)]
pub struct Route {
    interface: Interface,
    /// what the card offers in the other version
    other: Option<Box<Interface>>,
    by_public: bool,
    downgraded: bool,
    /// what the agent said to the version that its card names, where the other one was a guess
    refusal: Option<Fault>,
}

impl Route {
    /// The interface that the card offers, or the default one.
    ///
    /// # Errors
    /// Where the card offers none that is spoken here.
    pub fn new(target: &Target, profile: Option<&Profile>) -> Result<Self, ToolError> {
        let by_public = profile.is_some_and(|profile| profile.by_public);
        let other = profile.and_then(|profile| profile.other.clone());
        Ok(Self { interface: target.interface(profile)?, other, by_public, downgraded: false, refusal: None })
    }

    /// Takes the interface for messages that hold the bytes of files, where the card offers one.
    pub fn take_files(&mut self, profile: Option<&Profile>) {
        if let Some(files) = profile.and_then(|profile| profile.files.as_deref()) {
            self.interface = files.clone();
        }
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

    /// Goes over to the other version once, at the interface that the card offers in it or else at the same one, where the
    /// agent's answer proves that it does not know this one: it says so, or does not know our method at an address whose
    /// version was only guessed.
    pub fn downgrade(&mut self, problem: &Fault) -> bool {
        let kind = match problem {
            Fault::Agent { kind, .. } => *kind,
            // Over HTTP+JSON the two versions have different paths, so a plain 404 says as much.
            Fault::Status { kind, .. } if self.dialect().is_rest() => *kind,
            Fault::Status { .. } | Fault::Protocol(_) | Fault::Depth | Fault::Pieces(_) => return false,
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
        self.interface = match self.other.take() {
            Some(other) if other.dialect.is_10() != self.dialect().is_10() => *other,
            _ => {
                self.refusal = Some(problem.clone()).filter(|_| self.interface.declared);
                self.interface.in_other_version()
            }
        };
        self.downgraded = true;
        true
    }

    /// What to tell of a refusal: where a guess was refused too, what the agent said to the version that its card names.
    #[must_use]
    pub fn told<'f>(&'f self, problem: &'f Fault) -> &'f Fault {
        let guessed_wrong = matches!(problem.kind(), FaultKind::MethodNotFound | FaultKind::VersionNotSupported);
        self.refusal.as_ref().filter(|_| guessed_wrong).unwrap_or(problem)
    }

    /// After an answer: the dialect is no guess any more, and one that was found out is remembered.
    pub fn learn(&mut self, run: &mut Run<'_>, target: &Target) {
        self.interface.declared = true;
        if self.downgraded {
            target.learn(run, &self.interface);
        }
    }
}
