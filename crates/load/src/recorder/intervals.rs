//! Putting the periods of several threads together into intervals.

use std::collections::BTreeMap;

use prony_model::Interval;

use crate::LoadError;
use crate::recorder::{Latencies, Period};

/// The 99th percentile.
const P99: f64 = 0.99;

/// Intervals in the making. Interval `n` covers measured time from `n` to `n + 1` times the
/// interval's length; it is complete when every thread has reported its period `n` or ended.
#[derive(Debug)]
pub(crate) struct IntervalBoard {
    histograms: bool,
    length_ns: u64,
    /// For each thread, the period that it reports next; `u64::MAX` after its last.
    next: Vec<u64>,
    open: BTreeMap<u64, Sum>,
    complete: Vec<Interval>,
}

#[derive(Debug)]
struct Sum {
    end_ns: u64,
    period: Period,
}

/// An interval, and its histogram where it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Closed {
    pub(crate) interval: Interval,
    pub(crate) operations: Option<Latencies>,
}

impl IntervalBoard {
    /// Histograms of the intervals are kept until they are told where `histograms` says so.
    pub(crate) fn new(length_ns: u64, threads: usize, histograms: bool) -> Self {
        Self {
            histograms,
            length_ns,
            next: vec![0; threads],
            open: BTreeMap::new(),
            complete: Vec::new(),
        }
    }

    /// Takes the next period of a thread and returns the intervals that it completes.
    pub(crate) fn report(
        &mut self,
        thread: usize,
        period: &Period,
    ) -> Result<Vec<Closed>, LoadError> {
        let index = self.next[thread];
        self.add(index, period)?;
        self.next[thread] = index + 1;
        Ok(self.close())
    }

    /// Takes the last period of a thread.
    pub(crate) fn finish(&mut self, thread: usize, period: &Period) -> Result<(), LoadError> {
        self.add(self.next[thread], period)?;
        self.next[thread] = u64::MAX;
        Ok(())
    }

    /// Closes everything at the end of the measured time, so many nanoseconds after its start.
    /// Returns the intervals that this completes; the last one ends at that time.
    pub(crate) fn end(&mut self, measured_ns: u64) -> Vec<Closed> {
        self.open.retain(|index, sum| {
            index * self.length_ns < measured_ns || !sum.period.operations.is_empty()
        });
        if let Some(mut last) = self.open.last_entry() {
            last.get_mut().end_ns = measured_ns;
        }
        self.next.fill(u64::MAX);
        self.close()
    }

    /// All intervals, in order.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.complete
    }

    fn add(&mut self, index: u64, period: &Period) -> Result<(), LoadError> {
        if let Some(sum) = self.open.get_mut(&index) {
            return sum.period.add(period);
        }
        let sum = Sum {
            end_ns: (index + 1) * self.length_ns,
            period: period.clone(),
        };
        self.open.insert(index, sum);
        Ok(())
    }

    fn close(&mut self) -> Vec<Closed> {
        let reached = self.next.iter().copied().min().unwrap_or(u64::MAX);
        let later = self.open.split_off(&reached);
        let ended = std::mem::replace(&mut self.open, later);
        let closed: Vec<Closed> = ended
            .into_iter()
            .map(|(index, sum)| Closed {
                interval: sum.interval(index * self.length_ns),
                operations: self.histograms.then_some(sum.period.operations),
            })
            .collect();
        let intervals = closed.iter().map(|closed| closed.interval.clone());
        self.complete.extend(intervals);
        closed
    }
}

impl Sum {
    fn interval(&self, start_ns: u64) -> Interval {
        let period = &self.period;
        let p99 = |all: &Latencies| match all.len() {
            0 => 0,
            _ => all.value_at_quantile(P99),
        };
        Interval {
            start_ns,
            end_ns: self.end_ns,
            operations: period.operations.len(),
            queries: period.queries,
            errors: period.errors,
            latency_ns_p99: p99(&period.operations),
            latency_ns_max: period.operations.max(),
            response_ns_p99: period.response.as_ref().map_or(0, p99),
            backlog: period.backlog,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::new_latencies;

    fn period(latencies: &[u64]) -> Period {
        let mut operations = new_latencies().unwrap();
        for latency in latencies {
            operations.saturating_record(*latency);
        }
        Period {
            operations,
            queries: 2 * latencies.len() as u64,
            errors: 1,
            response: None,
            backlog: 0,
        }
    }

    fn intervals_of(closed: &[Closed]) -> Vec<Interval> {
        closed
            .iter()
            .map(|closed| closed.interval.clone())
            .collect()
    }

    fn shape(intervals: &[Interval]) -> Vec<(u64, u64, u64, u64, u64)> {
        intervals
            .iter()
            .map(|i| (i.start_ns, i.end_ns, i.operations, i.queries, i.errors))
            .collect()
    }

    #[test]
    fn complete_when_every_thread_reported() {
        let mut board = IntervalBoard::new(1000, 2, false);
        assert_eq!(board.report(0, &period(&[5, 9])).unwrap(), []);
        assert_eq!(board.report(0, &period(&[])).unwrap(), []);
        let first = board.report(1, &period(&[7])).unwrap();
        assert_eq!(shape(&intervals_of(&first)), [(0, 1000, 3, 6, 2)]);
        assert_eq!(first[0].interval.latency_ns_max, 9);
        let second = board.report(1, &period(&[1])).unwrap();
        assert_eq!(shape(&intervals_of(&second)), [(1000, 2000, 1, 2, 2)]);
        board.finish(0, &period(&[3])).unwrap();
        board.finish(1, &period(&[])).unwrap();
        assert_eq!(
            shape(&intervals_of(&board.end(2400))),
            [(2000, 2400, 1, 2, 2)]
        );
        assert_eq!(board.into_intervals().len(), 3);
    }

    #[test]
    fn a_thread_that_ended_does_not_hold_the_others_up() {
        let mut board = IntervalBoard::new(1000, 2, false);
        board.finish(0, &period(&[5])).unwrap();
        assert_eq!(board.report(1, &period(&[6])).unwrap().len(), 1);
        assert_eq!(board.report(1, &period(&[])).unwrap().len(), 1);
        board.finish(1, &period(&[])).unwrap();
        // Nothing happened in an interval that would begin after the end.
        assert_eq!(board.end(1999), []);
        let intervals = board.into_intervals();
        assert_eq!(intervals[1].latency_ns_p99, 0);
        assert_eq!(
            shape(&intervals),
            [(0, 1000, 2, 4, 2), (1000, 2000, 0, 0, 1)]
        );
    }
}
