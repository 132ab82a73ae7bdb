//! The target that the ratios of a target are relative to.

use prony_model::{Aspect, Bases, Plan, Target};

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
    /// Names of the aspects in which a target is equal to its base; empty for a single base.
    by: Vec<String>,
    /// Bases are the targets before.
    is_previous: bool,
}

/// The base that is written for "the target before".
const PREVIOUS: &str = "previous";

impl Base {
    /// The bases in the order in which they are written; the experiment's if none is.
    ///
    /// # Errors
    /// If a base is no target, or finds no base for any of the cells' targets.
    pub(crate) fn all(
        analysis: &Analysis<'_>,
        written: &[String],
        cells: &[CellId],
    ) -> Result<Vec<Self>, ViewError> {
        if written.is_empty() {
            return Ok(vec![Self::of_plan(analysis.plan)]);
        }
        let bases = written.iter();
        bases
            .map(|base| Self::read(analysis, base, cells))
            .collect()
    }

    /// Reads one base: the name of a target, `previous`, or `KEY:VALUE`.
    ///
    /// # Errors
    /// If it is none of these, or finds no base for any of the cells' targets.
    pub(crate) fn read(
        analysis: &Analysis<'_>,
        written: &str,
        cells: &[CellId],
    ) -> Result<Self, ViewError> {
        let targets = &analysis.plan.targets;
        if let Some(base) = targets.iter().position(|target| target.name == written) {
            return Ok(Self::one(analysis, base));
        }
        if written == PREVIOUS {
            return Self::previous(analysis, cells);
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
            by: Vec::new(),
            is_previous: false,
        }
    }

    /// The experiment's own.
    fn of_plan(plan: &Plan) -> Self {
        let bases = (0..plan.targets.len()).map(|target| plan.base_of(target));
        Self {
            of_target: bases.collect(),
            by: plan
                .bases
                .as_ref()
                .map_or_else(Vec::new, |bases| bases.by.clone()),
            is_previous: false,
        }
    }

    /// For each target, the last one before it in the experiment that has another build and is equal to
    /// it otherwise: the release before.
    fn previous(analysis: &Analysis<'_>, cells: &[CellId]) -> Result<Self, ViewError> {
        let plan = analysis.plan;
        let mut other = plan.varying();
        other.retain(|aspect| *aspect != Aspect::Build);
        let of_target = |target: usize| {
            let mut before = (0..target).rev().filter(|&base| Some(base) != plan.twin);
            before.find(|&base| {
                let [base, own] = [base, target].map(|index| &plan.targets[index]);
                base.build.id != own.build.id && are_equal(base, own, &other)
            })
        };
        let base = Self {
            of_target: (0..plan.targets.len()).map(of_target).collect(),
            by: other.iter().map(ToString::to_string).collect(),
            is_previous: true,
        };
        if cells.iter().all(|cell| base.of(cell.target).is_none()) {
            return Err(ViewError::NoPrevious);
        }
        Ok(base)
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
        let mut other: Vec<Aspect> = plan.varying();
        other.retain(|aspect| !is_about(&choice.key, aspect));
        let of_target = plan.targets.iter().map(|target| {
            let mut equal = candidates
                .iter()
                .copied()
                .filter(|&base| are_equal(&plan.targets[base], target, &other));
            let base = equal.next()?;
            equal.next().is_none().then_some(base)
        });
        Self {
            of_target: of_target.collect(),
            by: other.iter().map(ToString::to_string).collect(),
            is_previous: false,
        }
    }

    /// The plan with these bases in place of its own; the twin keeps the target that it repeats. `None`
    /// if no target is its own base.
    pub(crate) fn into_plan(self, plan: &Plan) -> Option<Plan> {
        let mut of_target = self.of_target;
        let first = (0..of_target.len()).find(|&target| of_target[target] == Some(target))?;
        if let Some(twin) = plan.twin {
            of_target[twin] = plan.base_of(twin);
        }
        Some(Plan {
            base: first,
            bases: Some(Bases {
                of_target,
                by: self.by,
            }),
            ..plan.clone()
        })
    }

    /// Returns `true` if bases are the targets before.
    pub(crate) const fn is_previous(&self) -> bool {
        self.is_previous
    }

    /// Returns `true` for a base, and for the first of those that follow each other.
    pub(crate) fn is_start(&self, target: usize) -> bool {
        let base = self.of(target);
        base == Some(target) || self.is_previous && base.is_none()
    }

    /// The base of a target.
    pub(crate) fn of(&self, target: usize) -> Option<usize> {
        self.of_target[target]
    }
}

fn are_equal(a: &Target, b: &Target, aspects: &[Aspect]) -> bool {
    let mut aspects = aspects.iter();
    aspects.all(|aspect| a.aspect(aspect) == b.aspect(aspect))
}

/// Returns `true` if an aspect follows from the value of a key.
fn is_about(key: &Key, aspect: &Aspect) -> bool {
    match key {
        Key::Aspect(own) => own == aspect,
        Key::Family | Key::Version => *aspect == Aspect::Build,
        _ => false,
    }
}
