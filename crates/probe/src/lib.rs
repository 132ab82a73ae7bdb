//! Readings of the host and of servers' processes: raw counters, nothing derived.
//!
//! A [`Prober`] takes samples of everything that there is; a [`Sampler`] takes them at the edges of
//! measured times and in between. What can't be read is absent, with the reason. Rates and costs
//! are computed when a report is read, from two samples. The root folder is a parameter, so that
//! tests read recorded files instead of a live machine.
//!
//! `docs/readings.md` tells each counter's unit, source and meaning.

mod cgroup;
mod client;
mod clock;
mod counters;
mod device;
mod draft;
mod files;
mod host;
mod io;
mod members;
mod memory;
mod mounts;
mod peer;
mod pressure;
mod prober;
mod process;
mod root;
mod sampler;
mod scheduling_group;
mod server;
mod stacks;
mod stat;
#[cfg(test)]
mod testing;
mod text;
mod threads;

pub use cgroup::{Cgroup, CgroupError};
pub use client::{ClientProber, InterfaceFacts};
pub use clock::process_cpu_ns;
pub use counters::{Counters, CountersError, hardware_counters};
pub use host::topology::{ProcessorPlace, processor_place};
pub use host::{HostFacts, ProcessorTimes};
pub use peer::{PeerError, peer_process};
pub use prober::{Prober, ServerPlace};
pub use process::{ProcessSample, resident_peak_bytes, thread_cpu_ns};
pub use root::{ProbeError, Root, monotonic_ns};
pub use sampler::{Period, Sampler};
pub use scheduling_group::scheduling_group;
pub use stacks::{
    Frame, Reach, Stack, StackEvents, StackReading, StackSampler, StackSamples, check_stack_samples,
};
pub use threads::ThreadsSample;
