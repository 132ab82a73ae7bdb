//! Explaining real servers: a known cost is found in its function by counts and by samples, sums agree, two starts
//! of one server differ by nothing, and a counting trial that hangs is left at once.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use support::{
    Watched, children_of, finish, live_with, only_run, prony, send, wait_for, workspace, write,
};

/// Builds with functions of the C library in another place, and with hidden functions.
const BUILDS: [&str; 3] = ["mysql-5.0.21", "mysql-5.7.22", "mariadb-10.11"];
/// Instructions that the library adds to a query, in its function.
const COST: f64 = 2_000.0;
/// Components in which a server does less if the next statement is there when it looks for it, and more if
/// it has to wait.
const DEPENDS_ON_TIME: [&str; 3] = ["network", "system call stubs", "C library, other"];
/// Operations of a counting trial. It warms up with half of them, in which InnoDB builds its adaptive hash index.
const OPERATIONS: u32 = 2_000;

/// The build that the others are compared with, twice as it is.
const BASE: &str = "mysql-5.7.22";
const TWIN: &str = "once-more";

/// Each build with the library, and one without.
fn experiment() -> String {
    let mut targets = format!(
        "[[target]]\nbuild = \"{BASE}\"\nname = \"{BASE}\"\n\n\
         [[target]]\nbuild = \"{BASE}\"\nname = \"{TWIN}\"\n\n"
    );
    targets.extend(BUILDS.map(dearer));
    format!(
        "name = \"dearer\"\nbase = \"{BASE}\"\nblocks = 1\nclients = [1]\n\n\
         [counting]\nwith = \"valgrind\"\noperations = {OPERATIONS}\n\n\
         [dataset]\ntables = 1\nrows = 500\n\n\
         [defaults]\nconfig = {{ buffer_pool = \"32M\" }}\n\n\
         [sequence]\nwarmup = \"50ms\"\ntime = \"200ms\"\n\n{targets}\
         [[step]]\nworkload = \"point-query\"\n"
    )
}

/// The target of a build with the library.
fn dearer(build: &str) -> String {
    let library = library(build);
    format!(
        "[[target]]\nbuild = \"{build}\"\nname = \"{build}-dearer\"\npreload = [\"{library}.so\"]\n\n"
    )
}

/// The library for a build: 5.0.21 runs in 32 bits.
fn library(build: &str) -> &'static str {
    match build {
        "mysql-5.0.21" => "known_cost_32",
        _ => "known_cost",
    }
}

/// Libraries whose function runs so many rounds of two instructions.
fn build_libraries(folder: &Path, rounds: u32) {
    for (name, bits) in [("known_cost", "-m64"), ("known_cost_32", "-m32")] {
        // Nothing to link with for 32 bits need be installed: the server brings its C library.
        let status = Command::new("cc")
            .args([
                "-O2",
                "-shared",
                "-fPIC",
                "-nostdlib",
                "-fno-stack-protector",
                "-fno-builtin",
                bits,
                &format!("-DROUNDS={rounds}"),
                "-o",
            ])
            .arg(folder.join(format!("{name}.so")))
            .arg(workspace().join("tests/explain/known_cost.c"))
            .status();
        assert!(status.unwrap().success(), "{name}");
    }
}

fn explain(folder: &Path, arguments: &[&str]) -> Value {
    let run = only_run(folder);
    let mut all = vec!["explain", run.to_str().unwrap(), "--format", "json"];
    all.extend(arguments);
    let finished = finish(prony(folder, &all)).exits(0);
    serde_json::from_str(&finished.stdout).unwrap()
}

fn sum(rows: &Value, key: &str) -> f64 {
    let rows = rows.as_array().unwrap();
    rows.iter().map(|row| row[key].as_f64().unwrap()).sum()
}

#[test]
fn a_known_cost_is_found_in_its_function() {
    if !live_with(&["valgrind", "cc"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    build_libraries(folder, 999);
    write(folder, "dearer.toml", &experiment());
    finish(prony(folder, &["run", "dearer.toml"])).exits(0);
    for build in BUILDS {
        let dearer = format!("{build}-dearer");
        let arguments = ["--step", "point-query", "--target", &dearer, "--base", BASE];
        let compared = &explain(folder, &arguments)["comparisons"][0];
        let functions = compared["functions"].as_array().unwrap();
        let known = functions
            .iter()
            .find(|row| row["function"] == "prony_known_cost");
        assert_eq!(known.unwrap()["base_cost"], 0.0);
        let cost = known.unwrap()["target_cost"].as_f64().unwrap();
        assert!(
            (cost - COST).abs() <= COST * 0.01,
            "{build}: {cost} for {COST}"
        );
        for side in ["base_cost", "target_cost"] {
            let total = compared["total"][side].as_f64().unwrap();
            for rows in ["components", "functions"] {
                let sum = sum(&compared[rows], side);
                assert!(
                    (sum - total).abs() <= 0.5,
                    "{build}, {rows}: {sum} of {total}"
                );
            }
        }
        if build == BASE {
            // Besides, starts differ by some thousandths of the whole.
            let whole = compared["total"]["base_cost"].as_f64().unwrap();
            let grown = compared["total"]["difference"].as_f64().unwrap();
            assert!((grown - COST).abs() <= whole * 0.005, "{grown} for {COST}");
        }
        let run = only_run(folder);
        let explain = ["explain", run.to_str().unwrap()];
        let command = prony(folder, &[&explain[..], &arguments].concat());
        let text = finish(command).exits(0).stdout;
        assert!(text.contains("prony_known_cost"), "{text}");
    }
    twin_differs_by_nothing(folder);
    files_are_written(folder);
}

/// Another start of the base.
#[track_caller]
fn twin_differs_by_nothing(folder: &Path) {
    let arguments = ["--step", "point-query", "--target", TWIN, "--base", BASE];
    let compared = &explain(folder, &arguments)["comparisons"][0];
    let total = compared["total"]["base_cost"].as_f64().unwrap();
    for row in compared["components"].as_array().unwrap() {
        let difference = row["difference"].as_f64().unwrap().abs();
        assert!(difference <= total * 0.002, "{row}");
    }
    let functions = compared["functions"].as_array().unwrap();
    let differ = functions
        .iter()
        .filter(|row| row["difference"].as_f64().unwrap().abs() > 1.0)
        .filter(|row| {
            !DEPENDS_ON_TIME
                .iter()
                .any(|component| row["component"] == *component)
        });
    let differ = differ.count();
    println!(
        "{differ} of {} functions differ by more than an instruction",
        functions.len()
    );
    assert!(
        differ * 100 <= functions.len(),
        "{differ} of {}",
        functions.len()
    );
}

#[track_caller]
fn files_are_written(folder: &Path) {
    let dearer = format!("{BASE}-dearer");
    let files = ["--folded", "stacks.txt", "--flame", "flame.svg"];
    let cell = ["--step", "point-query", "--target", &dearer, "--base", BASE];
    explain(folder, &[&cell[..], &files[..]].concat());
    let stacks = std::fs::read_to_string(folder.join("stacks.txt")).unwrap();
    assert!(stacks.contains("dispatch_command"), "{stacks}");
    assert!(
        stacks.lines().all(|line| line.split(' ').count() >= 3),
        "{stacks}"
    );
    let graph = std::fs::read_to_string(folder.join("flame.svg")).unwrap();
    assert!(graph.contains("dispatch_command"), "{graph}");
}

/// Builds whose stacks are followed in different ways: by frame pointers, as 5.0.21 runs in 32 bits, and by tables;
/// and one that has a process for each session.
const SAMPLED: [&str; 3] = ["mysql-5.0.21", "mysql-8.0.31", "postgresql-15-deb"];

/// Rounds of the library's loop where it is to be found by samples: some ten microseconds.
const ROUNDS: u32 = 25_000;
/// The build that stands there without the library too.
const SAMPLED_BASE: &str = "mysql-8.0.31";

fn sampled_experiment() -> String {
    let mut targets =
        format!("[[target]]\nbuild = \"{SAMPLED_BASE}\"\nname = \"{SAMPLED_BASE}\"\n\n");
    targets.extend(SAMPLED.map(dearer));
    format!(
        "name = \"sampled\"\nbase = \"{SAMPLED_BASE}\"\nblocks = 1\nclients = [1]\n\n\
         [profiling]\ntime = \"3s\"\n\n\
         [dataset]\ntables = 1\nrows = 500\n\n\
         [defaults]\nconfig = {{ buffer_pool = \"32M\" }}\n\n\
         [sequence]\nwarmup = \"500ms\"\ntime = \"2s\"\n\n{targets}\
         [[step]]\nworkload = \"point-query\"\n"
    )
}

#[test]
fn a_known_cost_is_found_by_samples() {
    if !live_with(&["cc"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    build_libraries(folder, ROUNDS);
    write(folder, "sampled.toml", &sampled_experiment());
    finish(prony(folder, &["run", "sampled.toml"])).exits(0);
    for build in SAMPLED {
        let dearer = format!("{build}-dearer");
        let arguments = [
            "--step",
            "point-query",
            "--target",
            &dearer,
            "--base",
            SAMPLED_BASE,
        ];
        let compared = &explain(folder, &arguments)["comparisons"][0];
        let functions = compared["functions"].as_array().unwrap();
        let place = functions
            .iter()
            .position(|row| row["function"] == "prony_known_cost");
        let known = &functions[place.unwrap()];
        assert_eq!(known["significant"], true, "{build}: {known}");
        assert_eq!(known["base_cost"], 0.0, "{build}: {known}");
        if build == SAMPLED_BASE {
            assert_eq!(place, Some(0), "{}", functions[0]);
        }
        // No processor does a round in less than a cycle, and none has 7 GHz.
        let cost = known["target_cost"].as_f64().unwrap();
        assert!(cost > f64::from(ROUNDS) / 7.0, "{build}: {cost}");
        samples_agree(build, compared, known["target_cost"].as_f64().unwrap());
    }
}

/// Sums are the processor time of timed trials, and samples stand for about what the kernel accounts for.
#[track_caller]
fn samples_agree(build: &str, compared: &Value, known: f64) {
    let cost = |row: &Value| row["target_cost"].as_f64().unwrap();
    let total = cost(&compared["total"]);
    let components = sum(&compared["components"], "target_cost");
    assert!(
        (components - total).abs() <= total * 0.001,
        "{build}: {components} {total}"
    );
    let not_mapped = cost(&compared["not_mapped"]) - known;
    assert!(
        not_mapped <= total * 0.03,
        "{build}: {not_mapped} of {total} is not mapped"
    );
    let time = &compared["target"]["time_us"];
    let part = |name: &str| time[name].as_f64().unwrap() * 1e3;
    let timed = part("server_user_space") + part("server_kernel");
    let all = total + cost(&compared["other_threads"]);
    assert!(
        (all - timed).abs() <= timed * 0.05,
        "{build}: {all} {timed}"
    );
    let taking = &compared["target"]["sampling"][0];
    println!("{build}: {taking}");
    assert_eq!(taking["kernel"], true, "{build}: {taking}");
    let of = |name: &str| taking[name].as_f64().unwrap();
    // Frame pointers end in the C library, wherever this has none.
    let cut_most = if build == "mysql-5.0.21" { 0.5 } else { 0.01 };
    assert!(of("cut") <= of("whole") * cut_most, "{build}: {taking}");
    let ratio = of("stand_for_ns") / of("accounted_ns");
    // Others use this machine too, and then the clock is late.
    assert!((0.7..1.3).contains(&ratio), "{build}: {taking}");
}

/// A server in valgrind may never answer.
#[test]
fn a_counting_trial_that_hangs_is_left_at_once() {
    if !live_with(&["valgrind"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // A minute in valgrind.
    let only_one = experiment().replace(
        &format!("operations = {OPERATIONS}"),
        "operations = 100_000",
    );
    let (start, rest) = only_one.split_once("[[target]]").unwrap();
    let (_, steps) = rest.split_once("[[step]]").unwrap();
    let text = format!("{start}[[target]]\nbuild = \"{BASE}\"\n\n[[step]]{steps}");
    write(folder, "hangs.toml", &text);
    let run = Watched::start(prony(folder, &["run", "hangs.toml"]));
    let server = wait_for("a server in valgrind", Duration::from_mins(3), || {
        let mut children = children_of(run.id()).into_iter();
        children.find(|(_, command)| command.contains("callgrind") && command.contains("mysqld"))
    });
    // It answers, so that Prony waits for its answers; then it does not.
    std::thread::sleep(Duration::from_secs(8));
    send(server.0, Signal::STOP);
    std::thread::sleep(Duration::from_secs(1));
    let begin = Instant::now();
    run.signal(Signal::INT);
    run.end().exits(130);
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
}
