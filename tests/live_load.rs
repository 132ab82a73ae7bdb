//! `prony load` against real servers: figures that agree with each other, logs that read back, an
//! end that leaves nothing running.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use rustix::process::Signal;
use serde_json::Value;
use support::{Finished, Shell, Watched, live, prony, write};

const BUILD: &str = "mysql-8.0.31";

/// `prony load` with these arguments, begun.
fn begin(folder: &Path, arguments: &[&str]) -> Watched {
    let arguments: Vec<&str> = ["load"].iter().chain(arguments).copied().collect();
    Watched::start(prony(folder, &arguments))
}

/// Some of the work, and the summary as JSON.
const POINTS: [&str; 8] = [
    "--workload",
    "point-query",
    "--rows",
    "1000",
    "--clients",
    "2",
    "--format",
    "json",
];

/// `prony load` against a throw-away server, begun.
fn begin_own(folder: &Path, arguments: &[&str]) -> Watched {
    let arguments: Vec<&str> = ["--build", BUILD]
        .iter()
        .chain(&POINTS)
        .chain(arguments)
        .copied()
        .collect();
    begin(folder, &arguments)
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap()
}

/// The number at a path such as `/figures/operations`.
#[track_caller]
fn number(summary: &Value, path: &str) -> u64 {
    let value = summary.pointer(path).and_then(Value::as_u64);
    value.unwrap_or_else(|| panic!("no number at {path}: {summary:#}"))
}

/// The sum of a field over a list of objects.
#[track_caller]
fn sum(list: &Value, field: &str) -> u64 {
    let values = list.as_array().unwrap().iter();
    values.map(|entry| entry[field].as_u64().unwrap()).sum()
}

/// The histograms of a log, added up.
fn log_sum(path: &Path) -> Histogram<u64> {
    let bytes = std::fs::read(path).unwrap();
    let mut all = Histogram::<u64>::new(3).unwrap();
    for entry in IntervalLogIterator::new(&bytes) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let encoded = STANDARD.decode(interval.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> = Deserializer::new()
                .deserialize(&mut encoded.as_slice())
                .unwrap();
            all.add(&histogram).unwrap();
        }
    }
    all
}

#[test]
fn a_throw_away_server_is_loaded_and_every_figure_agrees() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        ["--time", "1s"],
        ["--threads", "2"],
        ["--interval", "200ms"],
        ["--hdr-log", "x.hlog"],
    ];
    let finished = begin_own(folder.path(), arguments.as_flattened())
        .end()
        .exits(0);
    let finished = finished.says(&["2 clients on 2 threads", "operations/s", "p99"]);
    let summary = json(&finished);
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["server"]["build"], BUILD);
    assert_eq!(summary["server"]["version"], "8.0.31");
    let operations = number(&summary, "/figures/operations");
    assert!(operations > 0);
    assert_eq!(sum(&summary["intervals"], "operations"), operations);
    assert_eq!(number(&summary, "/figures/service_us/count"), operations);
    assert_eq!(
        sum(&summary["figures"]["statements"], "count"),
        number(&summary, "/figures/queries")
    );
    let server_us = summary["figures"]["server_cpu_us_per_query"].as_f64();
    assert!(server_us.is_some_and(|us| us > 0.0));
    assert_eq!(sum(&summary["figures"]["statements"], "unexpected"), 0);
    let logged = log_sum(&folder.path().join("x.hlog"));
    assert_eq!(logged.len(), operations);
    let times = &summary["figures"]["service_us"];
    for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("max", 1.0)] {
        let us = logged.value_at_quantile(quantile) as f64 / 1e3;
        assert_eq!(times[name].as_f64(), Some(us), "{name}");
    }
}

#[test]
fn a_rate_has_a_schedule_and_its_response_times() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--time", "1s", "--rate", "300", "--arrivals", "regular"];
    let finished = begin_own(folder.path(), &arguments).end().exits(0);
    let finished = finished.says(&["response p99", "backlog"]);
    let summary = json(&finished);
    let planned = number(&summary, "/figures/schedule/planned");
    assert_eq!(planned, 300);
    let operations = number(&summary, "/figures/operations");
    assert_eq!(
        operations + number(&summary, "/figures/schedule/left"),
        planned
    );
    assert_eq!(number(&summary, "/figures/response_us/count"), operations);
    assert_eq!(summary["work"]["arrivals"], "regular");
}

#[test]
fn clients_think_and_connect_anew() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let usual = ["--operations", "300", "--reconnect-every", "50"];
    let unencrypted = ["--think", "200us", "--protocol", "text"];
    let encrypted = ["--think", "200us", "--set", "tls=true"];
    for more in [unencrypted, encrypted] {
        let arguments = [&usual[..], &more].concat();
        let summary = json(&begin_own(folder.path(), &arguments).end().exits(0));
        assert_eq!(number(&summary, "/figures/operations"), 300);
        assert_eq!(number(&summary, "/figures/response_us/count"), 300);
        assert_eq!(summary["work"]["think_us"], 200);
        let statements = summary["figures"]["statements"].as_array().unwrap();
        let connect = statements.iter().find(|one| one["name"] == "connect");
        // Two clients of 150 operations each; nobody has to after the last one.
        assert_eq!(connect.unwrap()["count"], 4);
    }
}

#[test]
fn a_load_that_is_interrupted_tells_what_it_measured() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--time", "10m", "--interval", "100ms"];
    let load = begin_own(folder.path(), &arguments);
    load.wait_for_words("operations/s");
    load.signal(Signal::INT);
    let finished = load.end().exits(130);
    let finished = finished.says(&["interrupted; the server has been removed"]);
    let summary = json(&finished);
    assert_eq!(summary["complete"], false);
    let operations = number(&summary, "/figures/operations");
    assert!(operations > 0);
    assert_eq!(sum(&summary["intervals"], "operations"), operations);
    assert_eq!(number(&summary, "/figures/service_us/count"), operations);
}

#[test]
fn a_server_that_runs_already_keeps_its_tables_until_they_are_to_be_filled() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::start(folder.path(), BUILD);
    let address = format!("unix:{}", shell.socket.display());
    let account = [
        "--address",
        &address,
        "--user",
        "prony",
        "--operations",
        "500",
    ];
    let load = |more: &[&str]| {
        let arguments: Vec<&str> = account.iter().chain(&POINTS).chain(more).copied().collect();
        begin(folder.path(), &arguments).end()
    };
    let password = ["--password-file", shell.password.to_str().unwrap()];
    load(&password).exits(4).says(&["sbtest1", "--fill"]);
    let filling = [password[0], password[1], "--fill"];
    let filled = load(&filling).exits(0).says(&["loading the dataset"]);
    assert_eq!(number(&json(&filled), "/figures/operations"), 500);
    let again = load(&password).exits(0);
    assert!(!again.stderr.contains("loading the dataset"));
    let summary = json(&again);
    assert_eq!(summary["server"]["build"], Value::Null);
    assert_eq!(sum(&summary["figures"]["statements"], "rows"), 500);
    let secret = std::fs::read_to_string(&shell.password).unwrap();
    assert!(!again.stdout.contains(secret.trim()) && !again.stderr.contains(secret.trim()));
    write(folder.path(), "wrong", "not the password\n");
    load(&["--password-file", "wrong"])
        .exits(4)
        .says(&["Access denied"]);
    shell.stop();
}
