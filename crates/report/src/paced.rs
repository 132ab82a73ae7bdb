//! How clients kept to their pace: intended starts, and what connecting anew cost.

use prony_model::Schedule;
use prony_store::{StatementRow, Store, StoreError, TrialId};

use crate::analysis::Analysis;
use crate::latency::Latency;
use crate::place::Place;
use crate::render::ReportError;

/// How the schedule of one block was kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kept {
    /// Operations planned within the measured time.
    pub(crate) planned: u64,
    /// Those that had not begun at its end.
    pub(crate) backlog: u64,
    /// Those that never began.
    pub(crate) left: u64,
    /// From send to last byte.
    pub(crate) service: Option<Latency>,
    /// From intended start to last byte.
    pub(crate) response: Option<Latency>,
    /// The generator's own lateness.
    pub(crate) error: Option<Latency>,
}

/// What connecting anew cost in one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Connects {
    pub(crate) count: u64,
    pub(crate) latency: Option<Latency>,
}

/// The name under which connecting is counted.
const CONNECT: &str = "connect";

/// Gives every measurement what is known of its pace, and of the threads that kept it.
pub(crate) fn attach(analysis: &mut Analysis<'_>, store: &Store) -> Result<(), ReportError> {
    for row in store.schedules()? {
        let place = Place {
            step: row.step,
            group: row.group,
        };
        let kept = kept(analysis, store, row.trial, place, &row.schedule)?;
        if let Some(measurement) = analysis.measurement_mut(row.trial, place) {
            measurement.kept = kept;
        }
    }
    for row in store.thread_uses()? {
        if let Some(measurement) = analysis.measurement_mut(row.trial, Place::own(row.step)) {
            measurement.threads.push(row.used);
        }
    }
    let places: Vec<Place> = analysis
        .places()
        .filter(|place| place.work(analysis.plan).reconnect_every.is_some())
        .collect();
    for place in places {
        for target in 0..analysis.plan.targets.len() {
            let measurements = analysis.cell_at(place, target).measurements.iter();
            let trials: Vec<TrialId> = measurements.map(|m| m.row().trial).collect();
            for trial in trials {
                let connects = connects(analysis, store, trial, place)?;
                if let Some(measurement) = analysis.measurement_mut(trial, place) {
                    measurement.connects = connects;
                }
            }
        }
    }
    Ok(())
}

fn kept(
    analysis: &Analysis<'_>,
    store: &Store,
    trial: TrialId,
    place: Place,
    schedule: &Schedule,
) -> Result<Option<Kept>, ReportError> {
    let decode = |bytes: &[u8]| Latency::decode(bytes, analysis, trial, place.step);
    let service = histogram(store, trial, place, 0)?;
    Ok(Some(Kept {
        planned: schedule.planned,
        backlog: schedule.backlog,
        left: schedule.left,
        service: decode(&service)?,
        response: decode(&schedule.response)?,
        error: decode(&schedule.error)?,
    }))
}

fn connects(
    analysis: &Analysis<'_>,
    store: &Store,
    trial: TrialId,
    place: Place,
) -> Result<Option<Connects>, ReportError> {
    let statements = statements(store, trial, place)?;
    let found = statements.iter().find(|row| row.name == CONNECT);
    let Some(row) = found else { return Ok(None) };
    let bytes = histogram(store, trial, place, row.position)?;
    Ok(Some(Connects {
        count: row.count,
        latency: Latency::decode(&bytes, analysis, trial, place.step)?,
    }))
}

/// The counts of the statements of these clients.
pub(crate) fn statements(
    store: &Store,
    trial: TrialId,
    place: Place,
) -> Result<Vec<StatementRow>, StoreError> {
    if place.is_own() {
        store.statements(trial, place.step)
    } else {
        store.group_statements(trial, place.step, place.group)
    }
}

/// A stored histogram of whole operations (`statement` 0) or of one statement.
pub(crate) fn histogram(
    store: &Store,
    trial: TrialId,
    place: Place,
    statement: usize,
) -> Result<Vec<u8>, StoreError> {
    let bytes = if place.is_own() {
        store.histogram(trial, place.step, statement)?
    } else {
        store.group_histogram(trial, place.step, place.group, statement)?
    };
    Ok(bytes.unwrap_or_default())
}
