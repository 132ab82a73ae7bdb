//! The places where large changes are in a list of versions.

use prony_model::{Plan, PlannedTrial, StepOutcome, Version};
use prony_report::{Format, ReportError, Screen, lineage};
use prony_testkit as testkit;
use serde_json::Value;

use crate::costs::{counting, run_sampled};
use crate::sample::{Sample, at, plan};

/// Time of an operation of each version, in thousandths of that of the first.
const LEVELS: [u64; 6] = [1000, 1002, 1066, 1064, 1300, 1301];

/// Six versions from old to new with the base in the middle, its twin last, in `blocks` blocks.
pub(crate) fn versions(blocks: u32) -> Plan {
    let names = ["5.0.96", "5.1.73", "5.5.34", "5.6.14", "5.7.44", "8.0.36"];
    let mut targets: Vec<_> = names
        .iter()
        .map(|name| testkit::target(&format!("mysql-{name}"), Version::new(5, 0, 0)))
        .collect();
    targets.push(testkit::target(
        "mysql-5.5.34 (twin)",
        Version::new(5, 5, 34),
    ));
    Plan {
        base: 2,
        twin: Some(6),
        steps: plan(1, &[1], 1).steps,
        ..testkit::plan("mysql-lineage", targets, Vec::new(), blocks)
    }
}

/// Times that follow the levels, with a drift of blocks and a little noise; the last step is the same
/// for all versions.
fn timed(planned: PlannedTrial, step: usize, outcome: &mut StepOutcome) {
    let (block, target) = (u64::from(planned.block), planned.target as u64);
    let level = match step {
        3 => 1000,
        _ => *LEVELS.get(planned.target).unwrap_or(&1066),
    };
    let noise = (block * 37 + target * 53 + block * target * 17) % 40;
    let own = outcome.groups.own_mut();
    own.busy_ns = own.operations * 24 * level * (10_000 + 300 * block + noise) / 10_000;
}

/// Runs all trials for which `wanted` returns `true`.
pub(crate) fn run(plan: &Plan, wanted: impl Fn(PlannedTrial) -> bool) -> Sample {
    let mut sample = Sample::new(plan);
    for planned in sample.store.missing_trials().unwrap() {
        if wanted(planned) {
            let trial = sample.begin(planned);
            sample.record_steps(trial, planned, |step, outcome| {
                timed(planned, step, outcome);
            });
            sample.store.finish_trial(trial, at(60)).unwrap();
        }
    }
    sample
}

fn shown(sample: &Sample, format: Format) -> String {
    let report = lineage(&sample.store, format, Screen::default()).unwrap();
    assert!(report.ends_with('\n') && !report.ends_with("\n\n"));
    assert!(!report.contains("NaN") && !report.contains("inf"));
    if format == Format::Text {
        assert!(report.lines().all(|line| line.chars().count() <= 100));
    }
    report
}

fn json(sample: &Sample) -> Value {
    serde_json::from_str(&shown(sample, Format::Json)).unwrap()
}

#[test]
fn changes_as_text() {
    insta::assert_snapshot!(shown(&run(&versions(6), |_| true), Format::Text));
}

#[test]
fn changes_as_markdown() {
    insta::assert_snapshot!(shown(&run(&versions(6), |_| true), Format::Markdown));
}

#[test]
fn changes_as_json() {
    let mut plan = versions(6);
    plan.steps.truncate(1);
    insta::assert_snapshot!(shown(&run(&plan, |_| true), Format::Json));
}

/// Instructions are counted in two blocks only.
#[test]
fn costs_as_text() {
    let mut sample = Sample::new(&counting(plan(4, &[1], 6)));
    run_sampled(&mut sample, |_, _, _| {});
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

/// A run with changes and a target that is left out.
pub(crate) fn changing() -> Sample {
    run(&versions(6), |trial| trial.target != 3 || trial.block < 2)
}

#[test]
fn failed_targets_are_left_out_by_name() {
    let sample = changing();
    insta::assert_snapshot!(shown(&sample, Format::Text));
    let step = &json(&sample)["metrics"][0]["steps"][0];
    assert_eq!(step["left_out"][0]["target"], "mysql-5.6.14");
    assert_eq!(step["left_out"][0]["blocks"], 2);
    assert_eq!(step["changes"][1]["before"], "mysql-5.5.34");
}

#[test]
fn few_blocks_give_values_and_a_reason() {
    for (blocks, words) in [(1, ": 1 block with"), (4, ": 4 blocks with")] {
        let sample = run(&versions(blocks), |_| true);
        let text = shown(&sample, Format::Text);
        assert!(
            text.contains("no change is called") && text.contains(words),
            "{text}"
        );
        let step = &json(&sample)["metrics"][0]["steps"][0];
        assert!(step["changes"].is_null() && step["total"].is_null());
        assert_eq!(step["values"].as_array().unwrap().len(), 6);
    }
}

#[test]
fn empty_runs_have_no_figures() {
    let sample = Sample::new(&versions(5));
    assert!(shown(&sample, Format::Text).contains("No version has figures yet"));
    assert_eq!(json(&sample)["metrics"], Value::Array(vec![]));
}

#[test]
fn one_version_has_no_changes() {
    let sample = run(&versions(6), |trial| trial.target == 1);
    assert!(shown(&sample, Format::Text).contains("nothing to compare"));
}

#[test]
fn csv_is_refused() {
    let sample = run(&versions(1), |_| true);
    let refused = lineage(&sample.store, Format::Csv, Screen::default());
    assert!(matches!(refused, Err(ReportError::LineageAsCsv)));
}
