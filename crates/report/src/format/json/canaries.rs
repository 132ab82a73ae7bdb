//! The canaries of a run, for programs.

use std::collections::BTreeMap;

use prony_model::CanaryPart;
use serde::Serialize;

use super::object;
use crate::analysis::Analysis;
use crate::analysis::canaries::Canary;
use crate::figures::thousandths;

/// The rule and every canary. `None` if none ran.
pub(crate) fn entry(analysis: &Analysis<'_>) -> Option<impl Serialize> {
    let canaries = &analysis.canaries;
    let of = |canary: &Canary| of_trial(analysis, canary);
    (!canaries.all.is_empty()).then(|| {
        object! {
            bound_percent: canaries.rule.bound_percent.as_f64(),
            exclude: canaries.rule.exclude,
            canaries: canaries.all.iter().map(of).collect::<Vec<_>>(),
        }
    })
}

fn of_trial(analysis: &Analysis<'_>, canary: &Canary) -> impl Serialize + use<> {
    let row = canary.row;
    let trial = analysis.trials.get(row.trial);
    let planned = trial.map(|trial| trial.planned);
    let ns = CanaryPart::ALL.map(|part| (part.name(), row.times.ns(part)));
    let changes = canary.changes.iter();
    object! {
        target: planned.map(|planned| analysis.plan.targets[planned.target].name.clone()),
        block: planned.map(|planned| planned.block + 1),
        trials: planned.map(|planned| planned.kind),
        attempt: trial.map(|trial| trial.attempt),
        state: trial.map(|trial| trial.state),
        host: row.host,
        moment: row.moment,
        ns: BTreeMap::from(ns),
        change_percent: changes
            .map(|change| (change.part.name(), thousandths(change.share * 100.0)))
            .collect::<BTreeMap<_, _>>(),
    }
}
