//! The statistics of verdicts on simulated runs: how often they are wrong where the truth is known.
//!
//! Seeds are fixed, so that a test passes always or never.

#[cfg(test)]
mod noise;
#[cfg(test)]
mod verdicts;
