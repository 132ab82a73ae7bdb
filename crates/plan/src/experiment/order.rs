//! The order of trials: randomised complete blocks, and what is counted after each.

use prony_model::{Plan, PlannedTrial, TrialKind};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Counted targets, in a number of the first blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) blocks: u32,
    pub(super) targets: &'a [usize],
}

/// Each block holds each target once, in an order drawn from `seed`, and after them those that are
/// counted, in an order of their own. More blocks leave the order of the first ones as it is, and
/// counting leaves that of the timed trials as it is.
pub(super) fn trials(
    seed: u64,
    blocks: u32,
    targets: usize,
    counted: Counted<'_>,
) -> Vec<PlannedTrial> {
    let timed: Vec<usize> = (0..targets).collect();
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    // Numbers of the same sequence, from a place that the other never gets to.
    let mut apart = generator.clone();
    apart.jump();
    let mut trials = Vec::new();
    for block in 0..blocks {
        trials.extend(drawn(block, TrialKind::Timed, &timed, &mut generator));
        if block < counted.blocks {
            trials.extend(drawn(
                block,
                TrialKind::Counting,
                counted.targets,
                &mut apart,
            ));
        }
    }
    trials
}

/// The timed trials of `blocks` more blocks from block `from_block` on, in the order that the plan
/// would have given them from the start: they depend on its seed and its number of targets alone.
pub fn more_trials(plan: &Plan, from_block: u32, blocks: u32) -> Vec<PlannedTrial> {
    let counted = Counted {
        blocks: 0,
        targets: &[],
    };
    let until = from_block.saturating_add(blocks);
    let mut trials = trials(plan.seed, until, plan.targets.len(), counted);
    trials.retain(|trial| trial.block >= from_block);
    trials
}

fn drawn(
    block: u32,
    kind: TrialKind,
    targets: &[usize],
    generator: &mut Xoshiro256PlusPlus,
) -> impl Iterator<Item = PlannedTrial> + use<> {
    let mut order = targets.to_vec();
    shuffle(&mut order, generator);
    let planned = move |target| PlannedTrial {
        block,
        target,
        kind,
    };
    order.into_iter().map(planned)
}

/// Fisher and Yates: every order equally likely.
fn shuffle(order: &mut [usize], generator: &mut Xoshiro256PlusPlus) {
    for last in (1..order.len()).rev() {
        order.swap(last, below(last as u64 + 1, generator));
    }
}

/// A number below `limit`, each equally likely: numbers from the incomplete last stretch of the
/// generator's range are drawn again.
fn below(limit: u64, generator: &mut Xoshiro256PlusPlus) -> usize {
    let usable = u64::MAX - u64::MAX % limit;
    loop {
        let number = generator.next_u64();
        if number < usable {
            return usize::try_from(number % limit).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use prony_model::Version;
    use prony_testkit as testkit;

    use super::*;

    const NOT: Counted<'static> = Counted {
        blocks: 0,
        targets: &[],
    };

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

    #[test]
    fn more_blocks_leave_the_first_ones_alone() {
        assert_eq!(trials(1, 3, 4, NOT)[..], trials(1, 5, 4, NOT)[..12]);
        let counted = Counted {
            blocks: 2,
            targets: &[0, 2, 3],
        };
        let few = trials(1, 3, 4, counted);
        assert_eq!(few[..], trials(1, 5, 4, counted)[..18]);
    }

    #[test]
    fn added_blocks_continue_the_order() {
        let targets = ["a", "b", "c"];
        let targets = targets.map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let plan = testkit::plan("x", targets.to_vec(), vec![testkit::step("s", 1)], 2);
        let whole = trials(plan.seed, 9, 3, NOT);
        assert_eq!(more_trials(&plan, 2, 7), whole[6..]);
        assert_eq!(more_trials(&plan, 5, 1), whole[15..18]);
        assert_eq!(more_trials(&plan, 5, 0), []);
    }

    #[test]
    fn what_is_counted_comes_after_its_block_and_changes_no_order() {
        use TrialKind::{Counting, Timed};
        let targets = [0, 2, 3];
        let counted = Counted {
            blocks: 2,
            targets: &targets,
        };
        let all = trials(9, 3, 4, counted);
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
        let counted = Counted {
            blocks: 6000,
            targets: &[0, 1, 2],
        };
        let trials = trials(7, 6000, 3, counted);
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
}
