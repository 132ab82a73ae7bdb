//! What a drawn value costs, by distribution: `cargo bench -p prony-load --bench values`.
#![expect(clippy::print_stdout, reason = "this is a program that prints a table")]

use std::hint::black_box;
use std::time::Instant;

use prony_load::{Draws, Sampler};
use prony_model::{Distribution, Hot, Thousandths};

/// Values of one round: few enough that some rounds are not disturbed by other processes. The
/// fastest counts.
const VALUES: u32 = 20_000;
const ROUNDS: usize = 500;

const RANGES: [u64; 3] = [1000, 10_000_000, (1 << 40) + 1];

fn zipfian(thousandths: u32, hot: Hot) -> Distribution {
    Distribution::Zipfian {
        exponent: Thousandths(thousandths),
        hot,
    }
}

fn main() {
    let pareto = Distribution::Pareto {
        h: Thousandths(200),
    };
    let special = Distribution::Special {
        hot_percent: 1,
        hot_share: 75,
    };
    println!("nanoseconds per value, by the number of values in the range");
    print!("{:24}", "");
    for range in RANGES {
        print!("{range:>16}");
    }
    println!();
    for (name, distribution) in [
        ("uniform", Distribution::Uniform),
        ("gaussian", Distribution::Gaussian),
        ("special", special),
        ("sequential", Distribution::Sequential),
        ("unique", Distribution::Unique),
        ("pareto", pareto),
        ("zipfian 0.5", zipfian(500, Hot::Adjacent)),
        ("zipfian 0.8", zipfian(800, Hot::Adjacent)),
        ("zipfian 0.8 scattered", zipfian(800, Hot::Scattered)),
        ("zipfian 1", zipfian(1000, Hot::Adjacent)),
        ("zipfian 1.5", zipfian(1500, Hot::Adjacent)),
    ] {
        print!("{name:24}");
        for range in RANGES {
            print!("{:>16.1}", nanoseconds(distribution, range));
        }
        println!();
    }
}

fn nanoseconds(distribution: Distribution, range: u64) -> f64 {
    let sampler = Sampler::new(distribution, range, 16, 1);
    let mut draws = Draws::new(1, 0, 1);
    let round = |_| {
        let begin = Instant::now();
        let mut sum = 0_u64;
        for _ in 0..VALUES {
            sum = sum.wrapping_add(black_box(&sampler).sample(&mut draws, 0));
        }
        black_box(sum);
        begin.elapsed().as_nanos() as f64 / f64::from(VALUES)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
