//! Verdicts: what is known of each judged metric of each target, relative to the base.
//!
//! A verdict has two parts that are never mixed: if there is a difference at all (significance), and
//! how it compares with the margin of its step (magnitude).

mod doubts;
mod needed;

use std::collections::BTreeMap;

use prony_model::{Better, ClientGroup, Metric, Pace, Plan, Verdict};
use prony_stats::{Interval, Pairs, benjamini_hochberg};
use prony_store::WarningRow;
use serde::Serialize;

pub(crate) use self::doubts::Doubt;
use self::doubts::Doubts;
pub(crate) use self::needed::Needed;
use crate::analysis::cells::Cells;
use crate::analysis::costs::Costs;
use crate::analysis::estimate::{Estimate, PlannedLooks};
use crate::analysis::figure::Figure;
use crate::analysis::group::GroupId;
use crate::analysis::identical::Identical;
use crate::analysis::struck::Struck;

/// The metrics that verdicts are given for, in the order in which they are shown.
///
/// The list is fixed before any run, because each comparison makes the others of its run stricter:
/// throughput and times are the effect that clients see, processor time and instructions its price.
/// Other metrics explain these, such as context switches and cache misses, or repeat them.
pub(crate) const JUDGED: [Metric; 11] = [
    Metric::Operations,
    Metric::ServiceMean,
    Metric::ServiceP50,
    Metric::ServiceP95,
    Metric::ServiceP99,
    Metric::ResponseMean,
    Metric::ResponseP50,
    Metric::ResponseP95,
    Metric::ResponseP99,
    Metric::ServerCpu,
    Metric::Instructions,
];

/// Pairs below which there is no verdict: intervals of so few are wide, and rest on the assumption
/// that logarithms are normal.
pub(crate) const PAIRS_MIN: usize = 5;

/// Share of false ones among the differences of a run that is accepted, on average.
pub(crate) const FALSE_SHARE: f64 = 0.05;

/// Probability of calling a difference equivalent that is not within the margin.
const EQUIVALENCE: f64 = 0.05;

/// All verdicts of a run.
#[derive(Debug)]
pub(crate) struct Verdicts {
    pub(crate) looks: PlannedLooks,
    /// Differences of identical servers.
    pub(crate) identical: Identical,
    /// Number of comparisons that were tested together: those of enough pairs.
    pub(crate) family: usize,
    /// By group, target, and place in [`JUDGED`].
    all: BTreeMap<(GroupId, usize, usize), Judged>,
}

/// The verdict on one metric of one target for one group of clients.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) group: GroupId,
    pub(crate) target: usize,
    pub(crate) metric: Metric,
    pub(crate) estimate: Estimate,
    /// The margin that the size is about, as a share: that of the step, or the difference of identical
    /// servers where these differ by more. Equivalence is always about the margin of the step.
    pub(crate) margin: f64,
    /// p-value of the ratio 1, adjusted for all comparisons of the run. `None` of too few pairs.
    pub(crate) adjusted_p: Option<f64>,
    /// p-value of a difference that is not within the margin of the step. `None` below two pairs.
    pub(crate) equivalence_p: Option<f64>,
    pub(crate) verdict: Verdict,
    /// The interval beside the margin. `None` below two pairs.
    pub(crate) size: Option<Size>,
    /// Blocks that an inconclusive verdict lacks; `None` for others.
    pub(crate) needed: Option<Needed>,
    pub(crate) doubts: Vec<Doubt>,
}

/// The magnitude of a difference: its interval beside the margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Size {
    /// All of the interval is outside.
    Beyond,
    /// The interval has both values within the margin and others.
    MayBeWithin,
    /// All of the interval is inside; of equivalent targets the interval of 90 %, which the test of
    /// equivalence is about.
    Within,
}

/// Throughput and cost of a step that have different verdicts: the difference is time in which the
/// server waits, or works beside the clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disagreement<'a> {
    pub(crate) throughput: &'a Judged,
    pub(crate) cost: &'a Judged,
}

/// The metric that decides how a step of these clients counts: throughput, or the mean response time
/// where operations arrive at a rate, which every server that keeps up does them at.
pub(crate) fn headline(clients: &ClientGroup) -> Metric {
    match clients.pace {
        Pace::Open { .. } => Metric::ResponseMean,
        Pace::Closed { .. } => Metric::Operations,
    }
}

/// The figure of a judged metric, with its ratio to the base.
fn figure<'a>(
    (cells, costs): (&'a Cells, &'a Costs),
    group: GroupId,
    target: usize,
    metric: Metric,
) -> Option<&'a Figure> {
    let of_clients = cells.at(group, target).figures.get(&metric);
    let of_step = || costs.cell(group.step, target).figures.get(&metric);
    of_clients.or_else(|| group.is_own().then(of_step).flatten())
}

impl Verdicts {
    /// Judges all contenders.
    pub(crate) fn of(
        plan: &Plan,
        figures: (&Cells, &Costs),
        warnings: &[WarningRow],
        struck: &Struck,
    ) -> Self {
        let looks = PlannedLooks::of(plan);
        let pairs = |group, target, metric| -> Option<&Pairs> {
            figure(figures, group, target, metric)?.ratio.as_ref()
        };
        let of_twin = |group, metric| {
            let pairs = pairs(group, plan.twin?, metric)?;
            Some(looks.of_pairs(pairs))
        };
        let identical = Identical::of(plan, &JUDGED, of_twin);
        let mut estimates = BTreeMap::new();
        for group in GroupId::all(plan) {
            for target in plan.contenders() {
                for (place, &metric) in JUDGED.iter().enumerate() {
                    if let Some(pairs) = pairs(group, target, metric) {
                        estimates.insert((group, target, place), looks.of_pairs(pairs));
                    }
                }
            }
        }
        let adjusted = adjusted(&estimates, pairs_min(&looks));
        let family = adjusted.len();
        let doubts = Doubts::of(plan, figures, warnings, struck);
        let judge = |(key, estimate): (Key, Estimate)| {
            let (group, target, place) = key;
            let metric = JUDGED[place];
            let step_margin = plan.steps[group.step].margin();
            let differing = identical.beyond(group, metric, step_margin);
            let margin = differing.unwrap_or(step_margin);
            let mut judged = Judged {
                adjusted_p: adjusted.get(&key).copied(),
                equivalence_p: looks.equivalence_p(&estimate, step_margin),
                verdict: Verdict::Inconclusive,
                size: estimate.interval.map(|interval| Size::of(interval, margin)),
                needed: None,
                doubts: doubts.about(group, target, metric, differing.is_some()),
                group,
                target,
                metric,
                estimate,
                margin,
            };
            judged.decide(pairs_min(&looks), step_margin);
            (key, judged)
        };
        Self {
            all: estimates.into_iter().map(judge).collect(),
            family,
            identical,
            looks,
        }
    }

    /// Pairs below which there is no verdict.
    pub(crate) fn pairs_min(&self) -> usize {
        pairs_min(&self.looks)
    }

    /// All of them: steps in the order of the plan, groups, targets, metrics as in [`JUDGED`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Judged> {
        self.all.values()
    }

    /// The verdict on a metric. `None` if it has no ratio, or is not judged.
    pub(crate) fn get(&self, group: GroupId, target: usize, metric: Metric) -> Option<&Judged> {
        let place = JUDGED.iter().position(|&judged| judged == metric)?;
        self.all.get(&(group, target, place))
    }

    /// The verdict that decides how a step counts.
    pub(crate) fn headline(&self, plan: &Plan, group: GroupId, target: usize) -> Option<&Judged> {
        self.get(group, target, headline(group.of(plan)))
    }

    /// Steps that are slower and not dearer, or dearer and not slower. The cost is processor time,
    /// or instructions where that is inconclusive.
    pub(crate) fn disagreements(&self) -> impl Iterator<Item = Disagreement<'_>> {
        let throughputs = self
            .iter()
            .filter(|judged| judged.metric == Metric::Operations && judged.group.is_own());
        throughputs.filter_map(|throughput| {
            let (group, target) = (throughput.group, throughput.target);
            let costs = [Metric::ServerCpu, Metric::Instructions].into_iter();
            let mut costs = costs.filter_map(|metric| self.get(group, target, metric));
            let cost = costs.find(|cost| cost.verdict != Verdict::Inconclusive)?;
            let disagrees = matches!(
                (throughput.verdict, cost.verdict),
                (Verdict::Regressed, Verdict::Equivalent | Verdict::Improved)
                    | (Verdict::Equivalent | Verdict::Improved, Verdict::Regressed)
            );
            disagrees.then_some(Disagreement { throughput, cost })
        })
    }
}

/// Group, target, and place in [`JUDGED`].
type Key = (GroupId, usize, usize);

fn pairs_min(looks: &PlannedLooks) -> usize {
    PAIRS_MIN.max(looks.first())
}

/// The p-values of all comparisons of enough pairs, adjusted for each other.
fn adjusted(estimates: &BTreeMap<Key, Estimate>, pairs_min: usize) -> BTreeMap<Key, f64> {
    let tested = estimates.iter().filter(|(_, e)| e.n() >= pairs_min);
    let tested = tested.filter_map(|(&key, estimate)| Some((key, estimate.p_value?)));
    let (keys, p_values): (Vec<Key>, Vec<f64>) = tested.unzip();
    keys.into_iter()
        .zip(benjamini_hochberg(&p_values))
        .collect()
}

impl Judged {
    /// Sets what follows from the p-values.
    fn decide(&mut self, pairs_min: usize, step_margin: f64) {
        let Some((adjusted_p, equivalence_p)) = self.adjusted_p.zip(self.equivalence_p) else {
            self.needed = Some(Needed::TooFew { least: pairs_min });
            return;
        };
        self.verdict = if equivalence_p <= EQUIVALENCE {
            self.size = Some(Size::Within);
            self.margin = step_margin;
            Verdict::Equivalent
        } else if adjusted_p > FALSE_SHARE {
            Verdict::Inconclusive
        } else if self.is_more() == (self.metric.facts().better == Better::Higher) {
            Verdict::Improved
        } else {
            Verdict::Regressed
        };
        if self.verdict == Verdict::Inconclusive {
            // The strictness of this run's comparisons and looks stays about the same.
            let share = |whole: Option<f64>, adjusted: f64| {
                whole.map_or(1.0, |whole| {
                    if adjusted > 0.0 {
                        whole / adjusted
                    } else {
                        1.0
                    }
                })
            };
            let log = &self.estimate.log;
            self.needed = Some(Needed::to_settle(
                log,
                FALSE_SHARE * share(log.p_value(), adjusted_p).min(1.0),
                EQUIVALENCE * share(log.equivalence_p(step_margin), equivalence_p).min(1.0),
                step_margin,
            ));
        }
    }

    /// Returns `true` if the difference is significant among all comparisons of the run, whatever its
    /// size.
    pub(crate) fn is_significant(&self) -> bool {
        self.adjusted_p.is_some_and(|p| p <= FALSE_SHARE)
    }

    /// Returns `true` if there is more of the metric than at the base.
    pub(crate) fn is_more(&self) -> bool {
        self.estimate.log.mean > 0.0
    }
}

impl Size {
    fn of(interval: Interval, margin: f64) -> Self {
        let (low, high) = (1.0 / (1.0 + margin), 1.0 + margin);
        if interval.low > high || interval.high < low {
            Self::Beyond
        } else if interval.low > low && interval.high < high {
            Self::Within
        } else {
            Self::MayBeWithin
        }
    }

    /// In words, before those of the margin.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Beyond => "beyond",
            Self::MayBeWithin => "maybe within",
            Self::Within => "within",
        }
    }
}

#[cfg(test)]
mod tests;
