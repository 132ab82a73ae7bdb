//! How far a thread has come.

use std::sync::atomic::{AtomicU64, Ordering};

/// Queries that a thread has answers to, on a cache line that nobody else writes to.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    #[inline]
    pub(crate) fn set(&self, queries: u64) {
        self.0.store(queries, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
