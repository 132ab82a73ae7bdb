//! Ad-hoc load: the figures of one workload on one server, from the outcome as it is, and the log of
//! its intervals for other tools.

mod hdr_log;
mod intervals;
mod json;
mod summary;
#[cfg(test)]
mod tests;
mod text;

use prony_model::{Dataset, PlacementReading, Sample, SchedulingGroups, Step, StepOutcome, Target};

pub use self::hdr_log::{HdrFile, HdrLog, HdrLogError};
pub use self::intervals::{Intervals, interval_line};
pub use self::summary::Summary;

/// An ad-hoc load, and its end.
#[derive(Debug, Clone, Copy)]
pub struct AdHocLoad<'a> {
    /// The server.
    pub target: &'a Target,
    /// Its tables.
    pub dataset: &'a Dataset,
    /// The work.
    pub step: &'a Step,
    /// Decides every drawn value.
    pub seed: u64,
    /// Processors of the host, at least 1.
    pub cpus: u32,
    /// The server's version as it reports it; empty when the user stopped before that.
    pub server_version: &'a str,
    /// The outcome; `None` when the user stopped before the end.
    pub outcome: Option<&'a StepOutcome>,
    /// Scheduling groups of an external server and of the load generator.
    pub scheduling_groups: Option<&'a SchedulingGroups>,
    /// Processor time of the server over the measured time, in nanoseconds, where it is known.
    pub server_cpu_ns: Option<u64>,
    /// The placement; `None` when the user stopped before the end.
    pub placement: Option<&'a PlacementReading>,
    /// The samples of the measured time, from its start to its end.
    pub samples: &'a [Sample],
    /// The intervals until the end.
    pub intervals: &'a Intervals,
}
