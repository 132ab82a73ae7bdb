//! Runs that several hosts measured.

use std::fs;

use prony_model::{PlannedTrial, StepOutcome};
use prony_report::{Format, render};
use prony_store::{NewPart, Store, merge};
use serde_json::Value;
use tempfile::TempDir;

use crate::sample::{Sample, at, outcome, plan};

const HOST: &str = r#"{"cpu_model": "Example CPU @ 2.00GHz", "cpus": 2,
    "memory_bytes": 8589934592, "kernel": "6.1.0-18-amd64"}"#;

/// A change of an outcome by target and block.
type Change = fn(PlannedTrial, &mut StepOutcome);

/// A run of two targets in which the block with index `i` is measured by the host `hosts[i]`.
fn measured_by(hosts: &[&str], change: Change) -> (TempDir, Store) {
    let blocks = u32::try_from(hosts.len()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let mut submitted = Sample::new(&plan(2, &[1], blocks));
    submitted.store.record_fleet("uuid-1", "build-1").unwrap();
    submitted.store.write_copy(&path("plan".into())).unwrap();
    let parts = (0..blocks).map(|block| {
        let host_name = hosts[block as usize];
        let name = format!("b{block}");
        let local = path(format!("{name}-local"));
        fs::copy(path("plan".into()), &local).unwrap();
        let mut store = Store::open(&local).unwrap();
        let part = NewPart {
            name: &name,
            host_name,
            attempt: 0,
            job: None,
            prony_build: "build-1",
            blocks: &[block],
            host_json: HOST,
        };
        store.begin_part(&part, at(20)).unwrap();
        record(&mut store, |planned| planned.block == block, change);
        store.write_copy(&path(name.clone())).unwrap();
        path(name)
    });
    let parts: Vec<_> = parts.collect();
    let merged = path("merged".into());
    let report = merge(&path("plan".into()), &parts, &merged).unwrap();
    assert_eq!(report.used, hosts.len());
    let store = Store::open_read_only(&merged).unwrap();
    (folder, store)
}

fn record(store: &mut Store, wanted: impl Fn(PlannedTrial) -> bool, change: Change) {
    let steps = store.plan().steps.clone();
    for planned in store.missing_trials().unwrap() {
        if wanted(planned) {
            let trial = store.begin_trial(planned, at(30)).unwrap();
            for (index, step) in steps.iter().enumerate() {
                let mut outcome = outcome(planned, step);
                change(planned, &mut outcome);
                store.record_step(trial, index, &outcome).unwrap();
            }
            store.finish_trial(trial, at(60)).unwrap();
        }
    }
}

fn nothing(_: PlannedTrial, _: &mut StepOutcome) {}

/// Makes the second target slower by a factor in thousandths.
fn slow_down(planned: PlannedTrial, outcome: &mut StepOutcome, thousandths: u64) {
    if planned.target == 1 {
        let own = outcome.groups.own_mut();
        own.busy_ns = own.busy_ns * thousandths / 1000;
    }
}

fn json(store: &Store) -> Value {
    serde_json::from_str(&render(store, Format::Json).unwrap()).unwrap()
}

/// Figures do not depend on who measured them, where each block has a host of its own.
#[test]
fn many_hosts_report_what_one_would() {
    let mut alone = Sample::new(&plan(2, &[1], 4));
    record(&mut alone.store, |_| true, nothing);
    let (_folder, fleet) = measured_by(&["n1", "n2", "n3", "n4"], nothing);
    let texts = [&alone.store, &fleet].map(|store| render(store, Format::Text).unwrap());
    let [alone_text, fleet_text] = texts
        .each_ref()
        .map(|text| text.lines().collect::<Vec<_>>());
    let more: Vec<_> = fleet_text
        .iter()
        .filter(|line| !alone_text.contains(line) && !line.trim().is_empty())
        .collect();
    let less: Vec<_> = alone_text
        .iter()
        .filter(|line| !fleet_text.contains(line))
        .collect();
    insta::assert_debug_snapshot!((more, less));
    let [mut alone, mut fleet] = [json(&alone.store), json(&fleet)];
    for run in [&mut alone, &mut fleet] {
        let run = run.as_object_mut().unwrap();
        run.remove("hosts");
        run.remove("run");
    }
    assert_eq!(alone, fleet);
}

/// Nine blocks of three hosts are three values for a ratio, and hosts may disagree.
#[test]
fn blocks_of_one_host_count_as_one() {
    let hosts = ["n1", "n2", "n3"].repeat(3);
    let (_folder, store) = measured_by(&hosts, |planned, outcome| {
        // The sample's second target needs 1.2 times as long: 0.75 of that is faster than the first.
        let by_host = [750, 800, 900][planned.block as usize % 3];
        slow_down(planned, outcome, by_host);
    });
    let text = render(&store, Format::Text).unwrap();
    let begin = text.find("Throughput relative to mysql-5.0, over the steps, by host");
    let table: Vec<_> = text[begin.unwrap()..].lines().take(4).collect();
    let words = |begin: &str| {
        let lines = text
            .lines()
            .skip_while(|line| !line.trim_start().starts_with(begin));
        let lines: Vec<_> = lines.take(3).map(str::trim).collect();
        lines.join(" ")
    };
    let contradiction = words("- point-query, mysql-5.7: faster");
    insta::assert_debug_snapshot!((table, words("Hosts"), contradiction));
    let verdicts = json(&store)["verdicts"].clone();
    assert!(verdicts.to_string().contains("\"n\":3"), "{verdicts}");
}
