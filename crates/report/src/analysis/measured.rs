//! All done timed trials as the result file has them: measurements, costs and warnings.

use std::collections::BTreeMap;

use prony_model::{
    Beside, DebtKind, GroupFigures, Metric, NoValue, Plan, Schedule, ServiceTimes, SettleOutcome,
    ThreadUse,
};
use prony_store::{
    ErrorRow, FlatSample, HostRow, OutcomeRow, StatementRow, Store, StoreError, Subject, TrialId,
    WarningRow,
};
use serde::Deserialize;

use crate::analysis::beside::WorkBeside;
use crate::analysis::conditions::{ClientHostUse, Condition, StepFacts, Stolen, conditions};
use crate::analysis::group::GroupId;
use crate::analysis::histogram::HistogramDecoder;
use crate::analysis::measurement::{Connects, Measurement, ScheduleTimes};
use crate::analysis::placement::Placements;
use crate::analysis::readings::{CounterTable, Readings};
use crate::analysis::times::{self, Times};
use crate::analysis::trial_costs::{TrialCosts, counts};
use crate::analysis::trials::Trials;
use crate::error::{HistogramError, ReportError};
use crate::parallel::{self, Queue};

/// The name under which connecting is counted.
const CONNECT: &str = "connect";

/// Groups of clients in trials from which on a second thread helps to read them.
const SHARED_FROM: usize = 1_000;

/// All done trials.
pub(crate) struct MeasuredTrials {
    /// By block, target, step and group.
    pub(crate) all: Vec<(GroupId, Measurement)>,
    /// Stored warnings, then those that follow from samples and counts.
    pub(crate) warnings: Vec<WarningRow>,
    pub(crate) costs: CostsOfTrials,
}

/// The costs of all done trials at all steps: of each the index of the step and of the target.
pub(crate) struct CostsOfTrials {
    pub(crate) counters: CounterTable,
    pub(crate) timed: Vec<(usize, usize, TrialCosts)>,
    pub(crate) counted: Vec<(usize, usize, TrialCosts)>,
    pub(crate) loads: LoadCosts,
    pub(crate) beside: WorkBeside,
}

/// The costs of loads in all done trials: of each the index of the target.
#[derive(Default)]
pub(crate) struct LoadCosts {
    pub(crate) timed: Vec<(usize, TrialCosts)>,
    pub(crate) counted: Vec<(usize, TrialCosts)>,
}

/// The group of a trial that a row is about.
type Key = (TrialId, usize, usize);

/// The rows of the result file that are read whole, and what all trials share.
struct Rows<'a> {
    plan: &'a Plan,
    trials: &'a Trials,
    debts: BTreeMap<Key, BTreeMap<DebtKind, u64>>,
    settles: BTreeMap<Key, SettleOutcome>,
    schedules: BTreeMap<Key, Schedule>,
    beside: WorkBeside,
    threads: BTreeMap<Key, Vec<ThreadUse>>,
    errors: BTreeMap<Key, Vec<ErrorRow>>,
    /// Stored warnings about steps of trials, in the order of the file.
    warnings: BTreeMap<(TrialId, usize), Vec<WarningRow>>,
    placements: &'a Placements,
    /// Processors of each host.
    processors: Vec<Option<u32>>,
    counters: &'a CounterTable,
    within: Within,
}

/// What is read of the time within steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Nothing,
    /// The operations of each interval.
    Operations,
    /// These, and the counters of each period between two samples.
    All,
}

impl Within {
    fn periods(self) -> bool {
        self == Self::All
    }
}

/// Everything of one trial, or of all.
#[derive(Default)]
struct Part {
    all: Vec<(GroupId, Measurement)>,
    warnings: Vec<WarningRow>,
    costs: Vec<(usize, usize, TrialCosts)>,
    /// Of loads, by target.
    loads: Vec<(usize, TrialCosts)>,
}

/// Reads trial after trial over a connection of its own.
struct Reader<'a> {
    store: &'a Store,
    rows: &'a Rows<'a>,
    decoder: HistogramDecoder,
}

impl MeasuredTrials {
    /// Reads all done trials, with what is wanted of the time within their steps.
    pub(crate) fn read(
        store: &Store,
        trials: &Trials,
        placements: &Placements,
        hosts: &[HostRow],
        within: Within,
    ) -> Result<Self, ReportError> {
        let mut warnings = store.warnings()?;
        let counters = CounterTable::of(store.counters()?);
        let mut rows = Rows::read(store, (trials, placements, &counters), hosts, &warnings)?;
        rows.within = within;
        let outcomes = store.outcomes()?;
        let trials = outcomes.chunk_by(|one, other| one.trial == other.trial);
        // Opened after the list was read, so that it has all of it.
        let helper = (outcomes.len() >= SHARED_FROM).then(|| store.reader());
        let by = |store: &Store, queue: &Queue<&[OutcomeRow]>| {
            let mut reader = Reader::new(store, &rows);
            queue.work(|of_trial| reader.read_trial(of_trial))
        };
        let parts = parallel::share(
            trials.collect(),
            |queue| by(store, queue),
            helper
                .transpose()?
                .map(|store| move |queue: &Queue<&[OutcomeRow]>| by(&store, queue)),
        );
        let mut part = Part::default();
        part.all.reserve_exact(outcomes.len());
        part.costs.reserve_exact(outcomes.len());
        for of_trial in parts {
            let of_trial = of_trial?;
            part.all.extend(of_trial.all);
            part.warnings.extend(of_trial.warnings);
            part.costs.extend(of_trial.costs);
            part.loads.extend(of_trial.loads);
        }
        let (counted, counted_loads) = counted(store, &rows)?;
        let Rows { beside, .. } = rows;
        warnings.extend(part.warnings);
        Ok(Self {
            all: part.all,
            warnings,
            costs: CostsOfTrials {
                counters,
                timed: part.costs,
                counted,
                loads: LoadCosts {
                    timed: part.loads,
                    counted: counted_loads,
                },
                beside,
            },
        })
    }
}

/// The costs of all steps, by step and target, and those of all loads, by target.
type CountedCosts = (Vec<(usize, usize, TrialCosts)>, Vec<(usize, TrialCosts)>);

/// The costs of all done counting trials.
fn counted(store: &Store, rows: &Rows<'_>) -> Result<CountedCosts, StoreError> {
    let own: Vec<OutcomeRow> = store.counted()?;
    let own: Vec<OutcomeRow> = own.into_iter().filter(|row| row.group == 0).collect();
    let mut costs = Vec::new();
    let mut loads = Vec::new();
    for of_trial in own.chunk_by(|one, other| one.trial == other.trial) {
        let trial = of_trial[0].trial;
        let samples = store.flat_samples(trial, &rows.counters.counters, rows.within.periods())?;
        let statements = Statements::read(store, trial)?;
        loads.extend(load_costs(rows, &of_trial[0], &samples));
        for row in of_trial {
            let readings = Readings::of(rows.counters, of_step(&samples, Some(row.step)));
            // A rate is kept in time, which means nothing here.
            let beside = match rows.plan.steps[row.step].groups.beside() {
                [] => Beside::Nobody,
                _ => Beside::Uneven,
            };
            let statements = statements.of(row);
            let counts = counts(rows.plan, row, (&[], None), statements, beside);
            let of_row = TrialCosts::of(row, &counts, &readings, rows.within.periods());
            let of_row = of_row.in_replicate(&rows.trials.replicates);
            costs.push((row.step, row.planned.target, of_row));
        }
    }
    Ok((costs, loads))
}

/// The costs of the load that the trial of an outcome began with, and their target. `None` where
/// none was sampled.
fn load_costs(
    rows: &Rows<'_>,
    row: &OutcomeRow,
    samples: &[FlatSample],
) -> Option<(usize, TrialCosts)> {
    let of_load = of_step(samples, None);
    let readings = Readings::of(rows.counters, of_load);
    let costs = || TrialCosts::of_load(rows.plan, row.planned.block, &readings);
    let costs = || costs().in_replicate(&rows.trials.replicates);
    (!of_load.is_empty()).then(|| (row.planned.target, costs()))
}

/// The counts of statements of a trial.
struct Statements(BTreeMap<(usize, usize), Vec<StatementRow>>);

impl Statements {
    fn read(store: &Store, trial: TrialId) -> Result<Self, StoreError> {
        let mut all: BTreeMap<(usize, usize), Vec<StatementRow>> = BTreeMap::new();
        for (step, group, statement) in store.statements_of(trial)? {
            all.entry((step, group)).or_default().push(statement);
        }
        Ok(Self(all))
    }

    fn of(&self, row: &OutcomeRow) -> &[StatementRow] {
        let statements = self.0.get(&(row.step, row.group));
        statements.map_or(&[], Vec::as_slice)
    }
}

/// The samples of one step, or of the load, among those of a trial, which are sorted by step.
fn of_step(samples: &[FlatSample], step: Option<usize>) -> &[FlatSample] {
    let begin = samples.partition_point(|sample| sample.step < step);
    let end = samples.partition_point(|sample| sample.step <= step);
    &samples[begin..end]
}

impl<'a> Reader<'a> {
    fn new(store: &'a Store, rows: &'a Rows<'a>) -> Self {
        Self {
            store,
            rows,
            decoder: HistogramDecoder::new(),
        }
    }

    /// Reads one trial; `outcomes` are sorted by step and group.
    fn read_trial(&mut self, outcomes: &[OutcomeRow]) -> Result<Part, ReportError> {
        let mut part = Part {
            all: Vec::with_capacity(outcomes.len()),
            costs: Vec::with_capacity(outcomes.len()),
            ..Part::default()
        };
        let rows = self.rows;
        let trial = outcomes[0].trial;
        let host = rows.trials.get(trial).map(|trial| trial.host);
        let samples =
            self.store
                .flat_samples(trial, &rows.counters.counters, rows.within.periods())?;
        let of_load = load_costs(rows, &outcomes[0], &samples);
        part.loads.extend(of_load);
        let mut statements = Statements::read(self.store, trial)?;
        let histograms = self.store.histograms(trial)?;
        let stretches = match rows.within {
            Within::Operations | Within::All => self.store.stretches(trial)?,
            Within::Nothing => Vec::new(),
        };
        let mut warnings: Vec<WarningRow> = Vec::new();
        for row in outcomes {
            let group = GroupId {
                step: row.step,
                position: row.group,
            };
            if group.is_own() {
                let readings = Readings::of(rows.counters, of_step(&samples, Some(row.step)));
                let derived = rows.derived_warnings(row, &readings, host);
                let stored = rows.warnings.get(&(trial, row.step));
                warnings = stored.cloned().unwrap_or_default();
                warnings.extend_from_slice(&derived);
                part.warnings.extend(derived);
                let processors = host.and_then(|host| *rows.processors.get(host)?);
                let used = (rows.threads(row), processors);
                let beside = rows.beside.at(rows.plan, row.step, row.planned.target);
                let counts = counts(rows.plan, row, used, statements.of(row), beside);
                let costs = TrialCosts::of(row, &counts, &readings, rows.within.periods());
                let costs = costs.in_replicate(&rows.trials.replicates);
                part.costs.push((row.step, row.planned.target, costs));
            }
            let place = histograms.binary_search_by_key(&(row.step, row.group), |histogram| {
                (histogram.step, histogram.group)
            });
            let histogram = place.map_or(&[][..], |place| &histograms[place].hdr);
            let statements = statements.0.remove(&(row.step, row.group));
            let statements = statements.unwrap_or_default();
            let mut measurement = self.measurement(group, row, histogram, statements, &warnings)?;
            let key = (row.step, row.group);
            let begin = stretches.partition_point(|of| (of.step, of.group) < key);
            let of_group = stretches[begin..].iter();
            let of_group = of_group.take_while(|of| (of.step, of.group) == key);
            measurement.stretches = of_group.map(|of| of.stretch).collect();
            part.all.push((group, measurement));
        }
        Ok(part)
    }

    fn measurement(
        &mut self,
        group: GroupId,
        row: &OutcomeRow,
        histogram: &[u8],
        statements: Vec<StatementRow>,
        warnings: &[WarningRow],
    ) -> Result<Measurement, ReportError> {
        let rows = self.rows;
        let key = (row.trial, group.step, group.position);
        let clients = group.of(rows.plan);
        let service = self.times(row, histogram);
        let schedule = rows.schedules.get(&key);
        let response = schedule.map(|schedule| self.times(row, &schedule.response));
        let response = response.transpose()?;
        let of_metrics = service.as_ref().ok().map(|(times, _)| *times);
        let values = values(row, of_metrics, response.map(|(times, _)| times));
        let service = service.map(|(_, times)| times);
        let schedule = match schedule {
            None => None,
            Some(schedule) => Some(ScheduleTimes {
                planned: schedule.planned,
                backlog: schedule.backlog,
                left: schedule.left,
                service: service.clone()?,
                response: response.and_then(|(_, times)| times),
                error: self.times(row, &schedule.error)?.1,
            }),
        };
        let connects = statements.iter().find(|row| row.name == CONNECT);
        let connects = match connects.filter(|_| clients.reconnect_every.is_some()) {
            None => None,
            Some(connect) => {
                let (trial, position) = (row.trial, connect.position);
                let histogram = self.store.histogram(trial, row.step, row.group, position)?;
                Some(Connects {
                    count: connect.count,
                    times: self.times(row, &histogram.unwrap_or_default())?.1,
                })
            }
        };
        let concerns = |warning: &&WarningRow| {
            let other = warning.subject.group();
            other.is_none_or(|other| other == group.position)
        };
        Ok(Measurement {
            debt: rows.debts.get(&key).cloned().unwrap_or_default(),
            settle: rows.settles.get(&key).cloned(),
            schedule,
            connects,
            statements,
            errors: rows.errors.get(&key).cloned().unwrap_or_default(),
            warnings: warnings
                .iter()
                .filter(concerns)
                .map(|warning| warning.text.clone())
                .collect(),
            threads: rows.threads.get(&key).cloned().unwrap_or_default(),
            placed: rows.placements.of(row.trial, row.step).cloned(),
            replicate: rows.trials.replicates.at(row.planned.block),
            service,
            values,
            pace: clients.pace,
            accompanied: rows.plan.steps[group.step].groups.len() > 1,
            stretches: Vec::new(),
            kept: true,
            row: row.clone(),
        })
    }

    /// The times of a histogram, for metrics and as they are shown.
    fn times(
        &mut self,
        row: &OutcomeRow,
        histogram: &[u8],
    ) -> Result<(ServiceTimes, Option<Times>), HistogramError> {
        let plan = self.rows.plan;
        let decoded = self.decoder.decode(histogram);
        decoded
            .map(times::figures)
            .map_err(|problem| HistogramError {
                target: plan.targets[row.planned.target].name.clone(),
                step: plan.steps[row.step].name.clone(),
                block: row.planned.block + 1,
                problem,
            })
    }
}

impl<'a> Rows<'a> {
    fn read(
        store: &'a Store,
        (trials, placements, counters): (&'a Trials, &'a Placements, &'a CounterTable),
        hosts: &[HostRow],
        stored: &[WarningRow],
    ) -> Result<Self, StoreError> {
        let mut debts: BTreeMap<Key, BTreeMap<DebtKind, u64>> = BTreeMap::new();
        for row in store.debts()? {
            let of_step = debts.entry((row.trial, row.step, 0)).or_default();
            of_step.insert(row.debt.kind, row.debt.value);
        }
        let mut threads: BTreeMap<Key, Vec<ThreadUse>> = BTreeMap::new();
        for row in store.thread_uses()? {
            let of_step = threads.entry((row.trial, row.step, 0)).or_default();
            of_step.push(row.used);
        }
        let mut errors: BTreeMap<Key, Vec<ErrorRow>> = BTreeMap::new();
        for row in store.errors()? {
            let of_group = errors.entry((row.trial, row.step, row.group)).or_default();
            of_group.push(row);
        }
        let mut warnings: BTreeMap<(TrialId, usize), Vec<WarningRow>> = BTreeMap::new();
        for row in stored {
            if let Some(step) = row.subject.trial().zip(row.subject.step()) {
                warnings.entry(step).or_default().push(row.clone());
            }
        }
        let settles = store.settles()?.into_iter();
        let schedules = store.schedules()?;
        Ok(Self {
            plan: store.plan(),
            trials,
            warnings,
            counters,
            within: Within::Nothing,
            debts,
            settles: settles
                .map(|row| ((row.trial, row.step, 0), row.outcome))
                .collect(),
            beside: WorkBeside::of(trials, schedules.iter()),
            schedules: schedules
                .into_iter()
                .map(|row| ((row.trial, row.step, row.group), row.schedule))
                .collect(),
            threads,
            errors,
            placements,
            processors: hosts.iter().map(processors).collect(),
        })
    }

    /// The use of the generator's threads in a step.
    fn threads(&self, row: &OutcomeRow) -> &[ThreadUse] {
        let threads = self.threads.get(&(row.trial, row.step, 0));
        threads.map_or(&[], Vec::as_slice)
    }

    /// The warnings that follow from the samples and counts of a step.
    fn derived_warnings(
        &self,
        row: &OutcomeRow,
        readings: &Readings<'_>,
        host: Option<usize>,
    ) -> Vec<WarningRow> {
        let step = &self.plan.steps[row.step];
        let of_group = |group| self.schedules.get(&(row.trial, row.step, group));
        let schedules: Vec<Option<&Schedule>> = (0..step.groups.len()).map(of_group).collect();
        let cpus = host.and_then(|host| *self.processors.get(host)?);
        let facts = StepFacts {
            thread_use: self.threads(row),
            schedules: &schedules,
            stolen: cpus.and_then(|_| Stolen::of_step(readings)),
            client_host: ClientHostUse::of_step(readings),
            cpus: cpus.unwrap_or(1),
            placement: self.placements.of(row.trial, row.step),
            usable: host.and_then(|host| self.placements.usable(host)),
        };
        let warning = |condition: &Condition| WarningRow {
            subject: match condition.group() {
                Some(group) => Subject::Group(row.trial, row.step, group),
                None => Subject::Step(row.trial, row.step),
            },
            code: condition.code().to_owned(),
            text: condition.to_string(),
        };
        conditions(step, &facts).iter().map(warning).collect()
    }
}

/// Throughput, service times and response times.
fn values(
    row: &OutcomeRow,
    service: Option<ServiceTimes>,
    response: Option<ServiceTimes>,
) -> BTreeMap<Metric, Result<f64, NoValue>> {
    let figures = GroupFigures {
        clients: row.clients,
        operations: row.operations,
        queries: row.queries,
        busy_ns: row.busy_ns,
        service,
        response,
    };
    let value = |metric: Metric| (metric, metric.figure(&figures).map(|value| value.amount));
    Metric::figures().map(value).collect()
}

/// Processors of a host, where they are known.
fn processors(host: &HostRow) -> Option<u32> {
    #[derive(Deserialize)]
    struct Facts {
        cpus: u32,
    }
    let facts: Facts = serde_json::from_str(&host.facts_json).ok()?;
    Some(facts.cpus)
}
