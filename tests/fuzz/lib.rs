//! What the fuzz targets try: the properties, and an allocator that counts.

pub mod properties;
#[path = "../support/mod.rs"]
pub mod support;

#[global_allocator]
static COUNTING: support::memory::Counting = support::memory::Counting;
