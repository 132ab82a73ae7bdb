//! Rows as `INSERT` statements and as the lines of `LOAD DATA LOCAL`.

use std::sync::atomic::{AtomicU64, Ordering};

use prony_client::{ClientError, Connection};
use prony_model::Dataset;

use super::ask;
use super::crew::Halt;
use super::ranges::{KeyRange, Ranges};
use super::way::{Statement, Way};
use crate::LoadError;
use crate::digits::append_natural;
use crate::rows::{Row, Rows};

/// Rows of one INSERT: some 500 KB of text, so that it fits the `max_allowed_packet` of every
/// version (1 MB in the oldest).
const CHUNK_ROWS: u64 = 2_500;

/// Bytes of lines in one packet, at least.
const PACKET_SIZE: usize = 1 << 16;

/// What the connections share while they fill tables.
pub(super) struct Filling<'a> {
    dataset: &'a Dataset,
    way: Way,
    columns: String,
    ranges: Ranges,
    done: AtomicU64,
}

impl<'a> Filling<'a> {
    pub(super) fn new(dataset: &'a Dataset, way: Way, connections: u32) -> Self {
        let schema = dataset.schema;
        Self {
            dataset,
            way,
            columns: [schema.number_columns(), schema.text_columns()]
                .concat()
                .join(", "),
            ranges: Ranges::new(dataset, connections, way.writers),
            done: AtomicU64::new(0),
        }
    }

    /// Connections that find something to do.
    pub(super) fn connections_max(&self) -> u64 {
        self.ranges.connections_max()
    }

    /// Rows sent so far, over all tables.
    pub(super) fn rows_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Fills ranges over one connection until none is left.
    pub(super) fn fill(&self, connection: &mut Connection, halt: &Halt) -> Result<(), LoadError> {
        while let Some(range) = self.ranges.take() {
            if halt.requested() {
                break;
            }
            self.set_bulk(connection, "1")?;
            match self.way.statement {
                Statement::Insert => self.insert(connection, range, halt)?,
                Statement::LoadData => self.load(connection, range, halt)?,
            }
            self.set_bulk(connection, "0")?;
        }
        Ok(())
    }

    fn set_bulk(&self, connection: &mut Connection, value: &str) -> Result<(), LoadError> {
        let Some(variable) = self.way.bulk else {
            return Ok(());
        };
        let sql = format!("SET SESSION {variable} = {value}");
        ask(connection, &sql, || sql.clone()).map(drop)
    }

    fn insert(
        &self,
        connection: &mut Connection,
        range: KeyRange,
        halt: &Halt,
    ) -> Result<(), LoadError> {
        let mut source = Source::new(self.dataset, range);
        let table = self.dataset.table_name(range.table);
        let head = format!("INSERT INTO {table} ({}) VALUES ", self.columns);
        let mut sql = Vec::new();
        while !halt.requested() {
            let first = source.next;
            sql.clear();
            sql.extend_from_slice(head.as_bytes());
            while source.next - first < CHUNK_ROWS
                && let Some(row) = source.row()
            {
                append_values(&mut sql, row);
                sql.push(b',');
            }
            let count = source.next - first;
            if count == 0 {
                break;
            }
            sql.pop();
            let chunk = KeyRange {
                first,
                last: source.next - 1,
                ..range
            };
            connection
                .query(&sql)
                .map_err(|source| self.error(chunk, source))?;
            self.done.fetch_add(count, Ordering::Relaxed);
        }
        Ok(())
    }

    fn load(
        &self,
        connection: &mut Connection,
        range: KeyRange,
        halt: &Halt,
    ) -> Result<(), LoadError> {
        let mut source = Source::new(self.dataset, range);
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} ({})",
            self.dataset.table_name(range.table),
            self.columns
        );
        let mut more = |lines: &mut Vec<u8>| {
            let first = source.next;
            while lines.len() < PACKET_SIZE
                && !halt.requested()
                && let Some(row) = source.row()
            {
                append_line(lines, row);
            }
            self.done.fetch_add(source.next - first, Ordering::Relaxed);
        };
        connection
            .load_rows(&sql, &mut more)
            .map(drop)
            .map_err(|source| self.error(range, source))
    }

    fn error(&self, range: KeyRange, source: ClientError) -> LoadError {
        let KeyRange { table, first, last } = range;
        let table = self.dataset.table_name(table);
        LoadError::Fill {
            action: format!("insert rows {first} to {last} into {table}"),
            source,
        }
    }
}

/// The rows of a range, one after the other.
struct Source {
    rows: Rows,
    row: Row,
    /// The key of the next row.
    next: u64,
    last: u64,
}

impl Source {
    fn new(dataset: &Dataset, range: KeyRange) -> Self {
        let rows = Rows::new(dataset, range.table);
        Self {
            row: rows.new_row(),
            rows,
            next: range.first,
            last: range.last,
        }
    }

    fn row(&mut self) -> Option<&Row> {
        if self.next > self.last {
            return None;
        }
        self.rows.make(self.next, &mut self.row);
        self.next += 1;
        Some(&self.row)
    }
}

/// Appends a row as SQL. No value needs escaping.
fn append_values(sql: &mut Vec<u8>, row: &Row) {
    sql.push(b'(');
    for number in &row.numbers {
        append_natural(sql, *number);
        sql.push(b',');
    }
    for text in &row.texts {
        sql.push(b'\'');
        sql.extend_from_slice(text);
        sql.extend_from_slice(b"',");
    }
    sql.pop();
    sql.push(b')');
}

/// Appends a row as `LOAD DATA` reads it by default. No value needs escaping.
fn append_line(lines: &mut Vec<u8>, row: &Row) {
    for number in &row.numbers {
        append_natural(lines, *number);
        lines.push(b'\t');
    }
    for text in &row.texts {
        lines.extend_from_slice(text);
        lines.push(b'\t');
    }
    lines.pop();
    lines.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_the_server_reads_them() {
        let row = Row {
            numbers: vec![1, 20],
            texts: vec![b"0-1".to_vec(), b"2".to_vec()],
        };
        let mut out = Vec::new();
        append_values(&mut out, &row);
        assert_eq!(out, b"(1,20,'0-1','2')");
        out.clear();
        append_line(&mut out, &row);
        assert_eq!(out, b"1\t20\t0-1\t2\n");
    }
}
