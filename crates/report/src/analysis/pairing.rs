//! Pairs of measurements of one block: the one place where ratios are made.

use prony_stats::Pairs;

use crate::analysis::replicates::means;

/// A measurement that belongs to a block.
pub(crate) trait InBlock {
    /// Its block, from 1; `None` for what is done once for all blocks.
    fn block(&self) -> Option<u32>;

    /// What its block repeats, as [`Replicates`](crate::analysis::replicates::Replicates) has it; `None` for
    /// what has no block.
    fn replicate(&self) -> Option<u32>;
}

/// The measurements of two sides that belong to the same block, in the order of the first side.
pub(crate) fn in_blocks<'a, T: InBlock>(
    contender: &'a [T],
    base: &'a [T],
) -> impl Iterator<Item = (&'a T, &'a T)> {
    contender.iter().filter_map(move |mine| {
        let other = base.iter().find(|other| other.block() == mine.block())?;
        Some((mine, other))
    })
}

/// A figure of the contender ÷ that of the base, block by block, or where several hosts measured, host by
/// host: the geometric means of the blocks of each. `figures` gives both, and `None` where the two were not
/// measured alike. `None` where that leaves nothing to divide.
pub(crate) fn ratio<T: InBlock>(
    contender: &[T],
    base: &[T],
    figures: impl Fn(&T, &T) -> Option<(f64, f64)>,
) -> Option<Pairs> {
    let pairs = in_blocks(contender, base)
        .filter_map(|(mine, other)| Some((mine.replicate(), figures(mine, other)?)));
    let pairs: Vec<(Option<u32>, (f64, f64))> = pairs.collect();
    let mean = |side: fn(&(f64, f64)) -> f64| {
        means(
            pairs
                .iter()
                .map(|(replicate, pair)| (*replicate, side(pair).ln())),
        )
    };
    let (numerators, denominators) = (mean(|pair| pair.0), mean(|pair| pair.1));
    if numerators.len() == pairs.len() {
        return Pairs::of(pairs.into_iter().map(|(_, pair)| pair).collect()).ok();
    }
    let sides = numerators.into_iter().zip(denominators);
    Pairs::of(sides.map(|((_, a), (_, b))| (a.exp(), b.exp())).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Value(Option<u32>, f64);

    /// Blocks from 10 on are of one host.
    impl InBlock for Value {
        fn block(&self) -> Option<u32> {
            self.0
        }

        fn replicate(&self) -> Option<u32> {
            self.0.map(|block| block.min(10))
        }
    }

    fn pairs(contender: &[Value], base: &[Value]) -> Option<Vec<(f64, f64)>> {
        let pairs = ratio(contender, base, |mine, other| Some((mine.1, other.1)))?;
        Some(pairs.values().to_vec())
    }

    #[test]
    fn only_measurements_of_one_block_are_paired() {
        let contender = [Value(Some(1), 2.0), Value(Some(3), 4.0), Value(None, 5.0)];
        let base = [Value(Some(3), 8.0), Value(Some(2), 1.0), Value(None, 10.0)];
        let expected = vec![(4.0, 8.0), (5.0, 10.0)];
        assert_eq!(pairs(&contender, &base), Some(expected));
        assert_eq!(pairs(&contender[..1], &base), None);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        assert_eq!(pairs(&[Value(Some(1), 1.0)], &[Value(Some(1), 0.0)]), None);
    }

    #[test]
    fn blocks_of_one_host_count_once() {
        let values = |figures: [f64; 3]| {
            let blocks = [1, 10, 11].map(Some).into_iter();
            blocks
                .zip(figures)
                .map(|(block, figure)| Value(block, figure))
                .collect::<Vec<_>>()
        };
        let found = pairs(&values([2.0, 4.0, 9.0]), &values([1.0, 2.0, 2.0])).unwrap();
        let expected = [(2.0, 1.0), (6.0, 2.0)];
        assert_eq!(found.len(), 2);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.0 - expected.0).abs() < 1e-12 && (found.1 - expected.1).abs() < 1e-12);
        }
    }
}
