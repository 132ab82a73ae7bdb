//! One trial: restore the image, start the server, run the steps, stop. One method per transition;
//! between two of them the server of another trial may run.

mod counting;

use prony_equality::VariableTable;
use prony_load::{DriveTask, Message, Task};
use prony_model::{
    CountedBy, CounterSet, Counting, Length, Placement, Plan, PlannedTrial, Profiling, Sample,
    Source, Step, Target, TrialKind, TrialState,
};
use prony_servers::Image;
use prony_store::{BuildRecord, Store, Subject, TrialId, TrialRow};

use crate::drive::{GeneratorSetup, drive_task, step_seed};
use crate::event::{Event, Events, activities};
use crate::fault::Fault;
use crate::lab::Lab;
use crate::measure::{Measured, Measurement, Turn};
use crate::placement::{Binding, Placements, free};
use crate::prepare::{Start, Supply, subject};
use crate::server::{Server, Variables, debt, empty_binlog, explain_all, settle};
use crate::watch::{Readers, SIMULATED_SLOWER, Wanted, Watched, server_cpu_ns};

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
    /// Its server is paused while others have their turn.
    pub(crate) takes_turns: bool,
}

/// A trial whose server runs. The server is gone when this is dropped.
pub(crate) struct Course<'a> {
    /// The step that is being measured. Its clients go before the server.
    step: Option<CourseStep<'a>>,
    pub(crate) watched: Watched,
    binding: Binding,
}

/// A step that is being measured.
struct CourseStep<'a> {
    index: usize,
    name: &'a str,
    clients: u32,
    measurement: Measurement<'a>,
    is_over: bool,
}

impl Course<'_> {
    /// Returns `true` if a step is being measured, and its measured time is not over.
    pub(crate) fn is_measuring(&self) -> bool {
        self.step.as_ref().is_some_and(|step| !step.is_over)
    }
}

impl<'a> Trial<'a> {
    /// Starts the server and gets it ready for the first step.
    pub(crate) fn begin(
        &self,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<Course<'a>, Fault> {
        let mut watched = self.start().watched(self.wanted())?;
        // Before other connections: each makes a session.
        let binding = Binding::new(&watched.server, self.binds_server())?;
        self.record_server(store, &watched.server)?;
        self.record_absences(store, &watched.readers, events)?;
        self.fill(store, &mut watched, events)?;
        self.start().warm(&watched.server)?;
        self.explain(store, &watched.server)?;
        Ok(Course {
            step: None,
            watched,
            binding,
        })
    }

    /// Stops the server.
    pub(crate) fn end(course: Course<'_>) -> Result<(), Fault> {
        course.watched.server.stop().map(drop)
    }

    /// The readings of this trial.
    fn wanted(&self) -> Wanted {
        let collect = self.target().collect;
        let wanted = match (self.counting(), self.profiling()) {
            (Some(counting), _) => Wanted::counting(counting),
            (None, Some(profiling)) => Wanted::profiling(collect, profiling),
            (None, None) => Wanted::timed(collect, self.riding),
        };
        Wanted {
            pauses: self.takes_turns,
            ..wanted
        }
    }

    /// The way of counting; `None` in a timed trial.
    fn counting(&self) -> Option<Counting> {
        let is_counting = self.planned.kind == TrialKind::Counting;
        self.plan.counting.filter(|_| is_counting)
    }

    /// The way of sampling stacks; `None` in other trials than profiling ones.
    fn profiling(&self) -> Option<Profiling> {
        let is_profiling = self.planned.kind == TrialKind::Profiling;
        self.plan.profiling.filter(|_| is_profiling)
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
    fn planned_step(&self, store: &mut Store, index: usize) -> Result<Step, Fault> {
        let step = &self.plan.steps[index];
        if let Some(profiling) = self.profiling() {
            let length = profiling.length(step.length);
            return Ok(Step {
                length,
                ..step.clone()
            });
        }
        let Some(counting) = self.counting() else {
            return Ok(step.clone());
        };
        let operations = counting::operations(store, self.plan, counting, index)?;
        let operations = operations.ok_or_else(|| {
            Fault::failed(
                "the number of operations to count is unknown, because no timed trial is done: \
                 set `operations` in `[counting]`, or complete a timed trial first",
            )
        })?;
        Ok(counting::counted(step, operations))
    }

    /// Keeps what can't be read of this server, and reports it when it is new.
    fn record_absences(
        &self,
        store: &mut Store,
        readers: &Readers,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        for gap in readers.absent() {
            let known = store.absences()?;
            // A permission does not help where a virtual machine hides its host: only kept.
            let can_be_allowed = gap.source != Source::Host;
            if can_be_allowed && known.iter().all(|(_, before)| before != gap) {
                events(Event::Absent { gap });
            }
            store.record_absence(Some(self.id), gap)?;
        }
        Ok(())
    }

    fn target(&self) -> &'a Target {
        &self.plan.targets[self.planned.target]
    }

    fn start(&self) -> Start<'a> {
        Start {
            lab: self.lab,
            dataset: &self.plan.dataset,
            target: self.target(),
            supply: self.supply,
            image: self.image,
        }
    }

    /// Keeps the server's version and effective variables.
    fn record_server(&self, store: &mut Store, server: &Server) -> Result<(), Fault> {
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
        store.record_build(self.planned.target, &record)?;
        if let Supply::External(access) = self.supply {
            let groups = access.scheduling_groups()?;
            store.record_scheduling_groups(self.id, &groups)?;
        }
        let variables = server.variables()?;
        let rows: Vec<_> = variables.clone().into_iter().collect();
        store.record_variables(self.id, &rows)?;
        self.warn_of_changes(store, &variables)
    }

    /// Warns where variables that matter changed after the run was allowed to begin.
    fn warn_of_changes(&self, store: &mut Store, now: &Variables) -> Result<(), Fault> {
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
            store.record_warning(Subject::Trial(self.id), "variable-changed", &text)?;
        }
        Ok(())
    }

    /// Loads the dataset where no image brings it, and keeps what that costs.
    fn fill(
        &self,
        store: &mut Store,
        watched: &mut Watched,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let Watched { server, readers } = watched;
        let plan = self.plan;
        let mut say = activities(&plan.targets[self.planned.target], events);
        if let Some(loaded) = self.start().fill(server, Some(readers), &mut say)? {
            store.record_trial_load(self.id, &loaded.load, Some(&loaded.settle))?;
            store.record_load_samples(self.id, &loaded.samples)?;
        }
        Ok(())
    }

    /// Keeps the execution plan of every statement, until a trial of the target is done.
    fn explain(&self, store: &mut Store, server: &Server) -> Result<(), Fault> {
        let target = self.planned.target;
        let done =
            |trial: &TrialRow| trial.planned.target == target && trial.state == TrialState::Done;
        if store.trials()?.iter().any(done) {
            return Ok(());
        }
        for text in explain_all(server, self.plan, self.surveyed)? {
            store.record_plan_text(target, text.entry, &text.statement, &text.json)?;
        }
        Ok(())
    }

    /// Gets the server ready for a step and lets its load run until the measured time is to begin.
    /// Nothing is done where the trial leaves out the step.
    pub(crate) fn begin_step(
        &self,
        course: &mut Course<'a>,
        index: usize,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        if !self.plan.runs(self.planned, index) {
            return Ok(());
        }
        let step = self.planned_step(store, index)?;
        let clients = step.own().clients;
        let of_step = |fault: Fault| fault.during(&step.name, clients);
        self.settle(&mut course.watched.server, index, store, events)
            .map_err(of_step)?;
        let (watched, binding) = (&mut course.watched, &mut course.binding);
        binding
            .begin(&step, self.placement(index))
            .map_err(of_step)?;
        watched.readers.prepare(&watched.server);
        events(Event::StepStarted {
            number: index + 1,
            total: self.plan.steps.len(),
            step: &step.name,
            clients,
        });
        let seed = step_seed(self.plan.seed, self.planned.block, index);
        let task = self.task(&step, seed, binding.thread_cpus());
        let measurement = Measurement::begin(self.lab, watched, binding, task, &mut rates(events));
        course.step = Some(CourseStep {
            index,
            name: &self.plan.steps[index].name,
            clients,
            measurement: measurement.map_err(of_step)?,
            is_over: false,
        });
        Ok(())
    }

    /// Lets the measured time begin or go on, until it pauses or ends.
    pub(crate) fn turn(course: &mut Course<'a>, events: &mut Events<'_>) -> Result<(), Fault> {
        let Course {
            step: Some(step),
            watched,
            binding,
        } = course
        else {
            return Ok(());
        };
        let turn = step.measurement.turn(watched, binding, &mut rates(events));
        let turn = turn.map_err(|fault| fault.during(step.name, step.clients))?;
        step.is_over = turn == Turn::Over;
        Ok(())
    }

    /// Ends the load of a step and keeps what it has measured.
    pub(crate) fn end_step(
        &self,
        course: &mut Course<'a>,
        store: &mut Store,
        events: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let Some(CourseStep {
            index,
            name,
            clients,
            measurement,
            ..
        }) = course.step.take()
        else {
            return Ok(());
        };
        let (watched, binding) = (&mut course.watched, &mut course.binding);
        let measured = measurement.end(watched, binding, &mut rates(events));
        let Measured {
            outcome,
            samples,
            placement,
        } = measured.map_err(|fault| fault.during(name, clients))?;
        store.record_step(self.id, index, &outcome)?;
        store.record_samples(self.id, index, &samples)?;
        if let Some(profile) = watched.readers.take_profile() {
            let content = profile.encode().map_err(|error| {
                Fault::failed(format!("failed to keep the profile of the server: {error}"))
            })?;
            store.record_profile(self.id, index, &content)?;
        }
        self.keep_stacks(&mut watched.readers, index, &samples, store)?;
        if let Some(placement) = &placement {
            store.record_placement(self.id, index, placement)?;
        }
        events(Event::StepDone {
            target: self.takes_turns.then_some(&self.target().name),
            step: name,
            clients,
            queries_per_second: outcome.groups.own().queries_per_second(),
        });
        Ok(())
    }

    /// Keeps the stacks that were found in a step, where they were sampled.
    fn keep_stacks(
        &self,
        readers: &mut Readers,
        index: usize,
        samples: &[Sample],
        store: &mut Store,
    ) -> Result<(), Fault> {
        let Some(stacks) = readers.take_stacks() else {
            return Ok(());
        };
        let failed = |reason: String| Fault::failed(format!("failed to sample stacks: {reason}"));
        let mut stacks = stacks.map_err(failed)?;
        let edges = samples.first().zip(samples.last());
        stacks.taking.accounted_ns = edges.and_then(|(start, end)| server_cpu_ns(start, end));
        let content = stacks.encode().map_err(|error| failed(error.to_string()))?;
        store.record_stack_samples(self.id, index, &content)?;
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
            turn_ms: self
                .plan
                .turn_ms
                .filter(|_| self.takes_turns && step.can_pause()),
            stall_ms: task.stall_ms.saturating_mul(slower.into()),
            ..task
        }))
    }

    /// Brings the engine to a quiet state where the step wants it, and keeps its debt.
    fn settle(
        &self,
        server: &mut Server,
        index: usize,
        store: &mut Store,
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
            store.record_settle(self.id, index, &outcome)?;
        }
        empty_binlog(server)?;
        let debt = debt(server, engine)?;
        store.record_debt(self.id, index, &debt)?;
        Ok(())
    }
}

/// Reports the rate of every interval.
fn rates(events: &mut Events<'_>) -> impl FnMut(&Message) {
    move |message| {
        if let Message::Interval { interval, .. } = message {
            let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
            let queries_per_second = interval.queries as f64 / seconds.max(1e-9);
            events(Event::Rate { queries_per_second });
        }
    }
}
