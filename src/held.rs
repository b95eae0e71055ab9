//! What is held of what others sent, in all: each holder has a share, which it gives back when it goes.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

/// What every holder may have, however much the others have: one that is greedy takes nothing from one that is not.
pub const FREE_BYTES: u64 = 64 << 10;

/// The bytes that all holders have together. Clones are the same pool.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<AtomicU64>);

impl Pool {
    /// A share of nothing yet.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { pool: self.clone(), bytes: 0 }
    }

    /// How much all have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one holder has.
#[derive(Debug)]
pub struct Share {
    pool: Pool,
    bytes: u64,
}

impl Share {
    /// Whether the holder may have so much, where all may have `limit`.
    #[must_use]
    pub fn may_be(&self, bytes: u64, limit: u64) -> bool {
        let others = self.pool.bytes().saturating_sub(self.bytes);
        bytes <= self.bytes.max(FREE_BYTES) || others.saturating_add(bytes) <= limit
    }

    /// Whether the holder should have less, where all may have `limit`.
    #[must_use]
    pub fn is_over(&self, limit: u64) -> bool {
        self.bytes > FREE_BYTES && self.pool.bytes() > limit
    }

    /// How much the holder has.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The holder has so much now.
    pub fn set(&mut self, bytes: u64) {
        self.pool.0.fetch_add(bytes, Ordering::Relaxed);
        self.pool.0.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Clone for Share {
    fn clone(&self) -> Self {
        let mut share = self.pool.share();
        share.set(self.bytes);
        share
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Share {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_little_may_always_have_it_and_what_goes_is_given_back() {
        let pool = Pool::default();
        let (mut greedy, mut other) = (pool.share(), pool.share());
        let limit = 10 * FREE_BYTES;
        assert!(greedy.may_be(limit, limit));
        greedy.set(limit);
        assert!(!other.may_be(FREE_BYTES + 1, limit) && other.may_be(FREE_BYTES, limit));
        other.set(FREE_BYTES);
        assert!(greedy.may_be(limit, limit) && !greedy.may_be(limit + 1, limit));
        assert_eq!(pool.bytes(), limit + FREE_BYTES);
        let twin = other.clone();
        assert_eq!(pool.bytes(), limit + 2 * FREE_BYTES);
        drop((greedy, twin));
        assert_eq!(pool.bytes(), FREE_BYTES);
        assert!(other.may_be(limit, limit) && !other.may_be(limit + 1, limit));
    }
}
