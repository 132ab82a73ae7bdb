//! Bases: another one for a report, one for each value of a key, and the target before.

use std::collections::BTreeSet;

use prony_model::{Bases, Plan};
use prony_report::tidy::Tables;
use prony_report::{Extent, Format, ReportError, Screen, View, render, render_relative};
use serde_json::Value;

use crate::sample::{Sample, at};
use crate::verdicts::twins;
use crate::views::{matrix, options, run, shown};

const FORMATS: [Format; 5] = [
    Format::Text,
    Format::Markdown,
    Format::Csv,
    Format::Json,
    Format::Html,
];

/// The matrix, whose base is that of the same binary log.
fn by_binlog(blocks: u32) -> Plan {
    Plan {
        bases: Some(Bases {
            of_target: [0, 1, 0, 1].map(Some).to_vec(),
            by: vec!["binlog".into()],
        }),
        ..matrix(blocks)
    }
}

fn relative(sample: &Sample, base: &str, format: Format) -> String {
    let screen = Screen::default();
    render_relative(&sample.store, base, format, &Extent::Whole, None, screen).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A run with a base for each value of a key.
pub(crate) fn of_each_configuration() -> Sample {
    run(&by_binlog(6))
}

#[test]
fn bases_of_each_configuration_as_text() {
    let sample = of_each_configuration();
    insta::assert_snapshot!(render(&sample.store, Format::Text).unwrap());
}

#[test]
fn bases_of_each_configuration_in_the_answer() {
    let sample = of_each_configuration();
    let (extent, screen) = (Extent::Answer, Screen::default());
    let report = prony_report::render_extent(&sample.store, Format::Text, &extent, None, screen);
    insta::assert_snapshot!(report.unwrap());
}

/// Exported ratios name the base that they are relative to.
#[test]
fn exported_cells_name_their_own_base() {
    let sample = of_each_configuration();
    let tables = Tables::of(&sample.store).unwrap();
    let names: Vec<String> = (sample.store.plan().targets.iter())
        .map(|target| target.name.clone())
        .collect();
    let cells = tables.cells().unwrap();
    let relative = cells.iter().filter(|cell| cell.ratio.is_some());
    let bases: BTreeSet<(String, String)> = relative
        .map(|cell| {
            (
                cell.target.to_string(),
                cell.base.as_ref().unwrap().to_string(),
            )
        })
        .collect();
    let expected =
        [(2, 0), (3, 1)].map(|(target, base)| (names[target].clone(), names[base].clone()));
    assert_eq!(bases, expected.into());
}

/// One base for all, written either way, gives the same bytes.
#[test]
fn one_base_is_a_case_of_several() {
    for base in 0..4 {
        let one = Plan { base, ..matrix(5) };
        let several = Plan {
            bases: Some(Bases {
                of_target: vec![Some(base); 4],
                by: Vec::new(),
            }),
            ..one.clone()
        };
        let (one, several) = (run(&one), run(&several));
        for format in FORMATS {
            let reports = [&one, &several].map(|run| render(&run.store, format).unwrap());
            assert_eq!(reports[0], reports[1], "{format:?}");
        }
    }
}

/// Another base gives the report of an experiment with this base, to the byte.
#[test]
fn reports_are_those_of_a_run_with_the_base() {
    let sample = run(&matrix(5));
    for (base, target) in matrix(5).targets.iter().enumerate() {
        let planned = run(&Plan { base, ..matrix(5) });
        for format in FORMATS {
            let expected = render(&planned.store, format).unwrap();
            let report = relative(&sample, &target.name, format);
            assert_eq!(report, expected, "{format:?}");
        }
    }
    let planned = run(&by_binlog(5));
    for format in FORMATS {
        let expected = render(&planned.store, format).unwrap();
        let report = relative(&sample, "build:mysql-5.0.21", format);
        assert_eq!(report, expected, "{format:?}");
    }
}

/// Each ratio is that of a report relative to the target's own base; only the multiplicity is not.
#[test]
fn ratios_are_paired_with_the_own_base() {
    let sample = of_each_configuration();
    let all = json(&render(&sample.store, Format::Json).unwrap());
    for (base, target) in [(0, 2), (1, 3)] {
        let names = [base, target].map(|index| all["targets"][index]["name"].as_str().unwrap());
        let one = json(&relative(&sample, names[0], Format::Json));
        let ratios = |report: &Value| -> Vec<Value> {
            let cells = report["cells"].as_array().unwrap().iter();
            let own = cells.filter(|cell| cell["target"] == names[1]);
            own.map(|cell| cell["ratio"].clone()).collect()
        };
        assert_eq!(ratios(&all).len(), 8);
        assert!(ratios(&all).iter().all(Value::is_object));
        assert_eq!(ratios(&all), ratios(&one));
        assert_eq!(all["targets"][target]["relative_to"], names[0]);
        assert_eq!(all["targets"][base]["base"], true);
    }
    // A base has no ratio to another, and with one base it is the only one without.
    let with_ratio = |report: &Value| {
        let cells = report["cells"].as_array().unwrap().iter();
        cells.filter(|cell| cell["ratio"].is_object()).count()
    };
    let one = json(&relative(&sample, "mysql-5.0.21-binlog-off", Format::Json));
    assert_eq!([with_ratio(&all), with_ratio(&one)], [2 * 8, 3 * 8]);
}

#[test]
fn rows_of_csv_name_their_base() {
    let sample = of_each_configuration();
    let report = render(&sample.store, Format::Csv).unwrap();
    assert!(report.lines().next().unwrap().ends_with(",relative_to"));
    let row = |name: &str| {
        let mut rows = report.lines().filter(move |line| line.starts_with(name));
        rows.next().unwrap().to_owned()
    };
    assert!(row("mysql-5.6.24-binlog-on").ends_with(",mysql-5.0.21-binlog-on"));
    assert!(row("mysql-5.0.21-binlog-on").ends_with(','));
}

/// The twin shows the difference of identical servers whatever else is compared.
#[test]
fn the_twin_stays_with_the_target_that_it_repeats() {
    let sample = twins(0.03);
    let own = json(&render(&sample.store, Format::Json).unwrap());
    let other = json(&relative(&sample, "mysql-5.7", Format::Json));
    assert!(own["identical_servers"].is_object());
    assert_eq!(own["identical_servers"], other["identical_servers"]);
    assert_eq!(other["targets"][1]["base"], true);
    assert_eq!(other["targets"][0]["base"], false);
}

/// Two bases, of which one fails: the group of the other one keeps its ratios.
#[test]
fn targets_of_a_failed_base_are_named() {
    let mut sample = Sample::new(&by_binlog(2));
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        if planned.target == 1 {
            let failed = sample.store.fail_trial(trial, "it ended", "", at(60));
            failed.unwrap();
        } else {
            sample.record_steps(trial, planned, |_, _| {});
            sample.store.finish_trial(trial, at(60)).unwrap();
        }
    }
    for format in [Format::Text, Format::Json] {
        let report = render(&sample.store, format).unwrap();
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = "No trial of the base mysql-5.0.21-binlog-on is done, and some failed: no \
                        ratio of mysql-5.6.24-binlog-on";
        assert!(report.contains(expected), "{report}");
        assert!(!report.contains("Nothing to compare:"), "{report}");
    }
}

#[test]
fn views_have_the_bases_of_the_experiment() {
    let arguments = "--only step:scan --only clients:1";
    let planned = shown(&run(&by_binlog(3)), View::Relative, arguments, Format::Json);
    let arguments = format!("{arguments} --base build:mysql-5.0.21");
    let chosen = shown(&run(&matrix(3)), View::Relative, &arguments, Format::Json);
    assert_eq!(planned, chosen);
}

#[test]
fn each_release_is_compared_with_the_one_before() {
    let mut plan = matrix(3);
    for binlog in [0, 1] {
        let mut target = plan.targets[2 + binlog].clone();
        target.build.id = "mysql-5.7.22".into();
        target.name = format!("newest-{binlog}");
        plan.targets.push(target);
    }
    plan.trials = prony_testkit::plan("x", plan.targets.clone(), Vec::new(), 3).trials;
    let sample = run(&plan);
    let only = "--only step:scan --only clients:1 --only config.binlog:off";
    let value = |base: &str, column: usize| {
        let arguments = format!("{only} --base {base}");
        let view = json(&shown(&sample, View::Relative, &arguments, Format::Json));
        view["tables"][0]["rows"][0]["figures"][column]["value"].clone()
    };
    assert_eq!(value("previous", 0), value("mysql-5.0.21-binlog-off", 0));
    let steps = shown(
        &sample,
        View::Relative,
        &format!("{only} --base previous"),
        Format::Text,
    );
    assert!(steps.contains("elative to the target before"), "{steps}");
    let newest = format!("{only} --base mysql-5.6.24-binlog-off --only target:newest-0");
    let newest = json(&shown(&sample, View::Relative, &newest, Format::Json));
    assert_eq!(
        value("previous", 1),
        newest["tables"][0]["rows"][0]["figures"][0]["value"]
    );
}

#[test]
fn a_base_that_makes_no_sense_is_refused() {
    let sample = run(&matrix(1));
    for (base, words) in [
        ("mysql-5.0", "`mysql-5.6.24-binlog-on`"),
        ("previous", "--view relative"),
        ("version:9", "`5.6.24`"),
        ("step:scan", "name a target"),
    ] {
        let (extent, screen) = (Extent::Whole, Screen::default());
        let report = render_relative(&sample.store, base, Format::Text, &extent, None, screen);
        match report {
            Err(ReportError::View(error)) => {
                assert!(error.to_string().contains(words), "{error}");
            }
            other => unreachable!("{base}: {other:?}"),
        }
    }
    // Two configurations of one build: none is a release after the other.
    let of_one_build = options("--only build:mysql-5.0.21 --base previous");
    let refused = prony_report::view(&sample.store, View::Relative, &of_one_build, Format::Text);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("another build"), "{message}");
}
