//! How a server means to run each statement: its answers to `EXPLAIN`.

use std::collections::BTreeSet;

use prony_client::{Answer, ClientError};
use prony_load::sample_statements;
use prony_model::Plan;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::server::Server;

/// `ER_PARSE_ERROR`: the version explains other kinds of statement only. Before MySQL 5.6 and
/// MariaDB 10.0 these are all but `SELECT`.
const PARSE_ERROR: u16 = 1064;

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

/// Explains every statement of every entry of the sequence, with the values of its first
/// operation.
pub(crate) fn all(server: &Server, plan: &Plan) -> Result<Vec<PlanText>, Fault> {
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
            let explain = format!("EXPLAIN {sql}");
            match server.ask(&explain) {
                Ok(answer) => texts.push(PlanText {
                    entry: step.entry,
                    statement,
                    json: rows(&answer).to_string(),
                }),
                Err(ClientError::Server { code, .. }) if code == PARSE_ERROR => {}
                Err(error) => {
                    let reason = format!("failed to {error} (in `{explain}`)");
                    return Err(Fault::failed_with_log(reason, server.log_tail()));
                }
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
