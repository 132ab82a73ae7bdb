//! Several looks at data that grow, planned beforehand.

/// The looks that are planned, by the share of the error that each may spend.
///
/// Repeated intervals (Jennison and Turnbull, Interim analyses: the repeated confidence interval
/// approach, Journal of the Royal Statistical Society B 51, 1989): look k has an interval of level
/// 1 − α wₖ, where the weights add to 1. By the union bound all intervals hold together with a
/// probability of 1 − α at least, whatever decides when to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    weights: Vec<f64>,
}

impl Looks {
    /// One look, which may spend everything: no look before the end is planned.
    pub fn one() -> Self {
        Self { weights: vec![1.0] }
    }

    /// As many looks as there are numbers of pairs, each weighted by its number of pairs. `None` if there are
    /// none, or they do not ascend.
    pub fn at(pairs: &[u32]) -> Option<Self> {
        let ascends = pairs.windows(2).all(|two| two[0] < two[1]);
        let all: f64 = pairs.iter().copied().map(f64::from).sum();
        let weights = pairs.iter().map(|&pairs| f64::from(pairs) / all).collect();
        (ascends && all > 0.0).then_some(Self { weights })
    }

    /// The level of an interval at look `look`, from 0, where all of them together have the level
    /// `level`. `None` if no such look is planned.
    pub fn level(&self, look: usize, level: f64) -> Option<f64> {
        Some(1.0 - (1.0 - level) * self.weights.get(look)?)
    }

    /// The p-value of all looks so far, from their own in order: the least pₖ ÷ wₖ, at most 1. `None` where
    /// there is no look, or one that is not planned.
    pub fn p_value(&self, of_looks: &[f64]) -> Option<f64> {
        if of_looks.is_empty() || of_looks.len() > self.weights.len() {
            return None;
        }
        let weighted = of_looks
            .iter()
            .zip(&self.weights)
            .map(|(p, weight)| p / weight);
        Some(weighted.fold(1.0, f64::min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_spends_everything() {
        let one = Looks::one();
        assert!((one.level(0, 0.95).unwrap() - 0.95).abs() < 1e-12);
        assert_eq!(one.level(1, 0.95), None);
        assert_eq!(one.p_value(&[0.03]), Some(0.03));
    }

    #[test]
    fn later_looks_may_spend_more() {
        let looks = Looks::at(&[5, 15]).unwrap();
        // 5 % are divided 1 : 3.
        assert!((looks.level(0, 0.95).unwrap() - 0.9875).abs() < 1e-12);
        assert!((looks.level(1, 0.95).unwrap() - 0.9625).abs() < 1e-12);
        assert!((looks.p_value(&[0.02]).unwrap() - 0.08).abs() < 1e-12);
        assert!((looks.p_value(&[0.02, 0.03]).unwrap() - 0.04).abs() < 1e-12);
        assert_eq!(looks.p_value(&[0.9]), Some(1.0));
        assert_eq!((looks.p_value(&[]), looks.p_value(&[0.1; 3])), (None, None));
    }

    #[test]
    fn looks_ascend() {
        assert_eq!((Looks::at(&[]), Looks::at(&[0])), (None, None));
        assert_eq!((Looks::at(&[8, 5]), Looks::at(&[5, 5])), (None, None));
    }
}
