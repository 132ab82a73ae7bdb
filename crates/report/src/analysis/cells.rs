//! The matrix of all cells.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use prony_model::Plan;

use crate::analysis::cell::Cell;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::promises::{self, Breach};
use crate::analysis::warnings;
use crate::parallel;

/// A value for each group of clients and each target.
#[derive(Debug)]
struct Matrix<T> {
    /// By step, then by position of the group, then by target, in the order of the plan.
    values: Vec<Vec<Vec<T>>>,
}

/// The figures of every group of clients of every step, for every target.
#[derive(Debug)]
pub(crate) struct Cells {
    all: Matrix<Cell>,
    /// Promised rates that were not kept, in the order of the plan.
    pub(crate) breaches: Vec<Breach>,
}

impl<T> Matrix<T> {
    fn of(plan: &Plan, value: impl Fn(GroupId, usize) -> T) -> Self {
        let row = |group| {
            let targets = 0..plan.targets.len();
            targets.map(|target| value(group, target)).collect()
        };
        let steps = 0..plan.steps.len();
        Self {
            values: steps
                .map(|step| GroupId::of_step(plan, step).map(row).collect())
                .collect(),
        }
    }

    fn row(&self, group: GroupId) -> &[T] {
        &self.values[group.step][group.position]
    }
}

impl Cells {
    /// Derives the figures from all measurements.
    pub(crate) fn of(plan: &Plan, all: Vec<(GroupId, Measurement)>) -> Self {
        let blocks = all
            .iter()
            .map(|(_, measurement)| measurement.row().planned.block + 1);
        let blocks = blocks.max().unwrap_or(0) as usize;
        let mut measured: Matrix<Vec<Measurement>> =
            Matrix::of(plan, |_, _| Vec::with_capacity(blocks));
        for (group, measurement) in all {
            let target = measurement.row().planned.target;
            measured.values[group.step][group.position][target].push(measurement);
        }
        let breaches = breaches(plan, &measured);
        for breach in &breaches {
            for targets in &mut measured.values[breach.group.step] {
                let of_target = targets[breach.target].iter_mut();
                of_target.for_each(|measurement| measurement.kept = false);
            }
        }
        let steps = measured.values.into_iter().enumerate().collect();
        let of_step = |(step, groups): (usize, Vec<Vec<Vec<Measurement>>>)| {
            let groups = groups.into_iter().enumerate();
            groups
                .map(|(position, targets)| {
                    row(plan, GroupId { step, position }, targets, &breaches)
                })
                .collect()
        };
        let values = parallel::map(steps, of_step);
        Self {
            all: Matrix { values },
            breaches,
        }
    }

    /// Returns `true` if a target kept all promised rates of a step.
    pub(crate) fn kept(&self, step: usize, target: usize) -> bool {
        !is_broken(&self.breaches, step, target)
    }

    /// The cell of a group and a target.
    pub(crate) fn at(&self, group: GroupId, target: usize) -> &Cell {
        &self.all.row(group)[target]
    }

    /// All cells.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.all.values.iter().flatten().flatten()
    }
}

/// The promised rates that were not kept.
fn breaches(plan: &Plan, measured: &Matrix<Vec<Measurement>>) -> Vec<Breach> {
    let groups = GroupId::all(plan);
    let of_group = |group: GroupId| {
        let targets = measured.row(group).iter().enumerate();
        targets.filter_map(move |(target, measurements)| {
            promises::breach(plan, group, target, measurements)
        })
    };
    groups.flat_map(of_group).collect()
}

fn is_broken(breaches: &[Breach], step: usize, target: usize) -> bool {
    let mut breaches = breaches.iter();
    breaches.any(|breach| breach.group.step == step && breach.target == target)
}

/// The cells of a group, by target.
fn row(
    plan: &Plan,
    group: GroupId,
    mut targets: Vec<Vec<Measurement>>,
    breaches: &[Breach],
) -> Vec<Cell> {
    let bases = (0..targets.len()).map(|target| plan.base_of(target));
    let bases: BTreeSet<usize> = bases.flatten().collect();
    let bases = bases.into_iter();
    let bases: BTreeMap<usize, Vec<Measurement>> = bases
        .map(|base| (base, mem::take(&mut targets[base])))
        .collect();
    let mut cells = Vec::with_capacity(targets.len());
    for (target, own) in targets.into_iter().enumerate() {
        // Those of a target that others are compared with were taken away.
        let measurements = bases.get(&target).cloned().unwrap_or(own);
        let base = plan.base_of(target).map(|base| (base, &bases[&base][..]));
        let mut warnings = warnings::of(plan, group, &measurements, base);
        warnings.extend(not_compared(plan, group, target, breaches));
        let is_compared = !plan.steps[group.step].warm_only && !plan.is_base(target);
        let compared = base.filter(|_| is_compared).map(|(_, base)| base);
        cells.push(Cell::of(measurements, compared, warnings));
    }
    cells
}

/// What is to be said of a cell of a step whose promised rate was not kept: by the target, or by its base.
fn not_compared(
    plan: &Plan,
    group: GroupId,
    target: usize,
    breaches: &[Breach],
) -> impl Iterator<Item = String> {
    let base = plan.other_base_of(target);
    let of_step = breaches.iter().filter(move |breach| {
        let concerns = breach.target == target || Some(breach.target) == base;
        breach.group.step == group.step && concerns
    });
    of_step.map(move |breach| {
        let by = if breach.target == target {
            String::new()
        } else {
            format!(" by {}", plan.targets[breach.target].name)
        };
        let of = match &breach.group.of(plan).name {
            Some(name) if breach.group != group => format!(" of {name}"),
            _ => String::new(),
        };
        let words = breach.words(plan);
        format!("the promised rate{of} was not kept{by}: {words}; the step is not compared")
    })
}
