//! The conditions of a schema: sentences that are true after every transaction.

use prony_client::Connection;
use prony_model::Dataset;

use crate::LoadError;
use crate::dataset::ask;

/// Asks the server how often each condition of the dataset's schema is violated in each set of tables.
/// Returns those that are, in words.
///
/// # Errors
/// When the server does not answer, or not with one number.
pub fn violations(
    connection: &mut Connection,
    dataset: &Dataset,
) -> Result<Vec<String>, LoadError> {
    let mut violated = Vec::new();
    for set in 0..dataset.tables {
        for condition in &dataset.schema.conditions {
            let name = &condition.name;
            // Planning refuses servers that a condition has no text for.
            let Some(sql) = condition.sql.of(connection.family()) else {
                continue;
            };
            let sql = dataset.sql_of_set(sql, set);
            let answer = ask(connection, &sql, || format!("check the condition `{name}`"))?;
            let number = match &answer.rows[..] {
                [row] => row.first().and_then(|number| number.as_deref()),
                _ => None,
            };
            match number {
                Some("0") => {}
                Some(times) if times.parse::<i64>().is_ok() => violated.push(format!(
                    "the condition `{name}` of {} is violated {times} times",
                    dataset.table_name(set)
                )),
                found => {
                    return Err(LoadError::Condition {
                        condition: name.clone(),
                        found: found.unwrap_or("no number").to_owned(),
                    });
                }
            }
        }
    }
    Ok(violated)
}
