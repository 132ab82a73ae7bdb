//! The settings of the targets' servers: the values that were asked for, those in effect, and
//! their differences.

use std::collections::BTreeMap;

use prony_equality::{Difference, Setting, Subject, VariableTable};
use prony_model::{Baseline, Engine, IntentValue, RenderedOption};
use prony_store::Store;

use crate::error::ReportError;

/// One target with the variables of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveTarget {
    /// The target's name.
    pub name: String,
    /// The engine of its tables.
    pub engine: Engine,
    /// Whether the server was running already.
    pub external: bool,
    /// Values of the settings that the experiment does not ask for.
    pub baseline: Baseline,
    /// Intents that the experiment asks for, without those left at the baseline.
    pub intents: BTreeMap<String, IntentValue>,
    /// The options of the server. Empty for a server that Prony did not start.
    pub options: Vec<RenderedOption>,
    /// `SHOW GLOBAL VARIABLES`, and the facts that Prony adds under names that begin with `prony.`.
    pub variables: BTreeMap<String, String>,
}

impl EffectiveTarget {
    fn subject(&self) -> Subject<'_> {
        Subject {
            name: &self.name,
            engine: self.engine,
            external: self.external,
            baseline: self.baseline,
            intents: &self.intents,
            options: &self.options,
            variables: &self.variables,
        }
    }
}

/// The comparison of the targets whose variables are known.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Names of the targets, in the order of their columns.
    pub(crate) names: Vec<String>,
    /// By target; `None` for an external server.
    pub(crate) baselines: Vec<Option<Baseline>>,
    pub(crate) listed: Vec<Setting>,
    pub(crate) differences: Vec<Difference>,
}

impl Settings {
    /// Of the targets of a run with these indices, as far as their servers were ever asked.
    pub(crate) fn of_run(store: &Store, columns: &[usize]) -> Result<Self, ReportError> {
        let mut targets = Vec::new();
        for &index in columns {
            let variables = store.target_variables(index)?;
            if variables.is_empty() {
                continue;
            }
            let target = &store.plan().targets[index];
            targets.push(EffectiveTarget {
                name: target.name.clone(),
                engine: target.engine,
                external: target.external.is_some(),
                baseline: target.config.baseline,
                intents: target.config.intents.clone(),
                options: store.options(index)?,
                variables,
            });
        }
        Self::of(&targets, &store.plan().allow)
    }

    /// Of these targets. `allow` is the experiment's.
    pub(crate) fn of(targets: &[EffectiveTarget], allow: &[String]) -> Result<Self, ReportError> {
        let table = VariableTable::embedded()?;
        let subjects: Vec<Subject<'_>> = targets.iter().map(EffectiveTarget::subject).collect();
        Ok(Self {
            names: targets.iter().map(|target| target.name.clone()).collect(),
            baselines: targets.iter().map(baseline).collect(),
            listed: table.settings(&subjects),
            differences: table.compare(&subjects, allow),
        })
    }

    /// Variables known to matter that differ because the experiment allows it.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = &str> {
        self.differences
            .iter()
            .filter(|difference| difference.allowed && difference.matters.is_some())
            .map(|difference| difference.variable.as_str())
    }
}

fn baseline(target: &EffectiveTarget) -> Option<Baseline> {
    (!target.external).then_some(target.baseline)
}
