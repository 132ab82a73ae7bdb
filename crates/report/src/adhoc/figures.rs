//! The figures of a load: of the whole, or of its intervals until it was stopped.

use hdrhistogram::Histogram;
use prony_model::{ErrorCode, Interval, Schedule, StatementOutcome, StepOutcome, ThreadUse};
use serde::Serialize;

use crate::analysis::times::{Times, decode};
use crate::figures::thousandths;

/// The figures of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Figures {
    /// Mean busy time of a client, which rates are made of.
    pub(super) seconds: f64,
    pub(super) operations: u64,
    pub(super) queries: u64,
    pub(super) operations_per_second: Option<f64>,
    pub(super) queries_per_second: Option<f64>,
    /// Send to last byte, of whole operations.
    pub(super) service_us: Option<TimesEntry>,
    /// Intended start to last byte, where operations have one.
    pub(super) response_us: Option<TimesEntry>,
    pub(super) schedule: Option<ScheduleFigures>,
    pub(super) statements: Vec<StatementFigures>,
    /// Errors of all codes.
    pub(super) error_count: u64,
    pub(super) errors: Vec<ErrorFigures>,
    pub(super) client: Option<ClientFigures>,
    /// Processor time of the server, where it is known.
    pub(super) server_cpu_us_per_query: Option<f64>,
}

/// The schedule as it was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ScheduleFigures {
    pub(super) planned: u64,
    pub(super) backlog: u64,
    pub(super) left: u64,
    /// Send minus intended start where a client was idle in time.
    pub(super) error_us: Option<TimesEntry>,
}

/// One kind of statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StatementFigures {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) unexpected: u64,
    pub(super) service_us: Option<TimesEntry>,
}

/// Errors of one code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ErrorFigures {
    pub(super) code: ErrorCode,
    pub(super) class: &'static str,
    pub(super) count: u64,
    /// The message of the first.
    pub(super) message: String,
}

/// The use of processors by the load generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ClientFigures {
    pub(super) threads: u32,
    pub(super) backend: &'static str,
    /// Scheduling policy of the threads.
    scheduling: &'static str,
    pub(super) user_us: f64,
    pub(super) system_us: f64,
    pub(super) cpu_us_per_query: Option<f64>,
    pub(super) thread_use: Vec<ThreadFigures>,
}

/// The use of a processor by one of its threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ThreadFigures {
    /// Processor time as a share of the measured time.
    pub(super) cpu_share: f64,
    /// Time that it was ready and had no processor, as a share of the measured time.
    pub(super) run_queue_share: Option<f64>,
}

/// Times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TimesEntry {
    /// Number of operations.
    pub(super) count: u64,
    pub(super) mean: Option<f64>,
    pub(super) p50: Option<f64>,
    pub(super) p90: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p999: Option<f64>,
    pub(super) max: Option<f64>,
}

impl Figures {
    /// Those of a load that came to its end. The server took `server_cpu_ns` of processor time.
    pub(super) fn of(outcome: &StepOutcome, server_cpu_ns: Option<u64>) -> Self {
        let own = outcome.groups.own();
        let per_query = |ns: u64| us_per_query(ns, own.queries);
        let schedule = own.schedule.as_ref();
        Self {
            seconds: thousandths(own.busy_seconds()),
            operations: own.operations,
            queries: own.queries,
            operations_per_second: own.operations_per_second().map(thousandths),
            queries_per_second: own.queries_per_second().map(thousandths),
            service_us: times(&own.histogram),
            response_us: schedule.and_then(|schedule| times(&schedule.response)),
            schedule: schedule.map(ScheduleFigures::of),
            statements: own.statements.iter().map(StatementFigures::of).collect(),
            error_count: own.errors.iter().map(|error| error.count).sum(),
            errors: own.errors.iter().map(ErrorFigures::of).collect(),
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
        let rate = |count: u64| (seconds > 0.0).then(|| thousandths(count as f64 / seconds));
        Some(Self {
            seconds: thousandths(seconds),
            operations,
            queries,
            operations_per_second: rate(operations),
            queries_per_second: rate(queries),
            service_us: service.map(TimesEntry::of),
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
        let of_thread = |thread: &ThreadUse| {
            let share = |ns: u64| thousandths(ns as f64 / thread.wall_ns.max(1) as f64);
            ThreadFigures {
                cpu_share: share(thread.cpu_ns),
                run_queue_share: thread.run_queue_ns.map(share),
            }
        };
        Self {
            threads: outcome.threads,
            backend: outcome.backend.name(),
            scheduling: outcome.scheduling.name(),
            user_us: outcome.client_user_ns as f64 / 1e3,
            system_us: outcome.client_system_ns as f64 / 1e3,
            cpu_us_per_query: us_per_query(cpu_ns, outcome.groups.own().queries),
            thread_use: outcome.thread_use.iter().map(of_thread).collect(),
        }
    }
}

fn us_per_query(ns: u64, queries: u64) -> Option<f64> {
    (queries > 0).then(|| thousandths(ns as f64 / 1e3 / queries as f64))
}

fn times(histogram: &[u8]) -> Option<TimesEntry> {
    decode(histogram).ok().as_ref().map(TimesEntry::of)
}

impl TimesEntry {
    fn of(histogram: &Histogram<u64>) -> Self {
        let times = Times::of(histogram);
        let figure = |of: fn(Times) -> Option<f64>| times.and_then(of);
        Self {
            count: histogram.len(),
            mean: figure(|times| Some(times.mean)),
            p50: figure(|times| times.p50),
            p90: figure(|times| times.p90),
            p95: figure(|times| times.p95),
            p99: figure(|times| times.p99),
            p999: figure(|times| times.p999),
            max: figure(|times| Some(times.max)),
        }
    }
}
