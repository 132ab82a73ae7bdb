//! Lines on standard error while a load runs.

use std::fmt::Write as _;

use prony_lab::AdHoc;
use prony_model::Interval;

use super::text::milliseconds;
use crate::words::{duration, plural, rate};

/// Said when the clients are connected.
pub(super) fn connected(work: &AdHoc, clients: u32, threads: u32) -> String {
    let warmup = match work.step.warmup_ms.max(work.step.ramp_ms) {
        0 => String::new(),
        ms => format!("; warming up for {}", duration(ms)),
    };
    format!(
        "{} on {}{warmup}",
        plural(clients.into(), "client"),
        plural(threads.into(), "thread")
    )
}

/// The line of an interval.
pub(super) fn interval(work: &AdHoc, interval: &Interval) -> String {
    line(interval, work.interval_ms, work.step.pace.is_scheduled())
}

fn line(interval: &Interval, length_ms: u64, scheduled: bool) -> String {
    let decimals = if length_ms.is_multiple_of(100) { 1 } else { 3 };
    let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
    let per_second = |count: u64| rate(count as f64 / seconds.max(1e-9));
    let ms = |ns: u64| milliseconds(ns as f64 / 1e3);
    let mut line = format!(
        "{:>9.decimals$} s {:>9} operations/s {:>9} queries/s  p99 {} ms  max {} ms",
        interval.end_ns as f64 / 1e9,
        per_second(interval.operations),
        per_second(interval.queries),
        ms(interval.latency_ns_p99),
        ms(interval.latency_ns_max),
    );
    if scheduled {
        // Writing to a String can't fail.
        let _ = write!(
            line,
            "  response p99 {} ms  backlog {}",
            ms(interval.response_ns_p99),
            rate(interval.backlog as f64)
        );
    }
    let _ = write!(line, "  errors {}", interval.errors);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_a_schedule_where_there_is_one() {
        let second = Interval {
            start_ns: 1_000_000_000,
            end_ns: 2_000_000_000,
            operations: 12_345,
            queries: 24_690,
            errors: 3,
            latency_ns_p99: 210_000,
            latency_ns_max: 15_400_000,
            response_ns_p99: 320_000,
            backlog: 1_200,
        };
        assert_eq!(
            line(&second, 1_000, false),
            "      2.0 s    12,345 operations/s    24,690 queries/s  p99 0.210 ms  max 15.4 ms  \
             errors 3"
        );
        let scheduled = line(&second, 50, true);
        assert!(scheduled.starts_with("    2.000 s "), "{scheduled}");
        let end = "response p99 0.320 ms  backlog 1,200  errors 3";
        assert!(scheduled.ends_with(end), "{scheduled}");
    }
}
