#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| narrows_fuzz::properties::sse(bytes));
