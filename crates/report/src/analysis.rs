//! The figures of a run, complete before anybody decides how to show them.

pub(crate) mod before_after;
mod beside;
pub(crate) mod by_host;
mod by_metric;
pub(crate) mod canaries;
pub(crate) mod cell;
mod cell_trials;
pub(crate) mod cells;
pub(crate) mod conditions;
mod cost_warnings;
pub(crate) mod costs;
pub(crate) mod course;
pub(crate) mod crossings;
pub(crate) mod debt;
pub(crate) mod estimate;
pub(crate) mod evenness;
pub(crate) mod execution_plans;
pub(crate) mod figure;
pub(crate) mod findings;
pub(crate) mod group;
mod histogram;
pub(crate) mod identical;
pub(crate) mod lineage;
pub(crate) mod loads;
pub(crate) mod measured;
pub(crate) mod measurement;
mod missed_rows;
pub(crate) mod overall;
mod pairing;
pub(crate) mod periods;
pub(crate) mod placement;
pub(crate) mod promises;
mod ratio_display;
mod readings;
pub(crate) mod replicates;
pub(crate) mod scheduling_groups;
pub(crate) mod section_summaries;
pub(crate) mod sections;
pub(crate) mod settings;
mod struck;
pub(crate) mod times;
pub(crate) mod trial_costs;
pub(crate) mod trials;
pub(crate) mod verdicts;
mod warnings;

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{AdditionReason, Backend, Calibration, ClientHostFacts, Plan, RatioDisplay};
use prony_store::{
    BuildRow, DefinitionFile, HostRow, RunRow, Store, StoreError, Subject, WarningRow,
};

use self::before_after::BeforeAfter;
use self::by_host::{ByHost, Contradiction};
use self::canaries::Canaries;
use self::cell::Cell;
use self::cells::Cells;
use self::costs::Costs;
use self::execution_plans::ExplainedStatement;
use self::group::GroupId;
use self::loads::Loads;
use self::measured::{MeasuredTrials, Within};
use self::overall::Overall;
use self::placement::Placements;
use self::section_summaries::SectionSummary;
use self::sections::Section;
use self::settings::Settings;
use self::struck::{Struck, is_of};
use self::trials::Trials;
use self::verdicts::Verdicts;
use crate::document::Block;
use crate::error::ReportError;

/// A run with its figures.
#[derive(Debug)]
pub(crate) struct Analysis<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) run: RunRow,
    pub(crate) hosts: Vec<HostRow>,
    /// Of each target, in the order of the plan.
    pub(crate) builds: Vec<Option<BuildRow>>,
    pub(crate) trials: Trials,
    /// Number of blocks that the user added after the run had begun.
    pub(crate) appended: usize,
    pub(crate) placements: Placements,
    pub(crate) canaries: Canaries,
    /// Stored ones, then those that follow from samples and counts.
    pub(crate) warnings: Vec<WarningRow>,
    pub(crate) settings: Settings,
    pub(crate) statements: Vec<ExplainedStatement>,
    /// The run has execution profiles.
    pub(crate) is_profiled: bool,
    /// Tables of these, for a format that shows them.
    pub(crate) components: Vec<Block>,
    /// The components that make differences, by step and target, for formats that people read.
    pub(crate) reasons: BTreeMap<(usize, usize), String>,
    /// The files that the user wrote for the run; see [`Store::definitions`].
    pub(crate) definitions: Vec<DefinitionFile>,
    /// Of each target, in the order of the plan.
    pub(crate) loads: Vec<Loads>,
    pub(crate) cells: Cells,
    /// The kernel interfaces that carried the connections of done trials, and that of the run.
    pub(crate) backends: BTreeSet<Backend>,
    pub(crate) costs: Costs,
    pub(crate) before_after: Vec<BeforeAfter>,
    /// The steps in the order in which they are shown.
    pub(crate) sections: Vec<Section>,
    /// No steps were left out by [`Analysis::restrict`].
    pub(crate) is_whole: bool,
    /// The load generator's ceiling on the host that the run was last on, where it is known.
    pub(crate) calibration: Option<Calibration>,
    /// The host of the load generators when the run was last begun or resumed, where that is another one.
    pub(crate) client_host: Option<ClientHostFacts>,
    /// Ceilings of it that steps exceeded.
    pub(crate) struck: Struck,
    pub(crate) verdicts: Verdicts,
    /// Throughput over all steps, then over each section.
    pub(crate) overall: Vec<Overall>,
    /// Throughput over all steps by host, where several hosts measured.
    pub(crate) by_host: Vec<ByHost>,
    /// What is faster on one host and slower on another.
    pub(crate) contradictions: Vec<Contradiction>,
    /// The ratios of each section by number of clients.
    pub(crate) summaries: Vec<SectionSummary>,
    /// The form of all ratios that the reader asks for; `None` for those of the plan.
    pub(crate) asked_display: Option<RatioDisplay>,
}

impl<'a> Analysis<'a> {
    /// Reads the run and derives its figures, without what happened within the steps.
    pub(crate) fn of(store: &'a Store) -> Result<Self, ReportError> {
        Self::read(store, store.plan(), Within::Nothing)
    }

    /// Reads the run and derives its figures, relative to the bases of `plan`, which differs from the
    /// stored plan in nothing else.
    pub(crate) fn read(
        store: &'a Store,
        plan: &'a Plan,
        within: Within,
    ) -> Result<Self, ReportError> {
        let hosts = store.hosts()?;
        let last_host = hosts.last();
        let calibration = store.calibration()?;
        let calibration =
            calibration.filter(|known| last_host.is_some_and(|host| is_of(known, host)));
        let trials = Trials::read(store)?;
        let placements = Placements::read(store, &trials)?;
        let measured = MeasuredTrials::read(store, &trials, &placements, &hosts, within)?;
        let struck = calibration.as_ref().map_or_else(Struck::default, |known| {
            Struck::of(known, plan, &measured.all, &trials, &hosts)
        });
        let cells = Cells::of(plan, measured.all);
        let canaries = Canaries::read(store)?;
        let mut warnings = measured.warnings;
        warnings.extend(canaries.warnings(&trials));
        warnings.extend(scheduling_groups::warnings(store, plan, &trials)?);
        warnings.extend(cautions(plan));
        let costs = Costs::of(store, plan, measured.costs, &cells)?;
        let verdicts = Verdicts::of(plan, (&cells, &costs), &warnings, &struck);
        let sections = sections::of(plan);
        let run = store.run()?;
        let used = cells.iter().flat_map(|cell| &cell.measurements);
        let used = used.map(|measurement| measurement.row().backend);
        Ok(Self {
            plan,
            backends: used.chain(run.backend).collect(),
            run,
            appended: appended(store)?,
            builds: store.builds()?,
            is_profiled: store.has_profiles()? || store.has_stack_samples()?,
            components: Vec::new(),
            reasons: BTreeMap::new(),
            definitions: store.definitions()?,
            settings: Settings::of_run(store, &plan.by_base())?,
            statements: execution_plans::read(store)?,
            loads: loads::read(store, plan, &trials)?,
            before_after: before_after::of(plan, &cells),
            contradictions: by_host::contradictions(plan, &cells, &trials.replicates),
            by_host: by_host::of(
                plan,
                &overall::steps(plan, &sections),
                &cells,
                &trials.replicates,
            ),
            overall: overall::of(plan, &sections, &cells, &verdicts.looks),
            summaries: section_summaries::of(plan, &sections, &cells, &verdicts.looks),
            asked_display: None,
            verdicts,
            costs,
            sections,
            is_whole: true,
            calibration,
            client_host: store.client_hosts()?.pop(),
            struck,
            warnings,
            canaries,
            cells,
            trials,
            placements,
            hosts,
        })
    }

    /// The figures of a step's own clients.
    pub(crate) fn cell(&self, step: usize, target: usize) -> &Cell {
        self.cells.at(GroupId::own(step), target)
    }

    /// The name of the target that the ratios of a target are relative to; empty without one.
    pub(crate) fn base_name(&self, target: usize) -> &str {
        let base = self.plan.base_of(target);
        base.map_or("", |base| &self.plan.targets[base].name)
    }

    /// Indices of the targets that tables show, each base before those that are compared with it: all
    /// but the twin.
    pub(crate) fn columns(&self) -> Vec<usize> {
        self.plan.by_base()
    }

    /// Indices of all targets, each base before its own, and the twin last.
    pub(crate) fn all_targets(&self) -> Vec<usize> {
        self.columns().into_iter().chain(self.plan.twin).collect()
    }

    /// Steps that count, in the order in which they are shown.
    pub(crate) fn shown_steps(&self) -> impl Iterator<Item = usize> {
        let sections = self.sections.iter();
        sections.flat_map(|section| section.steps.iter().copied())
    }

    /// Returns `true` if the figures of a step are shown: it does not only warm up, and is among
    /// the chosen ones.
    pub(crate) fn shows(&self, step: usize) -> bool {
        self.shown_steps().any(|shown| shown == step)
    }

    /// Shows these steps only.
    pub(crate) fn restrict(&mut self, steps: &BTreeSet<usize>) {
        self.is_whole = false;
        for section in &mut self.sections {
            section.steps.retain(|step| steps.contains(step));
        }
        self.sections.retain(|section| !section.steps.is_empty());
    }

    /// The text of a warning, with the name of the group beside the step's own clients that it is
    /// about.
    pub(crate) fn warning_text(&self, warning: &WarningRow) -> String {
        let subject = warning.subject;
        let group = subject.step().zip(subject.group());
        let group = group.map(|(step, position)| GroupId { step, position });
        match group.and_then(|group| group.of(self.plan).name.as_ref()) {
            Some(name) => format!("{name}: {}", warning.text),
            None => warning.text.clone(),
        }
    }

    /// Returns `true` if there is any ratio of a contender.
    pub(crate) fn compares(&self) -> bool {
        let mut groups = GroupId::all(self.plan);
        groups.any(|group| {
            let mut contenders = self.plan.contenders();
            contenders.any(|target| self.cells.at(group, target).ratio().is_some())
        })
    }

    /// Numbers of clients in the plan, ascending.
    pub(crate) fn client_counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self
            .plan
            .steps
            .iter()
            .map(|step| step.own().clients)
            .collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }
}

/// Word in JSON for the warning about a build.
pub(crate) const CAUTION: &str = "build";

/// What readers must know of builds before they compare them, once for each.
fn cautions(plan: &Plan) -> impl Iterator<Item = WarningRow> {
    let builds = plan.targets.iter().map(|target| &target.build);
    let cautions =
        builds.filter_map(|build| Some(format!("{}: {}", build.id, build.caution.as_ref()?)));
    let texts: BTreeSet<String> = cautions.collect();
    texts.into_iter().map(|text| WarningRow {
        subject: Subject::Run,
        code: CAUTION.to_owned(),
        text,
    })
}

/// Number of blocks that the user added after the run had begun.
fn appended(store: &Store) -> Result<usize, StoreError> {
    let additions = store.additions()?.into_iter();
    let by_user = additions.filter(|row| row.addition.reason == AdditionReason::Append);
    let trials = by_user.flat_map(|row| row.addition.trials);
    let blocks: BTreeSet<u32> = trials.map(|trial| trial.block).collect();
    Ok(blocks.len())
}
