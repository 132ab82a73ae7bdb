//! The ratio of pairs with its interval and tests, at the looks that the plan takes at it.

use prony_model::Plan;
use prony_stats::{Interval, LogRatio, Looks, Pairs};

/// The level of intervals, together for all looks.
pub(crate) const LEVEL: f64 = 0.95;

/// The looks that a plan takes at each ratio.
#[derive(Debug)]
pub(crate) struct PlannedLooks {
    looks: Looks,
    /// Numbers of pairs, ascending; empty where the number of blocks is fixed: then there is one look,
    /// at all pairs.
    at: Vec<usize>,
}

/// A ratio, from the pairs of the last look that was reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate {
    /// The ratio on the scale of logarithms.
    pub(crate) log: LogRatio,
    /// Interval of [`LEVEL`] of the ratio; `None` below two pairs.
    pub(crate) interval: Option<Interval>,
    /// p-value of the ratio 1, over all looks so far. `None` below two pairs and before the first
    /// look.
    pub(crate) p_value: Option<f64>,
    /// The ratio at each look that was reached, in their order.
    reached: Vec<LogRatio>,
}

impl PlannedLooks {
    /// The looks of a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let campaign = plan.campaign.as_ref();
        let planned = campaign.and_then(|campaign| {
            let looks = Looks::at(&campaign.looks)?;
            let at = campaign.looks.iter().map(|&pairs| pairs as usize);
            Some((looks, at.collect()))
        });
        let (looks, at) = planned.unwrap_or_else(|| (Looks::one(), Vec::new()));
        Self { looks, at }
    }

    /// Number of pairs of the first look.
    pub(crate) fn first(&self) -> usize {
        self.at.first().copied().unwrap_or(1)
    }

    /// The estimate of the ratio of `pairs`, which are in the order of their blocks.
    ///
    /// Pairs since the last look count at the next one: an interval that is computed between looks
    /// would be one more than planned. Before the first look there are no tests, and the interval
    /// is at the level of that look.
    pub(crate) fn of_pairs(&self, pairs: &Pairs) -> Estimate {
        let logs = pairs.values().iter().map(|(a, b)| (a / b).ln());
        let logs: Vec<f64> = logs.collect();
        self.of_logs(&logs).unwrap_or_else(|| Estimate {
            log: pairs.log_ratio(),
            interval: None,
            p_value: None,
            reached: Vec::new(),
        })
    }

    /// The same of logarithms of quotients. `None` if there are none, or one is not finite.
    pub(crate) fn of_logs(&self, logs: &[f64]) -> Option<Estimate> {
        let reached: Vec<LogRatio> = if self.at.is_empty() {
            vec![LogRatio::of(logs).ok()?]
        } else {
            let reached = self.at.iter().map_while(|&pairs| logs.get(..pairs));
            reached.filter_map(|logs| LogRatio::of(logs).ok()).collect()
        };
        let log = match reached.last() {
            Some(&log) => log,
            None => LogRatio::of(logs).ok()?,
        };
        let level = self.looks.level(reached.len().saturating_sub(1), LEVEL);
        Some(Estimate {
            interval: level.and_then(|level| log.interval(level)),
            p_value: self.over_looks(&reached, LogRatio::p_value),
            log,
            reached,
        })
    }

    /// p-value of a ratio that is not within `margin` of 1, over all looks so far.
    pub(crate) fn equivalence_p(&self, estimate: &Estimate, margin: f64) -> Option<f64> {
        self.over_looks(&estimate.reached, |log| log.equivalence_p(margin))
    }

    fn over_looks(
        &self,
        reached: &[LogRatio],
        p_value: impl Fn(&LogRatio) -> Option<f64>,
    ) -> Option<f64> {
        // A look at a single pair has no test; it spends nothing.
        let p_values = reached.iter().map(|log| p_value(log).unwrap_or(1.0));
        let p_values: Vec<f64> = p_values.collect();
        reached.last().and_then(&p_value)?;
        self.looks.p_value(&p_values)
    }
}

impl Estimate {
    /// Number of pairs, at least 1.
    pub(crate) const fn n(&self) -> usize {
        self.log.n
    }

    /// Geometric mean of the ratios of the pairs.
    pub(crate) fn ratio(&self) -> f64 {
        self.log.ratio()
    }

    /// The distance of the ratio from 1 as a share, whichever of both sides is greater: 0.25 for 0.8
    /// and for 1.25.
    pub(crate) fn difference(&self) -> f64 {
        self.log.mean.abs().exp_m1()
    }

    /// The ratio of the other side to this one: a ratio and its inverse are alike on the scale of
    /// logarithms, so that bounds are inverted and tests stay.
    pub(crate) fn inverted(&self) -> Self {
        let inverted = |log: LogRatio| LogRatio {
            mean: -log.mean,
            ..log
        };
        let bounds = |Interval { low, high }| Interval {
            low: 1.0 / high,
            high: 1.0 / low,
        };
        Self {
            log: inverted(self.log),
            interval: self.interval.map(bounds),
            p_value: self.p_value,
            reached: self.reached.iter().copied().map(inverted).collect(),
        }
    }

    /// Returns `true` if the interval does not hold 1. `None` without an interval.
    pub(crate) fn excludes_one(&self) -> Option<bool> {
        let interval = self.interval?;
        Some(interval.low > 1.0 || interval.high < 1.0)
    }
}

#[cfg(test)]
mod tests {
    use prony_model::{Campaign, Thousandths};
    use prony_testkit as testkit;

    use super::*;

    fn looks(at: &[u32]) -> PlannedLooks {
        let mut plan = testkit::plan("p", Vec::new(), Vec::new(), 0);
        plan.campaign = (!at.is_empty()).then(|| Campaign {
            precision_percent: Thousandths(1_000),
            budget_ms: 1,
            looks: at.to_vec(),
        });
        PlannedLooks::of(&plan)
    }

    const LOGS: [f64; 7] = [0.01, 0.03, 0.02, 0.025, 0.015, 0.5, 0.6];

    #[test]
    fn a_fixed_number_of_blocks_has_one_look() {
        let all = LogRatio::of(&LOGS).unwrap();
        let estimate = looks(&[]).of_logs(&LOGS).unwrap();
        assert_eq!(estimate.log, all);
        assert_eq!(estimate.interval, all.interval(LEVEL));
        assert_eq!(estimate.p_value, all.p_value());
    }

    #[test]
    fn pairs_after_a_look_wait_for_the_next() {
        let looks = looks(&[5, 10]);
        let at_look = looks.of_logs(&LOGS[..5]).unwrap();
        assert_eq!(looks.of_logs(&LOGS).unwrap(), at_look);
        let alone = at_look.log.interval(LEVEL).unwrap();
        let interval = at_look.interval.unwrap();
        assert!(interval.low < alone.low && alone.high < interval.high);
        // The weight of a third of all pairs.
        let p_value = 3.0 * at_look.log.p_value().unwrap();
        assert!((at_look.p_value.unwrap() - p_value).abs() < 1e-12);
        let margin = 0.05;
        let equivalence = 3.0 * at_look.log.equivalence_p(margin).unwrap();
        let of_looks = looks.equivalence_p(&at_look, margin).unwrap();
        assert!((of_looks - equivalence).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_tested_before_the_first_look() {
        let looks = looks(&[5, 10]);
        let estimate = looks.of_logs(&LOGS[..4]).unwrap();
        assert_eq!((estimate.n(), estimate.p_value), (4, None));
        assert!(estimate.interval.is_some());
        assert_eq!(looks.equivalence_p(&estimate, 0.05), None);
        assert_eq!(looks.of_logs(&[]), None);
    }

    #[test]
    fn an_inverted_ratio_is_that_of_exchanged_sides() {
        for looks in [looks(&[]), looks(&[5, 10])] {
            let inverted = looks.of_logs(&LOGS).unwrap().inverted();
            let exchanged = looks.of_logs(&LOGS.map(|log| -log)).unwrap();
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
            near(inverted.ratio(), exchanged.ratio());
            let (one, other) = (inverted.interval.unwrap(), exchanged.interval.unwrap());
            near(one.low, other.low);
            near(one.high, other.high);
            near(inverted.p_value.unwrap(), exchanged.p_value.unwrap());
            let p_value = |of: &Estimate| looks.equivalence_p(of, 0.05).unwrap();
            near(p_value(&inverted), p_value(&exchanged));
        }
    }

    #[test]
    fn differences_are_alike_on_both_sides() {
        let estimate = |ratio: f64| looks(&[]).of_logs(&[ratio.ln()]).unwrap();
        assert!((estimate(0.8).difference() - 0.25).abs() < 1e-12);
        assert!((estimate(1.25).difference() - 0.25).abs() < 1e-12);
        assert_eq!(estimate(0.8).excludes_one(), None);
    }
}
