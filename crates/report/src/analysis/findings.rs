//! Findings: statements about a run, each with the cells that it rests on.
//!
//! A finding says no more than the verdicts that it is made of. Its words are those of the page.

use std::collections::BTreeSet;

use prony_model::{BuildFacts, FindingState, Metric, TrialState, Verdict};
use prony_stats::Change;
use prony_store::HostRow;

use crate::analysis::group::GroupId;
use crate::analysis::identical::Comparison;
use crate::analysis::lineage;
use crate::analysis::overall::OverallRatio;
use crate::analysis::promises::Breach;
use crate::analysis::verdicts::{Disagreement, Doubt, Judged};
use crate::analysis::{Analysis, CAUTION};

/// Differences, and disagreements of throughput and cost, that are findings: the largest ones.
const LARGEST_MAX: usize = 10;

/// A statement about the run.
#[derive(Debug)]
pub(crate) enum Finding<'a> {
    /// No block has both the base and another target done.
    NothingCompared {
        /// The bases of which no trial is done, and some failed.
        failed_bases: Vec<usize>,
    },
    /// No trial of this base is done, and some failed; other bases have ratios.
    BaseFailed(usize),
    /// No ratio rests on enough blocks for a verdict.
    NoVerdicts {
        /// Blocks that a verdict takes.
        least: usize,
        /// The greatest number of blocks behind a ratio.
        most: usize,
    },
    /// The steps of a contender by verdict.
    Counts(Counts<'a>),
    /// One of the largest differences.
    Largest(Largest<'a>),
    /// Throughput and cost of a step that have different verdicts.
    Disagreement(Disagreement<'a>),
    /// Promised rates that were not kept; never empty.
    Broken(&'a [Breach]),
    /// The differences between identical servers.
    Identical(Identical<'a>),
    /// Steps whose margin is smaller than the difference between identical servers in throughput, the
    /// greatest difference first; never empty.
    Unfit(Vec<&'a Comparison>),
    /// Verdicts that there are doubts about; never empty.
    Doubtful {
        /// Those with a doubt.
        marked: Vec<&'a Judged>,
        /// Number of all verdicts on steps.
        all: usize,
    },
    /// What readers must know of a build before they compare it, with the build's name.
    Caution(&'a str),
    /// The host had properties that make ratios untrustworthy.
    BadHost(Vec<String>),
    /// The user added blocks after the run had begun.
    Appended {
        /// Number of these blocks.
        blocks: usize,
        /// Number of all blocks.
        all: u32,
    },
    /// Some blocks are not complete.
    Incomplete {
        /// Complete blocks.
        complete: usize,
        /// Blocks of the plan.
        planned: u32,
        /// Some ratios have a verdict already.
        judged: bool,
    },
    /// Trials failed: targets with their number, in the order of the plan; never empty.
    Failed(Vec<(usize, usize)>),
}

/// The steps of a contender by verdict.
#[derive(Debug)]
pub(crate) struct Counts<'a> {
    pub(crate) target: usize,
    /// The verdict that decides each step, where there is one. Without verdicts as yet, all are
    /// inconclusive, and are not to be counted.
    pub(crate) judged: Vec<&'a Judged>,
    /// Ratios rest on enough blocks for verdicts.
    pub(crate) has_verdicts: bool,
    /// Steps without a ratio.
    pub(crate) without: usize,
    /// Throughput over all steps.
    pub(crate) overall: Option<&'a OverallRatio>,
}

/// One of the largest differences to the base.
#[derive(Debug)]
pub(crate) struct Largest<'a> {
    /// Improved or regressed.
    pub(crate) judged: &'a Judged,
    /// Place among those with the same verdict, from 0.
    pub(crate) rank: usize,
    /// The cost that has the same verdict there.
    pub(crate) cost: Option<&'a Judged>,
    /// The first large change in this direction between base and target, where targets are versions
    /// from old to new.
    pub(crate) begins: Option<Beginning>,
}

/// The place in a lineage where a difference begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// The last target before the change, and the first after it.
    pub(crate) between: [usize; 2],
    pub(crate) change: Change,
}

/// The differences between identical servers.
#[derive(Debug)]
pub(crate) struct Identical<'a> {
    /// The base's twin; `None` if the plan has none.
    pub(crate) twin: Option<usize>,
    pub(crate) comparisons: usize,
    /// The comparison with the greatest difference; `None` without any.
    pub(crate) largest: Option<&'a Comparison>,
    /// Comparisons that have an interval, and those whose interval does not hold 1.
    pub(crate) alarms: (usize, usize),
}

/// One metric of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellMetric {
    pub(crate) group: GroupId,
    pub(crate) target: usize,
    pub(crate) metric: Metric,
}

impl From<&Judged> for CellMetric {
    fn from(judged: &Judged) -> Self {
        Self {
            group: judged.group,
            target: judged.target,
            metric: judged.metric,
        }
    }
}

impl Finding<'_> {
    /// The name for programs.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::NothingCompared { .. } => "nothing-compared",
            Self::BaseFailed(_) => "failed-base",
            Self::NoVerdicts { .. } => "no-verdicts",
            Self::Counts(_) => "counts",
            Self::Largest(largest) if largest.judged.verdict == Verdict::Improved => {
                "largest-improvement"
            }
            Self::Largest(_) => "largest-regression",
            Self::Disagreement(_) => "disagreement",
            Self::Broken(_) => "broken-promises",
            Self::Identical(_) => "identical-servers",
            Self::Unfit(_) => "unfit-host",
            Self::Doubtful { .. } => "doubtful",
            Self::Caution(_) => "caution",
            Self::BadHost(_) => "bad-host",
            Self::Appended { .. } => "appended-blocks",
            Self::Incomplete { .. } => "incomplete",
            Self::Failed(_) => "failed-trials",
        }
    }

    /// The cells that it rests on; `twin` is that of the base.
    pub(crate) fn cells(&self, twin: Option<usize>) -> Vec<CellMetric> {
        let of_twin = |one: &Comparison| {
            Some(CellMetric {
                group: one.group,
                target: twin?,
                metric: one.metric,
            })
        };
        let all = |judged: &[&Judged]| judged.iter().map(|&judged| judged.into()).collect();
        match self {
            Self::Counts(counts) => all(&counts.judged),
            Self::Largest(largest) => {
                let judged = std::iter::once(largest.judged).chain(largest.cost);
                judged.map(CellMetric::from).collect()
            }
            Self::Disagreement(found) => all(&[found.throughput, found.cost]),
            Self::Broken(breaches) => {
                let of = |breach: &Breach| CellMetric {
                    group: breach.group,
                    target: breach.target,
                    metric: Metric::Operations,
                };
                breaches.iter().map(of).collect()
            }
            Self::Identical(identical) => identical.largest.and_then(of_twin).into_iter().collect(),
            Self::Unfit(comparisons) => comparisons.iter().filter_map(|one| of_twin(one)).collect(),
            Self::Doubtful { marked, .. } => all(marked),
            Self::NothingCompared { .. }
            | Self::BaseFailed(_)
            | Self::NoVerdicts { .. }
            | Self::Caution(_)
            | Self::BadHost(_)
            | Self::Appended { .. }
            | Self::Incomplete { .. }
            | Self::Failed(_) => Vec::new(),
        }
    }
}

/// All findings in their order: verdicts, then what identical servers show, then doubts. None if
/// the plan has neither contenders nor a twin of the base.
pub(crate) fn of<'a>(analysis: &'a Analysis<'_>) -> Vec<Finding<'a>> {
    let plan = analysis.plan;
    let has_contenders = plan.contenders().next().is_some();
    let mut found = Vec::new();
    if has_contenders {
        found.extend(of_contenders(analysis));
    }
    let broken = &analysis.cells.breaches[..];
    found.extend((!broken.is_empty()).then_some(Finding::Broken(broken)));
    if has_contenders || plan.twin.is_some() {
        found.push(identical(analysis));
        found.extend(unfit(analysis));
    }
    found.extend(doubtful(analysis));
    let cautions = analysis.warnings.iter().filter(|one| one.code == CAUTION);
    found.extend(cautions.map(|one| Finding::Caution(&one.text)));
    let bad = bad_properties(&analysis.hosts);
    found.extend((!bad.is_empty()).then_some(Finding::BadHost(bad)));
    if has_contenders {
        found.extend(of_blocks(analysis));
    }
    found.extend(failed(analysis));
    found
}

/// Properties of the hosts that were bad when the run began or was resumed, each once.
pub(crate) fn bad_properties(hosts: &[HostRow]) -> Vec<String> {
    let mut bad: Vec<String> = Vec::new();
    for finding in hosts.iter().flat_map(|host| &host.findings) {
        let text = format!("{}: {}", finding.property, finding.seen);
        if finding.state == FindingState::Bad && !bad.contains(&text) {
            bad.push(text);
        }
    }
    bad
}

/// Verdicts on contenders, or the reason why there are none.
fn of_contenders<'a>(analysis: &'a Analysis<'_>) -> Vec<Finding<'a>> {
    let plan = analysis.plan;
    let is_measured = |base| {
        let mut groups = GroupId::all(plan);
        groups.any(|group| !analysis.cells.at(group, base).measurements.is_empty())
    };
    let mut failed_bases = plan.all_bases();
    failed_bases.retain(|&base| analysis.trials.failed(base) && !is_measured(base));
    if !analysis.compares() {
        return vec![Finding::NothingCompared { failed_bases }];
    }
    let bases = failed_bases.into_iter();
    let mut found: Vec<Finding<'_>> = bases.map(Finding::BaseFailed).collect();
    if analysis.verdicts.family == 0 {
        let pairs = analysis.verdicts.iter().map(|judged| judged.estimate.n());
        found.push(Finding::NoVerdicts {
            least: analysis.verdicts.pairs_min(),
            most: pairs.max().unwrap_or(0),
        });
    }
    found.extend(plan.contenders().map(|target| counts(analysis, target)));
    let of_verdict = |verdict| largest(analysis, verdict);
    found.extend(of_verdict(Verdict::Regressed));
    found.extend(of_verdict(Verdict::Improved));
    let disagreements = analysis.verdicts.disagreements().take(LARGEST_MAX);
    found.extend(disagreements.map(Finding::Disagreement));
    found
}

fn counts<'a>(analysis: &'a Analysis<'_>, target: usize) -> Finding<'a> {
    let steps: Vec<usize> = analysis.shown_steps().collect();
    let judged = steps.iter().filter_map(|&step| {
        let group = GroupId::own(step);
        analysis.verdicts.headline(analysis.plan, group, target)
    });
    let judged: Vec<&Judged> = judged.collect();
    let all = analysis.overall.iter().find(|part| part.title.is_none());
    let mut targets = all.into_iter().flat_map(|part| &part.targets);
    let overall = targets.find(|(of, _)| *of == target);
    Finding::Counts(Counts {
        target,
        without: steps.len() - judged.len(),
        judged,
        has_verdicts: analysis.verdicts.family > 0,
        overall: overall.map(|(_, ratio)| ratio),
    })
}

/// The largest differences with this verdict, of each step the largest; the largest first.
fn largest<'a>(analysis: &'a Analysis<'_>, verdict: Verdict) -> impl Iterator<Item = Finding<'a>> {
    let mut found: Vec<&Judged> = Vec::new();
    for step in analysis.shown_steps() {
        for target in analysis.plan.contenders() {
            let group = GroupId::own(step);
            let judged = analysis.verdicts.headline(analysis.plan, group, target);
            found.extend(judged.filter(|judged| judged.verdict == verdict));
        }
    }
    let difference = |judged: &Judged| judged.estimate.difference();
    found.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    let mut steps = BTreeSet::new();
    found.retain(|judged| steps.insert(judged.group.step));
    found.truncate(LARGEST_MAX);
    found.into_iter().enumerate().map(|(rank, judged)| {
        Finding::Largest(Largest {
            judged,
            rank,
            cost: moved_with(analysis, judged),
            begins: beginning(analysis, judged),
        })
    })
}

/// The cost of a step that has the verdict of its throughput.
fn moved_with<'a>(analysis: &'a Analysis<'_>, judged: &Judged) -> Option<&'a Judged> {
    let costs = [Metric::ServerCpu, Metric::Instructions].into_iter();
    let of_metric = |metric| analysis.verdicts.get(judged.group, judged.target, metric);
    let cost = costs.filter_map(of_metric);
    let mut known = cost.filter(|cost| cost.verdict != Verdict::Inconclusive);
    known.next().filter(|cost| cost.verdict == judged.verdict)
}

/// The place where a difference of throughput begins. `None` if targets are no versions from old to
/// new, no target is between the base and this one, or no large change between them has this
/// direction.
fn beginning(analysis: &Analysis<'_>, judged: &Judged) -> Option<Beginning> {
    if judged.metric != Metric::Operations || !is_lineage(analysis) {
        return None;
    }
    let step = judged.group.step;
    let of_step = lineage::of_step(analysis, step, Metric::Operations)?;
    let place = |target| of_step.targets.iter().position(|&of| of == target);
    let base = analysis.plan.base_of(judged.target)?;
    let (base, target) = (place(base)?, place(judged.target)?);
    if target < base + 2 {
        return None;
    }
    let margin = analysis.plan.steps[step].margin();
    let mut changes = of_step.segments.as_ref()?.changes.iter();
    let change = changes.find(|change| {
        let is_between = base < change.at && change.at <= target;
        let is_alike = (change.ratio > 1.0) == judged.is_more();
        is_between && is_alike && change.is_large(margin)
    })?;
    Some(Beginning {
        between: [of_step.targets[change.at - 1], of_step.targets[change.at]],
        change: *change,
    })
}

/// Returns `true` if the targets are at least three versions of one family, from old to new.
fn is_lineage(analysis: &Analysis<'_>) -> bool {
    let targets = lineage::targets(analysis.plan);
    let builds = targets.iter().map(|&target| {
        let target = &analysis.plan.targets[target];
        (target.external.is_none(), &target.build)
    });
    let builds: Vec<_> = builds.collect();
    let follows = |pair: &[_]| {
        let [(_, before), (own, after)]: &[(bool, &BuildFacts)] = pair else {
            return false;
        };
        *own && before.family == after.family && before.version < after.version
    };
    builds.len() > 2 && builds[0].0 && builds.windows(2).all(follows)
}

fn identical<'a>(analysis: &'a Analysis<'_>) -> Finding<'a> {
    let identical = &analysis.verdicts.identical;
    Finding::Identical(Identical {
        twin: analysis.plan.twin,
        comparisons: identical.all.len(),
        largest: identical.largest(),
        alarms: identical.alarms(),
    })
}

/// The steps at which the throughput of identical servers differs by more than the margin.
fn unfit<'a>(analysis: &'a Analysis<'_>) -> Option<Finding<'a>> {
    let identical = &analysis.verdicts.identical;
    let is_unfit = |one: &&Comparison| {
        let margin = analysis.plan.steps[one.group.step].margin();
        let beyond = identical.beyond(one.group, one.metric, margin);
        one.metric == Metric::Operations && beyond.is_some()
    };
    let mut found: Vec<&Comparison> = identical.all.iter().filter(is_unfit).collect();
    let difference = |one: &Comparison| one.estimate.difference();
    found.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    (!found.is_empty()).then_some(Finding::Unfit(found))
}

/// The verdicts on steps that there are doubts about.
fn doubtful<'a>(analysis: &'a Analysis<'_>) -> Option<Finding<'a>> {
    let plan = analysis.plan;
    let groups = analysis.shown_steps();
    let groups = groups.flat_map(|step| GroupId::of_step(plan, step));
    let of_group = |group| {
        let targets = plan.contenders();
        targets.filter_map(move |target| analysis.verdicts.headline(plan, group, target))
    };
    let judged: Vec<&Judged> = groups.flat_map(of_group).collect();
    let all = judged.len();
    let marked = judged
        .into_iter()
        .filter(|judged| !judged.doubts.is_empty());
    let marked: Vec<&Judged> = marked.collect();
    (!marked.is_empty()).then_some(Finding::Doubtful { marked, all })
}

/// Number of verdicts by doubt, the most frequent doubt first.
pub(crate) fn by_doubt(marked: &[&Judged]) -> Vec<(Doubt, usize)> {
    let mut counts: Vec<(Doubt, usize)> = Vec::new();
    for &doubt in marked.iter().flat_map(|judged| &judged.doubts) {
        match counts.iter_mut().find(|(known, _)| *known == doubt) {
            Some((_, count)) => *count += 1,
            None => counts.push((doubt, 1)),
        }
    }
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts
}

/// Doubts that follow from the number of blocks.
fn of_blocks<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = Finding<'a>> {
    let plan = analysis.plan;
    let appended = (analysis.appended > 0).then_some(Finding::Appended {
        blocks: analysis.appended,
        all: plan.blocks(),
    });
    let complete = analysis.trials.blocks_complete(plan);
    let is_open = plan.campaign.is_none() && complete < plan.blocks() as usize;
    let incomplete = (is_open && analysis.compares()).then_some(Finding::Incomplete {
        complete,
        planned: plan.blocks(),
        judged: analysis.verdicts.family > 0,
    });
    appended.into_iter().chain(incomplete)
}

fn failed<'a>(analysis: &'a Analysis<'_>) -> Option<Finding<'a>> {
    let of_target = |target| {
        let failed = analysis.trials.in_state(TrialState::Failed);
        let own = failed.filter(|trial| trial.planned.target == target);
        (target, own.count())
    };
    let all = (0..analysis.plan.targets.len()).map(of_target);
    let counts: Vec<(usize, usize)> = all.filter(|(_, count)| *count > 0).collect();
    (!counts.is_empty()).then_some(Finding::Failed(counts))
}
