//! Running a job.

use std::io::{BufRead, Write};

use crate::message::Speaker;
use crate::{Job, LoadError, Task};

/// Runs a job to its end and writes what happens to `out`, one JSON line for each
/// [`Message`](crate::Message). `Failed` is left to the caller, who has the error. From `input`, a
/// job that [holds](crate::DriveTask::hold) takes two lines, whatever they say: one to begin
/// measuring and one to close the connections, or to check what was filled, and before these one for each thread that has a
/// processor of its own; other jobs take nothing.
///
/// Where the job binds threads, the calling one stays on its processor.
///
/// # Errors
/// When the job makes no sense, the server refuses what it should do, goes away or hangs, rows
/// are not as they should be, nobody reads `out`, or a job that holds finds `input` at its end
/// before it could begin.
pub fn run(
    job: &Job,
    input: &mut (dyn BufRead + Send),
    out: &mut (dyn Write + Send),
) -> Result<(), LoadError> {
    run_job(job, &mut Speaker::new(input, out))
}

/// Runs a job to its end.
pub(crate) fn run_job(job: &Job, speaker: &mut Speaker<'_>) -> Result<(), LoadError> {
    match &job.task {
        Task::Fill(task) => crate::dataset::fill::fill(job, task, speaker),
        Task::Drive(task) => crate::drive::drive(job, task, speaker),
        Task::Check(task) => crate::check::check(job, task, speaker),
    }
}
