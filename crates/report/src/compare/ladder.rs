//! What may be compared, and how: paired in a run, through a common build between runs, or not.

use std::fmt;

use prony_model::{Metric, Target};
use prony_stats::{Interval, LogRatio};

use crate::analysis::estimate::{Estimate, LEVEL};
use crate::analysis::replicates::means;
use crate::analysis::verdicts::PAIRS_MIN;
use crate::compare::runs::{Host, Place, Run};
use crate::compare::works::Works;
use crate::figures;
use crate::words::{listed, share};

/// Logarithms by block.
pub(crate) type Logs = Vec<(u32, f64)>;

/// The ratio of two cells.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) kind: Kind,
    /// Logarithms of quotients within blocks, or of values; the second is subtracted.
    pub(crate) parts: (Logs, Option<Logs>),
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    /// `None` below the number of pairs that a verdict needs.
    pub(crate) p_value: Option<f64>,
    pub(crate) equivalence_p: Option<f64>,
    /// Blocks; the lesser number where there are two parts.
    pub(crate) n: usize,
    /// Reasons for doubt.
    pub(crate) doubts: Vec<String>,
}

/// The way to a ratio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Within blocks.
    Paired,
    /// Between runs, through a build that both measured.
    Through(String),
    /// The same build in two runs: their difference is that of the days.
    Drift,
}

/// The reason why there is no ratio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    OtherHost(String),
    NoCommonBuild,
    Differs(&'static str, String, String),
    OtherWork,
    AtARate,
    Broken,
    NoCommonBlock,
}

/// A cell of a run.
pub(crate) type Of<'a> = (usize, &'a Run, Place);

/// The ratio of `cell` to `base`.
///
/// # Errors
/// When they may not be compared.
pub(crate) fn relate(works: &Works, cell: Of<'_>, base: Of<'_>) -> Result<Relation, Refusal> {
    let work = |of: Of<'_>| (works.of[of.0][of.2.step], of.2.group);
    if work(cell) != work(base) {
        return Err(Refusal::OtherWork);
    }
    let is_at_a_rate = |of: &Of<'_>| of.1.clients(of.2).pace.is_scheduled();
    if is_speed(cell.1.metric) && [cell, base].iter().any(is_at_a_rate) {
        return Err(Refusal::AtARate);
    }
    let is_broken = |of: &Of<'_>| of.1.broken.contains(&(of.2.target, of.2.step));
    if [cell, base].iter().any(is_broken) {
        return Err(Refusal::Broken);
    }
    let mut relation = if cell.0 == base.0 {
        let logs = paired(cell.1, cell.2, base.2)?;
        in_run(cell.1, cell.2, logs, Kind::Paired)
    } else {
        same_conditions(cell, base)?;
        between(cell, base)?
    };
    let both = [(cell.1, cell.2), (base.1, base.2)];
    let runs = if cell.0 == base.0 { &both[..1] } else { &both };
    relation.doubts.extend(runs.iter().filter_map(unfit));
    Ok(relation)
}

/// Returns `true` for metrics that say how much is done in a time: clients that keep a pace decide it.
pub(crate) const fn is_speed(metric: Metric) -> bool {
    matches!(metric, Metric::Operations | Metric::Queries | Metric::Rate)
}

/// The doubt about a step at which identical servers of its run differ by more than the margin.
fn unfit(&(run, place): &(&Run, Place)) -> Option<String> {
    let of = |target| Place { target, ..place };
    let twin = run.plan.twin?;
    let logs = paired(run, of(twin), of(run.plan.base_of(twin)?)).ok()?;
    let difference = run.looks.of_logs(&plain(&logs))?.difference();
    (difference > run.step(place).margin()).then(|| {
        let difference = share(difference);
        format!(
            "identical servers of {} differ by {difference}, more than the margin",
            run.label
        )
    })
}

/// Refuses cells of two runs whose figures mean different things.
fn same_conditions(cell: Of<'_>, base: Of<'_>) -> Result<(), Refusal> {
    let (host, of_base) = (&cell.1.host, &base.1.host);
    let text = |run: &Run| run.host.as_ref().map_or("unknown".to_owned(), Host::text);
    match (host, of_base) {
        (Some(host), Some(of_base)) if host.is_like(of_base) => {}
        (Some(host), Some(of_base)) => {
            let kernel = |host: &Host| host.facts.kernel.clone().unwrap_or_default();
            return Err(Refusal::OtherHost(format!(
                "{}, kernel {}, and {}, kernel {}",
                host.text(),
                kernel(host),
                of_base.text(),
                kernel(of_base)
            )));
        }
        _ => {
            let texts = format!("{} and {}", text(cell.1), text(base.1));
            return Err(Refusal::OtherHost(texts));
        }
    }
    let value =
        |of: Of<'_>, key: &'static str| of.1.value(of.2, "", &crate::compare::key::Key::Named(key));
    for key in ["backend", "protocol", "transport"] {
        let (mine, other) = (value(cell, key), value(base, key));
        if mine != other {
            return Err(Refusal::Differs(key, mine, other));
        }
    }
    Ok(())
}

/// The ratio of cells of two runs through a build that both measured.
fn between(cell: Of<'_>, base: Of<'_>) -> Result<Relation, Refusal> {
    let (of_cell, of_base) = common(cell, base).ok_or(Refusal::NoCommonBuild)?;
    let margin = base.1.step(base.2).margin();
    let drift = unpaired(
        values(cell.1, of_cell),
        Some(values(base.1, of_base)),
        margin,
        Kind::Drift,
    )?;
    let name = base.1.target(of_base).name.clone();
    let mut doubts = Vec::new();
    if let Some(interval) = drift.interval
        && (interval.low < 1.0 / (1.0 + margin) || interval.high > 1.0 + margin)
    {
        let drift = figures::with_interval(drift.ratio, drift.interval);
        doubts.push(format!(
            "the drift of {name} from {} to {}, {drift}, may exceed the margin",
            base.1.label, cell.1.label
        ));
    }
    let fingerprint =
        |run: &Run, place: Place| run.fingerprints.get(&(place.target, place.step)).cloned();
    if fingerprint(cell.1, of_cell) != fingerprint(base.1, of_base) {
        doubts.push(format!(
            "{} and {} measured {name} with other lengths, placement, readings or steps before",
            cell.1.label, base.1.label
        ));
    }
    let mut relation = match (of_cell == cell.2, of_base == base.2) {
        (true, true) => drift,
        (false, true) => in_run(
            cell.1,
            cell.2,
            paired(cell.1, cell.2, of_cell)?,
            Kind::Through(name),
        ),
        (true, false) => in_run(
            base.1,
            base.2,
            paired(base.1, of_base, base.2)?,
            Kind::Through(name),
        ),
        (false, false) => unpaired(
            paired(cell.1, cell.2, of_cell)?,
            Some(paired(base.1, base.2, of_base)?),
            margin,
            Kind::Through(name),
        )?,
    };
    let settings = settings(cell.1.target(cell.2), base.1.target(base.2));
    if !settings.is_empty() {
        doubts.push(format!("settings differ: {}", listed(&settings)));
    }
    relation.doubts = doubts;
    Ok(relation)
}

/// Cells of both runs with the same build, settings and way to it; those to be compared first, then
/// the bases of the plans.
fn common(cell: Of<'_>, base: Of<'_>) -> Option<(Place, Place)> {
    let ordered = |of: Of<'_>| {
        let others = 0..of.1.plan.targets.len();
        let first = [of.2.target, of.1.plan.base];
        let targets = first.into_iter().chain(others);
        let places = targets.map(move |target| Place { target, ..of.2 });
        places
            .filter(move |place| of.1.cells.contains_key(place))
            .collect::<Vec<_>>()
    };
    let of_base = ordered(base);
    let of_cell = ordered(cell);
    of_base.into_iter().find_map(|place| {
        let mut candidates = of_cell.iter();
        let same = candidates.find(|&&other| is_same((cell.1, other), (base.1, place)))?;
        Some((*same, place))
    })
}

/// Returns `true` if two targets are the same server, asked to do the same.
fn is_same(a: (&Run, Place), b: (&Run, Place)) -> bool {
    let build = |of: (&Run, Place)| of.0.builds.get(of.1.target).cloned().flatten();
    let (mine, other) = (a.0.target(a.1), b.0.target(b.1));
    let preload = |target: &Target| {
        let libraries = target.preload.iter();
        libraries
            .map(|library| library.sha256.clone())
            .collect::<Vec<_>>()
    };
    build(a).is_some()
        && build(a) == build(b)
        && mine.external.is_none()
        && other.external.is_none()
        && (&mine.engine, &mine.config, &mine.protocol, &mine.transport)
            == (
                &other.engine,
                &other.config,
                &other.protocol,
                &other.transport,
            )
        && preload(mine) == preload(other)
}

/// Names of the settings in which two targets differ.
fn settings(a: &Target, b: &Target) -> Vec<String> {
    let intents = a.config.intents.keys().chain(b.config.intents.keys());
    let intents = intents.filter(|&name| a.config.intents.get(name) != b.config.intents.get(name));
    let raw = a.config.raw.keys().chain(b.config.raw.keys());
    let raw = raw.filter(|&name| a.config.raw.get(name) != b.config.raw.get(name));
    let names: std::collections::BTreeSet<&String> = intents.chain(raw).collect();
    let baseline = (a.config.baseline != b.config.baseline).then(|| "baseline".to_owned());
    baseline
        .into_iter()
        .chain(names.into_iter().cloned())
        .collect()
}

/// Quotients within the blocks in which both have the same backend.
fn paired(run: &Run, cell: Place, base: Place) -> Result<Logs, Refusal> {
    let missing = Refusal::NoCommonBlock;
    let mine = run.cells.get(&cell).ok_or(missing.clone())?;
    let other = run.cells.get(&base).ok_or(missing.clone())?;
    let mut differing = None;
    let mut logs = Vec::new();
    for (block, value) in &mine.values {
        let Some(of_base) = other.values.get(block) else {
            continue;
        };
        let backends = (&mine.backends[block], &other.backends[block]);
        if backends.0 == backends.1 {
            logs.push((*block, (value / of_base).ln()));
        } else {
            differing = Some(Refusal::Differs(
                "backend",
                backends.0.clone(),
                backends.1.clone(),
            ));
        }
    }
    if logs.is_empty() {
        return Err(differing.unwrap_or(missing));
    }
    Ok(by_replicate(run, logs))
}

fn values(run: &Run, place: Place) -> Logs {
    let cell = run.cells.get(&place);
    let values = cell.into_iter().flat_map(|cell| &cell.values);
    by_replicate(run, values.map(|(&block, value)| (block, value.ln())))
}

/// The means of the blocks of each host, where several measured the run.
fn by_replicate(run: &Run, logs: impl IntoIterator<Item = (u32, f64)>) -> Logs {
    means(
        logs.into_iter()
            .map(|(block, log)| (run.replicates.at(block), log)),
    )
}

fn plain(logs: &Logs) -> Vec<f64> {
    logs.iter().map(|&(_, log)| log).collect()
}

/// A ratio within the blocks of one run, at the looks that this run plans.
fn in_run(run: &Run, place: Place, logs: Logs, kind: Kind) -> Relation {
    let estimate = run.looks.of_logs(&plain(&logs));
    let margin = run.step(place).margin();
    let n = estimate.as_ref().map_or(0, Estimate::n);
    let tested = estimate
        .as_ref()
        .filter(|_| n >= PAIRS_MIN.max(run.looks.first()));
    Relation {
        kind,
        ratio: estimate.as_ref().map_or(f64::NAN, Estimate::ratio),
        interval: estimate.as_ref().and_then(|estimate| estimate.interval),
        p_value: tested.and_then(|estimate| estimate.p_value),
        equivalence_p: tested.and_then(|estimate| run.looks.equivalence_p(estimate, margin)),
        n,
        parts: (logs, None),
        doubts: Vec::new(),
    }
}

/// A ratio of figures that share no blocks.
fn unpaired(a: Logs, b: Option<Logs>, margin: f64, kind: Kind) -> Result<Relation, Refusal> {
    let log = |logs: &Logs| LogRatio::of(&plain(logs)).map_err(|_| Refusal::NoCommonBlock);
    let (of_a, of_b) = (log(&a)?, log(b.as_ref().ok_or(Refusal::NoCommonBlock)?)?);
    let quotient = of_a.over(&of_b);
    let n = of_a.n.min(of_b.n);
    let is_tested = n >= PAIRS_MIN;
    Ok(Relation {
        kind,
        ratio: quotient.ratio(),
        interval: quotient.interval(LEVEL),
        p_value: quotient.p_value().filter(|_| is_tested),
        equivalence_p: quotient.equivalence_p(margin).filter(|_| is_tested),
        n,
        parts: (a, b),
        doubts: Vec::new(),
    })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherHost(hosts) => {
                write!(
                    f,
                    "measured on another host, or its facts are missing: {hosts}"
                )
            }
            Self::NoCommonBuild => f.write_str(
                "unpaired: the runs have no build with the same settings in common, so that days \
                 and servers can't be told apart",
            ),
            Self::Differs(key, mine, other) => {
                write!(f, "not compared: the {key} differs, {mine} and {other}")
            }
            Self::OtherWork => f.write_str("not compared: other work"),
            Self::AtARate => {
                f.write_str("not compared: operations arrive at a rate that no server decides")
            }
            Self::Broken => f.write_str("not compared: a promised rate was not kept"),
            Self::NoCommonBlock => f.write_str("not compared: no block has both"),
        }
    }
}
