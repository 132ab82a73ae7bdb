//! The target that the ratios of a target are relative to.

use prony_model::{Aspect, Target};

use crate::analysis::Analysis;
use crate::error::ViewError;
use crate::views::cell::CellId;
use crate::views::choice::Choice;
use crate::views::key::Key;

/// The base of each target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    /// By target, in the order of the plan; `None` where there is none.
    of_target: Vec<Option<usize>>,
}

impl Base {
    /// The bases in the order in which they are written; the experiment's base if none is.
    ///
    /// # Errors
    /// If a base is no target, or finds no base for any of the cells' targets.
    pub(crate) fn all(
        analysis: &Analysis<'_>,
        written: &[String],
        cells: &[CellId],
    ) -> Result<Vec<Self>, ViewError> {
        if written.is_empty() {
            return Ok(vec![Self::one(analysis, analysis.plan.base)]);
        }
        let bases = written.iter();
        bases
            .map(|base| Self::read(analysis, base, cells))
            .collect()
    }

    fn read(analysis: &Analysis<'_>, written: &str, cells: &[CellId]) -> Result<Self, ViewError> {
        let targets = &analysis.plan.targets;
        if let Some(base) = targets.iter().position(|target| target.name == written) {
            return Ok(Self::one(analysis, base));
        }
        if !written.contains(':') {
            return Err(ViewError::Base {
                written: written.to_owned(),
                known: targets.iter().map(|target| target.name.clone()).collect(),
            });
        }
        let base = Self::counterparts(analysis, &Choice::read(written, analysis)?);
        if cells.iter().all(|cell| base.of(cell.target).is_none()) {
            return Err(ViewError::NoCounterpart {
                written: written.to_owned(),
            });
        }
        Ok(base)
    }

    /// One base for all targets.
    pub(crate) fn one(analysis: &Analysis<'_>, base: usize) -> Self {
        Self {
            of_target: vec![Some(base); analysis.plan.targets.len()],
        }
    }

    /// For each target, the only one that the choice holds for and that is equal to it otherwise.
    fn counterparts(analysis: &Analysis<'_>, choice: &Choice) -> Self {
        let plan = analysis.plan;
        // Every cell of a target has the same value of such a key.
        let cell = |target| CellId::of_target(analysis, target);
        let candidates: Vec<usize> = (0..plan.targets.len())
            .filter(|&target| Some(target) != plan.twin)
            .filter(|&target| choice.holds(analysis, cell(target)))
            .collect();
        let other: Vec<Aspect> = plan.varying();
        let other: Vec<&Aspect> = other
            .iter()
            .filter(|aspect| !is_about(&choice.key, aspect))
            .collect();
        let is_equal = |a: &Target, b: &Target| {
            let mut aspects = other.iter();
            aspects.all(|aspect| a.aspect(aspect) == b.aspect(aspect))
        };
        let of_target = plan.targets.iter().map(|target| {
            let mut equal = candidates
                .iter()
                .copied()
                .filter(|&base| is_equal(&plan.targets[base], target));
            let base = equal.next()?;
            equal.next().is_none().then_some(base)
        });
        Self {
            of_target: of_target.collect(),
        }
    }

    /// The base of a target.
    pub(crate) fn of(&self, target: usize) -> Option<usize> {
        self.of_target[target]
    }
}

/// Returns `true` if an aspect follows from the value of a key.
fn is_about(key: &Key, aspect: &Aspect) -> bool {
    match key {
        Key::Aspect(own) => own == aspect,
        Key::Family | Key::Version => *aspect == Aspect::Build,
        _ => false,
    }
}
