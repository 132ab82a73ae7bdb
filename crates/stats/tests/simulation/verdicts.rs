//! Rates of error of intervals, tests, looks and adjusted p-values.

use prony_stats::{LogRatio, Looks, benjamini_hochberg, pairs_for_power};

use crate::noise::{MODES_ONLY, Noise, SHARED_HOST, Simulation, TWO_MODES};

/// Simulated runs of each case: the standard deviation of a rate of 5 % is 0.3 %.
const RUNS: usize = 5_000;
const NOISES: [(&str, Noise); 3] = [
    ("shared host", SHARED_HOST),
    ("two modes", TWO_MODES),
    ("modes only", MODES_ONLY),
];

/// Share of runs in which something is true.
fn rate(seed: u64, mut of_run: impl FnMut(&mut Simulation) -> bool) -> f64 {
    let mut simulation = Simulation::new(seed);
    let count = (0..RUNS).filter(|_| of_run(&mut simulation)).count();
    count as f64 / RUNS as f64
}

fn log_ratio(logs: &[f64]) -> LogRatio {
    LogRatio::of(logs).unwrap()
}

#[test]
fn equal_servers_differ_in_one_of_twenty_runs() {
    for (name, noise) in NOISES {
        for blocks in [5, 10, 20] {
            let false_positives = rate(1, |simulation| {
                let logs = simulation.pairs(&noise, 0.0, blocks);
                log_ratio(&logs).p_value().unwrap() <= 0.05
            });
            println!("{name}, {blocks} blocks: false positives {false_positives:.3}");
            // Ratios of nothing but modes have three values, of which five blocks say less than
            // the t distribution allows.
            let least = if (name, blocks) == ("modes only", 5) {
                0.02
            } else {
                0.03
            };
            assert!(
                (least..=0.07).contains(&false_positives),
                "{name} {blocks}: {false_positives}"
            );
        }
    }
}

#[test]
fn intervals_hold_the_truth_in_nineteen_of_twenty_runs() {
    let truth = 0.03_f64;
    for (name, noise) in NOISES {
        for blocks in [5, 10, 20] {
            let covered = rate(2, |simulation| {
                let logs = simulation.pairs(&noise, truth, blocks);
                let interval = log_ratio(&logs).interval(0.95).unwrap();
                (interval.low..=interval.high).contains(&truth.exp())
            });
            println!("{name}, {blocks} blocks: coverage {covered:.3}");
            assert!(
                (0.93..=0.97).contains(&covered),
                "{name} {blocks}: {covered}"
            );
        }
    }
}

/// Whatever decides when to stop: here the worst that could, the first look that shows a difference.
/// The union bound makes the rate lower than 5 %, for looks at the same data are alike.
#[test]
fn looks_do_not_add_false_positives() {
    let pairs = [5, 8, 12, 20];
    let looks = Looks::at(&pairs).unwrap();
    for (name, noise) in NOISES {
        let false_positives = rate(3, |simulation| {
            let logs = simulation.pairs(&noise, 0.0, 20);
            let p_values: Vec<f64> = pairs
                .iter()
                .map(|&pairs| log_ratio(&logs[..pairs as usize]).p_value().unwrap())
                .collect();
            looks.p_value(&p_values).unwrap() <= 0.05
        });
        println!("{name}: false positives over four looks {false_positives:.3}");
        assert!(
            (0.015..=0.07).contains(&false_positives),
            "{name}: {false_positives}"
        );
    }
}

/// Blocks are added until the interval is as narrow as wanted.
#[test]
fn intervals_hold_the_truth_where_precision_decides_the_blocks() {
    let pairs = [5, 8, 12, 20, 30];
    let looks = Looks::at(&pairs).unwrap();
    let truth = -0.02_f64;
    for (name, noise) in NOISES {
        let covered = rate(4, |simulation| {
            let logs = simulation.pairs(&noise, truth, 30);
            let at_look = |look: usize| {
                let so_far = log_ratio(&logs[..pairs[look] as usize]);
                let level = looks.level(look, 0.95).unwrap();
                (
                    so_far.half_width(level).unwrap(),
                    so_far.interval(level).unwrap(),
                )
            };
            let is_precise = |&look: &usize| at_look(look).0 <= 0.02;
            let stopped = (0..pairs.len()).find(is_precise).unwrap_or(pairs.len() - 1);
            let interval = at_look(stopped).1;
            (interval.low..=interval.high).contains(&truth.exp())
        });
        println!("{name}: coverage where precision decides {covered:.3}");
        assert!(covered >= 0.95, "{name}: {covered}");
    }
}

#[test]
fn planned_effects_are_found_in_four_of_five_runs() {
    for (name, noise) in NOISES {
        let mut simulation = Simulation::new(5);
        let many = log_ratio(&simulation.pairs(&noise, 0.0, 20_000));
        let deviation = many.deviation.unwrap();
        for effect in [0.5, 1.0, 1.5] {
            let pairs = pairs_for_power(effect, 0.05, 0.8).unwrap() as usize;
            let found = rate(6, |simulation| {
                let logs = simulation.pairs(&noise, effect * deviation, pairs);
                log_ratio(&logs).p_value().unwrap() <= 0.05
            });
            println!("{name}, {effect} deviations, {pairs} pairs: found {found:.3}");
            // Two standard deviations of the rate.
            assert!(found >= 0.8 - 0.012, "{name} {effect} {pairs}: {found}");
        }
    }
}

/// 42 steps, six versions beside the base, half of which are equal to it in each step.
#[test]
fn false_discoveries_are_one_of_twenty() {
    const STEPS: usize = 42;
    const VERSIONS: usize = 6;
    const EXPERIMENTS: u64 = 120;
    for (name, noise) in NOISES {
        let mut simulation = Simulation::new(7);
        let mut shares = 0.0;
        for _ in 0..EXPERIMENTS {
            let (mut p_values, mut is_equal) = (Vec::new(), Vec::new());
            for step in 0..STEPS {
                let equal = |version: usize| (step + version).is_multiple_of(2);
                let truth: Vec<f64> = (0..=VERSIONS)
                    .map(|version| {
                        if version == 0 || equal(version) {
                            0.0
                        } else {
                            -0.06
                        }
                    })
                    .collect();
                let run = simulation.run(&noise, &truth, 10);
                for version in 1..=VERSIONS {
                    let logs: Vec<f64> =
                        run.iter().map(|block| block[version] - block[0]).collect();
                    p_values.push(log_ratio(&logs).p_value().unwrap());
                    is_equal.push(equal(version));
                }
            }
            let adjusted = benjamini_hochberg(&p_values);
            let found = adjusted.iter().zip(&is_equal).filter(|(p, _)| **p <= 0.05);
            let (mut all, mut wrong) = (0.0, 0.0);
            for (_, equal) in found {
                all += 1.0;
                wrong += f64::from(u8::from(*equal));
            }
            if all > 0.0 {
                shares += wrong / all;
            }
        }
        let share = shares / EXPERIMENTS as f64;
        println!("{name}: false discoveries {share:.3}");
        assert!(share <= 0.05, "{name}: {share}");
    }
}

/// A true difference at the edge of the margin, and pairs enough that equivalence could be shown.
#[test]
fn a_difference_as_large_as_the_margin_is_seldom_equivalent() {
    let margin = 0.03_f64;
    for (name, noise) in NOISES {
        for blocks in [5, 10, 20, 40] {
            for truth in [margin.ln_1p(), -margin.ln_1p()] {
                let wrong = rate(8, |simulation| {
                    let logs = simulation.pairs(&noise, truth, blocks);
                    log_ratio(&logs).equivalence_p(margin).unwrap() <= 0.05
                });
                println!("{name}, {blocks} blocks: falsely equivalent {wrong:.3}");
                // Two standard deviations of the rate above 5 %.
                assert!(wrong <= 0.056, "{name} {blocks}: {wrong}");
            }
        }
    }
}
