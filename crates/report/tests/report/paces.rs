//! Runs with rates, think times, groups of clients, reconnecting, calibrations and backends.

use prony_model::{
    Backend, CalibratedHost, Calibration, CalibrationCounts, ClientGroup, ClosedPoint, ErrorClass,
    ErrorCount, GroupOutcome, Pace, Plan, Schedule, Spacing, StatementOutcome, StepOutcome, Think,
    Thousandths, ThreadUse,
};
use prony_report::Format;
use prony_testkit::{self as testkit, planned};

use crate::evenness::intervals;
use crate::golden::shown;
use crate::sample::{Sample, at, histogram, plan};

/// Point queries at a rate, mixed work beside two groups, and updates by clients that think and
/// connect anew.
pub(crate) fn paced_plan() -> Plan {
    let mut plan = plan(2, &[4], 2);
    plan.name = "readers-and-writers".into();
    plan.steps.truncate(3);
    plan.steps[0].name = "point-query.rate".into();
    plan.steps[0].groups.own_mut().pace = rate(2_000);
    plan.steps[0].ramp_ms = 500;
    let writers = ClientGroup {
        name: Some("writers".into()),
        workload: plan.steps[2].own().workload.clone(),
        parameters: [("range".to_owned(), 5)].into(),
        clients: 2,
        pace: rate(200),
        reconnect_every: None,
        sla_percent: None,
    };
    let lookups = ClientGroup {
        name: Some("lookups".into()),
        workload: plan.steps[0].own().workload.clone(),
        clients: 1,
        pace: Pace::default(),
        ..writers.clone()
    };
    plan.steps[1].groups.push(writers);
    plan.steps[1].groups.push(lookups);
    plan.steps[2].groups.own_mut().pace = Pace::Closed {
        think: Some(Think {
            mean_us: 1_500,
            spacing: Spacing::Regular,
        }),
    };
    plan.steps[2].groups.own_mut().reconnect_every = Some(100);
    plan
}

pub(crate) fn rate(rate: u32) -> Pace {
    Pace::Open {
        rate: Thousandths(rate * 1000),
        spacing: Spacing::Poisson,
    }
}

pub(crate) fn schedule(operations: u64, response_ns: u64, backlog: u64) -> Schedule {
    Schedule {
        planned: operations + 3,
        backlog,
        left: 0,
        response: histogram(response_ns, operations),
        error: histogram(40_000, operations),
    }
}

/// The same work and another target are slower, as everywhere in the samples.
fn group(name: &str, target: u64, schedule: Option<Schedule>) -> GroupOutcome {
    let operations = 20_000 - 1_000 * target;
    let histogram = histogram(400_000 + 40_000 * target, operations);
    let mut group = testkit::group_outcome(2, operations, 10_000_000_000, histogram);
    group.name = Some(name.into());
    group.schedule = schedule;
    group.statements[0] = StatementOutcome {
        rows: 0,
        affected: operations,
        unexpected: target,
        ..group.statements[0].clone()
    };
    group
}

fn pace(target: u64, step: usize, outcome: &mut StepOutcome) {
    outcome.backend = Backend::IoUring;
    outcome.threads = 2;
    outcome.thread_use = vec![
        ThreadUse {
            wall_ns: 2_000_000_000,
            cpu_ns: 1_200_000_000,
            run_queue_ns: Some(30_000_000),
        };
        2
    ];
    let operations = outcome.groups.own().operations;
    let own = outcome.groups.own_mut();
    match step {
        0 => {
            let response_ns = 300_000 + 100_000 * target;
            own.schedule = Some(schedule(operations, response_ns, 2 * target));
        }
        1 => {
            let writers = schedule(20_000 - 1_000 * target, 900_000, 400 * target);
            outcome.groups.push(group("writers", target, Some(writers)));
            outcome.groups.push(group("lookups", target, None));
            outcome.groups[2].clients = 1;
            // Those who look up have no intervals, as groups beside in older files.
            outcome.groups[0].intervals = intervals(false);
            outcome.groups[1].intervals = intervals(target == 1);
            if target == 1 {
                outcome.groups[1].errors = vec![ErrorCount {
                    code: 1213.into(),
                    class: ErrorClass::Retryable,
                    count: 12,
                    message: "Deadlock found when trying to get lock".into(),
                }];
            }
        }
        _ => {
            own.schedule = Some(Schedule {
                backlog: 0,
                ..schedule(operations, 150_000, 0)
            });
            own.statements.push(StatementOutcome {
                name: "connect".into(),
                count: operations / 100,
                rows: 0,
                affected: 0,
                unexpected: 0,
                histogram: histogram(700_000 + 200_000 * target, operations / 100),
            });
        }
    }
}

/// Of the host of the samples.
pub(crate) fn calibration() -> Calibration {
    let point = |backend, clients, queries| ClosedPoint {
        threads: 2,
        counts: CalibrationCounts {
            queries,
            wall_ns: 2_000_000_000,
            client_user_ns: 200_000_000,
            client_system_ns: 1_400_000_000,
            server_ns: 1_000_000_000,
        },
        ..testkit::closed_point(backend, clients, queries)
    };
    Calibration {
        prony_version: "0.1.0".into(),
        host: CalibratedHost {
            cpu_model: Some("Example CPU @ 2.00GHz".into()),
            cpus: 2,
            kernel: Some("6.1.0-18-amd64".into()),
        },
        made_at_ms: 1_763_755_000_000,
        closed: vec![
            point(Backend::Epoll, 8, 300_000),
            point(Backend::IoUring, 1, 90_000),
            point(Backend::IoUring, 8, 415_280),
        ],
        ..testkit::calibration()
    }
}

pub(crate) fn paced() -> Sample {
    paced_of(&paced_plan())
}

/// The run of a plan like [`paced_plan`].
pub(crate) fn paced_of(plan: &Plan) -> Sample {
    let mut sample = Sample::new(plan);
    sample.store.record_backend(Backend::IoUring).unwrap();
    sample
        .store
        .record_calibration(&calibration(), at(1))
        .unwrap();
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |step, outcome| {
            pace(planned.target as u64, step, outcome);
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

#[test]
fn paced_run_as_text() {
    insta::assert_snapshot!(shown(&paced(), Format::Text));
}

#[test]
fn paced_run_as_markdown() {
    insta::assert_snapshot!(shown(&paced(), Format::Markdown));
}

#[test]
fn paced_run_as_csv() {
    insta::assert_snapshot!(shown(&paced(), Format::Csv));
}

#[test]
fn paced_run_as_json() {
    insta::assert_snapshot!(shown(&paced(), Format::Json));
}

/// A file in which figures of two backends met is not taken for a comparison.
#[test]
fn backends_are_not_compared() {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    for planned in [planned(0, 0), planned(0, 1), planned(1, 0), planned(1, 1)] {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |step, outcome| {
            let other = planned.target == 1 && (step == 1 || (step == 2 && planned.block == 1));
            if other {
                outcome.backend = Backend::IoUring;
            }
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    insta::assert_snapshot!(shown(&sample, Format::Text));
}
