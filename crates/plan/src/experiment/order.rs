//! The order of trials: balanced complete blocks, and what is counted after each.

use prony_model::{Plan, PlannedTrial, TrialKind};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Targets that have another trial, besides the timed one, in a number of the first blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Besides<'a> {
    pub(super) kind: TrialKind,
    pub(super) blocks: u32,
    pub(super) targets: &'a [usize],
}

/// Each block holds each target once, in an order of the design for `seed`, and after them those
/// that have trials `besides`, kind after kind, each in an order of its own. More blocks leave the order of
/// the first ones as it is, and other trials leave that of the timed ones as it is.
pub(super) fn trials(
    seed: u64,
    blocks: u32,
    targets: usize,
    besides: &[Besides<'_>],
) -> Vec<PlannedTrial> {
    // Numbers of the same sequence, from a place of their own each, that the design never gets to.
    let mut apart = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut besides: Vec<(&Besides<'_>, Xoshiro256PlusPlus)> = besides
        .iter()
        .map(|others| {
            apart.jump();
            (others, apart.clone())
        })
        .collect();
    let mut trials = Vec::new();
    for block in 0..blocks {
        trials.extend(timed(seed, block, targets));
        for (others, random) in &mut besides {
            if block < others.blocks {
                let mut order = others.targets.to_vec();
                shuffle(&mut order, random);
                trials.extend(planned(block, others.kind, order));
            }
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
mod tests;
