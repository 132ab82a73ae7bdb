//! The summary as text and as JSON, of a load that is made up.

use std::collections::BTreeMap;
use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use prony_lab::{AdHoc, AdHocEnd, AdHocWarning, Tables};
use prony_model::{
    Backend, BuildFacts, Config, Dataset, Engine, ErrorClass, ErrorCount, Family, IntentValue,
    Interval, Length, Pace, Protocol, Schedule, Spacing, StatementOutcome, Step, StepOutcome,
    Target, Thousandths, ThreadUse, Timing, Transport, Version,
};

use super::figures::Figures;
use super::summary::Summary;
use super::text::text;

/// A histogram of `count` values from `low` to `high` microseconds, evenly spread.
fn histogram(count: u64, low: u64, high: u64) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).unwrap();
    for index in 0..count {
        let us = low + (high - low) * index / count.max(1);
        histogram.record(us * 1_000).unwrap();
    }
    histogram
}

fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .unwrap();
    bytes
}

fn work(pace: Pace) -> AdHoc {
    let workload = prony_plan::embedded_workloads()
        .unwrap()
        .into_iter()
        .find(|workload| workload.name == "read-only")
        .unwrap();
    let facts = BuildFacts::external(Family::Mysql, Version::new(8, 0, 31));
    let settings = [("buffer_pool".to_owned(), IntentValue::Bytes(64 << 20))];
    AdHoc {
        target: Target {
            name: "mysql-8.0.31".into(),
            build: BuildFacts {
                id: "mysql-8.0.31".into(),
                ..facts
            },
            engine: Engine::Innodb,
            config: Config {
                intents: BTreeMap::from(settings),
                raw: BTreeMap::new(),
            },
            protocol: Protocol::Prepared,
            transport: Transport::Socket,
            external: None,
            collect: prony_model::Collect::default(),
        },
        dataset: Dataset::sbtest(2, 100_000, 1),
        tables: Tables::Found,
        step: Step {
            name: workload.name.clone(),
            entry: 0,
            parameters: workload.parameters.clone(),
            workload,
            clients: 64,
            warmup_ms: 1_000,
            length: Length::Time { ms: 20_000 },
            phase: None,
            warm_only: false,
            settle: None,
            timing: Timing::Operations,
            pace,
            reconnect_every: Some(1_000),
            ramp_ms: 0,
            beside: Vec::new(),
        },
        seed: 1,
        threads_max: Some(2),
        backend: None,
        interval_ms: 10_000,
    }
}

fn statement(name: &str, count: u64, low: u64, high: u64) -> StatementOutcome {
    StatementOutcome {
        name: name.into(),
        count,
        rows: count,
        affected: 0,
        unexpected: 0,
        histogram: encoded(&histogram(count, low, high)),
    }
}

fn intervals() -> Vec<Interval> {
    let interval = |number: u64| Interval {
        start_ns: number * 10_000_000_000,
        end_ns: (number + 1) * 10_000_000_000,
        operations: 6_000,
        queries: 96_000,
        errors: 1,
        latency_ns_p99: 9_000_000,
        latency_ns_max: 12_000_000,
        response_ns_p99: 15_000_000,
        backlog: 20 * (number + 1),
    };
    vec![interval(0), interval(1)]
}

fn outcome(schedule: Option<Schedule>) -> StepOutcome {
    StepOutcome {
        clients: 64,
        threads: 2,
        operations: 12_000,
        queries: 192_000,
        busy_ns: 64 * 20_000_000_000,
        histogram: encoded(&histogram(12_000, 2_000, 10_000)),
        statements: vec![
            statement("point", 120_000, 100, 800),
            statement("connect", 12, 500, 900),
        ],
        errors: vec![ErrorCount {
            code: 1213,
            class: ErrorClass::Retryable,
            count: 2,
            message: "Deadlock found when trying to get lock".into(),
        }],
        intervals: intervals(),
        client_user_ns: 200_000_000,
        client_system_ns: 1_000_000_000,
        timing: Timing::Operations,
        start_ns: 5_000_000_000,
        end_ns: 25_000_000_000,
        backend: Backend::Epoll,
        schedule,
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
        beside: Vec::new(),
    }
}

fn end(outcome: Option<StepOutcome>) -> AdHocEnd {
    AdHocEnd {
        server_version: "8.0.31".into(),
        outcome,
        server_cpu_ns: Some(9_600_000_000),
        warnings: vec![AdHocWarning {
            code: "steal",
            text: "the hypervisor took 2.0 % of the machine's time away".into(),
        }],
    }
}

fn open_loop() -> Summary {
    let rate = Pace::Open {
        rate: Thousandths(600_000),
        spacing: Spacing::Poisson,
    };
    let schedule = Schedule {
        planned: 12_050,
        backlog: 40,
        left: 50,
        response: encoded(&histogram(12_000, 2_000, 16_000)),
        error: encoded(&histogram(11_000, 10, 90)),
    };
    let end = end(Some(outcome(Some(schedule))));
    let figures = end
        .outcome
        .as_ref()
        .map(|outcome| Figures::of(outcome, end.server_cpu_ns));
    Summary::new(&work(rate), &end, figures, &intervals())
}

#[test]
fn an_open_loop_as_text() {
    insta::assert_snapshot!(text(&open_loop()));
}

#[test]
fn an_open_loop_as_json() {
    insta::assert_snapshot!(open_loop().json().unwrap());
}

#[test]
fn a_load_that_was_stopped() {
    let service = histogram(12_000, 2_000, 10_000);
    let figures = Figures::so_far(&intervals(), Some(&service));
    let stopped = Summary::new(&work(Pace::default()), &end(None), figures, &intervals());
    insta::assert_snapshot!(text(&stopped));
    assert_eq!(Figures::so_far(&[], None), None);
    let nothing = Summary::new(&work(Pace::default()), &end(None), None, &[]);
    assert!(text(&nothing).contains("Nothing was measured."));
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
    let summary: serde_json::Value = serde_json::from_str(&open_loop().json().unwrap()).unwrap();
    let mut found = Vec::new();
    keys(&summary, &mut found);
    // Settings and parameters have names of their own.
    found.retain(|key| !["buffer_pool", "range"].contains(&key.as_str()));
    for key in found {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
}
