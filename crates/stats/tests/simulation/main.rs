//! Error rates of the methods on simulated measurements whose truth is known.
//!
//! Every test has a fixed seed, so that it gives the same figures on every machine. The bounds of an
//! error rate of 5 % are 3 % and 7 %: four standard errors of 2,000 simulations either way.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod families;
mod hosts;
mod intervals;
mod noise;
mod stopping;
mod unpaired;

/// Prints a figure for people who read the test's output.
fn show(name: &str, figure: f64) {
    println!("{name}: {:.2} %", figure * 100.0);
}

/// Checks that a share is in a range.
fn assert_within(name: &str, share: f64, range: std::ops::RangeInclusive<f64>) {
    show(name, share);
    assert!(
        range.contains(&share),
        "{name}: {share} is not in {range:?}"
    );
}
