//! The loop of a run whose number of blocks follows from the precision of its ratios.

use jiff::Timestamp;
use prony_lab::{
    BlockTimes, CampaignDecision, CampaignEnd, Precision, StepPrecision, decide, step_counts,
    step_precisions,
};
use prony_model::{AdditionReason, BlockWithout, Campaign, Metric, Plan};
use prony_plan::more_trials;
use prony_report::{Judgement, judgements};
use prony_store::{Addition, Store};

use crate::failure::Failure;
use crate::output;
use crate::words::{duration, listed, plural};

/// A campaign under way.
#[derive(Default)]
pub(crate) struct CampaignLoop {
    end: Option<CampaignEnd>,
    failure: Option<Failure>,
}

impl CampaignLoop {
    /// Looks at the ratios of a run that misses nothing, adds the blocks that it still needs, and
    /// returns `true` if there are any. `say` shows a line.
    pub(crate) fn more(&mut self, store: &mut Store, say: &mut dyn FnMut(&str)) -> bool {
        let Some(campaign) = store.plan().campaign.clone() else {
            return false;
        };
        match look(store, &campaign, say) {
            Ok(None) => true,
            Ok(Some(end)) => {
                self.end = Some(end);
                false
            }
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }

    /// Says what the campaign reached. Nothing is said of a run without one.
    pub(crate) fn end(self, store: &Store) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let plan = store.plan();
        if let (Some(end), Some(campaign)) = (self.end, &plan.campaign) {
            let steps = step_precisions(plan, campaign, &precisions(store)?);
            output::notice(&summary(plan, campaign, end, &steps));
        }
        Ok(())
    }
}

/// Decides, and adds blocks. Returns the end if none are added.
fn look(
    store: &mut Store,
    campaign: &Campaign,
    say: &mut dyn FnMut(&str),
) -> Result<Option<CampaignEnd>, Failure> {
    let times = BlockTimes::of(store).map_err(Failure::host)?;
    let (blocks, without) = match decide(store.plan(), campaign, &precisions(store)?, &times) {
        CampaignDecision::End(end) => return Ok(Some(end)),
        CampaignDecision::More { blocks, without } => (blocks, without),
    };
    let from = store.plan().blocks();
    let left_out = (!without.is_empty()).then(|| plural(without.len() as u64, "step"));
    let left_out = left_out.map_or_else(String::new, |steps| format!(" without {steps}"));
    say(&format!(
        "look after {}: adding {blocks} more{left_out}",
        plural(from.into(), "block")
    ));
    let addition = addition(store.plan(), blocks, &without);
    let added = store.add_trials(&addition, Timestamp::now());
    added.map_err(Failure::host)?;
    Ok(None)
}

/// The next blocks of a plan, each without these steps.
fn addition(plan: &Plan, blocks: u32, without: &[usize]) -> Addition {
    let from = plan.blocks();
    let left_out = |block| BlockWithout {
        block,
        steps: without.to_vec(),
    };
    let shortened = if without.is_empty() { 0 } else { blocks };
    Addition {
        reason: AdditionReason::Campaign,
        trials: more_trials(plan, from, blocks),
        without: (from..from + shortened).map(left_out).collect(),
    }
}

/// The precision of every contender's throughput ratio at every step, for the step's own clients.
fn precisions(store: &Store) -> Result<Vec<Precision>, Failure> {
    let plan = store.plan();
    let judgements = judgements(store).map_err(Failure::usage)?.into_iter();
    let precision = |judgement: Judgement| Precision {
        step: judgement.step,
        target: judgement.target,
        pairs: judgement.pairs,
        half_width: judgement
            .interval
            .map(|interval| interval.high / judgement.ratio - 1.0),
    };
    let decisive = judgements.filter(|judgement| is_decisive(plan, judgement));
    Ok(decisive.map(precision).collect())
}

/// Returns `true` if a campaign looks at a ratio.
fn is_decisive(plan: &Plan, judgement: &Judgement) -> bool {
    let is_own = judgement.metric == Metric::Operations && judgement.group == 0;
    is_own && plan.contenders().any(|target| target == judgement.target)
}

/// Steps that are not precise enough and that the end of a campaign names: those furthest from it.
const OPEN_NAMED_MAX: usize = 3;

/// What was reached, in lines.
fn summary(plan: &Plan, campaign: &Campaign, end: CampaignEnd, steps: &[StepPrecision]) -> String {
    let wanted = f64::from(campaign.precision_percent.0) / 1e3;
    let reason = match end {
        CampaignEnd::Precise => format!("every ratio is within ± {wanted} %"),
        CampaignEnd::LooksUsedUp => "no more are planned".to_owned(),
        CampaignEnd::BudgetUsedUp { needed_ms } => format!(
            "with the next ones the trials would take {}, and the budget is {}",
            duration(needed_ms),
            duration(campaign.budget_ms)
        ),
        CampaignEnd::NothingToCompare => "no target has a ratio to the base".to_owned(),
    };
    let blocks = plural(plan.blocks().into(), "block");
    let mut lines = vec![format!("The campaign ended after {blocks}: {reason}.")];
    let settled = steps.iter().filter(|step| step.is_settled).count();
    let mut open: Vec<&StepPrecision> = steps.iter().filter(|step| !step.is_settled).collect();
    let width = |step: &StepPrecision| step.worst.half_width.unwrap_or(f64::INFINITY);
    open.sort_by(|one, other| width(other).total_cmp(&width(one)));
    let named = open.iter().take(OPEN_NAMED_MAX);
    let mut named: Vec<String> = named.map(|step| open_words(plan, step)).collect();
    let more = open.len() - named.len();
    named.extend((more > 0).then(|| format!("{more} more, which came closer")));
    if !named.is_empty() {
        lines.push(format!(
            "± {wanted} % was reached at {settled} of {}, and not at {}.",
            plural(steps.len() as u64, "step"),
            listed(&named)
        ));
    }
    let (measured, all) = step_counts(plan);
    lines.push(format!(
        "Its trials measured {}; blocks with every step would have measured {all}.",
        plural(measured as u64, "step")
    ));
    lines.join("\n")
}

/// A step that is not precise enough: `insert, 4 clients (± 3.1 % with mysql-9.7)`.
fn open_words(plan: &Plan, precision: &StepPrecision) -> String {
    let StepPrecision { step, worst, .. } = precision;
    let (step, target) = (&plan.steps[*step], &plan.targets[worst.target].name);
    let width = match worst.half_width {
        Some(width) => format!("± {:.1} %", width * 100.0),
        None => plural(worst.pairs as u64, "block"),
    };
    let clients = plural(step.own().clients.into(), "client");
    format!("{}, {clients} ({width} with {target})", step.name)
}

#[cfg(test)]
mod tests {
    use prony_model::{Thousandths, Verdict, Version};
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn added_blocks_continue_the_plan_and_leave_steps_out() {
        let targets = ["base", "b"].map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let steps = ["s", "t"].map(|name| testkit::step(name, 1));
        let plan = testkit::plan("x", targets.to_vec(), steps.to_vec(), 5);
        assert_eq!(addition(&plan, 3, &[]).without, []);
        let added = addition(&plan, 3, &[1]);
        let left_out = |block| BlockWithout {
            block,
            steps: vec![1],
        };
        assert_eq!(added.without, [5, 6, 7].map(left_out));
        assert_eq!(added.trials, more_trials(&plan, 5, 3));
        assert_eq!(added.reason, AdditionReason::Campaign);
    }

    #[test]
    fn groups_beside_a_step_decide_nothing() {
        let targets = ["base", "b"].map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let steps = vec![testkit::step("s", 1)];
        let plan = testkit::plan("x", targets.to_vec(), steps, 5);
        let judgement = |group, target, metric| Judgement {
            step: 0,
            group,
            target,
            metric,
            pairs: 5,
            ratio: 1.1,
            interval: None,
            verdict: Verdict::Inconclusive,
        };
        let looks = |group, target, metric| is_decisive(&plan, &judgement(group, target, metric));
        assert!(looks(0, 1, Metric::Operations));
        assert!(!looks(1, 1, Metric::Operations));
        assert!(!looks(0, 0, Metric::Operations));
        assert!(!looks(0, 1, Metric::ServerCpu));
    }

    #[test]
    fn the_end_names_what_was_reached() {
        let targets = ["base", "b"].map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let steps = ["s", "t"].map(|name| testkit::step(name, 4));
        let mut plan = testkit::plan("x", targets.to_vec(), steps.to_vec(), 8);
        plan.without = (5..8)
            .map(|block| BlockWithout {
                block,
                steps: vec![0],
            })
            .collect();
        let campaign = Campaign {
            precision_percent: Thousandths(1_500),
            budget_ms: 3_600_000,
            looks: vec![5, 8],
        };
        let precision = |step, half_width| Precision {
            step,
            target: 1,
            pairs: 8,
            half_width,
        };
        let words = |end, last| {
            let precisions = [precision(0, Some(0.01)), precision(1, last)];
            let steps = step_precisions(&plan, &campaign, &precisions);
            summary(&plan, &campaign, end, &steps)
        };
        assert_eq!(
            words(CampaignEnd::Precise, Some(0.015)),
            "The campaign ended after 8 blocks: every ratio is within ± 1.5 %.\n\
             Its trials measured 26 steps; blocks with every step would have measured 32."
        );
        let needed_ms = 4_000_000;
        assert_eq!(
            words(CampaignEnd::BudgetUsedUp { needed_ms }, Some(0.031)),
            "The campaign ended after 8 blocks: with the next ones the trials would take \
             1 h 6 min, and the budget is 1 h.\n\
             ± 1.5 % was reached at 1 of 2 steps, and not at t, 4 clients (± 3.1 % with b).\n\
             Its trials measured 26 steps; blocks with every step would have measured 32."
        );
    }
}
