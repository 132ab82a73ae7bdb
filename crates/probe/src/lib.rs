//! Readings of the host and of single processes: raw counters from `/proc`, nothing derived.
//!
//! Rates and costs are computed when a report is read, from two readings. The root folder is a
//! parameter, so that tests read recorded files instead of a live machine.

mod host;
mod process;
mod root;
mod threads;

pub use host::{HostFacts, HostReading};
pub use process::{ProcessReading, resident_peak_bytes, thread_cpu_ns};
pub use root::{ProbeError, Root, monotonic_ns};
pub use threads::ThreadsReading;
