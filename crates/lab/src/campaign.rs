//! The decision of a campaign when it looks at its ratios: which steps are precise enough, and
//! which blocks follow.

mod times;

use std::collections::BTreeMap;

use prony_model::{Campaign, Plan, PlannedTrial, Step, TrialKind, needed_steps};

pub use self::times::BlockTimes;
pub(crate) use self::times::took_ms;

/// Precision of a contender's throughput ratio at a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Index of the step.
    pub step: usize,
    /// Index of the contender.
    pub target: usize,
    /// Number of blocks with both of a pair.
    pub pairs: usize,
    /// Half of the interval as a share of the ratio; `None` below two pairs.
    pub half_width: Option<f64>,
}

/// What follows from a look.
#[derive(Debug, Clone, PartialEq)]
pub enum CampaignDecision {
    /// More blocks run, up to the next look.
    More {
        /// Number of blocks, at least 1.
        blocks: u32,
        /// Indices of the steps that these leave out, ascending.
        without: Vec<usize>,
    },
    /// The campaign ends.
    End(CampaignEnd),
}

/// The reason why a campaign ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignEnd {
    /// Every ratio is as precise as wanted.
    Precise,
    /// No look is left.
    LooksUsedUp,
    /// The next blocks would exceed the budget.
    BudgetUsedUp {
        /// Milliseconds that the run would have taken with them.
        needed_ms: u64,
    },
    /// No contender has a ratio at any step.
    NothingToCompare,
}

/// A judged step, with the least precise of its ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepPrecision {
    /// Index of the step.
    pub step: usize,
    /// The least precise ratio.
    pub worst: Precision,
    /// That ratio is as precise as wanted.
    pub is_settled: bool,
}

/// The precision of each step whose ratios are judged, in the order of the plan. A step without
/// any ratio is not among them: more blocks do not help it.
pub fn step_precisions(
    plan: &Plan,
    campaign: &Campaign,
    precisions: &[Precision],
) -> Vec<StepPrecision> {
    let wanted = f64::from(campaign.precision_percent.0) / 1e5;
    let width = |precision: &Precision| precision.half_width.unwrap_or(f64::INFINITY);
    let mut worst: BTreeMap<usize, Precision> = BTreeMap::new();
    let is_judged = |step: Option<&Step>| step.is_some_and(|step| !step.warm_only);
    for precision in precisions
        .iter()
        .filter(|it| is_judged(plan.steps.get(it.step)))
    {
        let of_step = worst.entry(precision.step).or_insert(*precision);
        if width(precision) > width(of_step) {
            *of_step = *precision;
        }
    }
    let of_step = |(step, worst): (usize, Precision)| StepPrecision {
        step,
        worst,
        is_settled: width(&worst) <= wanted,
    };
    worst.into_iter().map(of_step).collect()
}

/// Decides after a look. Later blocks run the steps that are not settled, and those that these
/// need ([`needed_steps`]).
pub fn decide(
    plan: &Plan,
    campaign: &Campaign,
    precisions: &[Precision],
    times: &BlockTimes,
) -> CampaignDecision {
    use CampaignDecision::{End, More};
    let steps = step_precisions(plan, campaign, precisions);
    if steps.is_empty() {
        return End(CampaignEnd::NothingToCompare);
    }
    let is_unsettled = |index| {
        let mut steps = steps.iter();
        steps.any(|step| step.step == index && !step.is_settled)
    };
    let needed = needed_steps(&plan.steps, is_unsettled);
    if needed.is_empty() {
        return End(CampaignEnd::Precise);
    }
    let so_far = plan.blocks();
    let Some(next) = campaign.looks.iter().find(|look| **look > so_far) else {
        return End(CampaignEnd::LooksUsedUp);
    };
    let blocks = next - so_far;
    let more_ms = times.block_ms(&needed).saturating_mul(blocks.into());
    let needed_ms = times.spent_ms().saturating_add(more_ms);
    if needed_ms > campaign.budget_ms {
        return End(CampaignEnd::BudgetUsedUp { needed_ms });
    }
    let without = (0..plan.steps.len()).filter(|step| !needed.contains(step));
    More {
        blocks,
        without: without.collect(),
    }
}

/// Number of measurements of steps in the timed trials of a plan, and the number that they would
/// have if no block left out any.
pub fn step_counts(plan: &Plan) -> (usize, usize) {
    let timed = |trial: &&PlannedTrial| trial.kind == TrialKind::Timed;
    let trials = plan.trials.iter().filter(timed);
    let all = trials.clone().count() * plan.steps.len();
    let steps = |trial: &PlannedTrial| {
        let steps = 0..plan.steps.len();
        steps.filter(|step| plan.runs(*trial, *step)).count()
    };
    (trials.map(steps).sum(), all)
}

#[cfg(test)]
mod tests;
