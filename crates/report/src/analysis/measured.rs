//! All done timed trials as the result file has them: measurements, costs and warnings.

use std::collections::BTreeMap;

use prony_model::{
    DebtKind, GroupFigures, Metric, Moment, NoValue, Plan, Schedule, SettleOutcome, StepSamples,
    ThreadUse,
};
use prony_store::{
    ErrorRow, HostRow, OutcomeRow, StatementRow, Store, StoreError, Subject, TrialId, WarningRow,
};
use serde::Deserialize;

use crate::analysis::conditions::{Condition, StepFacts, conditions};
use crate::analysis::group::GroupId;
use crate::analysis::measurement::{Connects, Measurement, ScheduleTimes};
use crate::analysis::placement::Placements;
use crate::analysis::times::{self, Times};
use crate::analysis::trial_costs::{TrialCosts, counts};
use crate::analysis::trials::Trials;
use crate::error::{HistogramError, ReportError};

/// The name under which connecting is counted.
const CONNECT: &str = "connect";

/// All done timed trials.
pub(crate) struct MeasuredTrials {
    /// By block, target, step and group.
    pub(crate) all: Vec<Measured>,
    /// Stored warnings, then those that follow from samples and counts.
    pub(crate) warnings: Vec<WarningRow>,
}

/// One trial at one step, for one group of clients.
pub(crate) struct Measured {
    pub(crate) group: GroupId,
    pub(crate) measurement: Measurement,
    /// Of the whole step, with its own clients.
    pub(crate) costs: Option<TrialCosts>,
}

/// The group of a trial that a row is about.
type Key = (TrialId, usize, usize);

/// The rows of the result file that measurements are made of.
struct Rows<'a> {
    store: &'a Store,
    plan: &'a Plan,
    debts: BTreeMap<Key, BTreeMap<DebtKind, u64>>,
    settles: BTreeMap<Key, SettleOutcome>,
    schedules: BTreeMap<Key, Schedule>,
    threads: BTreeMap<Key, Vec<ThreadUse>>,
    errors: BTreeMap<Key, Vec<ErrorRow>>,
    placements: &'a Placements,
    /// Processors of each host.
    processors: Vec<Option<u32>>,
}

impl MeasuredTrials {
    pub(crate) fn read(
        store: &Store,
        trials: &Trials,
        placements: &Placements,
        hosts: &[HostRow],
    ) -> Result<Self, ReportError> {
        let rows = Rows::read(store, placements, hosts)?;
        let mut warnings = store.warnings()?;
        let mut all = Vec::new();
        for row in store.outcomes()? {
            let group = GroupId {
                step: row.step,
                position: row.group,
            };
            let statements = store.statements(row.trial, row.step, row.group)?;
            let costs = if group.is_own() {
                let samples = store.samples(row.trial, row.step)?;
                let host = trials.get(row.trial).map(|trial| trial.host);
                warnings.extend(rows.derived_warnings(&row, &samples, host));
                let counts = counts(rows.plan, &row, rows.threads(&row), &statements);
                Some(TrialCosts::of(&row, &counts, &samples))
            } else {
                None
            };
            all.push(Measured {
                group,
                measurement: rows.measurement(group, row, statements, &warnings)?,
                costs,
            });
        }
        Ok(Self { all, warnings })
    }
}

impl<'a> Rows<'a> {
    fn read(
        store: &'a Store,
        placements: &'a Placements,
        hosts: &[HostRow],
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
        let settles = store.settles()?.into_iter();
        let schedules = store.schedules()?.into_iter();
        Ok(Self {
            store,
            plan: store.plan(),
            debts,
            settles: settles
                .map(|row| ((row.trial, row.step, 0), row.outcome))
                .collect(),
            schedules: schedules
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
        samples: &StepSamples,
        host: Option<usize>,
    ) -> Vec<WarningRow> {
        let step = &self.plan.steps[row.step];
        let of_group = |group| self.schedules.get(&(row.trial, row.step, group));
        let schedules: Vec<Option<&Schedule>> = (0..step.groups.len()).map(of_group).collect();
        let cpus = host.and_then(|host| *self.processors.get(host)?);
        let edges = || Some([samples.at(Moment::Start)?, samples.at(Moment::End)?]);
        let facts = StepFacts {
            thread_use: self.threads(row),
            schedules: &schedules,
            edges: cpus.and_then(|_| edges()),
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

    fn measurement(
        &self,
        group: GroupId,
        row: OutcomeRow,
        statements: Vec<StatementRow>,
        warnings: &[WarningRow],
    ) -> Result<Measurement, ReportError> {
        let key = (row.trial, group.step, group.position);
        let clients = group.of(self.plan);
        let service = self.decode(&row, &self.histogram(&row, 0)?);
        let schedule = self.schedules.get(&key);
        let response = schedule.map(|schedule| self.decode(&row, &schedule.response));
        let response = response.transpose()?;
        let values = values(&row, service.as_ref().ok(), response.as_ref());
        let service = service.map(|histogram| Times::of(&histogram));
        let schedule = match schedule {
            None => None,
            Some(schedule) => Some(ScheduleTimes {
                planned: schedule.planned,
                backlog: schedule.backlog,
                left: schedule.left,
                service: service.clone()?,
                response: response.as_ref().and_then(Times::of),
                error: self.times(&row, &schedule.error)?,
            }),
        };
        let connects = statements.iter().find(|row| row.name == CONNECT);
        let connects = match connects.filter(|_| clients.reconnect_every.is_some()) {
            None => None,
            Some(connect) => Some(Connects {
                count: connect.count,
                times: self.times(&row, &self.histogram(&row, connect.position)?)?,
            }),
        };
        let concerns = |warning: &&WarningRow| {
            let subject = warning.subject;
            let of_group = subject.group().is_none_or(|other| other == group.position);
            subject.trial() == Some(row.trial) && subject.step() == Some(group.step) && of_group
        };
        Ok(Measurement {
            debt: self.debts.get(&key).cloned().unwrap_or_default(),
            settle: self.settles.get(&key).cloned(),
            schedule,
            connects,
            statements,
            errors: self.errors.get(&key).cloned().unwrap_or_default(),
            warnings: warnings
                .iter()
                .filter(concerns)
                .map(|warning| warning.text.clone())
                .collect(),
            threads: self.threads.get(&key).cloned().unwrap_or_default(),
            placed: self.placements.of(row.trial, row.step).cloned(),
            service,
            values,
            pace: clients.pace,
            accompanied: self.plan.steps[group.step].groups.len() > 1,
            row,
        })
    }

    /// The stored histogram of whole operations (`statement` 0) or of one statement.
    fn histogram(&self, row: &OutcomeRow, statement: usize) -> Result<Vec<u8>, StoreError> {
        let (trial, step, group) = (row.trial, row.step, row.group);
        let histogram = self.store.histogram(trial, step, group, statement)?;
        Ok(histogram.unwrap_or_default())
    }

    fn times(&self, row: &OutcomeRow, histogram: &[u8]) -> Result<Option<Times>, HistogramError> {
        let decoded = self.decode(row, histogram);
        decoded.map(|histogram| Times::of(&histogram))
    }

    fn decode(
        &self,
        row: &OutcomeRow,
        histogram: &[u8],
    ) -> Result<times::NsHistogram, HistogramError> {
        times::decode(histogram).map_err(|problem| HistogramError {
            target: self.plan.targets[row.planned.target].name.clone(),
            step: self.plan.steps[row.step].name.clone(),
            block: row.planned.block + 1,
            problem,
        })
    }
}

/// Throughput, service times and response times.
fn values(
    row: &OutcomeRow,
    service: Option<&times::NsHistogram>,
    response: Option<&times::NsHistogram>,
) -> BTreeMap<Metric, Result<f64, NoValue>> {
    let figures = GroupFigures {
        clients: row.clients,
        operations: row.operations,
        queries: row.queries,
        busy_ns: row.busy_ns,
        service: service.map(times::service_times),
        response: response.map(times::service_times),
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
