//! Ceilings of the load generator that steps of the run exceeded.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Backend, CalibratedHost, Calibration, ClosedPoint, Family, Metric, Plan};
use prony_store::{HostRow, TrialId};

use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::trials::Trials;

/// The greatest rate, in queries per second, with which a step exceeded a ceiling, by family, backend
/// and number of clients of the ceiling. Such a ceiling was measured on a disturbed host, or under
/// other conditions, and is none.
#[derive(Debug, Default)]
pub(crate) struct Struck {
    reached: BTreeMap<(Family, Backend, u32), f64>,
    /// Steps that exceeded theirs.
    steps: BTreeSet<usize>,
}

impl Struck {
    /// Compares all steps whose load the calibrated host generated with its ceilings.
    pub(crate) fn of(
        calibration: &Calibration,
        plan: &Plan,
        all: &[(GroupId, Measurement)],
        trials: &Trials,
        hosts: &[HostRow],
    ) -> Self {
        let target_here = |trial: TrialId| {
            let trial = trials.get(trial)?;
            let target = &plan.targets[trial.planned.target];
            let host = hosts.get(trial.host).filter(|_| !target.is_far())?;
            is_of(calibration, host).then_some(target)
        };
        let mut steps: BTreeMap<_, (Family, Backend, u32, f64)> = BTreeMap::new();
        for (_, measurement) in all {
            let row = measurement.row();
            if let Some(target) = target_here(row.trial) {
                let none = (target.build.family, row.backend, 0, 0.0);
                let step = steps.entry((row.trial, row.step)).or_insert(none);
                step.2 += row.clients;
                step.3 += measurement.value(Metric::Queries).unwrap_or(0.0);
            }
        }
        let mut struck = Self::default();
        for ((_, step), (family, backend, clients, rate)) in steps {
            if let Some(point) = calibration.struck_by(family, backend, clients, rate) {
                let reached = struck.reached.entry(key(point)).or_default();
                *reached = reached.max(rate);
                struck.steps.insert(step);
            }
        }
        struck
    }

    /// Returns `true` if a step exceeded the ceiling for it.
    pub(crate) fn by(&self, step: usize) -> bool {
        self.steps.contains(&step)
    }

    /// The greatest rate with which a step exceeded this ceiling. `None` if none did.
    pub(crate) fn reached(&self, point: &ClosedPoint) -> Option<f64> {
        self.reached.get(&key(point)).copied()
    }
}

fn key(point: &ClosedPoint) -> (Family, Backend, u32) {
    (point.family, point.backend, point.clients)
}

/// Returns `true` if a calibration is of this host.
pub(crate) fn is_of(calibration: &Calibration, host: &HostRow) -> bool {
    let facts = serde_json::from_str::<CalibratedHost>(&host.facts_json);
    facts.is_ok_and(|facts| facts == calibration.host)
}
