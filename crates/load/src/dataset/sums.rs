//! Sums over a table that any version can compute in plain SQL, exactly.

use std::collections::BTreeMap;

use prony_client::{ClientError, Connection};
use prony_model::Dataset;
use prony_wire::codes;
use serde::{Deserialize, Serialize};

use crate::LoadError;
use crate::dataset::ask;
use crate::dataset::checksum::{Digest, chunks, chunks_of, condition, sums_sql};

/// Rows whose texts are in memory at once.
const TEXT_ROWS: u64 = 1 << 14;

/// Sums over all rows of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSums {
    /// The table's name.
    pub table: String,
    /// True for a table beside the main ones: changes that workloads count are those of main tables.
    #[serde(default)]
    pub further: bool,
    /// Number of rows.
    pub rows: u64,
    /// By column: the sum of a column of numbers, or the sum of the first 32 bits of the MD5 of each text
    /// of a column.
    #[serde(with = "as_text")]
    pub sums: BTreeMap<String, i128>,
}

/// A table whose sums are asked for.
#[derive(Debug, Clone, Copy)]
pub struct TableToSum {
    /// The part of the dataset that it belongs to.
    part: Dataset,
    /// Its number in it, from 0 on.
    number: u32,
    /// True where it stands beside a main table.
    further: bool,
}

/// All tables of a dataset, main tables first.
pub fn tables_to_sum(dataset: &Dataset) -> impl Iterator<Item = TableToSum> + use<> {
    let whole = dataset.schema;
    dataset.parts().into_iter().flat_map(move |part| {
        (0..part.tables).map(move |number| TableToSum {
            part,
            number,
            further: part.schema != whole,
        })
    })
}

/// Asks the server for the sums of a table as it is now. May take long: set the connection's timeout
/// accordingly.
///
/// # Errors
/// When the server does not answer, or not with numbers.
pub fn table_sums(connection: &mut Connection, table: &TableToSum) -> Result<TableSums, LoadError> {
    let dataset = &table.part;
    let name = dataset.table_name(table.number);
    let schema = dataset.schema;
    let expressions = sums_sql(schema, Digest::Md5, connection.family());
    let totals = match sums(connection, dataset, &name, &expressions) {
        Err(error) if lacks_function(&error) => {
            let numbers = &expressions[..=schema.numbers().count()];
            let mut totals = sums(connection, dataset, &name, numbers)?;
            totals.extend(sums_of_texts(connection, dataset, &name)?);
            totals
        }
        totals => totals?,
    };
    let columns = schema.numbers().chain(schema.texts());
    Ok(TableSums {
        table: name,
        further: table.further,
        rows: u64::try_from(totals[0]).unwrap_or(0),
        sums: columns
            .map(|column| column.name.clone())
            .zip(totals[1..].iter().copied())
            .collect(),
    })
}

/// The sums that the server computes.
fn sums(
    connection: &mut Connection,
    dataset: &Dataset,
    name: &str,
    expressions: &[String],
) -> Result<Vec<i128>, LoadError> {
    let mut totals = vec![0_i128; expressions.len()];
    for (first, last) in chunks(dataset) {
        let condition = condition(dataset, first, last);
        let sql = format!("SELECT {} FROM {name}{condition}", expressions.join(", "));
        let answer = ask(connection, &sql, || format!("sum up {name}"))?;
        for (column, total) in totals.iter_mut().enumerate() {
            let found = answer.rows.first().and_then(|row| row.get(column));
            *total += sum_of(found).ok_or_else(|| LoadError::Sum {
                table: name.to_owned(),
                sum: expressions[column].clone(),
                found: found.cloned().flatten().unwrap_or_default(),
            })?;
        }
    }
    Ok(totals)
}

/// True where the server has no such function: MySQL has no MD5 since 9.6.
fn lacks_function(error: &LoadError) -> bool {
    matches!(
        error,
        LoadError::Fill { source: ClientError::Server { code, .. }, .. }
            if *code == codes::SP_DOES_NOT_EXIST.into()
    )
}

/// The sums of the columns of text, from the texts themselves.
fn sums_of_texts(
    connection: &mut Connection,
    dataset: &Dataset,
    name: &str,
) -> Result<Vec<i128>, LoadError> {
    let texts = dataset.schema.text_columns();
    let mut totals = vec![0; texts.len()];
    if texts.is_empty() {
        return Ok(totals);
    }
    for (first, last) in chunks_of(dataset, TEXT_ROWS) {
        let condition = condition(dataset, first, last);
        let sql = format!("SELECT {} FROM {name}{condition}", texts.join(", "));
        for row in ask(connection, &sql, || format!("read {name}"))?.rows {
            for (total, text) in totals.iter_mut().zip(row) {
                let digest = Digest::Md5.of(text.unwrap_or_default().as_bytes());
                *total += i128::from(digest);
            }
        }
    }
    Ok(totals)
}

/// The number in a column of an answer; the sum over no rows is NULL.
fn sum_of(column: Option<&Option<String>>) -> Option<i128> {
    column?.as_ref().map_or(Some(0), |text| text.parse().ok())
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
    fn sums_of_any_width_travel() {
        let sums = TableSums {
            table: "sbtest1".into(),
            further: false,
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
