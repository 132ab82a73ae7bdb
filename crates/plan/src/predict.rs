//! Predicted time of an experiment.

use prony_model::{
    CountedBy, Counting, Family, Length, LoadMethod, Pace, Plan, PlannedTrial, Step, TrialKind,
    Workload,
};

use crate::experiment::more_trials;

/// Assumptions of a prediction, besides the plan. The defaults are those of a small machine and are
/// meant to be replaced by what has been measured on the machine at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumptions {
    /// Milliseconds to make the first data directory of a target and to start and stop the server
    /// on it.
    pub bootstrap_ms: u64,
    /// Rows loaded per second, all tables together, index included. At least 1.
    pub load_rows_per_second: u64,
    /// The same of a load by `INSERT` over one connection, with the server's logs. At least 1.
    pub insert_rows_per_second: u64,
    /// Milliseconds of a trial before its first step: restore the image, start the server.
    pub start_ms: u64,
    /// Milliseconds of a trial after its last step: stop the server.
    pub stop_ms: u64,
    /// Milliseconds of a canary. Every trial has two, unless a target is an external server.
    pub canary_ms: u64,
    /// Milliseconds of a step besides warm-up and measuring: start the generator, end.
    pub step_ms: u64,
    /// Milliseconds of a step to read the own counters of a server of PostgreSQL, whose sessions publish
    /// theirs a second late.
    pub late_counters_ms: u64,
    /// Microseconds of a step for each of its clients: connect, prepare, disconnect.
    pub client_us: u64,
    /// Queries per second of one client, for steps that end after a number of operations. At
    /// least 1.
    pub queries_per_second: u64,
    /// Number of clients that the machine serves at full rate; more of them share that. At least 1.
    pub clients_at_once: u32,
    /// Factor by which valgrind slows a server down. At least 1.
    pub valgrind_slowdown: u64,
    /// Milliseconds that such a server takes longer to start and stop.
    pub valgrind_start_ms: u64,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            bootstrap_ms: 10_000,
            load_rows_per_second: 50_000,
            insert_rows_per_second: 25_000,
            start_ms: 4000,
            stop_ms: 1000,
            canary_ms: 150,
            step_ms: 200,
            late_counters_ms: 2500,
            client_us: 1000,
            queries_per_second: 10_000,
            clients_at_once: 2,
            valgrind_slowdown: 50,
            valgrind_start_ms: 50_000,
        }
    }
}

/// A fifth of a step's measured time is what it counts where nothing else decides.
const COUNTED_PART: u64 = 5;
/// Half of what a step counts comes before, as warm-up.
const WARMUP_PART: u64 = 2;

/// Milliseconds that a run of the plan takes when no image of its data exists yet:
///
/// ```text
/// images × (bootstrap + tables × rows ÷ load rate)
///   + trials × (2 × canary + start + Σ over the steps (idle + clients × per client
///               + warm-up or ramp + measured time + per step + late counters) + stop)
/// ```
///
/// Each target has an image, and the base's twin that of the base. A target whose rows do not come
/// with an image (`memory` tables, an external server, a load by inserts) is loaded in every trial
/// instead of once. Idle is the least that settling before the step takes.
/// Of warm-up and ramp the longer one counts. A step that ends after a number of operations takes
/// operations ÷ rate, where they arrive at one; else operations × queries in each ÷ (rate × clients
/// served at once), and each client's share of the think times.
///
/// In a counting trial a step takes what its operations take as fast as they go, or a fifth of the
/// measured time where the base decides how many there are, and half of it more for warming up. Where
/// valgrind counts, that and loading take so many times longer, and start and stop so much longer.
/// What fetching the builds takes is not in it, nor what [`backlogs_ms`] says, nor repetitions of
/// trials that are excluded by their canaries.
pub fn predicted_ms(plan: &Plan, assumptions: &Assumptions) -> u64 {
    let load_ms = load_ms(plan, assumptions);
    let images = plan.targets.iter().enumerate();
    let images = images.filter(|(index, _)| plan.twin != Some(*index));
    let images = images.fold(0_u64, |sum, (_, target)| {
        let has_image = !plan.loads_in_trials(target);
        let bootstrap_ms = match target.external {
            Some(_) => 0,
            None => assumptions.bootstrap_ms,
        };
        sum.saturating_add(bootstrap_ms)
            .saturating_add(if has_image { load_ms } else { 0 })
    });
    images.saturating_add(trials_ms(plan, &plan.trials, assumptions))
}

/// Milliseconds that one more block of the plan takes, without counting trials.
pub fn predicted_block_ms(plan: &Plan, assumptions: &Assumptions) -> u64 {
    trials_ms(plan, &more_trials(plan, plan.blocks(), 1), assumptions)
}

/// Milliseconds of these trials.
fn trials_ms(plan: &Plan, trials: &[PlannedTrial], assumptions: &Assumptions) -> u64 {
    let load_ms = load_ms(plan, assumptions);
    let of_kind = |kind| trial_ms(plan, kind, assumptions);
    let (timed_ms, counting_ms) = (of_kind(TrialKind::Timed), of_kind(TrialKind::Counting));
    let profiling_ms = of_kind(TrialKind::Profiling);
    let slowdown = slowdown(plan.counting, assumptions);
    trials.iter().fold(0, |sum, trial| {
        let target = &plan.targets[trial.target];
        let own_load_ms = if plan.loads_in_trials(target) {
            load_ms
        } else {
            0
        };
        let trial_ms = match trial.kind {
            TrialKind::Timed => timed_ms.saturating_add(own_load_ms),
            TrialKind::Counting => counting_ms.saturating_add(own_load_ms.saturating_mul(slowdown)),
            TrialKind::Profiling => profiling_ms.saturating_add(own_load_ms),
        };
        sum.saturating_add(trial_ms)
            .saturating_add(late_counters_ms(plan, *trial, assumptions))
    })
}

/// Milliseconds of a trial's steps for the own counters of PostgreSQL. A counting trial reads them always.
fn late_counters_ms(plan: &Plan, trial: PlannedTrial, assumptions: &Assumptions) -> u64 {
    let target = &plan.targets[trial.target];
    let reads_them = target.collect.status || trial.kind == TrialKind::Counting;
    if target.build.family != Family::Postgresql || !reads_them {
        return 0;
    }
    let steps = (0..plan.steps.len()).filter(|step| plan.runs(trial, *step));
    (steps.count() as u64).saturating_mul(assumptions.late_counters_ms)
}

/// Milliseconds that loading the dataset takes.
fn load_ms(plan: &Plan, assumptions: &Assumptions) -> u64 {
    let rate = match plan.dataset.load {
        LoadMethod::Bulk | LoadMethod::None => assumptions.load_rows_per_second,
        LoadMethod::Inserts => assumptions.insert_rows_per_second,
    };
    plan.dataset.loaded_rows().saturating_mul(1000) / rate.max(1)
}

/// Factor by which counting slows servers down.
fn slowdown(counting: Option<Counting>, assumptions: &Assumptions) -> u64 {
    match counting.map(|counting| counting.by) {
        Some(CountedBy::Valgrind) => assumptions.valgrind_slowdown.max(1),
        Some(CountedBy::Hardware) | None => 1,
    }
}

/// Milliseconds of a trial of this kind, without loading.
fn trial_ms(plan: &Plan, kind: TrialKind, assumptions: &Assumptions) -> u64 {
    let counting = plan.counting.filter(|_| kind == TrialKind::Counting);
    let profiling = plan.profiling.filter(|_| kind == TrialKind::Profiling);
    let slowdown = slowdown(counting, assumptions);
    let later_ms = match counting.map(|counting| counting.by) {
        Some(CountedBy::Valgrind) => assumptions.valgrind_start_ms,
        Some(CountedBy::Hardware) | None => 0,
    };
    let steps = plan.steps.iter().map(|step| {
        let work_ms = match counting {
            None => match profiling {
                None => timed_ms(step, assumptions),
                Some(profiling) => {
                    let length = profiling.length(step.length);
                    let step = Step {
                        length,
                        ..step.clone()
                    };
                    timed_ms(&step, assumptions)
                }
            },
            Some(counting) if !counting.counts(step) => return 0,
            Some(counting) => counted_ms(step, counting, assumptions).saturating_mul(slowdown),
        };
        step_ms(step, work_ms, assumptions)
    });
    let canaries = if plan.has_canaries() { 2 } else { 0 };
    let canaries_ms = assumptions.canary_ms.saturating_mul(canaries);
    [
        canaries_ms,
        assumptions.start_ms,
        assumptions.stop_ms,
        later_ms,
    ]
    .into_iter()
    .chain(steps)
    .fold(0, u64::saturating_add)
}

/// Milliseconds by which the timed trials of the plan take longer at most where servers can't keep
/// up with the rates asked of them, and backlogs are worked off.
pub fn backlogs_ms(plan: &Plan) -> u64 {
    let timed = |trial: &&PlannedTrial| trial.kind == TrialKind::Timed;
    let trials = plan.trials.iter().filter(timed).count() as u64;
    let steps = plan.steps.iter().map(Step::drain_ms);
    trials.saturating_mul(steps.fold(0, u64::saturating_add))
}

/// Milliseconds that one step of a trial takes whose work takes this long, settling before it
/// included.
fn step_ms(step: &Step, work_ms: u64, assumptions: &Assumptions) -> u64 {
    let idle_ms = step.settle.map_or(0, |settle| settle.idle_ms);
    let clients = u64::from(step.all_clients());
    let clients_ms = clients.saturating_mul(assumptions.client_us) / 1000;
    [clients_ms, work_ms, assumptions.step_ms]
        .into_iter()
        .fold(idle_ms, u64::saturating_add)
}

/// Milliseconds that a step warms up and measures.
fn timed_ms(step: &Step, assumptions: &Assumptions) -> u64 {
    let measured_ms = match (step.planned_ms(), step.length) {
        (Some(ms), _) => ms,
        (None, Length::Count { operations }) => {
            let think_us = match step.own().pace {
                Pace::Closed { think: Some(think) } => think.mean_us,
                Pace::Closed { think: None } | Pace::Open { .. } => 0,
            };
            let clients = u64::from(step.own().clients).max(1);
            let thinking_ms = (operations / clients).saturating_mul(think_us) / 1000;
            work_ms(step, operations, assumptions).saturating_add(thinking_ms)
        }
        (None, Length::Time { .. }) => 0,
    };
    step.warmup_ms.max(step.ramp_ms).saturating_add(measured_ms)
}

/// Milliseconds of the operations that a step counts, and of those that warm up for them, on a
/// server that nothing slows down: as fast as they go.
fn counted_ms(step: &Step, counting: Counting, assumptions: &Assumptions) -> u64 {
    let counted_ms = match (step.length, counting.operations) {
        (Length::Count { operations }, _) | (Length::Time { .. }, Some(operations)) => {
            work_ms(step, operations, assumptions)
        }
        (Length::Time { ms }, None) => counting.time_ms.unwrap_or(ms / COUNTED_PART),
    };
    counted_ms.saturating_add(counted_ms / WARMUP_PART)
}

/// Milliseconds that this many operations take as fast as they go.
fn work_ms(step: &Step, operations: u64, assumptions: &Assumptions) -> u64 {
    let clients = u64::from(step.own().clients).max(1);
    let at_once = clients.min(u64::from(assumptions.clients_at_once)).max(1);
    let rate = assumptions
        .queries_per_second
        .max(1)
        .saturating_mul(at_once);
    let queries = operations.saturating_mul(queries_of(&step.own().workload));
    queries.saturating_mul(1000) / rate
}

/// Statements of one operation, `BEGIN` and `COMMIT` included.
fn queries_of(workload: &Workload) -> u64 {
    let statements = workload.statements.iter();
    let statements: u64 = if workload.is_mix() {
        1
    } else {
        statements
            .map(|statement| u64::from(statement.repeat))
            .sum()
    };
    statements + if workload.transaction { 2 } else { 0 }
}
