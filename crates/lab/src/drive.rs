//! Running one job of the load generator while watching the server it loads.

use std::thread;
use std::time::{Duration, Instant};

use prony_load::{Job, Message, Task};
use prony_model::CpuSet;

use crate::fault::Fault;
use crate::generator::{Generator, Next};
use crate::lab::Lab;
use crate::server::Server;

/// How often a quiet generator is given up for a look at the server and at the user's wishes.
const LOOK: Duration = Duration::from_millis(100);
/// How long a server whose connections broke is given to show that it died.
const DYING: Duration = Duration::from_secs(1);
/// Lines of the server's log that explain a failure.
pub(crate) const LOG_LINES: usize = 40;

/// Runs `task` to its end, on the processors `cpus` if not on all. `on_message` sees every message
/// and returns what ends the job. A generator that holds goes on when it has seen `Ready`, and closes
/// its connections when it has seen `MeasureEnd`: what it reads meanwhile belongs to no statement, and
/// finds all of the load's connections.
pub(crate) fn drive<T>(
    lab: &Lab<'_>,
    server: &mut Server,
    cpus: Option<&CpuSet>,
    task: Task,
    on_message: &mut dyn FnMut(Message) -> Result<Option<T>, Fault>,
) -> Result<T, Fault> {
    // Filling is no load to be measured: it goes the administrator's way, who may change more.
    let (address, login) = if matches!(task, Task::Fill(_)) {
        server.admin()
    } else {
        (server.address(), server.login())
    };
    let holds = matches!(&task, Task::Drive(task) if task.hold);
    let job = Job {
        address,
        user: login.user,
        password: login.password,
        tls: login.tls,
        database: server.database().to_owned(),
        task,
    };
    let mut generator = Generator::start(lab.launcher, lab.generator_command(cpus), &job)
        .map_err(|error| Fault::failed(error.to_string()))?;
    loop {
        match generator.next(LOOK) {
            Next::Message(Message::Failed { reason }) => return Err(explain(server, &reason)),
            Next::Message(message) => {
                let edge = matches!(message, Message::Ready | Message::MeasureEnd { .. });
                if let Some(end) = on_message(message)? {
                    return Ok(end);
                }
                if holds && edge {
                    generator.release();
                }
            }
            Next::Ended(how) => {
                return Err(explain(
                    server,
                    &format!("the load generator ended early: {how}"),
                ));
            }
            Next::Quiet => {}
        }
        if lab.stop.requested() {
            return Err(Fault::Interrupted);
        }
        server
            .check()
            .map_err(|died| Fault::failed_with_log(died.to_string(), died.log_tail))?;
    }
}

/// What the load generator saw, led by the server's death where that is the cause: broken
/// connections are noticed before the process is.
pub(crate) fn explain(server: &mut Server, reason: &str) -> Fault {
    let begin = Instant::now();
    while begin.elapsed() < DYING {
        if let Err(died) = server.check() {
            return Fault::failed_with_log(format!("{died}; {reason}"), died.log_tail);
        }
        thread::sleep(LOOK);
    }
    Fault::failed_with_log(reason, server.log_tail())
}
