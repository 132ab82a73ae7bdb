//! The matrix of all cells.

use prony_model::Plan;
use prony_store::Store;

use crate::analysis::cell::Cell;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::{self, Measurement};
use crate::analysis::warnings;
use crate::error::ReportError;

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
    /// Reads all measurements and derives the figures.
    pub(crate) fn read(store: &Store) -> Result<Self, ReportError> {
        let plan = store.plan();
        let mut measured: Matrix<Vec<Measurement>> = Matrix::of(plan, |_, _| Vec::new());
        for (group, measurement) in measurement::read(store)? {
            let target = measurement.row().planned.target;
            measured.values[group.step][group.position][target].push(measurement);
        }
        Ok(Self(Matrix::of(plan, |group, target| {
            let measurements = measured.row(group)[target].clone();
            let base = measured.row(group)[plan.base].as_slice();
            let warnings = warnings::of(plan, group, &measurements, base);
            let is_compared = target != plan.base && !plan.steps[group.step].warm_only;
            Cell::of(measurements, is_compared.then_some(base), warnings)
        })))
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
