//! Memory counted per thread: what is held, and all that was ever asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator with counters; to be named as the global one by a test.
pub struct Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn note(grown: i64, asked: usize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + grown);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
    let _ = ASKED.try_with(|all| all.set(all.get() + asked as u64));
}

// SAFETY: every call is handed on to the system's allocator as it came; the counters are not touched by it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(i64::try_from(layout.size()).unwrap_or(i64::MAX), layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(-i64::try_from(layout.size()).unwrap_or(i64::MAX), 0);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(i64::try_from(size).unwrap_or(i64::MAX) - i64::try_from(layout.size()).unwrap_or(i64::MAX), size);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// The bytes that this thread holds.
pub fn held() -> i64 {
    HELD.with(Cell::get)
}

/// The most that this thread held since the last time this was asked.
pub fn take_peak() -> i64 {
    PEAK.with(|peak| peak.replace(held()))
}

/// All bytes that this thread ever asked for.
pub fn asked() -> u64 {
    ASKED.with(Cell::get)
}
