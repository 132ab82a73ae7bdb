//! The matrix of all cells.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use prony_model::Plan;

use crate::analysis::cell::Cell;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::warnings;

/// A value for each group of clients and each target.
#[derive(Debug)]
struct Matrix<T> {
    /// By step, then by position of the group, then by target, in the order of the plan.
    values: Vec<Vec<Vec<T>>>,
}

/// The figures of every group of clients of every step, for every target.
#[derive(Debug)]
pub(crate) struct Cells(Matrix<Cell>);

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
        let mut measured: Matrix<Vec<Measurement>> = Matrix::of(plan, |_, _| Vec::new());
        for (group, measurement) in all {
            let target = measurement.row().planned.target;
            measured.values[group.step][group.position][target].push(measurement);
        }
        let steps = measured.values.into_iter().enumerate();
        let of_step = |(step, groups): (usize, Vec<Vec<Vec<Measurement>>>)| {
            let groups = groups.into_iter().enumerate();
            groups
                .map(|(position, targets)| row(plan, GroupId { step, position }, targets))
                .collect()
        };
        Self(Matrix {
            values: steps.map(of_step).collect(),
        })
    }

    /// The cell of a group and a target.
    pub(crate) fn at(&self, group: GroupId, target: usize) -> &Cell {
        &self.0.row(group)[target]
    }

    /// All cells.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.0.values.iter().flatten().flatten()
    }
}

/// The cells of a group, by target.
fn row(plan: &Plan, group: GroupId, mut targets: Vec<Vec<Measurement>>) -> Vec<Cell> {
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
        let warnings = warnings::of(plan, group, &measurements, base);
        let is_compared = !plan.steps[group.step].warm_only && !plan.is_base(target);
        let compared = base.filter(|_| is_compared).map(|(_, base)| base);
        cells.push(Cell::of(measurements, compared, warnings));
    }
    cells
}
