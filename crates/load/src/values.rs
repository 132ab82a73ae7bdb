//! Values of a statement's parameters: random numbers, their distributions, and their digits.

pub(crate) mod digits;
pub(crate) mod distribution;
pub(crate) mod draws;
pub(crate) mod letters;
pub(crate) mod marks;
pub(crate) mod random;

/// The values of one statement's parameters. Made once for each thread and reused.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) integers: Vec<i64>,
    /// Texts in which only the digits change.
    pub(crate) texts: Vec<Vec<u8>>,
}

/// The value that goes into a hole of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    /// Slot of an integer.
    Integer(usize),
    /// Index among the texts.
    Text(usize),
}
