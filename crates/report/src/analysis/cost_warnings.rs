//! Warnings about costs: sources that disagree, counters that took turns, and gaps.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Counter, Metric, Moment, NoDifference, NoValue, Source, TrialKind};

use crate::analysis::cell_trials::CellTrials;
use crate::analysis::trial_costs::TrialCosts;

/// Counters that ran at least this share of the time are as good as whole.
const RUNNING_MIN: f64 = 0.995;

/// The warnings of a cell, each a fragment without final period.
pub(crate) fn of(trials: &CellTrials) -> Vec<String> {
    let mut by_text: BTreeMap<(TrialKind, String), Vec<u32>> = BTreeMap::new();
    let mut add = |kind, trial: &TrialCosts, texts: Vec<String>| {
        for text in texts {
            let blocks = by_text.entry((kind, text)).or_default();
            if !blocks.contains(&trial.block) {
                blocks.push(trial.block);
            }
        }
    };
    for trial in &trials.timed {
        let texts = disagreement(trial).into_iter().chain(gaps(trial));
        add(TrialKind::Timed, trial, texts.chain(lost(trial)).collect());
    }
    // Of processor time, nothing is taken from these.
    for trial in &trials.counted {
        let texts = gaps(trial).into_iter().chain(lost(trial)).collect();
        add(TrialKind::Counting, trial, texts);
    }
    let warnings = by_text.into_iter().map(|((kind, text), blocks)| {
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        let blocks: Vec<String> = blocks.iter().map(u32::to_string).collect();
        let counting = match kind {
            TrialKind::Timed => "",
            TrialKind::Counting => ", counting",
            TrialKind::Profiling => ", profiling",
        };
        format!("{noun} {}{counting}: {text}", blocks.join(", "))
    });
    warnings.chain(turns(trials)).collect()
}

/// The names of a set of counters.
fn names(set: &[Counter]) -> String {
    let names: Vec<String> = set.iter().map(ToString::to_string).collect();
    names.join(" + ")
}

fn disagreement(trial: &TrialCosts) -> Option<String> {
    let disagreement = trial.disagreement?;
    let side = |(set, ns): (&'static [Counter], u64)| {
        format!("{:.2} s by {}", ns as f64 / 1e9, names(set))
    };
    Some(format!(
        "sources disagree on the server's processor time: {}, {}",
        side(disagreement.least),
        side(disagreement.most)
    ))
}

/// Sources that a sample lacks.
fn gaps(trial: &TrialCosts) -> Vec<String> {
    let mut by_gap: BTreeMap<(Source, &str), Vec<Moment>> = BTreeMap::new();
    for (moment, gap) in &trial.gaps {
        let moments = by_gap.entry((gap.source, &gap.reason)).or_default();
        moments.push(*moment);
    }
    let texts = by_gap.into_iter().map(|((source, reason), moments)| {
        let at = |moment| moments.contains(&moment);
        let when = match (at(Moment::Start), at(Moment::End)) {
            (true, true) => "at both ends",
            (true, false) => "at the start",
            (false, true) => "at the end",
            (false, false) => "in between",
        };
        format!("{source} not read {when}: {reason}")
    });
    texts.collect()
}

/// Metrics that a trial should have and has not, by reason.
fn lost(trial: &TrialCosts) -> Vec<String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (metric, why) in lost_metrics(trial) {
        let names = by_reason.entry(why.to_string()).or_default();
        names.push(metric.facts().heading);
    }
    let texts = by_reason
        .into_iter()
        .map(|(why, names)| format!("no {}: {why}", names.join(", ")));
    texts.collect()
}

/// The same with the reason, but for metrics of a source that has a gap of its own.
fn lost_metrics(trial: &TrialCosts) -> impl Iterator<Item = (Metric, NoValue)> {
    let has_gap = |metric: &Metric| {
        let sets = metric.facts().how.counters().iter();
        let mut sources = sets.flat_map(|set| set.iter().map(|counter| counter.source));
        sources.any(|source| trial.gaps.iter().any(|(_, gap)| gap.source == source))
    };
    let lost = trial.without.iter().filter(move |(metric, why)| match why {
        NoValue::Unread(NoDifference::NotRead) => false,
        NoValue::Unread(NoDifference::Lost) => !has_gap(metric),
        NoValue::Unread(_) | NoValue::NeverRan => true,
        _ => false,
    });
    lost.map(|(metric, why)| (metric, *why))
}

/// Counters of the processor that shared it.
fn turns(trials: &CellTrials) -> Option<String> {
    let metrics = Metric::costs().map(|metric| running(trials, metric));
    let least = metrics.min_by(f64::total_cmp)?;
    (least < RUNNING_MIN).then(|| {
        format!(
            "counters of the processor took turns, ran {:.0} % of the time and are scaled",
            least * 100.0
        )
    })
}

/// The least share of the time that the counters of a metric ran in any block.
fn running(trials: &CellTrials, metric: Metric) -> f64 {
    let shares = trials.values(metric).map(|(_, value)| value.running);
    shares.fold(1.0, f64::min)
}

/// The metrics that the warnings of a cell are about. A fault of a trial concerns the metrics that
/// are taken from trials of its kind.
pub(crate) fn metrics(trials: &CellTrials) -> BTreeSet<Metric> {
    let disagrees = trials
        .timed
        .iter()
        .any(|trial| trial.disagreement.is_some());
    let of_kind = |trials_of_kind: &[TrialCosts], kind| -> BTreeSet<Metric> {
        let without = trials_of_kind.iter().flat_map(|trial| trial.without.iter());
        without
            .filter(|(_, why)| is_lost(**why))
            .map(|(metric, _)| metric)
            .filter(|metric| trials.of(*metric).0 == kind)
            .collect()
    };
    let lost = of_kind(&trials.timed, TrialKind::Timed)
        .into_iter()
        .chain(of_kind(&trials.counted, TrialKind::Counting));
    let scaled = Metric::costs().filter(|metric| running(trials, *metric) < RUNNING_MIN);
    let cpu = [
        Metric::ServerCpu,
        Metric::ServerUser,
        Metric::ServerSystem,
        Metric::PerCpuSecond,
    ];
    lost.chain(scaled)
        .chain(cpu.into_iter().filter(|_| disagrees))
        .collect()
}

/// Returns `true` if a value should be there and is not.
const fn is_lost(why: NoValue) -> bool {
    match why {
        NoValue::Unread(why) => !matches!(why, NoDifference::NotRead),
        NoValue::NeverRan => true,
        _ => false,
    }
}

/// The warning that valgrind overstates the instructions of work that writes, `what`, and its metric.
pub(crate) fn simulated_writes(trials: &CellTrials, what: &str) -> Option<(Metric, String)> {
    let metric = Metric::Instructions;
    let mut values = trials.values(metric);
    let simulated = values.any(|(trial, _)| trial.is_from(metric, Source::Valgrind));
    simulated.then(|| {
        let text = format!(
            "instructions of {what}, counted by valgrind: background work weighs about fifty \
             times too much"
        );
        (metric, text)
    })
}
