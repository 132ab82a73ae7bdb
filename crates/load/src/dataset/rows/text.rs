//! The texts of rows.

use std::ops::Range;

use prony_model::{ColumnValue, Dataset, DateTime};

use super::number::NumberMaker;
use crate::values::digits::DigitPattern;
use crate::values::letters::LetterRule;
use crate::values::random::KeyedRandom;

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
    Letters(LetterRule),
}

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
            ColumnValue::Letters { lengths, random } => Self::Letters(LetterRule {
                min: lengths.min,
                max: lengths.max,
                random: random.0,
            }),
        }
    }

    /// A text of the greatest length, which [`make`](Self::make) completes.
    pub(super) fn longest(&self) -> Vec<u8> {
        match self {
            Self::Constant(text) | Self::Numbered { text, .. } => text.clone(),
            Self::Digits(pattern) => pattern.text().to_vec(),
            Self::DateTime { .. } => vec![b'0'; DateTime::LENGTH],
            Self::Letters(rule) => rule.longest(),
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
            Self::Letters(rule) => {
                text.clear();
                rule.append(text, || random.next());
            }
        }
    }
}
