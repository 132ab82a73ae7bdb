//! Outcomes of steps, and the histograms in them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use prony_model::{
    Backend, GroupOutcome, Groups, Scheduling, StatementOutcome, StepOutcome, Timing,
};

/// The outcome of a step of one group, whose measured time lasts from second 1 until the clients
/// are done.
pub fn step_outcome(own: GroupOutcome) -> StepOutcome {
    let start_ns = 1_000_000_000;
    StepOutcome {
        end_ns: start_ns + own.busy_ns / u64::from(own.clients),
        start_ns,
        groups: Groups::new(own),
        threads: 1,
        client_user_ns: 0,
        client_system_ns: 0,
        timing: Timing::Operations,
        backend: Backend::Epoll,
        scheduling: Scheduling::Normal,
        thread_use: Vec::new(),
    }
}

/// The outcome of a step's own clients that were busy for `busy_ns` altogether, with one query for
/// each operation, one statement called `only` and the same histogram for both.
pub fn group_outcome(
    clients: u32,
    operations: u64,
    busy_ns: u64,
    histogram: Vec<u8>,
) -> GroupOutcome {
    GroupOutcome {
        name: None,
        clients,
        operations,
        queries: operations,
        busy_ns,
        statements: vec![statement_outcome("only", operations, histogram.clone())],
        histogram,
        errors: Vec::new(),
        schedule: None,
        intervals: Vec::new(),
    }
}

/// The outcome of a statement that found one row each time.
pub fn statement_outcome(name: &str, count: u64, histogram: Vec<u8>) -> StatementOutcome {
    StatementOutcome {
        name: name.into(),
        count,
        rows: count,
        affected: 0,
        unexpected: 0,
        histogram,
    }
}

/// An encoded histogram of these values with their numbers.
pub fn histogram(values: &[(u64, u64)]) -> Vec<u8> {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for &(value, count) in values {
        histogram.record_n(value, count).unwrap();
    }
    encoded(&histogram)
}

/// A histogram as outcomes carry it.
pub fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .unwrap();
    bytes
}
