//! Copying the rows of a part. What a column means follows from its name, which is the same in all
//! tables, so that a new column of a table comes along by itself.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::examine::{Accepted, attach};

/// How the rows of a table are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// They come with the plan, or are written by the merging itself.
    Plan,
    /// Those of chosen trials.
    Trials,
    /// Those of samples of chosen trials.
    Samples,
    /// Those of chosen trials, and those of no trial: once where several parts have equal ones.
    TrialsOrRun,
    /// Of the run; once where several parts have equal ones.
    Run,
}

/// All tables, parents first.
pub(super) const TABLES: [(&str, Rows); 41] = [
    ("run", Rows::Plan),
    ("target", Rows::Plan),
    ("step", Rows::Plan),
    ("client_group", Rows::Plan),
    ("cell", Rows::Plan),
    ("addition", Rows::Plan),
    ("definition", Rows::Plan),
    ("part", Rows::Plan),
    ("host", Rows::Plan),
    ("counter", Rows::Run),
    ("server_variable", Rows::Run),
    ("calibration", Rows::Run),
    ("client_host", Rows::Run),
    ("rendered_option", Rows::Run),
    ("plan_text", Rows::Run),
    ("counting_operations", Rows::Run),
    ("trial", Rows::Trials),
    ("canary", Rows::Trials),
    ("trial_variable", Rows::Trials),
    ("outcome", Rows::Trials),
    ("group_outcome", Rows::Trials),
    ("statement_count", Rows::Trials),
    ("histogram", Rows::Trials),
    ("error_count", Rows::Trials),
    ("schedule", Rows::Trials),
    ("interval", Rows::Trials),
    ("thread_use", Rows::Trials),
    ("placement", Rows::Trials),
    ("placed_threads", Rows::Trials),
    ("profile", Rows::Trials),
    ("stack_samples", Rows::Trials),
    ("scheduling_group", Rows::Trials),
    ("sample", Rows::Trials),
    ("sample_value", Rows::Samples),
    ("sample_gap", Rows::Samples),
    ("settle", Rows::Trials),
    ("debt", Rows::Trials),
    ("artefact", Rows::Trials),
    ("absence", Rows::TrialsOrRun),
    ("load", Rows::TrialsOrRun),
    ("warning", Rows::TrialsOrRun),
];

/// Copies the chosen blocks of a part.
pub(super) fn copy(
    connection: &Connection,
    part: &Accepted,
    blocks: &BTreeSet<u32>,
) -> rusqlite::Result<()> {
    attach(connection, &part.path)?;
    let copied = connection.unchecked_transaction().and_then(|transaction| {
        number_anew(&transaction, blocks)?;
        for (table, rows) in TABLES {
            copy_table(&transaction, table, rows)?;
        }
        keep_of_run(&transaction, &part.name)?;
        transaction.commit()
    });
    connection.execute_batch("DETACH part")?;
    copied
}

/// Says by temporary tables which rows are chosen, and which numbers they get.
fn number_anew(connection: &Connection, blocks: &BTreeSet<u32>) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE IF EXISTS temp.chosen; DROP TABLE IF EXISTS temp.shift;
         DROP TABLE IF EXISTS temp.hosts;
         CREATE TEMP TABLE chosen (trial_id INTEGER PRIMARY KEY);
         CREATE TEMP TABLE shift AS SELECT
             (SELECT coalesce(max(id), 0) FROM main.trial) AS trial,
             (SELECT coalesce(max(id), 0) FROM main.sample) AS sample;
         INSERT INTO main.host (id, recorded_at, facts, findings, host_name)
         SELECT (SELECT count(*) FROM main.host) + row_number() OVER (ORDER BY id) - 1,
             recorded_at, facts, findings, host_name
         FROM part.host AS its WHERE NOT EXISTS (
             SELECT 1 FROM main.host AS mine WHERE mine.recorded_at = its.recorded_at
                 AND mine.facts = its.facts AND mine.findings IS its.findings
                 AND mine.host_name IS its.host_name);
         CREATE TEMP TABLE hosts AS SELECT its.id AS old, min(mine.id) AS new
         FROM part.host AS its JOIN main.host AS mine ON mine.recorded_at = its.recorded_at
             AND mine.facts = its.facts AND mine.findings IS its.findings
             AND mine.host_name IS its.host_name
         GROUP BY its.id;",
    )?;
    let mut choose =
        connection.prepare("INSERT INTO temp.chosen SELECT id FROM part.trial WHERE block = ?1")?;
    blocks
        .iter()
        .try_for_each(|block| choose.execute([block]).map(drop))
}

fn copy_table(connection: &Connection, table: &str, rows: Rows) -> rusqlite::Result<()> {
    if rows == Rows::Plan {
        return Ok(());
    }
    let columns = columns(connection, table)?;
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let values: Vec<String> = names.iter().map(|column| value(table, column)).collect();
    // Rows without a trial are numbered anew where their number is all that tells them apart.
    let numbered = names.contains(&"id") && !matches!(table, "trial" | "sample");
    let skipped = |column: &&str| !(numbered && *column == "id");
    let pairs: Vec<(&str, &String)> = names
        .iter()
        .copied()
        .zip(&values)
        .filter(|(column, _)| skipped(column))
        .collect();
    let list = |parts: Vec<&str>| parts.join(", ");
    let into = list(pairs.iter().map(|(column, _)| *column).collect());
    let from = list(pairs.iter().map(|(_, value)| value.as_str()).collect());
    let order = if names.contains(&"id") {
        " ORDER BY its.id"
    } else {
        ""
    };
    let insert = |condition: &str| {
        let sql = format!(
            "INSERT INTO main.{table} ({into}) SELECT {from} FROM part.{table} AS its
             WHERE {condition}{order}"
        );
        connection.execute(&sql, []).map(drop)
    };
    let equal = pairs
        .iter()
        .map(|(column, value)| format!("mine.{column} IS {value}"));
    let equal = equal.collect::<Vec<_>>().join(" AND ");
    let is_new = format!("NOT EXISTS (SELECT 1 FROM main.{table} AS mine WHERE {equal})");
    let of_trials = "its.trial_id IN (SELECT trial_id FROM temp.chosen)";
    match rows {
        Rows::Plan => Ok(()),
        Rows::Trials if table == "trial" => insert("its.id IN (SELECT trial_id FROM temp.chosen)"),
        Rows::Trials => insert(of_trials),
        Rows::Samples => insert(
            "its.sample_id IN (SELECT id FROM part.sample WHERE trial_id IN
                 (SELECT trial_id FROM temp.chosen))",
        ),
        Rows::TrialsOrRun => {
            insert(&format!("its.trial_id IS NULL AND {is_new}"))?;
            insert(of_trials)
        }
        Rows::Run => {
            let sql = format!(
                "INSERT OR IGNORE INTO main.{table} ({into}) SELECT {from}
                 FROM part.{table} AS its WHERE {is_new}{order}"
            );
            connection.execute(&sql, []).map(drop)
        }
    }
}

/// The value of a column of a row `its` in the merged file.
fn value(table: &str, column: &str) -> String {
    match (table, column) {
        ("trial", "id") | (_, "trial_id") => {
            let own = if table == "trial" { "id" } else { "trial_id" };
            format!("its.{own} + (SELECT trial FROM temp.shift)")
        }
        ("sample", "id") | (_, "sample_id" | "base_id") => {
            format!("its.{column} + (SELECT sample FROM temp.shift)")
        }
        (_, "host_id") => "(SELECT new FROM temp.hosts WHERE old = its.host_id)".to_owned(),
        (_, "counter_id") => "(SELECT mine.id FROM part.counter AS old JOIN main.counter AS mine
             USING (source, name) WHERE old.id = its.counter_id)"
            .to_owned(),
        (_, "variable_id") => "(SELECT mine.id FROM part.server_variable AS old
             JOIN main.server_variable AS mine USING (name, value)
             WHERE old.id = its.variable_id)"
            .to_owned(),
        _ => format!("its.{column}"),
    }
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// What the first part tells of the run as a whole, and where the files of the trials are.
fn keep_of_run(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    connection.execute_batch(
        "UPDATE main.run SET
             backend = coalesce(backend, (SELECT backend FROM part.run)),
             default_placement =
                 coalesce(default_placement, (SELECT default_placement FROM part.run));
         UPDATE main.target AS mine SET server_version = its.server_version,
             build_hash = its.build_hash, build_facts = its.build_facts
         FROM part.target AS its WHERE its.id = mine.id AND mine.build_hash IS NULL;",
    )?;
    let folder = name.strip_suffix(".sqlite").unwrap_or(name);
    connection.execute(
        "UPDATE main.artefact SET path = 'parts/' || ?1 || '/' || path
         WHERE trial_id > (SELECT trial FROM temp.shift)",
        params![folder],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::schema;

    /// A table that is forgotten here would be empty in merged files.
    #[test]
    fn every_table_is_copied_or_left_on_purpose() {
        let mut connection = Connection::open_in_memory().unwrap();
        let transaction = connection.transaction().unwrap();
        schema::create(&transaction).unwrap();
        transaction.commit().unwrap();
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .unwrap();
        let tables = statement.query_map([], |row| row.get::<_, String>(0));
        let tables: BTreeSet<String> = tables.unwrap().map(Result::unwrap).collect();
        let known = TABLES.iter().map(|(table, _)| (*table).to_owned());
        assert_eq!(tables, known.collect());
    }
}
