//! Loads that are measured: they happen in every trial.

use prony_model::{Engine, Gap, LoadMethod, LoadOutcome, Moment, PlannedTrial, Source, TrialKind};
use prony_report::{Format, render};
use prony_store::{LoadRecord, TrialId};
use serde_json::Value;

use crate::costs::{counting, run_loaded, taken};
use crate::golden::shown;
use crate::sample::{Sample, plan};

const ROWS: u64 = 100_000;

/// A load of so many nanoseconds a row, a fifth of them for the index.
fn outcome(row_ns: u64) -> LoadOutcome {
    LoadOutcome {
        rows: ROWS,
        rows_ns: ROWS * row_ns / 5 * 4,
        index_ns: ROWS * row_ns / 5,
        method: "INSERT of 512 KiB, 1 connection".into(),
    }
}

/// Nanoseconds that a target takes for a row: a fifth more than the one before it.
fn row_ns(planned: PlannedTrial) -> u64 {
    let mood = u64::from(planned.block) * 100 + planned.target as u64 * 50;
    20_000 * (100 + 20 * planned.target as u64) / 100 + mood
}

fn load(sample: &mut Sample, trial: TrialId, planned: PlannedTrial) {
    let store = &mut sample.store;
    let row_ns = row_ns(planned);
    store
        .record_trial_load(trial, &outcome(row_ns), None)
        .unwrap();
    let at = |moment, rows: u64| match planned.kind {
        TrialKind::Timed | TrialKind::Profiling => taken(
            moment,
            rows * row_ns,
            &[
                (Source::Process, "cpu_ns", 7_000 + rows * row_ns / 2),
                (Source::Process, "user_ns", rows * row_ns / 2 / 5 * 4),
                (Source::Process, "system_ns", rows * row_ns / 2 / 5),
                (Source::Process, "written_bytes", rows * 1024 * 3 / 2),
                (Source::Process, "read_bytes", 0),
                (Source::Status, "handler_write", rows),
            ],
        ),
        TrialKind::Counting => {
            let instructions = rows * (40_000 + 8_000 * planned.target as u64);
            let counter = (Source::Valgrind, "instructions_user", instructions);
            taken(moment, rows * row_ns, &[counter])
        }
    };
    let mut samples = [at(Moment::Start, 0), at(Moment::End, ROWS)];
    samples[1].gaps.push(Gap {
        source: Source::Device,
        reason: "the device is gone".into(),
    });
    store.record_load_samples(trial, &samples).unwrap();
}

/// Three blocks of two targets that load by inserts, counted too.
pub(crate) fn by_inserts() -> Sample {
    let mut plan = plan(2, &[1], 3);
    plan.steps.truncate(1);
    plan.dataset.load = LoadMethod::Inserts;
    let mut sample = Sample::new(&counting(plan));
    for target in 0..2 {
        let empty = LoadRecord {
            outcome: None,
            settle: None,
            image: "empty",
            reused: false,
        };
        sample.store.record_load(target, &empty).unwrap();
    }
    run_loaded(&mut sample, load, |_, _, _| ());
    sample
}

/// The section on the load.
fn section(text: &str) -> String {
    let begin = text.find("Load of ").unwrap();
    let rest = &text[begin..];
    let end = rest
        .find("\nAt 1 client")
        .or_else(|| rest.find("\nQueries"));
    rest[..end.unwrap_or(rest.len())].to_owned()
}

#[test]
fn costs_of_loads_as_text() {
    let text = shown(&by_inserts(), Format::Text);
    insta::assert_snapshot!(section(&text));
    let legend = "or each row in steps that scan and in loads:";
    let one_line: Vec<&str> = text.split_whitespace().collect();
    assert!(one_line.join(" ").contains(legend), "{text}");
    for warning in [
        "mysql-5.0, load, blocks 1, 2, 3: device not read at the end: the device is gone.",
        "mysql-5.7, load, instructions of a load, counted by valgrind:",
    ] {
        assert!(one_line.join(" ").contains(warning), "{text}");
    }
}

#[test]
fn costs_of_loads_as_markdown() {
    let text = shown(&by_inserts(), Format::Markdown);
    let begin = text.find("## Load of").unwrap();
    let end = text[begin + 3..].find("\n## ").unwrap();
    insta::assert_snapshot!(&text[begin..begin + 3 + end]);
}

#[test]
fn rows_of_loads_have_costs_in_csv() {
    let csv = shown(&by_inserts(), Format::Csv);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let wanted = [
        "target",
        "block",
        "operations_per_second",
        "server_cpu_us",
        "written_kb",
        "instructions",
        "write_amplification",
        "round_trip_us",
        "cost_unit",
    ];
    let rows: Vec<String> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[column("step")] == "load")
        .map(|fields| wanted.map(|name| fields[column(name)]).join(" "))
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn costs_of_loads_in_json() {
    let json = render(&by_inserts().store, Format::Json).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["dataset"]["load"], "inserts");
    let contender = &json["loads"][1];
    let costs = &contender["costs"];
    assert_eq!(costs["per"], "row");
    let cpu = &costs["metrics"]["server_cpu_us"];
    assert_eq!(cpu["ratio"]["n"], 3);
    let ratio = cpu["ratio"]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.2).abs() < 0.005, "{cpu}");
    assert!(cpu["ratio"]["low"].as_f64().unwrap() < ratio);
    assert_eq!(costs["status"]["status.handler_write"]["mean"], 1.0);
    assert_eq!(costs["counted"][1]["metrics"]["instructions"], 48_000.0);
    let done = contender["done"].as_array().unwrap();
    let in_trials = done.iter().filter(|load| !load["block"].is_null());
    let spent: Vec<f64> = in_trials
        .map(|load| load["spent"]["metrics"]["server_cpu_us"].as_f64().unwrap())
        .collect();
    assert_eq!(spent, [12.025, 12.075, 12.125]);
    assert_eq!(contender["rows_per_second"]["n"], 3);
}

/// Tables in memory come with images of empty servers, which nobody loads.
#[test]
fn the_occasion_is_that_of_loads_and_not_of_empty_images() {
    let mut plan = plan(2, &[1], 1);
    for target in &mut plan.targets {
        target.engine = Engine::Memory;
    }
    let mut sample = Sample::new(&plan);
    for target in 0..2 {
        let empty = LoadRecord {
            outcome: None,
            settle: None,
            image: "empty",
            reused: true,
        };
        sample.store.record_load(target, &empty).unwrap();
    }
    for planned in plan.trials.clone() {
        let trial = sample.begin(planned);
        let outcome = outcome(row_ns(planned));
        sample
            .store
            .record_trial_load(trial, &outcome, None)
            .unwrap();
        sample.record_steps(trial, planned, |_, _| {});
        let end = crate::sample::at(60);
        sample.store.finish_trial(trial, end).unwrap();
    }
    let text = shown(&sample, Format::Text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("Data is loaded in every trial, because the engine forgets"),
        "{text}"
    );
    assert!(!words.contains("once for each image"), "{text}");
}
