//! Placements of real servers: after a run, the processors that the kernel named for every thread are
//! those of the plan.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;

use prony_model::{CpuSet, PlacementReading, PlacementRule, Plan, ThreadsOn};
use prony_store::Store;
use support::{finish, live, only_run, prony, write};

/// One of each kind of server: threads that are processes, a main thread that accepts over the
/// years, threads that InnoDB makes and ends as it likes.
const BUILDS: [&str; 7] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.5.34",
    "mysql-5.7.29",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-11.8",
];

/// Steps that go from processors of their own to shared ones and back.
const STEPS: &str = r#"
[dataset]
tables = 1
rows = 1000

[defaults]
config = { buffer_pool = "32M" }

[sequence]
warmup = "100ms"
time = "300ms"

[[step]]
workload = "point-query"
clients = [1, 2, 5, 16]
placement = "together"

[[step]]
name = "apart"
workload = "update-index"
clients = [4]
placement = "apart"

[[step]]
name = "again"
workload = "point-query"
placement = "together"

[[step]]
name = "reconnect"
workload = "point-query"
reconnect_every = 10
placement = { sessions = "0" }

[[step]]
name = "free"
workload = "point-query"
placement = "free"
"#;

fn experiment(builds: &[&str]) -> String {
    let targets = builds
        .iter()
        .map(|build| format!("[[target]]\nbuild = \"{build}\"\n"));
    let targets: String = targets.collect();
    let base = builds[0];
    format!("name = \"placed\"\nbase = \"{base}\"\nblocks = 1\n{STEPS}\n{targets}")
}

/// Checks that all threads are where they should be, and gives back their number.
#[track_caller]
fn on(what: &str, threads: &[ThreadsOn], cpus: Option<&CpuSet>, all: &CpuSet) -> u32 {
    let cpus = cpus.unwrap_or(all);
    for group in threads {
        assert_eq!(group.cpus, *cpus, "{what}: {threads:?}");
    }
    threads.iter().map(|group| group.threads).sum()
}

/// The same of sessions, or of threads of the generator: where these are paired, they may have one of
/// the processors.
#[track_caller]
fn on_shared(
    what: &str,
    reading: &PlacementReading,
    threads: &[ThreadsOn],
    cpus: Option<&CpuSet>,
    all: &CpuSet,
) -> u32 {
    if !reading.placement.paired {
        return on(what, threads, cpus, all);
    }
    let shared = cpus.unwrap();
    for group in threads {
        let own = group.cpus.cpus();
        let has_one = own.len() == 1 && shared.cpus().contains(&own[0]);
        assert!(has_one || group.cpus == *shared, "{what}: {threads:?}");
    }
    threads.iter().map(|group| group.threads).sum()
}

/// Checks that each thread of the generator has a processor with as many sessions as it has clients.
#[track_caller]
fn check_pairs(what: &str, reading: &PlacementReading, clients: u32) {
    let shared = reading.placement.processors.sessions.as_ref().unwrap();
    let on = |threads: &[ThreadsOn], cpu: u16| -> u32 {
        let alone = threads.iter().filter(|on| on.cpus.cpus() == [cpu]);
        alone.map(|on| on.threads).sum()
    };
    let count = u32::try_from(shared.cpus().len()).unwrap();
    for (thread, cpu) in (0..).zip(shared.cpus()) {
        let of_thread = clients / count + u32::from(thread < clients % count);
        assert_eq!(on(&reading.generator, *cpu), 1, "{what}: {reading:?}");
        assert_eq!(
            on(&reading.sessions, *cpu),
            of_thread,
            "{what}: {reading:?}"
        );
    }
}

/// Checks one reading, and gives back the number of background threads.
fn check(build: &str, plan: &Plan, step: usize, reading: &PlacementReading, all: &CpuSet) -> u32 {
    let step = &plan.steps[step];
    let what = format!("{build} {} {}", step.name, step.own().clients);
    println!("{what}: {reading:?}");
    let processors = &reading.placement.processors;
    let sessions = on_shared(
        &what,
        reading,
        &reading.sessions,
        processors.sessions.as_ref(),
        all,
    );
    let background = processors.background.as_ref();
    let background = on(&what, &reading.background, background, all);
    let generator = on_shared(
        &what,
        reading,
        &reading.generator,
        processors.generator.as_ref(),
        all,
    );
    if reading.placement.paired {
        check_pairs(&what, reading, step.own().clients);
    }
    // The acceptor, where threads are processes the manager too, the clients, the connection that
    // asks for the status, and threads that wait for the next connection, up to 16 of them.
    let least = 1 + step.own().clients;
    assert!((least..26).contains(&sessions), "{what}: {sessions}");
    assert!(background > 0 && generator > 0, "{what}");
    background
}

fn check_run(run: &Path, builds: &[&str]) {
    let all = prony_host::usable_cpus().unwrap();
    let store = Store::open_read_only(&run.join("run.sqlite")).unwrap();
    let rows = store.placements().unwrap();
    let plan = store.plan();
    assert_eq!(rows.len(), builds.len() * plan.steps.len());
    for (target, build) in builds.iter().enumerate() {
        let of_target = rows.iter().filter(|row| row.planned.target == target);
        let background: Vec<u32> = of_target
            .clone()
            .map(|row| check(build, plan, row.step, &row.reading, &all))
            .collect();
        // Sessions are not taken for others, nor others for sessions, whatever came in between.
        let (least, most) = (background.iter().min(), background.iter().max());
        let grown = most.unwrap() - least.unwrap();
        assert!(grown <= 8, "{build}: {background:?}");
        for row in of_target {
            let placement = &row.reading.placement;
            let processors = &placement.processors;
            let several = all.cpus().len() > 1;
            if several && placement.rule == PlacementRule::Together {
                assert_eq!(processors.sessions, processors.generator);
                let clients = plan.steps[row.step].own().clients;
                assert_eq!(placement.paired, clients > 1);
            }
            if several && placement.rule == PlacementRule::Apart {
                assert_ne!(processors.sessions, processors.generator);
            }
        }
    }
}

#[test]
fn threads_are_on_the_processors_of_the_plan() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "placed.toml", &experiment(&BUILDS));
    finish(prony(folder.path(), &["run", "placed.toml"])).exits(0);
    check_run(&only_run(folder.path()), &BUILDS);
}

/// Each session is a process, and so is everything else.
#[test]
fn processes_are_on_the_processors_of_the_plan() {
    if !live() {
        return;
    }
    let builds = ["postgresql-11.22", "postgresql-18.6"];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "placed.toml", &experiment(&builds));
    finish(prony(folder.path(), &["run", "placed.toml"])).exits(0);
    check_run(&only_run(folder.path()), &builds);
}
