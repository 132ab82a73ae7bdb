//! The numbers of rows.

use prony_model::{ColumnValue, Dataset, Distribution, Expr, NumberRule};

use crate::values::distribution::Sampler;
use crate::values::draws::Draws;
use crate::values::random::{KeyedRandom, below};

/// Makes the numbers of one column. What can be computed before is.
#[derive(Debug)]
pub(super) enum NumberMaker {
    /// Of an expression with a quotient: computed anew for each row.
    Quotient { expr: Expr, dataset: Dataset },
    /// `start + factor · row`.
    Computed { start: i64, factor: i64 },
    /// Any of `count` numbers from `low` on.
    Uniform { low: i64, count: u64 },
    /// Some of them more often.
    Drawn { low: i64, sampler: Sampler },
    /// One after the other.
    InOrder { low: i64, sampler: Sampler },
}

impl NumberMaker {
    /// The maker of the number in a value; of 0 where it has none. `order` decides random orders.
    pub(super) fn of(dataset: &Dataset, value: &ColumnValue, order: u64) -> Self {
        let zero = Self::Computed {
            start: 0,
            factor: 0,
        };
        value
            .number()
            .map_or(zero, |rule| Self::new(dataset, rule, order))
    }

    /// The rule has been checked with the dataset: what can't be computed does not get here.
    pub(super) fn new(dataset: &Dataset, rule: &NumberRule, order: u64) -> Self {
        let eval = |expr, row| dataset.eval(expr, row).unwrap_or_default();
        match rule {
            NumberRule::Computed(expr) if !rule.is_linear() => Self::Quotient {
                expr: expr.clone(),
                dataset: *dataset,
            },
            NumberRule::Computed(expr) => {
                let start = eval(expr, 0);
                Self::Computed {
                    start,
                    factor: eval(expr, 1).wrapping_sub(start),
                }
            }
            NumberRule::Drawn {
                range,
                distribution,
            } => {
                let (low, high) = (eval(&range.low, 0), eval(&range.high, 0));
                let count = high.abs_diff(low).saturating_add(1);
                if *distribution == Distribution::Uniform {
                    return Self::Uniform { low, count };
                }
                let sampler = Sampler::new(*distribution, count, 1, order);
                if Sampler::is_ordered(*distribution) {
                    Self::InOrder { low, sampler }
                } else {
                    Self::Drawn { low, sampler }
                }
            }
        }
    }

    /// The number of a row.
    #[inline]
    pub(super) fn make(&self, row: u64, random: &mut KeyedRandom) -> i64 {
        match self {
            Self::Quotient { expr, dataset } => dataset.eval(expr, row).unwrap_or_default(),
            Self::Computed { start, factor } => {
                start.wrapping_add(factor.wrapping_mul(row.cast_signed()))
            }
            Self::Uniform { low, count } => {
                low.wrapping_add(below(random.next(), *count).cast_signed())
            }
            Self::Drawn { low, sampler } => {
                // A stream of its own, because a draw may take any number of random numbers.
                let mut draws = Draws::new(random.next(), 0, 0);
                low.wrapping_add(sampler.sample(&mut draws, 0).cast_signed())
            }
            Self::InOrder { low, sampler } => low.wrapping_add(sampler.nth(row - 1).cast_signed()),
        }
    }
}
