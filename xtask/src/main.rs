//! Developer commands. `cargo xtask ci` runs exactly what CI runs, cheapest first.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command for developers; talking to them is its purpose"
)]

mod bench;
mod cargo;
mod ci;
mod layers;
mod page;
mod settings;
mod slow;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci                    everything that CI runs: format, tidy, lints, documentation, all tests
  quick                 the same without the tests that start real servers
  tidy                  sizes, names, links, causes, comments, circles, layers; --all: exempt code too
  settings              write docs/settings.md again, from real servers
  slow                  build a library that slows a server by a percentage; --percent P [--out FILE]
  page                  write pictures of the tests' page to target/pages, or PAGE.html OUT.png
  bench-load            fill tables alternately with sysbench's prepare and Prony; options: --help
  bench-inserts         insert rows alternately with sysbench's bulk_insert and Prony; options: --help
  bench-peers           compare costs of point queries: sysbench, Prony, bare loops; options: --help
  bench-instructions    count instructions that Prony executes for a point query; options: --help
  record-conversations  write crates/wire/tests/conversations again, from real servers
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("ci") => ci::run(ci::Live::Yes),
        Some("quick") => ci::run(ci::Live::No),
        Some("tidy") => tidy(std::env::args().skip(2)),
        Some("settings") => settings::write(&workspace_root()),
        Some("slow") => slow::build(&workspace_root(), std::env::args().skip(2)),
        Some("page") => page::pictures(&workspace_root(), std::env::args().skip(2)),
        Some(name @ ("bench-load" | "bench-inserts" | "bench-peers" | "bench-instructions")) => {
            bench::run(&workspace_root(), name, std::env::args().skip(2))
        }
        Some(name @ "record-conversations") => cargo::run(
            name,
            &mut cargo::command("run --package prony-client --example record_conversations"),
        ),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every check of the tree and reports all findings at once; with `--all`, also those in
/// code that is exempt.
fn tidy(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let root = workspace_root();
    let report = tidy::check(&root)?;
    println!("tidy: {}", report.openings);
    println!("tidy: {} findings in exempt code", report.exempt.len());
    if arguments.any(|argument| argument == "--all") {
        println!("{}", report.exempt.join("\n"));
        println!(
            "tidy: most such comments\n{}",
            report.openings.worst().join("\n")
        );
    }
    let mut findings = report.findings;
    findings.extend(layers::check(&root)?);
    if findings.is_empty() {
        println!("tidy: nothing found");
        return Ok(());
    }
    Err(format!("tidy:\n{}", findings.join("\n")))
}

/// The folder of the workspace's `Cargo.toml`.
fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map_or_else(PathBuf::new, Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let report = tidy::check(&workspace_root()).unwrap();
        assert_eq!(report.findings, [""; 0]);
    }

    #[test]
    fn crates_depend_on_lower_layers_only() {
        assert_eq!(layers::check(&workspace_root()), Ok(vec![]));
    }
}
