//! Simulated measurements: log y = target + block + place in time + start + windows within the start.

use prony_stats::LogRatio;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random numbers of one simulation.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Evenly distributed in (0, 1).
    pub(crate) fn even(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Normally distributed with mean 0 and deviation 1 (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.even().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.even()).cos()
    }

    /// The numbers below `n` in random order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut keys: Vec<(f64, usize)> = (0..n).map(|i| (self.even(), i)).collect();
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        keys.into_iter().map(|(_, i)| i).collect()
    }
}

/// Sizes of the parts of the noise, as standard deviations of logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// Of a block's level, which all its trials share.
    pub(crate) block: f64,
    /// Drift of the level from the first to the last trial.
    pub(crate) drift: f64,
    /// Of a start.
    pub(crate) start: f64,
    /// Probability of the second placement, and the logarithm of its rate to that of the first.
    pub(crate) mode: (f64, f64),
    /// Of a window within a start.
    pub(crate) window: f64,
    /// Correlation of a window with the one before.
    pub(crate) correlation: f64,
}

/// Windows of a start.
const WINDOWS: usize = 10;

impl Noise {
    /// Blocks differ by 1 %, the host drifts by 3 %, starts by 0.5 %, windows by 0.3 % with a correlation
    /// of 0.7.
    pub(crate) const DRIFTING: Self = Self {
        block: 0.01,
        drift: 0.03,
        start: 0.005,
        mode: (0.0, 0.0),
        window: 0.003,
        correlation: 0.7,
    };
    /// In addition, each start gets one of two equally likely placements that differ by 4 %.
    pub(crate) const BIMODAL: Self = Self {
        mode: (0.5, -0.04),
        ..Self::DRIFTING
    };
    /// In addition, a tenth of the starts gets a placement that is 8 % slower.
    pub(crate) const RARE_MODE: Self = Self {
        mode: (0.1, -0.08),
        ..Self::DRIFTING
    };

    /// Logarithm of the mean over a start's windows, without block and drift.
    pub(crate) fn start(&self, random: &mut Random) -> f64 {
        let start = self.level(random);
        self.windows(start, random).iter().sum::<f64>() / WINDOWS as f64
    }

    fn level(&self, random: &mut Random) -> f64 {
        let (probability, shift) = self.mode;
        let mode = if random.even() < probability {
            shift
        } else {
            0.0
        };
        self.start.mul_add(random.normal(), mode)
    }

    fn windows(&self, start: f64, random: &mut Random) -> Vec<f64> {
        let rest = (1.0 - self.correlation * self.correlation).sqrt();
        let mut deviation = random.normal();
        let mut window = || {
            deviation = self.correlation.mul_add(deviation, rest * random.normal());
            self.window.mul_add(deviation, start)
        };
        (0..WINDOWS).map(|_| window()).collect()
    }

    /// Values of the windows of independent starts, rows × windows, about a logarithm of 0.
    pub(crate) fn starts(&self, n: usize, random: &mut Random) -> Vec<Vec<f64>> {
        let start = |_| {
            let level = self.level(random);
            self.windows(level, random)
                .iter()
                .map(|log| log.exp())
                .collect()
        };
        (0..n).map(start).collect()
    }

    /// Logarithms of values, blocks × targets, where every block has every target once in random order.
    pub(crate) fn blocks(
        &self,
        blocks: usize,
        sizes: &[f64],
        random: &mut Random,
    ) -> Vec<Vec<f64>> {
        let trials = (blocks * sizes.len()) as f64;
        let block = |block: usize| {
            let level = self.block * random.normal();
            let mut row = vec![0.0; sizes.len()];
            for (place, target) in random.order(sizes.len()).into_iter().enumerate() {
                let time = (block * sizes.len() + place) as f64 / trials;
                row[target] = sizes[target] + level + self.drift * time + self.start(random);
            }
            row
        };
        (0..blocks).map(block).collect()
    }

    /// Logarithms of the ratio of a target to its base, block by block, where the true one is `size`.
    pub(crate) fn pairs(&self, blocks: usize, size: f64, random: &mut Random) -> Vec<f64> {
        let rows = self.blocks(blocks, &[0.0, size], random);
        rows.iter().map(|row| row[1] - row[0]).collect()
    }

    /// The same as a ratio.
    pub(crate) fn ratio(&self, blocks: usize, size: f64, random: &mut Random) -> LogRatio {
        LogRatio::of(&self.pairs(blocks, size, random)).unwrap()
    }
}

/// Share of `simulations` in which something happens.
pub(crate) fn share(simulations: u32, mut happens: impl FnMut() -> bool) -> f64 {
    let times = (0..simulations).filter(|_| happens()).count();
    times as f64 / f64::from(simulations)
}
