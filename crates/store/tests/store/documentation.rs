//! The schema is documented where `docs/formats/result-file.md` says so.

use prony_model::{Counter, Moment, Protocol, Sample as Read, Source};
use prony_testkit::planned;

use crate::sample::{Sample, at, create_with, plan};

#[test]
fn every_column_is_documented_under_its_table() {
    let document = include_str!("../../../../docs/formats/result-file.md");
    let sample = Sample::new();
    drop(sample.create());
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let mut columns = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
             WHERE t.type = 'table'",
        )
        .unwrap();
    let columns: Vec<(String, String)> = columns
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(columns.len() > 80);
    for (table, column) in columns {
        let documented = document
            .split("\n### ")
            .find(|section| {
                let heading = section.lines().next().unwrap_or_default();
                heading.split(", ").any(|name| name == table)
            })
            .is_some_and(|section| {
                section.contains(&format!("`{column}`"))
                    || section.contains(&format!("`{table}.{column}`"))
            });
        assert!(documented, "{table}.{column}");
    }
}

#[test]
fn the_documented_query_gives_the_growth_of_every_counter() {
    let query = documented_query(0);
    let sample = Sample::new();
    let mut store = sample.create();
    let trial = store.begin_trial(planned(0, 0), at(1)).unwrap();
    let read = |moment, at_ns, values: &[(Source, &'static str, u64)]| Read {
        moment,
        at_ns,
        took_ns: 1,
        values: values
            .iter()
            .map(|(source, name, value)| (Counter::new(*source, name), *value))
            .collect(),
        gaps: Vec::new(),
    };
    let start = [
        (Source::Process, "lost", 1),
        (Source::Process, "user_ns", 10),
        (Source::Status, "gone", 3),
        (Source::Status, "grew", 4),
        (Source::Status, "stood", 5),
    ];
    let end = [
        (Source::Process, "user_ns", 25),
        (Source::Status, "came", 3),
        (Source::Status, "grew", 9),
        (Source::Status, "stood", 5),
    ];
    let edges = [
        read(Moment::Start, 1, &start),
        read(Moment::Period, 2, &start[..2]),
        read(Moment::End, 3, &end),
    ];
    store.record_samples(trial, 1, &edges).unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(sample.path()).unwrap();
    let mut growths: Vec<(String, i64)> = connection
        .prepare(query)
        .unwrap()
        .query_map([], |row| Ok((row.get("name")?, row.get("growth")?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    growths.sort();
    let expected = [("grew", 5), ("stood", 0), ("user_ns", 15)];
    assert_eq!(
        growths,
        expected.map(|(name, growth)| (name.to_owned(), growth))
    );
}

#[test]
fn the_documented_query_finds_the_cells_that_two_files_share() {
    let (mine, other) = (Sample::new(), Sample::new());
    drop(mine.create());
    let mut plan = plan();
    plan.targets[0].build.id = "mysql-5.1".into();
    plan.targets[1].protocol = Protocol::Text;
    plan.steps[1].warmup_ms = 7;
    drop(create_with(&other.path(), &plan));
    let connection = rusqlite::Connection::open(mine.path()).unwrap();
    let query = documented_query(1);
    let (attach, query) = query.split_once('\n').unwrap();
    let path = other.path().display().to_string();
    let attach = attach.replace("other/run.sqlite", &path);
    connection.execute_batch(&attach).unwrap();
    let shared: Vec<(String, u32)> = connection
        .prepare(query)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    // Both targets of the first file ask what the first target of the second does.
    let cell = |target: &str| (target.to_owned(), 1);
    assert_eq!(shared, [cell("mysql-5.0"), cell("mysql-9.7")]);
}

/// The query in the documentation with this number, counted from 0.
fn documented_query(number: usize) -> &'static str {
    let document = include_str!("../../../../docs/formats/result-file.md");
    let block = document.split("```sql\n").nth(1 + number).unwrap();
    block.split_once("```").unwrap().0
}
