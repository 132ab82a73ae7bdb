//! Running a job.

use std::io::Write;

use crate::message::Speaker;
use crate::{Job, LoadError, Task};

/// Runs a job to its end and writes what happens to `out`, one JSON line for each
/// [`Message`](crate::Message). `Failed` is left to the caller, who has the error.
///
/// # Errors
/// When the job makes no sense, the server refuses what it should do, goes away or hangs, rows
/// are not as they should be, or nobody reads `out`.
pub fn run(job: &Job, out: &mut (dyn Write + Send)) -> Result<(), LoadError> {
    let mut speaker = Speaker::new(out);
    match &job.task {
        Task::Fill(task) => crate::fill::fill(job, task, &mut speaker),
        Task::Drive(task) => crate::drive::drive(job, task, &mut speaker),
        Task::Check(task) => crate::check::check(job, task, &mut speaker),
    }
}
