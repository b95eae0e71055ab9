//! What one search for secrets may cost.

/// Comparisons of bytes for each byte that is searched. Texts that have nothing to do with the secrets take a few, and a
/// text of nothing but their beginnings some dozens.
const PER_BYTE: u64 = 128;

/// Comparisons for a text of any length.
const LEAST: u64 = 1 << 16;

/// What a search for one more beginning costs beside the bytes that are alike.
const EACH: u64 = 16;

/// Comparisons that a search has left.
///
/// A text that repeats what secrets repeat is compared with all of them at each of its bytes. Whoever gives both can make
/// that take hours: a search that comes to its end without a result takes what it did not look at for secret.
pub(super) struct Effort(u64);

impl Effort {
    pub(super) fn for_bytes(bytes: usize) -> Self {
        Self((bytes as u64).saturating_mul(PER_BYTE).saturating_add(LEAST))
    }

    /// Spends what it took to find the place of a text among so many sorted spellings, the nearest of which has `shared`
    /// bytes with it.
    pub(super) fn spend(&mut self, shared: usize, spellings: usize) {
        let halvings = u64::from(spellings.checked_ilog2().unwrap_or(0)) + 1;
        self.0 = self.0.saturating_sub((shared as u64 + EACH).saturating_mul(halvings));
    }

    pub(super) const fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
