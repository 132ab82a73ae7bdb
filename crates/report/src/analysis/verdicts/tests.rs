//! Rules of verdicts.

use super::*;

#[test]
fn sizes_are_of_the_interval_beside_the_margin() {
    let size = |low, high| Size::of(Interval { low, high }, 0.03);
    assert_eq!(size(0.9, 0.97), Size::Beyond);
    assert_eq!(size(1.031, 1.05), Size::Beyond);
    assert_eq!(size(0.9, 0.98), Size::MayBeWithin);
    assert_eq!(size(0.9, 1.1), Size::MayBeWithin);
    assert_eq!(size(0.99, 1.01), Size::Within);
}

fn looks() -> PlannedLooks {
    PlannedLooks::of(&prony_testkit::plan("p", Vec::new(), Vec::new(), 0))
}

/// The verdict on throughput with these logarithms of ratios, among `others` such comparisons.
fn judged(logs: &[f64], margin: f64, others: f64) -> Judged {
    let looks = looks();
    let estimate = looks.of_logs(logs).unwrap();
    let mut judged = Judged {
        group: GroupId::own(0),
        target: 1,
        metric: Metric::Operations,
        margin,
        adjusted_p: estimate.p_value.map(|p| (p * others).min(1.0)),
        equivalence_p: looks.equivalence_p(&estimate, margin),
        verdict: Verdict::Inconclusive,
        size: estimate.interval.map(|interval| Size::of(interval, margin)),
        needed: None,
        doubts: Vec::new(),
        estimate,
    };
    judged.decide(PAIRS_MIN, margin);
    judged
}

const fn inverse(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Improved => Verdict::Regressed,
        Verdict::Regressed => Verdict::Improved,
        other => other,
    }
}

proptest::proptest! {
    /// A verdict says no more than its interval, and the inverse ratio has the inverse verdict.
    #[test]
    fn verdicts_follow_from_intervals(
        logs in proptest::collection::vec(-0.1..0.1_f64, 5..12),
        shift in -0.2..0.2_f64,
        margin in 0.005..0.1_f64,
        others in 1.0..50.0_f64,
    ) {
        let logs: Vec<f64> = logs.iter().map(|log| log + shift).collect();
        let one = judged(&logs, margin, others);
        let excludes_one = one.estimate.excludes_one() == Some(true);
        let inner = one.estimate.log.interval(0.9).unwrap();
        match one.verdict {
            Verdict::Improved => proptest::prop_assert!(excludes_one && one.estimate.ratio() > 1.0),
            Verdict::Regressed => proptest::prop_assert!(excludes_one && one.estimate.ratio() < 1.0),
            Verdict::Equivalent => {
                proptest::prop_assert!(inner.low > 0.999_999 / (1.0 + margin));
                proptest::prop_assert!(inner.high < 1.000_001 * (1.0 + margin));
            }
            Verdict::Inconclusive => {}
        }
        proptest::prop_assert_eq!(one.needed.is_some(), one.verdict == Verdict::Inconclusive);
        let opposite: Vec<f64> = logs.iter().map(|log| -log).collect();
        let opposite = judged(&opposite, margin, others);
        proptest::prop_assert_eq!(opposite.verdict, inverse(one.verdict));
        proptest::prop_assert_eq!(opposite.size, one.size);
    }
}

#[test]
fn only_comparisons_of_enough_pairs_are_a_family() {
    let estimate = |n: usize| {
        looks()
            .of_logs(&[0.01, 0.02, 0.03, 0.01, 0.02][..n])
            .unwrap()
    };
    let estimates = [4, 5, 5].into_iter().enumerate();
    let estimates = estimates.map(|(place, n)| ((GroupId::own(0), 1, place), estimate(n)));
    let adjusted = adjusted(&estimates.collect(), PAIRS_MIN);
    // Of equal p-values all are adjusted to the same.
    let p = estimate(5).p_value.unwrap();
    assert_eq!(adjusted.into_values().collect::<Vec<_>>(), [p, p]);
}

#[test]
fn judged_metrics_have_a_good_direction() {
    let judged = JUDGED.iter().map(|metric| metric.facts().better);
    assert!(judged.into_iter().all(|better| better != Better::Neither));
}
