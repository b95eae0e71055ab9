//! Which texts may hold a word, told by the pieces of up to three bytes of both.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// How many kinds of pieces are told apart.
const KINDS: usize = 2048;

/// The number of a text, given again once it is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot(usize);

/// One bit for each text and kind of piece. A text is a bit of a block, a kind of piece a word of it: what all pieces of
/// a word have in common is found for 64 texts at once.
#[derive(Debug, Default)]
pub(super) struct Index {
    blocks: Vec<Box<[u64; KINDS]>>,
    free: Vec<Slot>,
    used: usize,
}

/// The texts that may hold a word. Those that surely do not are not among them.
#[derive(Debug)]
pub(super) struct Candidates(Vec<u64>);

impl Index {
    /// Takes a text in.
    pub(super) fn insert(&mut self, text: &str) -> Slot {
        let slot = self.free.pop().unwrap_or(Slot(self.used));
        self.used = self.used.max(slot.0 + 1);
        if self.blocks.len() * 64 < self.used {
            self.blocks.push(Box::new([0; KINDS]));
        }
        if let Some(block) = self.blocks.get_mut(slot.0 / 64) {
            for bytes in 1..=3 {
                for kind in kinds(text, bytes) {
                    if let Some(word) = block.get_mut(kind) {
                        *word |= 1 << (slot.0 % 64);
                    }
                }
            }
        }
        slot
    }

    /// Forgets a text.
    pub(super) fn remove(&mut self, slot: Slot) {
        if let Some(block) = self.blocks.get_mut(slot.0 / 64) {
            for word in block.iter_mut() {
                *word &= !(1 << (slot.0 % 64));
            }
            self.free.push(slot);
        }
    }

    /// The texts that may hold a word; all of them where it is empty.
    pub(super) fn candidates(&self, word: &str) -> Candidates {
        let kinds: Vec<usize> = kinds(word, word.len().clamp(1, 3)).collect();
        let common = |block: &[u64; KINDS]| kinds.iter().fold(!0, |texts, kind| texts & block.get(*kind).copied().unwrap_or(0));
        Candidates(self.blocks.iter().map(|block| common(block)).collect())
    }
}

impl Candidates {
    /// Whether a text is among them.
    pub(super) fn has(&self, slot: Slot) -> bool {
        self.0.get(slot.0 / 64).is_some_and(|texts| texts >> (slot.0 % 64) & 1 == 1)
    }
}

/// The kinds of the pieces of a text that have so many bytes, mixed to eleven bits.
fn kinds(text: &str, bytes: usize) -> impl Iterator<Item = usize> {
    text.as_bytes().windows(bytes).map(|piece| {
        let mixed = piece.iter().fold(0_u32, |mixed, byte| (mixed << 8 | u32::from(*byte)).wrapping_mul(0x9e37_79b1));
        (mixed >> 21) as usize
    })
}
