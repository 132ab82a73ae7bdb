//! Throughput within the measured time of a step.

use prony_stats::Summary;
use prony_store::Stretch;

use crate::analysis::cell::Cell;

/// Points of a course at most: more intervals are put together.
const POINTS_MAX: usize = 60;

/// One part of the measured time, over the blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoursePoint {
    /// The middle of the part, in seconds after the start of the measured time.
    pub(crate) at_s: f64,
    /// Operations per second: the median of the blocks, the lowest and the highest.
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The course of a group of clients at one target, with all done blocks; empty if the intervals were not
/// read ([`Within::Operations`](crate::analysis::measured::Within)).
pub(crate) fn of(cell: &Cell) -> Vec<CoursePoint> {
    let blocks = cell.measurements.iter();
    let blocks: Vec<Vec<Stretch>> = blocks.map(|block| whole(block.stretches.clone())).collect();
    over_blocks(&blocks)
}

/// Without a last interval that is much shorter than the first: its rate is that of a few operations.
pub(super) fn whole(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    let length = |stretch: &Stretch| stretch.end_ns.saturating_sub(stretch.start_ns);
    let first = stretches.first().map_or(0, length);
    stretches.retain(|stretch| length(stretch) > 0);
    if stretches.len() > 1 && stretches.last().map_or(0, length) * 2 < first {
        stretches.pop();
    }
    stretches
}

/// One point for each interval, or for several in a row. Blocks have the same intervals.
fn over_blocks(blocks: &[Vec<Stretch>]) -> Vec<CoursePoint> {
    let longest = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let together = longest.div_ceil(POINTS_MAX).max(1);
    let point = |position: usize| {
        let range = position..position + together;
        let parts = blocks.iter().filter_map(|block| {
            let part = block.get(range.start..range.end.min(block.len()))?;
            let (first, last) = part.first().zip(part.last())?;
            let operations: u64 = part.iter().map(|stretch| stretch.operations).sum();
            let seconds = last.end_ns.saturating_sub(first.start_ns) as f64 / 1e9;
            let middle = (first.start_ns + last.end_ns) as f64 / 2e9;
            (seconds > 0.0).then(|| (middle, operations as f64 / seconds))
        });
        let (middles, rates): (Vec<f64>, Vec<f64>) = parts.unzip();
        let rates = Summary::of_amounts(&rates).ok()?;
        Some(CoursePoint {
            at_s: middles.iter().sum::<f64>() / middles.len() as f64,
            median: rates.median,
            low: rates.min,
            high: rates.max,
        })
    };
    (0..longest).step_by(together).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(operations: &[u64]) -> Vec<Stretch> {
        let second = 1_000_000_000;
        (0_u64..)
            .zip(operations)
            .map(|(index, &operations)| Stretch {
                start_ns: index * second,
                end_ns: (index + 1) * second,
                operations,
                longest_ns: 0,
            })
            .collect()
    }

    #[test]
    fn points_have_median_and_range_of_blocks() {
        let points = over_blocks(&[block(&[10, 20]), block(&[30, 22]), block(&[14, 21])]);
        let figures: Vec<_> = points
            .iter()
            .map(|point| (point.at_s, point.low, point.median, point.high))
            .collect();
        assert_eq!(figures, [(0.5, 10.0, 14.0, 30.0), (1.5, 20.0, 21.0, 22.0)]);
    }

    #[test]
    fn many_intervals_become_few_points() {
        let points = over_blocks(&[block(&vec![7; 600]), block(&[])]);
        assert_eq!(points.len(), POINTS_MAX);
        assert!(points.iter().all(|point| (point.median - 7.0).abs() < 1e-9));
        assert!(over_blocks(&[]).is_empty());
    }

    #[test]
    fn a_short_last_interval_is_left_out() {
        let mut stretches = block(&[10, 10, 3]);
        stretches[2].end_ns -= 600_000_000;
        assert_eq!(whole(stretches), block(&[10, 10]));
        assert_eq!(whole(block(&[10])), block(&[10]));
    }
}
