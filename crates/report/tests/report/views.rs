//! Views: single tables and graphs of chosen cells.

use prony_model::{IntentValue, Phase, Plan, PlannedTrial, StepOutcome, Target, Version};
use prony_report::{Format, ReportError, View, ViewOptions, render, view};
use prony_testkit as testkit;
use serde_json::Value;

use crate::costs::{counting, run_sampled};
use crate::sample::{Sample, at, plan};

/// Three builds with the binary log off and on, two steps at two numbers of clients, in two phases.
pub(crate) fn matrix(blocks: u32) -> Plan {
    let builds = [
        ("5.0.21", Version::new(5, 0, 21)),
        ("5.6.24", Version::new(5, 6, 24)),
    ];
    let mut targets = Vec::new();
    for (name, version) in builds {
        for binlog in [false, true] {
            let id = format!("mysql-{name}");
            let mut target: Target = testkit::target(&id, version);
            let intents = &mut target.config.intents;
            intents.insert("binlog".into(), IntentValue::Flag(binlog));
            target.name = format!("{id}-binlog-{}", if binlog { "on" } else { "off" });
            targets.push(target);
        }
    }
    let mut plan = Plan {
        steps: plan(1, &[1, 64], 1).steps,
        ..testkit::plan("matrix", targets, Vec::new(), blocks)
    };
    for step in &mut plan.steps {
        let phase = if step.entry == 2 {
            Phase::Write
        } else {
            Phase::ReadBefore
        };
        step.phase = Some(phase);
    }
    plan
}

/// Later targets are slower with one client and faster with many, the log costs a tenth, blocks differ
/// a little.
fn timed(planned: PlannedTrial, clients: u32, outcome: &mut StepOutcome) {
    let own = outcome.groups.own_mut();
    let (target, block) = (planned.target as u64, u64::from(planned.block));
    let version = match clients {
        1 => 1000 + 100 * (target / 2),
        _ => 1000 - 100 * (target / 2),
    };
    let log = 10 + target % 2;
    let mood = 1000 + 5 * block + (target * 7 + block * 3) % 4;
    own.busy_ns = own.operations * 24 * version * log * mood / 10_000;
}

pub(crate) fn run(plan: &Plan) -> Sample {
    let mut sample = Sample::new(plan);
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |step, outcome| {
            timed(planned, plan.steps[step].own().clients, outcome);
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

/// Options as they are written after the name of a view.
pub(crate) fn options(arguments: &str) -> ViewOptions {
    let mut options = ViewOptions::default();
    let mut words = arguments.split_whitespace();
    while let Some(flag) = words.next() {
        let value = words.next().unwrap();
        let keys = || value.split(',').map(str::to_owned).collect();
        match flag {
            "--base" => options.bases.push(value.to_owned()),
            "--only" => options.only.push(value.to_owned()),
            "--table" => options.table = keys(),
            "--row" => options.row = keys(),
            "--col" => options.col = keys(),
            other => unreachable!("{other}"),
        }
    }
    options
}

pub(crate) fn shown(sample: &Sample, of: View, arguments: &str, format: Format) -> String {
    let report = view(&sample.store, of, &options(arguments), format).unwrap();
    assert!(report.ends_with('\n') && !report.ends_with("\n\n"));
    assert!(!report.contains("NaN") && !report.contains("inf"));
    if format == Format::Text {
        for line in report.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
    report
}

fn text(of: View, arguments: &str) -> String {
    shown(&run(&matrix(3)), of, arguments, Format::Text)
}

#[test]
fn absolute() {
    insta::assert_snapshot!(text(View::Absolute, ""));
}

#[test]
fn relative() {
    insta::assert_snapshot!(text(View::Relative, "--only clients:64"));
}

#[test]
fn qps_ratio() {
    insta::assert_snapshot!(text(View::QpsRatio, "--only step:update-*,scan"));
}

#[test]
fn ratio_by_version() {
    insta::assert_snapshot!(text(View::RatioByVersion, "--only step:point-query"));
}

#[test]
fn response_time_has_a_base_for_each_configuration() {
    let arguments = "--only step:point-query --base build:mysql-5.0.21";
    insta::assert_snapshot!(text(View::ResponseTime, arguments));
}

#[test]
fn tps() {
    insta::assert_snapshot!(text(View::Tps, "--only step:scan"));
}

#[test]
fn scaling() {
    insta::assert_snapshot!(text(View::Scaling, "--only step:point-query"));
}

#[test]
fn crossings() {
    insta::assert_snapshot!(text(View::Crossings, "--only step:point-query"));
}

#[test]
fn bars() {
    insta::assert_snapshot!(text(View::Bars, "--only clients:1 --only step:point-query"));
}

/// Costs of two targets, counted.
fn sampled() -> Sample {
    let mut sample = Sample::new(&counting(plan(3, &[1], 3)));
    run_sampled(&mut sample, |_, _, _| {});
    sample
}

#[test]
fn efficiency() {
    let arguments = "--only step:update-index --base mysql-5.7";
    insta::assert_snapshot!(shown(&sampled(), View::Efficiency, arguments, Format::Text));
}

#[test]
fn annotated() {
    insta::assert_snapshot!(shown(&sampled(), View::Annotated, "", Format::Text));
}

#[test]
fn relative_as_markdown() {
    let sample = run(&matrix(2));
    let arguments = "--only clients:1 --only step:scan";
    insta::assert_snapshot!(shown(&sample, View::Relative, arguments, Format::Markdown));
}

#[test]
fn qps_ratio_as_csv() {
    let sample = run(&matrix(2));
    let arguments = "--only clients:1 --only step:scan";
    insta::assert_snapshot!(shown(&sample, View::QpsRatio, arguments, Format::Csv));
}

#[test]
fn crossings_as_json() {
    let sample = run(&matrix(3));
    let arguments = "--only step:point-query --only config.binlog:off";
    insta::assert_snapshot!(shown(&sample, View::Crossings, arguments, Format::Json));
}

/// The ratio of one target to another is the same whichever base the experiment has.
#[test]
fn other_bases_are_paired_again() {
    let mut plan = matrix(3);
    let arguments = "--only clients:1 --base mysql-5.0.21-binlog-on";
    let chosen = shown(&run(&plan), View::Relative, arguments, Format::Json);
    plan.base = 1;
    let planned = shown(
        &run(&plan),
        View::Relative,
        "--only clients:1",
        Format::Json,
    );
    assert_eq!(chosen, planned);
}

/// The whole report has the same mean, of the experiment's base.
#[test]
fn means_over_steps_are_those_of_the_report() {
    let sample = sampled();
    let json = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let of_view = json(shown(&sample, View::Relative, "", Format::Json));
    let report = json(render(&sample.store, Format::Json).unwrap());
    let rows = of_view["tables"][0]["rows"].as_array().unwrap();
    let mean = rows.last().unwrap();
    assert_eq!(mean["name"], "geometric mean");
    for (index, of_target) in report["overall"].as_array().unwrap().iter().enumerate() {
        assert_eq!(of_target["steps"], 4);
        assert_eq!(mean["figures"][index]["value"], of_target["ratio"]["ratio"]);
        assert_eq!(mean["figures"][index]["low"], of_target["ratio"]["low"]);
    }
}

#[test]
fn several_bases_have_tables_of_their_own() {
    let arguments = "--only step:scan --only clients:1 --base mysql-5.0.21-binlog-off --base \
                     mysql-5.6.24-binlog-off";
    let report = text(View::Relative, arguments);
    assert!(
        report.contains("Relative to mysql-5.0.21-binlog-off"),
        "{report}"
    );
    assert!(
        report.contains("Relative to mysql-5.6.24-binlog-off"),
        "{report}"
    );
}

#[test]
fn rows_and_columns_are_chosen() {
    let arguments = "--only step:scan --table step,config.binlog --row version --col clients";
    let report = text(View::Absolute, arguments);
    assert!(report.contains("scan, binlog off"), "{report}");
    assert!(
        report.contains("version") && report.contains("64 clients"),
        "{report}"
    );
    assert!(report.contains("5.6.24"), "{report}");
}

pub(crate) fn refused(of: View, arguments: &str) -> String {
    let sample = run(&matrix(1));
    match view(&sample.store, of, &options(arguments), Format::Text) {
        Err(ReportError::View(error)) => error.to_string(),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn unknown_names_are_answered_with_those_that_exist() {
    for (arguments, word) in [
        ("--base mysql-5.0", "`mysql-5.6.24-binlog-on`"),
        ("--base version:9", "`5.6.24`"),
        ("--base step:scan", "name a target"),
        ("--only colour:red", "`config.binlog`"),
        ("--only step:nothing", "`update-index`"),
        ("--only scan", "KEY:VALUE"),
        ("--row colour", "`transport`"),
        (
            "--only clients:1 --only clients:64",
            "leave some of them out",
        ),
    ] {
        let message = refused(View::Relative, arguments);
        assert!(message.contains(word), "{arguments}: {message}");
    }
}

#[test]
fn empty_runs_have_no_figures() {
    let sample = Sample::new(&matrix(1));
    for of in View::ALL {
        let report = shown(&sample, of, "", Format::Text);
        assert!(report.contains("There are no figures"), "{report}");
    }
}

#[test]
fn one_block_has_no_intervals() {
    let sample = run(&matrix(1));
    for of in View::ALL {
        shown(&sample, of, "", Format::Text);
    }
    let report = shown(&sample, View::Crossings, "", Format::Text);
    assert!(report.contains("one block has no interval"), "{report}");
}

#[test]
fn names_are_unique() {
    for of in View::ALL {
        assert_eq!(View::named(of.name()), Some(of));
    }
    assert_eq!(View::named("everything"), None);
}
