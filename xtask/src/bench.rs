//! Benchmarks of Prony itself. The package `prony-bench` measures and prints; this command, which is
//! built without the project's crates, builds it with optimisation.

use std::path::Path;
use std::process::Command;

use crate::cargo;

/// Feature of programs that callgrind simulates: it hides the kernel's page of clocks (vDSO), which
/// rustix would otherwise use unseen. System calls then go through the C library.
const CALLGRIND: &str = "--features rustix/use-libc";

/// Builds `prony` and the benchmarks, and runs one with its arguments.
pub(crate) fn run(
    root: &Path,
    name: &str,
    arguments: impl Iterator<Item = String>,
) -> Result<(), String> {
    let (features, counter): (_, &[_]) = match name {
        "bench-instructions" if has_counter() => ("", &["--counter", "perf"]),
        "bench-instructions" => (CALLGRIND, &["--counter", "callgrind"]),
        _ => ("", &[]),
    };
    let packages = format!("--release --package prony --package prony-bench {features}");
    let mut bench = Command::new(cargo::build(root, &packages)?.join("release/prony-bench"));
    bench.arg(name).args(counter).args(arguments);
    cargo::run(name, &mut bench)
}

/// Returns `true` if the processor's counter of instructions is readable.
fn has_counter() -> bool {
    Command::new("perf")
        .args(["stat", "-x,", "-e", "instructions:u", "true"])
        .output()
        .is_ok_and(|output| output.stderr.first().is_some_and(u8::is_ascii_digit))
}
