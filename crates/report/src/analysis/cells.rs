//! The matrix of all cells.

use prony_model::Plan;

use crate::analysis::cell::Cell;
use crate::analysis::group::GroupId;
use crate::analysis::measured::Measured;
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
    pub(crate) fn of(plan: &Plan, all: &[Measured]) -> Self {
        let mut measured: Matrix<Vec<Measurement>> = Matrix::of(plan, |_, _| Vec::new());
        for Measured {
            group, measurement, ..
        } in all
        {
            let target = measurement.row().planned.target;
            let cell = &mut measured.values[group.step][group.position][target];
            cell.push(measurement.clone());
        }
        Self(Matrix::of(plan, |group, target| {
            let measurements = measured.row(group)[target].clone();
            let base = measured.row(group)[plan.base].as_slice();
            let warnings = warnings::of(plan, group, &measurements, base);
            let is_compared = target != plan.base && !plan.steps[group.step].warm_only;
            Cell::of(measurements, is_compared.then_some(base), warnings)
        }))
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
