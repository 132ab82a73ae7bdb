//! The texts of rows.

use std::ops::Range;

use prony_model::{ColumnValue, Dataset, DateTime};

use super::number::NumberMaker;
use crate::values::digits::DigitPattern;
use crate::values::random::{KeyedRandom, below};

/// Makes the texts of one column.
#[derive(Debug)]
pub(super) enum TextMaker {
    /// The same one always.
    Constant(Vec<u8>),
    /// Random digits at some places.
    Digits(DigitPattern),
    /// A number with zeros in front at one place.
    Numbered {
        text: Vec<u8>,
        place: Range<usize>,
        number: NumberMaker,
    },
    /// A date with a time.
    DateTime {
        since: DateTime,
        seconds: NumberMaker,
    },
    /// Letters, the first `random` thousandths of which are random.
    Letters { min: u32, max: u32, random: u32 },
}

/// Letters that one random number yields: 16 bits for each, so that the likeliest is more likely
/// than the rarest by 1 in 2,500.
const LETTERS: usize = 4;

impl TextMaker {
    /// The maker of a column that is not of numbers.
    pub(super) fn new(dataset: &Dataset, value: &ColumnValue, order: u64) -> Self {
        match value {
            // A column of numbers has no text.
            ColumnValue::Number(_) => Self::Constant(Vec::new()),
            ColumnValue::Constant(text) => Self::Constant(text.as_bytes().to_vec()),
            ColumnValue::Digits(pattern) => Self::Digits(DigitPattern::new(pattern.as_bytes())),
            ColumnValue::Numbered(text, rule) => {
                let digits = text.digits as usize;
                let start = text.before.len();
                Self::Numbered {
                    text: format!("{}{}{}", text.before, "0".repeat(digits), text.after).into(),
                    place: start..start + digits,
                    number: NumberMaker::new(dataset, rule, order),
                }
            }
            ColumnValue::DateTime { since, seconds } => Self::DateTime {
                since: *since,
                seconds: NumberMaker::new(dataset, seconds, order),
            },
            ColumnValue::Letters { lengths, random } => Self::Letters {
                min: lengths.min,
                max: lengths.max,
                random: random.0,
            },
        }
    }

    /// A text of the greatest length, which [`make`](Self::make) completes.
    pub(super) fn longest(&self) -> Vec<u8> {
        match self {
            Self::Constant(text) | Self::Numbered { text, .. } => text.clone(),
            Self::Digits(pattern) => pattern.text().to_vec(),
            Self::DateTime { .. } => vec![b'0'; DateTime::LENGTH],
            Self::Letters { max, .. } => vec![b'a'; *max as usize],
        }
    }

    /// Puts the text of a row into `text`, which is from [`longest`](Self::longest).
    #[inline]
    pub(super) fn make(&self, row: u64, random: &mut KeyedRandom, text: &mut Vec<u8>) {
        match self {
            Self::Constant(_) => {}
            Self::Digits(pattern) => pattern.fill(text, || random.next()),
            Self::Numbered { place, number, .. } => {
                let mut number = number.make(row, random).unsigned_abs();
                for digit in text[place.clone()].iter_mut().rev() {
                    *digit = b'0' + (number % 10) as u8;
                    number /= 10;
                }
            }
            Self::DateTime { since, seconds } => {
                text.copy_from_slice(&since.plus(seconds.make(row, random)).text());
            }
            Self::Letters {
                min,
                max,
                random: share,
            } => {
                let more = below(random.next(), u64::from(max - min) + 1);
                let length = min + u32::try_from(more).unwrap_or(0);
                let letters = length * share / 1000;
                text.resize(length as usize, b'a');
                let (drawn, same) = text.split_at_mut(letters as usize);
                draw_letters(drawn, random);
                same.fill(b'a');
            }
        }
    }
}

fn draw_letters(text: &mut [u8], random: &mut KeyedRandom) {
    for part in text.chunks_mut(LETTERS) {
        let mut bits = random.next();
        for letter in part {
            let index = ((bits & 0xffff) * 26) >> 16;
            *letter = b'a' + u8::try_from(index).unwrap_or(0);
            bits >>= 16;
        }
    }
}
