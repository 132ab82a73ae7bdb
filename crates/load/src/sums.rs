//! Sums over a table that any version can compute in plain SQL, exactly.

use std::collections::BTreeMap;

use prony_client::Connection;
use prony_model::Dataset;
use serde::{Deserialize, Serialize};

use crate::LoadError;

/// Sums over all rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSums {
    /// The table's name.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// By column: the sum of a column of numbers, or the sum of the CRC-32 (as SQL has it: IEEE)
    /// of a column of text.
    #[serde(with = "as_text")]
    pub sums: BTreeMap<String, i128>,
}

/// Rows summed at once: so few that every sum is below 2^53 and exact in the floating-point numbers
/// that MySQL 4.1 sums with, even where half as many rows were inserted behind the dataset's own.
const PART_ROWS: u64 = 1 << 20;

/// Asks the server for the sums of table `table`, counted from 0, as it is now. May take long: set
/// the connection's timeout accordingly.
///
/// # Errors
/// When the server does not answer, or not with numbers.
pub fn table_sums(
    connection: &mut Connection,
    dataset: &Dataset,
    table: u32,
) -> Result<TableSums, LoadError> {
    let name = dataset.table_name(table);
    let schema = dataset.schema;
    let numbers = schema.number_columns().iter();
    let texts = schema.text_columns().iter();
    let expressions: Vec<String> = std::iter::once("COUNT(*)".to_owned())
        .chain(numbers.map(|column| format!("SUM({column})")))
        .chain(texts.map(|column| format!("SUM(CRC32({column}))")))
        .collect();
    let mut totals = vec![0_i128; expressions.len()];
    for condition in conditions(schema.key_column(), dataset.rows) {
        let sql = format!("SELECT {} FROM {name}{condition}", expressions.join(", "));
        let answer = connection.query(&sql).map_err(|source| LoadError::Fill {
            action: format!("sum up {name}"),
            source,
        })?;
        for (column, total) in totals.iter_mut().enumerate() {
            let found = answer.rows.first().and_then(|row| row.get(column));
            *total += sum_of(found).ok_or_else(|| LoadError::Sum {
                table: name.clone(),
                sum: expressions[column].clone(),
                found: found.cloned().flatten().unwrap_or_default(),
            })?;
        }
    }
    let columns = schema.number_columns().iter().chain(schema.text_columns());
    Ok(TableSums {
        table: name,
        rows: u64::try_from(totals[0]).unwrap_or(0),
        sums: columns
            .map(|column| (*column).to_owned())
            .zip(totals[1..].iter().copied())
            .collect(),
    })
}

/// The number in a column of an answer; the sum over no rows is NULL.
fn sum_of(column: Option<&Option<String>>) -> Option<i128> {
    column?.as_ref().map_or(Some(0), |text| text.parse().ok())
}

/// Conditions that part the rows by their keys, so that every row is in one part. The last part
/// is open, for rows may have been inserted behind the dataset's own.
fn conditions(key: &str, rows: u64) -> Vec<String> {
    let parts = rows.div_ceil(PART_ROWS).max(1);
    (0..parts)
        .map(|part| {
            let first = part * PART_ROWS + 1;
            let last = (part + 1) * PART_ROWS;
            match (part == 0, part + 1 == parts) {
                (true, true) => String::new(),
                (true, false) => format!(" WHERE {key} <= {last}"),
                (false, false) => format!(" WHERE {key} >= {first} AND {key} <= {last}"),
                (false, true) => format!(" WHERE {key} >= {first}"),
            }
        })
        .collect()
}

/// Sums travel as text: they may be wider than the numbers of JSON.
mod as_text {
    use std::collections::BTreeMap;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        sums: &BTreeMap<String, i128>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(sums.iter().map(|(name, sum)| (name, sum.to_string())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, i128>, D::Error> {
        BTreeMap::<String, String>::deserialize(deserializer)?
            .into_iter()
            .map(|(name, sum)| Ok((name, sum.parse().map_err(D::Error::custom)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_leave_no_row_out() {
        assert_eq!(conditions("id", 1), [""]);
        assert_eq!(conditions("id", PART_ROWS), [""]);
        assert_eq!(
            conditions("i", 2 * PART_ROWS + 1),
            [
                " WHERE i <= 1048576",
                " WHERE i >= 1048577 AND i <= 2097152",
                " WHERE i >= 2097153"
            ]
        );
    }

    #[test]
    fn sums_of_any_width_travel() {
        let sums = TableSums {
            table: "sbtest1".into(),
            rows: 3,
            sums: [("id".to_owned(), i128::MAX), ("k".to_owned(), -5)].into(),
        };
        let json = serde_json::to_string(&sums).unwrap();
        assert_eq!(serde_json::from_str::<TableSums>(&json).unwrap(), sums);
    }

    #[test]
    fn nothing_sums_up_to_zero() {
        assert_eq!(sum_of(Some(&None)), Some(0));
        assert_eq!(sum_of(Some(&Some("17".into()))), Some(17));
        assert_eq!(sum_of(Some(&Some("1e+16".into()))), None);
        assert_eq!(sum_of(None), None);
    }
}
