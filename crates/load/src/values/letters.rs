//! Texts of random letters.

use crate::values::random::below;

/// Letters that one random number yields: 16 bits for each, so that the likeliest is more likely
/// than the rarest by 1 in 2,500.
const LETTERS: usize = 4;

/// A rule for texts of random lengths, whose first part is random letters; the others are `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LetterRule {
    /// Length of the shortest.
    pub(crate) min: u32,
    /// Length of the longest.
    pub(crate) max: u32,
    /// Thousandths of a text that are random.
    pub(crate) random: u32,
}

impl LetterRule {
    /// A text of the greatest length.
    pub(crate) fn longest(self) -> Vec<u8> {
        vec![b'a'; self.max as usize]
    }

    /// Appends a text, of numbers from `random`.
    #[inline]
    pub(crate) fn append(self, text: &mut Vec<u8>, mut random: impl FnMut() -> u64) {
        let more = below(random(), u64::from(self.max - self.min) + 1);
        let length = self.min + u32::try_from(more).unwrap_or(0);
        let letters = u64::from(length) * u64::from(self.random) / 1000;
        let start = text.len();
        text.resize(start + length as usize, b'a');
        let end = start + usize::try_from(letters).unwrap_or(0);
        for part in text[start..end].chunks_mut(LETTERS) {
            let mut bits = random();
            for letter in part {
                let index = ((bits & 0xffff) * 26) >> 16;
                *letter = b'a' + u8::try_from(index).unwrap_or(0);
                bits >>= 16;
            }
        }
    }
}
