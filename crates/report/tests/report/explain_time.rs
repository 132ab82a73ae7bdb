//! Explanations of made-up samples of stacks, as their readers see them.

use prony_model::{PlannedTrial, TrialKind};
use prony_profile::{Components, NamedStack, Profile, Sampled, Taking, Wait};
use prony_report::{
    ExplainFormat, ExplainQuestion, ExplainUnit, Explained, Format, Screen, render,
};

use crate::costs::{profiling, run_loaded};
use crate::sample::{Sample, plan};

const SERVER: &str = "/server/bin/mysqld";

/// Samples of a session, and of a thread that flushes; newer servers need more in their parser.
fn sampled(planned: PlannedTrial, lost: u64) -> Sampled {
    let newer = planned.target as u64;
    let counts = [
        (
            7,
            vec!["_Z10MYSQLparsePv"],
            2_000 + 1_500 * newer + u64::from(planned.block),
        ),
        (7, vec!["row_search_mvcc"], 3_000),
        (8, vec!["row_search_mvcc", "pread64"], 800),
        (8, vec![], 700),
    ];
    let mut stacks: Vec<NamedStack<'_>> = Vec::new();
    for (thread, functions, count) in &counts {
        let roots = ["clone", "_Z10do_commandP3THD", "_Z16dispatch_command"];
        let all = roots.iter().chain(functions).map(|name| {
            let object = if *name == "pread64" {
                "[kernel]"
            } else {
                SERVER
            };
            (object, *name)
        });
        stacks.push(NamedStack {
            thread: *thread,
            functions: all.collect(),
            is_whole: true,
            count: *count,
        });
    }
    stacks.push(NamedStack {
        thread: 3,
        functions: vec![(SERVER, "clone"), (SERVER, "buf_flush_page_cleaner")],
        is_whole: true,
        count: 250,
    });
    let wait = |thread, place: &str, count| Wait {
        thread,
        place: place.to_owned(),
        count,
    };
    Sampled {
        profile: Profile::from_stacks(stacks),
        taking: Taking {
            rate: 997,
            with_kernel: true,
            period_ns: 6_700_000_000,
            whole: 6_690,
            cut: 60,
            lost,
            accounted_ns: Some(6_800_000_000),
        },
        waits: vec![
            wait(7, "", 600),
            wait(7, "futex_wait_queue", 100 + 200 * newer),
            wait(8, "unix_stream_read_generic", 300),
            wait(3, "hrtimer_nanosleep", 1_000),
        ],
        looks: 1_000,
    }
}

/// A run with samples of the first step.
fn profiled(lost: u64) -> Sample {
    let mut sample = Sample::new(&profiling(plan(2, &[4], 3)));
    run_loaded(&mut sample, |_, _, _| (), |_, _, _| ());
    for trial in sample.store.trials().unwrap() {
        if trial.planned.kind == TrialKind::Profiling {
            let content = sampled(trial.planned, lost).encode().unwrap();
            sample
                .store
                .record_stack_samples(trial.id, 0, &content)
                .unwrap();
        }
    }
    sample
}

const STEP: ExplainQuestion<'_> = ExplainQuestion {
    step: Some("point-query"),
    clients: None,
    target: Some("mysql-5.7"),
    base: None,
    by: None,
    unit: None,
};

fn explained(question: &ExplainQuestion<'_>, format: ExplainFormat) -> Result<String, String> {
    let components = Components::built_in().unwrap();
    let sample = profiled(0);
    let explained = Explained::read(&sample.store, question, &components);
    let explained = explained.map_err(|error| error.to_string())?;
    explained
        .write(format, Screen::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_target_beside_its_base_as_text() {
    insta::assert_snapshot!(explained(&STEP, ExplainFormat::Text).unwrap());
}

#[test]
fn components_add_up_to_the_processor_time_of_the_timed_trials() {
    let text = explained(&STEP, ExplainFormat::Json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["unit"], "nanoseconds of a processor per operation");
    let compared = &json["comparisons"][0];
    let of = |value: &serde_json::Value| value.as_f64().unwrap();
    for side in ["base", "target"] {
        let cost = format!("{side}_cost");
        let rows = compared["components"].as_array().unwrap();
        let sum: f64 = rows.iter().map(|row| of(&row[&cost])).sum();
        let sessions = of(&compared["total"][&cost]);
        assert!((sum - sessions).abs() < 0.01, "{sum} {sessions}");
        let all = sessions + of(&compared["other_threads"][&cost]);
        let times = &compared[side]["time_us"];
        let accounted = of(&times["server_user_space"]) + of(&times["server_kernel"]);
        // The kernel's two ways of accounting differ by a clock tick.
        assert!(
            (all / 1e3 / accounted - 1.0).abs() < 0.01,
            "{all} {accounted}"
        );
    }
}

#[test]
fn samples_that_got_lost_make_no_figures() {
    let components = Components::built_in().unwrap();
    let sample = profiled(2_000);
    let error = Explained::read(&sample.store, &STEP, &components)
        .err()
        .unwrap();
    insta::assert_snapshot!(error.to_string(), @"explain the time of step point-query on mysql-5.0: 23 % of the samples got lost, because the machine was too busy");
    // The page of the run stands without them.
    let page = render(&sample.store, Format::Html).unwrap();
    assert!(page.contains("There are no components"));
}

#[test]
fn instructions_were_not_counted() {
    let question = ExplainQuestion {
        unit: Some(ExplainUnit::Instructions),
        ..STEP
    };
    let error = explained(&question, ExplainFormat::Text).unwrap_err();
    assert!(error.contains("no execution profiles"), "{error}");
}

#[test]
fn findings_name_the_components_that_make_them() {
    let mut sample = Sample::new(&profiling(plan(2, &[4], 6)));
    run_loaded(&mut sample, |_, _, _| (), |_, _, _| ());
    for trial in sample.store.trials().unwrap() {
        if trial.planned.kind == TrialKind::Profiling {
            let content = sampled(trial.planned, 0).encode().unwrap();
            sample
                .store
                .record_stack_samples(trial.id, 0, &content)
                .unwrap();
        }
    }
    let text = render(&sample.store, Format::Markdown).unwrap();
    let reason =
        "mysql-5.7 takes +4,313 ns of a processor per operation, mostly in parser (+3,883)";
    let finding = text.lines().find(|line| line.contains(reason));
    assert!(
        finding.is_some_and(|line| line.contains("point-query")),
        "{text}"
    );
    let page = render(&sample.store, Format::Html).unwrap();
    assert!(page.contains(reason) && page.contains("<svg class=\"flame\""));
}
