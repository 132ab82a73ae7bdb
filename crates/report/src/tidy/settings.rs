//! Settings of the servers.

use std::collections::{BTreeMap, BTreeSet};

use prony_equality::Difference;

use super::{Setting, Tables};
use crate::figures::word;

impl Tables<'_> {
    /// The settings that were asked of any target, and the variables that differ although none was,
    /// each for all targets whose servers were ever asked for their variables.
    pub fn settings(&self) -> impl Iterator<Item = Setting<'_>> {
        let settings = &self.analysis.settings;
        let differences = settings.differences.iter();
        let differing: BTreeMap<&str, &Difference> = differences
            .map(|difference| (difference.variable.as_str(), difference))
            .collect();
        let listed = settings.listed.iter();
        let variables = listed.clone().filter_map(|s| s.variable.as_deref());
        let variables: BTreeSet<&str> = variables.collect();
        let listed = listed.flat_map(move |setting| {
            let difference = setting.variable.as_deref().and_then(|v| differing.get(v));
            let cells = settings.names.iter().zip(&setting.cells);
            let rows = cells.map(|(target, cell)| Setting {
                run: self.run_text(),
                target: target.into(),
                variable: setting.variable.as_deref().map(Into::into),
                intent: setting.intent.as_deref().map(Into::into),
                asked: cell.asked.as_deref().map(Into::into),
                effective: cell.got.as_deref().map(Into::into),
                origin: Some(word(&setting.origin).into()),
                differs: setting.differs,
                matters: difference.and_then(|of| of.matters.as_deref().map(Into::into)),
                allowed: difference.is_some_and(|of| of.allowed),
            });
            rows.collect::<Vec<_>>()
        });
        let others = settings.differences.iter();
        let others = others.filter(move |of| !variables.contains(of.variable.as_str()));
        listed.chain(others.flat_map(|of| self.difference(of)))
    }

    /// A difference of a variable that no target was given.
    fn difference<'a>(&'a self, difference: &'a Difference) -> Vec<Setting<'a>> {
        let targets = self.analysis.settings.names.iter().enumerate();
        let row = |(index, target): (usize, &'a String)| {
            let of = |values: &'a [Option<String>]| {
                let value = values.get(index).and_then(Option::as_deref);
                value.map(Into::into)
            };
            Setting {
                run: self.run_text(),
                target: target.into(),
                variable: Some(difference.variable.as_str().into()),
                intent: difference.governed_by.as_deref().map(Into::into),
                asked: of(&difference.asked),
                effective: of(&difference.values),
                origin: None,
                differs: true,
                matters: difference.matters.as_deref().map(Into::into),
                allowed: difference.allowed,
            }
        };
        targets.map(row).collect()
    }
}
