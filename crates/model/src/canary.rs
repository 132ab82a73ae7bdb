//! The speed of a host at one moment, as a short fixed computation shows it.

mod bound;

use serde::{Deserialize, Serialize};

pub use bound::{CanaryChange, CanaryMoment, CanaryPart, CanaryRule};

/// Times of a fixed computation that does the same work wherever and whenever it runs. A time that
/// differs from another one of the same host and program is due to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryReading {
    /// Integer arithmetic without memory, in nanoseconds.
    pub processor_ns: u64,
    /// Loads from a buffer that is larger than the second cache, each of which needs the one
    /// before it, in nanoseconds.
    pub memory_ns: u64,
    /// System calls that wake no other thread, in nanoseconds.
    pub system_calls_ns: u64,
    /// Round trips between two threads on two processors, each of which waits for the other, in
    /// nanoseconds. `None` if this program may use one processor only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_up_ns: Option<u64>,
}
