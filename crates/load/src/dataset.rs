//! The rows of a dataset: making them, filling tables with them, and checking tables against them.

pub(crate) mod checksum;
pub(crate) mod fill;
mod rows;
pub(crate) mod sums;
