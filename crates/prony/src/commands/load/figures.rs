//! What was measured, as figures: of the whole load, or of its intervals until it was stopped.

use hdrhistogram::Histogram;
use prony_model::{Interval, Schedule, StatementOutcome, StepOutcome, ThreadUse};
use serde::Serialize;

use super::times::{Times, decode};

/// The figures of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Figures {
    /// Time that rates are made of: what a client was busy on average.
    pub(super) seconds: f64,
    pub(super) operations: u64,
    pub(super) queries: u64,
    pub(super) operations_per_second: Option<f64>,
    pub(super) queries_per_second: Option<f64>,
    /// Send to last byte, of whole operations.
    pub(super) service_us: Option<Times>,
    /// Intended start to last byte, where operations have one.
    pub(super) response_us: Option<Times>,
    pub(super) schedule: Option<ScheduleFigures>,
    pub(super) statements: Vec<StatementFigures>,
    /// Errors of all codes.
    pub(super) error_count: u64,
    pub(super) errors: Vec<ErrorFigures>,
    pub(super) client: Option<ClientFigures>,
    /// Processor time of the server, where it is known.
    pub(super) server_cpu_us_per_query: Option<f64>,
}

/// How a schedule was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ScheduleFigures {
    pub(super) planned: u64,
    pub(super) backlog: u64,
    pub(super) left: u64,
    /// Send minus intended start where a client was idle in time.
    pub(super) error_us: Option<Times>,
}

/// One kind of statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StatementFigures {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) unexpected: u64,
    pub(super) service_us: Option<Times>,
}

/// Errors of one code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ErrorFigures {
    pub(super) code: u16,
    pub(super) class: &'static str,
    pub(super) count: u64,
    /// The message of the first.
    pub(super) message: String,
}

/// What the load generator took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ClientFigures {
    pub(super) threads: u32,
    pub(super) backend: &'static str,
    pub(super) user_us: f64,
    pub(super) system_us: f64,
    pub(super) cpu_us_per_query: Option<f64>,
    pub(super) thread_use: Vec<ThreadFigures>,
}

/// What one of its threads took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ThreadFigures {
    /// Processor time as a share of the measured time.
    pub(super) cpu_share: f64,
    /// Time that it was ready and had no processor, as a share of the measured time.
    pub(super) run_queue_share: Option<f64>,
}

impl Figures {
    /// Those of a load that came to its end. The server took `server_cpu_ns` of processor time.
    pub(super) fn of(outcome: &StepOutcome, server_cpu_ns: Option<u64>) -> Self {
        let per_query = |ns: u64| us_per_query(ns, outcome.queries);
        Self {
            seconds: rounded(outcome.busy_seconds()),
            operations: outcome.operations,
            queries: outcome.queries,
            operations_per_second: outcome.operations_per_second().map(rounded),
            queries_per_second: outcome.queries_per_second().map(rounded),
            service_us: times(&outcome.histogram),
            response_us: outcome
                .schedule
                .as_ref()
                .and_then(|schedule| times(&schedule.response)),
            schedule: outcome.schedule.as_ref().map(ScheduleFigures::of),
            statements: outcome
                .statements
                .iter()
                .map(StatementFigures::of)
                .collect(),
            error_count: outcome.errors.iter().map(|error| error.count).sum(),
            errors: outcome.errors.iter().map(ErrorFigures::of).collect(),
            client: Some(ClientFigures::of(outcome)),
            server_cpu_us_per_query: server_cpu_ns.and_then(per_query),
        }
    }

    /// Those of the intervals of a load that was stopped; `service` has the latencies of their
    /// operations. `None` where there is no interval.
    pub(super) fn so_far(intervals: &[Interval], service: Option<&Histogram<u64>>) -> Option<Self> {
        let seconds = intervals.last()?.end_ns as f64 / 1e9;
        let sum = |value: fn(&Interval) -> u64| intervals.iter().map(value).sum();
        let operations: u64 = sum(|interval| interval.operations);
        let queries: u64 = sum(|interval| interval.queries);
        let rate = |count: u64| (seconds > 0.0).then(|| rounded(count as f64 / seconds));
        Some(Self {
            seconds: rounded(seconds),
            operations,
            queries,
            operations_per_second: rate(operations),
            queries_per_second: rate(queries),
            service_us: service.map(Times::of),
            response_us: None,
            schedule: None,
            statements: Vec::new(),
            error_count: sum(|interval| interval.errors),
            errors: Vec::new(),
            client: None,
            server_cpu_us_per_query: None,
        })
    }
}

impl ScheduleFigures {
    fn of(schedule: &Schedule) -> Self {
        Self {
            planned: schedule.planned,
            backlog: schedule.backlog,
            left: schedule.left,
            error_us: times(&schedule.error),
        }
    }
}

impl StatementFigures {
    fn of(statement: &StatementOutcome) -> Self {
        Self {
            name: statement.name.clone(),
            count: statement.count,
            rows: statement.rows,
            affected: statement.affected,
            unexpected: statement.unexpected,
            service_us: times(&statement.histogram),
        }
    }
}

impl ErrorFigures {
    fn of(error: &prony_model::ErrorCount) -> Self {
        Self {
            code: error.code,
            class: error.class.name(),
            count: error.count,
            message: error.message.clone(),
        }
    }
}

impl ClientFigures {
    fn of(outcome: &StepOutcome) -> Self {
        let cpu_ns = outcome.client_user_ns + outcome.client_system_ns;
        let measured_ns = outcome.end_ns.saturating_sub(outcome.start_ns).max(1) as f64;
        let share = |ns: u64| rounded(ns as f64 / measured_ns);
        let of_thread = |thread: &ThreadUse| ThreadFigures {
            cpu_share: share(thread.cpu_ns),
            run_queue_share: thread.run_queue_ns.map(share),
        };
        Self {
            threads: outcome.threads,
            backend: outcome.backend.name(),
            user_us: outcome.client_user_ns as f64 / 1e3,
            system_us: outcome.client_system_ns as f64 / 1e3,
            cpu_us_per_query: us_per_query(cpu_ns, outcome.queries),
            thread_use: outcome.thread_use.iter().map(of_thread).collect(),
        }
    }
}

fn us_per_query(ns: u64, queries: u64) -> Option<f64> {
    (queries > 0).then(|| rounded(ns as f64 / 1e3 / queries as f64))
}

fn times(histogram: &[u8]) -> Option<Times> {
    decode(histogram).as_ref().map(Times::of)
}

/// With three decimals.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
