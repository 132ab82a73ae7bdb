//! The execution plans of the servers for each statement, and their differences.
//!
//! Only the parts that decide how rows are found are compared: table, access type, index and how
//! much of it is used, and extra work on the way. Estimates of rows are not compared. Servers of
//! PostgreSQL answer without estimates, and all of it is compared.

use std::collections::{BTreeMap, BTreeSet};

use prony_store::Store;
use serde_json::Value;

use crate::error::ReportError;

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

/// The answer of one server to `EXPLAIN`.
#[derive(Debug)]
pub(crate) struct ExecutionPlan {
    /// The rows as stored.
    pub(crate) rows: Value,
    /// The parts that are compared, as people read them.
    pub(crate) words: String,
}

impl ExplainedStatement {
    /// Whether the plans of all servers that explained it are the same.
    pub(crate) fn equal(&self) -> bool {
        let words: BTreeSet<&str> = self.plans.iter().map(|(_, p)| p.words.as_str()).collect();
        words.len() < 2
    }
}

/// Every statement that any target explained, in the order of the plan.
pub(crate) fn read(store: &Store) -> Result<Vec<ExplainedStatement>, ReportError> {
    let plan = store.plan();
    let mut by_statement: BTreeMap<(usize, String), Vec<(usize, ExecutionPlan)>> = BTreeMap::new();
    for row in store.plan_texts()? {
        let rows =
            serde_json::from_str(&row.answer_json).map_err(|error| ReportError::ExecutionPlan {
                target: plan.targets[row.target].name.clone(),
                statement: row.statement.clone(),
                problem: error.to_string(),
            })?;
        let words = words(&rows);
        let plan = ExecutionPlan { rows, words };
        by_statement
            .entry((row.entry, row.statement))
            .or_default()
            .push((row.target, plan));
    }
    let name = |entry: usize| {
        let step = plan.steps.iter().find(|step| step.entry == entry);
        step.map_or_else(|| format!("entry {entry}"), |step| step.name.clone())
    };
    Ok(by_statement
        .into_iter()
        .map(|((entry, statement), plans)| ExplainedStatement {
            step: name(entry),
            statement,
            plans,
        })
        .collect())
}

/// The only column of PostgreSQL's answers.
const TREE: &str = "QUERY PLAN";

/// The parts of a plan that are compared: `range on t1 by k_1 (4 bytes), Using where`, table after table.
fn words(rows: &Value) -> String {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Option<Vec<&str>> = rows.iter().map(|row| row.get(TREE)?.as_str()).collect();
    if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
        return tree_words(&lines);
    }
    let rows: Vec<String> = rows.iter().map(row_words).collect();
    if rows.is_empty() {
        "nothing".into()
    } else {
        rows.join(" + ")
    }
}

/// A tree of nodes, as PostgreSQL writes it, in one line: `Sort, Sort Key: c [Seq Scan on t1]`. Brackets
/// enclose the nodes that a node takes its rows from.
fn tree_words(lines: &[&str]) -> String {
    let mut words = String::new();
    // The indents of the node under way and of those around it.
    let mut nodes: Vec<usize> = Vec::new();
    for line in lines {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let node = match text.strip_prefix("->") {
            Some(node) => node.trim(),
            None if nodes.is_empty() => text,
            None => {
                words.push_str(", ");
                words.push_str(text.trim_end());
                continue;
            }
        };
        let ended = nodes.iter().filter(|around| **around >= indent).count();
        if ended > 0 {
            words.push_str(&"]".repeat(ended - 1));
            words.push_str("; ");
        } else if !nodes.is_empty() {
            words.push_str(" [");
        }
        nodes.truncate(nodes.len() - ended);
        nodes.push(indent);
        words.push_str(node);
    }
    words.push_str(&"]".repeat(nodes.len().saturating_sub(1)));
    words
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
    let access: Vec<String> = [
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
    let access = access.join(" ");
    let words: Vec<&str> = std::iter::once(access.as_str()).chain(extras).collect();
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
    fn a_tree_becomes_one_line() {
        let tree = |lines: &[&str]| {
            let rows = lines.iter().map(|line| json!({ "QUERY PLAN": line }));
            words(&Value::Array(rows.collect()))
        };
        assert_eq!(tree(&["Seq Scan on t"]), "Seq Scan on t");
        let join = [
            "Sort",
            "  Sort Key: a.c",
            "  ->  Hash Join",
            "        Hash Cond: (a.id = b.id)",
            "        ->  Seq Scan on a",
            "              Filter: (k > 1)",
            "        ->  Hash",
            "              ->  Seq Scan on b",
        ];
        assert_eq!(
            tree(&join),
            "Sort, Sort Key: a.c [Hash Join, Hash Cond: (a.id = b.id) \
             [Seq Scan on a, Filter: (k > 1); Hash [Seq Scan on b]]]"
        );
        let append = [
            "Append",
            "  ->  Sort",
            "        ->  Seq Scan on a",
            "  ->  Seq Scan on b",
        ];
        assert_eq!(
            tree(&append),
            "Append [Sort [Seq Scan on a]; Seq Scan on b]"
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
