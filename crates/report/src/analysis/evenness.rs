//! How evenly a server worked within the measured time: its seconds, and not their mean.

use prony_stats::Summary;

use crate::analysis::cell::Cell;
use crate::analysis::course::whole;

/// Intervals below which nothing is said: the mean says as much.
const INTERVALS_MIN: usize = 10;

/// Intervals from which on one in a hundred is known.
const HUNDREDTH_FROM: usize = 100;

/// The intervals of all blocks of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evenness {
    /// Seconds of an interval, on average.
    pub(crate) seconds: f64,
    /// Number of intervals.
    pub(crate) intervals: usize,
    /// Operations per second in the median interval.
    pub(crate) median: f64,
    /// What 99 % of the intervals reach; `None` of fewer than 100.
    pub(crate) hundredth: Option<f64>,
    /// In the slowest interval.
    pub(crate) slowest: f64,
    /// Intervals in which no operation ended.
    pub(crate) idle: usize,
    /// The longest service time, in milliseconds.
    pub(crate) longest_ms: f64,
}

/// The evenness of a step's own clients at one target. `None` of few intervals, or if these were not read.
pub(crate) fn of(cell: &Cell) -> Option<Evenness> {
    let blocks = cell.measurements.iter();
    let all = blocks.flat_map(|block| whole(block.stretches.clone()));
    let (mut rates, mut seconds, mut idle, mut longest_ns) = (Vec::new(), 0.0, 0, 0);
    for stretch in all {
        let length = stretch.end_ns.saturating_sub(stretch.start_ns) as f64 / 1e9;
        rates.push(stretch.operations as f64 / length);
        seconds += length;
        idle += usize::from(stretch.operations == 0);
        longest_ns = longest_ns.max(stretch.longest_ns);
    }
    let intervals = rates.len();
    if intervals < INTERVALS_MIN {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let summary = Summary::of_amounts(&rates).ok()?;
    Some(Evenness {
        seconds: seconds / intervals as f64,
        intervals,
        median: summary.median,
        hundredth: (intervals >= HUNDREDTH_FROM).then(|| rates[intervals / 100]),
        slowest: summary.min,
        idle,
        longest_ms: longest_ns as f64 / 1e6,
    })
}
