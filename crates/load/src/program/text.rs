//! Rules for the texts of a statement.

use prony_model::DateTime;

use crate::program::linear::Linear;
use crate::values::digits::DigitPattern;
use crate::values::draws::Draws;
use crate::values::letters::LetterRule;

/// A rule for a text. In statements that are sent as text, quotes are part of it.
#[derive(Debug)]
pub(super) enum TextRule {
    /// Random digits at some places.
    Digits(DigitPattern),
    /// Letters, between quotes or not.
    Letters { rule: LetterRule, is_quoted: bool },
    /// A number, with zeros in front, at some places of a text.
    Numbered {
        text: Vec<u8>,
        /// Start and end of the digits.
        place: [usize; 2],
        number: Linear,
    },
    /// A date with a time, between quotes or not.
    DateTime {
        since: DateTime,
        seconds: Linear,
        is_quoted: bool,
    },
}

impl TextRule {
    /// A text of the greatest length, which [`make`](Self::make) completes.
    pub(super) fn longest(&self) -> Vec<u8> {
        match self {
            Self::Digits(pattern) => pattern.text().to_vec(),
            Self::Letters { rule, is_quoted } => {
                let mut text = rule.longest();
                text.resize(text.len() + 2 * usize::from(*is_quoted), b'a');
                text
            }
            Self::Numbered { text, .. } => text.clone(),
            Self::DateTime { is_quoted, .. } => {
                vec![b'\''; DateTime::LENGTH + 2 * usize::from(*is_quoted)]
            }
        }
    }

    /// `true` if texts have lengths of their own.
    pub(super) fn varies(&self) -> bool {
        matches!(self, Self::Letters { rule, .. } if rule.min != rule.max)
    }

    /// Puts a new text into `text`, which is from [`longest`](Self::longest). Allocates nothing.
    #[inline]
    pub(super) fn make(&self, integers: &[i64], draws: &mut Draws, text: &mut Vec<u8>) {
        match self {
            Self::Digits(pattern) => pattern.fill(text, || draws.next()),
            Self::Letters { rule, is_quoted } => {
                text.clear();
                if *is_quoted {
                    text.push(b'\'');
                }
                rule.append(text, || draws.next());
                if *is_quoted {
                    text.push(b'\'');
                }
            }
            Self::DateTime {
                since,
                seconds,
                is_quoted,
            } => {
                let start = usize::from(*is_quoted);
                let place = &mut text[start..start + DateTime::LENGTH];
                place.copy_from_slice(&since.plus(seconds.eval(integers)).text());
            }
            Self::Numbered { place, number, .. } => {
                let mut number = number.eval(integers).unsigned_abs();
                let [start, end] = *place;
                for digit in text[start..end].iter_mut().rev() {
                    *digit = b'0' + (number % 10) as u8;
                    number /= 10;
                }
            }
        }
    }
}
