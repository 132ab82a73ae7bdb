//! The ceiling of the load generator on this host: it is driven against the null server, which
//! costs next to nothing.

mod cache;
mod null_server;
mod points;
mod price;
mod program;
mod tasks;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use prony_host::{Launcher, Roots};
use prony_load::{DriveTask, Job, Message, Task};
use prony_model::{
    Backend, CalibratedHost, Calibration, CalibrationCounts, ClosedPoint, CounterSet, LookingPrice,
    OpenPoint, Spacing, StepOutcome, StopFlag, Tls, Workload,
};
use prony_plan::{Invalid, embedded_workloads};
use prony_probe::{HostFacts, Root};

pub use self::cache::KeepError;
use self::cache::{CachedCalibration, keep, recall};
use self::null_server::NullServer;
pub use self::points::CalibrationPoints;
use self::program::Program;
use self::tasks::RATE;
pub use self::tasks::available_backends;
use crate::drive::{Generator, Next};
use crate::error::GeneratorError;
use crate::fault::{Stop, unless_interrupted};
use crate::lab::Lab;

/// The workload: one row by its primary key.
const WORKLOAD: &str = "point-query";
/// Time between two looks at the wish to stop while the generator is quiet.
const POLL: Duration = Duration::from_millis(100);
/// The version that is calibrated: all crates of Prony have the same.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The surroundings of a calibration.
pub struct Calibrator<'a> {
    /// The cache, where the result is kept.
    pub roots: &'a Roots,
    /// Starts children that die with this process.
    pub launcher: &'a Launcher,
    /// The program that is load generator and null server: this one.
    pub prony: &'a Path,
    /// The root under which `/proc` is read.
    pub proc: &'a Root,
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}

/// A measurement that has just ended.
#[derive(Debug, Clone, Copy)]
pub enum CalibrationEvent<'a> {
    /// A closed loop ended.
    Closed(&'a ClosedPoint),
    /// An open loop ended.
    Open(&'a OpenPoint),
    /// The cost of counters at one number of clients is known.
    Looking(&'a LookingPrice),
    /// The cost of counters can't be measured.
    NoPrice {
        /// The counters.
        counters: CounterSet,
        /// The reason why they can't be opened, and the remedy.
        reason: &'a str,
    },
}

/// The reason why a host can't be calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The built-in workloads can't be read: a defect of this program.
    #[error("find the built-in workload {WORKLOAD}: {reason}")]
    Workload {
        /// The reason.
        reason: String,
    },
    /// The null server does not run.
    #[error("start the null server: {reason}")]
    NullServer {
        /// Its words.
        reason: String,
    },
    /// The load generator does not run.
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// The load generator failed, or the null server under it.
    #[error("drive {clients} clients against the null server with {backend}: {reason}")]
    Drive {
        /// The backend.
        backend: Backend,
        /// Connections.
        clients: u32,
        /// The words of the generator.
        reason: String,
    },
    /// The program to be measured is no longer at its path, as when it was just replaced.
    #[error("read {path}, the program that is calibrated: {source}")]
    Program {
        /// Its former path.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// The result can't be kept in the cache.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

impl<'a> Calibrator<'a> {
    /// The calibrator in the surroundings of a run.
    pub fn of(lab: &'a Lab<'_>) -> Self {
        Self {
            roots: lab.roots,
            launcher: lab.launcher,
            prony: &lab.prony,
            proc: &lab.proc,
            stop: lab.stop,
        }
    }

    /// The calibration of this very program on this host, where the cache has it.
    pub fn recall(&self) -> Option<Calibration> {
        let program = Program::read(self.prony).ok()?;
        recall(&self.roots.calibration(), &program, VERSION, &self.host())
    }

    /// Tells whether the result of [`Self::calibrate`] will be kept: if it has all usual points,
    /// and each of them for the usual time at least, or for [`CalibrationPoints::SHORT_MS`] where
    /// nothing with its backends is kept.
    pub fn keeps(&self, points: &CalibrationPoints) -> bool {
        let usual = CalibrationPoints::usual(CalibrationPoints::TIME_MS);
        points.worth_keeping(&usual, self.recall().as_ref())
    }

    /// Measures, and keeps the result in the cache where [`Self::keeps`] says so. `None` when the
    /// user stopped it.
    ///
    /// # Errors
    /// When null server or load generator can't do their work, or the result can't be written.
    pub fn calibrate(
        &self,
        points: &CalibrationPoints,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Option<Calibration>, CalibrationError> {
        let measured = self.measure(points, events);
        // A wish to stop wins over an error: it may have ended the null server or the generator.
        unless_interrupted(measured.map_err(|stop| match stop {
            Stop::Error(error) => Stop::after(error, self.stop),
            Stop::Interrupted => stop,
        }))
    }

    fn measure(
        &self,
        points: &CalibrationPoints,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Calibration, Stop<CalibrationError>> {
        let workload = point_query()?;
        let program = Program::read(self.prony).map_err(|source| CalibrationError::Program {
            path: self.prony.to_owned(),
            source,
        })?;
        let hello = Generator::ask(self.launcher, self.prony).map_err(CalibrationError::from)?;
        let mut null = NullServer::start(self.roots, self.launcher, self.prony)
            .map_err(|reason| CalibrationError::NullServer { reason })?;
        let mut calibration = Calibration {
            prony_version: VERSION.to_owned(),
            host: self.host(),
            made_at_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0),
            closed: Vec::new(),
            open: Vec::new(),
            looking: Vec::new(),
        };
        for task in &points.tasks(&workload, &hello) {
            let (outcome, server_ns) = self.drive(&mut null, task)?;
            if task.groups.own().pace.is_scheduled() {
                let point = open_point(task, &outcome, server_ns)?;
                events(CalibrationEvent::Open(&point));
                calibration.open.push(point);
            } else {
                let point = closed_point(task, &outcome, server_ns);
                events(CalibrationEvent::Closed(&point));
                calibration.closed.push(point);
            }
        }
        for &set in &points.looking {
            let prices = self.price(set, &workload, &hello, events)?;
            calibration.looking.extend(prices);
        }
        if !self.keeps(points) {
            return Ok(calibration);
        }
        let cached = CachedCalibration {
            program,
            calibration,
        };
        keep(&self.roots.calibration(), &cached).map_err(CalibrationError::from)?;
        Ok(cached.calibration)
    }

    fn host(&self) -> CalibratedHost {
        let facts = HostFacts::read(self.proc);
        CalibratedHost {
            cpu_model: facts.cpu_model,
            cpus: facts.cpus,
            kernel: facts.kernel,
        }
    }

    /// Runs a task to its end. Returns its outcome, and the processor time of the null server over
    /// the measured time.
    fn drive(
        &self,
        null: &mut NullServer,
        task: &DriveTask,
    ) -> Result<(StepOutcome, u64), Stop<CalibrationError>> {
        let failed = |reason: String| drive_error(task, reason);
        let job = Job {
            address: null.address(),
            user: "prony".to_owned(),
            password: String::new(),
            tls: Tls::Off,
            database: "sbtest".to_owned(),
            task: Task::Drive(Box::new(task.clone())),
        };
        let mut generator = Generator::start(self.launcher, self.prony, None, &job)
            .map_err(|error| failed(format!("failed to {error}")))?;
        let mut edges = Vec::new();
        loop {
            match generator.next(POLL) {
                Next::Message(Message::MeasureStart { .. } | Message::MeasureEnd { .. }) => {
                    edges.push(null.cpu_ns(self.proc).map_err(failed)?);
                }
                Next::Message(Message::Done { outcome }) => {
                    return match edges[..] {
                        [start, end] => Ok((*outcome, end.saturating_sub(start))),
                        _ => Err(failed("it did not report when it measured".to_owned()).into()),
                    };
                }
                Next::Message(Message::Failed { reason }) => {
                    return Err(failed(with_last_words(reason, null)).into());
                }
                Next::Ended(how) => {
                    let reason = format!("the load generator ended early: {how}");
                    return Err(failed(with_last_words(reason, null)).into());
                }
                Next::Message(_) | Next::Quiet => {}
            }
            if self.stop.requested() {
                return Err(Stop::Interrupted);
            }
        }
    }
}

fn drive_error(task: &DriveTask, reason: String) -> CalibrationError {
    CalibrationError::Drive {
        backend: task.backend,
        clients: task.groups.own().clients,
        reason,
    }
}

/// The reason from the generator, and the words of the null server where it has ended.
fn with_last_words(reason: String, null: &mut NullServer) -> String {
    match null.last_words() {
        Some(said) if !said.is_empty() => format!("{reason}; output of the null server: {said}"),
        _ => reason,
    }
}

fn point_query() -> Result<Workload, CalibrationError> {
    let failed = |reason: String| CalibrationError::Workload { reason };
    let workloads = embedded_workloads().map_err(|error: Invalid| failed(error.to_string()))?;
    workloads
        .into_iter()
        .find(|workload| workload.name == WORKLOAD)
        .ok_or_else(|| failed("it does not exist".to_owned()))
}

fn closed_point(task: &DriveTask, outcome: &StepOutcome, server_ns: u64) -> ClosedPoint {
    ClosedPoint {
        backend: task.backend,
        clients: task.groups.own().clients,
        threads: outcome.threads,
        counts: counts(outcome, server_ns),
    }
}

fn open_point(
    task: &DriveTask,
    outcome: &StepOutcome,
    server_ns: u64,
) -> Result<OpenPoint, CalibrationError> {
    let schedule = outcome.groups.own().schedule.as_ref().ok_or_else(|| {
        let reason = "it did not report its schedule";
        drive_error(task, reason.to_owned())
    })?;
    Ok(OpenPoint {
        backend: task.backend,
        clients: task.groups.own().clients,
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
        queries: outcome.groups.own().queries,
        wall_ns: outcome.end_ns.saturating_sub(outcome.start_ns),
        client_user_ns: outcome.client_user_ns,
        client_system_ns: outcome.client_system_ns,
        server_ns,
    }
}
