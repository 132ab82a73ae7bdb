//! Conditions that must be shown beside a figure. Unequal debt has a section of its own.

use std::collections::BTreeMap;

use prony_model::ErrorClass;
use prony_store::{ErrorRow, Store, StoreError, TrialId};

use crate::analysis::Analysis;
use crate::figures::{count, plural, seconds};
use crate::found;

/// Gives every cell its notes: nothing done, unexpected answers, rows that were gone, server errors,
/// engines that were not quiet, stored warnings.
pub(crate) fn add(analysis: &mut Analysis<'_>, store: &Store) -> Result<(), StoreError> {
    let errors = store.errors()?;
    for step in 0..analysis.plan.steps.len() {
        for target in 0..analysis.plan.targets.len() {
            let notes = [
                nothing_done(analysis, step, target),
                unexpected_answers(analysis, store, step, target)?,
                found::notes(analysis, store, step, target)?,
                server_errors(analysis, &errors, step, target),
                unsettled(analysis, step, target),
                stored_warnings(analysis, step, target),
            ];
            analysis.cell_mut(step, target).notes = notes.concat();
        }
    }
    Ok(())
}

fn nothing_done(analysis: &Analysis<'_>, step: usize, target: usize) -> Vec<String> {
    analysis
        .cell(step, target)
        .measurements
        .iter()
        .filter(|measurement| measurement.operations_per_second().is_none())
        .map(|measurement| format!("no operation completed in block {}", measurement.block()))
        .collect()
}

fn unexpected_answers(
    analysis: &Analysis<'_>,
    store: &Store,
    step: usize,
    target: usize,
) -> Result<Vec<String>, StoreError> {
    let mut by_statement = BTreeMap::new();
    for measurement in &analysis.cell(step, target).measurements {
        let row = measurement.row();
        if row.unexpected == 0 {
            continue;
        }
        for statement in store.statements(row.trial, step)? {
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
    errors: &[ErrorRow],
    step: usize,
    target: usize,
) -> Vec<String> {
    let trials: Vec<TrialId> = analysis
        .cell(step, target)
        .measurements
        .iter()
        .filter(|measurement| measurement.row().errors > 0)
        .map(|measurement| measurement.row().trial)
        .collect();
    let mut by_code: BTreeMap<u16, (u64, &ErrorRow)> = BTreeMap::new();
    for error in errors {
        if error.step == step && trials.contains(&error.trial) {
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

fn stored_warnings(analysis: &Analysis<'_>, step: usize, target: usize) -> Vec<String> {
    let measurements = &analysis.cell(step, target).measurements;
    analysis
        .warnings
        .iter()
        .filter(|warning| warning.step == Some(step))
        .filter_map(|warning| {
            let measurement = measurements
                .iter()
                .find(|measurement| Some(measurement.row().trial) == warning.trial)?;
            Some(format!("block {}: {}", measurement.block(), warning.text))
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
