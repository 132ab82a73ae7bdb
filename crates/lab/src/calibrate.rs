//! What the load generator reaches on this host: it is driven against the null server, which costs
//! next to nothing.

mod kept;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use prony_load::{DriveTask, Job, Message, Task, choose_backend};
use prony_model::{
    Backend, CalibratedHost, Calibration, CalibrationCounts, ClosedPoint, Dataset, Length,
    OpenPoint, Pace, Protocol, Spacing, StepOutcome, StopFlag, Thousandths, Timing, Tls, Workload,
};
use prony_plan::{Invalid, embedded_workloads};
use prony_probe::{HostFacts, Root};
use prony_servers::{Launcher, Roots};
use rustix::process::{Resource, getrlimit};

use crate::generator::{Generator, Next};
use crate::null_server::NullServer;
use crate::trial::THREADS_MAX;

/// What is run: one row by its primary key.
const WORKLOAD: &str = "point-query";
/// The table that its keys are drawn for; there is none.
const DATASET: Dataset = Dataset::sbtest(1, 1_000_000, 1);
/// Operations per second of the open loop, far below what any host can do.
const RATE: Thousandths = Thousandths(10_000_000);
/// Clients of the open loop: one is idle whenever an operation is due.
const OPEN_CLIENTS: u32 = 8;
/// Milliseconds within which what is overdue at the end of the open loop is worked off.
const DRAIN_MS: u64 = 1_000;
/// Silence of the null server, in milliseconds, after which something is wrong.
const STALL_MS: u64 = 20_000;
/// How often a quiet generator is given up for a look at the user's wishes.
const LOOK: Duration = Duration::from_millis(100);
/// Files that a generator has open beside its connections, at most.
const OTHER_FILES: u64 = 64;
/// The version that is calibrated: all crates of Prony have the same.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What calibrating needs from the outside.
pub struct Calibrator<'a> {
    /// The cache, where the result is kept.
    pub roots: &'a Roots,
    /// Starts children that die with this process.
    pub launcher: &'a Launcher,
    /// The program that is load generator and null server: this one.
    pub prony: &'a Path,
    /// Where `/proc` is read.
    pub proc: &'a Root,
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationPoints {
    /// One after the other.
    pub backends: Vec<Backend>,
    /// Numbers of clients of the closed loops.
    pub clients: Vec<u32>,
    /// Milliseconds of measured time for each point, at least 1. A quarter of it before is warm-up.
    pub time_ms: u64,
}

/// What has just been measured.
#[derive(Debug, Clone, Copy)]
pub enum CalibrationEvent<'a> {
    /// A closed loop ended.
    Closed(&'a ClosedPoint),
    /// An open loop ended.
    Open(&'a OpenPoint),
}

/// Why a host can't be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The built-in workloads can't be read: a defect of this program.
    #[error("find the workload {WORKLOAD} that is built in: {reason}")]
    Workload {
        /// What is wrong.
        reason: String,
    },
    /// The null server does not run.
    #[error("start the null server: {reason}")]
    NullServer {
        /// What it said.
        reason: String,
    },
    /// The load generator failed, or the null server under it.
    #[error("drive {clients} clients against the null server by {backend}: {reason}")]
    Drive {
        /// What carried the connections' bytes.
        backend: Backend,
        /// Connections.
        clients: u32,
        /// What the generator said.
        reason: String,
    },
    /// The result can't be kept in the cache.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

pub use kept::KeepError;

impl CalibrationPoints {
    /// The numbers of clients that are measured where nobody wants others.
    pub const CLIENTS: [u32; 5] = [1, 8, 64, 512, 1000];

    /// Every backend that this host has, at the usual numbers of clients, as far as this process may
    /// have so many connections.
    pub fn usual(time_ms: u64) -> Self {
        let files = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let fits = |clients: &u32| u64::from(*clients) + OTHER_FILES <= files;
        Self {
            backends: available_backends(),
            clients: Self::CLIENTS.into_iter().filter(fits).collect(),
            time_ms,
        }
    }

    /// Milliseconds that it takes, warm-up included and connecting not.
    pub fn predicted_ms(&self) -> u64 {
        let points = self.backends.len() * (self.clients.len() + 1);
        (self.time_ms + warmup_ms(self.time_ms)) * points as u64
    }

    /// By backend: a closed loop for each number of clients, then the open loop.
    fn tasks(&self, workload: &Workload) -> Vec<DriveTask> {
        let of_backend = |&backend: &Backend| {
            let closed = self
                .clients
                .iter()
                .map(move |&clients| closed_loop(workload, backend, clients, self.time_ms));
            closed.chain([open_loop(workload, backend, self.time_ms)])
        };
        self.backends.iter().flat_map(of_backend).collect()
    }
}

/// The backends that this host has.
pub fn available_backends() -> Vec<Backend> {
    let has = |backend: &Backend| choose_backend(Some(*backend), false).is_ok();
    [Backend::Epoll, Backend::IoUring]
        .into_iter()
        .filter(has)
        .collect()
}

impl Calibrator<'_> {
    /// What was measured before of this version on this host, where the cache has it.
    pub fn recall(&self) -> Option<Calibration> {
        kept::recall(&self.roots.calibration(), VERSION, &self.host())
    }

    /// Measures, and keeps the result in the cache. `None` when the user stopped it.
    ///
    /// # Errors
    /// When null server or load generator can't do their work, or the result can't be written.
    pub fn calibrate(
        &self,
        points: &CalibrationPoints,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Option<Calibration>, CalibrationError> {
        let workload = point_query()?;
        let mut null = NullServer::start(self.roots, self.launcher, self.prony)
            .map_err(|reason| CalibrationError::NullServer { reason })?;
        let mut calibration = Calibration {
            prony_version: VERSION.to_owned(),
            host: self.host(),
            made_at_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0),
            closed: Vec::new(),
            open: Vec::new(),
        };
        for task in &points.tasks(&workload) {
            let Some((outcome, server_ns)) = self.drive(&mut null, task)? else {
                return Ok(None);
            };
            if task.pace.is_scheduled() {
                let point = open_point(task, &outcome, server_ns)?;
                events(CalibrationEvent::Open(&point));
                calibration.open.push(point);
            } else {
                let point = closed_point(task, &outcome, server_ns);
                events(CalibrationEvent::Closed(&point));
                calibration.closed.push(point);
            }
        }
        kept::keep(&self.roots.calibration(), &calibration)?;
        Ok(Some(calibration))
    }

    fn host(&self) -> CalibratedHost {
        let facts = HostFacts::read(self.proc);
        CalibratedHost {
            cpu_model: facts.cpu_model,
            cpus: facts.cpus,
            kernel: facts.kernel,
        }
    }

    /// Runs a task to its end. Returns what came out, and the processor time of the null server
    /// over the measured time; `None` when the user stopped it.
    fn drive(
        &self,
        null: &mut NullServer,
        task: &DriveTask,
    ) -> Result<Option<(StepOutcome, u64)>, CalibrationError> {
        let failed = |reason: String| drive_error(task, reason);
        let job = Job {
            address: null.address(),
            user: "prony".to_owned(),
            password: String::new(),
            tls: Tls::Off,
            database: "sbtest".to_owned(),
            task: Task::Drive(Box::new(task.clone())),
        };
        let mut command = self.launcher.command(self.prony);
        command.arg("generator");
        let mut generator = Generator::start(self.launcher, command, &job)
            .map_err(|error| failed(error.to_string()))?;
        let mut edges = Vec::new();
        loop {
            match generator.next(LOOK) {
                Next::Message(Message::MeasureStart { .. } | Message::MeasureEnd { .. }) => {
                    edges.push(null.cpu_ns(self.proc).map_err(failed)?);
                }
                Next::Message(Message::Done { outcome }) => {
                    return match edges[..] {
                        [start, end] => Ok(Some((*outcome, end.saturating_sub(start)))),
                        _ => Err(failed("it did not say when it measured".to_owned())),
                    };
                }
                Next::Message(Message::Failed { reason }) => {
                    return Err(failed(with_last_words(reason, null)));
                }
                Next::Ended(how) => {
                    let reason = format!("the load generator ended early: {how}");
                    return Err(failed(with_last_words(reason, null)));
                }
                Next::Message(_) | Next::Quiet => {}
            }
            if self.stop.requested() {
                return Ok(None);
            }
        }
    }
}

fn drive_error(task: &DriveTask, reason: String) -> CalibrationError {
    CalibrationError::Drive {
        backend: task.backend,
        clients: task.clients,
        reason,
    }
}

/// What the generator saw, and what the null server said about it where it has ended.
fn with_last_words(reason: String, null: &mut NullServer) -> String {
    match null.last_words() {
        Some(said) if !said.is_empty() => format!("{reason}; the null server said: {said}"),
        _ => reason,
    }
}

fn point_query() -> Result<Workload, CalibrationError> {
    let failed = |reason: String| CalibrationError::Workload { reason };
    let workloads = embedded_workloads().map_err(|error: Invalid| failed(error.to_string()))?;
    workloads
        .into_iter()
        .find(|workload| workload.name == WORKLOAD)
        .ok_or_else(|| failed("there is none of this name".to_owned()))
}

/// Load before a point is measured.
const fn warmup_ms(time_ms: u64) -> u64 {
    time_ms.div_ceil(4)
}

/// A closed loop.
fn closed_loop(workload: &Workload, backend: Backend, clients: u32, time_ms: u64) -> DriveTask {
    DriveTask {
        workload: workload.clone(),
        parameters: BTreeMap::new(),
        dataset: DATASET,
        transactional: true,
        protocol: Protocol::Prepared,
        clients,
        threads_max: THREADS_MAX,
        seed: 1,
        warmup_ms: warmup_ms(time_ms),
        length: Length::Time { ms: time_ms },
        interval_ms: time_ms,
        stall_ms: STALL_MS,
        timing: Timing::Operations,
        pace: Pace::default(),
        reconnect_every: None,
        ramp_ms: 0,
        drain_ms: 0,
        beside: Vec::new(),
        backend,
        interval_histograms: false,
    }
}

/// The open loop, whose operations a client is idle for whenever one is due.
fn open_loop(workload: &Workload, backend: Backend, time_ms: u64) -> DriveTask {
    DriveTask {
        pace: Pace::Open {
            rate: RATE,
            spacing: Spacing::Regular,
        },
        drain_ms: DRAIN_MS,
        ..closed_loop(workload, backend, OPEN_CLIENTS, time_ms)
    }
}

fn closed_point(task: &DriveTask, outcome: &StepOutcome, server_ns: u64) -> ClosedPoint {
    ClosedPoint {
        backend: task.backend,
        clients: task.clients,
        threads: outcome.threads,
        counts: counts(outcome, server_ns),
    }
}

fn open_point(
    task: &DriveTask,
    outcome: &StepOutcome,
    server_ns: u64,
) -> Result<OpenPoint, CalibrationError> {
    let schedule = outcome.schedule.as_ref().ok_or_else(|| {
        let reason = "it did not say how it kept to the schedule";
        drive_error(task, reason.to_owned())
    })?;
    Ok(OpenPoint {
        backend: task.backend,
        clients: task.clients,
        threads: outcome.threads,
        rate: RATE,
        spacing: Spacing::Regular,
        counts: counts(outcome, server_ns),
        planned: schedule.planned,
        error: schedule.error.clone(),
    })
}

fn counts(outcome: &StepOutcome, server_ns: u64) -> CalibrationCounts {
    CalibrationCounts {
        queries: outcome.queries,
        wall_ns: outcome.end_ns.saturating_sub(outcome.start_ns),
        client_user_ns: outcome.client_user_ns,
        client_system_ns: outcome.client_system_ns,
        server_ns,
    }
}
