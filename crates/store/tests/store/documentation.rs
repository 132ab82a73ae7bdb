//! The schema is documented where `docs/formats/result-file.md` says so.

use crate::sample::Sample;

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
