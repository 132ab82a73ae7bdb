//! Every formula against numbers computed by hand.

use super::*;
use crate::{
    Beside, Gap, IDENTITY, Moment, NoDifference, Pace, Sample, Source, Spacing, StepSamples, Think,
};

type Entry = (Source, &'static str, u64);

/// A step of two seconds, from one sample to the other.
fn samples(start: &[Entry], end: &[Entry]) -> StepSamples {
    let sample = |moment, at_ns, values: &[Entry]| Sample {
        moment,
        at_ns,
        took_ns: 1_000,
        values: values
            .iter()
            .map(|&(source, name, value)| (Counter::new(source, name), value))
            .chain([(IDENTITY, 77)])
            .collect(),
        gaps: Vec::<Gap>::new(),
    };
    StepSamples(vec![
        sample(Moment::Start, 5_000_000_000, start),
        sample(Moment::End, 7_000_000_000, end),
    ])
}

/// Growth from nothing.
fn grown(end: &[Entry]) -> StepSamples {
    let start: Vec<Entry> = end.iter().map(|&(s, name, _)| (s, name, 0)).collect();
    samples(&start, end)
}

/// 1,000 operations of one client, 22 µs each, of which 5 µs are the client's.
const COUNTS: StepCounts = StepCounts {
    operations: 1_000,
    scanned_rows: None,
    clients: 1,
    busy_ns: 22_000_000,
    client_cpu_ns: 5_000_000,
    client_wait_ns: None,
    processors: Some(2),
    connects: false,
    changed_rows: 0,
    row_bytes: 186,
    table_rows: Some(10_000),
    pace: Pace::Closed { think: None },
    beside: Beside::Nobody,
};

#[track_caller]
fn is(value: Result<Value, NoValue>, expected: f64) {
    let amount = value.unwrap().amount;
    assert!(
        (amount - expected).abs() <= expected.abs() * 1e-12,
        "{amount} is not {expected}"
    );
}

#[test]
fn the_table_is_in_the_order_of_the_metrics() {
    for (place, metric) in Metric::all().enumerate() {
        assert_eq!(metric as usize, place);
        assert_eq!(metric.facts().metric, metric);
    }
    assert_eq!(Metric::ResponseP99 as usize + 1, Metric::all().count());
}

#[test]
fn names_are_there_once() {
    let mut seen = std::collections::BTreeSet::new();
    for metric in Metric::all() {
        let facts = metric.facts();
        assert!(
            seen.insert(facts.id) && seen.insert(facts.heading),
            "{facts:?}"
        );
        assert!(!facts.meaning.contains("  ") && facts.meaning.ends_with('.'));
    }
}

#[test]
fn processor_time_is_divided_by_operations() {
    use Metric as M;
    use Source::{Cgroup, Process, Threads};
    for (metric, readings, expected) in [
        (M::ServerCpu, vec![(Cgroup, "cpu_ns", 17_000_000)], 17.0),
        (M::ServerCpu, vec![(Process, "cpu_ns", 16_500_000)], 16.5),
        (
            M::ServerCpu,
            vec![
                (Process, "user_ns", 10_000_000),
                (Process, "system_ns", 6_000_000),
            ],
            16.0,
        ),
        (M::ServerUser, vec![(Process, "user_ns", 10_000_000)], 10.0),
        (M::ServerSystem, vec![(Cgroup, "system_ns", 6_500_000)], 6.5),
        (M::RunQueue, vec![(Threads, "run_queue_ns", 250_000)], 0.25),
    ] {
        is(metric.value(&COUNTS, &grown(&readings)), expected);
    }
}

#[test]
fn counts_are_divided_by_operations() {
    use Metric as M;
    use Source::{Cgroup, Device, Perf, Process, Threads, Valgrind};
    let switches = [
        (Threads, "voluntary_switches", 2_000),
        (Threads, "involuntary_switches", 30),
    ];
    let faults = [
        (Process, "minor_faults", 480),
        (Process, "major_faults", 20),
    ];
    is(M::ContextSwitches.value(&COUNTS, &grown(&switches)), 2.03);
    is(M::PageFaults.value(&COUNTS, &grown(&faults)), 0.5);
    for (metric, source, name, growth, expected) in [
        (M::ContextSwitches, Perf, "context_switches", 2_040, 2.04),
        (M::PageFaults, Perf, "page_faults", 510, 0.51),
        (M::Migrations, Perf, "migrations", 20, 0.02),
        (M::Instructions, Perf, "instructions_user", 61_000_000, 61e3),
        (
            M::Instructions,
            Valgrind,
            "instructions_user",
            60_000_000,
            60e3,
        ),
        (
            M::KernelInstructions,
            Perf,
            "instructions_kernel",
            8_000_000,
            8e3,
        ),
        (M::Cycles, Perf, "cycles_user", 50_000_000, 50e3),
        (M::KernelCycles, Perf, "cycles_kernel", 9_000_000, 9e3),
        (M::CacheMisses, Perf, "cache_misses", 1_500, 1.5),
        (M::BranchMisses, Perf, "branch_misses", 250_000, 250.0),
        (M::Reads, Cgroup, "reads", 40, 0.04),
        (M::Reads, Device, "reads", 50, 0.05),
        (M::ReadKb, Process, "read_bytes", 655_360, 0.64),
        (M::Writes, Device, "writes", 3_000, 3.0),
        (M::WrittenKb, Process, "written_bytes", 4_096_000, 4.0),
    ] {
        is(
            metric.value(&COUNTS, &grown(&[(source, name, growth)])),
            expected,
        );
    }
}

#[test]
fn quotients_and_levels() {
    use Source::{Files, Lab, Memory, Perf};
    let counted = grown(&[
        (Perf, "instructions_user", 61_000_000),
        (Perf, "cycles_user", 50_000_000),
    ]);
    is(Metric::InstructionsPerCycle.value(&COUNTS, &counted), 1.22);
    let levels = samples(
        &[
            (Files, "data_bytes", 2_860_000),
            (Memory, "resident_bytes", 500 << 20),
        ],
        &[
            (Files, "data_bytes", 9_000_000),
            (Memory, "resident_bytes", 512 << 20),
        ],
    );
    is(Metric::DiskPerRow.value(&COUNTS, &levels), 286.0);
    is(Metric::Memory.value(&COUNTS, &levels), 512.0);
    // 3 and 9 milliseconds in two seconds.
    let lab = grown(&[(Lab, "sampler_ns", 3_000_000), (Lab, "cpu_ns", 9_000_000)]);
    is(Metric::Sampling.value(&COUNTS, &lab), 1_500.0);
    is(Metric::Lab.value(&COUNTS, &lab), 4_500.0);
}

#[test]
fn the_host_is_used_by_server_and_generator() {
    // 1.995 seconds of the server and 5 milliseconds of the generator, of twice two seconds.
    let used = grown(&[(Source::Cgroup, "cpu_ns", 1_995_000_000)]);
    is(Metric::HostUtilisation.value(&COUNTS, &used), 0.5);
    let unknown = StepCounts {
        processors: None,
        ..COUNTS
    };
    assert_eq!(
        Metric::HostUtilisation.value(&unknown, &used),
        Err(NoValue::ProcessorsUnknown)
    );
    let accompanied = StepCounts {
        beside: Beside::Uneven,
        ..COUNTS
    };
    assert_eq!(
        Metric::HostUtilisation.value(&accompanied, &used),
        Err(NoValue::Accompanied)
    );
}

#[test]
fn write_amplification_is_of_rows_that_were_changed() {
    let written = grown(&[(Source::Process, "written_bytes", 3_720_000)]);
    let changing = StepCounts {
        changed_rows: 1_000,
        ..COUNTS
    };
    is(Metric::WriteAmplification.value(&changing, &written), 20.0);
    assert_eq!(
        Metric::WriteAmplification.value(&COUNTS, &written),
        Err(NoValue::NothingChanged)
    );
}

/// With 5 µs of client time in a round trip of 22 µs, a 1.43× slowdown is really 1.56×.
#[test]
fn what_the_client_takes_hides_what_the_server_takes() {
    let nothing = StepSamples::default();
    let slower = StepCounts {
        busy_ns: 31_460_000,
        ..COUNTS
    };
    is(Metric::ClientCpu.value(&COUNTS, &nothing), 5.0);
    is(Metric::RoundTrip.value(&COUNTS, &nothing), 22.0);
    is(Metric::ServerOnly.value(&COUNTS, &nothing), 17.0);
    is(Metric::ServerShare.value(&COUNTS, &nothing), 17.0 / 22.0);
    let ratio = |metric: Metric| {
        let of = |counts| metric.value(&counts, &nothing).unwrap().amount;
        (of(slower) / of(COUNTS) * 100.0).round()
    };
    assert!((ratio(Metric::RoundTrip) - 143.0).abs() < f64::EPSILON);
    assert!((ratio(Metric::ServerOnly) - 156.0).abs() < f64::EPSILON);
}

#[test]
fn throughput_by_the_clock_and_by_the_processor() {
    let used = grown(&[(Source::Cgroup, "cpu_ns", 20_000_000)]);
    is(Metric::Rate.value(&COUNTS, &used), 1_000.0 / 0.022);
    is(Metric::PerCpuSecond.value(&COUNTS, &used), 50_000.0);
    let several = StepCounts {
        clients: 4,
        ..COUNTS
    };
    is(Metric::Rate.value(&several, &used), 4_000.0 / 0.022);
    is(Metric::RoundTrip.value(&several, &used), 22.0);
    let idle = grown(&[(Source::Cgroup, "cpu_ns", 0)]);
    assert_eq!(
        Metric::PerCpuSecond.value(&COUNTS, &idle),
        Err(NoValue::NothingToDivideBy)
    );
}

#[test]
fn scans_count_rows() {
    let scan = StepCounts {
        operations: 4,
        scanned_rows: Some(50_000),
        busy_ns: 80_000_000,
        ..COUNTS
    };
    let used = grown(&[(Source::Cgroup, "cpu_ns", 60_000_000)]);
    is(Metric::ServerCpu.value(&scan, &used), 0.3);
    is(Metric::RoundTrip.value(&scan, &used), 0.4);
    is(Metric::Rate.value(&scan, &used), 2_500_000.0);
    assert_eq!(
        (scan.unit(), COUNTS.unit()),
        (CostUnit::Row, CostUnit::Operation)
    );
}

#[test]
fn only_one_client_in_a_closed_loop_has_a_server_of_its_own() {
    let nothing = StepSamples::default();
    let think = Some(Think {
        mean_us: 10,
        spacing: Spacing::Regular,
    });
    let several = StepCounts {
        clients: 2,
        ..COUNTS
    };
    let thinking = StepCounts {
        pace: Pace::Closed { think },
        ..COUNTS
    };
    for counts in [several, thinking] {
        for metric in [Metric::ServerOnly, Metric::ServerShare] {
            assert_eq!(metric.value(&counts, &nothing), Err(NoValue::NotAlone));
        }
        assert!(Metric::ClientCpu.value(&counts, &nothing).is_ok());
    }
    assert_eq!(
        Metric::RoundTrip.value(&thinking, &nothing),
        Err(NoValue::NotAlone)
    );
    let accompanied = StepCounts {
        beside: Beside::Uneven,
        ..COUNTS
    };
    let used = grown(&[(Source::Cgroup, "cpu_ns", 1)]);
    for metric in [
        Metric::ServerCpu,
        Metric::ClientCpu,
        Metric::Rate,
        Metric::ServerOnly,
    ] {
        assert_eq!(metric.value(&accompanied, &used), Err(NoValue::Accompanied));
    }
}

#[test]
fn even_work_beside_is_included_in_what_the_server_did() {
    let even = StepCounts {
        beside: Beside::Even,
        ..COUNTS
    };
    let used = grown(&[
        (Source::Cgroup, "cpu_ns", 17_000_000),
        (Source::Process, "written_bytes", 3_720_000),
    ]);
    is(Metric::ServerCpu.value(&even, &used), 17.0);
    assert_eq!(
        Metric::Rate.value(&even, &used),
        Metric::Rate.value(&COUNTS, &used)
    );
    // The load generator worked for all, and rows of others were changed too.
    for metric in [
        Metric::ClientCpu,
        Metric::ServerOnly,
        Metric::WriteAmplification,
    ] {
        assert_eq!(metric.value(&even, &used), Err(NoValue::Accompanied));
    }
}

#[test]
fn the_best_source_counts() {
    let all = [
        (Source::Cgroup, "cpu_ns", 30),
        (Source::Process, "cpu_ns", 20),
        (Source::Process, "user_ns", 6),
        (Source::Process, "system_ns", 4),
    ];
    for (from, expected, source) in [
        (0, 30.0, Source::Cgroup),
        (1, 20.0, Source::Process),
        (2, 10.0, Source::Process),
    ] {
        let value = Metric::ServerCpu
            .value(&COUNTS, &grown(&all[from..]))
            .unwrap();
        is(Ok(value), expected / 1e6);
        assert_eq!(value.from[0].source, source);
        assert_eq!(value.from.len(), if from == 2 { 2 } else { 1 });
    }
    // Half of a sum is no sum.
    assert_eq!(
        Metric::ServerCpu.value(&COUNTS, &grown(&all[3..])),
        Err(NoValue::Unread(NoDifference::NotRead))
    );
    // A better source that was lost on the way leaves the others.
    let lost = samples(&all, &all[1..]);
    is(Metric::ServerCpu.value(&COUNTS, &lost), 0.0);
}

#[test]
fn a_gap_gives_no_number() {
    let cgroup = |value| (Source::Cgroup, "cpu_ns", value);
    let unread = |why| Err(NoValue::Unread(why));
    let cpu = |samples: &StepSamples| Metric::ServerCpu.value(&COUNTS, samples);
    let mut restarted = samples(&[cgroup(5)], &[cgroup(9)]);
    restarted.0[1].values.insert(IDENTITY, 78);
    assert_eq!(cpu(&restarted), unread(NoDifference::Restarted));
    let backwards = samples(&[cgroup(9)], &[cgroup(5)]);
    assert_eq!(cpu(&backwards), unread(NoDifference::Backwards));
    assert_eq!(cpu(&samples(&[cgroup(5)], &[])), unread(NoDifference::Lost));
    assert_eq!(cpu(&samples(&[], &[])), unread(NoDifference::NotRead));
    assert_eq!(cpu(&StepSamples::default()), unread(NoDifference::NotRead));
    let one_end = StepSamples(grown(&[cgroup(5)]).0.split_off(1));
    assert_eq!(cpu(&one_end), unread(NoDifference::Lost));

    let threads = |lost| {
        grown(&[
            (Source::Threads, "voluntary_switches", 5),
            (Source::Threads, "involuntary_switches", 5),
            (Source::Threads, "lost_threads", lost),
        ])
    };
    assert_eq!(
        Metric::ContextSwitches.value(&COUNTS, &threads(1)),
        unread(NoDifference::ThreadsEnded)
    );
    is(Metric::ContextSwitches.value(&COUNTS, &threads(0)), 0.01);
}

#[test]
fn nothing_done_costs_nothing_that_could_be_said() {
    let idle = StepCounts {
        operations: 0,
        busy_ns: 0,
        ..COUNTS
    };
    let used = grown(&[(Source::Cgroup, "cpu_ns", 1)]);
    for metric in [
        Metric::ServerCpu,
        Metric::ClientCpu,
        Metric::RoundTrip,
        Metric::Rate,
    ] {
        assert_eq!(metric.value(&idle, &used), Err(NoValue::NothingDone));
    }
    let levels = grown(&[(Source::Files, "data_bytes", 1)]);
    let grew = StepCounts {
        table_rows: None,
        ..COUNTS
    };
    assert_eq!(
        Metric::DiskPerRow.value(&grew, &levels),
        Err(NoValue::RowsUnknown)
    );
}

#[test]
fn counters_that_took_turns_are_scaled_and_say_so() {
    let counted = |running| {
        grown(&[
            (Source::Perf, "instructions_user", 30_000_000),
            (Source::Perf, "instructions_user_enabled_ns", 2_000_000_000),
            (Source::Perf, "instructions_user_running_ns", running),
        ])
    };
    let value = |running| Metric::Instructions.value(&COUNTS, &counted(running));
    let whole = value(2_000_000_000).unwrap();
    is(Ok(whole), 30_000.0);
    assert!((whole.running - 1.0).abs() < f64::EPSILON);
    let half = value(1_000_000_000).unwrap();
    is(Ok(half), 60_000.0);
    assert!((half.running - 0.5).abs() < f64::EPSILON);
    assert_eq!(value(0), Err(NoValue::NeverRan));
}

#[test]
fn sources_of_processor_time_are_held_against_each_other() {
    let cpu = |cgroup, ticks: u64| {
        grown(&[
            (Source::Cgroup, "cpu_ns", cgroup),
            (Source::Process, "user_ns", ticks / 2),
            (Source::Process, "system_ns", ticks / 2),
        ])
    };
    // 3 % apart and 30 ms.
    let apart = cpu_disagreement(&cpu(1_000_000_000, 970_000_000)).unwrap();
    assert_eq!((apart.least.1, apart.most.1), (970_000_000, 1_000_000_000));
    assert_eq!(apart.most.0[0].source, Source::Cgroup);
    // 2 %, or 20 ms, are near enough.
    assert_eq!(cpu_disagreement(&cpu(5_000_000_000, 4_900_000_000)), None);
    assert_eq!(cpu_disagreement(&cpu(100_000_000, 80_000_000)), None);
    // One source agrees with itself.
    assert_eq!(
        cpu_disagreement(&grown(&[(Source::Cgroup, "cpu_ns", 9)])),
        None
    );
    let clock = grown(&[
        (Source::Cgroup, "cpu_ns", 1_000_000_000),
        (Source::Perf, "task_clock_ns", 1_500_000_000),
    ]);
    let apart = cpu_disagreement(&clock).unwrap();
    assert_eq!(apart.most.0[0].source, Source::Perf);
}

const FIGURES: GroupFigures = GroupFigures {
    clients: 4,
    operations: 10_000,
    queries: 30_000,
    busy_ns: 8_000_000_000,
    service: Some(ServiceTimes {
        count: 10_000,
        mean_ns: 800_500.0,
        p50_ns: 700_000,
        p95_ns: 1_500_000,
        p99_ns: 2_500_000,
        max_ns: 9_000_000,
    }),
    response: Some(ServiceTimes {
        count: 10_000,
        mean_ns: 900_500.0,
        p50_ns: 750_000,
        p95_ns: 1_600_000,
        p99_ns: 2_600_000,
        max_ns: 9_100_000,
    }),
};

#[test]
fn figures_of_a_group() {
    let expected = [
        5_000.0, 15_000.0, 800.5, 700.0, 1_500.0, 2_500.0, 9_000.0, 900.5, 750.0, 1_600.0, 2_600.0,
    ];
    for (metric, expected) in Metric::figures().zip(expected) {
        is(metric.figure(&FIGURES), expected);
    }
    assert_eq!(Metric::figures().count(), expected.len());
    assert_eq!(
        Metric::costs().count() + Metric::figures().count(),
        Metric::all().count()
    );
}

#[test]
fn percentiles_need_operations_beyond_them() {
    let service = FIGURES.service.unwrap();
    for (metric, enough) in [
        (Metric::ServiceP50, 200),
        (Metric::ServiceP95, 2_000),
        (Metric::ServiceP99, 10_000),
    ] {
        let of = |count| {
            let service = Some(ServiceTimes { count, ..service });
            metric.figure(&GroupFigures { service, ..FIGURES })
        };
        assert!(of(enough).is_ok());
        assert_eq!(of(enough - 1), Err(NoValue::TooFew));
    }
}

#[test]
fn a_group_that_did_nothing_has_no_figures() {
    let nothing = GroupFigures {
        operations: 0,
        queries: 0,
        busy_ns: 0,
        service: None,
        response: FIGURES
            .response
            .map(|times| ServiceTimes { count: 0, ..times }),
        ..FIGURES
    };
    for metric in Metric::figures() {
        assert_eq!(metric.figure(&nothing), Err(NoValue::NothingDone));
    }
    let closed = GroupFigures {
        response: None,
        ..FIGURES
    };
    let response = Metric::ResponseP95.figure(&closed);
    assert_eq!(response, Err(NoValue::NotScheduled));
    let no_clients = GroupFigures {
        clients: 0,
        ..nothing
    };
    assert_eq!(
        Metric::Operations.figure(&no_clients),
        Err(NoValue::NothingDone)
    );
}

#[test]
fn figures_are_of_groups_and_costs_of_steps() {
    let unread = Err(NoValue::Unread(NoDifference::NotRead));
    assert_eq!(Metric::ServerCpu.figure(&FIGURES), unread);
    assert_eq!(Metric::Queries.value(&COUNTS, &grown(&[])), unread);
}

/// A row of the table in `docs/metrics.md`.
fn row(facts: &MetricFacts) -> String {
    let set = |set: &&[Counter]| {
        let names: Vec<String> = set.iter().map(|counter| format!("`{counter}`")).collect();
        names.join(" + ")
    };
    let sources: Vec<String> = facts.how.counters().iter().map(set).collect();
    let by = match &facts.how {
        Formula::Quotient { by, .. } => format!("; by {}", set(&by[0])),
        _ => String::new(),
    };
    let least = if facts.least > 0.0 {
        facts.least.to_string()
    } else {
        String::new()
    };
    format!(
        "| `{}` | {} | {} | {} | {} | {}{by} | {} | {least} | {} |",
        facts.id,
        facts.heading,
        facts.unit,
        facts.better.name(),
        facts.formula,
        sources.join(", else "),
        facts.taken.name(),
        facts.meaning,
    )
}

#[test]
fn the_table_is_documented() {
    let documented: Vec<&str> = include_str!("../../../../docs/metrics.md")
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let table: Vec<String> = Metric::all().map(|metric| row(metric.facts())).collect();
    assert_eq!(documented, table, "\n{}", table.join("\n"));
}
