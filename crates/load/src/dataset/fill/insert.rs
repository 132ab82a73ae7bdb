//! Rows as `INSERT` statements, prepared and as text, as the lines of `LOAD DATA LOCAL`, and as those or
//! the bytes of `COPY`.

use std::sync::atomic::{AtomicU64, Ordering};

use prony_client::{ClientError, Connection, PreparedStatement};
use prony_model::{Dataset, LoadMethod};
use prony_wire::{ExecuteTemplate, ParamShape, Types};

use super::ask;
use super::copy::{self, RowEncoder};
use super::method::{Method, Statement};
use super::ranges::{KeyRange, Ranges};
use super::source::Source;
use super::text::append_rows;
use super::threads::Halt;
use crate::LoadError;
use crate::dataset::rows::Row;
use crate::values::digits::append_integer;

/// Rows of one INSERT: some 100 KB and 2000 parameters, of which a statement has 65535 at most.
const BATCH_ROWS: u64 = 500;

/// Bytes of lines in one packet, at least.
const PACKET_SIZE: usize = 1 << 16;

/// State that connections share while they fill tables.
pub(super) struct Filler<'a> {
    dataset: &'a Dataset,
    method: Method,
    columns: String,
    pub(super) ranges: Ranges,
    done: AtomicU64,
}

impl<'a> Filler<'a> {
    pub(super) fn new(dataset: &'a Dataset, method: Method, connections: u32) -> Self {
        let schema = dataset.schema;
        let numbers = schema.numbers().skip(left_to_server(dataset));
        let columns = numbers.chain(schema.texts());
        Self {
            dataset,
            method,
            columns: columns
                .map(|column| column.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            ranges: Ranges::new(dataset, connections, method.writers),
            done: AtomicU64::new(0),
        }
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
            match self.method.statement {
                Statement::Insert => self.insert(connection, range, halt)?,
                Statement::TextInsert => self.insert_text(connection, range, halt)?,
                Statement::LoadData => self.load(connection, range, halt)?,
                Statement::Copy { binary } => self.copy(connection, range, binary, halt)?,
            }
            self.set_bulk(connection, "0")?;
        }
        Ok(())
    }

    fn set_bulk(&self, connection: &mut Connection, value: &str) -> Result<(), LoadError> {
        let Some(variable) = self.method.bulk else {
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
        let mut batch: Option<Batch> = None;
        while !halt.requested() && source.left() > 0 {
            let first = source.next;
            let count = BATCH_ROWS.min(source.left());
            let chunk = KeyRange {
                first,
                last: first + count - 1,
                ..range
            };
            let mut send = || -> Result<(), ClientError> {
                let ready = match batch.take() {
                    Some(batch) if batch.rows == count => batch,
                    other => {
                        close(connection, other)?;
                        Batch::prepare(connection, &self.insert_head(range.table), &source, count)?
                    }
                };
                batch.insert(ready).send(connection, &mut source)
            };
            send().map_err(|source| self.error(chunk, source))?;
            self.done.fetch_add(count, Ordering::Relaxed);
        }
        close(connection, batch).map_err(|source| self.error(range, source))
    }

    fn insert_text(
        &self,
        connection: &mut Connection,
        range: KeyRange,
        halt: &Halt,
    ) -> Result<(), LoadError> {
        let head = self.insert_head(range.table);
        let skipped = left_to_server(self.dataset);
        let mut source = Source::new(self.dataset, range);
        let mut sql = Vec::new();
        while !halt.requested() && source.left() > 0 {
            let first = source.next;
            sql.clear();
            sql.extend_from_slice(head.as_bytes());
            append_rows(&mut sql, &mut source, skipped);
            let last = source.next - 1;
            let chunk = KeyRange {
                first,
                last,
                ..range
            };
            connection
                .query(&sql)
                .map_err(|source| self.error(chunk, source))?;
            self.done.fetch_add(source.next - first, Ordering::Relaxed);
        }
        Ok(())
    }

    fn insert_head(&self, table: u32) -> String {
        let table = self.dataset.table_name(table);
        format!("INSERT INTO {table} ({}) VALUES ", self.columns)
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
        // 4.1 answers before it has committed, so that other connections may not see the rows yet;
        // the next statement is answered when it has.
        connection
            .load_rows(&sql, &mut more)
            .and_then(|_| connection.query("COMMIT"))
            .map(drop)
            .map_err(|source| self.error(range, source))
    }

    fn copy(
        &self,
        connection: &mut Connection,
        range: KeyRange,
        binary: bool,
        halt: &Halt,
    ) -> Result<(), LoadError> {
        let mut source = Source::new(self.dataset, range);
        let table = self.dataset.table_name(range.table);
        let encoder = binary.then(|| RowEncoder::new(self.dataset));
        let sql = copy::statement(&table, &self.columns, binary);
        let mut begun = false;
        let mut more = |out: &mut Vec<u8>| {
            let first = source.next;
            let start = out.len();
            if encoder.is_some() && !begun {
                RowEncoder::begin(out);
            }
            while out.len() - start < PACKET_SIZE
                && !halt.requested()
                && let Some(row) = source.row()
            {
                match &encoder {
                    Some(encoder) => encoder.append(out, row),
                    None => append_line(out, row),
                }
            }
            begun = true;
            self.done.fetch_add(source.next - first, Ordering::Relaxed);
        };
        let mut send = || -> Result<(), ClientError> {
            connection.query(format!("BEGIN; TRUNCATE {table}"))?;
            connection.load_rows(&sql, &mut more)?;
            connection.query("COMMIT").map(drop)
        };
        send().map_err(|source| self.error(range, source))
    }

    fn error(&self, range: KeyRange, source: ClientError) -> LoadError {
        let KeyRange { table, first, last } = range;
        let table = self.dataset.table_name(table);
        let action = format!("insert rows {first} to {last} into {table}");
        LoadError::fill(action, source)
    }
}

/// Columns of numbers, from the first on, whose values the server counts. A load by inserts leaves
/// out the key if this is an `AUTO_INCREMENT` column, as sysbench does.
fn left_to_server(dataset: &Dataset) -> usize {
    usize::from(dataset.load == LoadMethod::Inserts && dataset.schema.counted)
}

/// A prepared INSERT of a number of rows.
struct Batch {
    rows: u64,
    statement: PreparedStatement,
    request: Vec<u8>,
    template: ExecuteTemplate,
}

impl Batch {
    /// Prepares the statement that begins with `head` for rows as `source` has them.
    fn prepare(
        connection: &mut Connection,
        head: &str,
        source: &Source,
        rows: u64,
    ) -> Result<Self, ClientError> {
        let row = &source.row;
        let numbers = row.numbers.iter().map(|_| ParamShape::Integer);
        let texts = row.texts.iter().map(|text| ParamShape::Text(text.len()));
        let shape: Vec<_> = numbers.chain(texts).collect();
        let count = usize::try_from(rows).unwrap_or(usize::MAX);
        let template = ExecuteTemplate::new(&shape.repeat(count), Types::Sent)?;
        let values = format!("({})", vec!["?"; shape.len()].join(","));
        let sql = format!("{head}{}", vec![values.as_str(); count].join(","));
        let statement = connection.prepare(&sql)?;
        let mut request = template.bytes().to_vec();
        request[ExecuteTemplate::ID].copy_from_slice(&statement.id.to_le_bytes());
        Ok(Self {
            rows,
            statement,
            request,
            template,
        })
    }

    /// Inserts the next rows of `source`, which has enough.
    fn send(
        &mut self,
        connection: &mut Connection,
        source: &mut Source,
    ) -> Result<(), ClientError> {
        let mut places = self.template.values().iter();
        for _ in 0..self.rows {
            let Some(row) = source.row() else { break };
            for (number, place) in row.numbers.iter().zip(&mut places) {
                self.request[place.clone()].copy_from_slice(&number.to_le_bytes());
            }
            for (text, place) in row.texts.iter().zip(&mut places) {
                self.request[place.clone()].copy_from_slice(text);
            }
        }
        connection.execute(&self.request).map(drop)
    }
}

fn close(connection: &mut Connection, batch: Option<Batch>) -> Result<(), ClientError> {
    batch.map_or(Ok(()), |batch| connection.close(batch.statement))
}

/// Appends a row as `LOAD DATA` reads it by default. No value needs escaping.
fn append_line(lines: &mut Vec<u8>, row: &Row) {
    for number in &row.numbers {
        append_integer(lines, *number);
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
    fn a_row_as_the_server_reads_it() {
        let row = Row {
            numbers: vec![1, 20],
            texts: vec![b"0-1".to_vec(), b"2".to_vec()],
        };
        let mut out = Vec::new();
        append_line(&mut out, &row);
        assert_eq!(out, b"1\t20\t0-1\t2\n");
    }
}
