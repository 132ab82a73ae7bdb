//! Ceilings of the load generator that steps of the run exceeded.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Backend, CalibratedHost, Calibration, ClosedPoint, Metric, Plan};
use prony_store::{HostRow, TrialId};

use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::trials::Trials;

/// The greatest rate, in queries per second, with which a step exceeded a ceiling, by backend and
/// number of clients of the ceiling. Such a ceiling was measured on a disturbed host, or under
/// other conditions, and is none.
#[derive(Debug, Default)]
pub(crate) struct Struck {
    reached: BTreeMap<(Backend, u32), f64>,
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
        let is_here = |trial: TrialId| {
            let Some(trial) = trials.get(trial) else {
                return false;
            };
            let is_far = plan.targets[trial.planned.target].is_far();
            let host = hosts.get(trial.host).filter(|_| !is_far);
            host.is_some_and(|host| is_of(calibration, host))
        };
        let mut steps: BTreeMap<_, (Backend, u32, f64)> = BTreeMap::new();
        for (_, measurement) in all {
            let row = measurement.row();
            if is_here(row.trial) {
                let step = steps
                    .entry((row.trial, row.step))
                    .or_insert((row.backend, 0, 0.0));
                step.1 += row.clients;
                step.2 += measurement.value(Metric::Queries).unwrap_or(0.0);
            }
        }
        let mut struck = Self::default();
        for ((_, step), (backend, clients, rate)) in steps {
            if let Some(point) = calibration.struck_by(backend, clients, rate) {
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

fn key(point: &ClosedPoint) -> (Backend, u32) {
    (point.backend, point.clients)
}

/// Returns `true` if a calibration is of this host.
pub(crate) fn is_of(calibration: &Calibration, host: &HostRow) -> bool {
    let facts = serde_json::from_str::<CalibratedHost>(&host.facts_json);
    facts.is_ok_and(|facts| facts == calibration.host)
}
