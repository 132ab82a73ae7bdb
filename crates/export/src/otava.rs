//! Series over versions for Apache Otava, which finds change points: a CSV file for each step, and the
//! configuration that names them.
//!
//! The formats: <https://otava.apache.org/docs/>, importers of CSV. Blocks of versions interleave in
//! time, so that the time of a row is not the clock: each version has one day, in the order of the
//! experiment, and each block one minute of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use prony_report::tidy::Tables;

use crate::csv::quoted;
use crate::series::{self, CellSeries};

/// A metric that is searched for changes: `true` if more is better.
const METRICS: [(&str, bool); 5] = [
    ("operations_per_second", true),
    ("service_time_mean_us", false),
    ("service_time_p99_us", false),
    ("server_cpu_us", false),
    ("instructions", false),
];

/// Name of the configuration.
const CONFIGURATION: &str = "otava.yaml";

/// A step with its group of clients on all targets.
struct Test<'a> {
    name: String,
    cells: Vec<(usize, &'a CellSeries)>,
}

/// All documents with their names, the configuration first.
pub(crate) fn documents(tables: &Tables<'_>) -> Vec<(String, String)> {
    let targets = tables.targets().filter(|target| !target.is_twin);
    let targets: Vec<String> = targets.map(|target| target.target.into_owned()).collect();
    let cells = series::of(tables);
    let mut tests: Vec<Test<'_>> = Vec::new();
    for cell in &cells {
        let Some(place) = targets.iter().position(|target| *target == cell.target) else {
            continue;
        };
        let name = cell.path();
        match tests.iter_mut().find(|test| test.name == name) {
            Some(test) => test.cells.push((place, cell)),
            None => tests.push(Test {
                name,
                cells: vec![(place, cell)],
            }),
        }
    }
    let files: Vec<String> = tests.iter().enumerate().map(file).collect();
    let named = || tests.iter().zip(&files);
    let mut documents = vec![(CONFIGURATION.to_owned(), configuration(named()))];
    documents.extend(named().map(|(test, file)| (file.clone(), test.rows())));
    documents
}

/// The name of a test's file: its number keeps it apart from others.
fn file((index, test): (usize, &Test<'_>)) -> String {
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' => character,
        _ => '_',
    };
    let name: String = test.name.chars().map(plain).collect();
    format!("{:03}-{name}.csv", index + 1)
}

fn configuration<'a>(tests: impl Iterator<Item = (&'a Test<'a>, &'a String)>) -> String {
    let mut text = String::from("tests:\n");
    for (test, file) in tests {
        // A text of JSON is one of YAML.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let (name, file) = (quoted(&test.name), quoted(file));
        let _infallible = write!(
            text,
            "  {name}:\n    type: csv\n    file: {file}\n    time_column: time\n    \
             attributes: [target, block]\n    metrics:\n"
        );
        for (metric, more_is_better) in test.metrics() {
            let direction = if more_is_better { 1 } else { -1 };
            let _infallible = write!(
                text,
                "      {metric}:\n        column: {metric}\n        direction: {direction}\n"
            );
        }
    }
    text
}

impl Test<'_> {
    /// The metrics that have a value in every row: Otava reads no empty fields.
    fn metrics(&self) -> impl Iterator<Item = (&'static str, bool)> {
        METRICS.into_iter().filter(|(metric, _)| {
            let mut cells = self.cells.iter();
            cells.all(|(_, cell)| {
                let series = cell.metrics.get(*metric);
                series.is_some_and(|series| series.values.len() == blocks(cell).len())
            })
        })
    }

    /// A row for each target and block.
    fn rows(&self) -> String {
        let metrics: Vec<&str> = self.metrics().map(|(metric, _)| metric).collect();
        let mut text = format!("time,target,block,{}\n", metrics.join(","));
        for (place, cell) in &self.cells {
            for block in blocks(cell) {
                let target = quoted(&cell.target);
                let _infallible = write!(text, "{},{target},{block}", time(*place, *block));
                let series = metrics
                    .iter()
                    .filter_map(|metric| cell.metrics.get(*metric));
                for value in series.filter_map(|series| series.values.get(block)) {
                    let _infallible = write!(text, ",{value}");
                }
                text.push('\n');
            }
        }
        text
    }
}

/// The blocks in which anything was measured.
fn blocks(cell: &CellSeries) -> BTreeSet<&u64> {
    let series = METRICS
        .iter()
        .filter_map(|(metric, _)| cell.metrics.get(*metric));
    series.flat_map(|series| series.values.keys()).collect()
}

/// The instant that stands for a block of a target, from the first day of 2000 on.
fn time(place: usize, block: u64) -> String {
    const FIRST_DAY: i64 = 946_684_800;
    let seconds = place as u64 * 86_400 + block * 60;
    let seconds = FIRST_DAY.saturating_add_unsigned(seconds);
    let time = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
    time.to_string()
}
