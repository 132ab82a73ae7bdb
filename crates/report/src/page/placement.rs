//! The placement of all steps, in the line of the heading.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{CpuSet, Placement, PlacementRule, Processors};

use crate::analysis::Analysis;
use crate::page::view::with_clients;
use crate::words::{listed, plural};

/// Names that are written out; of more, the number is shown.
const NAMES_MAX: usize = 4;

/// A cell with the placement of one of its blocks.
struct Placed<'a> {
    step: usize,
    target: usize,
    clients: u32,
    placement: &'a Placement,
}

/// The placements of all steps that are shown. `None` where none is known.
pub(crate) fn line(analysis: &Analysis<'_>) -> Option<String> {
    let mut parts: Vec<Vec<Placed<'_>>> = Vec::new();
    for placed in all(analysis) {
        match parts.iter_mut().find(|part| is_alike(&part[0], &placed)) {
            Some(part) => part.push(placed),
            None => parts.push(vec![placed]),
        }
    }
    let text = match parts.as_slice() {
        [] => None,
        [only] => Some(format!("{}: {}", only[0].placement.rule, words(only))),
        several => {
            let part = |part: &Vec<Placed<'_>>| {
                let rule = part[0].placement.rule;
                format!("{rule}{} ({})", place(analysis, part), words(part))
            };
            let parts: Vec<String> = several.iter().map(part).collect();
            Some(parts.join("; "))
        }
    };
    let sentences = [text, default(analysis), counted(analysis, &parts)];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

/// The distinct placements of each cell.
fn all<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = Placed<'a>> {
    shown(analysis).into_iter().flat_map(move |step| {
        let clients = analysis.plan.steps[step].all_clients();
        analysis.all_targets().into_iter().flat_map(move |target| {
            let measurements = analysis.cell(step, target).measurements.iter();
            let mut known: Vec<&Placement> = Vec::new();
            for placement in measurements.filter_map(|m| m.placement()) {
                if !known.contains(&placement) {
                    known.push(placement);
                }
            }
            known.into_iter().map(move |placement| Placed {
                step,
                target,
                clients,
                placement,
            })
        })
    })
}

/// The steps that have figures in this report.
fn shown(analysis: &Analysis<'_>) -> Vec<usize> {
    let steps = analysis.plan.steps.iter().enumerate();
    let shown = steps.filter(|(_, step)| !step.warm_only);
    shown.map(|(index, _)| index).collect()
}

/// Returns `true` if two placements are of one rule or, where the experiment names the processors,
/// of one set of them.
fn is_alike(one: &Placed<'_>, other: &Placed<'_>) -> bool {
    let (one, other) = (one.placement, other.placement);
    one == other || (one.rule == other.rule && one.rule != PlacementRule::Sets)
}

/// The steps and targets of a placement: ` in point-query for mysql-5.0`.
fn place(analysis: &Analysis<'_>, part: &[Placed<'_>]) -> String {
    let steps: BTreeSet<usize> = part.iter().map(|placed| placed.step).collect();
    let targets: BTreeSet<usize> = part.iter().map(|placed| placed.target).collect();
    let cells: BTreeSet<(usize, usize)> = part.iter().map(|p| (p.step, p.target)).collect();
    let step_name = |step: usize| {
        let step = &analysis.plan.steps[step];
        with_clients(analysis, &step.name, step)
    };
    let target_name = |target: usize| analysis.plan.targets[target].name.clone();
    if cells.len() < steps.len() * targets.len() {
        let cell = |(step, target)| format!("{} for {}", step_name(step), target_name(target));
        return format!(" in {}", named(cells.into_iter().map(cell), "cell"));
    }
    let of_steps = (steps.len() < shown(analysis).len()).then(|| {
        let names = steps.into_iter().map(step_name);
        format!(" in {}", named(names, "step"))
    });
    let of_targets = (targets.len() < analysis.plan.targets.len()).then(|| {
        let names = targets.into_iter().map(target_name);
        format!(" for {}", named(names, "target"))
    });
    [of_steps, of_targets].into_iter().flatten().collect()
}

/// The names, or their number where they are many.
fn named(names: impl Iterator<Item = String>, noun: &str) -> String {
    let names: Vec<String> = names.collect();
    if names.len() > NAMES_MAX {
        return plural(names.len() as u64, noun);
    }
    listed(&names)
}

/// The processors of placements of one rule.
fn words(part: &[Placed<'_>]) -> String {
    match part[0].placement.rule {
        PlacementRule::Together => format!(
            "sessions and generator share {}{}{}",
            by_clients(sizes(part, |processors| processors.sessions.as_ref())),
            pairs(part),
            others(part)
        ),
        PlacementRule::Apart => format!(
            "the generator has {} of its own, the server {}",
            plain(sizes(part, |processors| processors.generator.as_ref())),
            plain(sizes(part, |processors| processors.sessions.as_ref())),
        ),
        PlacementRule::Free => "the kernel chooses the processors of all threads".to_owned(),
        PlacementRule::Sets => format!("{}, as the experiment asks", part[0].placement.processors),
    }
}

/// A note that threads of the generator are paired with sessions.
fn pairs(part: &[Placed<'_>]) -> &'static str {
    let several = part.iter().filter(|placed| {
        let sessions = placed.placement.processors.sessions.as_ref();
        sessions.is_some_and(|cpus| cpus.cpus().len() > 1)
    });
    let paired: BTreeSet<bool> = several.map(|placed| placed.placement.paired).collect();
    match (paired.contains(&true), paired.contains(&false)) {
        (true, false) => ", paired: each thread of the generator has one with its sessions",
        (true, true) => {
            ", paired in some steps: each thread of the generator has one with its sessions"
        }
        (false, _) => "",
    }
}

/// Numbers of processors with the numbers of clients that have them.
type Sizes = BTreeMap<usize, BTreeSet<u32>>;

fn sizes(part: &[Placed<'_>], of: fn(&Processors) -> Option<&CpuSet>) -> Sizes {
    let mut sizes = Sizes::new();
    for placed in part {
        if let Some(cpus) = of(&placed.placement.processors) {
            let clients = sizes.entry(cpus.cpus().len()).or_default();
            clients.insert(placed.clients);
        }
    }
    sizes
}

/// `1 processor for 1 client and 2 processors for 2 to 64 clients`.
fn by_clients(sizes: Sizes) -> String {
    let several = sizes.len() > 1;
    let size = |(size, clients): (usize, BTreeSet<u32>)| {
        let processors = plural(size as u64, "processor");
        match (clients.first(), clients.last()) {
            (Some(first), Some(last)) if first == last => {
                format!("{processors} for {}", plural((*first).into(), "client"))
            }
            (Some(first), Some(last)) if several => {
                format!("{processors} for {first} to {last} clients")
            }
            _ => processors,
        }
    };
    listed(&sizes.into_iter().map(size).collect::<Vec<_>>())
}

/// `1 processor`, or `1 processor or 2 processors`.
fn plain(sizes: Sizes) -> String {
    let sizes = sizes
        .into_keys()
        .map(|size| plural(size as u64, "processor"));
    sizes.collect::<Vec<_>>().join(" or ")
}

/// The processors of the server's background threads beside those that sessions have.
fn others(part: &[Placed<'_>]) -> &'static str {
    let shares = part.iter().filter_map(|placed| {
        let processors = &placed.placement.processors;
        let (sessions, background) = (
            processors.sessions.as_ref()?,
            processors.background.as_ref(),
        );
        Some(background.is_none_or(|background| background.meets(sessions)))
    });
    let shares: BTreeSet<bool> = shares.collect();
    match (shares.contains(&false), shares.contains(&true)) {
        (true, false) => ", the server's other threads have the rest",
        (true, true) => ", the server's other threads have the rest, or all where none is left",
        (false, true) => ", the server's other threads may use all",
        (false, false) => "",
    }
}

/// The reason for the default, if any step has it.
fn default(analysis: &Analysis<'_>) -> Option<String> {
    let plan = analysis.plan;
    let leaves_open = |step: &usize| plan.leaves_placement_open(&plan.steps[*step]);
    let default = analysis.placements.default?;
    let is_used = shown(analysis).iter().any(leaves_open);
    is_used.then(|| format!("Default: {}, because {}", default.rule, default.reason))
}

/// A note that counting trials ran by another rule than timed ones.
fn counted(analysis: &Analysis<'_>, parts: &[Vec<Placed<'_>>]) -> Option<String> {
    let timed: BTreeSet<PlacementRule> = parts.iter().map(|part| part[0].placement.rule).collect();
    let counted: Vec<&str> = analysis
        .placements
        .counted
        .difference(&timed)
        .map(|rule| rule.name())
        .collect();
    (!counted.is_empty()).then(|| format!("In counting trials: {}", counted.join(", ")))
}
