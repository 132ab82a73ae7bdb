//! Distributions of drawn numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// The likelihood of each whole number of a range to be drawn. The definitions are in
/// `docs/formats/workload.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Every value equally likely.
    Uniform,
    /// The value of rank r with a probability proportional to r^-exponent, ranks from 1.
    Zipfian {
        /// 0 or more; 0 is uniform.
        exponent: Thousandths,
        /// The place of the frequent values.
        hot: Hot,
    },
    /// Low values more likely: `low + floor(count · u^(ln h ÷ ln(1 - h)))` for u uniform in
    /// `[0, 1)`, so that a share of 1 - h of the draws falls into the first share h of the range.
    Pareto {
        /// Between 0 and 1, both excluded.
        h: Thousandths,
    },
    /// The mean of twelve uniform numbers: nearly a bell around the middle, whose standard
    /// deviation is a twelfth of the range.
    Gaussian,
    /// The "special" distribution of sysbench 1.0: a share of the draws uniform in a small window
    /// in the middle of the range, the others as [`Distribution::Gaussian`].
    Special {
        /// Width of the window in percent of the range, 1 to 100.
        hot_percent: u32,
        /// Percent of the draws that fall into it, 0 to 100.
        hot_share: u32,
    },
    /// One value after the other, from the lowest to the highest and again. Every client counts
    /// for itself.
    Sequential,
    /// Every value once, in random order, over all clients together; then all of them again.
    Unique,
}

words! {
    /// The place of the frequent values of a skewed distribution.
    pub enum Hot {
        /// Side by side at the low end of the range, as in sysbench.
        Adjacent = "adjacent",
        /// All over the range.
        Scattered = "scattered",
        /// Side by side at the high end of the range: the newest of growing keys.
        Highest = "highest",
    }
}

/// A number with three decimals, so that it can be compared and hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Thousandths(pub u32);

impl Thousandths {
    /// The number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}
