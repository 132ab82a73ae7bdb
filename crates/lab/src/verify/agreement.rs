//! Agreement of targets: the same statements on the same rows have the same answers everywhere, and
//! leave the same tables.

use std::collections::BTreeMap;

use prony_load::{CheckOutcome, TableSums};
use prony_model::{ClientGroup, ColumnType, Dataset, Plan};

use super::prefix;

/// The findings of one target, by entry of the sequence.
pub(super) type Findings = BTreeMap<usize, Found>;

/// The findings about one entry.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The digest of all answers to each statement, by its name.
    digests: Vec<(String, u64)>,
    /// All tables after the statements.
    tables: Vec<TableSums>,
}

impl Found {
    /// Adds the outcome of a group of the step.
    pub(super) fn add(&mut self, outcome: &CheckOutcome, group: &ClientGroup) {
        self.tables.clone_from(&outcome.after);
        // Servers answer changes of tables in words of their version.
        if group.workload.goes_through_tables() {
            return;
        }
        let prefix = prefix(group);
        let statements = outcome.statements.iter();
        self.digests
            .extend(statements.map(|s| (format!("{prefix}{}", s.name), s.digest)));
    }

    /// The things in which another target's findings differ.
    fn differences(&self, other: &Self, ignored: &[String]) -> Vec<String> {
        let statements = self.digests.iter().zip(&other.digests);
        let answers = statements.filter(|((_, digest), (_, other))| digest != other);
        let answers = answers
            .map(|((statement, _), _)| format!("different answers to the statement `{statement}`"));
        let tables = self.tables.iter().zip(&other.tables);
        let tables = tables.flat_map(|(table, other)| different_columns(table, other, ignored));
        answers.chain(tables).collect()
    }
}

/// The numbers in which a table differs from that of another target.
fn different_columns(table: &TableSums, other: &TableSums, ignored: &[String]) -> Vec<String> {
    let name = &table.table;
    if table.rows != other.rows {
        let rows = format!("{} and {} rows in {name}", table.rows, other.rows);
        return vec![rows];
    }
    let sums = table.sums.iter();
    let differ = sums
        .filter(|(column, sum)| !ignored.contains(column) && other.sums.get(*column) != Some(*sum));
    let differ = differ.map(|(column, _)| format!("different values in {name}.{column}"));
    differ.collect()
}

/// The columns of times: statements write the time at which they run.
fn columns_of_times(dataset: &Dataset) -> Vec<String> {
    let parts = dataset.parts().into_iter();
    let columns = parts.flat_map(|part| &part.schema.definition().columns);
    let times = columns.filter(|column| column.kind == ColumnType::Datetime);
    times.map(|column| column.name.clone()).collect()
}

/// The differences between the findings of targets and the base's, in words.
pub(super) fn disagreements(plan: &Plan, findings: &[Findings]) -> Vec<String> {
    let base = &findings[plan.base];
    let name = &plan.targets[plan.base].name;
    let ignored = columns_of_times(&plan.dataset);
    let mut all = Vec::new();
    for (target, findings) in plan.targets.iter().zip(findings) {
        for (entry, found) in findings {
            let step = plan.steps.iter().find(|step| step.entry == *entry);
            let (Some(step), Some(of_base)) = (step, base.get(entry)) else {
                continue;
            };
            let differences = of_base.differences(found, &ignored).into_iter();
            all.extend(differences.map(|difference| {
                format!(
                    "{}: {name} and {} have {difference} after the same statements on the same \
                     rows",
                    step.name, target.name
                )
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(digest: u64, rows: u64, k: i128, paid: i128) -> Found {
        Found {
            digests: vec![("select".into(), digest)],
            tables: vec![TableSums {
                table: "t1".into(),
                further: false,
                rows,
                sums: [("k".to_owned(), k), ("paid".to_owned(), paid)].into(),
            }],
        }
    }

    #[test]
    fn answers_rows_and_columns_must_be_the_same() {
        let base = found(7, 3, 10, 5);
        let ignored = ["paid".to_owned()];
        let differences = |other| base.differences(&other, &ignored);
        assert_eq!(differences(found(7, 3, 10, 6)), Vec::<String>::new());
        assert_eq!(
            differences(found(8, 4, 11, 5)),
            [
                "different answers to the statement `select`",
                "3 and 4 rows in t1"
            ]
        );
        assert_eq!(
            differences(found(7, 3, 11, 5)),
            ["different values in t1.k"]
        );
    }

    #[test]
    fn times_are_not_compared() {
        let dataset = Dataset {
            schema: prony_model::Schema::built_in("bank").unwrap(),
            ..Dataset::sbtest(1, 100_000, 1)
        };
        assert_eq!(columns_of_times(&dataset), ["paid"]);
    }
}
