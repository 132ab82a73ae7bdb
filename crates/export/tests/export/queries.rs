//! The examples of `docs/queries.md` run as they are written.

use std::fmt::Write as _;
use std::process::Command;

use prony_export::{Format, files, save};
use prony_report::tidy::Tables;
use rusqlite::Connection;

use crate::sample::Sample;

const DOCUMENT: &str = include_str!("../../../../docs/queries.md");

/// The Python with `duckdb`, `pandas` and `pyarrow` that CI installs.
const PYTHON: &str = "PRONY_QUERY_PYTHON";

/// The blocks of code of a language below a heading.
fn blocks(heading: &str, language: &str) -> Vec<&'static str> {
    let (_, section) = DOCUMENT.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    let blocks = section.split(&fence).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

#[test]
fn sqlite_queries_have_rows() {
    let mut sample = Sample::of(3, 6);
    sample
        .store
        .set_run_ended(jiff::Timestamp::UNIX_EPOCH)
        .unwrap();
    let connection = Connection::open(sample.path("run.sqlite")).unwrap();
    let queries = blocks("sqlite3", "sql");
    assert!(queries.len() >= 2);
    for query in queries {
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap();
        assert!(rows.map(Result::unwrap).count() > 0, "{query}");
    }
}

/// Runs only with the tools; CI has them.
#[test]
fn python_queries_have_rows() {
    let Ok(python) = std::env::var(PYTHON) else {
        println!("not run: {PYTHON} names no Python with duckdb, pandas and pyarrow");
        return;
    };
    let sample = Sample::of(3, 6);
    let tables = Tables::of(&sample.store).unwrap();
    for format in [Format::Parquet, Format::Csv] {
        let all = files(&tables, format, None).unwrap();
        save(&tables, &all, sample.folder.path()).unwrap();
    }
    let mut program = String::from("import duckdb, pandas as pd\n");
    for query in blocks("DuckDB", "sql") {
        writeln!(program, "assert len(duckdb.sql({query:?}).fetchall()) > 0").unwrap();
    }
    for example in blocks("pandas", "python") {
        writeln!(program, "{example}\nassert len(table) > 0").unwrap();
    }
    let run = Command::new(python)
        .args(["-c", &program])
        .current_dir(sample.folder.path())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{program}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
