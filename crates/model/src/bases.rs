//! Bases: the targets that ratios are relative to.

use std::collections::BTreeSet;

use crate::{Aspect, Plan, Target};

impl Plan {
    /// Index of the target that the ratios of `target` are relative to: itself for a base. `None` if
    /// none belongs to it, so that it has no ratios.
    pub fn base_of(&self, target: usize) -> Option<usize> {
        match &self.bases {
            None => Some(self.base),
            Some(bases) => bases.of_target.get(target).copied().flatten(),
        }
    }

    /// The target that the ratios of `target` are relative to. `None` for a base, and for a target
    /// without one.
    pub fn other_base_of(&self, target: usize) -> Option<usize> {
        self.base_of(target).filter(|&base| base != target)
    }

    /// Returns `true` if other targets are compared with this one.
    pub fn is_base(&self, target: usize) -> bool {
        self.base_of(target) == Some(target)
    }

    /// Indices of all bases: the first one, whose twin shows the difference of identical servers, then
    /// the others in the order of the targets.
    pub fn all_bases(&self) -> Vec<usize> {
        let others = (0..self.targets.len()).filter(|&target| target != self.base);
        let others = others.filter(|&target| self.is_base(target));
        std::iter::once(self.base).chain(others).collect()
    }

    /// Indices of the targets that tables show: each base with its targets behind it, and last those
    /// without a base. The twin is left out.
    pub fn by_base(&self) -> Vec<usize> {
        let with = |base| {
            let own = self.contenders();
            let own = own.filter(move |&target| self.base_of(target) == Some(base));
            std::iter::once(base).chain(own)
        };
        let mut all: Vec<usize> = self.all_bases().into_iter().flat_map(with).collect();
        let without = self.contenders();
        all.extend(without.filter(|&target| self.base_of(target).is_none()));
        all
    }

    /// Returns `true` if ratios of one table can be relative to different targets.
    pub fn has_several_bases(&self) -> bool {
        self.all_bases().len() > 1
    }

    /// Words after "relative to": the name of the only base, or what the bases have in common and the
    /// aspects in which a target is equal to its base: `mysql-5.0.21 with the same binlog`.
    pub fn base_words(&self) -> String {
        let bases = self.all_bases();
        let by = self.bases.as_ref().map_or(&[][..], |bases| &bases.by);
        if bases.len() == 1 || by.is_empty() {
            return self.targets[self.base].name.clone();
        }
        let common = self.varying().into_iter().filter(|aspect| {
            let values = bases.iter().map(|&base| self.targets[base].aspect(aspect));
            !by.contains(&aspect.to_string()) && values.collect::<BTreeSet<_>>().len() == 1
        });
        let common: Vec<String> = common
            .map(|aspect| setting(&self.targets[self.base], &aspect))
            .collect();
        let base = match common.as_slice() {
            [] => "the base".to_owned(),
            common => common.join(", "),
        };
        format!("{base} with the same {}", by.join(" and "))
    }
}

/// A value that says what it is of.
fn setting(target: &Target, aspect: &Aspect) -> String {
    let value = target.aspect(aspect);
    match aspect {
        Aspect::Build | Aspect::Engine | Aspect::Server => value,
        _ => format!("{aspect} {value}"),
    }
}
