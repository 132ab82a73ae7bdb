//! One run per situation, in the formats in which it matters.

use prony_model::{ErrorClass, ErrorCount};
use prony_report::{Format, render};
use prony_store::Subject;
use prony_testkit::{self as testkit, planned};

use crate::costs::complete;
use crate::sample::{Sample, at, plan};

pub(crate) fn shown(sample: &Sample, format: Format) -> String {
    let report = render(&sample.store, format).unwrap();
    assert!(report.ends_with('\n') && !report.ends_with("\n\n"));
    if format == Format::Text {
        for line in report.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
    report
}

#[test]
fn complete_run_as_text() {
    insta::assert_snapshot!(shown(&complete(), Format::Text));
}

#[test]
fn complete_run_as_markdown() {
    insta::assert_snapshot!(shown(&complete(), Format::Markdown));
}

#[test]
fn complete_run_as_csv() {
    insta::assert_snapshot!(shown(&complete(), Format::Csv));
}

#[test]
fn complete_run_as_json() {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    sample.run(|_| true);
    sample.store.set_run_ended(at(600)).unwrap();
    insta::assert_snapshot!(shown(&sample, Format::Json));
}

/// One trial failed, one was discarded and done later, one block lacks a target.
pub(crate) fn with_gaps() -> Sample {
    let mut sample = Sample::new(&plan(3, &[1], 3));
    let failed = sample.begin(planned(1, 2));
    sample
        .store
        .fail_trial(
            failed,
            "the server ended with signal 11 during step update-index",
            "mysqld got signal 11 ;\nAttempting to collect some information | <that> could help\n",
            at(90),
        )
        .unwrap();
    let discarded = sample.begin(planned(0, 1));
    sample
        .store
        .discard_trial(discarded, "interrupted", at(95))
        .unwrap();
    sample.run(|trial| trial != planned(2, 1));
    sample
}

#[test]
fn gaps_as_text() {
    insta::assert_snapshot!(shown(&with_gaps(), Format::Text));
}

#[test]
fn gaps_as_markdown() {
    insta::assert_snapshot!(shown(&with_gaps(), Format::Markdown));
}

/// Unexpected answers, server errors, a step without operations, stored warnings of every kind.
pub(crate) fn with_warnings() -> Sample {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    sample
        .store
        .record_warning(
            Subject::Run,
            "host-busy",
            "the host was busy before the run.",
        )
        .unwrap();
    sample.run(|trial| trial.block == 0);
    for target in 0..2 {
        let trial = sample.begin(planned(1, target));
        sample.record_steps(trial, planned(1, target), |step, outcome| {
            match (target, step) {
                (1, 0) => outcome.groups.own_mut().statements[0].unexpected = 1234,
                (1, 2) => outcome.groups.own_mut().errors.push(ErrorCount {
                    code: 1213.into(),
                    class: ErrorClass::Retryable,
                    count: 7,
                    message: "Deadlock found when trying to get lock".into(),
                }),
                (0, 3) => {
                    outcome.groups.own_mut().operations = 0;
                    outcome.groups.own_mut().queries = 0;
                    outcome.groups.own_mut().busy_ns = 0;
                    outcome.groups.own_mut().histogram = testkit::histogram(&[]);
                }
                _ => {}
            }
        });
        sample
            .store
            .record_warning(Subject::Trial(trial), "slow-start", "the start took 12 s")
            .unwrap();
        sample
            .store
            .record_warning(
                Subject::Step(trial, 1),
                "steal",
                "2.1% of the time was stolen",
            )
            .unwrap();
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
        .store
        .record_host(r#"{"cpus": 4, "kernel": "6.1.0-19-amd64"}"#, at(500))
        .unwrap();
    sample
}

#[test]
fn warnings_as_text() {
    insta::assert_snapshot!(shown(&with_warnings(), Format::Text));
}

#[test]
fn warnings_as_markdown() {
    insta::assert_snapshot!(shown(&with_warnings(), Format::Markdown));
}

#[test]
fn warnings_as_csv() {
    insta::assert_snapshot!(shown(&with_warnings(), Format::Csv));
}

#[test]
fn warnings_as_json() {
    insta::assert_snapshot!(shown(&with_warnings(), Format::Json));
}

#[test]
fn two_client_counts_as_text() {
    let mut sample = Sample::new(&plan(3, &[1, 64], 1));
    sample.run(|_| true);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn many_targets_as_text() {
    let mut sample = Sample::new(&plan(12, &[1], 2));
    sample.run(|_| true);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn one_target_as_text() {
    let mut sample = Sample::new(&plan(1, &[1], 2));
    sample.run(|_| true);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn a_base_without_figures_leaves_nothing_to_compare() {
    let mut sample = Sample::new(&plan(2, &[1], 1));
    sample.run(|trial| trial.target == 1);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn empty_run_as_text() {
    insta::assert_snapshot!(shown(&Sample::new(&plan(2, &[1], 2)), Format::Text));
}

#[test]
fn empty_run_as_markdown() {
    insta::assert_snapshot!(shown(&Sample::new(&plan(2, &[1], 2)), Format::Markdown));
}

#[test]
fn empty_run_as_csv() {
    let report = shown(&Sample::new(&plan(2, &[1], 2)), Format::Csv);
    assert_eq!(report.lines().count(), 1);
}

#[test]
fn empty_run_as_json() {
    insta::assert_snapshot!(shown(&Sample::new(&plan(1, &[1], 1)), Format::Json));
}

#[test]
fn damaged_histograms_are_named() {
    let mut sample = Sample::new(&plan(2, &[1], 1));
    let trial = sample.begin(planned(0, 0));
    sample.record_steps(trial, planned(0, 0), |_, outcome| {
        outcome.groups.own_mut().histogram.truncate(9);
    });
    sample.store.finish_trial(trial, at(60)).unwrap();
    render(&sample.store, Format::Text).unwrap();
    let error = render(&sample.store, Format::Csv).unwrap_err().to_string();
    assert!(
        error.contains("target mysql-5.0, step point-query, block 1"),
        "{error}"
    );
}
