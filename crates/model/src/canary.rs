//! The canary: a short fixed computation whose time shows whether the host changed.

mod bound;

use serde::{Deserialize, Serialize};

pub use bound::{CanaryChange, CanaryMoment, CanaryPart, CanaryRule};

/// The times of a fixed computation. The work is the same every time, so that longer times mean a
/// slower host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryReading {
    /// Nanoseconds of integer arithmetic.
    pub processor_ns: u64,
    /// Nanoseconds of dependent loads from a buffer larger than the processor's own caches.
    pub memory_ns: u64,
    /// Nanoseconds of system calls.
    pub system_calls_ns: u64,
    /// Nanoseconds of wake-ups across two processors; `None` where Prony may use only one.
    pub wake_up_ns: Option<u64>,
}
