//! Rows into one table, over several connections at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use prony_client::Connection;
use prony_model::{Dataset, Schema};

use crate::LoadError;
use crate::clock::now_ns;
use crate::digits::append_natural;
use crate::rows::{Row, Rows};

/// Rows of one INSERT: some 500 KB of text, so that it fits the `max_allowed_packet` of every
/// version (1 MB in the oldest).
const CHUNK_ROWS: u64 = 2_500;

/// How often progress is reported.
const REPORT_NS: u64 = 1_000_000_000;

/// What the connections share while they fill a table.
struct Shared<'a> {
    table: String,
    columns: String,
    rows: &'a Rows,
    count: u64,
    /// The first row that nobody has taken yet, less 1.
    taken: AtomicU64,
    done: AtomicU64,
    failed: AtomicBool,
}

/// Inserts the rows of table `table`, in chunks of ascending ids that the connections take in
/// turn. `progress` is told about once per second how many rows are in.
pub(super) fn insert_rows(
    connections: &mut [Connection],
    dataset: &Dataset,
    table: u32,
    progress: &mut dyn FnMut(u64) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let shared = Shared {
        table: dataset.table_name(table),
        columns: values_of(dataset.schema),
        rows: &Rows::new(dataset, table),
        count: dataset.rows,
        taken: AtomicU64::new(0),
        done: AtomicU64::new(0),
        failed: AtomicBool::new(false),
    };
    let Some((own, others)) = connections.split_first_mut() else {
        return Ok(());
    };
    thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = others
            .iter_mut()
            .map(|connection| scope.spawn(|| shared.insert(connection, &mut |_| Ok(()))))
            .collect();
        let mut report_ns = now_ns() + REPORT_NS;
        let mut report = |done| {
            let now_ns = now_ns();
            if now_ns < report_ns {
                return Ok(());
            }
            report_ns = now_ns + REPORT_NS;
            progress(done)
        };
        let own_result = shared.insert(own, &mut report);
        let results = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(LoadError::Thread)));
        results.fold(own_result, Result::and)
    })
}

impl Shared<'_> {
    /// Inserts chunks over one connection until none is left, or until another one failed.
    fn insert(
        &self,
        connection: &mut Connection,
        report: &mut dyn FnMut(u64) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let result = self.insert_chunks(connection, report);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }

    fn insert_chunks(
        &self,
        connection: &mut Connection,
        report: &mut dyn FnMut(u64) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let mut row = self.rows.new_row();
        let mut sql = Vec::new();
        while !self.failed.load(Ordering::Relaxed) {
            let first = self.taken.fetch_add(CHUNK_ROWS, Ordering::Relaxed) + 1;
            if first > self.count {
                break;
            }
            let last = self.count.min(first + CHUNK_ROWS - 1);
            self.write_insert(&mut sql, first, last, &mut row);
            connection.query(&sql).map_err(|source| LoadError::Fill {
                action: format!("insert rows {first} to {last} into {}", self.table),
                source,
            })?;
            let count = last - first + 1;
            report(self.done.fetch_add(count, Ordering::Relaxed) + count)?;
        }
        Ok(())
    }

    /// Replaces `sql` by the statement that inserts the rows `first..=last`.
    fn write_insert(&self, sql: &mut Vec<u8>, first: u64, last: u64, row: &mut Row) {
        sql.clear();
        sql.extend_from_slice(b"INSERT INTO ");
        sql.extend_from_slice(self.table.as_bytes());
        sql.extend_from_slice(self.columns.as_bytes());
        for key in first..=last {
            self.rows.make(key, row);
            if key > first {
                sql.push(b',');
            }
            append_row(sql, row);
        }
    }
}

/// Appends a row as SQL. No value needs escaping.
fn append_row(sql: &mut Vec<u8>, row: &Row) {
    sql.push(b'(');
    for (place, number) in row.numbers.iter().enumerate() {
        if place > 0 {
            sql.push(b',');
        }
        append_natural(sql, *number);
    }
    for text in &row.texts {
        sql.extend_from_slice(b",'");
        sql.extend_from_slice(text);
        sql.push(b'\'');
    }
    sql.push(b')');
}

/// The columns of a row, and what comes before its values.
fn values_of(schema: Schema) -> String {
    let columns: Vec<_> = [schema.number_columns(), schema.text_columns()].concat();
    format!(" ({}) VALUES ", columns.join(", "))
}
