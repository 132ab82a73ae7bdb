//! The lowest and the highest keys of tables, as the server has them.

use prony_client::Connection;
use prony_model::Dataset;

use crate::dataset::ask;
use crate::values::marks::Marks;
use crate::{Job, LoadError};

/// Asks over a connection of its own, which is closed again.
pub(crate) fn of_tables(job: &Job, dataset: &Dataset) -> Result<Marks, LoadError> {
    let mut connection = job.connect(0, 1)?;
    read(&mut connection, dataset)
}

/// Asks for the lowest and the highest key of each table; a table without rows has 1 and 0.
pub(crate) fn read(connection: &mut Connection, dataset: &Dataset) -> Result<Marks, LoadError> {
    let key = dataset.schema.key_column();
    let keys = dataset.table_names().map(|table| {
        let sql = format!("SELECT MIN({key}), MAX({key}) FROM {table}");
        let answer = ask(connection, sql, || format!("read the keys of {table}"))?;
        let row = answer.rows.into_iter().next().unwrap_or_default();
        let mut numbers = row
            .into_iter()
            .map(|key| key.map_or(Ok(None), |key| key.parse().map(Some)));
        match (numbers.next(), numbers.next()) {
            (Some(Ok(Some(lowest))), Some(Ok(Some(highest)))) => Ok([lowest, highest]),
            (Some(Ok(None)), Some(Ok(None))) => Ok([1, 0]),
            _ => Err(LoadError::Keys { table }),
        }
    });
    keys.collect::<Result<Vec<[i64; 2]>, _>>().map(Marks::new)
}
