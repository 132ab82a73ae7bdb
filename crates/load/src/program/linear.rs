//! Expressions, reduced to what is left to compute for each statement.

use prony_model::{Expr, ExprError};

/// `constant + Σ coefficient · value`, over the integers drawn for a statement, each in its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linear {
    constant: i64,
    /// Slot of the value and its coefficient, each slot once.
    terms: Vec<(usize, i64)>,
}

/// The least and the greatest value of something, wide enough for any sum of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: i128,
    pub(crate) max: i128,
}

impl Bounds {
    /// Returns `true` if every value fits 32 bits with a sign.
    pub(crate) fn fit_i32(self) -> bool {
        i32::try_from(self.min).is_ok() && i32::try_from(self.max).is_ok()
    }

    /// Returns `true` if every value fits 64 bits with a sign.
    pub(crate) fn fit_i64(self) -> bool {
        i64::try_from(self.min).is_ok() && i64::try_from(self.max).is_ok()
    }
}

impl Linear {
    /// Reduces `expr`, whose names are known numbers or drawn values, each with its slot. It is
    /// [linear](Expr::nonlinear) in these.
    ///
    /// # Errors
    /// When a name is neither, or the known part does not fit 64 bits.
    pub(crate) fn new(
        expr: &Expr,
        known: &impl Fn(&str) -> Option<i64>,
        slot: &impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, ExprError> {
        // A sum is decided by its value with everything drawn 0, and by how much it grows when
        // one drawn value grows by 1.
        let eval = |one: Option<usize>| {
            expr.eval(&|name: &str| {
                known(name).or_else(|| slot(name).map(|slot| i64::from(one == Some(slot))))
            })
        };
        let constant = eval(None)?;
        let mut terms: Vec<(usize, i64)> = Vec::new();
        for name in expr.names().filter(|name| known(name).is_none()) {
            let Some(slot) = slot(name) else { continue };
            if terms.iter().any(|(other, _)| *other == slot) {
                continue;
            }
            let coefficient = eval(Some(slot))?
                .checked_sub(constant)
                .ok_or_else(|| ExprError::Overflow(expr.to_string()))?;
            terms.push((slot, coefficient));
        }
        terms.retain(|(_, coefficient)| *coefficient != 0);
        Ok(Self { constant, terms })
    }

    /// The value, where it is the same whatever is drawn.
    pub(crate) fn constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns `true` if it changes with the value in this slot.
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.terms.iter().any(|(other, _)| *other == slot)
    }

    /// The number of values from `low` to `high`, as a sum of its own: their common parts cancel.
    pub(crate) fn count(low: &Self, high: &Self) -> Option<Self> {
        let mut terms = high.terms.clone();
        for &(index, coefficient) in &low.terms {
            match terms.iter_mut().find(|(other, _)| *other == index) {
                Some((_, sum)) => *sum -= coefficient,
                None => terms.push((index, -coefficient)),
            }
        }
        terms.retain(|(_, coefficient)| *coefficient != 0);
        let constant = high.constant.checked_sub(low.constant)?.checked_add(1)?;
        Some(Self { constant, terms })
    }

    /// The value for these drawn values. Compiling has made sure that it fits.
    pub(crate) fn eval(&self, drawn: &[i64]) -> i64 {
        self.terms
            .iter()
            .fold(self.constant, |sum, &(index, coefficient)| {
                sum.wrapping_add(coefficient.wrapping_mul(drawn[index]))
            })
    }

    /// The least and the greatest value, when each drawn value has these bounds of its own.
    pub(crate) fn bounds(&self, drawn: &[Bounds]) -> Bounds {
        let start = Bounds {
            min: i128::from(self.constant),
            max: i128::from(self.constant),
        };
        self.terms.iter().fold(start, |sum, &(index, coefficient)| {
            let a = i128::from(coefficient) * drawn[index].min;
            let b = i128::from(coefficient) * drawn[index].max;
            Bounds {
                min: sum.min + a.min(b),
                max: sum.max + a.max(b),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(text: &str) -> Result<Linear, ExprError> {
        let known = |name: &str| match name {
            "rows" => Some(1000),
            "range" => Some(100),
            _ => None,
        };
        let slot = |name: &str| ["low", "k"].iter().position(|other| *other == name);
        Linear::new(&text.parse().unwrap(), &known, &slot)
    }

    #[test]
    fn reduces_and_computes() {
        let high = linear("low + range - 1").unwrap();
        assert_eq!(high.eval(&[5, 0]), 104);
        assert_eq!(linear("low - k + low").unwrap().eval(&[5, 3]), 7);
        assert_eq!(linear("rows - range").unwrap().constant(), Some(900));
        assert_eq!(linear("low - low + 1").unwrap().constant(), Some(1));
        assert_eq!(linear("rows / 2 + 3 * low").unwrap().eval(&[5, 0]), 515);
        assert_eq!(linear("low").unwrap().constant(), None);
        assert_eq!(
            linear("low + nothing"),
            Err(ExprError::Undefined("nothing".into()))
        );
    }

    #[test]
    fn bounds_and_counts() {
        let drawn = [Bounds { min: 1, max: 901 }, Bounds { min: -2, max: 3 }];
        let bounds = linear("low - k + 1").unwrap().bounds(&drawn);
        assert_eq!(bounds, Bounds { min: -1, max: 904 });
        // 100 values, whatever low is.
        let count = Linear::count(&linear("low").unwrap(), &linear("low + range - 1").unwrap());
        assert_eq!(count.unwrap().bounds(&drawn), Bounds { min: 100, max: 100 });
    }
}
