//! The order of trials: balanced complete blocks, and what is counted after each.

use prony_model::{Plan, PlannedTrial, TrialKind};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Counted targets, in a number of the first blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) blocks: u32,
    pub(super) targets: &'a [usize],
}

/// Each block holds each target once, in an order of the design for `seed`, and after them those
/// that are counted, in an order of their own. More blocks leave the order of the first ones as it
/// is, and counting leaves that of the timed trials as it is.
pub(super) fn trials(
    seed: u64,
    blocks: u32,
    targets: usize,
    counted: Counted<'_>,
) -> Vec<PlannedTrial> {
    // Numbers of the same sequence, from a place that the design never gets to.
    let mut apart = Xoshiro256PlusPlus::seed_from_u64(seed);
    apart.jump();
    let mut trials = Vec::new();
    for block in 0..blocks {
        trials.extend(timed(seed, block, targets));
        if block < counted.blocks {
            let mut order = counted.targets.to_vec();
            shuffle(&mut order, &mut apart);
            trials.extend(planned(block, TrialKind::Counting, order));
        }
    }
    trials
}

/// The timed trials of `blocks` more blocks of a plan, the first of which is `from_block`, counted
/// from 0.
///
/// They continue the order of a plan that was made from an experiment: the order of a block is a
/// function of the plan's seed, its number of targets and the block's number alone. No counting
/// trials are among them.
pub fn more_trials(plan: &Plan, from_block: u32, blocks: u32) -> Vec<PlannedTrial> {
    let added = from_block..from_block.saturating_add(blocks);
    added
        .flat_map(|block| timed(plan.seed, block, plan.targets.len()))
        .collect()
}

fn timed(seed: u64, block: u32, targets: usize) -> impl Iterator<Item = PlannedTrial> + use<> {
    let blocks_of_set = 2 * pairs(targets);
    let place = block as usize;
    let set = Set::draw(seed, place / blocks_of_set, targets);
    planned(block, TrialKind::Timed, set.order(place % blocks_of_set))
}

fn planned(
    block: u32,
    kind: TrialKind,
    order: Vec<usize>,
) -> impl Iterator<Item = PlannedTrial> + use<> {
    order.into_iter().map(move |target| PlannedTrial {
        block,
        target,
        kind,
    })
}

/// Pairs of blocks of a complete set: a block and its mirror image each.
const fn pairs(targets: usize) -> usize {
    if targets.is_multiple_of(2) && targets > 0 {
        targets / 2
    } else {
        targets
    }
}

/// A complete set of blocks, after which each target has followed each other equally often, and has
/// had each place equally often.
///
/// It is a Williams design (Williams, Experimental designs balanced for the estimation of residual
/// effects of treatments, Australian Journal of Scientific Research A 2, 1949): the order 0, 1,
/// n − 1, 2, n − 2, … with a number from 0 to n − 1 added to each, modulo n. For an even number of
/// targets these are n blocks, each the mirror image of another. For an odd number, the mirror
/// images are a second square, which makes 2 n blocks. Two targets give ABBA or BAAB.
///
/// Consecutive blocks are mirror images, so that a steady drift over two blocks is the same for all
/// targets. Which target has which number, the order of these pairs, and which block of a pair
/// comes first are drawn.
struct Set {
    /// The target of each number.
    labels: Vec<usize>,
    /// For each pair of blocks the number that is added, and whether the mirror image comes first.
    pairs: Vec<(usize, bool)>,
}

impl Set {
    /// The set of this number, from 0.
    fn draw(seed: u64, set: usize, targets: usize) -> Self {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        let own = (0..=set).fold(0, |_, _| seeds.next_u64());
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(own);
        let mut labels: Vec<usize> = (0..targets).collect();
        shuffle(&mut labels, &mut generator);
        let mut added: Vec<usize> = (0..pairs(targets)).collect();
        shuffle(&mut added, &mut generator);
        let pairs = added.into_iter();
        Self {
            labels,
            pairs: pairs
                .map(|added| (added, below(2, &mut generator) == 1))
                .collect(),
        }
    }

    /// The targets of a block of the set, in their order.
    fn order(&self, block: usize) -> Vec<usize> {
        let targets = self.labels.len();
        let Some((added, mirrored)) = self.pairs.get(block / 2) else {
            return Vec::new();
        };
        // 0, 1, n − 1, 2, n − 2, …
        let number = |place: usize| {
            if place % 2 == 1 {
                place / 2 + 1
            } else {
                targets - place / 2
            }
        };
        let target = |place| self.labels[(number(place) + added) % targets];
        let mut order: Vec<usize> = (0..targets).map(target).collect();
        if *mirrored != (block % 2 == 1) {
            order.reverse();
        }
        order
    }
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
    use proptest::prelude::*;

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
        let counted = Counted {
            blocks: 2,
            targets: &[0, 2, 3],
        };
        let few = trials(1, 3, 4, counted);
        assert_eq!(few[..], trials(1, 5, 4, counted)[..18]);
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
