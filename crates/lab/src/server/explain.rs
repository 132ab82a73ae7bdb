//! The execution plans of a server: its answers to `EXPLAIN`.

use std::collections::BTreeSet;

use prony_client::{Answer, ClientError};
use prony_load::sample_statements;
use prony_model::Plan;
use serde_json::{Map, Value};

use super::{Server, Variables};
use crate::fault::Fault;

/// `ER_PARSE_ERROR`: the version explains other kinds of statement only. Before MySQL 5.6 and
/// MariaDB 10.0 these are all but `SELECT`.
const PARSE_ERROR: u16 = 1064;

/// Chooses between a table and a tree where a version has it. The table is what all have.
const FORMAT: &str = "explain_format";

/// The statements that are explained. What versions say of an `INSERT` is worded differently and
/// means the same.
const EXPLAINED: [&str; 4] = ["select", "update", "delete", "with"];

/// The answer for one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanText {
    /// Entry of the sequence that the statement belongs to.
    pub(crate) entry: usize,
    /// The statement's name in its workload.
    pub(crate) statement: String,
    /// The rows of the answer, an array of objects by column.
    pub(crate) json: String,
}

/// Explains the statements of every entry of the sequence, with the values of its first
/// operation. `variables` are the server's.
pub(crate) fn explain_all(
    server: &Server,
    plan: &Plan,
    variables: &Variables,
) -> Result<Vec<PlanText>, Fault> {
    let failed = |error: &ClientError, sql: &str| {
        let reason = format!("failed to {error} (in `{sql}`)");
        Fault::failed_with_log(reason, server.log_tail())
    };
    let mut connection = server
        .connect()
        .map_err(|error| failed(&error, "EXPLAIN"))?;
    if variables.contains_key(FORMAT) {
        let sql = format!("SET SESSION {FORMAT} = 'TRADITIONAL'");
        connection
            .query(&sql)
            .map_err(|error| failed(&error, &sql))?;
    }
    let mut texts = Vec::new();
    let mut seen = BTreeSet::new();
    for step in &plan.steps {
        if !seen.insert(step.entry) {
            continue;
        }
        let statements =
            sample_statements(&step.workload, &step.parameters, &plan.dataset, plan.seed)
                .map_err(|error| Fault::failed(format!("failed to explain: {error}")))?;
        for (statement, sql) in statements {
            let verb = sql.split_whitespace().next().unwrap_or_default();
            if !EXPLAINED
                .iter()
                .any(|known| verb.eq_ignore_ascii_case(known))
            {
                continue;
            }
            let explain = format!("EXPLAIN {sql}");
            match connection.query(&explain) {
                Ok(answer) => texts.push(PlanText {
                    entry: step.entry,
                    statement,
                    json: rows(&answer).to_string(),
                }),
                Err(ClientError::Server { code, .. }) if code == PARSE_ERROR => {}
                Err(error) => return Err(failed(&error, &explain)),
            }
        }
    }
    Ok(texts)
}

fn rows(answer: &Answer) -> Value {
    let object = |row: &Vec<Option<String>>| {
        let cells = answer.columns.iter().cloned().zip(row.iter().cloned());
        Value::Object(
            cells
                .map(|(name, cell)| (name, cell.into()))
                .collect::<Map<_, _>>(),
        )
    };
    Value::Array(answer.rows.iter().map(object).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_null_apart_from_empty() {
        let answer = Answer {
            columns: vec!["key".into(), "Extra".into()],
            rows: vec![vec![None, Some(String::new())]],
            ..Answer::default()
        };
        assert_eq!(rows(&answer).to_string(), r#"[{"Extra":"","key":null}]"#);
    }
}
