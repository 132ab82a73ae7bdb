//! The accuracy of ratios that the noise of a host permits.

use std::f64::consts::FRAC_1_SQRT_2;

use prony_model::{Calibration, Length, NoisePoint, Plan, PlannedTrial, Step, TrialKind};
use prony_stats::Fluctuation;

use crate::predict::{Assumptions, predicted_ms};

/// Expected accuracy of the ratio of throughput in some steps.
///
/// It follows from the throughput of the null server on the calibrated host. A real server adds its
/// own noise, so that the half-widths are lower bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// Indices of the steps. They have the same measured time and the same noise.
    pub steps: Vec<usize>,
    /// Their measured time, in milliseconds.
    pub time_ms: u64,
    /// Number of clients with which the noise was measured.
    pub noise_clients: u32,
    /// Half-width of the 95 % interval of a ratio, as a share of it, with the plan's blocks. `None`
    /// with one block.
    pub half_width: Option<f64>,
    /// The changes that reach half-widths, in the order in which they were asked for.
    pub changes: Vec<Change>,
}

/// The change to a plan that reaches a half-width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// None: the plan reaches it.
    Reached,
    /// This number of blocks.
    Blocks {
        /// Blocks of the plan.
        blocks: u32,
        /// Predicted time of the changed run, in milliseconds.
        run_ms: u64,
    },
    /// Longer steps: all timed steps of the plan by the same factor.
    Time {
        /// Measured time of these steps, in milliseconds.
        time_ms: u64,
        /// Predicted time of the changed run, in milliseconds.
        run_ms: u64,
    },
    /// More than a hundred thousand blocks, or longer than a computer counts.
    OutOfReach,
}

/// Expects the accuracy of all steps whose throughput is compared, in the order of the plan, and
/// what reaches the half-widths `wanted`, which are shares of a ratio. Of more blocks and longer
/// steps, the change with the shorter run is named.
///
/// Steps are left out that are not compared, that end after a number of operations, or whose
/// operations arrive at a rate: their throughput does not depend on a measured time, or not on the
/// server. Empty where fewer than two targets are compared, or the noise is unknown.
pub fn accuracy(
    plan: &Plan,
    calibration: &Calibration,
    assumptions: &Assumptions,
    wanted: &[f64],
) -> Vec<Accuracy> {
    if plan.targets.len() < 2 {
        return Vec::new();
    }
    let accuracy_of = |group: Group<'_>| group.accuracy(plan, assumptions, wanted);
    let groups = groups(plan, calibration).into_iter();
    groups.filter_map(accuracy_of).collect()
}

/// Returns `true` if a plan compares any step whose accuracy can be expected.
pub fn has_accuracy(plan: &Plan) -> bool {
    plan.targets.len() > 1 && plan.steps.iter().any(|step| compared_ms(step).is_some())
}

/// Steps of the same measured time and noise.
struct Group<'a> {
    steps: Vec<usize>,
    time_ms: u64,
    noise: &'a NoisePoint,
}

fn groups<'a>(plan: &Plan, calibration: &'a Calibration) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let noise = calibration.noise_at(step.all_clients());
        let Some((time_ms, noise)) = compared_ms(step).zip(noise) else {
            continue;
        };
        let is_like = |group: &&mut Group<'_>| group.time_ms == time_ms && group.noise == noise;
        match groups.iter_mut().find(is_like) {
            Some(group) => group.steps.push(index),
            None => groups.push(Group {
                steps: vec![index],
                time_ms,
                noise,
            }),
        }
    }
    groups
}

/// The measured time of a step whose throughput is compared and depends on the server.
fn compared_ms(step: &Step) -> Option<u64> {
    match step.length {
        Length::Time { ms } if !step.warm_only && !step.own().pace.is_scheduled() => Some(ms),
        Length::Time { .. } | Length::Count { .. } => None,
    }
}

impl Group<'_> {
    /// `None` where the windows tell nothing.
    fn accuracy(self, plan: &Plan, assumptions: &Assumptions, wanted: &[f64]) -> Option<Accuracy> {
        let fluctuation = self.fluctuation(plan.turn_ms)?;
        let seconds = self.time_ms as f64 / 1e3;
        let half_width = fluctuation.half_width(seconds, plan.blocks());
        let change = |wanted: &f64| match half_width {
            Some(width) if width <= *wanted => Change::Reached,
            _ => change(plan, assumptions, &fluctuation, self.time_ms, *wanted),
        };
        Some(Accuracy {
            changes: wanted.iter().map(change).collect(),
            steps: self.steps,
            time_ms: self.time_ms,
            noise_clients: self.noise.clients,
            half_width,
        })
    }
}

impl Group<'_> {
    /// The fluctuation between two means over a measured time. `None` where the windows tell nothing.
    fn fluctuation(&self, turn_ms: Option<u64>) -> Option<Fluctuation> {
        let NoisePoint { window_ms, .. } = *self.noise;
        let rates = self.noise.rates();
        let Some(turn_ms) = turn_ms else {
            return Fluctuation::of(&rates, window_ms as f64 / 1e3).ok();
        };
        // Shorter turns than a window are taken to be as long, which is too pessimistic, and longer
        // ones to be as short as leaves pairs enough.
        let longest = rates.len() / (2 * Fluctuation::WINDOWS_MIN);
        let windows = usize::try_from(turn_ms / window_ms.max(1)).ok()?;
        let windows = windows.min(longest).max(1);
        let seconds = (windows as u64 * window_ms) as f64 / 1e3;
        Fluctuation::of(&between_turns(&rates, windows), seconds).ok()
    }
}

/// Ratios of neighbouring turns of so many windows, as a series whose independent means differ as much as
/// the means of two targets that take turns: the logarithm of a quotient of two of them has twice their
/// variance, so that each is the ratio's root of order √2.
fn between_turns(rates: &[f64], windows: usize) -> Vec<f64> {
    let mean = |turn: &[f64]| turn.iter().sum::<f64>() / windows as f64;
    let ratio = |two: &[f64]| mean(&two[..windows]) / mean(&two[windows..]);
    let neighbours = rates.chunks_exact(2 * windows);
    let ratios = neighbours.map(|two| ratio(two).powf(FRAC_1_SQRT_2));
    ratios.filter(|ratio| ratio.is_finite()).collect()
}

/// The cheaper change that reaches a half-width which the plan does not reach.
fn change(
    plan: &Plan,
    assumptions: &Assumptions,
    fluctuation: &Fluctuation,
    time_ms: u64,
    wanted: f64,
) -> Change {
    let seconds = time_ms as f64 / 1e3;
    let by_blocks = fluctuation.pairs_for(seconds, wanted).map(|blocks| {
        let run_ms = predicted_ms(&with_blocks(plan, blocks), assumptions);
        (run_ms, Change::Blocks { blocks, run_ms })
    });
    let longer = fluctuation.seconds_for(plan.blocks(), wanted);
    let longer = longer.and_then(|seconds| milliseconds(seconds * 1e3));
    let by_time = longer.filter(|ms| *ms > time_ms).and_then(|ms| {
        let changed = with_times(plan, ms as f64 / time_ms as f64)?;
        let run_ms = predicted_ms(&changed, assumptions);
        Some((
            run_ms,
            Change::Time {
                time_ms: ms,
                run_ms,
            },
        ))
    });
    let changes = by_blocks.into_iter().chain(by_time);
    let cheapest = changes.min_by_key(|(run_ms, _)| *run_ms);
    cheapest.map_or(Change::OutOfReach, |(_, change)| change)
}

/// The plan with another number of blocks. Counting trials stay as they are.
fn with_blocks(plan: &Plan, blocks: u32) -> Plan {
    let mut changed = plan.clone();
    changed
        .trials
        .retain(|trial| trial.kind != TrialKind::Timed);
    for block in 0..blocks {
        let targets = 0..plan.targets.len();
        changed.trials.extend(targets.map(|target| PlannedTrial {
            block,
            target,
            kind: TrialKind::Timed,
        }));
    }
    changed
}

/// The plan with measured times that are longer by a factor. `None` where one gets too long.
fn with_times(plan: &Plan, factor: f64) -> Option<Plan> {
    let mut changed = plan.clone();
    for step in &mut changed.steps {
        if let Length::Time { ms } = &mut step.length {
            *ms = milliseconds(*ms as f64 * factor)?;
        }
    }
    Some(changed)
}

/// Milliseconds, rounded up. `None` above some million years.
fn milliseconds(ms: f64) -> Option<u64> {
    let time = std::time::Duration::try_from_secs_f64(ms.ceil() / 1e3).ok()?;
    u64::try_from(time.as_millis()).ok()
}

#[cfg(test)]
mod tests;
