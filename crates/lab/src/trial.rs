//! One trial: restore the image, start the server, run the steps, stop. One method per transition.

mod counting;

use prony_equality::VariableTable;
use prony_load::{DriveTask, Message, Task};
use prony_model::{
    CountedBy, CounterSet, Counting, Length, Placement, Plan, PlannedTrial, Source, Step, Target,
    TrialKind, TrialState,
};
use prony_servers::Image;
use prony_store::{BuildRecord, Store, Subject, TrialId, TrialRow};

use crate::drive::{GeneratorSetup, drive_task, step_seed};
use crate::event::{Event, Events, activities};
use crate::fault::Fault;
use crate::lab::Lab;
use crate::measure::{Measured, measure};
use crate::placement::{Binding, Placements, free};
use crate::prepare::{Start, Supply, subject};
use crate::server::{Server, Variables, debt, empty_binlog, explain_all, settle};
use crate::watch::{Readers, SIMULATED_SLOWER, Wanted, Watched};

/// Everything that one trial needs.
pub(crate) struct Trial<'a> {
    pub(crate) lab: &'a Lab<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) planned: PlannedTrial,
    pub(crate) id: TrialId,
    pub(crate) supply: &'a Supply,
    /// The origin of the server's data; `None` for an external server.
    pub(crate) image: Option<&'a Image>,
    /// The variables that the server reported before anything was loaded.
    pub(crate) surveyed: &'a Variables,
    pub(crate) table: &'a VariableTable,
    pub(crate) setup: GeneratorSetup,
    pub(crate) placements: &'a Placements,
    /// Counters that ride along in timed trials where the experiment leaves it to the host.
    pub(crate) riding: Option<CounterSet>,
    pub(crate) store: &'a mut Store,
}

impl Trial<'_> {
    /// Runs the trial to its end. The server is gone when this returns, whatever it returns.
    pub(crate) fn run(&mut self, events: &mut Events<'_>) -> Result<(), Fault> {
        let mut watched = self.begin().watched(self.wanted())?;
        // Before other connections: each makes a session.
        let mut binding = Binding::new(&watched.server, self.binds_server())?;
        self.record_server(&watched.server)?;
        self.record_absences(&watched.readers, events)?;
        self.fill(&mut watched, events)?;
        self.begin().warm(&watched.server)?;
        self.explain(&watched.server)?;
        for index in 0..self.plan.steps.len() {
            if !self.plan.runs(self.planned, index) {
                continue;
            }
            let step = self.planned_step(index)?;
            self.step(&mut watched, &mut binding, (index, &step), events)?;
        }
        watched.server.stop().map(drop)
    }

    /// The readings of this trial.
    fn wanted(&self) -> Wanted {
        match self.counting() {
            Some(counting) => Wanted::counting(counting),
            None => Wanted::timed(self.target().collect, self.riding),
        }
    }

    /// The way of counting; `None` in a timed trial.
    fn counting(&self) -> Option<Counting> {
        let is_counting = self.planned.kind == TrialKind::Counting;
        self.plan.counting.filter(|_| is_counting)
    }

    /// True where the server runs in valgrind, which has one thread at a time run.
    fn is_simulated(&self) -> bool {
        self.counting()
            .is_some_and(|counting| counting.by == CountedBy::Valgrind)
    }

    /// True where a step binds the server's threads.
    fn binds_server(&self) -> bool {
        !self.is_simulated() && self.placements.bind_server(self.plan, self.target())
    }

    /// The placement of a step; none in valgrind, whose times are not used.
    fn placement(&self, index: usize) -> Placement {
        if self.is_simulated() {
            return free();
        }
        let step = &self.plan.steps[index];
        self.placements.of(self.plan, self.target(), step)
    }

    /// A step as this trial runs it.
    fn planned_step(&mut self, index: usize) -> Result<Step, Fault> {
        let step = &self.plan.steps[index];
        let Some(counting) = self.counting() else {
            return Ok(step.clone());
        };
        let operations = counting::operations(self.store, self.plan, counting, index)?;
        let operations = operations.ok_or_else(|| {
            Fault::failed(
                "the number of operations to count is unknown, because no timed trial is done: \
                 set `operations` in `[counting]`, or complete a timed trial first",
            )
        })?;
        Ok(counting::counted(step, operations))
    }

    /// Keeps what can't be read of this server, and reports it when it is new.
    fn record_absences(&mut self, readers: &Readers, events: &mut Events<'_>) -> Result<(), Fault> {
        for gap in readers.absent() {
            let known = self.store.absences()?;
            // A permission does not help where a virtual machine hides its host: only kept.
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

    /// Keeps the server's version and effective variables.
    fn record_server(&mut self, server: &Server) -> Result<(), Fault> {
        let version = server.version()?;
        let (content_hash, facts_json) = match self.supply {
            Supply::Own(fetched) => (
                fetched.build.content_hash.clone(),
                serde_json::to_string(&fetched.build)
                    .map_err(|error| Fault::failed(error.to_string()))?,
            ),
            // Nothing else identifies an external server.
            Supply::External(_) => (format!("external {version}"), "{}".to_owned()),
        };
        let record = BuildRecord {
            server_version: &version,
            content_hash: &content_hash,
            facts_json: &facts_json,
        };
        self.store.record_build(self.planned.target, &record)?;
        if let Supply::External(access) = self.supply {
            let groups = access.scheduling_groups()?;
            self.store.record_scheduling_groups(self.id, &groups)?;
        }
        let variables = server.variables()?;
        let rows: Vec<_> = variables.clone().into_iter().collect();
        self.store.record_variables(self.id, &rows)?;
        self.warn_of_changes(&variables)
    }

    /// Warns where variables that matter changed after the run was allowed to begin.
    fn warn_of_changes(&mut self, now: &Variables) -> Result<(), Fault> {
        // A server in valgrind does without what valgrind can't run, and its times are not used.
        if self.planned.kind == TrialKind::Counting {
            return Ok(());
        }
        let before = subject(self.target(), &[], self.surveyed);
        let now = subject(self.target(), &[], now);
        let differences = self.table.compare(&[before, now], &self.plan.allow);
        for difference in differences.iter().filter(|difference| difference.stops()) {
            let value = |index: usize| difference.values[index].as_deref().unwrap_or("missing");
            let text = format!(
                "`{}` was {} when the settings were compared and is {} in this trial: its figures \
                 do not belong to the settings shown",
                difference.variable,
                value(0),
                value(1)
            );
            self.store
                .record_warning(Subject::Trial(self.id), "variable-changed", &text)?;
        }
        Ok(())
    }

    /// Loads the dataset where no image brings it, and keeps what that costs.
    fn fill(&mut self, watched: &mut Watched, events: &mut Events<'_>) -> Result<(), Fault> {
        let Watched { server, readers } = watched;
        let plan = self.plan;
        let mut say = activities(&plan.targets[self.planned.target], events);
        if let Some(loaded) = self.begin().fill(server, Some(readers), &mut say)? {
            self.store
                .record_trial_load(self.id, &loaded.load, Some(&loaded.settle))?;
            self.store.record_load_samples(self.id, &loaded.samples)?;
        }
        Ok(())
    }

    /// Keeps the execution plan of every statement, until a trial of the target is done.
    fn explain(&mut self, server: &Server) -> Result<(), Fault> {
        let target = self.planned.target;
        let done =
            |trial: &TrialRow| trial.planned.target == target && trial.state == TrialState::Done;
        if self.store.trials()?.iter().any(done) {
            return Ok(());
        }
        for text in explain_all(server, self.plan, self.surveyed)? {
            self.store
                .record_plan_text(target, text.entry, &text.statement, &text.json)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        watched: &mut Watched,
        binding: &mut Binding,
        (index, step): (usize, &Step),
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let of_step = |fault: Fault| fault.during(&step.name, step.own().clients);
        self.settle(&mut watched.server, index, events)
            .map_err(of_step)?;
        binding
            .begin(step, self.placement(index))
            .map_err(of_step)?;
        watched.readers.prepare(&watched.server);
        events(Event::StepStarted {
            number: index + 1,
            total: self.plan.steps.len(),
            step: &step.name,
            clients: step.own().clients,
        });
        let seed = step_seed(self.plan.seed, self.planned.block, index);
        let task = self.task(step, seed, binding.thread_cpus());
        let measured = measure(self.lab, watched, binding, task, &mut |message| {
            if let Message::Interval { interval, .. } = message {
                let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
                let queries_per_second = interval.queries as f64 / seconds.max(1e-9);
                events(Event::Rate { queries_per_second });
            }
        });
        let measured = measured.map_err(of_step)?;
        let Measured {
            outcome,
            samples,
            placement,
        } = measured;
        self.store.record_step(self.id, index, &outcome)?;
        self.store.record_samples(self.id, index, &samples)?;
        if let Some(placement) = &placement {
            self.store.record_placement(self.id, index, placement)?;
        }
        events(Event::StepDone {
            step: &step.name,
            clients: step.own().clients,
            queries_per_second: outcome.groups.own().queries_per_second(),
        });
        Ok(())
    }

    /// The task of the load generator in a step of this trial.
    fn task(&self, step: &Step, seed: u64, thread_cpus: Vec<u16>) -> Task {
        let task = drive_task(self.plan, self.target(), step, seed, self.setup);
        let warmup_operations = match (self.counting(), step.length) {
            (Some(_), Length::Count { operations }) => {
                counting::warmup_operations(operations, step.own().clients)
            }
            _ => 0,
        };
        let slower = if self.is_simulated() {
            SIMULATED_SLOWER
        } else {
            1
        };
        Task::Drive(Box::new(DriveTask {
            warmup_operations,
            thread_cpus,
            stall_ms: task.stall_ms.saturating_mul(slower.into()),
            ..task
        }))
    }

    /// Brings the engine to a quiet state where the step wants it, and keeps its debt.
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
}
