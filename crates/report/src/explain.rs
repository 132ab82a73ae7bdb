//! How the servers mean to answer each statement, and where they do not mean to do the same.
//!
//! Compared is what decides how rows are found: table, access type, index and how much of it is
//! used, and what is done on the way. Estimates of rows are not compared.

use std::collections::{BTreeMap, BTreeSet};

use prony_store::Store;
use serde_json::Value;

use crate::analysis::Analysis;
use crate::document::Block;
use crate::figures::plural;
use crate::render::ReportError;

/// One statement with the plans of the targets that explained it.
#[derive(Debug)]
pub(crate) struct ExplainedStatement {
    /// Name of the step.
    pub(crate) step: String,
    /// Name of the statement.
    pub(crate) statement: String,
    /// By index of the target, ascending.
    pub(crate) plans: Vec<(usize, ExecutionPlan)>,
}

/// What one server answered to `EXPLAIN`.
#[derive(Debug)]
pub(crate) struct ExecutionPlan {
    /// The rows as stored.
    pub(crate) rows: Value,
    /// What is compared, as people read it.
    words: String,
}

impl ExplainedStatement {
    /// Whether all servers that explained it mean to do the same.
    pub(crate) fn equal(&self) -> bool {
        let words: BTreeSet<&str> = self.plans.iter().map(|(_, p)| p.words.as_str()).collect();
        words.len() < 2
    }
}

/// Every statement that any target explained, in the order of the plan.
pub(crate) fn read(store: &Store) -> Result<Vec<ExplainedStatement>, ReportError> {
    let plan = store.plan();
    let mut found: BTreeMap<(usize, String), Vec<(usize, ExecutionPlan)>> = BTreeMap::new();
    for row in store.plan_texts()? {
        let rows =
            serde_json::from_str(&row.answer_json).map_err(|error| ReportError::ExecutionPlan {
                target: plan.targets[row.target].name.clone(),
                statement: row.statement.clone(),
                problem: error.to_string(),
            })?;
        let words = words(&rows);
        let plan = ExecutionPlan { rows, words };
        found
            .entry((row.entry, row.statement))
            .or_default()
            .push((row.target, plan));
    }
    let name = |entry: usize| {
        let step = plan.steps.iter().find(|step| step.entry == entry);
        step.map_or_else(|| format!("entry {entry}"), |step| step.name.clone())
    };
    Ok(found
        .into_iter()
        .map(|((entry, statement), plans)| ExplainedStatement {
            step: name(entry),
            statement,
            plans,
        })
        .collect())
}

/// The section of a report: differences one by one, the rest in a line.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let statements = &analysis.statements;
    if statements.is_empty() || analysis.plan.targets.len() < 2 {
        return Vec::new();
    }
    let differing: Vec<String> = statements
        .iter()
        .filter(|statement| !statement.equal())
        .map(|statement| item(analysis, statement))
        .collect();
    let mut blocks = vec![Block::Heading("Execution plans".into())];
    let all = plural(statements.len() as u64, "statement");
    if differing.is_empty() {
        let text = format!("The same in all targets for {all}.");
        blocks.push(Block::Paragraph(text));
    } else {
        let text = format!("Different for {} of {all}:", differing.len());
        blocks.push(Block::Paragraph(text));
        blocks.push(Block::List(differing));
    }
    blocks.extend(unexplained(analysis));
    blocks
}

fn item(analysis: &Analysis<'_>, statement: &ExplainedStatement) -> String {
    let mut by_words: Vec<(&str, Vec<&str>)> = Vec::new();
    for (target, plan) in &statement.plans {
        let name = analysis.plan.targets[*target].name.as_str();
        match by_words.iter_mut().find(|(words, _)| *words == plan.words) {
            Some((_, names)) => names.push(name),
            None => by_words.push((&plan.words, vec![name])),
        }
    }
    let parts: Vec<String> = by_words
        .iter()
        .map(|(words, names)| format!("{words} [{}]", names.join(", ")))
        .collect();
    format!(
        "{}, `{}`: {}",
        statement.step,
        statement.statement,
        parts.join("; ")
    )
}

/// Targets that could not explain every statement, in one line.
fn unexplained(analysis: &Analysis<'_>) -> Option<Block> {
    let statements = &analysis.statements;
    let missing: Vec<String> = analysis
        .columns()
        .into_iter()
        .filter_map(|target| {
            let has = |statement: &&ExplainedStatement| {
                statement.plans.iter().any(|(index, _)| *index == target)
            };
            let explained = statements.iter().filter(has).count();
            let name = &analysis.plan.targets[target].name;
            let all = statements.len();
            (explained < all).then(|| format!("{name} {explained} of {all}"))
        })
        .collect();
    (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        Block::Paragraph(format!(
            "Not every version explains every statement: {missing}."
        ))
    })
}

/// What is compared of a plan: `range on t1 by k_1 (4 bytes), Using where`, table after table.
fn words(rows: &Value) -> String {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<String> = rows.iter().map(row_words).collect();
    if rows.is_empty() {
        "nothing".into()
    } else {
        rows.join(" + ")
    }
}

fn row_words(row: &Value) -> String {
    let column = |name: &str| {
        row.get(name)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    // Updates over a range: some MySQL versions say `const` here, others and MariaDB nothing.
    let scans = ["range", "index", "ALL", "index_merge"];
    let compares = column("type").is_some_and(|access| !scans.contains(&access));
    let reference = column("ref").filter(|_| compares);
    let found: Vec<String> = [
        Some(column("type").unwrap_or("no table access").to_owned()),
        column("table").map(|table| format!("on {table}")),
        column("key").map(|key| format!("by {key}")),
        column("key_len").map(|length| format!("({length} bytes)")),
        reference.map(|reference| format!("= {reference}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut extras: Vec<&str> = column("Extra")
        .unwrap_or_default()
        .split(';')
        .map(str::trim)
        .filter(|extra| !extra.is_empty())
        .collect();
    extras.sort_unstable();
    let found = found.join(" ");
    let words: Vec<&str> = std::iter::once(found.as_str()).chain(extras).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plans_are_compared_by_what_they_do() {
        let old = json!([{ "id": "1", "select_type": "SIMPLE", "table": "e", "type": "range",
            "possible_keys": "PRIMARY", "key": "PRIMARY", "key_len": "4", "ref": null,
            "rows": "2", "Extra": "Using where; Using temporary" }]);
        let new = json!([{ "id": "1", "select_type": "SIMPLE", "table": "e", "partitions": null,
            "type": "range", "possible_keys": "PRIMARY", "key": "PRIMARY", "key_len": "4",
            "ref": null, "rows": "3", "filtered": "100.00",
            "Extra": "Using temporary; Using where" }]);
        assert_eq!(words(&old), words(&new));
        assert_eq!(
            words(&old),
            "range on e by PRIMARY (4 bytes), Using temporary, Using where"
        );
    }

    #[test]
    fn empty_and_missing_columns_are_the_same() {
        let one = json!([{ "table": "e", "type": "const", "ref": "const", "Extra": "" }]);
        let other = json!([{ "table": "e", "type": "const", "ref": "const", "Extra": null }]);
        assert_eq!(words(&one), words(&other));
        assert_eq!(words(&one), "const on e = const");
        let one = json!([{ "table": "e", "type": "range", "ref": "const" }]);
        let other = json!([{ "table": "e", "type": "range", "ref": null }]);
        assert_eq!(words(&one), words(&other));
        assert_eq!(words(&json!([])), "nothing");
        assert_eq!(words(&json!([{}])), "no table access");
    }
}
