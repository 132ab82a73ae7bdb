//! Values of a statement's parameters: random numbers, their distributions, and their digits.

pub(crate) mod digits;
pub(crate) mod distribution;
pub(crate) mod draws;
pub(crate) mod random;
