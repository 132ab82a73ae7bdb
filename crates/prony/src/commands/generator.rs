//! `prony generator`: the load generator.

use std::io;

use prony_load::{LoadError, serve};

use crate::failure::{ExitStatus, Failure};

/// Runs one job, a line of standard input, and writes what happens to standard output. Its result
/// is both a message, for the program that reads them, and an exit code.
pub(crate) fn generator() -> Result<(), Failure> {
    serve(io::stdin(), io::stdout()).map_err(|error| match error {
        LoadError::NoJob { .. } => Failure::usage(error)
            .with_hint("this command is used by `prony run`; it reads one job as a line of JSON"),
        _ => Failure::to(ExitStatus::Server, &error),
    })
}
