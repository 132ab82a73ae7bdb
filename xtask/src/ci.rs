//! The sequence of checks that decides whether a change may land.

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

/// Their files in two parts. The second runs after the tests of the crates, beside the first, so that both ends of the
/// work take about as long.
const MOST: &str = "--lib --bins --test [!l]* --test live_[!q-z]*";
const REST: &str = "--test live_[q-z]*";

/// Tests that compare small figures of two servers: nothing else runs beside them.
const ALONE: &str = "a_known_cost";

/// Runs the tests of the command beside those of the crates and the rest of its own: most tests of a long file wait for
/// a server to start or to stop. What the latter print follows when all have ended.
fn tests(live_tests: &str) -> Result<(), String> {
    let variables = [("PRONY_LIVE_TESTS", live_tests), ("RUST_TEST_THREADS", "2")];
    let command = |arguments: &str| {
        let mut command = cargo::command(arguments);
        command.envs(variables);
        command
    };
    let of_crates = command(&format!("{TESTS} --exclude prony --exclude prony-stats"));
    let rest = command(&format!("{OF_COMMAND} {REST}"));
    let others = thread::spawn(|| [of_crates, rest].map(|mut command| command.output()));
    let mut most = command(&format!("{OF_COMMAND} {MOST} -- --skip {ALONE}"));
    let mut result = cargo::run("tests of the command", &mut most);
    let others = others
        .join()
        .map_err(|_| "tests: failed to wait for them".to_owned())?;
    for output in others {
        let output = output.map_err(|error| format!("tests: failed to start cargo: {error}"))?;
        println!("{}", String::from_utf8_lossy(&output.stderr));
        println!("{}", String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            result = Err("tests failed, of the crates or the rest of the command's".to_owned());
        }
    }
    result?;
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
