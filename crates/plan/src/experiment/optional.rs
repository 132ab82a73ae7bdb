//! `optional`: targets that are left out where the catalogue does not have their build.

use prony_model::{Aspect, Target};

use super::base;
use super::expand::Written;
use super::setting::{self, Setting};
use crate::fields::Located;
use crate::invalid::{Document, Problem, Read};

/// The targets of an experiment.
#[derive(Debug)]
pub(super) struct Targets {
    pub(super) all: Vec<Target>,
    /// For each of them, `true` if it is left out where the catalogue does not have its build.
    pub(super) optional: Vec<bool>,
    /// Builds of the targets that are left out here.
    pub(super) left_out: Vec<String>,
}

impl Targets {
    /// The name of a target whose server can't be bound and which sets no placement itself.
    pub(super) fn unbound(&self) -> Option<&str> {
        let mut all = self.all.iter();
        let target = all.find(|target| target.external.is_some() && target.placement.is_none())?;
        Some(&target.name)
    }
}

/// Builds that are left out, each once, in the order of the file.
pub(super) fn left_out(written: &[Written<'_>]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let tables = written.iter();
    for build in tables.flat_map(|table| setting::values(&table.axes, &Aspect::Build)) {
        if let Setting::LeftOut(id) = &build.value
            && !ids.contains(id)
        {
            ids.push(id.clone());
        }
    }
    ids
}

/// Finds the bases, none of which can be an optional target: experiments have the same base wherever
/// they run.
pub(super) fn find_base(
    document: &Document<'_>,
    written: &base::Written<'_>,
    targets: &Targets,
) -> Read<base::Decided> {
    let (base::Written::One(name)
    | base::Written::By {
        start: base::Start::Target(name) | base::Start::Build(name),
        ..
    }) = written;
    if targets.left_out.iter().any(|id| id == name.value) {
        return refused(name).fail(document);
    }
    let decided = base::decide(document, written, &targets.all)?;
    let others = decided.bases.iter().flat_map(|bases| &bases.of_target);
    let mut bases = others.flatten().copied().chain([decided.first]);
    if bases.any(|base| targets.optional[base]) {
        return refused(name).fail(document);
    }
    Ok(decided)
}

fn refused(written: &Located<&str>) -> Problem {
    Problem::new(format!("the base `{}` can't be optional", written.value))
        .at(&written.span, "its target has `optional = true`")
        .help(
            "every ratio is relative to the base: remove `optional` there, or make a target the base that \
             every machine can have",
        )
}
