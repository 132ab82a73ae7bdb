//! Points of a calibration that can't be trusted, measured again at the start of a run.

use std::collections::BTreeSet;
use std::time::Duration;

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, Calibration, ClosedPoint, HostUse, NoisePoint, OpenPoint, Workload};

use super::cache::{CachedCalibration, keep};
use super::measured::{Measured, taken_share};
use super::placement::ChildPlacement;
use super::points::CalibrationPoints;
use super::{
    CalibrationError, Calibrator, KeepError, closed_point, noise, open_point, point_query,
    recalled, tasks,
};
use crate::drive::{Generator, GeneratorSetup};
use crate::fault::{Stop, unless_interrupted};
use crate::placement::HostProcessors;

/// Time for which the host is observed before disturbed points are measured again.
const QUIET: Duration = Duration::from_millis(400);

impl Calibrator<'_> {
    /// The calibration of this program on this host, where the cache has it. Ceilings that a step has
    /// exceeded are measured again before, and disturbed points too if the host is quiet now;
    /// `begins` is called if anything is. `None` if the cache has none, or the user stopped it.
    ///
    /// # Errors
    /// When null server or load generator can't do their work, or the result can't be written.
    pub(crate) fn renew(
        &self,
        begins: &mut dyn FnMut(),
    ) -> Result<Option<Calibration>, CalibrationError> {
        let Some(cached) = recalled(self.roots, self.prony, self.proc) else {
            return Ok(None);
        };
        let disturbed = cached.calibration.is_disturbed() && self.is_quiet();
        if cached.struck.is_empty() && !disturbed {
            return Ok(Some(cached.calibration));
        }
        begins();
        unless_interrupted(self.first_cause(self.measure_again(cached, disturbed)))
    }

    fn measure_again(
        &self,
        mut cached: CachedCalibration,
        disturbed: bool,
    ) -> Result<Calibration, Stop<CalibrationError>> {
        let hello = Generator::ask(self.launcher, self.prony).map_err(CalibrationError::from)?;
        let renewal = Renewal {
            calibrator: self,
            hello,
            workload: point_query()?,
            placement: ChildPlacement {
                rule: cached.calibration.placement,
                host: HostProcessors::find(self.proc).ok(),
            },
        };
        let struck = std::mem::take(&mut cached.struck);
        let calibration = &mut cached.calibration;
        renewal.closed(&mut calibration.closed, &struck, disturbed)?;
        if disturbed {
            renewal.open(&mut calibration.open)?;
            renewal.noise(&mut calibration.noise)?;
        }
        keep(&self.roots.calibration(), &cached).map_err(CalibrationError::from)?;
        Ok(cached.calibration)
    }

    /// Notes in the cache that steps of a run exceeded ceilings, so that the next run measures these
    /// again.
    pub(crate) fn strike(&self, struck: BTreeSet<(Backend, u32)>) -> Result<(), KeepError> {
        let Some(mut cached) =
            recalled(self.roots, self.prony, self.proc).filter(|_| !struck.is_empty())
        else {
            return Ok(());
        };
        cached.struck.extend(struck);
        keep(&self.roots.calibration(), &cached)
    }

    fn is_quiet(&self) -> bool {
        let host = self.look_at_host(QUIET);
        !host.is_some_and(|host| host.is_disturbed())
    }
}

/// What measuring again needs.
struct Renewal<'a> {
    calibrator: &'a Calibrator<'a>,
    hello: Hello,
    workload: Workload,
    placement: ChildPlacement,
}

impl Renewal<'_> {
    fn closed(
        &self,
        points: &mut [ClosedPoint],
        struck: &BTreeSet<(Backend, u32)>,
        disturbed: bool,
    ) -> Result<(), Stop<CalibrationError>> {
        for point in points {
            let struck = struck.contains(&(point.backend, point.clients));
            let is_due = struck || (disturbed && is_disturbed(point.host));
            if !is_due {
                continue;
            }
            let setup = GeneratorSetup::new(&self.hello, point.backend);
            let time_ms = CalibrationPoints::SHORT_MS;
            let task = tasks::closed_loop(&self.workload, setup, point.clients, time_ms);
            let again = closed_point(&task, &self.measure(&task)?);
            let [before, now] = [&*point, &again].map(|one| one.counts.queries_per_second());
            // A struck ceiling is known to be too low.
            if (struck && before < now)
                || (!struck && taken_share(again.host) < taken_share(point.host))
            {
                *point = again;
            }
        }
        Ok(())
    }

    fn open(&self, points: &mut [OpenPoint]) -> Result<(), Stop<CalibrationError>> {
        for point in points {
            if is_disturbed(point.host) {
                let setup = GeneratorSetup::new(&self.hello, point.backend);
                let time_ms = CalibrationPoints::usual(CalibrationPoints::SHORT_MS).open_ms();
                let task = tasks::open_loop(&self.workload, setup, time_ms);
                let again = open_point(&task, &self.measure(&task)?)?;
                if taken_share(again.host) < taken_share(point.host) {
                    *point = again;
                }
            }
        }
        Ok(())
    }

    fn noise(&self, points: &mut [NoisePoint]) -> Result<(), Stop<CalibrationError>> {
        for point in points {
            if is_disturbed(point.host) {
                let (backend, clients) = (point.backend, point.clients);
                let time_ms = CalibrationPoints::usual_noise_ms(CalibrationPoints::SHORT_MS);
                let task = noise::task(&self.workload, &self.hello, backend, clients, time_ms);
                let again = noise::point(&task, &self.measure(&task)?);
                if taken_share(again.host) < taken_share(point.host) {
                    *point = again;
                }
            }
        }
        Ok(())
    }

    /// Measures once: the next run may be luckier.
    fn measure(&self, task: &DriveTask) -> Result<Measured, Stop<CalibrationError>> {
        self.calibrator
            .measure_task(task, &self.placement, 0, &mut |_| {})
    }
}

fn is_disturbed(host: Option<HostUse>) -> bool {
    host.is_some_and(|host| host.is_disturbed())
}
