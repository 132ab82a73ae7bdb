//! Rates, think times, reconnecting, ramps, groups of clients, backends.

use prony_model::{Backend, Length, Pace, Spacing, Think, Thousandths};

use super::messages::changed;
use super::{RIGHT, World, assert_says};
use crate::{Assumptions, Preset, backlogs_ms, embedded_workloads, parse_preset, predicted_ms};

/// The last step of [`RIGHT`] with more keys.
fn with(keys: &str) -> String {
    format!("{RIGHT}{keys}\n")
}

/// Checks the message about the last step of [`RIGHT`] with more keys.
#[track_caller]
fn refused(keys: &str, expected: &str) {
    assert_says(&World::new().parse(&with(keys)).unwrap_err(), expected);
}

#[test]
fn paces_as_they_are_written() {
    let pace = |keys: &str| World::new().parse(&with(keys)).unwrap().steps[2].own().pace;
    assert_eq!(pace(""), Pace::Closed { think: None });
    let open = |rate, spacing| Pace::Open {
        rate: Thousandths(rate),
        spacing,
    };
    assert_eq!(pace("rate = 500"), open(500_000, Spacing::Poisson));
    assert_eq!(
        pace("rate = 0.125\narrivals = \"regular\""),
        open(125, Spacing::Regular)
    );
    let think = |mean_us, spacing| Pace::Closed {
        think: Some(Think { mean_us, spacing }),
    };
    assert_eq!(pace(r#"think = "10ms""#), think(10_000, Spacing::Poisson));
    assert_eq!(
        pace("think = \"50us\"\nthink_spacing = \"regular\""),
        think(50, Spacing::Regular)
    );
}

#[test]
fn ramps_and_reconnecting() {
    let plan = World::new()
        .parse(&with("reconnect_every = 100\nramp = \"5s\""))
        .unwrap();
    let of = |step: usize| {
        let step = &plan.steps[step];
        (step.own().reconnect_every, step.ramp_ms)
    };
    assert_eq!(of(0), (None, 0));
    assert_eq!(of(2), (Some(100), 5000));
    let all = changed(r#"warmup = "500ms""#, "warmup = \"500ms\"\nramp = \"2s\"");
    let plan = World::new().parse(&all).unwrap();
    assert!(plan.steps.iter().all(|step| step.ramp_ms == 2000));
}

#[test]
fn a_share_of_a_rate_is_promised() {
    let promised = |keys: &str| {
        World::new().parse(&with(keys)).unwrap().steps[2]
            .own()
            .sla_percent
    };
    assert_eq!(promised("rate = 500"), None);
    assert_eq!(
        promised("rate = 500\nsla = \"95 %\""),
        Some(Thousandths(95_000))
    );
    refused(
        "sla = \"95 %\"",
        "`sla` needs `rate` beside it
         | sla = «\"95 %\"» of what?
         | write `rate`, the operations per second that are planned, or remove `sla`",
    );
    refused(
        "rate = 500\nsla = \"101 %\"",
        "`101 %` is out of range
         | sla = «\"101 %\"» this can't be used
         | write a number from 1 to 100 with at most three decimals and its sign, such as \"95 %\"",
    );
}

const GROUPS: &str = "
[[step.beside]]
workload = \"update-index\"
clients = \"tables\"
rate = 200

[[step.beside]]
name = \"scans\"
workload = \"read-only\"
parameters.range = 1000
think = \"1s\"
reconnect_every = 10
";

#[test]
fn groups_beside_a_step() {
    let plan = World::new().parse(&with(GROUPS)).unwrap();
    assert!(plan.steps[0].groups.beside().is_empty());
    let step = &plan.steps[3];
    let [writers, scans] = step.groups.beside() else {
        panic!("two groups: {:?}", step.groups);
    };
    assert_eq!(
        (writers.name.as_deref(), writers.clients),
        (Some("update-index"), 2)
    );
    assert_eq!(
        writers.pace,
        Pace::Open {
            rate: Thousandths(200_000),
            spacing: Spacing::Poisson
        }
    );
    assert_eq!((scans.name.as_deref(), scans.clients), (Some("scans"), 1));
    assert_eq!(scans.reconnect_every, Some(10));
    assert_eq!(scans.parameters["range"], 1000);
    // What is expected follows the group's own parameters.
    let rows = scans.workload.statements[1].expect.rows.unwrap();
    assert_eq!(rows.max, 1000);
    assert_eq!(
        step.own().workload.statements[1].expect.rows.unwrap().max,
        10
    );
    assert_eq!(step.all_clients(), 4 + 2 + 1);
}

#[test]
fn rows_can_lack_after_a_group_has_removed_some() {
    let text = with(
        "[[step.beside]]\nworkload = \"delete\"\n\
         [[step]]\nname = \"after\"\nworkload = \"point-query\"\n\
         [[step.beside]]\nname = \"others\"\nworkload = \"point-query\"",
    );
    let plan = World::new().parse(&text).unwrap();
    let after = &plan.steps[4];
    let least = |statements: &[prony_model::Statement]| statements[0].expect.rows.unwrap().min;
    assert_eq!(least(&plan.steps[0].own().workload.statements), 1);
    assert_eq!(least(&after.own().workload.statements), 0);
    assert_eq!(least(&after.groups[1].workload.statements), 0);
}

#[test]
fn backends() {
    let plan = |line: &str| {
        let text = changed("blocks = 3", &format!("blocks = 3\n{line}"));
        World::new().parse(&text).unwrap()
    };
    assert_eq!(plan("").backend, None);
    assert_eq!(plan(r#"backend = "auto""#).backend, None);
    assert_eq!(plan(r#"backend = "epoll""#).backend, Some(Backend::Epoll));
    let ring = plan(r#"backend = "io-uring""#);
    assert_eq!(ring.backend, Some(Backend::IoUring));
    let profile = format!("{RIGHT}\n[profile.p]\nbackend = \"epoll\"\n");
    let plan = World::new().parse_with("p", &profile).unwrap();
    assert_eq!(plan.backend, Some(Backend::Epoll));
}

#[test]
fn what_contradicts_itself() {
    refused(
        "rate = 100\nthink = \"1ms\"",
        r#"clients work at a `rate`, or they `think` between operations, not both
           | rate = «100» begins operations by a schedule
           | think = «"1ms"» begins them after the last answer
           | remove one of them"#,
    );
    refused(
        r#"arrivals = "regular""#,
        r#"`arrivals` needs `rate` beside it
           | arrivals = «"regular"» of what?
           | write `rate`, or remove `arrivals`"#,
    );
    refused(
        "rate = 10\nthink_spacing = \"regular\"",
        r#"`think_spacing` needs `think` beside it
           | think_spacing = «"regular"» of what?
           | write `think`, or remove `think_spacing`"#,
    );
    refused(
        "rate = 0",
        "`rate` must be a number from 0.001 to 1000000 with at most three decimals
         | rate = «0» this can't be used",
    );
    refused(
        "rate = 0.0001",
        "`rate` must be a number from 0.001 to 1000000 with at most three decimals
         | rate = «0.0001» this can't be used",
    );
    refused(
        "think = 10",
        r#"a duration needs a unit
           | think = «10» milliseconds? seconds?
           | write a whole number and a unit: "500us", "10ms", "2s""#,
    );
    refused(
        r#"think = "0ms""#,
        r#"`think` must be longer than 0 | think = «"0ms"» no time to think"#,
    );
    refused(
        "rate = 5\narrivals = \"random\"",
        r#"unknown arrivals `random`
           | arrivals = «"random"» no such arrivals
           | known values of arrivals: poisson, regular"#,
    );
}

#[test]
fn what_has_no_place_where_the_whole_run_is_timed() {
    let whole = "timing = \"whole-run\"\n";
    refused(
        &format!("{whole}rate = 5"),
        r#"a step whose whole run is timed has no rate
           | workload = «"read-only"» has one
           | remove `rate`, or write `timing = "operations"`"#,
    );
    refused(
        &format!(r#"{whole}ramp = "1s""#),
        r#"a step whose whole run is timed has no ramp
           | workload = «"read-only"» has one
           | remove `ramp`, or write `timing = "operations"`"#,
    );
    refused(
        &format!("{whole}{GROUPS}"),
        r#"a step whose whole run is timed has no groups beside it
           | workload = «"read-only"» has one
           | remove `[[step.beside]]`, or write `timing = "operations"`"#,
    );
    let all = "warmup = \"0s\"\nramp = \"1s\"\ntiming = \"whole-run\"";
    let text = changed(r#"warmup = "500ms""#, all);
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"steps whose whole run is timed have no ramp
           | ramp = «"1s"» a ramp
           | timing = «"whole-run"» the whole run
           | remove one of them; a step can have a `timing` of its own"#,
    );
    // Times to think are the client's own.
    let think = with(&format!("{whole}think = \"1ms\"\nreconnect_every = 2"));
    assert!(World::new().parse(&think).is_ok());
}

#[test]
fn groups_that_are_wrong() {
    let group = |keys: &str| format!("[[step.beside]]\nworkload = \"update-index\"\n{keys}");
    refused(
        &format!("{}\n{}", group(""), group("")),
        r#"two groups of clients are named `update-index`
           | workload = «"update-index"» first here
           | workload = «"update-index"» here again
           | figures are stored by name, those of the step's own clients by the step's name: set `name`"#,
    );
    refused(
        &group(r#"name = "read-only.range10""#),
        r#"two groups of clients are named `read-only.range10`
           | workload = «"read-only"» first here
           | name = «"read-only.range10"» here again
           | figures are stored by name, those of the step's own clients by the step's name: set `name`"#,
    );
    refused(
        "[[step.beside]]\nworkload = \"hot-update-indexed\"",
        r#"`hot-update-indexed` works on tables of foo, and this dataset has tables of sbtest
           | rows = «10_000» tables of sbtest
           | workload = «"hot-update-indexed"» this group can't run
           | write schema = "foo" in [dataset], or choose another workload: `prony workloads list` shows the schema of each"#,
    );
    refused(
        &group(r#"time = "5s""#),
        r#"unknown key `time`
           | «time» = "5s" a group of clients has no such key
           | known keys: workload, name, parameters, rate, rate_per_client, arrivals, think, think_spacing, sla,
           reconnect_every, clients"#,
    );
    refused(
        "[[step.beside]]\nname = \"far\"\nworkload = \"read-only\"\nparameters.range = 100_000",
        r#"`read-only` can't draw `low` from 1..rows - range + 1: that is 1..-89999 at rows =
           10000, range = 100000
           | rows = «10_000» with 10000 rows
           | name = «"far"» this group can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
}

const PRESET: &str = "name = \"paced\"
description = \"Paces\"
history = \"For tests.\"
time = \"100s\"
ramp = \"10s\"

[[step]]
workload = \"point-query\"
rate = 100
reconnect_every = 7

[[step]]
workload = \"update-index\"
think = \"1ms\"
[[step.beside]]
workload = \"point-query\"
rate = 50
";

fn paced(sequence: &str) -> String {
    let steps = RIGHT.find("[sequence]").unwrap();
    format!(
        "{}[sequence]\npreset = \"paced\"\n{sequence}\n",
        &RIGHT[..steps]
    )
}

fn world() -> World {
    let preset: Preset =
        parse_preset("paced.toml", PRESET, &embedded_workloads().unwrap()).unwrap();
    World {
        presets: vec![preset],
        ..World::new()
    }
}

#[test]
fn presets_have_paces_and_scale_ramps_but_no_rates() {
    let plan = world().parse(&paced(r#"time = "10s""#)).unwrap();
    let rate = |rate| Pace::Open {
        rate: Thousandths(rate),
        spacing: Spacing::Poisson,
    };
    assert_eq!(plan.steps[0].own().pace, rate(100_000));
    assert_eq!(plan.steps[0].ramp_ms, 1000);
    assert_eq!(plan.steps[0].length, Length::Time { ms: 10_000 });
    assert_eq!(plan.steps[2].groups[1].pace, rate(50_000));
    let whole = world()
        .parse(&paced(r#"timing = "whole-run""#))
        .unwrap_err();
    assert_says(
        &whole,
        r#"a step whose whole run is timed has no rate
           | preset = «"paced"» its step `point-query` has one
           | remove `rate`, or write `timing = "operations"`"#,
    );
}

#[test]
fn predicted_time_counts_ramps_rates_and_think_times() {
    let assumptions = Assumptions::default();
    let predict = |text: &str| predicted_ms(&World::new().parse(text).unwrap(), &assumptions);
    // 2 targets × 3 blocks, the last entry at 2 numbers of clients.
    let steps = 6 * 2;
    let plain = predict(RIGHT);
    // 500 ms of warm-up are within the ramp.
    assert_eq!(predict(&with(r#"ramp = "5s""#)) - plain, steps * 4500);
    // 1000 operations at 100 per second, in place of 3 s.
    let rate = predict(&with("rate = 100\noperations = 1000"));
    assert_eq!(rate - plain, steps * 7000);
    let counted = predict(&with("operations = 1000"));
    let thinking = predict(&with("operations = 1000\nthink = \"20ms\""));
    // One client thinks for 20 s, each of four for 5 s.
    assert_eq!(thinking - counted, 6 * (20_000 + 5000));
    // Two clients more to connect.
    let beside = "[[step.beside]]\nworkload = \"update-index\"\nclients = 2\nrate = 10";
    assert_eq!(predict(&with(beside)) - plain, steps * 2);
}

#[test]
fn backlogs_take_time_where_there_is_a_rate() {
    let backlogs = |text: &str| backlogs_ms(&World::new().parse(text).unwrap());
    assert_eq!(backlogs(RIGHT), 0);
    assert_eq!(backlogs(&with("rate = 100")), 6 * 2 * 12_000);
}

#[test]
fn documented_paces_are_right() {
    let document = include_str!("../../../../docs/formats/experiment.md");
    let after = |title: &str| {
        let part = &document[document.find(title).unwrap()..];
        let part = part.split_once("```toml\n").unwrap().1;
        part.split_once("```").unwrap().0
    };
    let text = with(after("\n### Paces\n")) + after("\n### Groups of clients\n");
    let plan = World::new()
        .parse(&text.replacen("[16]", "[16]\nname = \"paced\"", 1))
        .unwrap();
    let [.., paced, grouped] = plan.steps.as_slice() else {
        panic!("two steps more")
    };
    assert!(paced.own().pace.is_scheduled());
    assert_eq!(grouped.groups.beside().len(), 1);
}
