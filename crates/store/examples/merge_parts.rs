//! The time and the memory of merging parts of a run: two targets, twenty steps, and a block in each
//! part, of one of a hundred hosts.
//!
//! `cargo run --release -p prony-store --example merge_parts -- FOLDER PARTS` generates them and merges.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "an example that fails may say so with a panic, and prints what it measures"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use jiff::Timestamp;
use prony_model::{Plan, Version};
use prony_store::{NewPart, NewRun, Store, merge};
use prony_testkit as testkit;

fn main() {
    let mut arguments = env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap());
    let blocks: u32 = arguments.next().unwrap().parse().unwrap();
    fs::create_dir_all(&folder).unwrap();
    let plan_file = folder.join("plan.sqlite");
    let plan = plan(blocks);
    let run = NewRun {
        id: "generated",
        plan: &plan,
        prony_version: "0",
        host_json: "{}",
        started_at: Timestamp::UNIX_EPOCH,
    };
    let mut store = Store::create(&plan_file, &run).unwrap();
    store.record_fleet("generated", "build").unwrap();
    drop(store);

    let parts: Vec<PathBuf> = (0..blocks)
        .map(|block| part(&folder, &plan_file, &plan, block))
        .collect();
    let bytes: u64 = parts.iter().map(|path| length(path)).sum();
    let into = folder.join("run.sqlite");
    let begin = Instant::now();
    let merged = merge(&plan_file, &parts, &into).unwrap();
    println!(
        "{} parts of {bytes} bytes merged into {} bytes in {:.1} s, {} refused",
        merged.used,
        length(&into),
        begin.elapsed().as_secs_f64(),
        merged.refused.len()
    );
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap());
}

fn plan(blocks: u32) -> Plan {
    let targets = vec![
        testkit::target("mysql-5.7", Version::new(5, 7, 22)),
        testkit::target("mysql-8.0", Version::new(8, 0, 31)),
    ];
    let steps = (0..20).map(|step| testkit::step(&format!("step-{step}"), 1));
    let trials = (0..blocks).flat_map(|block| [0, 1].map(|target| testkit::planned(block, target)));
    Plan {
        trials: trials.collect(),
        ..testkit::plan("generated", targets, steps.collect(), 0)
    }
}

fn part(folder: &Path, plan_file: &Path, plan: &Plan, block: u32) -> PathBuf {
    let local = folder.join("local.sqlite");
    fs::copy(plan_file, &local).unwrap();
    let mut store = Store::open(&local).unwrap();
    let name = format!("b{block:04}");
    let part = NewPart {
        name: &name,
        host_name: &format!("n{}", block % 100),
        attempt: 0,
        job: None,
        prony_build: "build",
        blocks: &[block],
        host_json: "{}",
    };
    let at = Timestamp::from_second(i64::from(block)).unwrap();
    store.begin_part(&part, at).unwrap();
    for target in [0, 1] {
        let planned = testkit::planned(block, target);
        let trial = store.begin_trial(planned, at).unwrap();
        for step in 0..plan.steps.len() {
            let histogram = [1, 2, 3, 4].repeat(500);
            let own = testkit::group_outcome(1, 1_000, 5_000_000_000, histogram);
            let outcome = testkit::step_outcome(own);
            store.record_step(trial, step, &outcome).unwrap();
        }
        store.finish_trial(trial, at).unwrap();
    }
    let path = folder.join(format!("{name}.sqlite"));
    store.write_copy(&path).unwrap();
    drop(store);
    fs::remove_file(&local).unwrap();
    path
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}
