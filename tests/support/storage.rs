//! A host's storage.

use std::collections::BTreeMap;

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis, Secrets};
use narrows::io::{Output, Save};

/// What is kept, by its key.
#[derive(Clone, Debug, Default)]
pub struct Storage(BTreeMap<String, Vec<String>>);

impl Storage {
    pub fn keep(&mut self, save: Save) {
        let pieces = save.pieces();
        assert!(save.key.len() < 4096 && pieces.iter().all(|piece| piece.len() < 1 << 20));
        if pieces.is_empty() {
            let below = format!("{}/", save.key);
            self.0.retain(|key, _| *key != save.key && !key.starts_with(&below));
        } else {
            let before = self.0.insert(save.key, pieces.clone());
            assert_ne!(before, Some(pieces), "what is kept is not kept again");
        }
    }

    pub fn pieces(&self) -> Vec<String> {
        self.0.values().flatten().cloned().collect()
    }

    pub fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// How many records there are of each kind, but for cards, which are forgotten where their time is up.
    fn counts(pieces: &[String]) -> Vec<usize> {
        let kinds = [
            "peer",
            "http_session",
            "stream",
            "event",
            "agent",
            "said",
            "caller",
            "inbox",
            "call",
            "secret",
            "task",
            "push",
            "waiting",
        ];
        let text = pieces.concat();
        kinds.iter().map(|kind| text.matches(&format!(r#"{{"kind":"{kind}""#)).count()).collect()
    }

    /// Fails where a gateway from the storage is not one from a snapshot of this gateway; gives what the new one says.
    pub fn check(&self, gateway: &Gateway, genesis: Genesis, config: &Config) -> Vec<Output> {
        let restore = |pieces: &[String]| Gateway::restore(genesis, config.clone(), pieces).expect("what was kept can be read");
        let whole = gateway.snapshot(Secrets::Keep);
        assert_eq!(Self::counts(&self.pieces()), Self::counts(&whole), "nothing is kept for nothing: {:?}", self.keys());
        let (mut kept, mut whole) = (restore(&self.pieces()), restore(&whole));
        assert_eq!(kept.snapshot(Secrets::Keep), whole.snapshot(Secrets::Keep), "what is kept is what a snapshot holds");
        let said = |gateway: &mut Gateway| std::iter::from_fn(|| gateway.poll_output()).collect::<Vec<_>>();
        let (kept, whole) = (said(&mut kept), said(&mut whole));
        let other = |outputs: &[Output]| -> Vec<Output> {
            outputs.iter().filter(|output| !matches!(output, Output::Save(_))).cloned().collect()
        };
        assert_eq!(other(&kept), other(&whole));
        let mut again = self.clone();
        for output in &kept {
            if let Output::Save(save) = output {
                again.keep(save.clone());
            }
        }
        let again = restore(&again.pieces()).snapshot(Secrets::Keep);
        assert_eq!(again, restore(&restore(&self.pieces()).snapshot(Secrets::Keep)).snapshot(Secrets::Keep));
        kept
    }
}
