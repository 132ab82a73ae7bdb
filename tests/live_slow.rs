//! A server that is slowed on purpose: the library is preloaded, its cost is found, and a plan whose
//! library has changed is refused.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use support::{finish, live, only_run, prony, whole_report, workspace, write};

/// One build twice, the second time with the library. Timed trials are short: they are needed, and
/// judge nothing where instructions are counted.
const EXPERIMENT: &str = r#"name = "slowed"
base = "plain"
blocks = 1
clients = [1]

[counting]
with = "COUNTER"
time = "30ms"

[dataset]
tables = 1
rows = 2000

[defaults]
config = { buffer_pool = "32M" }

[[target]]
build = "mysql-5.7.22"
name = "plain"

[[target]]
build = "mysql-5.7.22"
name = "slowed"
preload = ["slow.so"]

[sequence]
warmup = "100ms"
time = "500ms"

[[step]]
workload = "range-notcovered-pk"
"#;

/// The means of telling the servers apart, and the cost that it reads for each operation.
struct Means {
    /// Share of time that the library burns: small where instructions are counted, and large where
    /// only time tells, which differs by a tenth between equal servers.
    percent: f64,
    /// Means of counting in the experiment.
    counter: &'static str,
    /// Kind of the trials and name of the counters that are summed.
    kind: &'static str,
    counters: &'static str,
    /// Accepted costs of the slowed server, relative to the plain one.
    accepted: [f64; 2],
}

const INSTRUCTIONS: Means = Means {
    percent: 5.0,
    counter: "valgrind",
    kind: "counting",
    counters: "'instructions_user'",
    accepted: [1.03, 1.08],
};
const TIME: Means = Means {
    percent: 100.0,
    counter: "off",
    kind: "timed",
    counters: "'user_ns', 'system_ns'",
    accepted: [1.4, 2.7],
};

fn build_library(file: &Path, percent: f64) {
    let status = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .arg(file)
        .arg(format!("-DPERCENT={percent}"))
        .arg(workspace().join("tests/slow/slow.c"))
        .status();
    assert!(status.unwrap().success());
}

fn valgrind_is_here() -> bool {
    let found = Command::new("valgrind").arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

/// The cost of an operation of a target.
fn cost(database: &Connection, target: usize, means: &Means) -> f64 {
    let Means { kind, counters, .. } = means;
    let sql = format!(
        "SELECT sum(late.value - early.value) * 1.0 / operations
         FROM sample AS first
             JOIN sample AS last USING (trial_id, step_id)
             JOIN trial ON trial.id = first.trial_id
             JOIN group_outcome USING (trial_id, step_id)
             JOIN whole_sample_value AS early ON early.sample_id = first.id
             JOIN whole_sample_value AS late
                 ON late.sample_id = last.id AND late.counter_id = early.counter_id
             JOIN counter ON counter.id = early.counter_id
         WHERE first.moment = 'start' AND last.moment = 'end' AND kind = '{kind}'
             AND target_id = {target} AND counter.name IN ({counters})
             AND counter.source IN ('process', 'valgrind')"
    );
    database.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_slowed_server_costs_more_and_a_changed_library_is_refused() {
    if !live() {
        return;
    }
    let means = if valgrind_is_here() {
        INSTRUCTIONS
    } else {
        TIME
    };
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("slow.so");
    build_library(&library, means.percent);
    write(
        folder.path(),
        "slowed.toml",
        &EXPERIMENT.replace("COUNTER", means.counter),
    );
    finish(prony(folder.path(), &["run", "slowed.toml"])).exits(0);
    let report = whole_report(folder.path());
    assert!(report.contains("slow.so (sha256 "), "{report}");
    let run = only_run(folder.path());
    let database = Connection::open(run.join("run.sqlite")).unwrap();
    let ratio = cost(&database, 1, &means) / cost(&database, 0, &means);
    println!("{} %: {ratio}", means.percent);
    let [least, most] = means.accepted;
    assert!((least..most).contains(&ratio), "{ratio}");

    build_library(&library, 2.0);
    let append = ["run", "--append", run.to_str().unwrap()];
    finish(prony(folder.path(), &append)).exits(3).says(&[
        "prepare target `slowed`",
        "slow.so",
        "sha256",
        "start a new run",
    ]);
    std::fs::remove_file(&library).unwrap();
    finish(prony(folder.path(), &["plan", "slowed.toml"]))
        .exits(3)
        .says(&["a library can't be preloaded", "slow.so"]);
}
