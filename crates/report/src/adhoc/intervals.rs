//! The intervals of a load while it runs.

use std::fmt::Write as _;

use hdrhistogram::Histogram;
use prony_model::Interval;

use super::text::milliseconds;
use crate::analysis::times::decode;
use crate::words::{count, whole};

/// The intervals of a load so far.
#[derive(Debug, Default)]
pub struct Intervals {
    pub(super) all: Vec<Interval>,
    /// Service times of the operations in them, in nanoseconds.
    pub(super) service: Option<Histogram<u64>>,
}

impl Intervals {
    /// Adds an interval with the encoded histogram of its operations, and decodes that. `None` where
    /// it is no histogram.
    pub fn add(&mut self, interval: &Interval, histogram: &[u8]) -> Option<Histogram<u64>> {
        self.all.push(interval.clone());
        let histogram = decode(histogram).ok()?;
        match &mut self.service {
            // Both have the same precision, and the sum grows where it must.
            Some(sum) => drop(sum.add(&histogram)),
            None => self.service = Some(histogram.clone()),
        }
        Some(histogram)
    }
}

/// An interval of about `length_ms` milliseconds in one line; with response times where operations
/// are `scheduled`.
pub fn interval_line(interval: &Interval, length_ms: u64, scheduled: bool) -> String {
    let decimals = if length_ms.is_multiple_of(100) { 1 } else { 3 };
    let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
    let per_second = |operations: u64| whole(operations as f64 / seconds.max(1e-9));
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
            count(interval.backlog)
        );
    }
    let _ = write!(line, "  errors {}", interval.errors);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_the_schedule_where_there_is_one() {
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
            interval_line(&second, 1_000, false),
            "      2.0 s    12,345 operations/s    24,690 queries/s  p99 0.210 ms  max 15.4 ms  \
             errors 3"
        );
        let scheduled = interval_line(&second, 50, true);
        assert!(scheduled.starts_with("    2.000 s "), "{scheduled}");
        let end = "response p99 0.320 ms  backlog 1,200  errors 3";
        assert!(scheduled.ends_with(end), "{scheduled}");
    }
}
