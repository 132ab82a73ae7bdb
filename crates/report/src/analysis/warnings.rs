//! Conditions that must be shown beside a figure. Unequal work left over has a section of its own.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Backend, ErrorClass, Metric, Plan};
use prony_store::ErrorRow;

use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::{missed_rows, pairing};
use crate::words::{count, listed, plural, seconds};

/// The warnings of a cell: nothing done, other backends, other placements, unexpected answers, missed rows, server
/// errors, engines that were not quiet, stored warnings. `base` is the index of the target's base, with
/// its measurements.
pub(crate) fn of(
    plan: &Plan,
    group: GroupId,
    measurements: &[Measurement],
    base: Option<(usize, &[Measurement])>,
) -> Vec<String> {
    let step = &plan.steps[group.step];
    let base = base.map_or(("", &[][..]), |(base, measurements)| {
        (plan.targets[base].name.as_str(), measurements)
    });
    let mut warnings = vec![
        nothing_done(measurements),
        other_backends(measurements, base),
        other_placements(plan, group.step, measurements, base),
        unexpected_answers(measurements),
    ];
    // What concerns a step as a whole stands beside the figures of its own clients.
    if group.is_own() && !step.warm_only {
        warnings.push(missed_rows::warnings(step, measurements, base));
    }
    warnings.push(server_errors(measurements));
    if group.is_own() {
        warnings.push(unsettled(measurements));
    }
    warnings.push(stored(measurements));
    warnings.concat()
}

fn nothing_done(measurements: &[Measurement]) -> Vec<String> {
    measurements
        .iter()
        .filter(|measurement| measurement.value(Metric::Operations).is_none())
        .map(|m| format!("no operation completed in block {}", m.block_number()))
        .collect()
}

/// Blocks in which a target, or its base, was measured over another backend than elsewhere.
fn other_backends(
    measurements: &[Measurement],
    (base_name, base): (&str, &[Measurement]),
) -> Vec<String> {
    let compared = pairing::in_blocks(measurements, base).filter_map(|(mine, other)| {
        let (backend, of_base) = (mine.row().backend, other.row().backend);
        (backend != of_base).then(|| {
            format!(
                "block {}: measured over {backend}, and {base_name} over {of_base}, so that they are \
                 not compared",
                mine.block_number(),
            )
        })
    });
    let backends = measurements.iter().map(|m| m.row().backend);
    let backends: BTreeSet<&str> = backends.map(Backend::name).collect();
    let mixed = (backends.len() > 1).then(|| {
        let names: Vec<&str> = backends.into_iter().collect();
        format!("its blocks were measured over {}", names.join(" and "))
    });
    compared.chain(mixed).collect()
}

/// Blocks whose placement is not that of the base or of other blocks, although the plan asks for
/// the same. Where it asks for different ones, the list of targets shows it.
fn other_placements(
    plan: &Plan,
    step: usize,
    measurements: &[Measurement],
    (base_name, base): (&str, &[Measurement]),
) -> Vec<String> {
    let wanted = |m: &Measurement| {
        let target = &plan.targets[m.row().planned.target];
        plan.wanted_placement(target, &plan.steps[step])
    };
    let mut differing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (mine, other) in pairing::in_blocks(measurements, base) {
        if let (Some(own), Some(of_base)) = (mine.placement(), other.placement())
            && own != of_base
            && wanted(mine) == wanted(other)
        {
            let text = format!("placed {own}, and {base_name} {of_base}: the ratio includes this");
            let blocks = differing.entry(text).or_default();
            blocks.push(mine.block_number().to_string());
        }
    }
    let compared = differing.into_iter().map(|(text, blocks)| {
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        format!("{noun} {}: {text}", blocks.join(", "))
    });
    let placements = measurements.iter().filter_map(Measurement::placement);
    let placements: BTreeSet<String> = placements.map(ToString::to_string).collect();
    let mixed = (placements.len() > 1).then(|| {
        let placements: Vec<String> = placements.into_iter().collect();
        format!(
            "its blocks were placed differently: {}",
            listed(&placements)
        )
    });
    compared.chain(mixed).collect()
}

fn unexpected_answers(measurements: &[Measurement]) -> Vec<String> {
    let mut by_statement: BTreeMap<&str, u64> = BTreeMap::new();
    for statement in measurements.iter().flat_map(|m| &m.statements) {
        *by_statement.entry(&statement.name).or_default() += statement.unexpected;
    }
    by_statement
        .into_iter()
        .filter(|(_, unexpected)| *unexpected > 0)
        .map(|(statement, unexpected)| {
            format!(
                "{} of `{statement}` returned or changed another number of rows than expected",
                plural(unexpected, "answer")
            )
        })
        .collect()
}

fn server_errors(measurements: &[Measurement]) -> Vec<String> {
    let mut by_code: BTreeMap<_, (u64, &ErrorRow)> = BTreeMap::new();
    for error in measurements.iter().flat_map(|m| &m.errors) {
        by_code.entry(error.code).or_insert((0, error)).0 += error.count;
    }
    by_code
        .into_iter()
        .map(|(code, (times, error))| {
            format!(
                "server error {code}, {}, {} times; the first message: {}",
                class_meaning(error.class),
                count(times),
                error.message
            )
        })
        .collect()
}

/// Blocks in which the engine was not quiet although it had been asked to settle.
fn unsettled(measurements: &[Measurement]) -> Vec<String> {
    let unsettled = measurements.iter().filter_map(|measurement| {
        let settle = measurement.settle.as_ref()?;
        (!settle.unmet.is_empty()).then(|| {
            format!(
                "block {}: settling before the step did not complete within {}: {}",
                measurement.block_number(),
                seconds(settle.took_ms),
                settle.unmet.join("; ")
            )
        })
    });
    unsettled.collect()
}

fn stored(measurements: &[Measurement]) -> Vec<String> {
    let of_block = |measurement: &Measurement| {
        let block = measurement.block_number();
        let texts = measurement.warnings.clone().into_iter();
        texts.map(move |text| format!("block {block}: {text}"))
    };
    measurements.iter().flat_map(of_block).collect()
}

fn class_meaning(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Retryable => "tried again",
        ErrorClass::Counted => "not tried again",
        ErrorClass::Fatal => "fatal",
    }
}
