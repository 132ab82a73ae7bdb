//! Costs of steps that have groups of clients beside them.

use prony_model::{ClientGroup, Moment, Pace, PlannedTrial, Source};
use prony_report::{Format, render};
use prony_testkit as testkit;
use serde_json::Value;

use crate::costs::taken;
use crate::golden::shown;
use crate::paces::{rate, schedule};
use crate::sample::{Sample, at, histogram, plan};

/// Operations of the writers in each trial, of 1,000 planned ones; the others waited at its end.
type Done = fn(PlannedTrial) -> u64;

/// Point queries with writers beside them in six blocks. A point query costs both servers 10 µs; the
/// writers' work is 1 s, and 1.5 s at the last target. The own clients of that do so many operations,
/// and 100,000 at the base.
fn with_writers(pace: Pace, done: Done, own_operations: u64) -> Sample {
    let mut plan = plan(2, &[1], 6);
    plan.steps.truncate(1);
    let writers = ClientGroup {
        name: Some("writers".into()),
        pace,
        ..plan.steps[0].own().clone()
    };
    plan.steps[0].groups.push(writers);
    let mut sample = Sample::new(&plan);
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        let is_base = planned.target == 0;
        let operations = if is_base { 100_000 } else { own_operations };
        sample.record_steps(trial, planned, |_, outcome| {
            let latencies = histogram(50_000, operations);
            *outcome.groups.own_mut() =
                testkit::group_outcome(1, operations, 5_000_000_000, latencies);
            let mut group =
                testkit::group_outcome(1, 1_000, 5_000_000_000, histogram(400_000, 1_000));
            group.name = Some("writers".into());
            if matches!(pace, Pace::Open { .. }) {
                group.schedule = Some(schedule(997, 900_000, 1_000 - done(planned)));
            }
            outcome.groups.push(group);
        });
        let beside_ns = if is_base {
            1_000_000_000
        } else {
            1_500_000_000
        };
        let mood_ns = u64::from(planned.block) * 1_000_000 * (1 + planned.target as u64);
        let cpu_ns = operations * 10_000 + beside_ns + mood_ns;
        let edges = [(Moment::Start, 0, 0), (Moment::End, 5_000_000_000, cpu_ns)];
        let edges = edges.map(|(moment, at_ns, cpu_ns)| {
            taken(moment, at_ns, &[(Source::Cgroup, "cpu_ns", cpu_ns)])
        });
        sample.store.record_samples(trial, 0, &edges).unwrap();
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

fn all(_: PlannedTrial) -> u64 {
    1_000
}

fn json(sample: &Sample) -> Value {
    serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap()
}

/// The server's processor time over the blocks, by target.
fn server_cpu(json: &Value) -> Vec<&Value> {
    let cells = json["cells"].as_array().unwrap().iter();
    cells
        .map(|cell| &cell["costs"]["metrics"]["server_cpu_us"])
        .collect()
}

/// The verdict on it, and the doubts.
fn verdict(json: &Value) -> Option<(&str, &Value)> {
    let mut judged = json["verdicts"]["judged"].as_array().unwrap().iter();
    let judged = judged.find(|judged| judged["metric"] == "server_cpu_us")?;
    Some((judged["verdict"].as_str().unwrap(), &judged["doubts"]))
}

fn notes(json: &Value, target: usize) -> String {
    json["cells"][target]["costs"]["notes"].to_string()
}

#[test]
fn costs_include_the_work_of_groups_that_kept_their_rates() {
    let sample = with_writers(rate(200), all, 100_000);
    let json = json(&sample);
    let [base, other] = server_cpu(&json)[..] else {
        panic!("two targets")
    };
    let mean = |of: &Value| of["over_blocks"]["mean"].as_f64().unwrap().round();
    assert_eq!((mean(base), mean(other)), (20.0, 25.0));
    assert_eq!(verdict(&json), Some(("regressed", &Value::Array(vec![]))));
    let words = "the costs include the work of the clients beside the step (writers)";
    assert!(notes(&json, 0).contains(words), "{}", notes(&json, 0));
    assert!(notes(&json, 1).contains(words));
    // The load generator's time is for all clients.
    assert!(json["cells"][0]["costs"]["metrics"]["client_cpu_us"].is_null());
    let text = shown(&sample, Format::Text);
    assert_eq!(
        text.matches("The costs include the work").count(),
        1,
        "{text}"
    );
}

#[test]
fn a_group_that_missed_its_rate_in_a_block_leaves_its_target_without_costs() {
    let late: Done = |planned| match (planned.target, planned.block) {
        (1, 2) => 900,
        _ => 960,
    };
    let sample = with_writers(rate(200), late, 100_000);
    let json = json(&sample);
    let [base, other] = server_cpu(&json)[..] else {
        panic!("two targets")
    };
    assert!(!base.is_null() && other.is_null(), "{base} {other}");
    assert!(base["ratio"].is_null());
    assert_eq!(verdict(&json), None);
    let words = "did 90 % of their planned operations in block 3";
    assert!(notes(&json, 1).contains(words), "{}", notes(&json, 1));
    let text = shown(&sample, Format::Text).replace("\n   ", "");
    assert!(text.contains("no costs of an operation"), "{text}");
}

#[test]
fn a_group_without_a_rate_leaves_the_step_without_costs() {
    let sample = with_writers(Pace::default(), all, 100_000);
    let json = json(&sample);
    assert!(server_cpu(&json).iter().all(|of| of.is_null()));
    assert_eq!(verdict(&json), None);
    let words = "have no rate";
    assert!(notes(&json, 0).contains(words) && notes(&json, 1).contains(words));
    let text = shown(&sample, Format::Text);
    assert_eq!(
        text.matches("No costs of an operation").count(),
        1,
        "{text}"
    );
}

/// With half as many operations of its own, the writers' work makes each of them dearer.
#[test]
fn work_that_weighs_differently_is_a_reason_to_doubt() {
    let json = json(&with_writers(rate(200), all, 50_000));
    let (verdict, doubts) = verdict(&json).unwrap();
    assert_eq!(verdict, "regressed");
    assert_eq!(doubts.to_string(), r#"["warnings"]"#);
    let words = "did 0.50 times as many operations in the same time";
    assert!(notes(&json, 1).contains(words), "{}", notes(&json, 1));
    assert!(!notes(&json, 0).contains(words));
}
