//! Simulated trials: what makes real ones differ from each other.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

/// Windows of a step.
const WINDOWS: usize = 4;

/// The spread of trials, as standard deviations of logarithms.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    /// Of a block's own speed: a walk that both sides share.
    pub(crate) block: f64,
    /// Change of the host's speed from one trial to the next, always in the same direction.
    pub(crate) drift: f64,
    /// Of a start of a server.
    pub(crate) start: f64,
    /// Distance of two modes that a start falls into, each as often.
    pub(crate) modes: f64,
    /// Of a window within a step.
    pub(crate) window: f64,
    /// Correlation of neighbouring windows.
    pub(crate) correlation: f64,
}

/// A host with everything at once.
pub(crate) const SHARED_HOST: Noise = Noise {
    block: 0.03,
    drift: 0.002,
    start: 0.01,
    modes: 0.0,
    window: 0.02,
    correlation: 0.6,
};

/// The same where every start falls into one of two modes, as with memory layouts or placement.
pub(crate) const TWO_MODES: Noise = Noise {
    modes: 0.04,
    ..SHARED_HOST
};

/// Where one source decides everything.
pub(crate) const MODES_ONLY: Noise = Noise {
    block: 0.0,
    drift: 0.0,
    start: 0.004,
    modes: 0.06,
    window: 0.002,
    correlation: 0.0,
};

/// A source of simulated trials.
pub(crate) struct Simulation {
    generator: Xoshiro256PlusPlus,
    normal: Normal,
}

impl Simulation {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            normal: Normal::standard(),
        }
    }

    /// Logarithm of the figure of one trial, without what its block and its time do.
    fn trial(&mut self, noise: &Noise) -> f64 {
        let mode = if self.generator.next_u64() >> 63 == 0 {
            0.0
        } else {
            noise.modes
        };
        let start = noise.start * self.draw();
        let mut window = noise.window * self.draw();
        let mut sum = window;
        for _ in 1..WINDOWS {
            let rest = (1.0 - noise.correlation.powi(2)).sqrt() * noise.window;
            window = noise.correlation * window + rest * self.draw();
            sum += window;
        }
        mode + start + sum / WINDOWS as f64
    }

    /// Logarithms of the figures of `targets` targets in each of `blocks` blocks, whose true
    /// logarithms are `truth`. The order of a block is the mirror image of that of the last one.
    pub(crate) fn run(&mut self, noise: &Noise, truth: &[f64], blocks: usize) -> Vec<Vec<f64>> {
        let targets = truth.len();
        let mut speed = 0.0;
        let of_block = |block: usize, this: &mut Self| {
            speed += noise.block * this.draw();
            let figure = |target: usize, this: &mut Self| {
                let place = if block.is_multiple_of(2) {
                    target
                } else {
                    targets - 1 - target
                };
                let time = (block * targets + place) as f64;
                truth[target] + speed + noise.drift * time + this.trial(noise)
            };
            (0..targets).map(|target| figure(target, this)).collect()
        };
        let mut of_block = of_block;
        (0..blocks).map(|block| of_block(block, self)).collect()
    }

    /// Logarithms of the ratio of two targets, the truth of which is `truth`, in each block.
    pub(crate) fn pairs(&mut self, noise: &Noise, truth: f64, blocks: usize) -> Vec<f64> {
        let run = self.run(noise, &[0.0, truth], blocks);
        run.iter().map(|block| block[1] - block[0]).collect()
    }

    /// A number of the standard normal distribution.
    fn draw(&mut self) -> f64 {
        let uniform = (self.generator.next_u64() >> 11) as f64 + 0.5;
        self.normal.inverse_cdf(uniform / (1_u64 << 53) as f64)
    }
}
