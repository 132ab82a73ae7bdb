//! Running one job of the load generator while watching the server it loads.

mod generator;
mod task;

use std::fs;
use std::time::Duration;

use prony_load::{Hello, Job, Message, Task};
use prony_model::{CpuSet, Tls};

pub(crate) use self::generator::{Child, Generator, Line, Next, command};
pub(crate) use self::task::{GeneratorSetup, drive_task, sees_gaps, step_seed};
use crate::error::ClientHostError;
use crate::fault::{Fault, Stop};
use crate::lab::Lab;
use crate::server::Server;

/// Time between two looks at the server and at the wish to stop while the generator is quiet.
const POLL: Duration = Duration::from_millis(100);

/// A job of the load generator under way.
pub(crate) struct Drive<'l> {
    lab: &'l Lab<'l>,
    generator: Generator,
    /// The job waits for words to go on.
    holds: bool,
    /// Its threads are bound.
    is_bound: bool,
}

impl<'l> Drive<'l> {
    /// Starts the load generator with `task`, on the processors `cpus` if not on all. It runs on the client
    /// host where the server is loaded from there.
    pub(crate) fn start(
        lab: &'l Lab<'l>,
        server: &Server,
        cpus: Option<&CpuSet>,
        task: Task,
    ) -> Result<Self, Fault> {
        // Filling goes the administrator's way, also where it is measured: the transport of a target is
        // that of its statements.
        let is_filling = matches!(task, Task::Fill(_));
        let (address, login) = if is_filling {
            server.filler()
        } else {
            (server.address(), server.login())
        };
        let holds = match &task {
            Task::Drive(task) => task.hold,
            Task::Fill(task) => task.hold,
            Task::Check(_) => false,
        };
        let is_bound = matches!(&task, Task::Drive(task) if !task.thread_cpus.is_empty());
        let client_host = lab.client_host.filter(|_| server.is_far() && !is_filling);
        let tls = match client_host {
            Some(_) => handed_over(login.tls)?,
            None => login.tls,
        };
        let job = Job {
            family: login.family,
            address,
            user: login.user,
            password: login.password,
            tls,
            database: server.database().to_owned(),
            task,
        };
        let generator = match client_host {
            None => Generator::start(lab.launcher, &lab.prony, cpus, &job),
            Some(client_host) => {
                let session = client_host.session().map_err(|error| lost(lab, error))?;
                Generator::start_far(&session, client_host.setup().cpus.as_ref(), &job)
            }
        };
        let generator = generator.map_err(|error| Fault::failed(format!("failed to {error}")))?;
        Ok(Self {
            lab,
            generator,
            holds,
            is_bound,
        })
    }

    /// The generator's process id, where it runs on this host.
    pub(crate) fn id(&self) -> Option<u32> {
        self.generator.id()
    }

    /// Waits for the next message. A server or a generator that dies meanwhile is a fault, and so is
    /// the wish to stop.
    pub(crate) fn next(&mut self, server: &mut Server) -> Result<Message, Fault> {
        loop {
            let next = self.generator.next(POLL);
            if self.lab.stop.requested() {
                return Err(Stop::Interrupted.into());
            }
            match next {
                Next::Message(Message::Failed { reason }) => return Err(server.lost(&reason)),
                Next::Message(message) => return Ok(message),
                Next::Ended(how) => {
                    return Err(server.lost(&format!("the load generator ended early: {how}")));
                }
                Next::Quiet => server
                    .check()
                    .map_err(|died| Fault::failed_with_log(died.to_string(), died.log_tail))?,
            }
        }
    }

    /// Tells whether the generator waits for its [release](Self::release) after `message`.
    pub(crate) fn waits_after(&self, message: &Message) -> bool {
        let waits = match message {
            Message::Connecting { .. }
            | Message::Ready
            | Message::TurnEnd
            | Message::MeasureEnd { .. }
            | Message::StatisticsFlushed { .. } => true,
            Message::Connected { .. } => self.is_bound,
            _ => false,
        };
        self.holds && waits
    }

    /// Lets the generator go on.
    pub(crate) fn release(&mut self) {
        self.generator.release();
    }
}

/// A client host that is not to be had ends the run: no target is to blame.
pub(crate) fn lost(lab: &Lab<'_>, error: ClientHostError) -> Fault {
    Stop::after(error.into(), lab.stop).into()
}

/// The proof that a server must give to a client that does not have this host's files.
fn handed_over(tls: Tls) -> Result<Tls, Fault> {
    match tls {
        Tls::VerifyFull(path) => match fs::read_to_string(&path) {
            Ok(pem) => Ok(Tls::VerifyFullBy(pem)),
            Err(error) => Err(Fault::failed(format!(
                "failed to read {}: {error}",
                path.display()
            ))),
        },
        other => Ok(other),
    }
}

/// Runs `task` to its end. `on_message` sees every message, and returns what ends the job. A generator
/// that holds goes on when it has seen the message.
pub(crate) fn drive<T>(
    lab: &Lab<'_>,
    server: &mut Server,
    task: Task,
    on_message: &mut dyn FnMut(Message) -> Option<T>,
) -> Result<T, Fault> {
    let mut drive = Drive::start(lab, server, None, task)?;
    loop {
        let message = drive.next(server)?;
        let waits = drive.waits_after(&message);
        if let Some(end) = on_message(message) {
            return Ok(end);
        }
        if waits {
            drive.release();
        }
    }
}

/// Asks the load generator what its host has.
pub(crate) fn generator_host(lab: &Lab<'_>) -> Result<Hello, Stop> {
    Generator::ask(lab.launcher, &lab.prony).map_err(|error| Stop::after(error.into(), lab.stop))
}
