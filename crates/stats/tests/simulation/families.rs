//! Many comparisons at once.

use prony_stats::{LogRatio, benjamini_hochberg, holm};

use crate::assert_within;
use crate::noise::{Noise, Random};

const STEPS: usize = 42;
const TARGETS: usize = 6;
const BLOCKS: usize = 10;
const SIMULATIONS: u32 = 100;

/// Noise, and the logarithm of the ratio where there is an effect.
type Truth = (Noise, f64);

/// p-values of all comparisons of one simulated run, and whether the ratio is 1 in truth. Every second
/// step of a target has an effect; the steps of a trial share half of its variance, and all
/// targets share the base.
fn comparisons((noise, effect): Truth, random: &mut Random) -> (Vec<f64>, Vec<bool>) {
    let is_null = |step: usize, target: usize| (step + target).is_multiple_of(2);
    let shared = noise.blocks(BLOCKS, &[0.0; TARGETS + 1], random);
    let (mut p_values, mut nulls) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let own: Vec<Vec<f64>> = (0..BLOCKS)
            .map(|_| (0..=TARGETS).map(|_| noise.start(random)).collect())
            .collect();
        for target in 1..=TARGETS {
            let effect = if is_null(step, target) { 0.0 } else { effect };
            let log = |block: usize| {
                let value = |target: usize| shared[block][target] + own[block][target];
                value(target) - value(0) + effect
            };
            let logs: Vec<f64> = (0..BLOCKS).map(log).collect();
            p_values.push(LogRatio::of(&logs).unwrap().p_value().unwrap());
            nulls.push(is_null(step, target));
        }
    }
    (p_values, nulls)
}

/// Mean share of nulls among what is below 5 %, share of runs with a null among them, and mean share
/// of true effects that are found.
fn rates(truth: Truth, adjust: fn(&[f64]) -> Vec<f64>, seed: u64) -> (f64, f64, f64) {
    let mut random = Random::new(seed);
    let (mut false_share, mut any_false, mut found) = (0.0, 0.0, 0.0);
    for _ in 0..SIMULATIONS {
        let (p_values, nulls) = comparisons(truth, &mut random);
        let adjusted = adjust(&p_values);
        let flagged = adjusted.iter().zip(&nulls).filter(|(p, _)| **p <= 0.05);
        let (wrong, right): (Vec<_>, Vec<_>) = flagged.partition(|(_, is_null)| **is_null);
        let (wrong, right) = (wrong.len() as f64, right.len() as f64);
        false_share += wrong / (wrong + right).max(1.0);
        any_false += wrong.min(1.0);
        found += right / nulls.iter().filter(|is_null| !**is_null).count() as f64;
    }
    let n = f64::from(SIMULATIONS);
    (false_share / n, any_false / n, found / n)
}

#[test]
fn false_discovery_rate_is_kept() {
    for truth in [(Noise::DRIFTING, 0.01), (Noise::BIMODAL, 0.04)] {
        let (false_share, _, found) = rates(truth, benjamini_hochberg, 1);
        assert_within("false discoveries", false_share, 0.0..=0.05);
        // Not by finding nothing.
        assert_within("effects found", found, 0.2..=1.0);
        let (unadjusted, ..) = rates(truth, <[f64]>::to_vec, 1);
        assert!(unadjusted > false_share, "{unadjusted} {false_share}");
    }
}

#[test]
fn holm_keeps_the_family_wise_rate() {
    let (_, any_false, _) = rates((Noise::DRIFTING, 0.01), holm, 2);
    // 5 % and two standard errors of 100 simulations.
    assert_within("runs with a false flag", any_false, 0.0..=0.09);
}
