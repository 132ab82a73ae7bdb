//! Assignment of rows to connections.

use std::sync::atomic::{AtomicU64, Ordering};

use prony_model::Dataset;

/// Ranges of one table for each connection, where several fill it: so many that none waits long
/// for the last.
const RANGES_PER_CONNECTION: u64 = 8;

/// Consecutive rows of a table that one connection fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyRange {
    /// Counted from 0.
    pub(super) table: u32,
    pub(super) first: u64,
    /// Not below `first`.
    pub(super) last: u64,
}

/// Connections that may write to one table at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writers {
    /// One: others would wait for it.
    One,
    /// Any number.
    Many,
}

/// All rows of a dataset, in ranges that connections take in turn. Two connections write far apart
/// from each other: into different tables where there are enough, and otherwise into different
/// parts of one, so that none waits for the page that the other writes to.
#[derive(Debug)]
pub(super) struct Ranges {
    tables: u64,
    rows: u64,
    per_table: u64,
    taken: AtomicU64,
}

impl Ranges {
    pub(super) fn new(dataset: &Dataset, connections: u32, writers: Writers) -> Self {
        let tables = u64::from(dataset.tables);
        let connections = u64::from(connections);
        let per_table = if writers == Writers::One || connections <= tables {
            1
        } else {
            connections * RANGES_PER_CONNECTION
        };
        Self {
            tables,
            rows: dataset.rows,
            per_table: per_table.min(dataset.rows),
            taken: AtomicU64::new(0),
        }
    }

    /// Connections that find something to do.
    pub(super) fn connections_max(&self) -> u64 {
        self.tables * self.per_table
    }

    /// The next rows to fill; `None` when all are taken.
    pub(super) fn take(&self) -> Option<KeyRange> {
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        let table = u32::try_from(index / self.per_table).ok()?;
        if u64::from(table) >= self.tables {
            return None;
        }
        let part = index % self.per_table;
        Some(KeyRange {
            table,
            first: self.rows_before(part) + 1,
            last: self.rows_before(part + 1),
        })
    }

    /// Rows of a table in the parts before this one. Parts differ by one row at most.
    fn rows_before(&self, part: u64) -> u64 {
        let (each, left) = (self.rows / self.per_table, self.rows % self.per_table);
        part * each + part.min(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(ranges: &Ranges) -> Vec<KeyRange> {
        std::iter::from_fn(|| ranges.take()).collect()
    }

    proptest! {
        /// Every row is in one range, tables in order, keys ascending.
        #[test]
        fn no_row_is_left_out(tables in 1..5_u32, rows in 1..300_u64, connections in 1..9_u32) {
            for writers in [Writers::One, Writers::Many] {
                let dataset = Dataset::sbtest(tables, rows, 1);
                let ranges = all(&Ranges::new(&dataset, connections, writers));
                let taken: Vec<_> = ranges
                    .iter()
                    .flat_map(|range| (range.first..=range.last).map(|key| (range.table, key)))
                    .collect();
                let expected: Vec<_> = (0..tables)
                    .flat_map(|table| (1..=rows).map(move |key| (table, key)))
                    .collect();
                prop_assert_eq!(taken, expected);
            }
        }
    }

    #[test]
    fn tables_are_parted_only_where_it_helps() {
        for (tables, connections, writers, count) in [
            (1, 2, Writers::Many, 16),
            (1, 2, Writers::One, 1),
            (2, 2, Writers::Many, 2),
            (3, 4, Writers::Many, 96),
        ] {
            let dataset = Dataset::sbtest(tables, 1_000_000, 1);
            let ranges = Ranges::new(&dataset, connections, writers);
            assert_eq!(ranges.connections_max(), count);
            assert_eq!(all(&ranges).len() as u64, count);
        }
    }
}
