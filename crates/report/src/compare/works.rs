//! Which steps of several runs do the same work, whatever their names.

use std::collections::BTreeSet;

use crate::compare::runs::Run;

/// Work that steps do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    /// Name of the step in the first run that has it.
    pub(crate) name: String,
    hash: String,
}

/// The work of all steps of all runs.
#[derive(Debug)]
pub(crate) struct Works {
    pub(crate) all: Vec<Work>,
    /// Index in `all`, by run and step.
    pub(crate) of: Vec<Vec<usize>>,
}

impl Works {
    /// Matches steps by the hash of their work. Where a run does the same work in several steps, those
    /// with the same name belong together, then the others in their order.
    pub(crate) fn of(runs: &[Run]) -> Self {
        let mut works = Self {
            all: Vec::new(),
            of: Vec::new(),
        };
        for run in runs {
            let steps = run.plan.steps.iter().zip(run.plan.works());
            let steps: Vec<(&str, String)> = steps
                .map(|(step, hash)| (step.name.as_str(), hash))
                .collect();
            let matched = works.matched(&steps);
            works.of.push(matched);
        }
        works
    }

    fn matched(&mut self, steps: &[(&str, String)]) -> Vec<usize> {
        let mut taken = BTreeSet::new();
        let mut found: Vec<Option<usize>> = steps
            .iter()
            .map(|(name, hash)| {
                let mut all = self.all.iter();
                let index = all.position(|work| work.hash == *hash && work.name == *name)?;
                taken.insert(index).then_some(index)
            })
            .collect();
        for (found, (name, hash)) in found.iter_mut().zip(steps) {
            if found.is_some() {
                continue;
            }
            let mut all = self.all.iter().enumerate();
            let free = all.find(|(index, work)| work.hash == *hash && !taken.contains(index));
            let index = free.map_or(self.all.len(), |(index, _)| index);
            if index == self.all.len() {
                self.all.push(Work {
                    name: (*name).to_owned(),
                    hash: hash.clone(),
                });
            }
            taken.insert(index);
            *found = Some(index);
        }
        found.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_decides_and_names_settle_ties() {
        let mut works = Works {
            all: Vec::new(),
            of: Vec::new(),
        };
        let mut matched = |steps: &[(&str, &str)]| {
            let steps: Vec<_> = steps.iter().map(|&(n, h)| (n, h.to_owned())).collect();
            works.matched(&steps)
        };
        assert_eq!(
            matched(&[("a.pre", "x"), ("w", "y"), ("a", "x")]),
            [0, 1, 2]
        );
        assert_eq!(
            matched(&[("a", "x"), ("w", "z"), ("b", "x"), ("c", "x")]),
            [2, 3, 0, 4]
        );
    }
}
