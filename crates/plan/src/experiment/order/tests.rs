//! Orders of blocks: balance, chance, and continuation.

use prony_model::Version;
use prony_testkit as testkit;
use proptest::prelude::*;

use super::*;

const NOT: &[Besides<'static>] = &[];

#[test]
fn every_order_of_three_comes_about_as_often() {
    let trials = trials(7, 6000, 3, NOT);
    let mut counts = std::collections::BTreeMap::new();
    for block in trials.chunks(3) {
        let order: Vec<_> = block.iter().map(|trial| trial.target).collect();
        *counts.entry(order).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    // 1000 expected; 150 is about five standard deviations.
    assert!(
        counts.values().all(|count| (850..1150).contains(count)),
        "{counts:?}"
    );
}

/// Orders of the timed trials, block by block.
fn orders(seed: u64, blocks: u32, targets: usize) -> Vec<Vec<usize>> {
    let trials = trials(seed, blocks, targets, NOT);
    let blocks = trials.chunks(targets);
    blocks
        .map(|block| block.iter().map(|trial| trial.target).collect())
        .collect()
}

proptest! {
    /// In each complete set each target follows each other equally often, is first to last
    /// equally often, and is in each block.
    #[test]
    fn sets_are_balanced(seed in any::<u64>(), targets in 2..9_usize, set in 0..3_usize) {
        let blocks = 2 * pairs(targets);
        let all = orders(seed, u32::try_from(blocks * (set + 1)).unwrap(), targets);
        let of_set = &all[blocks * set..];
        let mut follows = vec![vec![0; targets]; targets];
        let mut places = vec![vec![0; targets]; targets];
        for order in of_set {
            for two in order.windows(2) {
                follows[two[0]][two[1]] += 1;
            }
            for (place, &target) in order.iter().enumerate() {
                places[target][place] += 1;
            }
        }
        let times = blocks / targets;
        for (target, row) in follows.iter_mut().enumerate() {
            prop_assert_eq!(row[target], 0);
            row[target] = times;
        }
        for row in follows.iter().chain(&places) {
            prop_assert!(row.iter().all(|&count| count == times), "{:?}", row);
        }
    }

    #[test]
    fn a_block_is_followed_by_its_mirror_image(seed in any::<u64>(), targets in 1..9_usize) {
        for two in orders(seed, 12, targets).chunks(2) {
            let mirrored: Vec<_> = two[1].iter().rev().copied().collect();
            prop_assert_eq!(&two[0], &mirrored);
        }
    }

    #[test]
    fn added_blocks_are_those_of_a_longer_plan(
        seed in any::<u64>(),
        targets in 1..9_usize,
        first in 1..30_u32,
        added in 0..30_u32,
    ) {
        let of_plan = vec![testkit::target("t", Version::new(8, 0, 31)); targets];
        let steps = vec![testkit::step("step", 1)];
        let plan = Plan {
            seed,
            ..testkit::plan("added", of_plan, steps, 1)
        };
        let mut all = trials(seed, first, targets, NOT);
        all.extend(more_trials(&plan, first, added));
        prop_assert_eq!(all, trials(seed, first + added, targets, NOT));
    }
}

#[test]
fn sets_differ_from_each_other() {
    let all = orders(3, 80, 8);
    let sets: std::collections::BTreeSet<_> = all.chunks(8).collect();
    assert_eq!(sets.len(), 10);
}

#[test]
fn more_blocks_leave_the_first_ones_alone() {
    assert_eq!(trials(1, 3, 4, NOT)[..], trials(1, 5, 4, NOT)[..12]);
    let counted = Besides {
        kind: TrialKind::Counting,
        blocks: 2,
        targets: &[0, 2, 3],
    };
    let few = trials(1, 3, 4, &[counted]);
    assert_eq!(few[..], trials(1, 5, 4, &[counted])[..18]);
}

#[test]
fn what_is_counted_comes_after_its_block_and_changes_no_order() {
    use TrialKind::{Counting, Timed};
    let targets = [0, 2, 3];
    let counted = Besides {
        kind: TrialKind::Counting,
        blocks: 2,
        targets: &targets,
    };
    let all = trials(9, 3, 4, &[counted]);
    let timed = |trial: &PlannedTrial| trial.kind == Timed;
    let without: Vec<_> = all.iter().copied().filter(timed).collect();
    assert_eq!(without, trials(9, 3, 4, NOT));
    let parts: Vec<_> = all
        .chunk_by(|a, b| (a.block, a.kind) == (b.block, b.kind))
        .collect();
    let shape = parts
        .iter()
        .map(|part| (part[0].block, part[0].kind, part.len()));
    assert_eq!(
        shape.collect::<Vec<_>>(),
        [
            (0, Timed, 4),
            (0, Counting, 3),
            (1, Timed, 4),
            (1, Counting, 3),
            (2, Timed, 4),
        ]
    );
    for part in [parts[1], parts[3]] {
        let mut once: Vec<_> = part.iter().map(|trial| trial.target).collect();
        once.sort_unstable();
        assert_eq!(once, targets);
    }
}

#[test]
fn the_order_of_counting_says_nothing_of_that_of_measuring() {
    let counted = Besides {
        kind: TrialKind::Counting,
        blocks: 6000,
        targets: &[0, 1, 2],
    };
    let trials = trials(7, 6000, 3, &[counted]);
    let mut counts = std::collections::BTreeMap::new();
    for block in trials.chunks(6) {
        let order: Vec<_> = block.iter().map(|trial| trial.target).collect();
        *counts.entry(order).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 36, "every pair of orders");
    // 167 expected; 65 is about five standard deviations.
    assert!(
        counts.values().all(|count| (102..232).contains(count)),
        "{counts:?}"
    );
}
