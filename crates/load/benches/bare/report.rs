//! What a loop tells.

use std::time::Instant;

use hdrhistogram::Histogram;
use prony_probe::{ProcessSample, Root};
use serde::Serialize;

use crate::tally::Tally;

/// One end of the steady state.
pub(crate) struct Edge {
    at: Instant,
    queries: u64,
    process: ProcessSample,
}

/// One line of JSON.
#[derive(Serialize)]
pub(crate) struct Report {
    /// Answers received in the steady state.
    queries: u64,
    /// Its length, in nanoseconds.
    wall_ns: u64,
    /// Processor time of this process in it, in nanoseconds; moves in clock ticks.
    user_ns: u64,
    system_ns: u64,
    /// From sending to the last byte, in nanoseconds, where the job asks for times.
    latency_ns: Option<Latency>,
}

#[derive(Serialize)]
struct Latency {
    p50: u64,
    p99: u64,
    max: u64,
}

impl Edge {
    pub(crate) fn look(tallies: &[Tally]) -> Self {
        Self {
            at: Instant::now(),
            queries: tallies.iter().map(Tally::get).sum(),
            process: ProcessSample::take(&Root::live(), std::process::id()).unwrap(),
        }
    }
}

impl Report {
    pub(crate) fn new(before: &Edge, after: &Edge, times: Option<Histogram<u64>>) -> Self {
        Self {
            queries: after.queries - before.queries,
            wall_ns: u64::try_from((after.at - before.at).as_nanos()).unwrap(),
            user_ns: after.process.user_ns - before.process.user_ns,
            system_ns: after.process.system_ns - before.process.system_ns,
            latency_ns: times.map(|times| Latency {
                p50: times.value_at_quantile(0.5),
                p99: times.value_at_quantile(0.99),
                max: times.max(),
            }),
        }
    }
}
