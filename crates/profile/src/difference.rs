//! Differences of costs between two targets, each measured in one or several trials.

use std::collections::{BTreeMap, BTreeSet};

use crate::costs::{Costs, FunctionName, MappedBy};

/// The least difference of a function that is called one, as a share of the base's total. Of 722
/// functions of a server that was started twice, one differed by more than an instruction.
const LEAST_SHARE: f64 = 0.001;
/// The same in instructions for each operation.
const LEAST: f64 = 20.0;
/// The most by which the costs of a function that vanished and of one that appeared differ where they
/// are taken for one that was renamed, as a share of the larger. Changes within a group of functions whose
/// sum stays are no changes: `FBDetect` (SOSP 2024) calls them cost shifts.
const RENAMED_WITHIN: f64 = 0.25;

/// A figure of the base beside that of the target, in instructions for each operation: means of the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Of the base.
    pub base: f64,
    /// Of the target.
    pub target: f64,
    /// The most by which a trial's difference can be away from that of the means; `None` where a side has
    /// one trial.
    pub within: Option<f64>,
}

/// Costs of a target beside those of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Of the threads of sessions.
    pub total: Pair,
    /// Of all other threads.
    pub background: Pair,
    /// Of functions that have no symbol.
    pub unnamed: Pair,
    /// Of functions whose component is not known.
    pub not_mapped: Pair,
    /// By component, the largest difference first; they add up to the total.
    pub components: Vec<ComponentRow>,
    /// By function, those that differ first, the largest difference before others; they add up to the total.
    pub functions: Vec<FunctionRow>,
    /// What functions that both have cost together with what they call, the largest difference first.
    pub paths: Vec<PathRow>,
}

/// A component of both.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentRow {
    /// Its name.
    pub component: String,
    /// Its cost.
    pub cost: Pair,
}

/// A function of one or both.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionRow {
    /// Its name in the target; in the base where only this has it.
    pub name: FunctionName,
    /// Its cost.
    pub cost: Pair,
    /// Its component.
    pub component: String,
    /// The way in which that is known.
    pub mapped: MappedBy,
    /// The function of another component that calls it most, if any does.
    pub caller: Option<String>,
    /// The sides that have it.
    pub presence: Presence,
}

/// The sides that have a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// Both.
    Both,
    /// The target only.
    New,
    /// The base only.
    Gone,
    /// Both, under other names: this is the one in the base.
    Renamed(FunctionName),
}

/// A chain of functions that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct PathRow {
    /// From the outermost to the one whose cost it is.
    pub path: Vec<String>,
    /// The cost of the last together with all that it calls.
    pub cost: Pair,
}

impl Pair {
    /// Of one figure in each trial of both sides.
    fn of(base: &[f64], target: &[f64]) -> Self {
        let (of_base, of_target) = (mean(base), mean(target));
        let both = base.len() > 1 && target.len() > 1;
        Self {
            base: of_base,
            target: of_target,
            within: both.then(|| most_away(base, of_base) + most_away(target, of_target)),
        }
    }

    /// Target minus base.
    pub fn difference(&self) -> f64 {
        self.target - self.base
    }

    /// `true` if the difference is larger than what two starts of one server differ by.
    pub fn differs(&self, total_of_base: f64) -> bool {
        let least = (total_of_base * LEAST_SHARE).max(LEAST);
        self.difference().abs() > self.within.unwrap_or(0.0).max(least)
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

fn most_away(figures: &[f64], from: f64) -> f64 {
    figures
        .iter()
        .map(|figure| (figure - from).abs())
        .fold(0.0, f64::max)
}

impl Comparison {
    /// Compares the trials of a target with those of the base, at least one each.
    pub fn new(base: &[Costs], target: &[Costs]) -> Self {
        let pair = |of: &dyn Fn(&Costs) -> f64| {
            let base: Vec<f64> = base.iter().map(of).collect();
            let target: Vec<f64> = target.iter().map(of).collect();
            Pair::of(&base, &target)
        };
        let all = || base.iter().chain(target);
        let names: BTreeSet<&String> = all().flat_map(|costs| costs.components.keys()).collect();
        let mut components: Vec<ComponentRow> = names
            .into_iter()
            .map(|component| ComponentRow {
                cost: pair(&|costs| costs.components.get(component).copied().unwrap_or(0.0)),
                component: component.clone(),
            })
            .collect();
        components.sort_by(|a, b| by_difference(&a.cost, &b.cost));

        let names: BTreeSet<&FunctionName> =
            all().flat_map(|costs| costs.functions.keys()).collect();
        let rows = names.into_iter().filter_map(|name| {
            let known = (target.iter().chain(base)).find_map(|costs| costs.functions.get(name))?;
            let has = |side: &[Costs]| side.iter().any(|costs| costs.functions.contains_key(name));
            let presence = match (has(base), has(target)) {
                (false, _) => Presence::New,
                (_, false) => Presence::Gone,
                _ => Presence::Both,
            };
            Some(FunctionRow {
                name: name.clone(),
                cost: pair(&|costs| costs.functions.get(name).map_or(0.0, |f| f.own)),
                component: known.component.clone(),
                mapped: known.mapped,
                caller: known.caller.clone(),
                presence,
            })
        });
        let mut functions = with_renamed(rows.collect());
        let total = pair(&|costs| costs.total);
        // What is no difference, however large, stands behind all that is one.
        functions.sort_by(|a, b| {
            let is_none = |row: &FunctionRow| !row.cost.differs(total.base);
            is_none(a)
                .cmp(&is_none(b))
                .then_with(|| by_difference(&a.cost, &b.cost))
        });

        Self {
            total,
            background: pair(&|costs| costs.background),
            unnamed: pair(&|costs| costs.unnamed),
            not_mapped: pair(&|costs| costs.mapped.get(&MappedBy::Nothing).copied().unwrap_or(0.0)),
            components,
            functions,
            paths: paths(base, target),
        }
    }

    /// The number of functions, from the first on, that make this share of all differences between
    /// functions; each of them differs.
    pub fn functions_that_make(&self, share: f64) -> usize {
        let size = |row: &FunctionRow| row.cost.difference().abs();
        let all: f64 = self.functions.iter().map(size).sum();
        let mut told = 0.0;
        let differing = self
            .functions
            .iter()
            .take_while(|row| row.cost.differs(self.total.base));
        differing
            .take_while(|row| {
                let is_needed = told < all * share;
                told += size(row);
                is_needed
            })
            .count()
    }
}

/// The largest difference first.
fn by_difference(a: &Pair, b: &Pair) -> std::cmp::Ordering {
    let size = |pair: &Pair| pair.difference().abs();
    size(b).total_cmp(&size(a))
}

/// Joins a function that vanished with one that appeared, where both are of one component and have one
/// caller, and cost about the same.
fn with_renamed(rows: Vec<FunctionRow>) -> Vec<FunctionRow> {
    let (mut gone, mut others): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|row| row.presence == Presence::Gone);
    gone.sort_by(|a, b| by_difference(&a.cost, &b.cost));
    others.sort_by(|a, b| by_difference(&a.cost, &b.cost));
    for new in others
        .iter_mut()
        .filter(|row| row.presence == Presence::New)
    {
        let apart = |old: &FunctionRow| {
            let (base, target) = (old.cost.base, new.cost.target);
            (base - target).abs() / base.max(target).max(f64::MIN_POSITIVE)
        };
        let is_like = |old: &FunctionRow| {
            old.cost.base >= LEAST
                && old.component == new.component
                && old.caller == new.caller
                && apart(old) <= RENAMED_WITHIN
        };
        let nearest = (0..gone.len())
            .filter(|at| is_like(&gone[*at]))
            .min_by(|a, b| apart(&gone[*a]).total_cmp(&apart(&gone[*b])));
        if let Some(at) = nearest {
            let old = gone.swap_remove(at);
            new.cost = Pair {
                base: old.cost.base,
                target: new.cost.target,
                within: old
                    .cost
                    .within
                    .zip(new.cost.within)
                    .map(|(old, new)| old + new),
            };
            new.presence = Presence::Renamed(old.name);
        }
    }
    others.extend(gone);
    others
}

/// Costs by chain of functions that both sides have.
fn paths(base: &[Costs], target: &[Costs]) -> Vec<PathRow> {
    let common = common_names(base, target);
    let base: Vec<_> = base.iter().map(|costs| inclusive(costs, &common)).collect();
    let target: Vec<_> = target
        .iter()
        .map(|costs| inclusive(costs, &common))
        .collect();
    let all: BTreeSet<&Vec<String>> = base
        .iter()
        .chain(&target)
        .flat_map(|costs| costs.keys())
        .collect();
    let of = |side: &[BTreeMap<Vec<String>, f64>], path: &Vec<String>| -> Vec<f64> {
        side.iter()
            .map(|costs| costs.get(path).copied().unwrap_or(0.0))
            .collect()
    };
    let mut rows: Vec<PathRow> = all
        .into_iter()
        .map(|path| PathRow {
            path: path.clone(),
            cost: Pair::of(&of(&base, path), &of(&target, path)),
        })
        .collect();
    rows.sort_by(|a, b| by_difference(&a.cost, &b.cost));
    rows
}

/// Names that stacks of both sides have.
pub(crate) fn common_names(base: &[Costs], target: &[Costs]) -> BTreeSet<String> {
    let names = |side: &[Costs]| -> BTreeSet<String> {
        let stacks = side.iter().flat_map(|costs| costs.stacks.keys());
        stacks.flatten().cloned().collect()
    };
    names(base).intersection(&names(target)).cloned().collect()
}

/// What each chain of common functions costs with all that it calls; a function that calls itself counts once.
fn inclusive(costs: &Costs, common: &BTreeSet<String>) -> BTreeMap<Vec<String>, f64> {
    let mut out: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for (stack, own) in projected(costs, common) {
        for depth in 1..stack.len() {
            *out.entry(stack[..depth].to_vec()).or_default() += own;
        }
    }
    out
}

/// Stacks of common functions only, and the component of the function that executes as the last part.
pub(crate) fn projected(costs: &Costs, common: &BTreeSet<String>) -> BTreeMap<Vec<String>, f64> {
    let mut out: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for (stack, own) in &costs.stacks {
        let Some((component, functions)) = stack.split_last() else {
            continue;
        };
        let mut kept: Vec<String> = Vec::new();
        for name in functions.iter().filter(|name| common.contains(*name)) {
            if kept.last() != Some(name) {
                kept.push(name.clone());
            }
        }
        kept.push(component.clone());
        *out.entry(kept).or_default() += own;
    }
    out
}

#[cfg(test)]
mod tests;
