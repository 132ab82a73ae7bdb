//! Outcome of a check, and the problems in it.

use std::collections::BTreeSet;

use prony_model::{Effect, Statement, Workload};
use serde::{Deserialize, Serialize};

use crate::dataset::sums::TableSums;

/// Outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// Per statement of the workload, in its order.
    pub statements: Vec<CheckedStatement>,
    /// Every table as it was before, in order.
    pub before: Vec<TableSums>,
    /// Every table as it was after, in order.
    pub after: Vec<TableSums>,
    /// The conditions of the schema that were violated after it, in words.
    #[serde(default)]
    pub violations: Vec<String>,
}

/// The answers to one statement of the workload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedStatement {
    /// Its name in the workload.
    pub name: String,
    /// Times it was answered.
    pub count: u64,
    /// Rows returned.
    pub rows: u64,
    /// Rows changed, as the server reports them.
    pub affected: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
    /// Sum, wrapping, over all rows returned of a hash of the row's values as text: the same for
    /// the same rows in any order.
    pub digest: u64,
    /// The first unexpected answer, in words.
    pub first_unexpected: Option<String>,
}

impl CheckOutcome {
    /// Problems after running `workload`, in words; empty if there are none.
    ///
    /// Every answer must have the counts that its statement expects. Over all tables together,
    /// each sum must have changed by what the changed rows add to it ([`prony_model::Change`]):
    /// the number of rows, unless a workload that grows or shrinks tables does not say by how
    /// much, and every column that a statement names. A workload without effect changes nothing.
    pub fn wrong(&self, workload: &Workload) -> Vec<String> {
        let unexpected = self.statements.iter().filter_map(|statement| {
            let first = statement.first_unexpected.as_ref()?;
            Some(format!(
                "{} of {} answers to `{}` are unexpected, the first: {first}",
                statement.unexpected, statement.count, statement.name
            ))
        });
        let mut wrong: Vec<String> = unexpected.collect();
        wrong.extend_from_slice(&self.violations);
        if workload.effect == Effect::None {
            wrong.extend(self.changed_tables());
        } else {
            wrong.extend(self.miscounted_rows(workload));
            wrong.extend(self.miscounted_sums(workload));
        }
        wrong
    }

    /// Leaves the tables out, and how many rows were changed: only answers are judged then.
    pub fn forget_tables(&mut self) {
        self.before.clear();
        self.after.clear();
        for statement in &mut self.statements {
            statement.affected = 0;
        }
    }

    /// Tables that are not what they were.
    fn changed_tables(&self) -> impl Iterator<Item = String> + '_ {
        self.before
            .iter()
            .zip(&self.after)
            .filter(|(before, after)| before != after)
            .map(|(before, after)| {
                format!(
                    "{} changed although the workload only reads: {} rows with sums {:?} became {} \
                     rows with sums {:?}",
                    before.table, before.rows, before.sums, after.rows, after.sums
                )
            })
    }

    fn miscounted_rows(&self, workload: &Workload) -> Option<String> {
        let says_so = workload.statements.iter().any(|s| s.change.rows != 0);
        if !says_so && workload.effect != Effect::Rewrite {
            return None;
        }
        let rows = |tables: &[TableSums]| main(tables).map(|t| i128::from(t.rows)).sum();
        let change = self.change(workload, |statement| statement.change.rows);
        mismatch("rows", rows(&self.before), change, rows(&self.after))
    }

    fn miscounted_sums(&self, workload: &Workload) -> Vec<String> {
        let changes = workload.statements.iter().map(|s| &s.change);
        let columns: BTreeSet<&String> = changes.flat_map(|change| change.sums.keys()).collect();
        let check = |column: &String| {
            let sum = |tables: &[TableSums]| main(tables).filter_map(|t| t.sums.get(column)).sum();
            let change = self.change(workload, |statement| {
                statement.change.sums.get(column).copied().unwrap_or(0)
            });
            let what = format!("the sum of `{column}`");
            mismatch(&what, sum(&self.before), change, sum(&self.after))
        };
        columns.into_iter().filter_map(check).collect()
    }

    /// Total effect of all changed rows on a sum.
    fn change(&self, workload: &Workload, each: impl Fn(&Statement) -> i64) -> i128 {
        workload
            .statements
            .iter()
            .zip(&self.statements)
            .map(|(statement, checked)| i128::from(each(statement)) * i128::from(checked.affected))
            .sum()
    }
}

/// The main tables.
fn main(tables: &[TableSums]) -> impl Iterator<Item = &TableSums> {
    tables.iter().filter(|table| !table.further)
}

fn mismatch(what: &str, before: i128, change: i128, after: i128) -> Option<String> {
    let expected = before + change;
    (after != expected).then(|| {
        format!(
            "{what} over all tables: {after} after the work, expected {expected}, for {before} \
             before it and {change:+} by the rows that the server reports as changed"
        )
    })
}

#[cfg(test)]
mod tests {
    use prony_model::Change;
    use prony_testkit as testkit;

    use super::*;

    fn workload(effect: Effect, changes: &[Change]) -> Workload {
        let statement = |change: &Change| Statement {
            change: change.clone(),
            ..testkit::statement("s", "SELECT 1", vec![])
        };
        Workload {
            effect,
            statements: changes.iter().map(statement).collect(),
            ..testkit::workload("w")
        }
    }

    fn change(rows: i64, k: Option<i64>) -> Change {
        let sums = k.map(|k| ("k".to_owned(), k));
        Change {
            rows,
            sums: sums.into_iter().collect(),
        }
    }

    /// Two tables with these totals of rows and `k`.
    fn tables(rows: u64, k: i128) -> Vec<TableSums> {
        let table = |name: &str, rows, k| TableSums {
            table: name.to_owned(),
            further: false,
            rows,
            sums: [("k".to_owned(), k)].into(),
        };
        vec![table("sbtest1", 1, 5), table("sbtest2", rows - 1, k - 5)]
    }

    /// What is wrong after statements that changed so many rows each.
    fn wrong(
        workload: &Workload,
        affected: &[u64],
        before: (u64, i128),
        after: (u64, i128),
    ) -> Vec<String> {
        let statement = |affected: &u64| CheckedStatement {
            name: "s".into(),
            count: 1,
            rows: 0,
            affected: *affected,
            unexpected: 0,
            digest: 0,
            first_unexpected: None,
        };
        CheckOutcome {
            statements: affected.iter().map(statement).collect(),
            before: tables(before.0, before.1),
            after: tables(after.0, after.1),
            violations: vec![],
        }
        .wrong(workload)
    }

    #[test]
    fn sums_follow_the_changed_rows() {
        let add = workload(Effect::Rewrite, &[change(0, Some(2))]);
        assert_eq!(wrong(&add, &[3], (4, 50), (4, 56)), [""; 0]);
        let said = wrong(&add, &[3], (4, 50), (4, 55));
        assert_eq!(said.len(), 1);
        for word in ["`k`", "55", "expected 56", "50", "+6"] {
            assert!(said[0].contains(word), "{said:?}");
        }
        // A workload that rewrites never changes the number of rows.
        assert!(wrong(&add, &[3], (4, 50), (5, 56))[0].starts_with("rows"));
    }

    #[test]
    fn rows_that_come_and_go_balance() {
        let replace = workload(Effect::Rewrite, &[change(-1, None), change(1, None)]);
        assert_eq!(wrong(&replace, &[3, 3], (4, 50), (4, 77)), [""; 0]);
        assert_eq!(wrong(&replace, &[3, 2], (4, 50), (4, 50)).len(), 1);
        let insert = workload(Effect::Grow, &[change(1, None)]);
        assert_eq!(wrong(&insert, &[3], (4, 50), (7, 60)), [""; 0]);
        assert_eq!(wrong(&insert, &[3], (4, 50), (6, 60)).len(), 1);
        // Unstated properties can't be checked.
        let unknown = workload(Effect::Grow, &[change(0, None)]);
        assert_eq!(wrong(&unknown, &[3], (4, 50), (9, 60)), [""; 0]);
    }

    #[test]
    fn readers_change_nothing() {
        let read = workload(Effect::None, &[change(0, None)]);
        assert_eq!(wrong(&read, &[0], (4, 50), (4, 50)), [""; 0]);
        let said = wrong(&read, &[0], (4, 50), (4, 51));
        assert!(said[0].starts_with("sbtest2 changed"), "{said:?}");
    }

    #[test]
    fn unexpected_answers_are_wrong() {
        let read = workload(Effect::None, &[change(0, None)]);
        let mut outcome = CheckOutcome {
            statements: vec![],
            before: vec![],
            after: vec![],
            violations: vec![],
        };
        assert_eq!(outcome.wrong(&read), [""; 0]);
        outcome.statements.push(CheckedStatement {
            name: "point".into(),
            count: 9,
            rows: 8,
            affected: 0,
            unexpected: 1,
            digest: 1,
            first_unexpected: Some("0 rows, expected 1: SELECT 2".into()),
        });
        assert_eq!(
            outcome.wrong(&read),
            ["1 of 9 answers to `point` are unexpected, the first: 0 rows, expected 1: SELECT 2"]
        );
    }
}
