//! What waits for its turn. Each entry is kept as a record of its own, written once and gone when it was taken, so that
//! what waits for long costs nothing more.

use core::ops::Deref;

use crate::table::{Table, Tracked};

/// Entries in the order of their coming, by the numbers that they are kept under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue<T>(Tracked<u64, T>);

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self(Tracked::default())
    }
}

impl<T> Deref for Queue<T> {
    type Target = Table<u64, T>;

    fn deref(&self) -> &Table<u64, T> {
        &self.0
    }
}

impl<T> Queue<T> {
    /// Adds an entry behind the others.
    pub fn push(&mut self, entry: T) {
        let number = self.0.last().map_or(0, |(number, _)| number + 1);
        self.put(number, entry);
    }

    /// Puts an entry where it is kept.
    pub fn put(&mut self, number: u64, entry: T) {
        self.0.insert(number, entry);
    }

    /// Takes the entry out whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let number = *self.0.first()?.0;
        self.0.remove(&number)
    }

    /// The entry whose turn it is, to be changed.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let number = *self.0.first()?.0;
        self.0.get_mut(&number)
    }

    /// Takes out all but so many of the first.
    pub fn truncate(&mut self, count: u64) {
        while let Some(number) = self.0.last().map(|(number, _)| *number).filter(|_| self.0.len() > count) {
            self.0.remove(&number);
        }
    }

    /// Takes out all.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// The numbers of those that came, changed or went since this was last asked.
    pub fn take_touched(&mut self) -> Table<u64, bool> {
        self.0.take_touched()
    }
}
