//! Costs by step and target, from the profiles of counting or of profiling trials.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Plan, Source};
use prony_profile::{Components, Costs, Profile, Taking};
use prony_store::{OutcomeRow, Store};

use super::question::{ExplainQuestion, ExplainUnit};
use super::samples;
use super::trial::{TrialCosts, damaged};
use crate::analysis::Analysis;
use crate::error::ReportError;
use crate::parallel;

/// The profiles of a target in a step.
pub(super) struct Profiled {
    /// Index of the target.
    pub(super) target: usize,
    /// Its name.
    pub(super) name: String,
    /// Index of the step, and its name.
    pub(super) step_index: usize,
    pub(super) step: String,
    pub(super) clients: u32,
    /// Operations of each trial.
    pub(super) operations: Vec<u64>,
    /// How the samples of each trial were taken; empty for counts.
    pub(super) takings: Vec<Taking>,
    /// Throughput of the profiling trials ÷ that of the timed ones; `None` for counts.
    pub(super) slowed: Option<f64>,
    /// Costs in each trial, of which there is at least one.
    pub(super) trials: Vec<Costs>,
}

impl Profiled {
    /// Cost of an operation in sessions, mean of the trials.
    pub(super) fn total(&self) -> f64 {
        self.mean(&|costs| costs.total)
    }

    /// A figure, mean of the trials.
    pub(super) fn mean(&self, of: &dyn Fn(&Costs) -> f64) -> f64 {
        self.trials.iter().map(of).sum::<f64>() / self.trials.len() as f64
    }
}

/// All that a question is about.
pub(super) struct Cells {
    /// What all costs are in.
    pub(super) unit: ExplainUnit,
    /// By index of step and target.
    by_place: BTreeMap<(usize, usize), Profiled>,
    /// Pairs of targets to be compared: base and target.
    pairs: Vec<(usize, usize)>,
}

impl Cells {
    /// Reads the profiles that a question needs; with the figures of the run where these are there already.
    pub(super) fn read(
        store: &Store,
        analysis: Option<&Analysis<'_>>,
        question: &ExplainQuestion<'_>,
        components: &Components,
    ) -> Result<Self, ReportError> {
        let plan = store.plan();
        let steps = steps(plan, question)?;
        let pairs = pairs(plan, question)?;
        let named = [question.target, question.base].into_iter().flatten();
        let named: Vec<usize> = named
            .map(|name| target(plan, name))
            .collect::<Result<_, _>>()?;
        let wanted: BTreeSet<usize> = if named.is_empty() {
            (0..plan.targets.len()).collect()
        } else {
            let of_pairs = pairs.iter().flat_map(|(base, target)| [*base, *target]);
            of_pairs.chain(named.iter().copied()).collect()
        };
        let is_wanted = |row: &OutcomeRow| {
            row.group == 0 && steps.contains(&row.step) && wanted.contains(&row.planned.target)
        };
        let unit = match question.unit {
            Some(unit) => unit,
            None if !store.has_profiles()? && store.has_stack_samples()? => ExplainUnit::Time,
            None => ExplainUnit::Instructions,
        };
        let trials = match unit {
            ExplainUnit::Instructions => counted(store, components, &is_wanted)?,
            ExplainUnit::Time => match analysis {
                Some(analysis) => samples::read(store, analysis, components, &is_wanted)?,
                None => samples::read(store, &Analysis::of(store)?, components, &is_wanted)?,
            },
        };
        let mut cells: BTreeMap<(usize, usize), Profiled> = BTreeMap::new();
        for trial in trials {
            let (step, target) = (trial.step, trial.target);
            let cell = cells.entry((step, target)).or_insert_with(|| Profiled {
                target,
                name: plan.targets[target].name.clone(),
                step_index: step,
                step: plan.steps[step].name.clone(),
                clients: plan.steps[step].own().clients,
                operations: Vec::new(),
                takings: Vec::new(),
                slowed: trial.slowed,
                trials: Vec::new(),
            });
            cell.operations.push(trial.operations);
            cell.takings.extend(trial.taking);
            cell.trials.push(trial.costs);
        }
        let cells = Self {
            unit,
            by_place: cells,
            pairs,
        };
        cells.check(plan, &steps, &named)?;
        Ok(cells)
    }

    /// Targets that were named have to have profiles.
    fn check(
        &self,
        plan: &Plan,
        steps: &BTreeSet<usize>,
        named: &[usize],
    ) -> Result<(), ReportError> {
        let has = |target: usize| {
            steps
                .iter()
                .any(|step| self.by_place.contains_key(&(*step, target)))
        };
        match named.iter().find(|target| !has(**target)) {
            None => Ok(()),
            Some(target) => Err(ReportError::NoProfile {
                target: plan.targets[*target].name.clone(),
            }),
        }
    }

    /// Base and target in each step, where both have a profile.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Profiled, &Profiled)> {
        self.by_place.iter().filter_map(|((step, target), cell)| {
            let mut pairs = self.pairs.iter();
            let base = pairs.find(|(_, other)| other == target);
            let base = base.and_then(|(base, _)| self.by_place.get(&(*step, *base)));
            base.map(|base| (base, cell))
        })
    }

    /// All, by step and target.
    pub(super) fn all(&self) -> impl Iterator<Item = &Profiled> {
        self.by_place.values()
    }
}

/// The costs in counting trials.
fn counted(
    store: &Store,
    components: &Components,
    is_wanted: &dyn Fn(&OutcomeRow) -> bool,
) -> Result<Vec<TrialCosts>, ReportError> {
    let counted = store.counted()?;
    let mut found = Vec::new();
    for row in counted.iter().filter(|row| is_wanted(row)) {
        if let Some(content) = store.profile(row.trial, row.step)? {
            found.push((row.clone(), content));
        }
    }
    if found.is_empty() {
        return Err(no_profiles(store, counted.is_empty()));
    }
    let costs = parallel::map(found, |(row, content)| {
        let profile = Profile::decode(&content);
        let costs = profile.map(|profile| profile.costs(components, row.operations));
        (row, costs)
    });
    let trials = costs.into_iter().map(|(row, costs)| {
        Ok(TrialCosts {
            step: row.step,
            target: row.planned.target,
            operations: row.operations,
            costs: costs.map_err(|problem| damaged(store.plan(), &row, problem))?,
            taking: None,
            slowed: None,
        })
    });
    trials.collect()
}

/// The steps that a question names; all where it names none.
fn steps(plan: &Plan, question: &ExplainQuestion<'_>) -> Result<BTreeSet<usize>, ReportError> {
    let all = || plan.steps.iter().enumerate();
    let Some(name) = question.step else {
        let clients = |clients: u32| question.clients.is_none_or(|asked| asked == clients);
        let fits = all().filter(|(_, step)| clients(step.own().clients));
        return Ok(fits.map(|(index, _)| index).collect());
    };
    let named: Vec<usize> = all()
        .filter(|(_, step)| step.name == name)
        .map(|(index, _)| index)
        .collect();
    if named.is_empty() {
        let mut known: Vec<&str> = Vec::new();
        for (_, step) in all() {
            if !known.contains(&step.name.as_str()) {
                known.push(&step.name);
            }
        }
        return Err(ReportError::NotInRun {
            what: "step",
            asked: name.to_owned(),
            known: known.join(", "),
        });
    }
    let clients = |index: &usize| plan.steps[*index].own().clients;
    match question.clients {
        None => Ok(named[..1].iter().copied().collect()),
        Some(asked) => {
            let found: BTreeSet<usize> = named
                .iter()
                .copied()
                .filter(|index| clients(index) == asked)
                .collect();
            if !found.is_empty() {
                return Ok(found);
            }
            let known: Vec<String> = named
                .iter()
                .map(|index| clients(index).to_string())
                .collect();
            Err(ReportError::NotInRun {
                what: "number of clients",
                asked: asked.to_string(),
                known: known.join(", "),
            })
        }
    }
}

/// The targets to be compared, each behind its base.
fn pairs(plan: &Plan, question: &ExplainQuestion<'_>) -> Result<Vec<(usize, usize)>, ReportError> {
    let base = question.base.map(|name| target(plan, name)).transpose()?;
    let targets: Vec<usize> = match question.target {
        Some(name) => vec![target(plan, name)?],
        None => plan.contenders().collect(),
    };
    let base_of = |target: &usize| base.or_else(|| plan.other_base_of(*target));
    let pairs = targets
        .into_iter()
        .filter_map(|target| Some((base_of(&target)?, target)));
    Ok(pairs.filter(|(base, target)| base != target).collect())
}

/// Index of the target of this name.
fn target(plan: &Plan, name: &str) -> Result<usize, ReportError> {
    let mut targets = plan.targets.iter();
    targets
        .position(|target| target.name == name)
        .ok_or_else(|| {
            let known: Vec<&str> = plan
                .targets
                .iter()
                .map(|target| target.name.as_str())
                .collect();
            ReportError::NotInRun {
                what: "target",
                asked: name.to_owned(),
                known: known.join(", "),
            }
        })
}

/// The reason that there is nothing to explain.
fn no_profiles(store: &Store, nothing_counted: bool) -> ReportError {
    let absences = store.absences().unwrap_or_default();
    let mut absences = absences.into_iter().map(|(_, gap)| gap);
    let absent = absences.find(|gap| gap.source == Source::Valgrind);
    ReportError::NoProfiles {
        reason: match absent {
            Some(gap) => gap.reason,
            None if nothing_counted => "no counting trial is done".to_owned(),
            None => "its counting trials did not run in valgrind, or an earlier Prony made them"
                .to_owned(),
        },
    }
}
