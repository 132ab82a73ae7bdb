//! Checking a table against its dataset, by sums that both sides can compute.

use md5::{Digest as _, Md5};
use prony_client::{Answer, Connection};
use prony_model::{ColumnValue, Dataset, Family, NumberRule, Schema};

use crate::LoadError;
use crate::dataset::ask;
use crate::dataset::rows::{Row, Rows};

/// Sums over rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableChecksum {
    /// Number of rows.
    pub rows: i128,
    /// Sums of the columns of numbers, in the schema's order.
    pub numbers: Vec<i128>,
    /// Sums of a [digest](Digest) of the other columns, in the schema's order.
    pub digests: Vec<i128>,
}

/// A number of 32 bits made of a text, which both sides can compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    /// The CRC-32 (IEEE), which MySQL computes at the lowest price.
    Crc32,
    /// The first 32 bits of the MD5, which all servers compute but MySQL from 9.6 on.
    Md5,
}

impl Digest {
    /// The cheapest on servers of a family.
    pub const fn cheapest(family: Family) -> Self {
        match family {
            Family::Mysql | Family::Mariadb => Self::Crc32,
            // It has CRC-32 only since 18.
            Family::Postgresql => Self::Md5,
        }
    }

    pub(crate) fn of(self, text: &[u8]) -> u32 {
        match self {
            Self::Crc32 => crc32fast::hash(text),
            Self::Md5 => {
                let [a, b, c, d, ..] = <[u8; 16]>::from(Md5::digest(text));
                u32::from_be_bytes([a, b, c, d])
            }
        }
    }

    /// The digest of a column as an SQL expression.
    fn sql(self, family: Family, column: &str) -> String {
        match (self, family) {
            (Self::Crc32, _) => format!("CRC32({column})"),
            // The blanks that pad a text are not part of it.
            (Self::Md5, Family::Postgresql) => {
                format!("('x' || SUBSTR(MD5({column}::text), 1, 8))::bit(32)::bigint")
            }
            (Self::Md5, _) => format!("CONV(LEFT(MD5({column}), 8), 16, 10)"),
        }
    }
}

/// Rows summed at once: so few that every sum is below 2^53 and exact in the floating-point numbers
/// that MySQL 4.1 sums with, the digests being below 2^32, and that several connections share the work
/// on a table. Without a primary key, finding a chunk may mean reading the whole table.
const CHUNK_ROWS: u64 = 1 << 18;
const CHUNK_ROWS_WITHOUT_KEY: u64 = 1 << 21;

/// The numbers below which floating-point numbers are exact.
const EXACT: u64 = 1 << 53;

/// Consecutive rows, from the first key to the last.
pub(crate) type Chunk = (u64, u64);

impl TableChecksum {
    fn new(schema: Schema) -> Self {
        Self {
            rows: 0,
            numbers: vec![0; schema.numbers().count()],
            digests: vec![0; schema.texts().count()],
        }
    }

    fn add(&mut self, row: &Row, digest: Digest) {
        self.rows += 1;
        for (sum, number) in self.numbers.iter_mut().zip(&row.numbers) {
            *sum += i128::from(*number);
        }
        for (sum, text) in self.digests.iter_mut().zip(&row.texts) {
            *sum += i128::from(digest.of(text));
        }
    }

    /// All sums, in the order of the SQL that asks for them.
    pub fn sums(&self) -> impl Iterator<Item = i128> + '_ {
        let columns = self.numbers.iter().chain(&self.digests).copied();
        std::iter::once(self.rows).chain(columns)
    }
}

/// The sums of a schema's tables as SQL expressions: rows, columns of numbers, all others.
pub(crate) fn sums_sql(schema: Schema, digest: Digest, family: Family) -> Vec<String> {
    let numbers = schema.numbers().map(|column| &column.name);
    let texts = schema.texts().map(|column| &column.name);
    std::iter::once("COUNT(*)".to_owned())
        .chain(numbers.map(|column| format!("SUM({column})")))
        .chain(texts.map(|column| format!("SUM({})", digest.sql(family, column))))
        .collect()
}

/// A table in chunks so small that the sums over each are exact on every server.
pub(crate) fn chunks(dataset: &Dataset) -> impl Iterator<Item = Chunk> + use<> {
    let size = if dataset.primary_key {
        CHUNK_ROWS
    } else {
        CHUNK_ROWS_WITHOUT_KEY
    };
    chunks_of(dataset, size.min(EXACT / largest(dataset)).max(1))
}

/// A table in chunks of this many rows.
pub(crate) fn chunks_of(dataset: &Dataset, size: u64) -> impl Iterator<Item = Chunk> + use<> {
    // A table that is empty at first may have rows when it is summed up.
    let rows = dataset.rows.max(1);
    std::iter::successors(Some(1), move |first| Some(first + size))
        .take_while(move |first| *first <= rows)
        .map(move |first| (first, rows.min(first + (size - 1))))
}

/// The greatest number in a column, without its sign; at least 1.
fn largest(dataset: &Dataset) -> u64 {
    let numbers = dataset
        .schema
        .numbers()
        .filter_map(|column| column.value.number());
    let ends = numbers.flat_map(|rule| match rule {
        NumberRule::Computed(expr) => [(expr, 1), (expr, dataset.rows)],
        NumberRule::Drawn { range, .. } => [(&range.low, 0), (&range.high, 0)],
    });
    // What can't be computed was refused before.
    let sizes = ends.map(|(expr, row)| dataset.eval(expr, row).unwrap_or(0).unsigned_abs());
    sizes.max().unwrap_or(0).max(1)
}

/// The sums of table `table`, counted from 0, as the dataset defines it.
pub fn dataset_checksums(dataset: &Dataset, table: u32, digest: Digest) -> TableChecksum {
    let rows = Rows::new(dataset, table);
    checksums(dataset, &rows, digest, (1, dataset.rows))
}

fn checksums(
    dataset: &Dataset,
    rows: &Rows,
    digest: Digest,
    (first, last): Chunk,
) -> TableChecksum {
    let mut row = rows.new_row();
    let mut sum = TableChecksum::new(dataset.schema);
    for key in first..=last {
        rows.make(key, &mut row);
        sum.add(&row, digest);
    }
    sum
}

/// Compares the sums of table `table`, counted from 0, with those that the server computes in
/// plain SQL. May take long: set the connection's timeout accordingly.
///
/// # Errors
/// When a sum differs, which names both sides, or the server does not answer.
pub fn verify_table(
    connection: &mut Connection,
    dataset: &Dataset,
    table: u32,
) -> Result<(), LoadError> {
    chunks(dataset).try_for_each(|chunk| verify_chunk(connection, dataset, table, chunk))
}

/// The same of one chunk.
pub(crate) fn verify_chunk(
    connection: &mut Connection,
    dataset: &Dataset,
    table: u32,
    (first, last): Chunk,
) -> Result<(), LoadError> {
    let name = dataset.table_name(table);
    let family = connection.family();
    let digest = Digest::cheapest(family);
    let sums = sums_sql(dataset.schema, digest, family);
    let sql = format!(
        "SELECT {} FROM {name}{}",
        sums.join(", "),
        condition(dataset, first, last)
    );
    let answer = ask(connection, &sql, || format!("verify {name}"))?;
    let rows = Rows::new(dataset, table);
    let expected = checksums(dataset, &rows, digest, (first, last));
    compare(&name, (first, last), &sums, &expected, &answer)
}

/// The chunk of a table that holds the rows `first..=last`; the first and the last chunk hold rows
/// that should not be there, too.
pub(crate) fn condition(dataset: &Dataset, first: u64, last: u64) -> String {
    let key = dataset.schema.key_column();
    let of_row = |row| key_of(dataset, row);
    match (first > 1, last < dataset.rows) {
        (false, false) => String::new(),
        (false, true) => format!(" WHERE {key} <= {}", of_row(last)),
        (true, true) => format!(
            " WHERE {key} >= {} AND {key} <= {}",
            of_row(first),
            of_row(last)
        ),
        (true, false) => format!(" WHERE {key} >= {}", of_row(first)),
    }
}

/// The key of a row as SQL writes it. Keys follow each other as the numbers of rows do.
fn key_of(dataset: &Dataset, row: u64) -> String {
    let key = dataset.schema.column(dataset.schema.key_column());
    match key.map(|column| &column.value) {
        Some(ColumnValue::Numbered(text, _)) => {
            let width = text.digits as usize;
            format!("'{}{row:0width$}{}'", text.before, text.after)
        }
        _ => row.to_string(),
    }
}

fn compare(
    table: &str,
    (first, last): Chunk,
    sums: &[String],
    expected: &TableChecksum,
    answer: &Answer,
) -> Result<(), LoadError> {
    for (column, (sum, expected)) in sums.iter().zip(expected.sums()).enumerate() {
        // The sum over no rows is NULL.
        let found = answer
            .rows
            .first()
            .and_then(|row| row.get(column)?.as_deref())
            .unwrap_or("NULL");
        if found.parse() != Ok(expected) {
            return Err(LoadError::Verify {
                table: table.to_owned(),
                first,
                last,
                sum: sum.clone(),
                found: found.to_owned(),
                expected: expected.to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SBTEST: Dataset = Dataset::sbtest(1, 100, 1);
    const FOO: Dataset = Dataset {
        schema: Schema::FOO,
        ..SBTEST
    };

    #[test]
    fn sums_of_parts_add_up() {
        for dataset in [SBTEST, FOO] {
            let rows = Rows::new(&dataset, 0);
            let whole: Vec<_> = dataset_checksums(&dataset, 0, Digest::Crc32)
                .sums()
                .collect();
            let chunks = [(1, 30), (31, 31), (32, 100)].map(|(first, last)| {
                let sum = checksums(&dataset, &rows, Digest::Crc32, (first, last));
                sum.sums().collect::<Vec<_>>()
            });
            for (column, sum) in whole.iter().enumerate() {
                assert_eq!(chunks.iter().map(|chunk| chunk[column]).sum::<i128>(), *sum);
            }
            assert_eq!(whole[..2], [100, 5050]);
            assert_eq!(
                whole.len(),
                sums_sql(dataset.schema, Digest::Crc32, Family::Mysql).len()
            );
        }
    }

    #[test]
    fn parts_leave_no_row_out() {
        assert_eq!(condition(&SBTEST, 1, 100), "");
        assert_eq!(condition(&SBTEST, 1, 30), " WHERE id <= 30");
        assert_eq!(condition(&FOO, 31, 60), " WHERE i >= 31 AND i <= 60");
        assert_eq!(condition(&SBTEST, 61, 100), " WHERE id >= 61");
        for rows in [1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS - 1] {
            let chunks: Vec<_> = chunks(&Dataset::sbtest(1, rows, 1)).collect();
            assert_eq!(chunks.first().map(|chunk| chunk.0), Some(1));
            assert_eq!(chunks.last().map(|chunk| chunk.1), Some(rows));
            assert!(chunks.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
            assert!(chunks.iter().all(|chunk| chunk.1 - chunk.0 < CHUNK_ROWS));
        }
    }

    #[test]
    fn both_sides_are_named() {
        let expected = dataset_checksums(&SBTEST, 0, Digest::Crc32);
        let answer = |sums: &[i128]| Answer {
            rows: vec![sums.iter().map(|sum| Some(sum.to_string())).collect()],
            ..Answer::default()
        };
        let sums = sums_sql(SBTEST.schema, Digest::Crc32, Family::Mysql);
        let check = |answer: &Answer| compare("sbtest1", (1, 100), &sums, &expected, answer);
        let mut values: Vec<_> = expected.sums().collect();
        assert!(check(&answer(&values)).is_ok());
        let right = values[2];
        values[2] += 1;
        let shown = check(&answer(&values)).unwrap_err().to_string();
        for word in [
            "sbtest1",
            "SUM(k)",
            &values[2].to_string(),
            &right.to_string(),
        ] {
            assert!(shown.contains(word), "{shown}");
        }
        assert!(check(&Answer::default()).is_err());
    }
}
