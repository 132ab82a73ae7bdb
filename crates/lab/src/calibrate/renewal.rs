//! Points of a calibration that can't be trusted, measured again at the start of a run.

use std::collections::BTreeSet;
use std::time::Duration;

use prony_load::{DriveTask, Hello};
use prony_model::{
    Backend, Calibration, ClosedPoint, Family, HostUse, NoisePoint, OpenPoint, Workload,
};

use super::cache::{CachedCalibration, Ceiling, keep};
use super::measured::{Measured, taken_share};
use super::placement::ChildPlacement;
use super::points::CalibrationPoints;
use super::{
    CalibrationError, CalibrationEvent, Calibrator, KeepError, available_backends, closed_point,
    noise, open_point, point_query, recalled, tasks,
};
use crate::drive::{Generator, GeneratorSetup};
use crate::fault::{Stop, unless_interrupted};
use crate::placement::HostProcessors;

/// Time for which the host is observed before disturbed points are measured again.
const QUIET: Duration = Duration::from_millis(400);

impl Calibrator<'_> {
    /// The calibration of this program on this host, where the cache has it. Ceilings that a step has
    /// exceeded are measured again before, and disturbed points too if the host is quiet now; those of
    /// families whose protocols it lacks are measured. `begins` is called if anything is. `None` if the cache has none, or the user stopped it.
    ///
    /// # Errors
    /// When null server or load generator can't do their work, or the result can't be written.
    pub(crate) fn renew(
        &self,
        families: &[Family],
        begins: &mut dyn FnMut(),
    ) -> Result<Option<Calibration>, CalibrationError> {
        let Some(cached) = recalled(self.roots, self.prony, self.proc) else {
            return Ok(None);
        };
        let disturbed = cached.calibration.is_disturbed() && self.is_quiet();
        let lacking: Vec<(Family, Backend)> = families
            .iter()
            .flat_map(|&family| {
                available_backends()
                    .into_iter()
                    .map(move |one| (family, one))
            })
            .filter(|&(family, backend)| !cached.calibration.covers(family, backend))
            .collect();
        if cached.struck.is_empty() && !disturbed && lacking.is_empty() {
            return Ok(Some(cached.calibration));
        }
        begins();
        unless_interrupted(self.first_cause(self.measure_again(cached, disturbed, &lacking)))
    }

    fn measure_again(
        &self,
        mut cached: CachedCalibration,
        disturbed: bool,
        lacking: &[(Family, Backend)],
    ) -> Result<Calibration, Stop<CalibrationError>> {
        let hello = Generator::ask(self.launcher, self.prony).map_err(CalibrationError::from)?;
        let renewal = Renewal {
            calibrator: self,
            hello,
            workload: point_query()?,
            // One that was measured before: the same again.
            first: (cached.calibration.closed.first()).map_or(Family::Mysql, |point| point.family),
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
        renewal.supplement(&mut calibration.closed, lacking)?;
        keep(&self.roots.calibration(), &cached).map_err(CalibrationError::from)?;
        Ok(cached.calibration)
    }

    /// Notes in the cache that steps of a run exceeded ceilings, so that the next run measures these
    /// again.
    pub(crate) fn strike(&self, struck: BTreeSet<Ceiling>) -> Result<(), KeepError> {
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
    /// The family in whose protocol all but closed loops is measured.
    first: Family,
    placement: ChildPlacement,
}

impl Renewal<'_> {
    fn closed(
        &self,
        points: &mut [ClosedPoint],
        struck: &BTreeSet<Ceiling>,
        disturbed: bool,
    ) -> Result<(), Stop<CalibrationError>> {
        for point in points {
            let struck = struck.contains(&(point.family, point.backend, point.clients));
            let is_due = struck || (disturbed && is_disturbed(point.host));
            if !is_due {
                continue;
            }
            let setup = GeneratorSetup::new(&self.hello, point.backend);
            let time_ms = CalibrationPoints::SHORT_MS;
            let task = tasks::closed_loop(&self.workload, setup, point.clients, time_ms);
            let again = closed_point(point.family, &task, &self.measure(point.family, &task)?);
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
                let again = open_point(&task, &self.measure(self.first, &task)?)?;
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
                let again = noise::point(&task, &self.measure(self.first, &task)?);
                if taken_share(again.host) < taken_share(point.host) {
                    *point = again;
                }
            }
        }
        Ok(())
    }

    /// Adds the closed loops of families and backends.
    fn supplement(
        &self,
        points: &mut Vec<ClosedPoint>,
        lacking: &[(Family, Backend)],
    ) -> Result<(), Stop<CalibrationError>> {
        let time_ms = CalibrationPoints::SHORT_MS;
        for &(family, backend) in lacking {
            let setup = GeneratorSetup::new(&self.hello, backend);
            for clients in CalibrationPoints::usual(time_ms).clients {
                let task = tasks::closed_loop(&self.workload, setup, clients, time_ms);
                let measured = self.measure(family, &task)?;
                points.push(closed_point(family, &task, &measured));
            }
        }
        points.sort_by_key(|point| (point.backend, point.family, point.clients));
        Ok(())
    }

    /// Measures once: the next run may be luckier.
    fn measure(
        &self,
        family: Family,
        task: &DriveTask,
    ) -> Result<Measured, Stop<CalibrationError>> {
        let quiet = &mut |_: CalibrationEvent<'_>| {};
        self.calibrator
            .measure_task((family, task), &self.placement, 0, quiet)
    }
}

fn is_disturbed(host: Option<HostUse>) -> bool {
    host.is_some_and(|host| host.is_disturbed())
}
