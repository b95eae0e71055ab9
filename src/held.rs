//! What is held of what others sent, in all: each holder has a share, which it gives back when it goes.

use alloc::string::String;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::incoming::principal_of;
use crate::table::Table;

/// What every holder may have, however much the others have: one that is greedy takes nothing from one that is not.
pub const FREE_BYTES: u64 = 64 << 10;

/// The bytes that all holders have together. Clones are the same pool.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<AtomicU64>);

impl Pool {
    /// A share of nothing yet.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { pool: self.clone(), user: None, bytes: 0 }
    }

    /// How much all have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many times as much as is left one user may have: one who takes all that is to be had leaves a ninth for the others.
const TIMES_THE_REST: u64 = 8;

/// A pool for which it counts who its holders belong to.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    all: Pool,
    users: Table<String, Pool>,
    name: String,
    user: Pool,
}

impl Shared {
    /// New holders belong from now on to the user whose scope that is: over HTTP a principal has several.
    pub fn turn_to(&mut self, scope: &str) {
        let name = principal_of(scope).unwrap_or(scope);
        if self.name != name {
            if !self.users.has(name) {
                // Of whom nobody holds anything there is nothing to know.
                self.users.retain(|_, pool| Arc::strong_count(&pool.0) > 1);
            }
            self.user = self.users.get_or_default(name).clone();
            self.name = name.into();
        }
    }

    /// A share of nothing yet.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { pool: self.all.clone(), user: Some(self.user.clone()), bytes: 0 }
    }
}

/// The name of the bound for an answer that would find room if others held less.
pub const CROWDED: &str = "held_bytes just now";

/// What one holder has.
#[derive(Debug)]
pub struct Share {
    pool: Pool,
    /// what all holders of its user have, where that counts
    user: Option<Pool>,
    bytes: u64,
}

impl Share {
    /// Whether the holder may have so much, where all may have `limit`.
    #[must_use]
    pub fn may_be(&self, bytes: u64, limit: u64) -> bool {
        bytes <= self.bytes.max(FREE_BYTES) || self.fits(bytes, limit)
    }

    /// Whether all together have room for so much: for holders without end, of whom none has anything whatever the others
    /// have.
    #[must_use]
    pub fn fits(&self, bytes: u64, limit: u64) -> bool {
        let with = |pool: &Pool| pool.bytes().saturating_sub(self.bytes).saturating_add(bytes);
        let rest = limit.checked_sub(with(&self.pool));
        let is_fair = |rest: u64| self.user.as_ref().is_none_or(|user| with(user) <= rest.saturating_mul(TIMES_THE_REST));
        rest.is_some_and(is_fair)
    }

    /// The name of the bound for so much, which [may not be](Self::may_be).
    #[must_use]
    pub const fn bound(bytes: u64, limit: u64) -> &'static str {
        if bytes <= limit / 9 * 8 { CROWDED } else { "held_bytes" }
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
        for pool in [Some(&self.pool), self.user.as_ref()].into_iter().flatten() {
            pool.0.fetch_add(bytes, Ordering::Relaxed);
            pool.0.fetch_sub(self.bytes, Ordering::Relaxed);
        }
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
        let mut share = Self { pool: self.pool.clone(), user: self.user.clone(), bytes: 0 };
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
    use alloc::format;
    use alloc::vec::Vec;

    #[test]
    fn a_greedy_user_leaves_room_for_others() {
        let mut pool = Shared::default();
        let limit = 900 * FREE_BYTES;
        pool.turn_to("ada");
        let mut hers = [pool.share(), pool.share()];
        for share in &mut hers {
            while share.may_be(share.bytes() + FREE_BYTES, limit) {
                share.set(share.bytes() + FREE_BYTES);
            }
        }
        assert_eq!(pool.all.bytes(), 801 * FREE_BYTES);
        pool.turn_to("bob");
        let mut his = pool.share();
        assert!(his.may_be(80 * FREE_BYTES, limit) && !his.may_be(100 * FREE_BYTES, limit));
        his.set(80 * FREE_BYTES);
        assert!(!hers[0].clone().may_be(limit, limit));
        drop(hers);
        assert!(his.may_be(800 * FREE_BYTES, limit));
    }

    #[test]
    fn users_are_known_while_they_hold_anything() {
        let mut pool = Shared::default();
        let mut shares = Vec::new();
        for number in 0..100 {
            pool.turn_to(&format!("visitor {number}"));
            shares.push(pool.share());
            shares.truncate(10);
        }
        assert_eq!(pool.users.len(), 12);
        shares[3].set(FREE_BYTES);
        pool.turn_to("visitor 3");
        assert_eq!(pool.user.bytes(), FREE_BYTES);
    }

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
