//! Rows as the binary form of PostgreSQL's `COPY`.
//!
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format": a signature, flags, and the
//! length of an extension; then for each row the number of its columns, and length and bytes of each value.
//! The end of the rows need not be marked.

use prony_model::Dataset;

use crate::dataset::rows::Row;

const SIGNATURE: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The statement that takes the rows into a table which was emptied in the same transaction.
pub(super) fn statement(table: &str, columns: &str, binary: bool) -> String {
    let format = if binary { "BINARY" } else { "TEXT" };
    format!("COPY {table} ({columns}) FROM STDIN (FORMAT {format}, FREEZE)")
}

/// Writes rows of one dataset.
pub(super) struct RowEncoder {
    /// By column of numbers: `true` if it has 32 bits.
    short: Vec<bool>,
    columns: u16,
}

impl RowEncoder {
    pub(super) fn new(dataset: &Dataset) -> Self {
        let numbers = dataset.schema.numbers();
        let short: Vec<bool> = numbers
            .map(|column| dataset.is_short(column.kind))
            .collect();
        let columns = short.len() + dataset.schema.texts().count();
        Self {
            short,
            // A table has far fewer than 16 bits count.
            columns: u16::try_from(columns).unwrap_or(u16::MAX),
        }
    }

    /// Appends what stands before the first row.
    pub(super) fn begin(out: &mut Vec<u8>) {
        out.extend_from_slice(SIGNATURE);
    }

    /// Appends a row.
    pub(super) fn append(&self, out: &mut Vec<u8>, row: &Row) {
        out.extend_from_slice(&self.columns.to_be_bytes());
        for (number, is_short) in row.numbers.iter().zip(&self.short) {
            // The dataset was checked: its numbers fit their columns.
            match i32::try_from(*number) {
                Ok(number) if *is_short => append_value(out, &number.to_be_bytes()),
                _ => append_value(out, &number.to_be_bytes()),
            }
        }
        for text in &row.texts {
            append_value(out, text);
        }
    }
}

fn append_value(out: &mut Vec<u8>, bytes: &[u8]) {
    prony_wire::postgres::append_value(out, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_the_server_reads_them() {
        let encoder = RowEncoder::new(&Dataset::sbtest(1, 10, 1));
        let row = Row {
            numbers: vec![1, -2],
            texts: vec![b"ab".to_vec(), Vec::new()],
        };
        let mut out = Vec::new();
        RowEncoder::begin(&mut out);
        encoder.append(&mut out, &row);
        let expected = [
            &b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"[..],
            b"\0\x04\0\0\0\x04\0\0\0\x01\0\0\0\x04\xff\xff\xff\xfe",
            b"\0\0\0\x02ab\0\0\0\0",
        ]
        .concat();
        assert_eq!(out, expected);
    }
}
