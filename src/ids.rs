//! Randomness from the host's seed: message ids, request ids and jitter.

use alloc::format;
use alloc::string::String;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers that depends on its seed alone.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of that seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha8Rng::from_seed(seed))
    }

    /// A key for what only this gateway may sign: another stream of the same seed, of which no number is ever told.
    #[must_use]
    pub fn key(&self) -> [u8; 64] {
        let (mut other, mut key) = (self.0.clone(), [0; 64]);
        other.set_stream(1);
        other.set_word_pos(0);
        other.fill_bytes(&mut key);
        key
    }

    /// How many words of the stream were taken, for a snapshot.
    #[must_use]
    pub fn taken(&self) -> u64 {
        u64::try_from(self.0.get_word_pos()).unwrap_or(u64::MAX)
    }

    /// Goes on after so many words, so that none comes twice; it never goes back.
    pub fn pass(&mut self, taken: u64) {
        self.0.set_word_pos(self.0.get_word_pos().max(u128::from(taken)));
    }

    /// A random UUID (RFC 9562, version 4).
    pub fn uuid(&mut self) -> String {
        let (high, low) = (self.0.next_u64(), self.0.next_u64());
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

    /// The id of a span of a trace: 16 hexadecimal digits, not all of them zero.
    pub fn span_id(&mut self) -> String {
        format!("{:016x}", self.0.next_u64().max(1))
    }

    /// What nobody guesses: 20 hexadecimal digits, short enough to be copied by a person.
    pub fn secret(&mut self) -> String {
        format!("{:016x}{:04x}", self.0.next_u64(), self.0.next_u64() & 0xffff)
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64().checked_rem(bound).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_follows_the_seed_alone() {
        let (mut random, key) = (Random::new([7; 32]), Random::new([7; 32]).key());
        random.uuid();
        assert_eq!(random.key(), key);
        assert_ne!(Random::new([8; 32]).key(), key);
        let mut told = Random::new([7; 32]);
        assert!((0..1000).all(|_| !key.as_chunks().0.contains(&told.0.next_u64().to_le_bytes())));
    }

    #[test]
    fn a_stream_goes_on_after_what_was_taken() {
        for count in 1..20 {
            let (mut whole, mut later) = (Random::new([7; 32]), Random::new([7; 32]));
            for _ in 0..count {
                whole.below(9);
            }
            later.pass(whole.taken());
            later.pass(1);
            assert_eq!((later.uuid(), later.below(1 << 40)), (whole.uuid(), whole.below(1 << 40)));
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
