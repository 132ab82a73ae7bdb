//! The rows of a range of keys.

use prony_model::Dataset;

use super::ranges::KeyRange;
use super::text::size_max;
use crate::dataset::rows::{Row, Rows};

/// The rows of a range, one after the other.
pub(super) struct Source {
    rows: Rows,
    pub(super) row: Row,
    /// Bytes of a row in a statement at most.
    pub(super) row_size_max: usize,
    /// The key of the next row.
    pub(super) next: u64,
    last: u64,
}

impl Source {
    pub(super) fn new(dataset: &Dataset, range: KeyRange) -> Self {
        let rows = Rows::new(dataset, range.table);
        let row = rows.new_row();
        Self {
            row_size_max: size_max(&row),
            row,
            rows,
            next: range.first,
            last: range.last,
        }
    }

    /// Rows that did not come yet.
    pub(super) const fn left(&self) -> u64 {
        self.last + 1 - self.next
    }

    pub(super) fn row(&mut self) -> Option<&Row> {
        if self.next > self.last {
            return None;
        }
        self.rows.make(self.next, &mut self.row);
        self.next += 1;
        Some(&self.row)
    }
}
