//! The sequence of checks that decides whether a change may land.

use std::num::NonZero;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Instant;

/// The choice to run the tests that start real servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    /// They run, and a server that can't be had is a failure.
    Yes,
    /// They print that they were left out.
    No,
}

/// Runs the checks, cheapest first, and stops at the first that fails.
pub(crate) fn run(live: Live) -> Result<(), String> {
    step("format", cargo(&["fmt", "--all", "--", "--check"]))?;
    step("tidy", cargo(&["test", "--quiet", "--package", "xtask"]))?;
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    step("lints", cargo(&lints))?;
    let mut documentation = cargo(&[
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    documentation.env("RUSTDOCFLAGS", "--deny warnings");
    step("documentation", documentation)?;
    let mut tests = cargo(&[
        "test",
        "--workspace",
        "--exclude",
        "xtask",
        "--no-fail-fast",
    ]);
    match live {
        // Servers and tests wait for each other, and leave half of the processors idle.
        Live::Yes => {
            let processors = available_parallelism().map_or(1, NonZero::get);
            tests.env("RUST_TEST_THREADS", (2 * processors).to_string());
            tests.env("PRONY_LIVE_TESTS", "require");
        }
        Live::No => {
            tests.env("PRONY_LIVE_TESTS", "skip");
        }
    }
    step("tests", tests)
}

/// Runs the benchmark of filling, which is one of the load generator's: it starts servers with the
/// project's own crates, which this command is built without.
pub(crate) fn bench_load(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut bench = cargo(&["bench", "--package", "prony-load", "--bench", "fill", "--"]);
    bench.args(arguments);
    step("bench-load", bench)
}

/// Records what real servers say.
pub(crate) fn record_conversations() -> Result<(), String> {
    let arguments = [
        "run",
        "--package",
        "prony-client",
        "--example",
        "record_conversations",
    ];
    step("record-conversations", cargo(&arguments))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

fn step(name: &str, mut command: Command) -> Result<(), String> {
    println!("==> {name}");
    let begin = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("{name}: start cargo: {error}"))?;
    println!(
        "==> {name}: {status} after {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name} failed: {command:?}"))
    }
}
