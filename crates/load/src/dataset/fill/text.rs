//! The values of an `INSERT` statement of many rows as text.

use super::source::Source;
use crate::dataset::rows::Row;
use crate::values::digits::append_integer;

/// Bytes of a statement at most, if more than one row fits: sysbench's `prepare` collects as many.
const STATEMENT_SIZE: usize = 512 << 10;

/// Characters of the longest number.
const DIGITS: usize = 20;

/// Appends rows of `source` to the beginning of a statement, without the first `skipped` columns of
/// numbers: as many rows as fit, and one at least if any is left.
pub(super) fn append_rows(sql: &mut Vec<u8>, source: &mut Source, skipped: usize) {
    let room = source.row_size_max;
    let begin = sql.len();
    while let Some(row) = source.row() {
        if sql.len() > begin {
            sql.push(b',');
        }
        append_row(sql, row, skipped);
        if sql.len() + room > STATEMENT_SIZE {
            break;
        }
    }
}

/// Appends a row as the server reads it. No value needs escaping.
fn append_row(sql: &mut Vec<u8>, row: &Row, skipped: usize) {
    sql.push(b'(');
    for number in row.numbers.iter().skip(skipped) {
        append_integer(sql, *number);
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

/// Bytes that a row takes, whose texts are as long as they get, with what stands between its values and before it.
pub(super) fn size_max(row: &Row) -> usize {
    let texts: usize = row.texts.iter().map(|text| text.len() + 3).sum();
    row.numbers.len() * (DIGITS + 1) + texts + 2
}

#[cfg(test)]
mod tests {
    use prony_model::Dataset;

    use super::*;
    use crate::dataset::fill::ranges::KeyRange;

    #[test]
    fn a_row_as_the_server_reads_it() {
        let row = Row {
            numbers: vec![1, 20],
            texts: vec![b"0-1".to_vec(), b"2".to_vec()],
        };
        let text = |skipped| {
            let mut sql = Vec::new();
            append_row(&mut sql, &row, skipped);
            String::from_utf8(sql).unwrap()
        };
        assert_eq!(text(0), "(1,20,'0-1','2')");
        assert_eq!(text(1), "(20,'0-1','2')");
    }

    #[test]
    fn statements_are_nearly_full_and_never_larger() {
        let rows = 6_000;
        let dataset = Dataset::sbtest(1, rows, 1);
        let range = KeyRange {
            table: 0,
            first: 1,
            last: rows,
        };
        let mut source = Source::new(&dataset, range);
        let mut sizes = Vec::new();
        while source.left() > 0 {
            let mut sql = b"INSERT ".to_vec();
            append_rows(&mut sql, &mut source, 1);
            sizes.push(sql.len());
        }
        let (last, full) = sizes.split_last().unwrap();
        assert_eq!(full.len(), 2);
        let nearly = STATEMENT_SIZE - 300..=STATEMENT_SIZE;
        assert!(full.iter().all(|size| nearly.contains(size)), "{sizes:?}");
        assert!(*last < STATEMENT_SIZE);
    }

    #[test]
    fn a_row_beyond_the_size_goes_alone() {
        let dataset = Dataset::sbtest(1, 3, 1);
        let range = KeyRange {
            table: 0,
            first: 1,
            last: 3,
        };
        let mut source = Source::new(&dataset, range);
        let mut sql = vec![b' '; STATEMENT_SIZE];
        append_rows(&mut sql, &mut source, 0);
        assert_eq!(source.left(), 2);
    }
}
