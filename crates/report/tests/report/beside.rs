//! Warnings about a step's own clients, and about the groups beside them.

use prony_model::{Display, Plan};
use prony_report::{Format, render};
use prony_store::{Subject, TrialId};
use serde_json::Value;

use crate::paces::{paced, paced_of, paced_plan};
use crate::sample::Sample;

/// The cells of the second step, of the slower target.
fn slower(sample: &Sample) -> Value {
    let json: Value = serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let wanted =
        |cell: &&Value| cell["target"] == "mysql-5.7" && cell["step"] == "read-only.range100";
    cells.iter().find(wanted).unwrap().clone()
}

fn notes(cell: &Value) -> Vec<&str> {
    let notes = cell["notes"].as_array().unwrap();
    notes.iter().map(|note| note.as_str().unwrap()).collect()
}

/// The trial of the slower target in the first block, with warnings about the second step.
fn warned(code: &str, text: &str, subject: impl Fn(TrialId) -> Subject) -> Sample {
    let mut sample = paced();
    let trials = sample.store.trials().unwrap();
    let of_slower =
        |trial: &&prony_store::TrialRow| trial.planned.target == 1 && trial.planned.block == 0;
    let trial: TrialId = trials.iter().find(of_slower).unwrap().id;
    let stored = sample.store.record_warning(subject(trial), code, text);
    stored.unwrap();
    sample
}

#[test]
fn a_warning_about_a_group_marks_that_group_alone() {
    let slower = slower(&paced());
    assert_eq!(notes(&slower), Vec::<&str>::new());
    let about_writers = notes(&slower["beside"][0]);
    let text = "block 1: 400 of 19003 operations were due and had not begun at the end of the measured \
                time: the server, or the generator, did not keep up with 200/s";
    assert!(about_writers.contains(&text), "{about_writers:?}");
    let about_lookups = notes(&slower["beside"][1]);
    assert!(!about_lookups.contains(&text), "{about_lookups:?}");
}

#[test]
fn a_warning_about_the_own_clients_marks_these_alone() {
    let slower = slower(&warned("backlog", "writers of 3 kinds waited", |trial| {
        Subject::Group(trial, 1, 0)
    }));
    assert_eq!(notes(&slower), ["block 1: writers of 3 kinds waited"]);
    for group in slower["beside"].as_array().unwrap() {
        assert!(notes(group).iter().all(|note| !note.contains("3 kinds")));
    }
}

#[test]
fn what_the_machine_did_marks_all_clients_of_the_step() {
    for code in ["generator-busy", "generator-waited", "steal"] {
        let slower = slower(&warned(code, "it had much to do", |trial| {
            Subject::Step(trial, 1)
        }));
        let text = "block 1: it had much to do";
        assert_eq!(notes(&slower), [text], "{code}");
        for group in slower["beside"].as_array().unwrap() {
            assert!(notes(group).contains(&text), "{code}: {group}");
        }
    }
}

#[test]
fn spreadsheets_count_warnings_where_they_belong() {
    let sample = warned("steal", "2.1% of the time was stolen", |trial| {
        Subject::Step(trial, 1)
    });
    let csv = render(&sample.store, Format::Csv).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name| header.iter().position(|column| *column == name).unwrap();
    let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let of_step = rows.filter(|row| {
        row[column("target")] == "mysql-5.7" && row[column("step")] == "read-only.range100"
    });
    let counts: Vec<String> = of_step
        .map(|row| {
            let field = |name| row[column(name)];
            format!(
                "{} {} {}",
                field("block"),
                field("beside"),
                field("warnings")
            )
        })
        .collect();
    let expected = [
        "1  1",
        "2  0",
        "1 writers 2",
        "2 writers 1",
        "1 lookups 1",
        "2 lookups 0",
    ];
    assert_eq!(counts, expected);
}

/// Clients of a group at a rate, and of a step that think, whose work is shown in milliseconds.
fn shown_as_milliseconds() -> Plan {
    let mut plan = paced_plan();
    plan.steps[1].groups[1].workload.display = Display::Milliseconds;
    plan.steps[2].groups.own_mut().workload.display = Display::Milliseconds;
    plan
}

#[test]
fn milliseconds_are_service_time_where_clients_wait() {
    let sample = paced_of(&shown_as_milliseconds());
    let slower = slower(&sample);
    let milliseconds = |cell: &Value| cell["milliseconds_per_operation"]["mean"].as_f64().unwrap();
    // 2 clients ÷ 1900 operations per second would be 1.05.
    let writers = milliseconds(&slower["beside"][0]);
    assert!((writers - 0.44).abs() < 0.001, "{writers}");
    // Who does not wait has no other time: 1 client ÷ 950 operations per second.
    let lookups = &slower["beside"][1];
    let rate = lookups["operations_per_second"]["mean"].as_f64().unwrap();
    assert!((milliseconds(lookups) - 1e3 / rate).abs() < 1e-6);
    let text = render(&sample.store, Format::Text).unwrap();
    assert!(text.contains("ms/op is the mean service"), "{text}");
    let without = render(&paced().store, Format::Text).unwrap();
    assert!(!without.contains("ms/op"), "{without}");
}
