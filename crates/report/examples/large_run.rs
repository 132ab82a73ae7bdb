//! The time and the memory of reports of a large run: 42 steps × 3 numbers of clients × 12 targets ×
//! 20 blocks, each format in a process of its own. `docs/benchmarks.md` describes the file.
//!
//! `cargo run --release -p prony-report --example large_run -- FILE [BLOCKS]` writes the file if there
//! is none, and measures. `large_run FILE render FORMAT` renders one format and prints a line.

#![expect(
    clippy::unwrap_used,
    reason = "an example that fails may say so with a panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use prony_model::{
    Counter, Display, EXPLAINING, Group, IDENTITY, Interval, Metric, Moment, Plan, PlannedTrial,
    Sample, Source, Step, ThreadUse,
};
use prony_report::{Format, render};
use prony_store::{NewRun, Store, TrialId};
use prony_testkit as testkit;

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../tests/report/sample.rs"]
mod sample;

const TARGETS: usize = 12;
const STEPS: usize = 42;
const CLIENTS: [u32; 3] = [1, 4, 16];
const BLOCKS: u32 = 20;
/// Counters of the server's status, and how many of these move.
const STATUS: usize = 380;
const MOVING: usize = 36;
/// Seconds of a step: an interval and a sample for each.
const SECONDS: u64 = 5;

const FORMATS: [(&str, Format); 5] = [
    ("text", Format::Text),
    ("markdown", Format::Markdown),
    ("csv", Format::Csv),
    ("json", Format::Json),
    ("html", Format::Html),
];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [file, "render", format] => measure(Path::new(file), format),
        [file] => compare(Path::new(file), BLOCKS),
        [file, blocks] => compare(Path::new(file), blocks.parse().unwrap()),
        _ => Err(io::Error::other("usage: large_run FILE [BLOCKS]")),
    }
}

/// Writes the file if there is none, and measures every format in a process of its own.
fn compare(file: &Path, blocks: u32) -> io::Result<()> {
    if !file.exists() {
        let begin = Instant::now();
        write(file, blocks);
        let bytes = fs::metadata(file)?.len();
        let took = begin.elapsed().as_secs_f64();
        writeln!(io::stdout(), "written: {bytes} bytes in {took:.1} s")?;
    }
    for (name, _) in FORMATS {
        let child = Command::new(std::env::current_exe()?)
            .arg(file)
            .args(["render", name])
            .status()?;
        assert!(child.success(), "{name}");
    }
    Ok(())
}

/// Renders one format and prints its size, wall time, processor time and peak of resident memory.
fn measure(file: &Path, name: &str) -> io::Result<()> {
    let format = FORMATS.iter().find(|(known, _)| *known == name).unwrap().1;
    let begin = Instant::now();
    let store = Store::open_read_only(file).unwrap();
    let report = render(&store, format).unwrap();
    let wall = begin.elapsed().as_secs_f64();
    if let Ok(copy) = std::env::var("LARGE_RUN_OUT") {
        fs::write(copy, &report)?;
    }
    writeln!(
        io::stdout(),
        "{name}: {} bytes, {wall:.2} s, {:.2} s of processors, {} MB",
        report.len(),
        processor_seconds()?,
        peak_kb()? / 1024
    )
}

/// Processor time of all threads of this process, ended ones included. `/proc` counts in ticks of
/// 10 ms.
fn processor_seconds() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[11..13]
        .iter()
        .map(|field| field.parse::<f64>().unwrap())
        .sum();
    Ok(ticks / 100.0)
}

/// Peak of the resident memory of this process.
fn peak_kb() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    Ok(line.split_whitespace().nth(1).unwrap().parse().unwrap())
}

fn write(file: &Path, blocks: u32) {
    let plan = plan(blocks);
    let run = NewRun {
        id: "large",
        plan: &plan,
        prony_version: "0.1.0",
        host_json: r#"{"cpu_model": "Example CPU", "cpus": 4, "kernel": "6.1.0"}"#,
        started_at: sample::at(0),
    };
    let mut store = Store::create(file, &run).unwrap();
    let mut writer = Writer {
        counters: system_counters(),
        histograms: BTreeMap::new(),
    };
    for planned in plan.trials.clone() {
        let trial = store.begin_trial(planned, sample::at(30)).unwrap();
        for (index, step) in plan.steps.iter().enumerate() {
            writer.write_step(&mut store, (trial, planned), (index, step));
        }
        store.finish_trial(trial, sample::at(60)).unwrap();
    }
    store.set_run_ended(sample::at(90)).unwrap();
}

fn plan(blocks: u32) -> Plan {
    let of_clients = |clients: u32| {
        (0..STEPS).map(move |entry| {
            let groups = [Group::Point, Group::Mixed, Group::Write, Group::Range];
            let name = format!("step-{entry}");
            let mut step = sample::step(entry, &name, groups[entry % 4], Display::Rate);
            step.groups.own_mut().clients = clients;
            step
        })
    };
    let steps: Vec<Step> = CLIENTS.into_iter().flat_map(of_clients).collect();
    let small = sample::plan(TARGETS, &[], blocks);
    Plan {
        question: small.question,
        dataset: small.dataset,
        ..testkit::plan("large", small.targets, steps, blocks)
    }
}

/// The counters of the operating system that metrics are made of.
fn system_counters() -> Vec<Counter> {
    let sets = Metric::costs().flat_map(|metric| metric.facts().how.counters());
    let counters: BTreeSet<&Counter> = sets.flat_map(|set| set.iter()).collect();
    let all = counters
        .into_iter()
        .filter(|counter| counter.source != Source::Valgrind);
    all.cloned().collect()
}

struct Writer {
    counters: Vec<Counter>,
    /// By mean and clients: a long tail costs more to encode than to store.
    histograms: BTreeMap<(usize, usize, u32), Vec<u8>>,
}

impl Writer {
    fn write_step(
        &mut self,
        store: &mut Store,
        (trial, planned): (TrialId, PlannedTrial),
        (index, step): (usize, &Step),
    ) {
        let clients = step.own().clients;
        let mut outcome = sample::outcome(planned, step);
        let key = (planned.target, step.entry % 4, clients);
        let own = outcome.groups.own_mut();
        let (operations, mean_ns) = (own.operations, own.busy_ns / own.operations);
        let histogram = self.histograms.entry(key);
        let histogram = histogram
            .or_insert_with(|| spread(mean_ns, operations))
            .clone();
        own.statements[0].histogram.clone_from(&histogram);
        own.histogram = histogram;
        own.intervals = (0..SECONDS)
            .map(|second| interval(second, operations))
            .collect();
        outcome.thread_use = vec![ThreadUse {
            wall_ns: SECONDS * 1_000_000_000,
            cpu_ns: 2_000_000_000,
            run_queue_ns: Some(1_000_000),
        }];
        store.record_step(trial, index, &outcome).unwrap();
        let samples: Vec<Sample> = (0..=SECONDS)
            .map(|second| self.sample(planned, index, second, operations))
            .collect();
        store.record_samples(trial, index, &samples).unwrap();
    }

    fn sample(&self, planned: PlannedTrial, step: usize, second: u64, operations: u64) -> Sample {
        let moment = match second {
            0 => Moment::Start,
            SECONDS => Moment::End,
            _ => Moment::Period,
        };
        let mood = 100 + u64::from(planned.block % 5) + planned.target as u64 * 10;
        let grown = (step as u64 * 2 + 1) * 10_000_000_000 + operations * mood * second;
        let system = self.counters.iter();
        let mut values: BTreeMap<Counter, u64> = system
            .map(|counter| (counter.clone(), grown / divisor(counter)))
            .collect();
        values.insert(IDENTITY, 77);
        if moment != Moment::Period {
            let moving = |place: usize| {
                if place < MOVING {
                    grown / (1 + place as u64)
                } else {
                    5
                }
            };
            let own = (0..STATUS).map(|place| (status(place), moving(place)));
            values.extend(own);
        }
        Sample {
            moment,
            at_ns: 1_000_000_000 + second * 1_000_000_000,
            took_ns: 500_000,
            values,
            gaps: Vec::new(),
        }
    }
}

/// Sources of processor time agree, and other counters grow more slowly.
fn divisor(counter: &Counter) -> u64 {
    match &*counter.name {
        "cpu_ns" | "task_clock_ns" => 1,
        "user_ns" | "system_ns" => 2,
        name => 3 + name.len() as u64,
    }
}

/// The counters of the server's status: known ones, then others.
fn status(place: usize) -> Counter {
    match EXPLAINING.get(place) {
        Some(facts) => facts.counter(),
        None => Counter {
            source: Source::Status,
            name: format!("other_counter_{place}").into(),
        },
    }
}

/// Times around a mean with a long tail, in about 1,700 different values.
fn spread(mean_ns: u64, operations: u64) -> Vec<u8> {
    let values = (0..1_700_u64).map(|place| {
        let value = mean_ns / 2 + mean_ns * place * place / 400_000;
        (value, 1 + operations / (20 + place * place / 10))
    });
    testkit::histogram(&values.collect::<Vec<_>>())
}

fn interval(second: u64, operations: u64) -> Interval {
    Interval {
        start_ns: second * 1_000_000_000,
        end_ns: (second + 1) * 1_000_000_000,
        operations: operations / SECONDS,
        queries: operations / SECONDS,
        errors: 0,
        latency_ns_p99: 1_000_000,
        latency_ns_max: 9_000_000,
        response_ns_p99: 0,
        backlog: 0,
    }
}
