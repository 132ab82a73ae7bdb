//! Histograms of times as lists of the buckets that have counts.
//!
//! The `hdrhistogram` crate makes an array of 200 KB for each histogram and goes through it for each
//! percentile, of which a report of a large run asks tens of thousands. The walk here reads the same
//! bytes and keeps only what they name. Whatever it does not know, the crate decodes, which is the
//! reference: a test compares the figures.

use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// Number of bytes that a decoded histogram may have here; longer ones are left to the crate.
const PAYLOAD_MAX: usize = 1 << 18;
/// Bytes before the counts.
const HEADER: usize = 40;
const COOKIE_COMPRESSED: u32 = 0x1c84_9314;
const COOKIE: u32 = 0x1c84_9313;
/// Buckets of one value each, with three significant digits: the least power of two from 2,000 on.
const SINGLE: u64 = 2_048;
/// log₂ of half of them: the number of buckets in each later power of two.
const HALF_BITS: u32 = 10;
/// The buckets of a histogram in nanoseconds that have counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SparseHistogram {
    /// Ascending.
    buckets: Vec<Bucket>,
}

/// Equivalent values, and how often they were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    lowest: u64,
    /// Number of values, a power of two.
    width: u64,
    /// Sum of the counts up to this bucket, its own included.
    up_to: u64,
}

/// Decodes histograms as the load generator writes them, and keeps its memory for the next one.
#[derive(Debug)]
pub(crate) struct HistogramDecoder {
    inflate: Decompress,
    payload: Vec<u8>,
    decoded: SparseHistogram,
}

impl SparseHistogram {
    /// Number of recorded times.
    pub(crate) fn len(&self) -> u64 {
        self.buckets.last().map_or(0, |bucket| bucket.up_to)
    }

    /// The mean, each time in the middle of its bucket; 0 without times.
    pub(crate) fn mean(&self) -> f64 {
        let total = self.len() as f64;
        let mut before = 0;
        self.buckets.iter().fold(0.0, |sum, bucket| {
            let count = bucket.up_to - before;
            before = bucket.up_to;
            let middle = bucket.lowest + (bucket.width >> 1);
            sum + middle as f64 * count as f64 / total
        })
    }

    /// The greatest value of the bucket below which, itself included, this share in [0, 1] of the
    /// times are; 0 without times.
    pub(crate) fn value_at_quantile(&self, quantile: f64) -> u64 {
        let wanted = (quantile * self.len() as f64).ceil().max(1.0);
        let place = self
            .buckets
            .partition_point(|bucket| (bucket.up_to as f64) < wanted);
        self.buckets.get(place).map_or(0, Bucket::highest)
    }

    /// The greatest value of the last bucket; 0 without times.
    pub(crate) fn max(&self) -> u64 {
        self.buckets.last().map_or(0, Bucket::highest)
    }

    fn push(&mut self, lowest: u64, width: u64, count: u64) -> Option<()> {
        let up_to = self.len().checked_add(count)?;
        self.buckets.push(Bucket {
            lowest,
            width,
            up_to,
        });
        Some(())
    }
}

impl Bucket {
    const fn highest(&self) -> u64 {
        self.lowest.saturating_add(self.width) - 1
    }
}

impl HistogramDecoder {
    pub(crate) fn new() -> Self {
        Self {
            inflate: Decompress::new(true),
            payload: Vec::with_capacity(PAYLOAD_MAX),
            decoded: SparseHistogram::default(),
        }
    }

    /// Decodes one histogram.
    ///
    /// # Errors
    /// When the bytes are no histogram, with the complaint of the crate's decoder.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<&SparseHistogram, String> {
        if self.decode_common(bytes).is_none() {
            self.decoded = by_crate(bytes)?;
        }
        Ok(&self.decoded)
    }

    /// Decodes what the load generator writes; `None` for all else.
    fn decode_common(&mut self, bytes: &[u8]) -> Option<&SparseHistogram> {
        if number(bytes, 0)? != COOKIE_COMPRESSED {
            return None;
        }
        let deflated = bytes.get(8..)?.get(..number(bytes, 4)? as usize)?;
        self.inflate.reset(true);
        self.payload.clear();
        let whole = FlushDecompress::Finish;
        let inflated = self
            .inflate
            .decompress_vec(deflated, &mut self.payload, whole);
        if !matches!(inflated, Ok(Status::StreamEnd)) {
            return None;
        }
        let (header, counts) = self.payload.split_at_checked(HEADER)?;
        let counts = counts.get(..number(header, 4)? as usize)?;
        let long =
            |at| Some(u64::from(number(header, at)?) << 32 | u64::from(number(header, at + 4)?));
        let (lowest, highest, ratio) = (long(16)?, long(24)?, f64::from_bits(long(32)?));
        let is_common = number(header, 0)? == COOKIE
            && (number(header, 8)?, number(header, 12)?, lowest) == (0, 3, 1)
            && ratio.to_bits() == 1.0_f64.to_bits();
        if !is_common {
            return None;
        }
        self.decoded.buckets.clear();
        read_buckets(counts, highest, &mut self.decoded.buckets)?;
        Some(&self.decoded)
    }
}

/// Reads the buckets of encoded counts: a positive number is the count of the next bucket, a negative one
/// a number of empty buckets. `None` where that is no such list.
fn read_buckets(mut counts: &[u8], highest: u64, buckets: &mut Vec<Bucket>) -> Option<()> {
    buckets.reserve(counts.len());
    let end = end_place(highest);
    let (mut place, mut up_to) = (0_u64, 0_u64);
    while let [first, rest @ ..] = counts {
        // Most take one byte.
        let encoded = if *first < 0x80 {
            counts = rest;
            u64::from(*first)
        } else {
            varint(&mut counts)?
        };
        // Numbers without sign are even, those below 0 are odd.
        let (half, is_negative) = (encoded >> 1, encoded & 1 == 1);
        if is_negative {
            place = place.checked_add(half + 1)?;
            continue;
        }
        if half > 0 {
            if place >= end {
                return None;
            }
            let (lowest, width) = bucket(place);
            up_to = up_to.checked_add(half)?;
            buckets.push(Bucket {
                lowest,
                width,
                up_to,
            });
        }
        place += 1;
    }
    Some(())
}

/// The place after the last bucket: buckets reach to the power of two above the highest value that was
/// asked for.
fn end_place(highest: u64) -> u64 {
    let bits = u64::BITS - highest.max(SINGLE - 1).leading_zeros();
    u64::from(bits - HALF_BITS + 1) << HALF_BITS
}

/// The lowest value of the bucket at a place, and its number of values.
const fn bucket(place: u64) -> (u64, u64) {
    let power = (place >> HALF_BITS).saturating_sub(1);
    ((place - (power << HALF_BITS)) << power, 1 << power)
}

/// A number of up to 9 bytes, the last of which is whole: LEB128-64b9B.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..56).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(value | u64::from(byte) << 56)
}

/// Four bytes, the most significant first.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// The buckets as the crate decodes them.
fn by_crate(mut bytes: &[u8]) -> Result<SparseHistogram, String> {
    let decoded: Result<Histogram<u64>, _> = Deserializer::new().deserialize(&mut bytes);
    let histogram = decoded.map_err(|error| error.to_string())?;
    let mut sparse = SparseHistogram::default();
    for recorded in histogram.iter_recorded() {
        let value = recorded.value_iterated_to();
        let (lowest, width) = (
            histogram.lowest_equivalent(value),
            histogram.equivalent_range(value),
        );
        let pushed = sparse.push(lowest, width, recorded.count_at_value());
        pushed.ok_or("its counts exceed 64 bits")?;
    }
    Ok(sparse)
}

#[cfg(test)]
mod tests {
    use prony_testkit as testkit;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn assert_as_crate(bytes: &[u8], histogram: &Histogram<u64>) {
        let mut decoder = HistogramDecoder::new();
        let _warm = decoder.decode(&testkit::histogram(&[(5, 1)]));
        let sparse = decoder.decode_common(bytes).unwrap();
        assert_eq!(*sparse, by_crate(bytes).unwrap());
        assert_eq!(
            (sparse.len(), sparse.max()),
            (histogram.len(), histogram.max())
        );
        assert_eq!(sparse.mean().to_bits(), histogram.mean().to_bits());
        for quantile in [0.0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            if quantile > 0.0 {
                let expected = histogram.value_at_quantile(quantile);
                assert_eq!(sparse.value_at_quantile(quantile), expected, "{quantile}");
            }
        }
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_crate(
            times in vec((0..60_u32, any::<u64>(), 0..40_u32), 0..200)
        ) {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            for (bits, value, count_bits) in times {
                let value = value & ((1 << bits) - 1);
                histogram.record_n(value, 1 << count_bits).unwrap();
            }
            assert_as_crate(&testkit::encoded(&histogram), &histogram);
        }

        #[test]
        fn damaged_bytes_are_judged_as_by_the_crate(
            place in 100..400_usize, byte in any::<u8>(), length in 0..400_usize
        ) {
            let times: Vec<(u64, u64)> = (0..300).map(|i| (i * i * 10, i)).collect();
            let mut bytes = testkit::histogram(&times);
            let length = bytes.len() - length.min(bytes.len());
            bytes.truncate(length.max(1));
            if let Some(damaged) = bytes.get_mut(place) {
                *damaged = byte;
            }
            let mut decoder = HistogramDecoder::new();
            prop_assert_eq!(decoder.decode(&bytes).cloned(), by_crate(&bytes));
        }
    }

    #[test]
    fn other_digits_are_left_to_the_crate() {
        let mut histogram = Histogram::<u64>::new_with_bounds(8, 1 << 40, 2).unwrap();
        histogram.record_n(12_345, 7).unwrap();
        let bytes = testkit::encoded(&histogram);
        let mut decoder = HistogramDecoder::new();
        assert_eq!(decoder.decode_common(&bytes), None);
        let sparse = decoder.decode(&bytes).unwrap();
        assert_eq!(
            sparse.value_at_quantile(0.5),
            histogram.value_at_quantile(0.5)
        );
        assert_eq!((sparse.len(), sparse.max()), (7, histogram.max()));
    }

    #[test]
    fn bytes_that_are_no_histogram_have_a_reason() {
        let mut decoder = HistogramDecoder::new();
        assert!(!decoder.decode(b"no histogram").unwrap_err().is_empty());
    }
}
