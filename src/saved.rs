//! How far numbered entries are saved.

use core::ops::Range;

/// Of entries that are numbered as they come and go from the front: those that the host keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    first: u64,
    next: u64,
}

/// What a host keeps too much, and what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// the numbers of entries that are gone
    pub gone: Range<u64>,
    /// the numbers of entries that are new
    pub new: Range<u64>,
}

impl Saved {
    /// The entries are those from `first` up to `next` now, and will be kept so.
    pub fn go_on(&mut self, first: u64, next: u64) -> Unsaved {
        let unsaved = Unsaved { gone: self.first..first.min(self.next), new: first.max(self.next)..next };
        *self = Self { first, next };
        unsaved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went_is_told_once() {
        let mut saved = Saved::default();
        let mut told = |first, next| {
            let Unsaved { gone, new } = saved.go_on(first, next);
            (gone.collect::<alloc::vec::Vec<_>>(), new.collect::<alloc::vec::Vec<_>>())
        };
        assert_eq!(told(4, 6), (alloc::vec![], alloc::vec![4, 5]));
        assert_eq!(told(5, 7), (alloc::vec![4], alloc::vec![6]));
        assert_eq!(told(5, 7), (alloc::vec![], alloc::vec![]));
        assert_eq!(told(9, 10), (alloc::vec![5, 6], alloc::vec![9]));
        assert_eq!(told(10, 10), (alloc::vec![9], alloc::vec![]));
    }
}
