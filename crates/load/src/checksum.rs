//! Checking a table against its dataset, by sums that both sides can compute.

use prony_client::{Answer, Connection};
use prony_model::Dataset;

use crate::LoadError;
use crate::rows::Rows;

/// Sums over all rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableChecksum {
    /// Number of rows.
    pub count: u128,
    /// Sum of `id`.
    pub sum_id: u128,
    /// Sum of `k`.
    pub sum_k: u128,
    /// Sum of the CRC-32 (as SQL has it: IEEE) of `c`.
    pub sum_crc_c: u128,
    /// The same of `pad`.
    pub sum_crc_pad: u128,
}

/// Rows summed at once: so few that every sum is below 2^53 and exact in the floating-point numbers
/// that MySQL 4.1 sums with, the CRCs being below 2^32.
const PART_ROWS: u64 = 1 << 21;

/// The sums as SQL, in the order of [`TableChecksum::sums`].
const SUMS: [&str; 5] = [
    "COUNT(*)",
    "SUM(id)",
    "SUM(k)",
    "SUM(CRC32(c))",
    "SUM(CRC32(pad))",
];

impl TableChecksum {
    const fn sums(&self) -> [u128; 5] {
        [
            self.count,
            self.sum_id,
            self.sum_k,
            self.sum_crc_c,
            self.sum_crc_pad,
        ]
    }
}

/// The sums of table `table`, counted from 0, as the dataset defines it.
pub fn dataset_checksums(dataset: &Dataset, table: u32) -> TableChecksum {
    checksums(&Rows::new(dataset, table), 1, dataset.rows)
}

fn checksums(rows: &Rows, first: u64, last: u64) -> TableChecksum {
    let mut row = rows.new_row();
    let mut sum = TableChecksum::default();
    for id in first..=last {
        rows.make(id, &mut row);
        sum.count += 1;
        sum.sum_id += u128::from(row.id);
        sum.sum_k += u128::from(row.k);
        sum.sum_crc_c += u128::from(crc32fast::hash(&row.c));
        sum.sum_crc_pad += u128::from(crc32fast::hash(&row.pad));
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
    let name = dataset.table_name(table);
    let rows = Rows::new(dataset, table);
    let mut first = 1;
    while first <= dataset.rows {
        let last = dataset.rows.min(first + PART_ROWS - 1);
        let sql = format!(
            "SELECT {} FROM {name}{}",
            SUMS.join(", "),
            condition(dataset, first, last)
        );
        let answer = connection.query(&sql).map_err(|source| LoadError::Fill {
            action: format!("verify {name}"),
            source,
        })?;
        compare(
            &name,
            (first, last),
            &checksums(&rows, first, last),
            &answer,
        )?;
        first = last + 1;
    }
    Ok(())
}

/// The part of a table that holds the rows `first..=last`; the first and the last part hold rows
/// that should not be there, too.
fn condition(dataset: &Dataset, first: u64, last: u64) -> String {
    match (first > 1, last < dataset.rows) {
        (false, false) => String::new(),
        (false, true) => format!(" WHERE id <= {last}"),
        (true, true) => format!(" WHERE id >= {first} AND id <= {last}"),
        (true, false) => format!(" WHERE id >= {first}"),
    }
}

fn compare(
    table: &str,
    (first, last): (u64, u64),
    expected: &TableChecksum,
    answer: &Answer,
) -> Result<(), LoadError> {
    for (column, (sum, expected)) in SUMS.into_iter().zip(expected.sums()).enumerate() {
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
                sum,
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

    const DATASET: Dataset = Dataset::sbtest(1, 100, 1);

    #[test]
    fn parts_add_up() {
        let rows = Rows::new(&DATASET, 0);
        let whole = dataset_checksums(&DATASET, 0).sums();
        let parts = [(1, 30), (31, 31), (32, 100)]
            .map(|(first, last)| checksums(&rows, first, last).sums());
        for (column, sum) in whole.into_iter().enumerate() {
            assert_eq!(parts.iter().map(|part| part[column]).sum::<u128>(), sum);
        }
        assert_eq!(whole[..2], [100, 5050]);
    }

    #[test]
    fn parts_leave_no_row_out() {
        assert_eq!(condition(&DATASET, 1, 100), "");
        assert_eq!(condition(&DATASET, 1, 30), " WHERE id <= 30");
        assert_eq!(condition(&DATASET, 31, 60), " WHERE id >= 31 AND id <= 60");
        assert_eq!(condition(&DATASET, 61, 100), " WHERE id >= 61");
    }

    #[test]
    fn both_sides_are_named() {
        let expected = dataset_checksums(&DATASET, 0);
        let answer = |sums: [u128; 5]| Answer {
            rows: vec![sums.iter().map(|sum| Some(sum.to_string())).collect()],
            ..Answer::default()
        };
        let check = |answer: &Answer| compare("sbtest1", (1, 100), &expected, answer);
        assert!(check(&answer(expected.sums())).is_ok());
        let mut wrong = expected.sums();
        wrong[2] += 1;
        let shown = check(&answer(wrong)).unwrap_err().to_string();
        for word in [
            "sbtest1",
            "SUM(k)",
            &wrong[2].to_string(),
            &expected.sum_k.to_string(),
        ] {
            assert!(shown.contains(word), "{shown}");
        }
        assert!(check(&Answer::default()).is_err());
    }
}
