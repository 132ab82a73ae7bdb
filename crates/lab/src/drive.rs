//! Running one job of the load generator while watching the server it loads.

mod generator;
mod task;

use std::time::Duration;

use prony_load::{Hello, Job, Message, Task};
use prony_model::CpuSet;

pub(crate) use self::generator::{Generator, Next};
pub(crate) use self::task::{GeneratorSetup, drive_task, sees_gaps, step_seed};
use crate::fault::{Fault, Stop};
use crate::lab::Lab;
use crate::server::Server;

/// Time between two looks at the server and at the wish to stop while the generator is quiet.
const POLL: Duration = Duration::from_millis(100);

/// Runs `task` to its end, on the processors `cpus` if not on all. `on_message` sees every message
/// with the process id of the generator, and returns what ends the job. A generator that holds goes
/// on when it has seen `Connecting`, where its threads are bound `Connected`, and `Ready`, and closes
/// its connections when it has seen `MeasureEnd`: what it reads meanwhile belongs to no statement, and finds all of the connections
/// that the load has then.
pub(crate) fn drive<T>(
    lab: &Lab<'_>,
    server: &mut Server,
    cpus: Option<&CpuSet>,
    task: Task,
    on_message: &mut dyn FnMut(Message, u32) -> Result<Option<T>, Fault>,
) -> Result<T, Fault> {
    // Filling goes the administrator's way, who may change more, also where it is measured: the
    // transport of a target is that of its statements.
    let (address, login) = if matches!(task, Task::Fill(_)) {
        server.admin()
    } else {
        (server.address(), server.login())
    };
    let holds = match &task {
        Task::Drive(task) => task.hold,
        Task::Fill(task) => task.hold,
        Task::Check(_) => false,
    };
    let is_bound = matches!(&task, Task::Drive(task) if !task.thread_cpus.is_empty());
    let job = Job {
        address,
        user: login.user,
        password: login.password,
        tls: login.tls,
        database: server.database().to_owned(),
        task,
    };
    let mut generator = Generator::start(lab.launcher, &lab.prony, cpus, &job)
        .map_err(|error| Fault::failed(format!("failed to {error}")))?;
    loop {
        match generator.next(POLL) {
            Next::Message(Message::Failed { reason }) => return Err(server.lost(&reason)),
            Next::Message(message) => {
                let waits = match message {
                    Message::Connecting { .. } | Message::Ready | Message::MeasureEnd { .. } => {
                        true
                    }
                    Message::Connected { .. } => is_bound,
                    _ => false,
                };
                if let Some(end) = on_message(message, generator.id())? {
                    return Ok(end);
                }
                if holds && waits {
                    generator.release();
                }
            }
            Next::Ended(how) => {
                return Err(server.lost(&format!("the load generator ended early: {how}")));
            }
            Next::Quiet => {}
        }
        if lab.stop.requested() {
            return Err(Stop::Interrupted.into());
        }
        server
            .check()
            .map_err(|died| Fault::failed_with_log(died.to_string(), died.log_tail))?;
    }
}

/// Asks the load generator what its host has.
pub(crate) fn generator_host(lab: &Lab<'_>) -> Result<Hello, Stop> {
    Generator::ask(lab.launcher, &lab.prony).map_err(|error| Stop::after(error.into(), lab.stop))
}
