//! What stands beside costs: sources that disagree, counters that took turns, gaps, and what could
//! not be read at all.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Counter, Metric, Moment, NoDifference, NoValue, Source, TrialKind};

use crate::analysis::Analysis;
use crate::costs::{CellCosts, Spent};
use crate::document::Block;
use crate::effective::Detail;
use crate::efficiency;
use crate::figures::sentence;

/// Counters that ran at least this share of the time are as good as whole.
const RUNNING_MIN: f64 = 0.995;

/// What must be said beside the costs of a cell, each a fragment without final period.
pub(crate) fn notes(cell: &CellCosts) -> Vec<String> {
    let mut by_text: BTreeMap<(TrialKind, String), Vec<u32>> = BTreeMap::new();
    let mut take = |kind, spent: &Spent, texts: Vec<String>| {
        for text in texts {
            let blocks = by_text.entry((kind, text)).or_default();
            if !blocks.contains(&spent.block) {
                blocks.push(spent.block);
            }
        }
    };
    for spent in &cell.timed {
        let texts = disagreement(spent).into_iter().chain(gaps(spent));
        take(TrialKind::Timed, spent, texts.chain(lost(spent)).collect());
    }
    // Of processor time, nothing is taken from these.
    for spent in &cell.counted {
        let texts = gaps(spent).into_iter().chain(lost(spent)).collect();
        take(TrialKind::Counting, spent, texts);
    }
    let said = by_text.into_iter().map(|((kind, text), blocks)| {
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        let blocks: Vec<String> = blocks.iter().map(u32::to_string).collect();
        let counting = match kind {
            TrialKind::Timed => "",
            TrialKind::Counting => ", counting",
        };
        format!("{noun} {}{counting}: {text}", blocks.join(", "))
    });
    said.chain(turns(cell)).collect()
}

/// The names of a set of counters.
fn names(set: &[Counter]) -> String {
    let names: Vec<String> = set.iter().map(ToString::to_string).collect();
    names.join(" + ")
}

fn disagreement(spent: &Spent) -> Option<String> {
    let found = spent.disagreement?;
    let side = |(set, ns): (&'static [Counter], u64)| {
        format!("{:.2} s by {}", ns as f64 / 1e9, names(set))
    };
    Some(format!(
        "sources disagree on the server's processor time: {}, {}",
        side(found.least),
        side(found.most)
    ))
}

/// Sources that a sample lacks.
fn gaps(spent: &Spent) -> Vec<String> {
    let mut by_gap: BTreeMap<(Source, &str), Vec<Moment>> = BTreeMap::new();
    for (moment, gap) in &spent.gaps {
        let moments = by_gap.entry((gap.source, &gap.reason)).or_default();
        moments.push(*moment);
    }
    let said = by_gap.into_iter().map(|((source, reason), moments)| {
        let at = |moment| moments.contains(&moment);
        let when = match (at(Moment::Start), at(Moment::End)) {
            (true, true) => "at both ends",
            (true, false) => "at the start",
            (false, true) => "at the end",
            (false, false) => "in between",
        };
        format!("{source} not read {when}: {reason}")
    });
    said.collect()
}

/// Metrics that a trial should have and has not, by reason.
fn lost(spent: &Spent) -> Vec<String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (metric, why) in lost_metrics(spent) {
        let names = by_reason.entry(why.to_string()).or_default();
        names.push(metric.facts().heading);
    }
    let said = by_reason
        .into_iter()
        .map(|(why, names)| format!("no {}: {why}", names.join(", ")));
    said.collect()
}

/// The same with the reason, but for those of sources of which a gap has said so already.
fn lost_metrics(spent: &Spent) -> impl Iterator<Item = (Metric, NoValue)> {
    let is_said = |metric: &Metric| {
        let sets = metric.facts().how.counters().iter();
        let mut sources = sets.flat_map(|set| set.iter().map(|counter| counter.source));
        sources.any(|source| spent.gaps.iter().any(|(_, gap)| gap.source == source))
    };
    let lost = spent.without.iter().filter(move |(metric, why)| match why {
        NoValue::Unread(NoDifference::NotRead) => false,
        NoValue::Unread(NoDifference::Lost) => !is_said(metric),
        NoValue::Unread(_) | NoValue::NeverRan => true,
        _ => false,
    });
    lost.map(|(metric, why)| (*metric, *why))
}

/// Counters of the processor that shared it.
fn turns(cell: &CellCosts) -> Option<String> {
    let metrics = cell.figures.keys().map(|metric| running(cell, *metric));
    let least = metrics.min_by(f64::total_cmp)?;
    (least < RUNNING_MIN).then(|| {
        format!(
            "counters of the processor took turns, ran {:.0} % of the time and are scaled",
            least * 100.0
        )
    })
}

/// The least share of the time that the counters of a metric ran in any block.
fn running(cell: &CellCosts, metric: Metric) -> f64 {
    let shares = cell.values(metric).map(|(_, value)| value.running);
    shares.fold(1.0, f64::min)
}

/// The metrics that the notes on a cell are about. What is wrong in a trial concerns what is taken
/// from trials of its kind.
pub(crate) fn metrics(cell: &CellCosts) -> BTreeSet<Metric> {
    let disagrees = cell.timed.iter().any(|spent| spent.disagreement.is_some());
    let of_kind = |spent: &[Spent], kind| -> BTreeSet<Metric> {
        let lost = spent.iter().flat_map(|spent| &spent.without);
        let lost = lost.filter(|(_, why)| is_lost(**why));
        let lost = lost.map(|(metric, _)| *metric);
        lost.filter(|metric| cell.of(*metric).0 == kind).collect()
    };
    let lost = of_kind(&cell.timed, TrialKind::Timed)
        .into_iter()
        .chain(of_kind(&cell.counted, TrialKind::Counting));
    let known = cell.figures.keys().copied();
    let scaled = known.filter(|metric| running(cell, *metric) < RUNNING_MIN);
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

/// Whether a value should be there and is not.
const fn is_lost(why: NoValue) -> bool {
    match why {
        NoValue::Unread(why) => !matches!(why, NoDifference::NotRead),
        NoValue::NeverRan => true,
        _ => false,
    }
}

/// Says of a step that writes that valgrind overstates its instructions.
pub(crate) fn simulated_writes(cell: &mut CellCosts) {
    let metric = Metric::Instructions;
    let simulated = cell
        .values(metric)
        .any(|(spent, _)| spent.is_from(metric, Source::Valgrind));
    if simulated {
        cell.doubtful.insert(metric);
        cell.notes.push(
            "instructions of a step that writes, counted by valgrind: work in the background weighs \
             some fifty times too much in them"
                .to_owned(),
        );
    }
}

/// What could not be read in whole trials, or in the whole run, each said once.
pub(crate) fn absences(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut by_gap: Vec<((Source, &str), Vec<usize>)> = Vec::new();
    for (trial, gap) in &analysis.costs.absences {
        let target = trial.and_then(|id| Some(analysis.trial(id)?.planned.target));
        let key = (gap.source, gap.reason.as_str());
        let place = by_gap.iter().position(|(other, _)| *other == key);
        let place = place.unwrap_or_else(|| {
            by_gap.push((key, Vec::new()));
            by_gap.len() - 1
        });
        let targets = &mut by_gap[place].1;
        targets.extend(target.filter(|target| !targets.contains(target)));
    }
    let mut items: Vec<String> = by_gap
        .iter()
        .map(|((source, reason), targets)| {
            let whose = whose(analysis, targets);
            sentence(&format!(
                "{source}{whose}: {}",
                reason.trim_end_matches('.')
            ))
        })
        .collect();
    if let Some(note) = &analysis.plan.counting_note {
        items.push(sentence(note));
    }
    if items.is_empty() {
        return Vec::new();
    }
    let missing = efficiency::missing(analysis, detail);
    if !missing.is_empty() {
        let headings: Vec<&str> = missing.iter().map(|m| m.facts().heading).collect();
        items.push(format!("No step has figures for {}.", headings.join(", ")));
    }
    vec![
        Block::Heading("What could not be read".into()),
        Block::List(items),
    ]
}

/// The targets that something holds for, unless it holds for all.
fn whose(analysis: &Analysis<'_>, targets: &[usize]) -> String {
    if targets.is_empty() || targets.len() == analysis.plan.targets.len() {
        return String::new();
    }
    let names: Vec<&str> = analysis
        .columns()
        .into_iter()
        .filter(|target| targets.contains(target))
        .map(|target| analysis.plan.targets[target].name.as_str())
        .collect();
    format!(" of {}", names.join(", "))
}
