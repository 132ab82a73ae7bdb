//! The commands of docs/studies.md, each on a made-up run of its study's small experiment.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use prony_model::{
    Counter, Moment, Plan, PlannedTrial, Sample, Source, Step, StepOutcome, Workload,
};
use prony_plan::{Knowledge, embedded_presets, embedded_workloads, parse_experiment};
use prony_servers::Catalogue;
use prony_store::{NewRun, Store};
use prony_testkit as testkit;
use support::{finish, prony, workspace};

/// The plan of a study's small experiment.
fn plan(experiment: &str) -> Plan {
    let catalogue = Catalogue::embedded().unwrap();
    let workloads: Vec<Workload> = embedded_workloads().unwrap();
    let presets = embedded_presets().unwrap();
    let path = workspace().join(experiment);
    let knowledge = Knowledge {
        builds: &catalogue.facts(),
        intents: &catalogue.intent_facts(),
        workloads: &workloads,
        presets: &presets,
        folder: path.parent().unwrap(),
        honours: &|_, _| Ok(()),
        digest: &|_| Ok(String::new()),
        hardware_counters: Ok(()),
        stack_samples: Ok(()),
        valgrind: false,
    };
    let text = fs::read_to_string(&path).unwrap();
    parse_experiment(experiment, &text, Some("small"), &knowledge).unwrap()
}

/// Writes a run of `plan` in which each target is slower than the one before.
fn run(plan: &Plan, folder: &Path) {
    let at = |seconds: i64| Timestamp::from_second(1_763_755_200 + seconds).unwrap();
    let run = NewRun {
        id: "made-up",
        plan,
        prony_version: "0.1.0",
        host_json: "{}",
        started_at: at(0),
    };
    let mut store = Store::create(&folder.join("run.sqlite"), &run).unwrap();
    for planned in store.missing_trials().unwrap() {
        let trial = store.begin_trial(planned, at(30)).unwrap();
        for (index, step) in plan.steps.iter().enumerate() {
            let outcome = outcome(planned, step);
            store.record_step(trial, index, &outcome).unwrap();
            let samples = [Moment::Start, Moment::End].map(|moment| sample(moment, &outcome));
            store.record_samples(trial, index, &samples).unwrap();
        }
        store.finish_trial(trial, at(60)).unwrap();
    }
}

fn outcome(planned: PlannedTrial, step: &Step) -> StepOutcome {
    let clients = step.own().clients;
    let (target, block) = (planned.target as u64, u64::from(planned.block));
    let operations = u64::from(clients) * 1_000;
    let each_ns = 20_000 + 3_000 * target + 70 * block;
    let histogram = testkit::histogram(&[(each_ns, operations)]);
    let own = testkit::group_outcome(clients, operations, operations * each_ns, histogram);
    testkit::step_outcome(own)
}

/// Half of the time is processor time of the server.
fn sample(moment: Moment, outcome: &StepOutcome) -> Sample {
    let (at_ns, cpu_ns) = match moment {
        Moment::Start => (outcome.start_ns, 0),
        _ => (outcome.end_ns, outcome.groups.own().busy_ns / 2),
    };
    Sample {
        moment,
        at_ns,
        took_ns: 1,
        values: [
            (Counter::new(Source::Process, "identity"), 1),
            (Counter::new(Source::Cgroup, "cpu_ns"), cpu_ns),
        ]
        .into(),
        gaps: Vec::new(),
    }
}

/// The commands of each study: the experiment's path, then the words after `prony report RUN`.
fn commands() -> Vec<(String, Vec<String>)> {
    let page = fs::read_to_string(workspace().join("docs/studies.md")).unwrap();
    let mut experiment = String::new();
    let mut commands = Vec::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("`experiments/") {
            experiment = format!("experiments/{}", rest.split('`').next().unwrap());
        }
        if let Some((_, rest)) = line.split_once("`prony report RUN --view ") {
            let words = rest.split('`').next().unwrap().split_whitespace();
            let words = ["--view"].into_iter().chain(words);
            commands.push((experiment.clone(), words.map(str::to_owned).collect()));
        }
    }
    commands
}

#[test]
fn every_command_of_the_studies_shows_figures() {
    let commands = commands();
    assert!(commands.len() > 40, "{commands:?}");
    let mut experiments: Vec<&String> = commands.iter().map(|(of, _)| of).collect();
    experiments.dedup();
    assert_eq!(experiments.len(), 5);
    for experiment in experiments {
        let folder = tempfile::tempdir().unwrap();
        run(&plan(experiment), folder.path());
        for (_, words) in commands.iter().filter(|(of, _)| of == experiment) {
            let mut arguments = vec!["report", "."];
            arguments.extend(words.iter().map(String::as_str));
            let shown = finish(prony(folder.path(), &arguments)).exits(0).stdout;
            assert!(
                !shown.contains("There are no figures"),
                "{words:?}\n{shown}"
            );
            assert!(shown.lines().count() > 6, "{words:?}\n{shown}");
        }
    }
}

/// The commands at the top of the experiment.
#[test]
fn settings_of_each_version_are_compared_within_it() {
    let folder = tempfile::tempdir().unwrap();
    run(&plan("experiments/shipped-settings.toml"), folder.path());
    for base in ["baseline:common", "build:mysql-5.5.34"] {
        let words = "report . --view relative --only baseline:shipped --col build --base";
        let mut arguments: Vec<&str> = words.split(' ').collect();
        arguments.push(base);
        let shown = finish(prony(folder.path(), &arguments)).exits(0).stdout;
        for words in ["mysql-9.7", "mariadb-11.8", "update-index"] {
            assert!(shown.contains(words), "{shown}");
        }
        assert!(!shown.contains("There are no figures"), "{shown}");
    }
}

#[test]
fn wrong_words_are_answered_with_those_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    run(&plan("experiments/shootout-2011.toml"), folder.path());
    for (words, expected) in [
        (&["--view", "speed"][..], "ratio-by-version"),
        (&["--view", "tps", "--base", "mysql-4.0"], "`mysql-4.1.13`"),
        (&["--base", "mysql-4.0"], "`mysql-4.1.13`"),
        (&["--base", "previous"], "--view relative"),
        (
            &["--base", "mysql-4.1.13", "--base", "mysql-4.1.13"],
            "one base",
        ),
    ] {
        let arguments: Vec<&str> = ["report", "."].iter().chain(words).copied().collect();
        let message = finish(prony(folder.path(), &arguments)).exits(2).stderr;
        assert!(message.contains(expected), "{message}");
    }
}
