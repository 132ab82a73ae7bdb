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

    /// As many looks as there are numbers of pairs, each weighted by its number of pairs, so that the last
    /// look keeps most. `None` if there are none, if they do not ascend, or if one is 0.
    pub fn at(pairs: &[u32]) -> Option<Self> {
        if pairs.first() == Some(&0) {
            return None;
        }
        let ascends = pairs.windows(2).all(|two| two[0] < two[1]);
        let all: f64 = pairs.iter().copied().map(f64::from).sum();
        let weights = pairs.iter().map(|&pairs| f64::from(pairs) / all).collect();
        (ascends && all > 0.0).then_some(Self { weights })
    }

    /// The level of an interval at look `look`, from 0, where all of them together have the level
    /// `level`, in (0, 1). `None` if no such look is planned.
    pub fn level(&self, look: usize, level: f64) -> Option<f64> {
        if !(level > 0.0 && level < 1.0) {
            return None;
        }
        Some(1.0 - (1.0 - level) * self.weights.get(look)?)
    }

    /// The p-value of all looks so far, from their own in order: the least pₖ ÷ wₖ, at most 1. `None` where
    /// there is no look, one that is not planned, or a p-value outside [0, 1].
    ///
    /// If it is α at most, an interval of the looks so far at their levels leaves out what was
    /// tested, and the reverse.
    pub fn p_value(&self, of_looks: &[f64]) -> Option<f64> {
        let is_probability = |p: &f64| (0.0..=1.0).contains(p);
        let is_planned = (1..=self.weights.len()).contains(&of_looks.len());
        if !(is_planned && of_looks.iter().all(is_probability)) {
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
    use crate::LogRatio;

    #[test]
    fn one_look_spends_everything() {
        let one = Looks::one();
        assert!((one.level(0, 0.95).unwrap() - 0.95).abs() < 1e-12);
        assert_eq!(one.level(1, 0.95), None);
        assert_eq!(one.p_value(&[0.03]), Some(0.03));
    }

    #[test]
    fn looks_share_the_error_by_pairs() {
        let looks = Looks::at(&[6, 10, 15, 20]).unwrap();
        let spent: f64 = (0..4)
            .map(|look| 1.0 - looks.level(look, 0.95).unwrap())
            .sum();
        assert!((spent - 0.05).abs() < 1e-12);
        let first = 1.0 - 0.05 * 6.0 / 51.0;
        assert!((looks.level(0, 0.95).unwrap() - first).abs() < 1e-12);
        let p = looks.p_value(&[0.01, 0.001]).unwrap();
        assert!((p - 0.001 * 51.0 / 10.0).abs() < 1e-12);
        assert_eq!(looks.p_value(&[0.9]), Some(1.0));
    }

    #[test]
    fn impossible_looks_are_none() {
        for pairs in [&[][..], &[0, 5], &[5, 5], &[10, 5]] {
            assert_eq!(Looks::at(pairs), None);
        }
        let looks = Looks::at(&[5, 10]).unwrap();
        for of_looks in [&[][..], &[0.1, 0.1, 0.1], &[f64::NAN], &[1.5]] {
            assert_eq!(looks.p_value(of_looks), None);
        }
        assert_eq!(looks.level(0, 1.0), None);
    }

    #[test]
    fn p_value_and_interval_agree() {
        let looks = Looks::at(&[6, 10]).unwrap();
        for shift in [0.0, 0.01, 0.02, 0.03, 0.04] {
            let log = LogRatio::of(&[0.03, -0.03, 0.02, -0.02, 0.04, -0.01].map(|x| x + shift));
            let log = log.unwrap();
            let p = looks.p_value(&[log.p_value().unwrap()]).unwrap();
            let interval = log.interval(looks.level(0, 0.95).unwrap()).unwrap();
            assert_eq!(p < 0.05, interval.low > 1.0, "{shift}: {p}");
        }
    }
}
