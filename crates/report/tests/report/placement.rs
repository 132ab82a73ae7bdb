//! The placement of steps: in the heading, beside figures, and for programs.

use prony_model::{
    DefaultPlacement, PlacementReading, PlacementRule, Plan, PlannedTrial, TrialKind,
    WantedPlacement,
};
use prony_report::{Format, render};
use prony_testkit::{free, paired, placed, planned, threads_on};
use serde_json::{Value, json};

use crate::sample::{Sample, at, plan};

const TOGETHER: PlacementRule = PlacementRule::Together;
const APART: PlacementRule = PlacementRule::Apart;

/// Sessions and generator on one processor of two.
pub(crate) fn on_one() -> PlacementReading {
    placed(TOGETHER, "1", "0", "1")
}

fn on_two() -> PlacementReading {
    placed(TOGETHER, "0-1", "0-1", "0-1")
}

fn apart() -> PlacementReading {
    placed(APART, "0", "0", "1")
}

/// All trials of a plan, placed by target and step, with a dear wake-up.
fn run(plan: &Plan, of: impl Fn(PlannedTrial, usize) -> PlacementReading) -> Sample {
    let mut sample = Sample::new(plan);
    let decided = DefaultPlacement::decide(2, Some(3.1));
    sample.store.record_default_placement(decided).unwrap();
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |_, _| {});
        for step in 0..plan.steps.len() {
            let reading = of(planned, step);
            let recorded = sample.store.record_placement(trial, step, &reading);
            recorded.unwrap();
        }
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

/// The lines of the heading, and the warnings.
fn line_and_warnings(sample: &Sample) -> (String, String) {
    let text = render(&sample.store, Format::Text).unwrap();
    let from = |start: &'static str| {
        text.lines()
            .skip_while(move |line| !line.starts_with(start))
    };
    let more = from("Placement")
        .skip(1)
        .take_while(|line| line.starts_with(' '));
    let line: Vec<&str> = from("Placement")
        .take(1)
        .chain(more)
        .map(str::trim)
        .collect();
    let warnings = from("Warnings")
        .skip(1)
        .skip_while(|line| line.starts_with("---"));
    let warnings: Vec<&str> = warnings.take_while(|line| !line.is_empty()).collect();
    (line.join("\n"), warnings.join("\n"))
}

fn line(plan: &Plan, of: impl Fn(PlannedTrial, usize) -> PlacementReading) -> String {
    let (line, warnings) = line_and_warnings(&run(plan, of));
    assert_eq!(warnings, "");
    line
}

#[test]
fn the_heading_says_where_threads_ran() {
    let mut one = plan(2, &[1], 2);
    insta::assert_snapshot!(line(&one, |_, _| on_one()), @r"
    Placement together: sessions and generator share 1 processor for 1 client, the server's other
    threads have the rest. Default: together, because a wake-up across processors costs 3.1
    times as much as on one
    ");
    one.placement = Some(WantedPlacement::Rule(APART));
    let apart = line(&one, |_, _| apart());
    insta::assert_snapshot!(apart, @"Placement apart: the generator has 1 processor of its own, the server 1 processor");
    one.placement = Some(WantedPlacement::Rule(PlacementRule::Free));
    let free = line(&one, |_, _| free(2));
    insta::assert_snapshot!(free, @"Placement free: the kernel chooses the processors of all threads");
    // Four steps for each number of clients.
    let sweep = plan(2, &[1, 2, 8], 2);
    let by_clients = |_, step| if step < 4 { on_one() } else { on_two() };
    insta::assert_snapshot!(line(&sweep, by_clients), @r"
    Placement together: sessions and generator share 1 processor for 1 client and 2 processors for 2 to
    8 clients, the server's other threads have the rest, or all where none is left. Default:
    together, because a wake-up across processors costs 3.1 times as much as on one
    ");
}

#[test]
fn pairs_are_in_the_heading() {
    let mut plan = plan(2, &[1], 2);
    let own = plan.steps[1].groups.iter_mut().next().unwrap();
    own.clients = 3;
    let by_step = |_, step| if step == 1 { paired([2, 1]) } else { on_one() };
    insta::assert_snapshot!(line(&plan, by_step), @r"
    Placement together: sessions and generator share 1 processor for 1 client and 2 processors for 3
    clients, paired: each thread of the generator has one with its sessions, the server's
    other threads have the rest, or all where none is left. Default: together, because a
    wake-up across processors costs 3.1 times as much as on one
    ");
}

#[test]
fn a_wish_needs_no_reason() {
    let mut plan = plan(2, &[1], 1);
    plan.placement = Some(WantedPlacement::Rule(TOGETHER));
    insta::assert_snapshot!(line(&plan, |_, _| on_one()), @r"
    Placement together: sessions and generator share 1 processor for 1 client, the server's other
    threads have the rest
    ");
    let sets = placed(PlacementRule::Sets, "0", "1", "0");
    plan.placement = Some(WantedPlacement::Sets(sets.placement.processors.clone()));
    insta::assert_snapshot!(line(&plan, |_, _| sets.clone()), @"Placement sets: sessions 0, background 1, generator 0, as the experiment asks");
}

#[test]
fn differences_between_steps_and_targets_are_in_the_heading() {
    let mut plan = plan(2, &[1], 2);
    plan.steps[1].placement = Some(WantedPlacement::Rule(APART));
    let by_step = |_, step| if step == 1 { apart() } else { on_one() };
    insta::assert_snapshot!(line(&plan, by_step), @r"
    Placement together in point-query, update-index and scan (sessions and generator share 1 processor
    for 1 client, the server's other threads have the rest); apart in read-only.range100 (the
    generator has 1 processor of its own, the server 1 processor). Default: together, because
    a wake-up across processors costs 3.1 times as much as on one
    ");
    plan.targets[1].placement = Some(WantedPlacement::Rule(PlacementRule::Free));
    let by_cell = |planned: PlannedTrial, step| match (planned.target, step) {
        (1, _) => free(2),
        (_, 1) => apart(),
        _ => on_one(),
    };
    insta::assert_snapshot!(line(&plan, by_cell), @r"
    Placement together in point-query, update-index and scan for mysql-5.0 (sessions and generator share
    1 processor for 1 client, the server's other threads have the rest); free for mysql-5.7
    (the kernel chooses the processors of all threads); apart in read-only.range100 for
    mysql-5.0 (the generator has 1 processor of its own, the server 1 processor). Default:
    together, because a wake-up across processors costs 3.1 times as much as on one
    ");
    let text = render(&run(&plan, by_cell).store, Format::Markdown).unwrap();
    assert!(text.contains("Not only the version differs, but also: placement.\n"));
    assert!(!text.contains("## Warnings"));
}

#[test]
fn a_difference_that_is_not_planned_is_beside_the_figure() {
    let plan = plan(2, &[1], 2);
    let sample = run(&plan, |planned, step| {
        match (planned.block, planned.target, step) {
            (1, 1, 0) => apart(),
            _ => on_one(),
        }
    });
    let (line, warnings) = line_and_warnings(&sample);
    insta::assert_snapshot!(line, @r"
    Placement together (sessions and generator share 1 processor for 1 client, the server's other
    threads have the rest); apart in point-query for mysql-5.7 (the generator has 1 processor
    of its own, the server 1 processor). Default: together, because a wake-up across
    processors costs 3.1 times as much as on one
    ");
    insta::assert_snapshot!(warnings, @r"
    - point-query, mysql-5.7, 1 client: block 2: placed apart (sessions 0, background 0, generator 1),
      and mysql-5.0 together (sessions 1, background 0, generator 1): the ratio includes this.
    - point-query, mysql-5.7, 1 client: its blocks were placed differently: apart (sessions 0,
      background 0, generator 1) and together (sessions 1, background 0, generator 1).
    ");
}

#[test]
fn threads_that_are_elsewhere_are_beside_the_figure() {
    let plan = plan(2, &[1], 1);
    let sample = run(&plan, |planned, step| match (planned.target, step) {
        // Left where the step before had them.
        (0, 1) => PlacementReading {
            sessions: vec![threads_on("1", 2)],
            ..free(2)
        },
        (0, _) => free(2),
        (_, 2) => PlacementReading {
            background: vec![threads_on("0", 29), threads_on("0-1", 1)],
            generator: vec![threads_on("0", 1)],
            ..free(2)
        },
        _ => free(2),
    });
    let (_, warnings) = line_and_warnings(&sample);
    insta::assert_snapshot!(warnings, @r"
    - read-only.range100, mysql-5.0, 1 client: block 1: 2 session threads of the server could use
      processor 1 instead of processors 0-1: the step was not placed as planned.
    - update-index, mysql-5.7, 1 client: block 1: 29 background threads of the server could use
      processor 0 instead of processors 0-1: the step was not placed as planned.
    - update-index, mysql-5.7, 1 client: block 1: 1 thread of the load generator could use processor 0
      instead of processors 0-1: the step was not placed as planned.
    ");
}

#[test]
fn counting_trials_may_have_another_rule() {
    let mut plan = plan(1, &[1], 1);
    plan.trials.push(PlannedTrial {
        kind: TrialKind::Counting,
        ..planned(0, 0)
    });
    let by_kind = |planned: PlannedTrial, _| match planned.kind {
        TrialKind::Timed | TrialKind::Profiling => on_one(),
        TrialKind::Counting => free(2),
    };
    insta::assert_snapshot!(line(&plan, by_kind), @r"
    Placement together: sessions and generator share 1 processor for 1 client, the server's other
    threads have the rest. Default: together, because a wake-up across processors costs 3.1
    times as much as on one. In counting trials: free
    ");
}

#[test]
fn nothing_is_said_of_a_run_that_knows_none() {
    let plan = plan(2, &[1], 1);
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    assert_eq!(line_and_warnings(&sample).0, "");
    let decided = DefaultPlacement::decide(2, None);
    sample.store.record_default_placement(decided).unwrap();
    insta::assert_snapshot!(line_and_warnings(&sample).0, @"Placement Default: together, because the price of a wake-up was not measured on this host");
}

#[test]
fn programs_get_the_processors_of_each_cell() {
    let plan = plan(2, &[1], 2);
    let sample = run(&plan, |planned, step| match (planned.block, step) {
        (1, 1) => free(2),
        _ => on_one(),
    });
    let report = render(&sample.store, Format::Json).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let decided = json!({ "rule": "together", "reason": { "price": 3100 } });
    assert_eq!(report["run"]["default_placement"], decided);
    let placement = json!({
        "rule": "together", "paired": false, "sessions": "1", "background": "0",
        "generator": "1",
    });
    let cell = &report["cells"][0];
    assert_eq!(cell["placement"], placement);
    let on = |cpus: &str, threads: u32| json!([{ "cpus": cpus, "threads": threads }]);
    let reading = json!({
        "placement": placement, "sessions": on("1", 2), "background": on("0", 30),
        "generator": on("1", 1),
    });
    assert_eq!(cell["measurements"][1]["placed"], reading);
    let mixed = &report["cells"][1];
    assert_eq!(mixed["placement"], Value::Null);
    assert_eq!(
        mixed["measurements"][1]["placed"]["placement"]["rule"],
        "free"
    );
    let csv = render(&sample.store, Format::Csv).unwrap();
    let names = [
        "placement",
        "session_cpus",
        "background_cpus",
        "generator_cpus",
    ];
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let first = header.iter().position(|name| *name == names[0]).unwrap();
    assert_eq!(header[first..first + 4], names);
    let of = |row: usize| -> Vec<&str> {
        let line = csv.lines().nth(row).unwrap();
        line.split(',').skip(first).take(4).collect()
    };
    assert_eq!(of(1), ["together", "1", "0", "1"]);
    assert_eq!(of(4), ["free", "", "", ""]);
}
