//! The blocks that an inconclusive verdict lacks.

use prony_stats::LogRatio;

/// More blocks than this are not worth counting.
const PAIRS_MAX: usize = 1_000;

/// The blocks that an inconclusive verdict lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Fewer pairs than a verdict takes.
    TooFew {
        /// Pairs that it takes.
        least: usize,
    },
    /// About this many more, at least 1, if ratio and spread stay as they are.
    About(usize),
    /// More than a thousand altogether.
    Many,
}

impl Needed {
    /// The number of pairs at which either test reaches its level if mean and deviation stay as they
    /// are: that of a difference at `level`, that of equivalence at `equivalence_level`.
    pub(super) fn to_settle(
        log: &LogRatio,
        level: f64,
        equivalence_level: f64,
        margin: f64,
    ) -> Self {
        let is_settled = |n: usize| {
            let more = LogRatio { n, ..*log };
            let is_below = |p: Option<f64>, level| p.is_some_and(|p| p <= level);
            is_below(more.p_value(), level)
                || is_below(more.equivalence_p(margin), equivalence_level)
        };
        // Both p-values fall as the number of pairs grows, unless they never reach the level.
        let (mut open, mut settled) = (log.n, PAIRS_MAX);
        if open >= settled || !is_settled(settled) {
            return Self::Many;
        }
        while settled - open > 1 {
            let middle = usize::midpoint(open, settled);
            if is_settled(middle) {
                settled = middle;
            } else {
                open = middle;
            }
        }
        Self::About(settled - log.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(mean: f64, deviation: f64) -> LogRatio {
        LogRatio {
            n: 5,
            mean,
            deviation: Some(deviation),
        }
    }

    #[test]
    fn more_blocks_settle_either_question() {
        let needed = |mean, deviation| Needed::to_settle(&log(mean, deviation), 0.05, 0.05, 0.01);
        // t(0.975, 10) × 0.02 ÷ √11 = 0.0134, and ÷ √10 with 9 degrees 0.0143.
        assert_eq!(needed(0.0135, 0.02), Needed::About(6));
        // t(0.95, 11) × 0.02 ÷ √12 = 0.0104, and with 13: 0.0099 < ln 1.01 = 0.00995.
        assert_eq!(needed(0.0, 0.02), Needed::About(8));
        assert_eq!(needed(0.00995, 0.2), Needed::Many);
    }

    #[test]
    fn stricter_levels_need_more() {
        let needed = |level| match Needed::to_settle(&log(0.02, 0.02), level, 0.0, 0.01) {
            Needed::About(blocks) => blocks,
            other => panic!("{other:?}"),
        };
        assert!(needed(0.01) > needed(0.05));
    }
}
