//! How evenly a server worked within the measured time: its seconds, and not their mean.

use prony_stats::Summary;
use prony_store::Stretch;

use crate::analysis::course::whole;
use crate::analysis::measurement::Measurement;

/// Intervals below which nothing is said: the mean says as much.
const INTERVALS_MIN: usize = 10;

/// Intervals from which on one in a hundred is known.
const HUNDREDTH_FROM: usize = 100;

/// Equal parts of the measured time.
pub(crate) const SLICES: usize = 10;

/// The intervals of one block or several.
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
    /// Operations per second in each tenth of the measured time, the mean of the blocks; `None` where a
    /// block has fewer intervals than tenths.
    pub(crate) slices: Option<[f64; SLICES]>,
}

/// The evenness of a group of clients over these blocks. `None` of few intervals, or if these were not
/// read.
pub(crate) fn of(blocks: &[Measurement]) -> Option<Evenness> {
    let blocks = blocks.iter().map(|block| whole(block.stretches.clone()));
    let blocks: Vec<Vec<Stretch>> = blocks.filter(|block| !block.is_empty()).collect();
    let (mut rates, mut seconds, mut idle, mut longest_ns) = (Vec::new(), 0.0, 0, 0);
    for stretch in blocks.iter().flatten() {
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
        slices: slices(&blocks),
    })
}

/// The mean rates of the blocks in each tenth. The operations of an interval that lies in two of them
/// are divided by time.
fn slices(blocks: &[Vec<Stretch>]) -> Option<[f64; SLICES]> {
    let mut rates = [0.0; SLICES];
    for block in blocks {
        let (first, last) = block.first().zip(block.last())?;
        if block.len() < SLICES {
            return None;
        }
        let slice_ns = (last.end_ns - first.start_ns) as f64 / SLICES as f64;
        for stretch in block {
            let (start, end) = (stretch.start_ns as f64, stretch.end_ns as f64);
            let rate = stretch.operations as f64 * 1e9 / (end - start);
            for (slice, sum) in rates.iter_mut().enumerate() {
                let begin = first.start_ns as f64 + slice as f64 * slice_ns;
                let common = (end.min(begin + slice_ns) - start.max(begin)).max(0.0);
                *sum += rate * common / slice_ns / blocks.len() as f64;
            }
        }
    }
    Some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of so many seconds and operations.
    fn block(intervals: &[(u64, u64)]) -> Vec<Stretch> {
        let mut start_ns = 0;
        let stretch = |&(seconds, operations): &(u64, u64)| {
            let end_ns = start_ns + seconds * 1_000_000_000;
            let stretch = Stretch {
                start_ns,
                end_ns,
                operations,
                longest_ns: 0,
            };
            start_ns = end_ns;
            stretch
        };
        intervals.iter().map(stretch).collect()
    }

    fn assert_slices(blocks: &[Vec<Stretch>], expected: [f64; SLICES]) {
        let found = slices(blocks).unwrap();
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
        }
    }

    #[test]
    fn slices_are_tenths_of_the_time_whatever_the_intervals() {
        let rising: Vec<(u64, u64)> = (0..10).map(|second| (1, second)).collect();
        let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_slices(&[block(&rising)], expected);
        // Each slice is one and a half intervals long.
        let twice: Vec<(u64, u64)> = (0..15).map(|second| (1, 3 * (second % 2))).collect();
        let odd = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        let found = slices(&[block(&twice)]).unwrap();
        assert!((found.iter().sum::<f64>() - 14.0).abs() < 1e-9, "{found:?}");
        assert!((found[0] - odd[0]).abs() < 1e-9, "{found:?}");
        // The mean of blocks.
        let still = block(&[(2, 0); 10]);
        assert_slices(&[block(&rising), still], expected.map(|rate| rate / 2.0));
    }

    #[test]
    fn few_intervals_have_no_slices() {
        assert_eq!(slices(&[block(&[(1, 5); 9])]), None);
        assert!(slices(&[block(&[(1, 5); 10])]).is_some());
    }
}
