//! The first look: where in a text a secret may begin.

use alloc::vec;
use alloc::vec::Vec;

/// Bytes at the start of a secret that are looked at; none is shorter.
pub(super) const WINDOW: usize = 8;

/// Bits for each spelling at least: one place in 64 at most is a false alarm.
const BITS_PER_SPELLING: usize = 64;

const FEWEST_BITS: usize = 1 << 12;

/// A set of first windows, one hashed bit each. What is forgotten keeps its bit until the set is made anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    words: Vec<u64>,
    /// How far a product is shifted to give the number of a bit.
    shift: u32,
    room: usize,
}

impl Filter {
    /// An empty set with room for twice as many spellings.
    pub(super) fn with_room_beyond(spellings: usize) -> Self {
        let bits = (2 * spellings * BITS_PER_SPELLING).next_power_of_two().max(FEWEST_BITS);
        Self { words: vec![0; bits / 64], shift: 64 - bits.trailing_zeros(), room: bits / BITS_PER_SPELLING }
    }

    /// Whether one more would make too many false alarms.
    pub(super) fn is_full(&self) -> bool {
        self.room == 0
    }

    pub(super) fn add(&mut self, spelling: &[u8]) {
        let window = spelling.iter().take(WINDOW).fold(0, roll);
        let (word, bit) = self.place(window);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
        self.room = self.room.saturating_sub(1);
    }

    /// The places at which a secret may begin, ascending.
    pub(super) fn candidates(&self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let mut window = 0;
        let starts = bytes.iter().enumerate().map(move |(at, byte)| {
            window = roll(window, byte);
            let (word, bit) = self.place(window);
            let known = self.words.get(word).is_some_and(|word| word & bit != 0);
            known.then(|| (at + 1).checked_sub(WINDOW)).flatten()
        });
        starts.flatten()
    }

    /// The word and the bit of a window (Fibonacci hashing).
    fn place(&self, window: u64) -> (usize, u64) {
        let hash = window.wrapping_mul(0x9e37_79b9_7f4a_7c15).checked_shr(self.shift).unwrap_or(0);
        (usize::try_from(hash / 64).unwrap_or(0), 1 << (hash % 64))
    }
}

fn roll(window: u64, byte: &u8) -> u64 {
    window << 8 | u64::from(*byte)
}
