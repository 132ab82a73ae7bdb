//! The lowest and the highest key of each table, as clients move them.

use std::sync::atomic::{AtomicI64, Ordering};

/// One of the marks of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Lowest,
    Highest,
}

/// The marks of all tables. Clients of all threads read and move them; a value that is behind by an
/// answer of another thread is as good.
#[derive(Debug)]
pub(crate) struct Marks(Vec<[AtomicI64; 2]>);

impl Marks {
    /// The marks of these tables: lowest and highest key.
    pub(crate) fn new(keys: impl IntoIterator<Item = [i64; 2]>) -> Self {
        let tables = keys.into_iter();
        Self(tables.map(|keys| keys.map(AtomicI64::new)).collect())
    }

    /// The lowest and the highest key of a table, by its index.
    #[inline]
    pub(crate) fn of(&self, table: usize) -> [i64; 2] {
        let [lowest, highest] = &self.0[table];
        [lowest, highest].map(|mark| mark.load(Ordering::Relaxed))
    }

    /// Moves a mark of a table, by its index, up by a number of rows.
    #[inline]
    pub(crate) fn advance(&self, table: usize, mark: Mark, rows: u64) {
        let [lowest, highest] = &self.0[table];
        let mark = match mark {
            Mark::Lowest => lowest,
            Mark::Highest => highest,
        };
        mark.fetch_add(rows.cast_signed(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_its_own() {
        let marks = Marks::new([[1, 10], [1, 0]]);
        marks.advance(0, Mark::Lowest, 3);
        marks.advance(1, Mark::Highest, 5);
        assert_eq!([marks.of(0), marks.of(1)], [[4, 10], [1, 5]]);
    }
}
