//! Conditions that must be shown beside a figure. Unequal debt has a section of its own.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Backend, ErrorClass};
use prony_store::{ErrorRow, Store, StoreError, TrialId};

use crate::analysis::Analysis;
use crate::figures::{count, plural, seconds};
use crate::found;
use crate::paced::statements;
use crate::place::Place;
use crate::warned;

/// Gives every cell its notes: nothing done, other backends, unexpected answers, rows that were gone,
/// server errors, engines that were not quiet, stored warnings.
pub(crate) fn add(analysis: &mut Analysis<'_>, store: &Store) -> Result<(), StoreError> {
    let errors = errors(store)?;
    for place in analysis.places() {
        for target in 0..analysis.plan.targets.len() {
            let mut notes = vec![
                nothing_done(analysis, place, target),
                other_backends(analysis, place, target),
                unexpected_answers(analysis, store, place, target)?,
                server_errors(analysis, &errors, place, target),
            ];
            // What is said of a step as a whole stands beside the figures of its own clients.
            if place.is_own() {
                notes.insert(3, found::notes(analysis, store, place.step, target)?);
                notes.push(unsettled(analysis, place.step, target));
            }
            notes.push(stored_warnings(analysis, place, target));
            analysis.cell_mut(place, target).notes = notes.concat();
        }
    }
    Ok(())
}

/// All server errors, each with the place of the group whose clients met it.
fn errors(store: &Store) -> Result<Vec<(usize, ErrorRow)>, StoreError> {
    let own = store.errors()?.into_iter().map(|error| (0, error));
    Ok(own.chain(store.group_errors()?).collect())
}

fn nothing_done(analysis: &Analysis<'_>, place: Place, target: usize) -> Vec<String> {
    analysis
        .cell_at(place, target)
        .measurements
        .iter()
        .filter(|measurement| measurement.operations_per_second().is_none())
        .map(|measurement| format!("no operation completed in block {}", measurement.block()))
        .collect()
}

/// Blocks in which a target, or its base, was measured over another backend than elsewhere.
fn other_backends(analysis: &Analysis<'_>, place: Place, target: usize) -> Vec<String> {
    let cell = analysis.cell_at(place, target);
    let base = analysis.cell_at(place, analysis.plan.base);
    let compared = cell.paired(base).filter_map(|(mine, other)| {
        let (backend, of_base) = (mine.row().backend, other.row().backend);
        (backend != of_base).then(|| {
            format!(
                "block {}: measured over {backend}, and {} over {of_base}, so that they are not \
                 compared",
                mine.block(),
                analysis.base().name
            )
        })
    });
    let backends = cell.measurements.iter().map(|m| m.row().backend);
    let backends: BTreeSet<&str> = backends.map(Backend::name).collect();
    let mixed = (backends.len() > 1).then(|| {
        let names: Vec<&str> = backends.into_iter().collect();
        format!("its blocks were measured over {}", names.join(" and "))
    });
    compared.chain(mixed).collect()
}

fn unexpected_answers(
    analysis: &Analysis<'_>,
    store: &Store,
    place: Place,
    target: usize,
) -> Result<Vec<String>, StoreError> {
    let mut by_statement = BTreeMap::new();
    for measurement in &analysis.cell_at(place, target).measurements {
        let row = measurement.row();
        if row.unexpected == 0 {
            continue;
        }
        for statement in statements(store, row.trial, place)? {
            *by_statement.entry(statement.name).or_insert(0) += statement.unexpected;
        }
    }
    Ok(by_statement
        .into_iter()
        .filter(|(_, unexpected)| *unexpected > 0)
        .map(|(statement, unexpected)| {
            format!(
                "{} of `{statement}` returned or changed another number of rows than expected",
                plural(unexpected, "answer")
            )
        })
        .collect())
}

fn server_errors(
    analysis: &Analysis<'_>,
    errors: &[(usize, ErrorRow)],
    place: Place,
    target: usize,
) -> Vec<String> {
    let trials: Vec<TrialId> = analysis
        .cell_at(place, target)
        .measurements
        .iter()
        .filter(|measurement| measurement.row().errors > 0)
        .map(|measurement| measurement.row().trial)
        .collect();
    let mut by_code: BTreeMap<u16, (u64, &ErrorRow)> = BTreeMap::new();
    let here = errors
        .iter()
        .filter(|(group, error)| *group == place.group && error.step == place.step);
    for (_, error) in here {
        if trials.contains(&error.trial) {
            by_code.entry(error.code).or_insert((0, error)).0 += error.count;
        }
    }
    by_code
        .into_iter()
        .map(|(code, (times, error))| {
            format!(
                "server error {code}, {}, {} times; the first said: {}",
                class_meaning(error.class),
                count(times),
                error.message
            )
        })
        .collect()
}

/// Blocks in which the engine was not quiet although it had been asked to settle.
fn unsettled(analysis: &Analysis<'_>, step: usize, target: usize) -> Vec<String> {
    let measurements = analysis.cell(step, target).measurements.iter();
    measurements
        .filter_map(|measurement| {
            let settle = measurement.settle.as_ref()?;
            (!settle.unmet.is_empty()).then(|| {
                format!(
                    "block {}: settling before the step was given up after {}: {}",
                    measurement.block(),
                    seconds(settle.took_ms),
                    settle.unmet.join("; ")
                )
            })
        })
        .collect()
}

fn stored_warnings(analysis: &Analysis<'_>, place: Place, target: usize) -> Vec<String> {
    let measurements = &analysis.cell_at(place, target).measurements;
    analysis
        .warnings
        .iter()
        .filter_map(|warning| {
            let text = warned::said_of(analysis.plan, warning, place)?;
            let measurement = measurements
                .iter()
                .find(|measurement| Some(measurement.row().trial) == warning.trial)?;
            Some(format!("block {}: {text}", measurement.block()))
        })
        .collect()
}

fn class_meaning(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Retryable => "tried again",
        ErrorClass::Counted => "not tried again",
        ErrorClass::Fatal => "fatal",
    }
}
