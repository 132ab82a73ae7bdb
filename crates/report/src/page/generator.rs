//! The load generator, and its ceiling on the host.

use std::collections::BTreeSet;

use prony_model::{
    Backend, Calibration, ClosedPoint, Family, HostUse, Plan, Step, Target, WantedPlacement,
};
use prony_store::OutcomeRow;

use crate::analysis::Analysis;
use crate::analysis::measurement::Measurement;
use crate::figures::significant;
use crate::words::plural;

/// The load generator in one line. `None` where that is not decided yet.
pub(crate) fn line(analysis: &Analysis<'_>) -> Option<String> {
    let backends = &analysis.backends;
    let names: Vec<&str> = backends.iter().copied().map(Backend::name).collect();
    if names.is_empty() {
        return None;
    }
    let threads = measured(analysis).map(|row| row.threads).max();
    let threads = threads.map(|threads| plural(threads.into(), "thread"));
    let known = std::iter::once(names.join(" and ")).chain(threads);
    let known: Vec<String> = known.collect();
    let ceiling = backends.first().and_then(|&b| of_ends(analysis, b));
    Some(match ceiling {
        Some(ceiling) if backends.len() == 1 => format!("{}; {ceiling}", known.join(", ")),
        _ => known.join(", "),
    })
}

fn measured<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = &'a OutcomeRow> {
    let cells = analysis.cells.iter();
    cells.flat_map(|cell| cell.measurements.iter().map(Measurement::row))
}

/// The ceiling for a number of clients.
pub(crate) struct Ceiling {
    pub(crate) queries_per_second: f64,
    /// In words, with the number of clients that it was measured at and doubts about it.
    pub(crate) text: String,
    /// `true` if a step reached more.
    pub(crate) is_struck: bool,
}

/// The ceiling at the nearest measured number of clients that is not smaller, the lowest of the targets'
/// protocols. `None` where one is unknown, where the run had several backends, and where the generator was to do more than when it was measured,
/// or with less.
pub(crate) fn ceiling(analysis: &Analysis<'_>, clients: u32) -> Option<Ceiling> {
    let backends = &analysis.backends;
    let backend = *backends.first().filter(|_| backends.len() == 1)?;
    let calibration = calibration(analysis)?;
    let families = families(analysis.plan).into_iter();
    let ceilings = families.map(|family| {
        let point = calibration.at_or_above(family, backend, clients)?;
        of_point(analysis, point)
    });
    let ceilings: Option<Vec<Ceiling>> = ceilings.collect();
    let mut ceilings = ceilings?.into_iter();
    let first = ceilings.next()?;
    Some(ceilings.fold(first, |lowest, one| {
        if one.queries_per_second < lowest.queries_per_second {
            return one;
        }
        lowest
    }))
}

/// The families whose protocols the targets speak, each once.
fn families(plan: &Plan) -> BTreeSet<Family> {
    let targets = plan.targets.iter();
    targets
        .map(|target| target.build.family.of_protocol())
        .collect()
}

fn of_point(analysis: &Analysis<'_>, point: &ClosedPoint) -> Option<Ceiling> {
    let rate = point.counts.queries_per_second()?;
    let clients = plural(point.clients.into(), "client");
    let doubt = doubt(analysis, point);
    Some(Ceiling {
        queries_per_second: rate,
        text: format!("{} queries/s at {clients}{doubt}", significant(rate)),
        is_struck: analysis.struck.reached(point).is_some(),
    })
}

/// The calibration of the host, unless the generator was to do more than when it was calibrated, or with
/// less.
fn calibration<'a>(analysis: &'a Analysis<'_>) -> Option<&'a Calibration> {
    let plan = analysis.plan;
    let other_work = |target: &Target| {
        target.is_far() || target.is_encrypted() || names_processors(plan, target)
    };
    let does_other_work = plan.targets.iter().any(other_work);
    analysis.calibration.as_ref().filter(|_| !does_other_work)
}

/// True where the experiment names the generator's processors in a step of the target.
fn names_processors(plan: &Plan, target: &Target) -> bool {
    let names = |step: &Step| match plan.wanted_placement(target, step) {
        Some(WantedPlacement::Sets(processors)) => processors.generator.is_some(),
        Some(WantedPlacement::Rule(_)) | None => false,
    };
    plan.steps.iter().any(names)
}

/// The ceiling for the least and the greatest number of clients of the plan, each at the nearest
/// measured number that is not smaller. `None` where none is.
fn of_ends(analysis: &Analysis<'_>, backend: Backend) -> Option<String> {
    let calibration = calibration(analysis)?;
    let clients = || analysis.plan.steps.iter().map(Step::all_clients);
    let ends = [clients().min()?, clients().max()?];
    let families = families(analysis.plan);
    let of_family = |family: Family| {
        let points = ends.into_iter();
        let points = points.filter_map(|clients| calibration.at_or_above(family, backend, clients));
        let mut points: Vec<&ClosedPoint> = points.collect();
        points.dedup_by_key(|point| point.clients);
        let rates = points.into_iter();
        let rates = rates.filter_map(|point| Some(of_point(analysis, point)?.text));
        let rates: Vec<String> = rates.collect();
        (!rates.is_empty()).then(|| match families.len() {
            1 => rates.join(" and "),
            _ => format!("{family} {}", rates.join(" and ")),
        })
    };
    let rates: Vec<String> = families.iter().copied().filter_map(of_family).collect();
    (!rates.is_empty()).then(|| {
        let rates = rates.join("; ");
        format!("ceiling on this machine (prepared point query, unix socket) {rates}")
    })
}

/// The reason not to believe a ceiling, in parentheses; empty where there is none.
fn doubt(analysis: &Analysis<'_>, point: &ClosedPoint) -> String {
    if let Some(reached) = analysis.struck.reached(point) {
        let reached = significant(reached);
        return format!(" (struck: a step reached more, {reached})");
    }
    let disturbed = point.host.filter(HostUse::is_disturbed);
    match disturbed.and_then(|host| host.taken()) {
        Some(taken) => format!(
            " (disturbed: others took {:.0} % of the processors)",
            taken.share() * 100.0
        ),
        None => String::new(),
    }
}
