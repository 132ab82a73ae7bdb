//! The summary of a made-up load, as text and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use prony_model::{
    ClientGroup, Config, Counter, Dataset, ErrorClass, ErrorCount, GroupOutcome, Groups,
    IntentValue, Interval, Length, Moment, Pace, PlacementRule, Sample, Schedule, SchedulingGroups,
    Source, Spacing, StatementOutcome, Step, StepOutcome, Target, Thousandths, ThreadUse, Version,
};
use prony_testkit as testkit;

use super::{AdHocLoad, Intervals, Summary};

/// A histogram of `count` values from `low` to `high` microseconds, evenly spread.
fn histogram(count: u64, low: u64, high: u64) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).unwrap();
    for index in 0..count {
        let us = low + (high - low) * index / count.max(1);
        histogram.record(us * 1_000).unwrap();
    }
    histogram
}

fn target() -> Target {
    let version = Version::new(8, 0, 31);
    let settings = [("buffer_pool".to_owned(), IntentValue::Bytes(64 << 20))];
    Target {
        config: Config {
            intents: BTreeMap::from(settings),
            ..Config::default()
        },
        ..testkit::target("mysql-8.0.31", version)
    }
}

fn step(pace: Pace) -> Step {
    let workload = prony_plan::embedded_workloads()
        .unwrap()
        .into_iter()
        .find(|workload| workload.name == "read-only")
        .unwrap();
    let name = workload.name.clone();
    let own = ClientGroup {
        pace,
        reconnect_every: Some(1_000),
        sla_percent: None,
        ..testkit::group(workload, 64)
    };
    Step {
        groups: Groups::new(own),
        length: Length::Time { ms: 20_000 },
        ..testkit::step(&name, 64)
    }
}

/// The summary of a load, as text and as JSON.
struct Shown {
    text: String,
    json: String,
}

/// The summary of a load with this outcome, whose host's processors a hypervisor took for 2.0 % of
/// the time.
fn summary(pace: Pace, outcome: Option<&StepOutcome>, intervals: &Intervals) -> Shown {
    let sample = |moment, at_ns, steal_ns| Sample {
        moment,
        at_ns,
        took_ns: 0,
        values: [(Counter::new(Source::Host, "steal_ns"), steal_ns)].into(),
        gaps: Vec::new(),
    };
    let (target, step) = (target(), step(pace));
    let dataset = Dataset::sbtest(2, 100_000, 1);
    let samples = [
        sample(Moment::Start, 0, 0),
        sample(Moment::End, 20_000_000_000, 800_000_000),
    ];
    let placed = testkit::placed(PlacementRule::Apart, "0", "0", "1");
    let groups = SchedulingGroups {
        server: Ok("control group /system.slice/mysql.service".to_owned()),
        generator: "autogroup 30".to_owned(),
    };
    let summary = Summary::of(&AdHocLoad {
        target: &target,
        dataset: &dataset,
        step: &step,
        seed: 1,
        cpus: 2,
        server_version: "8.0.31",
        outcome,
        scheduling_groups: Some(&groups),
        server_cpu_ns: Some(9_600_000_000),
        placement: outcome.and(Some(&placed)),
        samples: &samples,
        intervals,
    });
    Shown {
        text: summary.text(),
        json: summary.json().unwrap(),
    }
}

fn statement(name: &str, count: u64, low: u64, high: u64) -> StatementOutcome {
    testkit::statement_outcome(name, count, testkit::encoded(&histogram(count, low, high)))
}

fn interval(number: u64) -> Interval {
    Interval {
        start_ns: number * 10_000_000_000,
        end_ns: (number + 1) * 10_000_000_000,
        operations: 6_000,
        queries: 96_000,
        errors: 1,
        latency_ns_p99: 9_000_000,
        latency_ns_max: 12_000_000,
        response_ns_p99: 15_000_000,
        backlog: 20 * (number + 1),
    }
}

fn intervals() -> Intervals {
    let mut intervals = Intervals::default();
    for number in 0..2 {
        let service = testkit::encoded(&histogram(6_000, 2_000, 10_000));
        assert_eq!(
            intervals.add(&interval(number), &service).unwrap().len(),
            6_000
        );
    }
    intervals
}

fn outcome(schedule: Schedule) -> StepOutcome {
    let latency = testkit::encoded(&histogram(12_000, 2_000, 10_000));
    let own = GroupOutcome {
        queries: 192_000,
        statements: vec![
            statement("point", 120_000, 100, 800),
            statement("connect", 12, 500, 900),
        ],
        errors: vec![ErrorCount {
            code: 1213.into(),
            class: ErrorClass::Retryable,
            count: 2,
            message: "Deadlock found when trying to get lock".into(),
        }],
        schedule: Some(schedule),
        intervals: vec![interval(0), interval(1)],
        ..testkit::group_outcome(64, 12_000, 64 * 20_000_000_000, latency)
    };
    StepOutcome {
        threads: 2,
        client_user_ns: 200_000_000,
        client_system_ns: 1_000_000_000,
        start_ns: 5_000_000_000,
        end_ns: 25_000_000_000,
        thread_use: vec![
            ThreadUse {
                wall_ns: 20_000_000_000,
                cpu_ns: 650_000_000,
                run_queue_ns: Some(40_000_000),
            },
            ThreadUse {
                wall_ns: 20_000_000_000,
                cpu_ns: 550_000_000,
                run_queue_ns: None,
            },
        ],
        ..testkit::step_outcome(own)
    }
}

fn open_loop() -> Shown {
    let rate = Pace::Open {
        rate: Thousandths(600_000),
        spacing: Spacing::Poisson,
    };
    let outcome = outcome(Schedule {
        planned: 12_050,
        backlog: 40,
        left: 50,
        response: testkit::encoded(&histogram(12_000, 2_000, 16_000)),
        error: testkit::encoded(&histogram(11_000, 10, 90)),
    });
    summary(rate, Some(&outcome), &intervals())
}

#[test]
fn an_open_loop_as_text() {
    insta::assert_snapshot!(open_loop().text);
}

#[test]
fn an_open_loop_as_json() {
    insta::assert_snapshot!(open_loop().json);
}

#[test]
fn a_load_that_was_stopped() {
    let stopped = summary(Pace::default(), None, &intervals());
    insta::assert_snapshot!(stopped.text);
    let nothing = summary(Pace::default(), None, &Intervals::default());
    assert!(nothing.text.contains("Nothing was measured."));
}

#[test]
fn unexpected_answers_are_counted_by_statement() {
    let mut outcome = outcome(Schedule {
        planned: 12_000,
        backlog: 0,
        left: 0,
        response: testkit::encoded(&histogram(12_000, 2_000, 16_000)),
        error: testkit::encoded(&histogram(11_000, 10, 90)),
    });
    outcome.groups.own_mut().statements[0].unexpected = 7;
    let text = summary(Pace::default(), Some(&outcome), &intervals()).text;
    assert!(
        text.contains("! 7 of 120000 answers of `point` returned"),
        "{text}"
    );
}

/// Every key of a JSON value, at every depth.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                found.push(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_json_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/load.md");
    let page = std::fs::read_to_string(page).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&open_loop().json).unwrap();
    let mut found = Vec::new();
    keys(&summary, &mut found);
    // Settings and parameters have names of their own.
    found.retain(|key| !["buffer_pool", "range"].contains(&key.as_str()));
    for key in found {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}
