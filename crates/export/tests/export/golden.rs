//! A small run in every format.

use prony_export::Format;
use prony_report::tidy::Table;

use crate::sample::Sample;

#[test]
fn tables_as_csv() {
    let sample = Sample::of(2, 2);
    for table in Table::ALL {
        let text = sample.written(Format::Csv, Some(table));
        let lines = text.lines().take(25);
        let shown: Vec<&str> = lines.collect();
        insta::assert_snapshot!(format!("csv_{}", table.name()), shown.join("\n"));
    }
}

#[test]
fn cells_as_json() {
    let text = Sample::of(2, 2).written(Format::Json, Some(Table::Cells));
    let shown: Vec<&str> = text.lines().take(12).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn go_benchmarks() {
    insta::assert_snapshot!(Sample::of(2, 2).written(Format::GoBench, None));
}

#[test]
fn bencher_metric_format() {
    insta::assert_snapshot!(Sample::of(2, 2).written(Format::Bmf, None));
}

#[test]
fn github_action_benchmark() {
    insta::assert_snapshot!(Sample::of(2, 2).written(Format::GitHub, None));
}

#[test]
fn otava() {
    insta::assert_snapshot!(Sample::of(3, 2).written(Format::Otava, None));
}

#[test]
fn rows_are_told_apart_by_their_keys() {
    let sample = Sample::of(2, 2);
    for table in Table::ALL {
        let text = sample.written(Format::Json, Some(table));
        let keys = table.columns().iter().filter(|column| column.is_key);
        let keys: Vec<&str> = keys.map(|column| column.name).collect();
        let mut seen = std::collections::BTreeSet::new();
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let key: Vec<String> = keys.iter().map(|key| row[key].to_string()).collect();
            assert!(seen.insert(key), "{}: {line}", table.name());
        }
    }
}
