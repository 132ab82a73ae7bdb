//! The sequence of checks that decides whether a change may land.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use crate::cargo;

/// The choice to run the tests that start real servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    /// They run, and an unavailable server is a failure.
    Yes,
    /// They are skipped, and print that.
    No,
}

/// Runs the checks, cheapest first, and stops at the first that fails.
pub(crate) fn run(live: Live) -> Result<(), String> {
    step("format", "fmt --all -- --check", &[])?;
    step("tidy", "test --quiet --package xtask", &[])?;
    let lints = "clippy --workspace --all-targets -- --deny warnings";
    step("lints", lints, &[])?;
    let documentation = "doc --workspace --no-deps --document-private-items";
    step(
        "documentation",
        documentation,
        &[("RUSTDOCFLAGS", "--deny warnings")],
    )?;
    let live_tests = match live {
        Live::Yes => "require",
        Live::No => "skip",
    };
    step("tests, building", &format!("{TESTS} --no-run"), &[])?;
    timed("tests", || tests(live_tests))
}

/// All tests but those of this program.
const TESTS: &str = "test --workspace --exclude xtask --no-fail-fast";

/// The tests of the command. The crate `stats` comes with it: with its test dependencies they have the features of the
/// whole, so that nothing is built twice.
const OF_COMMAND: &str = "test --package prony --package prony-stats --no-fail-fast";

/// Tests that compare small figures of two servers: nothing else runs beside them.
const ALONE: &str = "a_known_cost";

/// Runs the tests of the crates beside those of the command: most tests of a long file wait for a server to start or
/// to stop. What the former print follows when all have ended.
fn tests(live_tests: &str) -> Result<(), String> {
    let variables = [("PRONY_LIVE_TESTS", live_tests), ("RUST_TEST_THREADS", "2")];
    let command = |arguments: &str| {
        let mut command = cargo::command(arguments);
        command.envs(variables);
        command
    };
    let of_crates = command(&format!("{TESTS} --exclude prony --exclude prony-stats"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("tests: failed to start cargo: {error}"))?;
    let of_crates = thread::spawn(|| of_crates.wait_with_output());
    let of_command = cargo::run(
        "tests of the command",
        &mut command(&format!("{OF_COMMAND} -- --skip {ALONE}")),
    );
    let of_crates = of_crates
        .join()
        .map_err(|_| "tests: failed to wait for them".to_owned())?;
    let of_crates =
        of_crates.map_err(|error| format!("tests: failed to wait for them: {error}"))?;
    println!("{}", String::from_utf8_lossy(&of_crates.stderr));
    println!("{}", String::from_utf8_lossy(&of_crates.stdout));
    if !of_crates.status.success() {
        return Err("tests of the crates failed".to_owned());
    }
    of_command?;
    let mut alone = command(&format!("{OF_COMMAND} --test live_explain {ALONE}"));
    cargo::run("tests that run alone", alone.env("RUST_TEST_THREADS", "1"))
}

/// Runs cargo with environment variables and reports the time that it took.
fn step(name: &str, arguments: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    timed(name, || {
        cargo::run(
            name,
            cargo::command(arguments).envs(variables.iter().copied()),
        )
    })
}

/// Does a part and reports the time that it took.
fn timed(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("==> {name}");
    let begin = Instant::now();
    let result = work();
    println!("==> {name}: {:.0} s", begin.elapsed().as_secs_f64());
    result
}
