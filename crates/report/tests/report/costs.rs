//! Costs of operations, as the readers of reports see them.

use prony_model::{
    CountedBy, CountedSteps, Counter, Counting, Effect, Gap, IDENTITY, Moment, Plan, PlannedTrial,
    Profiling, Source, StepOutcome, TrialKind,
};
use prony_report::{Format, render};
use prony_store::TrialId;
use serde_json::Value;

use crate::golden::shown;
use crate::sample::{Sample, at, outcome, plan};

/// Nanoseconds between two samples in between.
const PERIOD_NS: u64 = 2_000_000_000;

/// The plan with trials that count, by valgrind in the first two blocks.
pub(crate) fn counting(mut plan: Plan) -> Plan {
    plan.counting = Some(Counting {
        blocks: 2,
        by: CountedBy::Valgrind,
        operations: None,
        time_ms: None,
        steps: CountedSteps::All,
    });
    for step in &mut plan.steps {
        if step.name == "update-index" {
            step.groups.own_mut().workload.effect = Effect::Rewrite;
        }
    }
    let blocks = plan.blocks();
    let timed = std::mem::take(&mut plan.trials);
    for block in 0..blocks {
        let of_block = || timed.iter().filter(|trial| trial.block == block).copied();
        plan.trials.extend(of_block());
        if block < 2 {
            plan.trials.extend(of_block().map(|trial| PlannedTrial {
                kind: TrialKind::Counting,
                ..trial
            }));
        }
    }
    plan
}

/// The plan with trials that sample stacks, in the first two blocks.
pub(crate) fn profiling(mut plan: Plan) -> Plan {
    plan.profiling = Some(Profiling {
        blocks: 2,
        rate: 997,
        time_ms: None,
    });
    let of_two = plan.trials.clone().into_iter().filter(|it| it.block < 2);
    let profiled = of_two.map(|trial| PlannedTrial {
        kind: TrialKind::Profiling,
        ..trial
    });
    plan.trials.extend(profiled);
    plan
}

/// Runs every planned trial with samples, each changed by `change` before it is recorded.
pub(crate) fn run_sampled(
    sample: &mut Sample,
    change: impl Fn(PlannedTrial, usize, &mut prony_model::Sample),
) {
    run_loaded(sample, |_, _, _| (), change);
}

/// The same with `load` at the beginning of each trial.
pub(crate) fn run_loaded(
    sample: &mut Sample,
    load: impl Fn(&mut Sample, TrialId, PlannedTrial),
    change: impl Fn(PlannedTrial, usize, &mut prony_model::Sample),
) {
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        load(sample, trial, planned);
        let names: Vec<String> = sample
            .store
            .plan()
            .steps
            .iter()
            .map(|s| s.name.clone())
            .collect();
        sample.record_steps(trial, planned, |step, outcome| {
            let writes = names[step] == "update-index";
            if planned.kind == TrialKind::Counting {
                let own = outcome.groups.own_mut();
                own.queries = own.queries / own.operations * 1000;
                own.operations = 1000;
            }
            // Each update changes its row.
            if writes {
                outcome.groups.own_mut().statements[0].affected =
                    outcome.groups.own_mut().operations;
            }
        });
        for step in 0..sample.store.plan().steps.len() {
            record(sample, trial, planned, step, &change);
        }
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
}

fn record(
    sample: &mut Sample,
    trial: TrialId,
    planned: PlannedTrial,
    step: usize,
    change: &impl Fn(PlannedTrial, usize, &mut prony_model::Sample),
) {
    let outcome = outcome(planned, &sample.store.plan().steps[step].clone());
    let moments = match planned.kind {
        TrialKind::Counting => vec![(Moment::Start, 0), (Moment::End, 1000)],
        TrialKind::Timed | TrialKind::Profiling => {
            let wall = outcome.end_ns - outcome.start_ns;
            let done = |at_ns: u64| outcome.groups.own().operations * at_ns / wall;
            vec![
                (Moment::Start, 0),
                (Moment::Period, done(PERIOD_NS)),
                (Moment::Period, done(2 * PERIOD_NS)),
                (Moment::End, outcome.groups.own().operations),
            ]
        }
    };
    let taken = moments.into_iter().map(|(moment, operations)| {
        let mut taken = match planned.kind {
            TrialKind::Timed | TrialKind::Profiling => {
                timed(planned, step, moment, operations, &outcome)
            }
            TrialKind::Counting => counted(planned, step, moment, operations),
        };
        change(planned, step, &mut taken);
        taken
    });
    let taken: Vec<_> = taken.collect();
    sample.store.record_samples(trial, step, &taken).unwrap();
}

pub(crate) fn taken(
    moment: Moment,
    at_ns: u64,
    values: &[(Source, &'static str, u64)],
) -> prony_model::Sample {
    let values = values
        .iter()
        .map(|&(source, name, value)| (Counter::new(source, name), value));
    prony_model::Sample {
        moment,
        at_ns,
        took_ns: 40_000,
        values: values.chain([(IDENTITY, 4711)]).collect(),
        gaps: Vec::new(),
    }
}

/// What valgrind counted: newer servers execute more, and every fresh start a little less or more.
fn counted(planned: PlannedTrial, step: usize, moment: Moment, done: u64) -> prony_model::Sample {
    let each = [52_000, 180_000, 310_000, 24_000_000][step % 4];
    let each = each * (100 + 38 * planned.target as u64) / 100 + u64::from(planned.block) * 23;
    let counter = (Source::Valgrind, "instructions_user", done * each);
    taken(moment, done * 1_000_000, &[counter])
}

/// What a server has used up when it has done so many operations.
fn timed(
    planned: PlannedTrial,
    step: usize,
    moment: Moment,
    done: u64,
    outcome: &StepOutcome,
) -> prony_model::Sample {
    let each_ns = outcome.groups.own().busy_ns / outcome.groups.own().operations;
    let cpu_ns = done * (each_ns - each_ns / 8 - 5_400);
    let ticks = |ns: u64| ns / 10_000_000 * 10_000_000;
    let writes = step % 4 == 2;
    let written = if writes { done } else { 0 };
    let target = planned.target as u64;
    let at_ns = outcome.start_ns + done * each_ns / u64::from(outcome.groups.own().clients);
    let mut values = vec![
        (Source::Cgroup, "cpu_ns", cpu_ns),
        (Source::Process, "user_ns", ticks(cpu_ns * 64 / 100)),
        (Source::Process, "system_ns", ticks(cpu_ns * 36 / 100)),
        (Source::Process, "minor_faults", done / 500),
        (Source::Process, "major_faults", 0),
        (Source::Process, "read_bytes", 0),
        (
            Source::Process,
            "written_bytes",
            written * (4_200 + 1_100 * target),
        ),
        (Source::Device, "reads", 0),
        (Source::Device, "writes", written * 3 + done / 4000),
        (
            Source::Memory,
            "resident_bytes",
            (600 << 20) + target * (90 << 20),
        ),
    ];
    if moment != Moment::Period {
        values.extend([
            (Source::Threads, "voluntary_switches", done),
            (Source::Threads, "involuntary_switches", done / 90),
            (Source::Threads, "run_queue_ns", done * 180),
            (Source::Threads, "lost_threads", 0),
            (Source::Files, "data_bytes", (31 << 20) + target * (9 << 20)),
            (Source::Files, "log_bytes", 96 << 20),
            (Source::Lab, "sampler_ns", done * each_ns / 2000),
            (Source::Lab, "cpu_ns", done * each_ns / 900),
        ]);
    }
    if moment != Moment::Period {
        values.extend(told(target, step, done));
    }
    taken(moment, at_ns, &values)
}

/// Facts that the server reports about itself. The first target is too old for some of it.
fn told(target: u64, step: usize, done: u64) -> Vec<(Source, &'static str, u64)> {
    let [keys, next, scanned] = [[1, 0, 0], [14, 400, 0], [1, 0, 0], [0, 0, 100_001]][step % 4];
    let written = if step % 4 == 2 { done } else { 0 };
    let mut values = vec![
        (Source::Status, "handler_read_key", 5_000 + done * keys),
        (Source::Status, "handler_read_next", done * next),
        (
            Source::Status,
            "handler_write",
            if done > 0 { 900 } else { 0 },
        ),
        (Source::Status, "handler_delete", done / 50 * target),
        (Source::Status, "handler_read_rnd_next", done * scanned),
        (
            Source::Status,
            "innodb_buffer_pool_read_requests",
            done * (keys * 3 + target),
        ),
        (
            Source::Status,
            "innodb_os_log_written",
            written * (512 + 200 * target),
        ),
        (
            Source::Status,
            "innodb_data_fsyncs",
            written * 2 + done / 3000,
        ),
        (Source::Status, "bytes_sent", done * (210 + target * 30)),
        (Source::Status, "created_tmp_tables", done / 2000),
        (Source::Status, "threads_connected", 2 + done % 3),
        (Source::Status, "uptime", done / 4000),
    ];
    if target > 0 {
        let searches = done * (9 + target);
        values.push((Source::Innodb, "adaptive_hash_searches_btree", searches));
    }
    values
}

/// Three targets in three blocks, with everything that a good machine and a careful plan give.
pub(crate) fn complete() -> Sample {
    let mut sample = Sample::new(&counting(plan(3, &[1], 3)));
    run_sampled(&mut sample, |_, _, _| {});
    sample.store.set_run_ended(at(600)).unwrap();
    sample
}

/// A run of one step, whose samples are changed on the way.
fn one_step(
    change: impl Fn(PlannedTrial, &mut prony_model::Sample),
    adjust: impl Fn(&mut Plan),
) -> Sample {
    let mut plan = counting(plan(2, &[1], 2));
    plan.steps.truncate(1);
    adjust(&mut plan);
    let mut sample = Sample::new(&plan);
    run_sampled(&mut sample, |planned, _, taken| change(planned, taken));
    sample
}

/// The lines of the text report from one heading to the next empty line, each heading once.
fn section(report: &str, heading: &str) -> Vec<String> {
    let mut lines = report.lines().skip_while(|line| !line.starts_with(heading));
    let found = lines.by_ref().take_while(|line| !line.is_empty());
    found.map(str::to_owned).collect()
}

fn json(sample: &Sample) -> Value {
    serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap()
}

fn is_second(planned: PlannedTrial) -> bool {
    (planned.block, planned.target) == (1, 1) && planned.kind == TrialKind::Timed
}

#[test]
fn costs_as_json() {
    let mut plan = counting(plan(2, &[1], 2));
    plan.steps.drain(..2);
    plan.steps.truncate(1);
    let mut sample = Sample::new(&plan);
    run_sampled(&mut sample, |_, _, _| {});
    insta::assert_snapshot!(shown(&sample, Format::Json));
}

#[test]
fn several_clients_as_text() {
    let mut sample = Sample::new(&counting(plan(2, &[1, 16], 2)));
    run_sampled(&mut sample, |_, _, _| {});
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

/// With 5 µs of client time in a round trip of 22 µs, a 1.43× slowdown is really 1.56×.
#[test]
fn what_the_client_takes_is_taken_away() {
    let mut plan = plan(2, &[1], 1);
    plan.steps.truncate(1);
    let mut sample = Sample::new(&plan);
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        let each_ns = [22_000, 31_460][planned.target];
        sample.record_steps(trial, planned, |_, outcome| {
            outcome.groups.own_mut().operations = 1_000_000;
            outcome.groups.own_mut().busy_ns = 1_000_000 * each_ns;
            outcome.client_user_ns = 2_000_000_000;
            outcome.client_system_ns = 3_000_000_000;
        });
        let edges = [Moment::Start, Moment::End];
        let edges = edges.map(|moment| taken(moment, 1 + moment as u64, &[]));
        sample.store.record_samples(trial, 0, &edges).unwrap();
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    let report = shown(&sample, Format::Text);
    let absolute = section(&report, "Cost of an operation at 1 client");
    let relative = section(&report, "Cost of an operation relative");
    let line = |lines: &[String], name: &str| {
        let line = lines.iter().find(|line| line.contains(name)).unwrap();
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(line(&absolute, "round trip").ends_with(&["22.0".into(), "31.5".into()]));
    assert!(line(&absolute, "client CPU").ends_with(&["5.00".into(), "5.00".into()]));
    assert!(line(&absolute, "server only").ends_with(&["17.0".into(), "26.5".into()]));
    assert!(line(&relative, "round trip").ends_with(&["1.43".into()]));
    assert!(line(&relative, "server only").ends_with(&["1.56".into()]));
}

/// A run that was never sampled has nothing of this, in no format.
/// A step whose operations have sixteen statements has costs of both; the others have one cost.
#[test]
fn costs_are_also_those_of_a_query() {
    let report = render(&complete().store, Format::Json).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut found = 0;
    for cell in report["cells"].as_array().unwrap() {
        let costs = &cell["costs"];
        if cell["step"] != "read-only.range100" {
            assert_eq!(costs["per_query"], Value::Null, "{}", cell["step"]);
            continue;
        }
        found += 1;
        let mean = |of: &Value, id: &str| of["metrics"][id]["over_blocks"]["mean"].as_f64();
        let per_query = &costs["per_query"];
        assert_eq!(per_query["queries_per_operation"]["mean"], 16.0);
        for (id, factor) in [
            ("server_cpu_us", 1.0 / 16.0),
            ("instructions", 1.0 / 16.0),
            ("throughput", 16.0),
        ] {
            let expected = mean(costs, id).unwrap() * factor;
            let known = mean(per_query, id).unwrap();
            assert!((known / expected - 1.0).abs() < 1e-4, "{id}: {known}");
        }
        let rate = cell["queries_per_second"]["mean"].as_f64().unwrap();
        let known = mean(per_query, "throughput").unwrap();
        assert!((known / rate - 1.0).abs() < 1e-6, "{known} {rate}");
        assert_eq!(mean(per_query, "client_cpu_us"), None);
        assert_eq!(mean(per_query, "memory_mb"), None);
    }
    assert_eq!(found, 3);
}

#[test]
fn runs_without_samples_show_no_costs() {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    sample.run(|_| true);
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
        let report = shown(&sample, format);
        for word in [
            "cpu/o",
            "server_cpu_us",
            "round trip",
            "\"costs\"",
            "Sampling",
        ] {
            assert!(!report.contains(word), "{word}");
        }
    }
}

#[test]
fn doubts_about_counters_stand_beside_the_figures() {
    let sample = one_step(
        |planned, taken| {
            let late = taken.moment == Moment::End;
            let mut set = |source, name, change: &dyn Fn(u64) -> u64| {
                let counter = Counter::new(source, name);
                if let Some(value) = taken.values.get_mut(&counter) {
                    *value = change(*value);
                }
            };
            if is_second(planned) && late {
                set(Source::Cgroup, "cpu_ns", &|ns| ns * 11 / 10);
                set(Source::Threads, "lost_threads", &|_| 2);
                taken
                    .values
                    .remove(&Counter::new(Source::Files, "data_bytes"));
                taken.gaps.push(Gap {
                    source: Source::Memory,
                    reason: "the process is not there".into(),
                });
            }
        },
        |_| {},
    );
    let report = shown(&sample, Format::Text);
    insta::assert_snapshot!(report);
    let json = json(&sample);
    let of = |index: usize| &json["cells"][1]["measurements"][index]["spent"];
    assert_eq!(of(1)["gaps"][0]["source"], "memory");
    assert!(of(1)["metrics"]["context_switches"].is_null());
    assert!(of(0)["metrics"]["context_switches"].is_number());
}

/// A sampler that fails in the middle leaves gaps, and never a wrong rate.
#[test]
fn a_restart_between_samples_is_a_gap() {
    let sample = one_step(
        |planned, taken| {
            let begun = taken.moment != Moment::Start;
            if is_second(planned) && begun {
                taken.values.insert(IDENTITY, 9999);
            }
        },
        |_| {},
    );
    let json = json(&sample);
    let spent = &json["cells"][1]["measurements"][1]["spent"];
    assert!(spent["metrics"]["server_cpu_us"].is_null());
    assert!(
        spent["metrics"]["reads"].is_number(),
        "the device was not restarted"
    );
    let periods = spent["periods"].as_array().unwrap();
    assert!(periods[0]["server_cpu_us"].is_null());
    assert!(periods[1]["server_cpu_us"].is_number());
    let costs = &json["cells"][1]["costs"]["metrics"]["server_cpu_us"];
    assert_eq!(costs["over_blocks"]["n"], 1);
    let csv = render(&sample.store, Format::Csv).unwrap();
    assert!(
        csv.lines()
            .any(|line| line.contains("mysql-5.7") && line.contains(",;")),
        "{csv}"
    );
    let text = shown(&sample, Format::Text);
    assert!(
        text.contains("the server was restarted in between"),
        "{text}"
    );
}

#[test]
fn what_could_not_be_read_is_said_once() {
    let mut sample = one_step(
        |_, taken| {
            let known = |counter: &Counter| counter.source != Source::Device;
            taken.values.retain(|counter, _| known(counter));
        },
        |plan| {
            let timed = |trial: &PlannedTrial| trial.kind == TrialKind::Timed;
            plan.trials.retain(timed);
            plan.counting = None;
            plan.counting_note = Some("this host has no counters for instructions".into());
        },
    );
    let gap = |source, reason: &str| Gap {
        source,
        reason: reason.into(),
    };
    let trials = sample.store.trials().unwrap();
    for trial in &trials {
        let device = gap(Source::Device, "the data directory is in memory");
        sample
            .store
            .record_absence(Some(trial.id), &device)
            .unwrap();
    }
    let first = trials
        .iter()
        .find(|trial| trial.planned.target == 1)
        .unwrap();
    let cgroup = gap(Source::Cgroup, "no group may be made here; run as root");
    sample
        .store
        .record_absence(Some(first.id), &cgroup)
        .unwrap();
    let report = shown(&sample, Format::Text);
    insta::assert_snapshot!(section(&report, "What could not be read").join("\n"));
}

#[test]
fn counters_that_took_turns_are_marked() {
    let sample = one_step(
        |planned, taken| {
            if planned.kind == TrialKind::Counting {
                let end = u64::from(taken.moment == Moment::End);
                for (name, value) in [
                    ("instructions_user", 26_000_000),
                    ("instructions_user_enabled_ns", 1_000_000),
                    ("instructions_user_running_ns", 500_000),
                ] {
                    let counter = Counter::new(Source::Perf, name);
                    taken.values.insert(counter, end * value);
                }
            }
        },
        |plan| {
            if let Some(counting) = &mut plan.counting {
                counting.by = CountedBy::Hardware;
            }
        },
    );
    let report = shown(&sample, Format::Text);
    let rows = section(&report, "Cost of point-query at 1 client, per operation");
    assert!(
        rows[3].starts_with(" mysql-5.0") && rows[3].ends_with(" ! 52,000"),
        "{rows:?}"
    );
    assert!(report.contains("took turns, ran 50 %"), "{report}");
}

/// Counts of valgrind and of the processor are two things.
#[test]
fn only_what_was_counted_alike_is_compared() {
    let sample = one_step(
        |planned, taken| {
            if planned.kind == TrialKind::Counting && planned.target == 1 {
                let counted = taken
                    .values
                    .remove(&Counter::new(Source::Valgrind, "instructions_user"));
                let of_perf = Counter::new(Source::Perf, "instructions_user");
                let count = counted.map(|count| (of_perf, count));
                taken.values.extend(count);
            }
        },
        |_| {},
    );
    let json = json(&sample);
    let instructions = &json["cells"][1]["costs"]["metrics"]["instructions"];
    assert_eq!(instructions["counters"][0], "perf.instructions_user");
    assert!(instructions["ratio"].is_null());
    assert!(json["cells"][1]["costs"]["metrics"]["server_cpu_us"]["ratio"]["ratio"].is_number());
}

/// Counters that cost little ride along, and then there is nothing to count apart.
#[test]
fn counters_that_rode_along_are_those_of_timed_trials() {
    let sample = one_step(
        |_, taken| {
            let end = u64::from(taken.moment == Moment::End);
            let counter = Counter::new(Source::Perf, "instructions_user");
            taken.values.insert(counter, end * 2_000_000_000);
        },
        |plan| {
            plan.counting = None;
            plan.trials.retain(|trial| trial.kind == TrialKind::Timed);
        },
    );
    let instructions = &json(&sample)["cells"][0]["costs"]["metrics"]["instructions"];
    assert_eq!(instructions["trials"], "timed");
    let report = shown(&sample, Format::Text);
    assert!(
        report.contains("Instructions were counted while time was measured."),
        "{report}"
    );
}

/// What the server spent on a step is not known of each of the groups that shared it.
#[test]
fn groups_beside_a_step_leave_no_costs_of_its_own() {
    let sample = one_step(
        |_, _| {},
        |plan| {
            let workload = plan.steps[0].own().workload.clone();
            plan.steps[0].groups.push(prony_model::ClientGroup {
                name: Some("writers".into()),
                workload,
                parameters: std::collections::BTreeMap::new(),
                clients: 1,
                pace: prony_model::Pace::default(),
                reconnect_every: None,
                sla_percent: None,
            });
        },
    );
    let report = shown(&sample, Format::Text);
    let costs = section(&report, "Cost of");
    let words = "No costs of an operation: writers, beside the step, have no rate";
    assert!(costs[1].starts_with(words), "{costs:?}");
    assert!(!report.contains("cpu/o"), "{report}");
    assert!(section(&report, "What the server counted").is_empty());
}
