//! Randomness from the host's seed: message ids, request ids and jitter.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// A stream of random numbers that depends on its seed alone: the key stream of ChaCha8 (RFC 8439 §2.3 with 8 rounds, a
/// counter of 64 bits and no nonce), as the crate `rand_chacha` gives it.
#[derive(Clone)]
pub struct Random {
    key: [u32; 8],
    /// how many numbers were taken: eight make a block
    taken: u64,
    block: [u32; 16],
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Random({})", self.taken)
    }
}

impl Random {
    /// The stream of that seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(seed.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key, taken: 0, block: [0; 16] }
    }

    fn next(&mut self) -> u64 {
        let (block, place) = (self.taken / 8, self.taken % 8);
        if place == 0 {
            self.block = chacha8(&self.key, block);
        }
        self.taken += 1;
        let words = self.block.as_chunks().0;
        let [low, high] = words.iter().copied().nth(usize::try_from(place).unwrap_or(0)).unwrap_or_default();
        u64::from(high) << 32 | u64::from(low)
    }

    /// A random UUID (RFC 9562, version 4).
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | (0b10 << 62));
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }
}

/// One block of the key stream.
fn chacha8(key: &[u32; 8], counter: u64) -> [u32; 16] {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
    let (low, high) = (counter as u32, (counter >> 32) as u32);
    let start = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, k0, k1, k2, k3, k4, k5, k6, k7, low, high, 0, 0];
    let mut block = start;
    for _ in 0..4 {
        // Four columns, then four diagonals, which are the columns of a block whose rows are turned.
        columns(&mut block);
        turn(&mut block, [1, 2, 3]);
        columns(&mut block);
        turn(&mut block, [3, 2, 1]);
    }
    for (word, start) in block.iter_mut().zip(start) {
        *word = word.wrapping_add(start);
    }
    block
}

/// The quarter round (RFC 8439 §2.1) of each column.
fn columns(block: &mut [u32; 16]) {
    let [row_a, row_b, row_c, row_d] = block.as_chunks_mut::<4>().0 else { return };
    for (((a, b), c), d) in row_a.iter_mut().zip(row_b).zip(row_c).zip(row_d) {
        for [first, second] in [[16, 12], [8, 7]] {
            *a = a.wrapping_add(*b);
            *d = (*d ^ *a).rotate_left(first);
            *c = c.wrapping_add(*d);
            *b = (*b ^ *c).rotate_left(second);
        }
    }
}

/// Turns the rows but the first to the left.
fn turn(block: &mut [u32; 16], places: [usize; 3]) {
    for (row, by) in block.as_chunks_mut::<4>().0.iter_mut().skip(1).zip(places) {
        row.rotate_left(by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    #[test]
    fn the_numbers_are_those_of_the_library() {
        for first in 0..=9 {
            let seed = core::array::from_fn(|at| u8::try_from(at * 7).unwrap() ^ first);
            let (mut random, mut peer) = (Random::new(seed), ChaCha8Rng::from_seed(seed));
            for _ in 0..100 {
                assert_eq!(random.next(), peer.next_u64());
            }
        }
    }

    #[test]
    fn uuids_are_version_4_and_follow_the_seed() {
        let mut random = Random::new([7; 32]);
        let first = random.uuid();
        assert_eq!(first.len(), 36);
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(matches!(first.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        assert_ne!(first, random.uuid());
        assert_eq!(first, Random::new([7; 32]).uuid());
    }
}
