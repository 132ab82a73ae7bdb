//! `prony generator`: the load generator.

use std::io;

use prony_load::{Job, Message};

use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Reads one job from standard input and runs it. A failed job is told as a message, for the
/// program that reads them, and as a failure, for people.
pub(crate) fn generator() -> Result<(), Failure> {
    let job: Job = serde_json::from_reader(io::stdin().lock()).map_err(|error| {
        Failure::to(
            ExitStatus::Usage,
            &format!("read the job from standard input: {error}"),
        )
        .with_hint("this command is for `prony run`; it takes one job as JSON")
    })?;
    prony_load::run(&job, &mut io::stdout()).map_err(|error| {
        let reason = error.to_string();
        let failure = Failure::to(ExitStatus::Server, &reason);
        // A reader that has gone does not miss it; the exit code tells the rest.
        if let Ok(line) = serde_json::to_string(&Message::Failed { reason }) {
            let _ = output::data(&format!("{line}\n"));
        }
        failure
    })
}
