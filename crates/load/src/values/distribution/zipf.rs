//! Ranks by Zipf's law, by rejection-inversion (Hörmann and Derflinger: Rejection-inversion to
//! generate variates from monotone discrete distributions, 1996). No table, whatever the range.
//!
//! The density r^-exponent is continued to all x from 0.5 to count + 0.5. A point under that curve
//! is drawn by inverting the integral, and x is rounded to its rank. As the curve is convex, this
//! gives a rank a little more than its share; the surplus is rejected.

use crate::values::distribution::floor;
use crate::values::draws::Draws;

/// Ranks `1..=count` with probabilities proportional to rank^-exponent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zipf {
    count: u64,
    exponent: f64,
    /// 1 - exponent.
    rest: f64,
    /// The integral at the upper end.
    high: f64,
    /// From there to the lower end, at which the first rank has just its share: negative.
    span: f64,
    /// A point that is no further than this below its rank is never rejected.
    safe: f64,
}

impl Zipf {
    /// Ranks `1..=count`, `count` being 1 or more; the exponent is 0 or more.
    pub(super) fn new(exponent: f64, count: u64) -> Self {
        let mut zipf = Self {
            count,
            exponent,
            rest: 1.0 - exponent,
            high: 0.0,
            span: 0.0,
            safe: 0.0,
        };
        zipf.high = zipf.integral(count as f64 + 0.5);
        zipf.span = zipf.integral(1.5) - 1.0 - zipf.high;
        zipf.safe = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// Draws a rank, counted from 0.
    #[inline]
    pub(super) fn rank(&self, draws: &mut Draws) -> u64 {
        loop {
            let area = self.high + draws.unit() * self.span;
            let x = self.inverse(area);
            let rank = floor(x + 0.5).clamp(1, self.count);
            let at = rank as f64;
            if at - x <= self.safe || area >= self.integral(at + 0.5) - self.density(at) {
                return rank - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of the density from 1 to x: (x^rest - 1) ÷ rest, whose limit is ln x where the
    /// exponent is 1.
    fn integral(&self, x: f64) -> f64 {
        if self.rest == 0.0 {
            x.ln()
        } else {
            (self.rest * x.ln()).exp_m1() / self.rest
        }
    }

    /// The x with this integral.
    fn inverse(&self, area: f64) -> f64 {
        if self.rest == 0.0 {
            area.exp()
        } else {
            // Rounding must not lead below what the logarithm is defined for.
            ((self.rest * area).max(-1.0).ln_1p() / self.rest).exp()
        }
    }
}
