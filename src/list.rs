//! Lists made of what an iterator gives, and the order of lists.
//!
//! The standard library's `collect` looks ahead at how much there will be, in code of its own for each iterator: most of
//! what many short lists cost in a WebAssembly file. These loops grow the list as it comes. Its sorts are made anew for
//! each type as well, in several kilobytes: here only numbers are sorted.

use alloc::vec::Vec;
use core::mem;

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

/// The places of a list of so many items in the order that `is_before` tells of two places, by merging in `n log n` steps.
/// Of two items of which neither is before the other the one that stands first comes first.
#[must_use]
pub fn order(count: usize, is_before: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let (mut sorted, mut merged) = (Vec::new(), Vec::with_capacity(count));
    for place in 0..count {
        sorted.push(place);
    }
    let mut width = 1;
    while width < count {
        for pair in sorted.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((first, others)), Some((second, more))) = (left.split_first(), right.split_first()) {
                let (place, from) = if is_before(*second, *first) { (second, (left, more)) } else { (first, (others, right)) };
                merged.push(*place);
                (left, right) = from;
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        mem::swap(&mut sorted, &mut merged);
        merged.clear();
        width *= 2;
    }
    sorted
}

/// Texts in order, to be searched.
pub fn sorted<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    in_order(&gather(texts))
}

fn in_order<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    let order = order(texts.len(), &|one, other| texts.get(one) < texts.get(other));
    gather(order.into_iter().filter_map(|place| texts.get(place).copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_a_stable_sort() {
        for count in 0..70_usize {
            let items: Vec<usize> = (0..count).map(|place| place * 37 % 11 + place % 3).collect();
            let mut wanted: Vec<usize> = (0..count).collect();
            wanted.sort_by_key(|place| items[*place]);
            assert_eq!(order(count, &|one, other| items[one] < items[other]), wanted);
        }
        assert_eq!(sorted(["b", "", "é", "a", "b"]), ["", "a", "b", "b", "é"]);
    }

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
