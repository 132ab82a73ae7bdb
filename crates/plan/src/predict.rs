//! How long an experiment will take.

use prony_model::{Length, Pace, Plan, Step, Workload};

/// What a prediction rests on, besides the plan. The defaults are those of a small machine and
/// are meant to be replaced by what has been measured on the machine at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumptions {
    /// Milliseconds to make the first data directory of a target and to start and stop the server
    /// on it.
    pub bootstrap_ms: u64,
    /// Rows loaded per second, all tables together, index included. At least 1.
    pub load_rows_per_second: u64,
    /// Milliseconds of a trial before its first step: restore the image, start the server.
    pub start_ms: u64,
    /// Milliseconds of a trial after its last step: stop the server.
    pub stop_ms: u64,
    /// Milliseconds of a step besides warm-up and measuring: start the generator, end.
    pub step_ms: u64,
    /// Microseconds of a step for each of its clients: connect, prepare, disconnect.
    pub client_us: u64,
    /// Queries per second of one client, for steps that end after a number of operations. At
    /// least 1.
    pub queries_per_second: u64,
    /// How many clients the machine serves at full rate; more of them share that. At least 1.
    pub clients_at_once: u32,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            bootstrap_ms: 10_000,
            load_rows_per_second: 50_000,
            start_ms: 4000,
            stop_ms: 1000,
            step_ms: 200,
            client_us: 1000,
            queries_per_second: 10_000,
            clients_at_once: 2,
        }
    }
}

/// Milliseconds that a run of the plan takes when no image of its data exists yet:
///
/// ```text
/// targets × (bootstrap + tables × rows ÷ load rate)
///   + trials × (start + Σ over the steps (idle + clients × per client + warm-up or ramp
///                                         + measured time + per step) + stop)
/// ```
///
/// A target whose rows do not come with an image (`memory` tables, an external server) is loaded
/// in every trial instead of once. Idle is the least that settling before the step takes.
/// Of warm-up and ramp the longer one counts. A step that ends after a number of operations takes
/// operations ÷ rate, where they arrive at one; else operations × queries in each ÷ (rate × clients
/// served at once), and each client's share of the think times. What fetching the builds takes is
/// not in it, nor what [`backlogs_ms`] says.
pub fn predicted_ms(plan: &Plan, assumptions: &Assumptions) -> u64 {
    let dataset = &plan.dataset;
    let rows = u64::from(dataset.tables).saturating_mul(dataset.rows);
    let load_ms = rows.saturating_mul(1000) / assumptions.load_rows_per_second.max(1);

    let steps = plan.steps.iter().map(|step| step_ms(step, assumptions));
    let steps_ms = steps.fold(0, u64::saturating_add);
    let trial_ms = assumptions
        .start_ms
        .saturating_add(steps_ms)
        .saturating_add(assumptions.stop_ms);

    let targets = plan.targets.iter().fold(0_u64, |sum, target| {
        let loads = if target.external.is_some() || !target.engine.persistent() {
            u64::from(plan.blocks())
        } else {
            1
        };
        let bootstrap_ms = match target.external {
            Some(_) => 0,
            None => assumptions.bootstrap_ms,
        };
        sum.saturating_add(bootstrap_ms)
            .saturating_add(loads.saturating_mul(load_ms))
    });
    let trials = plan.trials.len() as u64;
    targets.saturating_add(trials.saturating_mul(trial_ms))
}

/// Milliseconds by which a run of the plan takes longer at most where servers can't keep up with
/// the rates asked of them, and backlogs are worked off.
pub fn backlogs_ms(plan: &Plan) -> u64 {
    let trials = plan.trials.len() as u64;
    let steps = plan.steps.iter().map(Step::drain_ms);
    trials.saturating_mul(steps.fold(0, u64::saturating_add))
}

/// Milliseconds that one step of a trial takes, settling before it included.
fn step_ms(step: &Step, assumptions: &Assumptions) -> u64 {
    let measured_ms = step
        .planned_ms()
        .unwrap_or_else(|| work_ms(step, assumptions));
    let idle_ms = step.settle.map_or(0, |settle| settle.idle_ms);
    let clients = u64::from(step.all_clients());
    let clients_ms = clients.saturating_mul(assumptions.client_us) / 1000;
    let before_ms = step.warmup_ms.max(step.ramp_ms);
    [clients_ms, before_ms, measured_ms, assumptions.step_ms]
        .into_iter()
        .fold(idle_ms, u64::saturating_add)
}

/// Milliseconds that the operations of a closed loop take.
fn work_ms(step: &Step, assumptions: &Assumptions) -> u64 {
    let Length::Count { operations } = step.length else {
        return 0;
    };
    let clients = u64::from(step.clients).max(1);
    let at_once = clients.min(u64::from(assumptions.clients_at_once)).max(1);
    let rate = assumptions
        .queries_per_second
        .max(1)
        .saturating_mul(at_once);
    let queries = operations.saturating_mul(queries_of(&step.workload));
    let think_us = match step.pace {
        Pace::Closed { think: Some(think) } => think.mean_us,
        Pace::Closed { think: None } | Pace::Open { .. } => 0,
    };
    let thinking_ms = (operations / clients).saturating_mul(think_us) / 1000;
    (queries.saturating_mul(1000) / rate).saturating_add(thinking_ms)
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
