//! Differences of costs between two targets, each measured in one or several trials.

use std::collections::{BTreeMap, BTreeSet};

use prony_stats::{benjamini_hochberg, normal_both_tails};

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

/// The share of what is called a difference that is none, at most on average, in figures of samples.
const FALSE_SHARE: f64 = 0.05;
/// Standard errors to either side of a figure that make its 95 % interval.
const ERRORS_OF_INTERVAL: f64 = 1.96;

/// A figure of the base beside that of the target, for each operation: means of the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Of the base.
    pub base: f64,
    /// Of the target.
    pub target: f64,
    /// Of counts, the most by which a trial's difference can be away from that of the means, and `None` where a
    /// side has one trial. Of samples, half the 95 % interval of the difference.
    pub within: Option<f64>,
    /// `true` for a figure of samples whose difference is no accident, by its test; `None` for one of counts.
    pub is_significant: Option<bool>,
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
    fn new(sides: &Sides<'_>, of: &dyn Fn(&Costs) -> f64) -> Self {
        let base: Vec<f64> = sides.base.iter().map(of).collect();
        let target: Vec<f64> = sides.target.iter().map(of).collect();
        Self::with_errors(sides, &base, &target)
    }

    fn with_errors(sides: &Sides<'_>, base: &[f64], target: &[f64]) -> Self {
        let pair = Self::of(base, target);
        match sides.samples(base, target) {
            None => pair,
            Some(error) => Self {
                within: Some(ERRORS_OF_INTERVAL * error),
                is_significant: Some(false),
                ..pair
            },
        }
    }

    fn of(base: &[f64], target: &[f64]) -> Self {
        let (of_base, of_target) = (mean(base), mean(target));
        let both = base.len() > 1 && target.len() > 1;
        Self {
            base: of_base,
            target: of_target,
            within: both.then(|| most_away(base, of_base) + most_away(target, of_target)),
            is_significant: None,
        }
    }

    /// The p-value of the difference of figures of samples.
    fn p_value(&self) -> f64 {
        let error = self.within.unwrap_or(0.0) / ERRORS_OF_INTERVAL;
        if error > 0.0 {
            normal_both_tails(self.difference() / error)
        } else {
            1.0
        }
    }

    /// Target minus base.
    pub fn difference(&self) -> f64 {
        self.target - self.base
    }

    /// `true` if the difference is larger than what two starts of one server differ by.
    pub fn differs(&self, total_of_base: f64) -> bool {
        let least = total_of_base * LEAST_SHARE;
        match self.is_significant {
            Some(is_significant) => is_significant && self.difference().abs() > least,
            None => self.difference().abs() > self.within.unwrap_or(0.0).max(least).max(LEAST),
        }
    }
}

/// Decides which of several differences are no accidents: among those that are called so, few are
/// (Benjamini and Hochberg). Counts have no test.
fn judge<'a>(pairs: impl Iterator<Item = &'a mut Pair>) {
    let mut sampled: Vec<&mut Pair> = pairs.filter(|it| it.is_significant.is_some()).collect();
    let p_values: Vec<f64> = sampled.iter().map(|pair| pair.p_value()).collect();
    let adjusted = benjamini_hochberg(&p_values);
    for (pair, p) in sampled.iter_mut().zip(adjusted) {
        pair.is_significant = Some(p <= FALSE_SHARE);
    }
}

/// The trials of both sides.
struct Sides<'a> {
    base: &'a [Costs],
    target: &'a [Costs],
    /// The factor by which samples vary more than independent ones would, from trial to trial of one side; at
    /// least 1.
    dispersion: f64,
}

impl<'a> Sides<'a> {
    fn new(base: &'a [Costs], target: &'a [Costs]) -> Self {
        let (base_excess, base_degrees) = excess(base);
        let (target_excess, target_degrees) = excess(target);
        let degrees = base_degrees + target_degrees;
        let dispersion = if degrees > 0.0 {
            ((base_excess + target_excess) / degrees).max(1.0)
        } else {
            1.0
        };
        Self {
            base,
            target,
            dispersion,
        }
    }

    /// The standard error of the difference of means of a figure of samples: `None` for counts.
    ///
    /// A number of samples has the variance of Poisson's distribution, times the dispersion (quasi-Poisson,
    /// `McCullagh` and Nelder, Generalized linear models, 1989, 6.2.3). The time that the samples share has an
    /// error of its own.
    fn samples(&self, base: &[f64], target: &[f64]) -> Option<f64> {
        let mut variance = 0.0;
        for (trials, values) in [(self.base, base), (self.target, target)] {
            let of_trials = values.len() as f64;
            let mut shared = 0.0_f64;
            for (costs, value) in trials.iter().zip(values) {
                let sampling = costs.sampling?;
                variance += self.dispersion * value * sampling.unit / (of_trials * of_trials);
                shared = shared.max(sampling.relative_error);
            }
            variance += (mean(values) * shared).powi(2);
        }
        Some(variance.sqrt())
    }
}

/// The fewest samples of a function, in all trials of a side, that tell how these vary.
const TELLING: f64 = 10.0;

/// Pearson's statistic of the trials of a side, whose samples should be spread over functions alike, and its
/// degrees of freedom.
fn excess(trials: &[Costs]) -> (f64, f64) {
    let sampled: Vec<(&Costs, f64)> = trials
        .iter()
        .filter_map(|costs| Some((costs, costs.sampling?.unit)))
        .collect();
    if sampled.len() < 2 {
        return (0.0, 0.0);
    }
    let names: BTreeSet<&FunctionName> = trials.iter().flat_map(|it| it.functions.keys()).collect();
    let totals: Vec<f64> = sampled.iter().map(|(it, unit)| it.total / unit).collect();
    let all: f64 = totals.iter().sum();
    let (mut statistic, mut functions) = (0.0, 0.0);
    for name in names {
        let counts: Vec<f64> = sampled
            .iter()
            .map(|(costs, unit)| costs.functions.get(name).map_or(0.0, |it| it.own) / unit)
            .collect();
        let sum: f64 = counts.iter().sum();
        if sum < TELLING {
            continue;
        }
        functions += 1.0;
        for (count, total) in counts.iter().zip(&totals) {
            let expected = sum * total / all;
            statistic += (count - expected).powi(2) / expected.max(f64::MIN_POSITIVE);
        }
    }
    (statistic, functions * (sampled.len() - 1) as f64)
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
        let sides = Sides::new(base, target);
        let pair = |of: &dyn Fn(&Costs) -> f64| Pair::new(&sides, of);
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
        judge(components.iter_mut().map(|row| &mut row.cost));

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
        judge(functions.iter_mut().map(|row| &mut row.cost));
        let tested = |of: &dyn Fn(&Costs) -> f64| {
            let mut alone = pair(of);
            judge([&mut alone].into_iter());
            alone
        };
        let total = tested(&|costs| costs.total);
        // What is no difference, however large, stands behind all that is one.
        functions.sort_by(|a, b| {
            let is_none = |row: &FunctionRow| !row.cost.differs(total.base);
            is_none(a)
                .cmp(&is_none(b))
                .then_with(|| by_difference(&a.cost, &b.cost))
        });

        Self {
            total,
            background: tested(&|costs| costs.background),
            unnamed: tested(&|costs| costs.unnamed),
            not_mapped: tested(&|costs| {
                costs.mapped.get(&MappedBy::Nothing).copied().unwrap_or(0.0)
            }),
            components,
            functions,
            paths: paths(&sides),
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
                within: both_within(old.cost, new.cost),
                is_significant: new.cost.is_significant,
            };
            new.presence = Presence::Renamed(old.name);
        }
    }
    others.extend(gone);
    others
}

/// How far the difference of two figures can be off that are taken for one: errors of samples are independent.
fn both_within(old: Pair, new: Pair) -> Option<f64> {
    let within = old.within.zip(new.within);
    within.map(|(one, other)| match new.is_significant {
        Some(_) => one.hypot(other),
        None => one + other,
    })
}

/// Costs by chain of functions that both sides have.
fn paths(sides: &Sides<'_>) -> Vec<PathRow> {
    let common = common_names(sides.base, sides.target);
    let of_side = |side: &[Costs]| -> Vec<BTreeMap<Vec<String>, f64>> {
        side.iter().map(|costs| inclusive(costs, &common)).collect()
    };
    let (base, target) = (of_side(sides.base), of_side(sides.target));
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
            cost: Pair::with_errors(sides, &of(&base, path), &of(&target, path)),
        })
        .collect();
    judge(rows.iter_mut().map(|row| &mut row.cost));
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
