//! Canaries in reports: the range over the run, trials that are off, excluded ones.

use prony_model::{CanaryMoment, CanaryReading, CanaryRule, Plan, PlannedTrial, TrialKind};
use prony_report::{Format, render};
use prony_testkit::planned;
use serde_json::{Value, json};

use crate::sample::{Sample, at, plan};

/// A run of two targets in three blocks whose memory was slow after the last trial.
fn canaries(exclude: bool) -> Sample {
    canaries_of(plan(2, &[1], 3), exclude)
}

fn canaries_of(mut plan: Plan, exclude: bool) -> Sample {
    plan.canary = CanaryRule {
        exclude,
        ..plan.canary
    };
    let mut sample = Sample::new(&plan);
    for planned in plan.trials {
        let after = if planned == self::planned(2, 1) {
            1250
        } else {
            1000 + 10 * u64::from(planned.block)
        };
        let before = if planned.block == 0 { 980 } else { 1000 };
        run(&mut sample, planned, [before, after]);
    }
    sample
}

fn run(sample: &mut Sample, planned: PlannedTrial, memory_ns: [u64; 2]) {
    let trial = sample.begin(planned);
    sample.record_steps(trial, planned, |_, _| {});
    for (moment, memory_ns) in CanaryMoment::ALL.into_iter().zip(memory_ns) {
        let reading = reading(memory_ns);
        sample.store.record_canary(trial, moment, &reading).unwrap();
    }
    sample.store.finish_trial(trial, at(60)).unwrap();
}

pub(crate) fn reading(memory_ns: u64) -> CanaryReading {
    CanaryReading {
        processor_ns: memory_ns / 20,
        memory_ns,
        system_calls_ns: 3000,
        wake_up_ns: Some(4 * memory_ns),
    }
}

fn text(sample: &Sample) -> String {
    render(&sample.store, Format::Text).unwrap()
}

/// The lines of a text from one that begins like this to the next that is not indented.
fn part<'t>(text: &'t str, begin: &str) -> Vec<&'t str> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(begin));
    let first = lines.next();
    let more = lines.take_while(|line| line.starts_with(' '));
    first.into_iter().chain(more.map(str::trim)).collect()
}

#[test]
fn the_heading_has_the_range_of_each_part() {
    let text = text(&canaries(false));
    assert_eq!(
        part(&text, "Canary"),
        [
            "Canary    processor -2.0 to +24.0 %, memory -2.0 to +25.0 %, system calls 0 to 0 %, wake-ups -2.0 to",
            "+25.0 %; 1 of 6 timed trials off by more than 10 % (wake-ups 50 %)",
        ]
    );
    assert_eq!(part(&text, "Excluded"), [""; 0]);
    assert_eq!(
        part(&text, "Warnings"),
        [
            "Warnings",
            "- mysql-5.7, block 3: in the canary after it, processor took 24.0 % longer and memory took 25.0 %",
            "longer, relative to the run's median: the host was not as in other trials.",
        ]
    );
}

#[test]
fn targets_that_take_turns_share_what_a_canary_shows() {
    let alone = canaries(false);
    let plan = Plan {
        turn_ms: Some(100),
        ..plan(2, &[1], 3)
    };
    let in_turns = canaries_of(plan, false);
    assert_eq!(
        part(&text(&in_turns), "Warnings"),
        [
            "Warnings",
            "- block 3: in the canary after it, processor took 24.0 % longer and memory took 25.0 % longer,",
            "relative to the run's median: the host was not as in other blocks, for all targets alike, which",
            "took turns.",
        ]
    );
    // Ratios of that block are not marked.
    let doubts = |sample: &Sample| {
        let json: Value =
            serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap();
        let judged = json["verdicts"]["judged"].as_array().unwrap().iter();
        let doubts = judged.map(|judged| judged["doubts"].as_array().unwrap().len());
        doubts.sum::<usize>()
    };
    assert!(doubts(&alone) > 0);
    assert_eq!(doubts(&in_turns), 0);
}

#[test]
fn a_run_without_canaries_has_no_such_line() {
    let mut sample = Sample::new(&plan(2, &[1], 1));
    sample.run(|_| true);
    let text = text(&sample);
    assert_eq!(part(&text, "Canary"), [""; 0]);
    assert_eq!(part(&text, "Excluded"), [""; 0]);
    let json = render(&sample.store, Format::Json).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.get("canary"), None);
}

#[test]
fn excluded_trials_are_counted_by_target() {
    let mut plan = plan(2, &[1], 3);
    plan.canary.exclude = true;
    let mut sample = Sample::new(&plan);
    let none =
        "Excluded  no trial; the experiment excludes trials whose canary is off by more than 10 %";
    assert_eq!(part(&text(&sample), "Excluded"), [none]);
    for trial in [planned(0, 1), planned(1, 1), planned(1, 0)] {
        let excluded = sample.begin(trial);
        let moment = CanaryMoment::Before;
        let slow = reading(5000);
        sample.store.record_canary(excluded, moment, &slow).unwrap();
        sample.record_steps(excluded, trial, |_, _| {});
        let reason = "in the canary before it, memory took longer";
        sample
            .store
            .exclude_trial(excluded, reason, at(50))
            .unwrap();
    }
    for trial in plan.trials {
        run(&mut sample, trial, [1000; 2]);
    }
    let text = text(&sample);
    assert_eq!(
        part(&text, "Excluded"),
        [
            "Excluded  trials of mysql-5.0 1, mysql-5.7 2; the experiment excludes trials whose canary is off by",
            "more than 10 % (wake-ups 50 %)",
        ]
    );
    assert_eq!(
        part(&text, "Missing"),
        [
            "Missing, failed and excluded",
            "- mysql-5.7, block 1, attempt 1, excluded: in the canary before it, memory took longer",
            "- mysql-5.7, block 2, attempt 1, excluded: in the canary before it, memory took longer",
            "- mysql-5.0, block 2, attempt 1, excluded: in the canary before it, memory took longer",
        ]
    );
    // Canaries of excluded trials are in the range, and their figures nowhere.
    assert!(part(&text, "Canary")[0].contains("memory 0 to +400.0 %"));
    assert!(part(&text, "Canary").concat().contains("0 of 6 timed"));
    assert_eq!(part(&text, "Warnings"), [""; 0]);
}

#[test]
fn times_of_counting_trials_do_not_matter() {
    let mut plan = plan(2, &[1], 3);
    let counting = PlannedTrial {
        kind: TrialKind::Counting,
        ..planned(0, 0)
    };
    plan.trials.insert(2, counting);
    let mut sample = Sample::new(&plan);
    for trial in plan.trials {
        let slow = trial == counting;
        run(&mut sample, trial, [if slow { 9000 } else { 1000 }; 2]);
    }
    let text = text(&sample);
    assert_eq!(part(&text, "Warnings"), [""; 0]);
    assert!(part(&text, "Canary").concat().contains("0 of 6 timed"));
}

#[test]
fn canaries_for_programs() {
    let json = render(&canaries(true).store, Format::Json).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["canary"]["canaries"].as_array().unwrap().len(), 12);
    assert_eq!(json["canary"]["exclude"], true);
    assert_eq!(
        json["canary"]["canaries"][11],
        json!({
            "target": "mysql-5.7", "block": 3, "trials": "timed", "attempt": 1, "state": "done",
            "host": 0, "moment": "after",
            "ns": {
                "processor": 62, "memory": 1250, "system-calls": 3000, "wake-up": 5000
            },
            "change_percent": { "processor": 24.0, "memory": 25.0, "system-calls": 0.0, "wake-up": 25.0 },
        })
    );
    let warning = &json["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["block"]),
        (&json!("canary"), &json!(3))
    );
}
