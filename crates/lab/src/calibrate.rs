//! The ceiling of the load generator on this host: it is driven against the null server, which
//! costs next to nothing.

mod cache;
mod measured;
mod noise;
mod null_server;
mod placement;
mod points;
mod price;
mod program;
mod renewal;
mod tasks;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use prony_check::CheckError;
use prony_host::{Launcher, Roots};
use prony_load::DriveTask;
use prony_model::{
    Backend, CalibratedHost, Calibration, ClosedPoint, CounterSet, DefaultPlacement, Family,
    HostUse, LookingPrice, NoisePoint, OpenPoint, Spacing, StopFlag, WakeUps, Workload,
};
use prony_plan::{Invalid, embedded_workloads};
use prony_probe::{HostFacts, Root};

pub(crate) use self::cache::Ceiling;
pub use self::cache::KeepError;
use self::cache::{CachedCalibration, keep, recall};
use self::measured::{Measured, drive_error};
use self::null_server::NullServer;
use self::placement::ChildPlacement;
pub use self::points::CalibrationPoints;
use self::program::Program;
use self::tasks::RATE;
pub use self::tasks::available_backends;
use crate::drive::Generator;
use crate::error::GeneratorError;
use crate::fault::{Stop, unless_interrupted};
use crate::lab::Lab;
use crate::placement::HostProcessors;

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
    /// A measurement was disturbed and is made again.
    Again {
        /// The backend.
        backend: Backend,
        /// Connections.
        clients: u32,
        /// Use of the processors meanwhile.
        host: &'a HostUse,
    },
    /// The price of wake-ups is known.
    WakeUps(&'a WakeUps),
    /// The noise of the host at one number of clients is known.
    Noise(&'a NoisePoint),
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
    /// The price of wake-ups can't be measured.
    #[error(transparent)]
    WakeUps(#[from] CheckError),
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
        recalled_calibration(self.roots, self.prony, self.proc)
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
        unless_interrupted(self.first_cause(self.measure(points, events)))
    }

    /// Lets a wish to stop win over an error: it may have ended the null server or the generator.
    fn first_cause<T>(
        &self,
        measured: Result<T, Stop<CalibrationError>>,
    ) -> Result<T, Stop<CalibrationError>> {
        measured.map_err(|stop| match stop {
            Stop::Error(error) => Stop::after(error, self.stop),
            Stop::Interrupted => stop,
        })
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
        let host = self.host();
        let wake_ups = self.wake_ups(points.wake_ups_ms, events)?;
        let processors = HostProcessors::find(self.proc).ok();
        let count = processors.as_ref().map_or(1, HostProcessors::count);
        let price = wake_ups.as_ref().and_then(WakeUps::across_by_same);
        let rule = DefaultPlacement::decide(count, price).rule;
        let placement = ChildPlacement {
            rule,
            host: processors,
        };
        let mut calibration = Calibration {
            prony_version: VERSION.to_owned(),
            host,
            made_at_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0),
            placement: rule,
            wake_ups,
            closed: Vec::new(),
            open: Vec::new(),
            looking: Vec::new(),
            noise: Vec::new(),
        };
        for (family, task) in &points.tasks(&workload, &hello) {
            let repeats = points.repeats();
            let measured = self.measure_task((*family, task), &placement, repeats, events)?;
            if task.groups.own().pace.is_scheduled() {
                let point = open_point(task, &measured)?;
                events(CalibrationEvent::Open(&point));
                calibration.open.push(point);
            } else {
                let point = closed_point(*family, task, &measured);
                events(CalibrationEvent::Closed(&point));
                calibration.closed.push(point);
            }
        }
        let first = points.first_family();
        for &set in &points.looking {
            let prices = self.price((first, set), &workload, &hello, &placement, events)?;
            calibration.looking.extend(prices);
        }
        for task in &points.noise_tasks(&workload, &hello) {
            let repeats = points.repeats();
            let measured = self.measure_task((first, task), &placement, repeats, events)?;
            let point = noise::point(task, &measured);
            events(CalibrationEvent::Noise(&point));
            calibration.noise.push(point);
        }
        if !self.keeps(points) {
            return Ok(calibration);
        }
        let cached = CachedCalibration {
            program,
            calibration,
            struck: BTreeSet::new(),
        };
        keep(&self.roots.calibration(), &cached).map_err(CalibrationError::from)?;
        Ok(cached.calibration)
    }

    /// Measures the price of wake-ups for a time; `None` if the time is 0.
    fn wake_ups(
        &self,
        time_ms: u64,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Option<WakeUps>, Stop<CalibrationError>> {
        if time_ms == 0 {
            return Ok(None);
        }
        let measured = prony_check::wake_ups(Duration::from_millis(time_ms), self.stop);
        let wake_ups = measured.map_err(CalibrationError::from)?;
        let wake_ups = wake_ups.ok_or(Stop::Interrupted)?;
        events(CalibrationEvent::WakeUps(&wake_ups));
        Ok(Some(wake_ups))
    }

    fn host(&self) -> CalibratedHost {
        calibrated_host(self.proc)
    }
}

/// The calibration of the program `prony` on this host, where the cache has it.
pub fn recalled_calibration(roots: &Roots, prony: &Path, proc: &Root) -> Option<Calibration> {
    recalled(roots, prony, proc).map(|cached| cached.calibration)
}

fn recalled(roots: &Roots, prony: &Path, proc: &Root) -> Option<CachedCalibration> {
    let program = Program::read(prony).ok()?;
    let host = calibrated_host(proc);
    recall(&roots.calibration(), &program, VERSION, &host)
}

/// The facts by which this host is known again.
pub(crate) fn calibrated_host(proc: &Root) -> CalibratedHost {
    let facts = HostFacts::read(proc);
    CalibratedHost {
        cpu_model: facts.cpu_model,
        cpus: facts.cpus,
        kernel: facts.kernel,
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

fn closed_point(family: Family, task: &DriveTask, measured: &Measured) -> ClosedPoint {
    ClosedPoint {
        family,
        backend: task.backend,
        clients: task.groups.own().clients,
        threads: measured.outcome.threads,
        cpus: measured.cpus.clone(),
        host: measured.host,
        counts: measured.counts(),
    }
}

fn open_point(task: &DriveTask, measured: &Measured) -> Result<OpenPoint, CalibrationError> {
    let schedule = measured.outcome.groups.own().schedule.as_ref();
    let schedule = schedule.ok_or_else(|| {
        let reason = "it did not report its schedule";
        drive_error(task, reason.to_owned())
    })?;
    Ok(OpenPoint {
        backend: task.backend,
        clients: task.groups.own().clients,
        threads: measured.outcome.threads,
        cpus: measured.cpus.clone(),
        host: measured.host,
        rate: RATE,
        spacing: Spacing::Regular,
        counts: measured.counts(),
        planned: schedule.planned,
        error: schedule.error.clone(),
    })
}
