//! The sequence of checks that decides whether a change may land.

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
    let tests = "test --workspace --exclude xtask --no-fail-fast";
    // Most tests of a long file wait for a server to start or to stop.
    let variables = [("PRONY_LIVE_TESTS", live_tests), ("RUST_TEST_THREADS", "3")];
    step("tests", tests, &variables)
}

/// Runs cargo with environment variables and reports the time that it took.
fn step(name: &str, arguments: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    println!("==> {name}");
    let begin = Instant::now();
    let result = cargo::run(
        name,
        cargo::command(arguments).envs(variables.iter().copied()),
    );
    println!("==> {name}: {:.0} s", begin.elapsed().as_secs_f64());
    result
}
