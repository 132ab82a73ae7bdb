//! Benchmarks of Prony itself. `cargo xtask bench-load`, `bench-inserts`, `bench-peers` and `bench-instructions` build
//! this program and `prony` with optimisation, and run it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first failure"
)]

mod bare;
mod inserts;
mod instructions;
mod job;
mod load;
mod peers;
mod pgbench;
mod spread;
mod sysbench;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use prony_host::Launcher;

#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    #[command(name = "bench-load")]
    Load(load::Options),
    #[command(name = "bench-peers")]
    Peers(peers::Options),
    #[command(name = "bench-inserts")]
    Inserts(inserts::Options),
    #[command(name = "bench-instructions")]
    Instructions(instructions::Options),
    /// Run point queries in a bare loop; the job is a line on standard input
    #[command(hide = true)]
    Bare { waiting: bare::Waiting },
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Load(options) => load::run(&options),
        Command::Peers(options) => peers::run(&options),
        Command::Inserts(options) => inserts::run(&options),
        Command::Instructions(options) => {
            instructions::run(&options);
            Ok(())
        }
        Command::Bare { waiting } => {
            bare::run(waiting);
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The binary `prony` of the same build.
fn prony() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("prony")
}

fn launcher() -> Launcher {
    Launcher::new(prony()).unwrap()
}
