//! Tests with windows of known fluctuation.

use prony_model::{Backend, NoiseWindow, Pace, Spacing, Thousandths, Version};
use prony_testkit as testkit;

use super::*;

const WANTED: [f64; 3] = [0.5, 0.02, 1e-9];

/// Forty windows, five at one rate and five at another, by number of clients.
fn calibration(rates: &[(u32, [u64; 2])]) -> Calibration {
    let noise = |&(clients, rates): &(u32, [u64; 2])| NoisePoint {
        backend: Backend::Epoll,
        clients,
        threads: 1,
        cpus: None,
        host: None,
        window_ms: 250,
        windows: (0..40)
            .map(|window| NoiseWindow {
                wall_ns: 250_000_000,
                queries: rates[window / 5 % 2],
            })
            .collect(),
    };
    Calibration {
        noise: rates.iter().map(noise).collect(),
        ..testkit::calibration()
    }
}

fn plan(steps: Vec<Step>, blocks: u32) -> Plan {
    let targets = ["a", "b"].map(|name| testkit::target(name, Version::new(8, 0, 31)));
    testkit::plan("accuracy", targets.to_vec(), steps, blocks)
}

fn expected(plan: &Plan, calibration: &Calibration) -> Vec<Accuracy> {
    accuracy(plan, calibration, &Assumptions::default(), &WANTED)
}

#[test]
fn steps_with_the_same_noise_are_one_group() {
    let calibration = calibration(&[(1, [900, 1_100]), (16, [990, 1_010])]);
    let mut short = testkit::step("short", 1);
    short.length = Length::Time { ms: 1_000 };
    let steps = [("one", 1), ("many", 64), ("two", 2)];
    let steps = steps.map(|(name, clients)| testkit::step(name, clients));
    let plan = plan(steps.into_iter().chain([short]).collect(), 3);
    let groups = expected(&plan, &calibration);
    let facts = |of: &Accuracy| (of.steps.clone(), of.noise_clients, of.time_ms);
    let facts: Vec<_> = groups.iter().map(facts).collect();
    let one = (vec![0, 2], 1, 5_000);
    assert_eq!(facts, [one, (vec![1], 16, 5_000), (vec![3], 1, 1_000)]);
    let widths: Vec<f64> = groups.iter().map(|of| of.half_width.unwrap()).collect();
    assert!(widths[1] < widths[0] && widths[0] < widths[2], "{widths:?}");
    assert!(has_accuracy(&plan));
}

#[test]
fn neighbouring_turns_share_the_state_of_the_host() {
    let calibration = calibration(&[(1, [900, 1_100])]);
    let width = |turn_ms| {
        let plan = Plan {
            turn_ms,
            ..plan(vec![testkit::step("one", 1)], 5)
        };
        expected(&plan, &calibration)[0].half_width.unwrap()
    };
    // Of five pairs of windows one has both rates.
    assert!(width(Some(100)) < width(None) / 2.0);
    assert_eq!(width(Some(100)).to_bits(), width(Some(250)).to_bits());
    // Longer turns meet both rates more often.
    assert!(width(Some(500)) > width(Some(250)));
    assert_eq!(width(Some(10_000)).to_bits(), width(Some(500)).to_bits());
}

/// The means of two targets differ by as much as their turns say: with ratios of independent turns whose
/// logarithm has a standard deviation of 0.02, a step of a hundred turns has 0.002.
#[test]
fn turns_average_out() {
    let rate = |index: u32| {
        // Quadratic residues: uniform, and without correlation of neighbours.
        let share = (f64::from(index * index % 1_999) + 0.5) / 1_999.0;
        (0.02 * 12.0_f64.sqrt() * (share - 0.5)).exp()
    };
    let rates: Vec<f64> = (0..2_000).flat_map(|index| [rate(index), 1.0]).collect();
    let fluctuation = Fluctuation::of(&between_turns(&rates, 1), 0.1).unwrap();
    let of_ratio = fluctuation.log_deviation(0.1) * 2.0_f64.sqrt();
    assert!((of_ratio / 0.02 - 1.0).abs() < 0.05, "{of_ratio}");
}

#[test]
fn steps_without_a_comparable_time_are_left_out() {
    let calibration = calibration(&[(1, [900, 1_100])]);
    let change = |change: fn(&mut Step)| {
        let mut step = testkit::step("step", 1);
        change(&mut step);
        plan(vec![step], 3)
    };
    for plan in [
        change(|step| step.warm_only = true),
        change(|step| step.length = Length::Count { operations: 5 }),
        change(|step| {
            step.groups.own_mut().pace = Pace::Open {
                rate: Thousandths(1_000),
                spacing: Spacing::Regular,
            };
        }),
    ] {
        assert_eq!(expected(&plan, &calibration), []);
        assert!(!has_accuracy(&plan));
    }
    let mut alone = change(|_| {});
    assert_eq!(expected(&alone, &calibration).len(), 1);
    alone.targets.truncate(1);
    assert_eq!(expected(&alone, &calibration), []);
    assert!(!has_accuracy(&alone));
}

#[test]
fn the_shorter_of_two_changes_is_named() {
    let calibration = calibration(&[(1, [900, 1_100])]);
    let plan = plan(vec![testkit::step("one", 1)], 3);
    let [of_step] = <[Accuracy; 1]>::try_from(expected(&plan, &calibration)).unwrap();
    let assumptions = Assumptions::default();
    let now_ms = predicted_ms(&plan, &assumptions);
    let width = of_step.half_width.unwrap();
    assert!(width > 0.02 && width < 0.5, "{width}");
    let rates = calibration.noise[0].rates();
    let fluctuation = Fluctuation::of(&rates, 0.25).unwrap();
    let changed = match of_step.changes[..] {
        [Change::Reached, Change::Blocks { blocks, run_ms }, _] => {
            assert!(fluctuation.half_width(5.0, blocks).unwrap() <= 0.02);
            assert_eq!(
                run_ms,
                predicted_ms(&with_blocks(&plan, blocks), &assumptions)
            );
            run_ms
        }
        [Change::Reached, Change::Time { time_ms, run_ms }, _] => {
            let seconds = time_ms as f64 / 1e3;
            assert!(fluctuation.half_width(seconds, 3).unwrap() <= 0.02);
            run_ms
        }
        ref other => panic!("{other:?}"),
    };
    assert!(changed > now_ms);
    let blocks = fluctuation.pairs_for(5.0, 0.02).unwrap();
    let by_blocks_ms = predicted_ms(&with_blocks(&plan, blocks), &assumptions);
    assert!(changed <= by_blocks_ms);
}

#[test]
fn one_block_has_no_interval_and_more_blocks_have() {
    let calibration = calibration(&[(1, [900, 1_100])]);
    let plan = plan(vec![testkit::step("one", 1)], 1);
    let [of_step] = <[Accuracy; 1]>::try_from(expected(&plan, &calibration)).unwrap();
    assert_eq!(of_step.half_width, None);
    assert!(matches!(
        of_step.changes[0],
        Change::Blocks { blocks: 2.., .. }
    ));
}

#[test]
fn unknown_noise_expects_nothing() {
    let plan = plan(vec![testkit::step("one", 1)], 3);
    assert_eq!(expected(&plan, &calibration(&[])), []);
    let mut short = calibration(&[(1, [900, 1_100])]);
    short.noise[0].windows.truncate(7);
    assert_eq!(expected(&plan, &short), []);
}
