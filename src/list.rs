//! Lists made of what an iterator gives.
//!
//! The standard library's `collect` looks ahead at how much there will be, in code of its own for each iterator: most of
//! what many short lists cost in a WebAssembly file. These loops grow the list as it comes.

use alloc::vec::Vec;

/// All items.
pub fn gather<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for item in items {
        list.push(item);
    }
    list
}

/// All items, where all are there.
pub fn gather_all<T>(items: impl IntoIterator<Item = Option<T>>) -> Option<Vec<T>> {
    let mut list = Vec::new();
    for item in items {
        list.push(item?);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_order_and_one_that_is_missing_is_the_end() {
        assert_eq!(gather(1..4), [1, 2, 3]);
        assert_eq!(gather_all([Some(1), Some(2)]).unwrap(), [1, 2]);
        let mut taken = 0;
        let items = [Some(1), None, Some(3)].into_iter().inspect(|_| taken += 1);
        assert_eq!(gather_all(items), None);
        assert_eq!(taken, 2);
    }
}
