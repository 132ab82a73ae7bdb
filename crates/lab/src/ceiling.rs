//! The load generator's ceiling in a run: stored at its start, compared with its steps at its end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use prony_model::{Backend, Calibration, CounterSet, Family, LookingPrice, Plan, per_second};
use prony_probe::hardware_counters;
use prony_store::{Store, StoreError};

use crate::calibrate::{CalibrationPoints, Calibrator, Ceiling};
use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::Stop;
use crate::lab::Lab;

/// Keeps the generator's ceiling on this host with the run: the cached one, of which points that
/// can't be trusted are measured again, or a new one. Returns the words of a warning if it is
/// unknown: a run can do without it.
pub(crate) fn record(
    lab: &Lab<'_>,
    store: &mut Store,
    backend: Backend,
    events: &mut Events<'_>,
) -> Result<Option<String>, Stop> {
    let calibrator = Calibrator::of(lab);
    let is_priced = |known: &Calibration| {
        let priced = |price: &LookingPrice| price.counters == CounterSet::Hardware;
        hardware_counters().is_err() || known.looking.iter().any(priced)
    };
    let is_whole = |known: &Calibration| {
        let has_noise = known.wake_ups.is_some() && !known.noise.is_empty();
        let has_backend = |family: Family| known.covers(family, backend);
        let has_some = Family::ALL.into_iter().any(has_backend);
        has_some && is_priced(known) && has_noise
    };
    let families = families(store.plan());
    let calibration = if calibrator.recall().as_ref().is_some_and(is_whole) {
        calibrator.renew(&families, &mut || events(Event::Calibrating))
    } else {
        events(Event::Calibrating);
        let points = CalibrationPoints {
            families,
            ..CalibrationPoints::usual(CalibrationPoints::SHORT_MS)
        };
        calibrator.calibrate(&points, &mut |_| {})
    };
    match calibration {
        Ok(Some(calibration)) => {
            store
                .record_calibration(&calibration, Timestamp::now())
                .map_err(LabError::from)?;
            Ok(None)
        }
        Ok(None) => Err(Stop::Interrupted),
        Err(error) => Ok(Some(format!(
            "the ceiling of the load generator is unknown: failed to {error}"
        ))),
    }
}

/// The families whose protocols the targets of a plan speak, each once.
fn families(plan: &Plan) -> Vec<Family> {
    let targets = plan.targets.iter();
    let families: BTreeSet<Family> = targets
        .map(|target| target.build.family.of_protocol())
        .collect();
    families.into_iter().collect()
}

/// Notes the ceilings that steps of the run exceeded on this host, so that the next run measures
/// them again. This run keeps what it knew at its start; reports strike it from there.
pub(crate) fn strike(lab: &Lab<'_>, store: &Store) -> Result<(), StoreError> {
    let Some(calibration) = store.calibration()? else {
        return Ok(());
    };
    let struck = struck(store, &calibration)?;
    // Without a note in the cache the next run shows the same ceiling, and its report strikes it.
    let _ = Calibrator::of(lab).strike(struck);
    Ok(())
}

/// The ceilings below a step of a timed trial on the run's last host.
fn struck(store: &Store, calibration: &Calibration) -> Result<BTreeSet<Ceiling>, StoreError> {
    let last = store.hosts()?.len().saturating_sub(1);
    let trials = store.trials()?;
    let here: BTreeMap<_, Family> = trials
        .iter()
        .filter(|trial| trial.host == last)
        .map(|trial| (trial.id, &store.plan().targets[trial.planned.target]))
        // The ceiling is one of load generators on this host.
        .filter(|(_, target)| !target.is_far())
        .map(|(id, target)| (id, target.build.family))
        .collect();
    let mut steps: BTreeMap<_, (Family, Backend, u32, f64)> = BTreeMap::new();
    for row in store.outcomes()? {
        if let Some(&family) = here.get(&row.trial) {
            let step = steps
                .entry((row.trial, row.step))
                .or_insert((family, row.backend, 0, 0.0));
            step.2 += row.clients;
            step.3 += per_second(row.queries, row.busy_ns, row.clients).unwrap_or(0.0);
        }
    }
    let exceeded = steps
        .into_values()
        .filter_map(|(family, backend, clients, rate)| {
            let point = calibration.struck_by(family, backend, clients, rate)?;
            Some((point.family, point.backend, point.clients))
        });
    Ok(exceeded.collect())
}

/// The counters that ride along in timed trials where the experiment leaves it to the host: those
/// of the processor, where what they cost was measured when the run began and is next to nothing.
/// All trials of a run have the same.
pub(crate) fn riding(store: &Store) -> Result<Option<CounterSet>, LabError> {
    let calibration = store.first_calibration()?;
    let may = calibration.is_some_and(|known| known.may_ride(CounterSet::Hardware));
    if !may {
        return Ok(None);
    }
    hardware_counters().map_err(|error| LabError::Counting {
        reason: error.to_string(),
    })?;
    Ok(Some(CounterSet::Hardware))
}

#[cfg(test)]
mod tests;
