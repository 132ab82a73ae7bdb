//! Recording a latency in a dozen instructions.
//!
//! The buckets are those of an HDR histogram with three digits, described in the introduction of
//! <https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/AbstractHistogram.html>:
//! 2048 of width 1, and from there on 1024 for each doubling, each twice as wide as before. So
//! counts become a histogram without loss, and nothing but counting is done for an operation.

use crate::LoadError;
use crate::recorder::{LATENCY_NS_MAX, Latencies, new_latencies};

/// Bits of a number that are told apart: 2^11 is the lowest power of 2 that tells three digits.
const BITS: u32 = 11;
/// Buckets for each doubling.
const HALF: u64 = 1 << (BITS - 1);

/// Counts of latencies in nanoseconds, by bucket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counts(Vec<u64>);

impl Counts {
    pub(crate) fn new() -> Self {
        Self(vec![0; bucket(LATENCY_NS_MAX) + 1])
    }

    /// Counts a latency; a longer one than can be told counts as the longest.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        if let Some(count) = self.0.get_mut(bucket(ns.min(LATENCY_NS_MAX))) {
            *count += 1;
        }
    }

    /// Adds the counts of another.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, part) in self.0.iter_mut().zip(&other.0) {
            *sum += part;
        }
    }

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        self.0.fill(0);
    }

    /// The same as a histogram.
    pub(crate) fn histogram(&self) -> Result<Latencies, LoadError> {
        let mut latencies = new_latencies()?;
        for (index, count) in (0..).zip(&self.0) {
            if *count > 0 {
                latencies.saturating_record_n(lowest(index), *count);
            }
        }
        Ok(latencies)
    }
}

/// The index of a latency's bucket.
#[inline]
fn bucket(ns: u64) -> usize {
    let shift = (u64::BITS - BITS).saturating_sub(ns.leading_zeros());
    // Below 2^11 there is no doubling yet.
    (u64::from(shift) * HALF + (ns >> shift)) as usize
}

/// The lowest latency of a bucket.
const fn lowest(index: u64) -> u64 {
    let shift = (index / HALF).saturating_sub(1);
    (index - shift * HALF) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other() {
        for index in 1..=bucket(LATENCY_NS_MAX) {
            let low = lowest(index as u64);
            assert_eq!(bucket(low), index);
            assert_eq!(bucket(low - 1), index - 1);
        }
        assert_eq!(lowest(0), 0);
    }

    proptest! {
        // Each case makes two histograms of 264 KB.
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Counting and then making a histogram is recording in the histogram.
        #[test]
        fn as_the_histogram_does_it(
            values in proptest::collection::vec(
                prop_oneof![0..5000_u64, 0..LATENCY_NS_MAX, LATENCY_NS_MAX..=u64::MAX],
                0..60,
            ),
        ) {
            let mut counts = Counts::new();
            let mut latencies = new_latencies().unwrap();
            for value in values {
                counts.record(value);
                latencies.saturating_record(value);
            }
            let made = counts.histogram().unwrap();
            prop_assert_eq!(&made, &latencies);
            prop_assert_eq!((made.min(), made.max()), (latencies.min(), latencies.max()));
            counts.reset();
            prop_assert!(counts.histogram().unwrap().is_empty());
        }
    }
}
