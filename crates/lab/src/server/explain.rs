//! The execution plans of a server: its answers to `EXPLAIN`.

use std::collections::BTreeSet;
use std::fmt;

use prony_client::Answer;
use prony_load::sample_statements;
use prony_model::Plan;
use prony_servers::admin::Explainer;
use serde_json::{Map, Value};

use super::{Server, Variables};
use crate::fault::Fault;

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
    let failed = |error: &dyn fmt::Display| {
        Fault::failed_with_log(format!("failed to {error}"), server.log_tail())
    };
    let mut asked = server.connect().map_err(|error| failed(&error))?;
    let connection = server.connect().map_err(|error| failed(&error))?;
    let mut explainer = Explainer::new(connection, variables).map_err(|error| failed(&error))?;
    let mut texts = Vec::new();
    let mut entries = BTreeSet::new();
    for step in &plan.steps {
        if !entries.insert(step.entry) {
            continue;
        }
        let own = step.own();
        let (workload, parameters) = (&own.workload, &own.parameters);
        let statements = sample_statements(
            asked.family(),
            Some(&mut asked),
            workload,
            parameters,
            &plan.dataset,
            plan.seed,
        )
        .map_err(|error| Fault::failed(format!("failed to explain: {error}")))?;
        for (statement, sql) in statements {
            let answer = explainer.explain(&sql).map_err(|error| failed(&error))?;
            texts.extend(answer.map(|answer| PlanText {
                entry: step.entry,
                statement,
                json: rows(&answer).to_string(),
            }));
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
