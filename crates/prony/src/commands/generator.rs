//! `prony generator`: the load generator.

use std::io::{self, BufRead, BufReader};

use prony_load::{Job, Message};

use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Reads one job, a line of standard input, and runs it; what follows on the input is the job's. A
/// failed job is told as a message, for the program that reads them, and as a failure, for people.
pub(crate) fn generator() -> Result<(), Failure> {
    let mut input = BufReader::new(io::stdin());
    let job = read_job(&mut input)?;
    prony_load::run(&job, &mut input, &mut io::stdout()).map_err(|error| {
        let reason = error.to_string();
        let failure = Failure::to(ExitStatus::Server, &reason);
        // A reader that has gone does not miss it; the exit code tells the rest.
        if let Ok(line) = serde_json::to_string(&Message::Failed { reason }) {
            let _ = output::data(&format!("{line}\n"));
        }
        failure
    })
}

fn read_job(input: &mut dyn BufRead) -> Result<Job, Failure> {
    let mut line = String::new();
    let job = match input.read_line(&mut line) {
        Ok(_) => serde_json::from_str(&line).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    job.map_err(|error| {
        let failure = format!("read the job from standard input: {error}");
        Failure::to(ExitStatus::Usage, &failure)
            .with_hint("this command is for `prony run`; it takes one job as a line of JSON")
    })
}
