//! The order of trials: randomised complete blocks.

use prony_model::{PlannedTrial, TrialKind};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Each block holds each target once, in an order drawn from `seed`. More blocks leave the order
/// of the first ones as it is.
pub(super) fn trials(seed: u64, blocks: u32, targets: usize) -> Vec<PlannedTrial> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mut order: Vec<usize> = (0..targets).collect();
        shuffle(&mut order, &mut generator);
        trials.extend(order.into_iter().map(|target| PlannedTrial {
            block,
            target,
            kind: TrialKind::Timed,
        }));
    }
    trials
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
    use super::*;

    #[test]
    fn every_order_of_three_comes_about_as_often() {
        let trials = trials(7, 6000, 3);
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
        assert_eq!(trials(1, 3, 4)[..], trials(1, 5, 4)[..12]);
    }
}
