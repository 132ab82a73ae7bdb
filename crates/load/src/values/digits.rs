//! Decimal digits, fast: numbers as text, and texts of random digits.

use std::ops::Range;

/// Digits that one random number of 64 bits yields. The likeliest block of so many is more likely
/// than the rarest by 1 in 1,800.
const BLOCK: usize = 16;
const TEN_TO_8: u64 = 100_000_000;
const TEN_TO_16: u64 = TEN_TO_8 * TEN_TO_8;

/// The eight digits of a number below 10^8, zeros in front included.
///
/// Divides by 10,000, 100 and 10 in lanes of one 64-bit number; each multiplication followed by a
/// shift is that division, exact in the range of its lane.
const fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

fn sixteen_digits(number: u64) -> [u8; BLOCK] {
    let mut digits = [0; BLOCK];
    let (front, back) = digits.split_at_mut(8);
    front.copy_from_slice(&eight_digits(number / TEN_TO_8));
    back.copy_from_slice(&eight_digits(number % TEN_TO_8));
    digits
}

/// Appends a number as SQL writes it.
pub(crate) fn append_integer(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    append_natural(out, number.unsigned_abs());
}

/// Appends a natural number.
pub(crate) fn append_natural(out: &mut Vec<u8>, number: u64) {
    if number >= TEN_TO_16 {
        append_natural(out, number / TEN_TO_16);
        out.extend_from_slice(&sixteen_digits(number % TEN_TO_16));
        return;
    }
    if number >= TEN_TO_8 {
        append_natural(out, number / TEN_TO_8);
        out.extend_from_slice(&eight_digits(number % TEN_TO_8));
        return;
    }
    let digits = eight_digits(number);
    let first = digits[..7]
        .iter()
        .take_while(|digit| **digit == b'0')
        .count();
    out.extend_from_slice(&digits[first..]);
}

/// A text in which some bytes are random digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DigitPattern {
    text: Vec<u8>,
    runs: Vec<Range<usize>>,
}

impl DigitPattern {
    /// Takes every `#` of `text` for a digit.
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'#') {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
        Self {
            text: text.to_vec(),
            runs,
        }
    }

    /// The text as given, which [`fill`](Self::fill) completes in a copy.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Puts digits into `text`, which is as long as the pattern. Takes one number of `random` for
    /// every 16 digits or part of it.
    pub(crate) fn fill(&self, text: &mut [u8], mut random: impl FnMut() -> u64) {
        let mut block = [0; BLOCK];
        let mut used = BLOCK;
        for run in &self.runs {
            let mut rest = &mut text[run.clone()];
            while !rest.is_empty() {
                if used == BLOCK {
                    block = sixteen_digits(crate::values::random::below(random(), TEN_TO_16));
                    used = 0;
                }
                let count = rest.len().min(BLOCK - used);
                let (now, later) = rest.split_at_mut(count);
                now.copy_from_slice(&block[used..used + count]);
                used += count;
                rest = later;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::random::KeyedRandom;
    use proptest::prelude::*;

    #[test]
    fn every_lane_is_exact() {
        for four in 0..10_000_u64 {
            let expected = format!("{four:04}{:04}", 9999 - four);
            assert_eq!(
                eight_digits(four * 10_000 + 9999 - four),
                expected.as_bytes()
            );
        }
    }

    proptest! {
        /// Numbers read back as they are written elsewhere.
        #[test]
        fn integers(number in prop_oneof![any::<i64>(), -200..200_i64, 99_999_990..100_000_010_i64]) {
            let mut out = Vec::new();
            append_integer(&mut out, number);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }

        /// Only the marks change, into digits, and equal random numbers give equal texts.
        #[test]
        fn patterns(pattern in "[#a-z-]{0,80}", key: u64) {
            let pattern = DigitPattern::new(pattern.as_bytes());
            let draw = || {
                let mut random = KeyedRandom::new(key);
                let mut text = pattern.text().to_vec();
                pattern.fill(&mut text, || random.next());
                text
            };
            let text = draw();
            for (mark, byte) in pattern.text().iter().zip(&text) {
                let fits = if *mark == b'#' { byte.is_ascii_digit() } else { mark == byte };
                prop_assert!(fits);
            }
            prop_assert_eq!(draw(), text);
        }
    }

    #[test]
    fn extremes() {
        for number in [i64::MIN, i64::MAX, 0, 9_999_999_999_999_999] {
            let mut out = Vec::new();
            append_integer(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
        let mut out = Vec::new();
        append_natural(&mut out, u64::MAX);
        assert_eq!(String::from_utf8(out).unwrap(), u64::MAX.to_string());
    }

    #[test]
    fn digits_are_even() {
        let pattern = DigitPattern::new(&[b'#'; 100]);
        let mut random = KeyedRandom::new(3);
        let mut text = pattern.text().to_vec();
        let mut counts = [0_u32; 10];
        for _ in 0..1000 {
            pattern.fill(&mut text, || random.next());
            for digit in &text {
                counts[usize::from(digit - b'0')] += 1;
            }
        }
        assert!(
            counts.iter().all(|c| c.abs_diff(10_000) < 475),
            "{counts:?}"
        );
    }
}
