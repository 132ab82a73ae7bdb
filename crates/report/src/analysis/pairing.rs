//! Pairs of measurements of one block: the one place where ratios are made.

use prony_stats::Pairs;

/// A measurement that belongs to a block.
pub(crate) trait InBlock {
    /// Its block, from 1; `None` for what is done once for all blocks.
    fn block(&self) -> Option<u32>;
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

/// A figure of the contender ÷ that of the base, block by block. `figures` gives both, and `None`
/// where the two were not measured alike. `None` where that leaves nothing to divide.
pub(crate) fn ratio<T: InBlock>(
    contender: &[T],
    base: &[T],
    figures: impl Fn(&T, &T) -> Option<(f64, f64)>,
) -> Option<Pairs> {
    let pairs = in_blocks(contender, base).filter_map(|(mine, other)| figures(mine, other));
    Pairs::of(pairs.collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Value(Option<u32>, f64);

    impl InBlock for Value {
        fn block(&self) -> Option<u32> {
            self.0
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
}
