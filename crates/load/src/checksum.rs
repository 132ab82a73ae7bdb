//! Checking a table against its dataset, by sums that both sides can compute.

use prony_client::Connection;
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
    let rows = Rows::new(dataset, table);
    let mut row = rows.new_row();
    let mut sum = TableChecksum::default();
    for id in 1..=dataset.rows {
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
    let name = Dataset::table_name(table);
    let sql = format!("SELECT {} FROM {name}", SUMS.join(", "));
    let answer = connection.query(&sql).map_err(|source| LoadError::Fill {
        action: format!("verify {name}"),
        source,
    })?;
    let expected = dataset_checksums(dataset, table).sums();
    for (column, (sum, expected)) in SUMS.into_iter().zip(expected).enumerate() {
        // The sum over no rows is NULL.
        let found = answer
            .rows
            .first()
            .and_then(|row| row.get(column)?.as_deref())
            .unwrap_or("NULL");
        if found.parse() != Ok(expected) {
            return Err(LoadError::Verify {
                table: name,
                sum,
                found: found.to_owned(),
                expected: expected.to_string(),
            });
        }
    }
    Ok(())
}
