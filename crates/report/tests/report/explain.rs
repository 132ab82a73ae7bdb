//! Explanations of made-up profiles, as their readers see them.

use std::collections::HashMap;
use std::fmt::Write as _;

use prony_model::TrialKind;
use prony_profile::{Components, Profile};
use prony_report::{
    ExplainBy, ExplainFormat, ExplainQuestion, Explained, Extent, Format, Screen, render_extent,
};

use crate::costs::counting;
use crate::sample::{Sample, at, plan};

/// Operations of each counting trial.
const OPERATIONS: u64 = 1_000;

/// A thread of callgrind's: functions by chain of callers, the innermost first, and what each executes in an
/// operation.
fn thread(functions: &[(&str, u64)]) -> Vec<u8> {
    let mut text = "positions: line\nevents: Ir\nob=/server/bin/mysqld\n".to_owned();
    for (chain, own) in functions {
        writeln!(text, "fn={chain}\n0 {}", own * OPERATIONS).unwrap();
    }
    let total: u64 = functions.iter().map(|(_, own)| own * OPERATIONS).sum();
    (text + &format!("totals: {total}\n")).into_bytes()
}

/// A session of the target with this index; `extra` instructions more in its parser.
fn profile(target: usize, extra: u64) -> Profile {
    let root = "_Z16dispatch_command'_Z10do_command";
    let of = |name: &str| format!("{name}'{root}");
    let search = ["row_search_for_mysql", "row_search_mvcc", "row_search_mvcc"][target];
    let added = [
        "",
        "_ZN3THD23store_cached_propertiesEv",
        "_ZN3THD23store_cached_propertiesEv",
    ][target];
    let mut functions = vec![
        (root.to_owned(), 1_000),
        (of("_Z10MYSQLparsePv"), 5_000 + extra),
        (of(search), 4_000 + 200 * target as u64),
        (of("my_unknown_name"), 30),
        (of("0x0000000000001000"), 700),
        (of("memcpy"), 900 - 300 * target as u64),
    ];
    if !added.is_empty() {
        functions.push((of(added), 1_500));
    }
    let functions: Vec<(&str, u64)> = functions
        .iter()
        .map(|(chain, own)| (chain.as_str(), *own))
        .collect();
    let background = thread(&[("buf_flush_page_cleaner'start_thread", 77)]);
    let profile = Profile::from_callgrind(&[thread(&functions), background]).unwrap();
    profile.with_starts(&HashMap::new())
}

/// A run whose counting trials have profiles of the first step.
fn profiled() -> Sample {
    let mut sample = Sample::new(&counting(plan(3, &[1], 2)));
    profile_targets(&mut sample, 3);
    sample
}

/// Runs all trials; those that count have profiles of the first step for this many targets.
fn profile_targets(sample: &mut Sample, targets: usize) {
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |_, outcome| {
            outcome.groups.own_mut().operations = OPERATIONS;
        });
        if planned.kind == TrialKind::Counting && planned.target < targets {
            let extra = u64::from(planned.block) * 8;
            let content = profile(planned.target, extra).encode().unwrap();
            sample.store.record_profile(trial, 0, &content).unwrap();
        }
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
}

fn explained(question: &ExplainQuestion<'_>, format: ExplainFormat) -> String {
    let sample = profiled();
    let components = Components::built_in().unwrap();
    let explained = Explained::read(&sample.store, question, &components).unwrap();
    let text = explained.write(format, Screen::default()).unwrap();
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    text
}

const NEWEST: ExplainQuestion<'_> = ExplainQuestion {
    step: Some("point-query"),
    clients: None,
    target: Some("mysql-9.7"),
    base: None,
    by: None,
    unit: None,
};

#[test]
fn a_target_beside_its_base_as_text() {
    insta::assert_snapshot!(explained(&NEWEST, ExplainFormat::Text));
}

#[test]
fn a_target_beside_another_one_by_function_as_markdown() {
    let question = ExplainQuestion {
        base: Some("mysql-5.7"),
        by: Some(ExplainBy::Function),
        ..NEWEST
    };
    insta::assert_snapshot!(explained(&question, ExplainFormat::Markdown));
}

#[test]
fn all_targets_side_by_side() {
    let question = ExplainQuestion {
        target: None,
        ..NEWEST
    };
    insta::assert_snapshot!(explained(&question, ExplainFormat::Text));
}

#[test]
fn the_base_alone() {
    let question = ExplainQuestion {
        target: Some("mysql-5.0"),
        ..NEWEST
    };
    insta::assert_snapshot!(explained(&question, ExplainFormat::Text));
}

#[test]
fn steps_that_grew_most() {
    insta::assert_snapshot!(explained(&ExplainQuestion::default(), ExplainFormat::Text));
}

#[test]
fn json_has_every_row() {
    let text = explained(&NEWEST, ExplainFormat::Json);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let compared = &json["comparisons"][0];
    let sum = |rows: &str, side: &str| -> f64 {
        let rows = compared[rows].as_array().unwrap();
        rows.iter().map(|row| row[side].as_f64().unwrap()).sum()
    };
    for side in ["base_cost", "target_cost", "difference"] {
        let total = compared["total"][side].as_f64().unwrap();
        for rows in ["components", "functions"] {
            assert!((sum(rows, side) - total).abs() < 0.01, "{rows}, {side}");
        }
    }
    assert_eq!(compared["total"]["within"], 8.0);
    assert_eq!(compared["other_threads"]["base_cost"], 77.0);
}

#[test]
fn pictures_and_stacks_are_of_one_cell() {
    let sample = profiled();
    let components = Components::built_in().unwrap();
    let read = |question| Explained::read(&sample.store, question, &components).unwrap();
    let two = read(&NEWEST);
    let picture = two.flame_graph().unwrap();
    assert!(
        picture.starts_with("<?xml") && picture.contains("MYSQLparse"),
        "{picture}"
    );
    insta::assert_snapshot!(two.folded().unwrap());
    let all = ExplainQuestion {
        target: None,
        ..NEWEST
    };
    assert!(read(&all).folded().is_err());
}

#[test]
fn what_can_t_be_explained_is_said() {
    let components = Components::built_in().unwrap();
    let sample = profiled();
    let error = |sample: &Sample, question: &ExplainQuestion<'_>| {
        Explained::read(&sample.store, question, &components)
            .err()
            .unwrap()
            .to_string()
    };
    let unknown = ExplainQuestion {
        step: Some("point"),
        ..NEWEST
    };
    insta::assert_snapshot!(error(&sample, &unknown), @"show step `point`: the run has point-query, read-only.range100, update-index, scan");
    let clients = ExplainQuestion {
        clients: Some(4),
        ..NEWEST
    };
    insta::assert_snapshot!(error(&sample, &clients), @"show number of clients `4`: the run has 1");
    let target = ExplainQuestion {
        target: Some("mysql-8"),
        ..NEWEST
    };
    insta::assert_snapshot!(error(&sample, &target), @"show target `mysql-8`: the run has mysql-5.0, mysql-5.7, mysql-9.7");
    let mut partly = Sample::new(&counting(plan(3, &[1], 2)));
    profile_targets(&mut partly, 2);
    let base = ExplainQuestion {
        target: Some("mysql-5.7"),
        base: Some("mysql-9.7"),
        ..NEWEST
    };
    insta::assert_snapshot!(error(&partly, &base), @"explain the costs of mysql-9.7: it has no execution profile of what was asked for; `prony report RUN --detail` shows what could not be read");
    let mut timed = Sample::new(&plan(2, &[1], 2));
    timed.run(|_| true);
    insta::assert_snapshot!(error(&timed, &ExplainQuestion::default()), @r#"explain the costs: the run has no execution profiles, because no counting trial is done; these are made where instructions are counted by valgrind: put `with = "valgrind"` into [counting], and run the experiment again"#);
}

/// The answer of a run in which timed trials of 9.7, which executes more instructions, did this many operations.
fn answer_where_newest_did(operations: u64) -> String {
    let mut sample = Sample::new(&counting(plan(3, &[1], 6)));
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        let is_newest = planned.kind == TrialKind::Timed && planned.target == 2;
        sample.record_steps(trial, planned, |step, outcome| {
            let own = outcome.groups.own_mut();
            own.operations = if is_newest && step == 0 {
                operations
            } else {
                OPERATIONS
            };
        });
        if planned.kind == TrialKind::Counting {
            let content = profile(planned.target, 0).encode().unwrap();
            sample.store.record_profile(trial, 0, &content).unwrap();
        }
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    let (format, extent) = (Format::Text, Extent::Answer);
    let text = render_extent(&sample.store, format, &extent, None, Screen::default()).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn components_are_the_reason_of_what_costs_more_and_is_slower() {
    let slower = answer_where_newest_did(OPERATIONS / 2);
    let reason = "mysql-9.7 executes +1,300 instructions per operation, mostly in";
    assert!(
        slower.contains("Largest regression: point-query, mysql-9.7"),
        "{slower}"
    );
    assert!(slower.contains(reason), "{slower}");
    let faster = answer_where_newest_did(OPERATIONS * 2);
    assert!(
        faster.contains("Largest improvement: point-query, mysql-9.7"),
        "{faster}"
    );
    assert!(!faster.contains("instructions per operation"), "{faster}");
}
