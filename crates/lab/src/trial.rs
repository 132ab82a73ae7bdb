//! One trial: restore the image, start the server, run the steps, stop. One method per transition.

use std::thread::available_parallelism;

use prony_equality::VariableTable;
use prony_load::{DriveTask, Message, Task, usual_threads};
use prony_model::{
    Backend, ClientGroup, CountedBy, CounterSet, Counting, CpuSet, Length, Plan, PlannedTrial,
    Sample, Source, Step, StepOutcome, Target, TrialKind, TrialState, Workload,
};
use prony_servers::Image;
use prony_store::{BuildRecord, Store, TrialId, TrialRow};

use crate::collectors::{Collectors, SIMULATED_SLOWER, Wanted, Watched};
use crate::counted::{self, counted};
use crate::drive::drive;
use crate::event::{Event, Events};
use crate::explain;
use crate::fault::Fault;
use crate::lab::Lab;
use crate::prepare::{Loaded, Supply};
use crate::server::Server;
use crate::settle::{debt, empty_binlog, settle};
use crate::start::Start;
use crate::strain::{conditions, steal_warning};
use crate::survey::{self, Variables, subject};

/// Length of the intervals that the generator reports, in milliseconds.
const INTERVAL_MS: u64 = 1_000;
/// Silence of the server, in milliseconds, after which a step is given up.
const STALL_MS: u64 = 60_000;

/// Everything that one trial needs.
pub(crate) struct Trial<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) planned: PlannedTrial,
    pub(crate) id: TrialId,
    pub(crate) supply: &'a Supply,
    /// What the target's server comes from; `None` for an external one.
    pub(crate) image: Option<&'a Image>,
    /// What the server said of its variables before anything was loaded.
    pub(crate) surveyed: &'a Variables,
    pub(crate) table: &'a VariableTable,
    /// What carries the connections of the load.
    pub(crate) backend: Backend,
    /// Counters that ride along in timed trials where the experiment leaves it to the host.
    pub(crate) riding: Option<CounterSet>,
    pub(crate) store: &'a mut Store,
}

impl Trial<'_> {
    /// Runs the trial to its end. The server is gone when this returns, whatever it returns.
    pub(crate) fn run(&mut self, events: &mut Events<'_>) -> Result<(), Fault> {
        let mut watched = self.begin().watched(self.wanted())?;
        self.record_server(&watched.server)?;
        self.record_absences(&watched.collectors, events)?;
        self.fill(&mut watched.server)?;
        self.begin().warm(&watched.server)?;
        self.explain(&watched.server)?;
        for index in 0..self.plan.steps.len() {
            let step = self.planned_step(index)?;
            self.step(&mut watched, index, &step, events)?;
        }
        watched.server.stop().map(drop)
    }

    /// What is to be read in this trial.
    fn wanted(&self) -> Wanted {
        match self.counting() {
            Some(counting) => Wanted::counting(counting),
            None => Wanted::timed(self.target().collect, self.riding),
        }
    }

    /// How it counts; `None` in a timed trial.
    fn counting(&self) -> Option<Counting> {
        let is_counting = self.planned.kind == TrialKind::Counting;
        self.plan.counting.filter(|_| is_counting)
    }

    /// A step as this trial runs it.
    fn planned_step(&mut self, index: usize) -> Result<Step, Fault> {
        let step = &self.plan.steps[index];
        let Some(counting) = self.counting() else {
            return Ok(step.clone());
        };
        let operations = counted::operations(self.store, self.plan, counting, index)?;
        let operations = operations.ok_or_else(|| {
            Fault::failed(
                "no timed trial has said how many operations are to be counted: set `operations` in \
                 `[counting]`, or have a timed trial done first",
            )
        })?;
        Ok(counted(step, operations))
    }

    /// Keeps what can't be read of this server, and says it when it is new.
    fn record_absences(
        &mut self,
        collectors: &Collectors,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        for gap in collectors.absent() {
            let known = self.store.absences()?;
            // What a virtual machine does not tell of its host nobody can allow: it is only kept.
            let can_be_allowed = gap.source != Source::Host;
            if can_be_allowed && known.iter().all(|(_, before)| before != gap) {
                events(Event::Absent { gap });
            }
            self.store.record_absence(Some(self.id), gap)?;
        }
        Ok(())
    }

    fn target(&self) -> &Target {
        &self.plan.targets[self.planned.target]
    }

    fn begin(&self) -> Start<'_> {
        Start {
            lab: self.lab,
            dataset: &self.plan.dataset,
            target: self.target(),
            supply: self.supply,
            image: self.image,
        }
    }

    /// Keeps what the server says of itself: its version and its effective variables.
    fn record_server(&mut self, server: &Server) -> Result<(), Fault> {
        let version = server.control("SELECT VERSION()")?;
        let version = version.single().unwrap_or_default();
        let (content_hash, facts_json) = match self.supply {
            Supply::Own(fetched) => (
                fetched.build.content_hash.clone(),
                serde_json::to_string(&fetched.build)
                    .map_err(|error| Fault::failed(error.to_string()))?,
            ),
            // Nothing else identifies a server that somebody else runs.
            Supply::External(_) => (format!("external {version}"), "{}".to_owned()),
        };
        let record = BuildRecord {
            server_version: version,
            content_hash: &content_hash,
            facts_json: &facts_json,
        };
        self.store.record_build(self.planned.target, &record)?;
        let variables = survey::variables(server)?;
        let rows: Vec<_> = variables.clone().into_iter().collect();
        self.store.record_variables(self.id, &rows)?;
        self.warn_of_changes(&variables)
    }

    /// Says beside the results where variables that matter are not what they were when the run
    /// was allowed to begin.
    fn warn_of_changes(&mut self, now: &Variables) -> Result<(), Fault> {
        // A server in valgrind does without what valgrind can't run, and its times are not used.
        if self.planned.kind == TrialKind::Counting {
            return Ok(());
        }
        let before = subject(self.target(), &[], self.surveyed);
        let now = subject(self.target(), &[], now);
        let differences = self.table.compare(&[before, now], &self.plan.allow);
        for difference in differences.iter().filter(|difference| difference.stops()) {
            let said = |index: usize| difference.values[index].as_deref().unwrap_or("missing");
            let text = format!(
                "`{}` was {} when the run was allowed to begin and is {} in this trial: its \
                 figures are not those of the settings shown",
                difference.variable,
                said(0),
                said(1)
            );
            self.store
                .record_warning(Some(self.id), None, "variable-changed", &text)?;
        }
        Ok(())
    }

    /// Loads the dataset where no image brings it.
    fn fill(&mut self, server: &mut Server) -> Result<(), Fault> {
        let Some(Loaded { load, settle }) = self.begin().fill(server)? else {
            return Ok(());
        };
        self.store
            .record_trial_load(self.id, &load, Some(&settle))?;
        Ok(())
    }

    /// Keeps the execution plan of every statement, until a trial of the target has got to its end.
    fn explain(&mut self, server: &Server) -> Result<(), Fault> {
        let target = self.planned.target;
        let done =
            |trial: &TrialRow| trial.planned.target == target && trial.state == TrialState::Done;
        if self.store.trials()?.iter().any(done) {
            return Ok(());
        }
        for plan_text in explain::all(server, self.plan, self.surveyed)? {
            let explain::PlanText {
                entry,
                statement,
                json,
            } = &plan_text;
            self.store
                .record_plan_text(target, *entry, statement, json)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        watched: &mut Watched,
        index: usize,
        step: &Step,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let Watched { server, collectors } = watched;
        self.settle(server, index, events)
            .map_err(|fault| fault.during(&step.name, step.clients))?;
        collectors.prepare(server);
        events(Event::StepStarted {
            number: index + 1,
            total: self.plan.steps.len(),
            step: &step.name,
            clients: step.clients,
        });
        let seed = step_seed(self.plan.seed, self.planned.block, index);
        let task = self.task(step, seed);
        let mut samples = Vec::new();
        let outcome = drive(self.lab, server, self.client_cpus(), task, &mut |message| {
            match message {
                Message::Ready => samples.push(collectors.begin()),
                Message::MeasureEnd { .. } => samples.extend(collectors.end()),
                Message::Interval { interval, .. } => {
                    let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
                    let queries_per_second = interval.queries as f64 / seconds.max(1e-9);
                    events(Event::Rate { queries_per_second });
                }
                Message::Done { outcome } => return Ok(Some(outcome)),
                _ => {}
            }
            Ok(None)
        })
        .map_err(|fault| fault.during(&step.name, step.clients))?;
        self.record(index, step, &outcome, &samples)?;
        events(Event::StepDone {
            step: &step.name,
            clients: step.clients,
            queries_per_second: outcome.queries_per_second(),
        });
        Ok(())
    }

    /// What the load generator does in a step of this trial.
    fn task(&self, step: &Step, seed: u64) -> Task {
        let task = drive_task(self.plan, self.target(), step, seed, self.backend);
        let warmup_operations = match (self.counting(), step.length) {
            (Some(_), Length::Count { operations }) => {
                counted::warmup_operations(operations, step.clients)
            }
            _ => 0,
        };
        let simulated = self
            .counting()
            .is_some_and(|counting| counting.by == CountedBy::Valgrind);
        let slower = if simulated { SIMULATED_SLOWER } else { 1 };
        Task::Drive(Box::new(DriveTask {
            warmup_operations,
            stall_ms: task.stall_ms.saturating_mul(slower.into()),
            ..task
        }))
    }

    /// Brings the engine to a quiet state where the step wants it, and keeps what is left.
    fn settle(
        &mut self,
        server: &mut Server,
        index: usize,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let step = &self.plan.steps[index];
        let engine = self.target().engine;
        if let Some(how) = step.settle {
            events(Event::Settling { step: &step.name });
            let outcome = settle(self.lab, server, engine, &self.plan.dataset, how)?;
            if !outcome.unmet.is_empty() {
                events(Event::NotSettled {
                    unmet: &outcome.unmet,
                });
            }
            self.store.record_settle(self.id, index, &outcome)?;
        }
        empty_binlog(server)?;
        let debt = debt(server, engine)?;
        self.store.record_debt(self.id, index, &debt)?;
        Ok(())
    }

    fn record(
        &mut self,
        index: usize,
        step: &Step,
        outcome: &StepOutcome,
        samples: &[Sample],
    ) -> Result<(), Fault> {
        self.store.record_step(self.id, index, outcome)?;
        self.store.record_samples(self.id, index, samples)?;
        // What disturbs times is of no matter to counts.
        if self.planned.kind == TrialKind::Counting {
            return Ok(());
        }
        if let [start, .., end] = samples
            && let Some(text) = steal_warning(start, end, self.lab.cpus)
        {
            self.store
                .record_warning(Some(self.id), Some(index), "steal", &text)?;
        }
        for (code, text) in conditions(step, outcome) {
            self.store
                .record_warning(Some(self.id), Some(index), code, &text)?;
        }
        Ok(())
    }

    fn client_cpus(&self) -> Option<&CpuSet> {
        self.supply.own()?.rendered.process.client_cpus.as_ref()
    }
}

/// Threads of the load generator on this host.
pub(crate) fn threads_max(backend: Backend) -> u32 {
    // Where the number of processors is not known, it is taken for the least.
    usual_threads(backend, available_parallelism().map_or(1, usize::from))
}

/// What the load generator does in a step.
pub(crate) fn drive_task(
    plan: &Plan,
    target: &Target,
    step: &Step,
    seed: u64,
    backend: Backend,
) -> DriveTask {
    let transactional = target.engine.transactional();
    let gaps = sees_gaps(step, transactional);
    let group = |group: &ClientGroup| ClientGroup {
        workload: expected(&group.workload, gaps),
        ..group.clone()
    };
    DriveTask {
        workload: expected(&step.workload, gaps),
        parameters: step.parameters.clone(),
        dataset: plan.dataset,
        transactional,
        protocol: target.protocol,
        clients: step.clients,
        threads_max: threads_max(backend),
        seed,
        warmup_ms: step.warmup_ms,
        warmup_operations: 0,
        length: step.length,
        timing: step.timing,
        pace: step.pace,
        reconnect_every: step.reconnect_every,
        ramp_ms: step.ramp_ms,
        drain_ms: step.drain_ms(),
        beside: step.beside.iter().map(group).collect(),
        backend,
        interval_histograms: false,
        interval_ms: INTERVAL_MS,
        stall_ms: STALL_MS,
        hold: true,
    }
}

/// Whether clients can see each other's rows half changed: a row that one deletes to insert it again
/// is missing for the others meanwhile, and two who do so to the same row insert it twice.
pub(crate) fn sees_gaps(step: &Step, transactional: bool) -> bool {
    let makes_gaps = |workload: &Workload| {
        let statements = &workload.statements;
        let changes = |rows: i64| statements.iter().any(|other| other.change.rows == rows);
        let atomic = transactional && workload.transaction;
        !atomic && changes(-1) && changes(1)
    };
    let beside = step.beside.iter().map(|group| &group.workload);
    let mut workloads = std::iter::once(&step.workload).chain(beside);
    step.all_clients() > 1 && workloads.any(makes_gaps)
}

/// A workload with what can be expected of its answers.
fn expected(workload: &Workload, gaps: bool) -> Workload {
    let mut workload = workload.clone();
    if gaps {
        workload.expect_missing_rows();
    }
    workload
}

/// The seed of a step: the same for every target of a block, so that all answer the same
/// statements, and another one for every block and step. The mixing is `SplitMix64`'s
/// (Steele, Lea, Flood 2014).
pub(crate) fn step_seed(seed: u64, block: u32, step: usize) -> u64 {
    [u64::from(block), step as u64]
        .into_iter()
        .fold(seed, |state, input| {
            let mut z = state
                .wrapping_add(input)
                .wrapping_add(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_step_of_every_block_has_its_own_seed() {
        let seeds: HashSet<u64> = (0..20)
            .flat_map(|block| (0..50).map(move |step| step_seed(7, block, step)))
            .collect();
        assert_eq!(seeds.len(), 20 * 50);
        assert_ne!(step_seed(7, 0, 0), step_seed(8, 0, 0));
    }
}
