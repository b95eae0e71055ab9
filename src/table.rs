//! A map of few entries, sorted by key: what a tree would do with a tenth of its code in every module that keeps one.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::ops::Deref;

/// Entries in ascending order of their keys. Looking one up takes the logarithm of their number, adding one at the end
/// is free, anywhere else moves what follows: right for hundreds of agents and calls, whose numbers only grow. Values stay
/// where they are, so all tables with keys of one kind are moved by the same code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<K, V>(Vec<(K, Box<V>)>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Table<K, V> {
    /// A table without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, &**value))
    }

    /// All values in order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| &**value)
    }

    /// The entry with the least key.
    #[must_use]
    pub fn first(&self) -> Option<(&K, &V)> {
        self.0.first().map(|(key, value)| (key, &**value))
    }

    /// The entry with the greatest key.
    #[must_use]
    pub fn last(&self) -> Option<(&K, &V)> {
        self.0.last().map(|(key, value)| (key, &**value))
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord, V> Table<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// The entries in order, from behind a key on, which need not be there.
    pub fn after<Q: Ord + ?Sized>(&self, key: Option<&Q>) -> impl Iterator<Item = (&K, &V)>
    where
        K: Borrow<Q>,
    {
        let start = key.map_or(0, |key| self.find(key).map_or_else(|at| at, |at| at + 1));
        self.0.get(start..).unwrap_or_default().iter().map(|(key, value)| (key, &**value))
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|(_, value)| &**value)
    }

    /// The value of a key.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| &mut **value)
    }

    /// Whether a key is there.
    #[must_use]
    pub fn has<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Puts a value in and gives the one that was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => self.0.get_mut(at).map(|entry| core::mem::replace(&mut *entry.1, value)),
            Err(at) => {
                self.0.insert(at, (key, Box::new(value)));
                None
            }
        }
    }

    /// Takes an entry out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(*self.0.remove(at).1)
    }

    /// Takes every entry out.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes out every entry that is not to stay.
    pub fn retain(&mut self, stays: impl Fn(&K, &V) -> bool) {
        self.0.retain(|(key, value)| stays(key, value));
    }
}

impl<K: Ord + Clone, V: Default> Table<K, V> {
    /// The value of a key, made where there is none.
    pub fn get_or_default<Q: Ord + ?Sized>(&mut self, key: &Q) -> &mut V
    where
        K: Borrow<Q> + for<'q> From<&'q Q>,
    {
        let at = match self.find(key) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (K::from(key), Box::default()));
                at
            }
        };
        // The place was found or filled just now.
        #[expect(clippy::indexing_slicing, reason = "`at` is in range by the lines above")]
        &mut self.0[at].1
    }
}

/// A table that knows which of its entries were reached to be changed since it was last asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked<K, V> {
    table: Table<K, V>,
    touched: Table<K, bool>,
}

impl<K, V> Default for Tracked<K, V> {
    fn default() -> Self {
        Self { table: Table::new(), touched: Table::new() }
    }
}

impl<K, V> Deref for Tracked<K, V> {
    type Target = Table<K, V>;

    fn deref(&self) -> &Table<K, V> {
        &self.table
    }
}

impl<K: Ord + Clone, V> Tracked<K, V> {
    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.table.find(key).ok()?;
        let (key, value) = self.table.0.get_mut(at)?;
        touch(&mut self.touched, key);
        Some(value)
    }

    /// The value of a key, for what is no change of it.
    pub fn reach<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.table.get_mut(key)
    }

    /// Puts a value in and gives the one that was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        touch(&mut self.touched, &key);
        self.table.insert(key, value)
    }

    /// Takes an entry out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.table.find(key).ok()?;
        let (key, value) = self.table.0.remove(at);
        self.touched.insert(key, true);
        Some(*value)
    }

    /// The keys that were reached since this was last asked, and whether an entry of that key was taken out meanwhile.
    pub fn take_touched(&mut self) -> Table<K, bool> {
        core::mem::take(&mut self.touched)
    }

    /// Takes nothing for reached any more, and does something with each value that was.
    pub fn clear_touched(&mut self, each: impl Fn(&mut V)) {
        for (key, _) in self.touched.iter() {
            if let Some(value) = self.table.get_mut(key) {
                each(value);
            }
        }
        self.touched.clear();
    }
}

fn touch<K: Ord + Clone>(touched: &mut Table<K, bool>, key: &K) {
    if !touched.has(key) {
        touched.insert(key.clone(), false);
    }
}

impl<K: Ord + Clone, V: Default> Tracked<K, V> {
    /// The value of a key, to be changed, made where there is none.
    pub fn get_or_default<Q: Ord + ?Sized>(&mut self, key: &Q) -> &mut V
    where
        K: Borrow<Q> + for<'q> From<&'q Q>,
    {
        if !self.touched.has(key) {
            self.touched.insert(K::from(key), false);
        }
        self.table.get_or_default(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn entries_stay_sorted_and_are_found() {
        let mut table: Table<u64, &str> = Table::new();
        for key in [5, 1, 9, 3, 7] {
            assert_eq!(table.insert(key, "new"), None);
        }
        assert_eq!(table.insert(3, "newer"), Some("new"));
        assert_eq!(table.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
        assert_eq!((table.get(&3), table.get(&4), table.len()), (Some(&"newer"), None, 5));
        let after = |key: Option<&u64>| table.after(key).map(|(key, _)| *key).collect::<Vec<_>>();
        assert_eq!(
            (after(None).len(), after(Some(&3)), after(Some(&4)), after(Some(&9)).len()),
            (5, [5, 7, 9].into(), [5, 7, 9].into(), 0)
        );
        assert_eq!((table.remove(&1), table.remove(&1), table.first()), (Some("new"), None, Some((&3, &"newer"))));
    }

    #[test]
    fn what_is_not_there_is_made() {
        let mut table: Table<String, u64> = Table::default();
        *table.get_or_default("b") += 2;
        *table.get_or_default("a") += 1;
        *table.get_or_default("b") += 2;
        assert_eq!((table.get("a"), table.get("b"), table.has("c")), (Some(&1), Some(&4), false));
    }

    #[test]
    fn what_was_reached_is_known_until_asked() {
        let mut table: Tracked<String, u64> = Tracked::default();
        let touched = |table: &mut Tracked<String, u64>| {
            table.take_touched().iter().map(|(key, gone)| (key.clone(), *gone)).collect::<Vec<_>>()
        };
        *table.get_or_default("a") += 1;
        table.insert("b".into(), 2);
        assert_eq!(touched(&mut table), [("a".into(), false), ("b".into(), false)]);
        assert_eq!((table.get("a"), table.has("c")), (Some(&1), false));
        assert!(table.get_mut("c").is_none() && table.reach("b").is_some_and(|value| *value == 2));
        assert_eq!(touched(&mut table), []);
        *table.get_mut("b").unwrap() += 1;
        assert_eq!(touched(&mut table), [("b".into(), false)]);
        assert_eq!((table.remove("a"), table.remove("a")), (Some(1), None));
        table.insert("a".into(), 5);
        assert_eq!(touched(&mut table), [("a".into(), true)]);
    }
}
