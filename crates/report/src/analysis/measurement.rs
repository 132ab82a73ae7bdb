//! The outcome of one trial for one group of clients, with the rates that follow from its counts.

use std::collections::BTreeMap;

use prony_model::{Backend, DebtKind, Pace, Plan, Schedule, SettleOutcome, ThreadUse};
use prony_store::{ErrorRow, GroupRow, OutcomeRow, StatementRow, Store, TrialId};

use crate::analysis::group::GroupId;
use crate::analysis::pairing::InBlock;
use crate::analysis::stored_warnings;
use crate::analysis::times::{self, Times};
use crate::error::ReportError;

/// The name under which connecting is counted.
const CONNECT: &str = "connect";

/// Everything that one trial measured of a group of clients.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    row: OutcomeRow,
    /// Work that the engine had left when the step began, as far as it is known.
    pub(crate) debt: BTreeMap<DebtKind, u64>,
    /// The settling before the step, where that was asked for.
    pub(crate) settle: Option<SettleOutcome>,
    /// Where operations have intended starts.
    pub(crate) schedule: Option<ScheduleTimes>,
    /// Where clients connect anew.
    pub(crate) connects: Option<Connects>,
    /// Counts of the statements of the workload.
    pub(crate) statements: Vec<StatementRow>,
    /// Errors of the server, by code.
    pub(crate) errors: Vec<ErrorRow>,
    /// Texts of the stored warnings about these clients.
    pub(crate) warnings: Vec<String>,
    /// Use of the generator's threads, for all clients of the step.
    pub(crate) threads: Vec<ThreadUse>,
    service: Result<Option<Times>, BadHistogram>,
    pace: Pace,
    accompanied: bool,
}

/// The schedule of one block as it was kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScheduleTimes {
    /// Operations planned within the measured time.
    pub(crate) planned: u64,
    /// Those that had not begun at its end.
    pub(crate) backlog: u64,
    /// Those that never began.
    pub(crate) left: u64,
    /// From send to last byte.
    pub(crate) service: Option<Times>,
    /// From intended start to last byte.
    pub(crate) response: Option<Times>,
    /// The generator's own lateness.
    pub(crate) error: Option<Times>,
}

/// The price of connecting anew in one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Connects {
    pub(crate) count: u64,
    pub(crate) times: Option<Times>,
}

/// A histogram in the result file that can't be decoded. Only formats that show it are stopped.
#[derive(Debug, Clone)]
struct BadHistogram {
    target: String,
    step: String,
    block: u32,
    problem: String,
}

impl InBlock for Measurement {
    fn block(&self) -> Option<u32> {
        Some(self.block_number())
    }
}

impl Measurement {
    pub(crate) fn row(&self) -> &OutcomeRow {
        &self.row
    }

    /// The block, from 1.
    pub(crate) fn block_number(&self) -> u32 {
        self.row.planned.block + 1
    }

    /// Over all clients. `None` when nothing was done.
    pub(crate) fn queries_per_second(&self) -> Option<f64> {
        self.rate(self.row.queries)
    }

    /// Over all clients. `None` when nothing was done.
    pub(crate) fn operations_per_second(&self) -> Option<f64> {
        self.rate(self.row.operations)
    }

    /// Mean time that a client spent on an operation: service time where operations have an intended
    /// start, so that clients also wait for the next. `None` when nothing was done, and where the
    /// service time is not known.
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        if self.pace.is_scheduled() {
            return Some(self.schedule?.service?.mean / 1e3);
        }
        let rate = self.operations_per_second()?;
        Some(f64::from(self.row.clients) * 1e3 / rate)
    }

    /// Processor time of the load generator. `None` when nothing was done, and where clients of
    /// several groups shared it.
    pub(crate) fn client_cpu_us_per_operation(&self) -> Option<f64> {
        if self.accompanied {
            return None;
        }
        let cpu_ns = self.row.client_user_ns + self.row.client_system_ns;
        (self.row.operations > 0).then(|| cpu_ns as f64 / 1e3 / self.row.operations as f64)
    }

    /// Times of whole operations from send to last byte; `None` without operations.
    ///
    /// # Errors
    /// When the histogram in the result file is damaged.
    pub(crate) fn service(&self) -> Result<Option<Times>, ReportError> {
        self.service.clone().map_err(ReportError::from)
    }

    fn rate(&self, count: u64) -> Option<f64> {
        let seconds = self.row.busy_ns as f64 / 1e9 / f64::from(self.row.clients);
        (count > 0 && seconds > 0.0 && seconds.is_finite()).then(|| count as f64 / seconds)
    }
}

impl From<BadHistogram> for ReportError {
    fn from(bad: BadHistogram) -> Self {
        Self::Histogram {
            target: bad.target,
            step: bad.step,
            block: bad.block,
            problem: bad.problem,
        }
    }
}

/// The group of a trial that a row is about.
type Key = (TrialId, usize, usize);

/// Everything in the result file that measurements are made of.
struct Rows<'a> {
    store: &'a Store,
    plan: &'a Plan,
    debts: BTreeMap<Key, BTreeMap<DebtKind, u64>>,
    settles: BTreeMap<Key, SettleOutcome>,
    schedules: BTreeMap<Key, Schedule>,
    threads: BTreeMap<Key, Vec<ThreadUse>>,
    errors: BTreeMap<Key, Vec<ErrorRow>>,
    warnings: Vec<prony_store::WarningRow>,
}

/// The measurements of all done timed trials with their groups, by trial.
pub(crate) fn read(store: &Store) -> Result<Vec<(GroupId, Measurement)>, ReportError> {
    let rows = Rows::read(store)?;
    let mut backends: BTreeMap<(TrialId, usize), Backend> = BTreeMap::new();
    let mut measurements = Vec::new();
    for row in store.outcomes()? {
        backends.insert((row.trial, row.step), row.backend);
        let group = GroupId::own(row.step);
        measurements.push((group, rows.measurement(group, row)?));
    }
    for row in store.groups()? {
        let Some(backend) = backends.get(&(row.trial, row.step)) else {
            continue;
        };
        let group = GroupId {
            step: row.step,
            position: row.position,
        };
        let outcome = as_outcome(&row, *backend);
        measurements.push((group, rows.measurement(group, outcome)?));
    }
    Ok(measurements)
}

impl<'a> Rows<'a> {
    fn read(store: &'a Store) -> Result<Self, ReportError> {
        let mut debts: BTreeMap<Key, BTreeMap<DebtKind, u64>> = BTreeMap::new();
        for row in store.debts()? {
            let of_step = debts.entry((row.trial, row.step, 0)).or_default();
            of_step.insert(row.debt.kind, row.debt.value);
        }
        let settles = store.settles()?.into_iter();
        let schedules = store.schedules()?.into_iter();
        let mut threads: BTreeMap<Key, Vec<ThreadUse>> = BTreeMap::new();
        for row in store.thread_uses()? {
            let of_step = threads.entry((row.trial, row.step, 0)).or_default();
            of_step.push(row.used);
        }
        let mut errors: BTreeMap<Key, Vec<ErrorRow>> = BTreeMap::new();
        let own = store.errors()?.into_iter();
        let beside = store.group_errors()?;
        for (position, row) in own.map(|row| (0, row)).chain(beside) {
            let of_group = errors.entry((row.trial, row.step, position)).or_default();
            of_group.push(row);
        }
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
            warnings: store.warnings()?,
        })
    }

    fn measurement(&self, group: GroupId, row: OutcomeRow) -> Result<Measurement, ReportError> {
        let key = (row.trial, group.step, group.position);
        let work = group.work(self.plan);
        let statements = self.statements(row.trial, group)?;
        let service = self.times(&row, &self.histogram(row.trial, group, 0)?);
        let schedule = match self.schedules.get(&key) {
            None => None,
            Some(schedule) => Some(ScheduleTimes {
                planned: schedule.planned,
                backlog: schedule.backlog,
                left: schedule.left,
                service: service.clone()?,
                response: self.times(&row, &schedule.response)?,
                error: self.times(&row, &schedule.error)?,
            }),
        };
        let connects = statements.iter().find(|row| row.name == CONNECT);
        let connects = match connects.filter(|_| work.reconnect_every.is_some()) {
            None => None,
            Some(connect) => {
                let histogram = self.histogram(row.trial, group, connect.position)?;
                Some(Connects {
                    count: connect.count,
                    times: self.times(&row, &histogram)?,
                })
            }
        };
        let warnings = self.warnings.iter();
        let warnings = warnings.filter(|warning| warning.trial == Some(row.trial));
        Ok(Measurement {
            debt: self.debts.get(&key).cloned().unwrap_or_default(),
            settle: self.settles.get(&key).cloned(),
            schedule,
            connects,
            statements,
            errors: self.errors.get(&key).cloned().unwrap_or_default(),
            warnings: warnings
                .filter_map(|warning| stored_warnings::text_for(self.plan, warning, group))
                .map(str::to_owned)
                .collect(),
            threads: self.threads.get(&key).cloned().unwrap_or_default(),
            service,
            pace: work.pace,
            accompanied: !self.plan.steps[group.step].beside.is_empty(),
            row,
        })
    }

    fn statements(&self, trial: TrialId, group: GroupId) -> Result<Vec<StatementRow>, ReportError> {
        let rows = if group.is_own() {
            self.store.statements(trial, group.step)
        } else {
            let (step, position) = (group.step, group.position);
            self.store.group_statements(trial, step, position)
        };
        Ok(rows?)
    }

    /// The stored histogram of whole operations (`statement` 0) or of one statement.
    fn histogram(
        &self,
        trial: TrialId,
        group: GroupId,
        statement: usize,
    ) -> Result<Vec<u8>, ReportError> {
        let bytes = if group.is_own() {
            self.store.histogram(trial, group.step, statement)
        } else {
            let (step, position) = (group.step, group.position);
            self.store.group_histogram(trial, step, position, statement)
        };
        Ok(bytes?.unwrap_or_default())
    }

    fn times(&self, row: &OutcomeRow, histogram: &[u8]) -> Result<Option<Times>, BadHistogram> {
        let decoded = times::decode(histogram).map_err(|problem| BadHistogram {
            target: self.plan.targets[row.planned.target].name.clone(),
            step: self.plan.steps[row.step].name.clone(),
            block: row.planned.block + 1,
            problem,
        })?;
        Ok(Times::of(&decoded))
    }
}

/// The counts of a group in the form of a step's. The generator's processor time is not its own.
fn as_outcome(row: &GroupRow, backend: Backend) -> OutcomeRow {
    OutcomeRow {
        trial: row.trial,
        planned: row.planned,
        step: row.step,
        backend,
        clients: row.clients,
        threads: 0,
        operations: row.operations,
        queries: row.queries,
        busy_ns: row.busy_ns,
        client_user_ns: 0,
        client_system_ns: 0,
        errors: row.errors,
        unexpected: row.unexpected,
    }
}
