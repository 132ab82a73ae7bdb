//! The first part of a report: what the run says, before its figures.

use prony_model::{Metric, Verdict};

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Disagreement, Judged};
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{place, with_n};
use crate::page::{Detail, identical};
use crate::words::{plural, share};

/// Regressions, or other findings of a kind, that are named here.
const NAMED_MAX: usize = 3;

/// The same in documents.
const NAMED_MAX_FULL: usize = 10;

/// The answer. Nothing where there is nothing to compare with the base.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let plan = analysis.plan;
    let has_contenders = plan.contenders().next().is_some();
    if !has_contenders && plan.twin.is_none() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Answer".into())];
    blocks.extend(identical::blocks(analysis, detail));
    if !has_contenders {
        return blocks;
    }
    if !analysis.compares() {
        blocks.push(Block::Paragraph(nothing(analysis)));
        return blocks;
    }
    blocks.push(Block::Paragraph(subject(analysis)));
    blocks.push(Block::Table(counts(analysis)));
    let most = match detail {
        Detail::Brief => NAMED_MAX,
        Detail::Full => NAMED_MAX_FULL,
    };
    let largest = largest_regressions(analysis).into_iter().take(most);
    let largest = largest.map(|judged| regression(analysis, judged));
    let disagreements = analysis.verdicts.disagreements().take(most);
    let disagreements = disagreements.map(|found| disagreement(analysis, &found));
    let items: Vec<String> = largest.chain(disagreements).collect();
    if !items.is_empty() {
        blocks.push(Block::List(items));
    }
    blocks
}

/// The reason why nothing is compared.
fn nothing(analysis: &Analysis<'_>) -> String {
    let base = analysis.plan.base;
    let is_measured = GroupId::all(analysis.plan)
        .any(|group| !analysis.cells.at(group, base).measurements.is_empty());
    if analysis.trials.failed(base) && !is_measured {
        return format!(
            "Nothing to compare: no trial of the base {} is done, and some failed.",
            analysis.base().name
        );
    }
    "Nothing to compare yet: no block has both the base and another target done.".into()
}

/// The meaning of the table below.
fn subject(analysis: &Analysis<'_>) -> String {
    let plan = analysis.plan;
    let base = &analysis.base().name;
    if analysis.verdicts.family == 0 {
        let pairs = analysis.verdicts.iter().map(|judged| judged.estimate.n());
        return format!(
            "Throughput over all steps, relative to {base}. A verdict takes {} blocks, and no ratio \
             rests on more than {} yet: nothing is called better, worse or equivalent.",
            analysis.verdicts.pairs_min(),
            pairs.max().unwrap_or(0)
        );
    }
    let text = format!("Steps by verdict, relative to {base}, and throughput over all of them.");
    let complete = analysis.trials.blocks_complete(plan);
    if plan.campaign.is_none() && complete < plan.blocks() as usize {
        return format!(
            "{text} {complete} of {} are complete: verdicts can still change.",
            plural(plan.blocks().into(), "block")
        );
    }
    text
}

/// Steps that count, in the order in which they are shown.
pub(crate) fn steps(analysis: &Analysis<'_>) -> Vec<usize> {
    let sections = analysis.sections.iter();
    sections.flat_map(|section| section.steps.clone()).collect()
}

/// One row for each contender: its steps by verdict as soon as there are any, and the ratio over them.
fn counts(analysis: &Analysis<'_>) -> Table {
    const VERDICTS: [Verdict; 4] = [
        Verdict::Regressed,
        Verdict::Improved,
        Verdict::Equivalent,
        Verdict::Inconclusive,
    ];
    let plan = analysis.plan;
    let steps = steps(analysis);
    let judged = |target: usize| {
        let groups = steps.iter().map(|&step| GroupId::own(step));
        groups.map(move |group| analysis.verdicts.headline(plan, group, target))
    };
    let verdicts: &[Verdict] = match analysis.verdicts.family {
        0 => &[],
        _ => &VERDICTS,
    };
    let lacks = plan
        .contenders()
        .any(|target| judged(target).any(|judged| judged.is_none()));
    let n_max = overall(analysis).map(|(_, estimate)| estimate.n()).max();
    let n_max = n_max.unwrap_or(0);
    let row = |target: usize| {
        let count = |wanted: Option<Verdict>| {
            let verdicts = judged(target).map(|judged| judged.map(|judged| judged.verdict));
            let n = verdicts.filter(|verdict| *verdict == wanted).count();
            Cell::figure(n.to_string(), n as f64)
        };
        let is_doubtful = judged(target)
            .flatten()
            .any(|judged| !judged.doubts.is_empty());
        let name = Cell::from(plan.targets[target].name.as_str());
        let cells = std::iter::once(name.marked(analysis.trials.failed(target)))
            .chain(verdicts.iter().map(|&verdict| count(Some(verdict))))
            .chain(lacks.then(|| count(None)));
        let ratio = overall(analysis).find(|(of, _)| *of == target);
        let ratio = ratio.map(|(_, estimate)| {
            let text = with_n(figures::ratio(estimate), estimate.n(), n_max);
            Cell::figure(text, estimate.ratio())
        });
        let ratio = Cell::from(ratio).marked(is_doubtful);
        cells.chain([ratio]).collect()
    };
    let header = std::iter::once("target".to_owned())
        .chain(verdicts.iter().map(ToString::to_string))
        .chain(lacks.then(|| "no ratio".to_owned()))
        .chain([format!(
            "all steps ÷ base, {}",
            plural(n_max as u64, "block")
        )]);
    Table::of_figures(header, plan.contenders().map(row))
}

/// The ratio of throughput over all steps, by contender.
fn overall<'a>(analysis: &'a Analysis<'_>) -> impl Iterator<Item = (usize, &'a Estimate)> {
    let all = analysis.overall.iter().find(|part| part.title.is_none());
    let targets = all.into_iter().flat_map(|part| &part.targets);
    targets.filter_map(|(target, ratio)| Some((*target, ratio.estimate.as_ref()?)))
}

/// Steps that are worse than at the base, the largest first.
fn largest_regressions<'a>(analysis: &'a Analysis<'_>) -> Vec<&'a Judged> {
    let mut found: Vec<&Judged> = Vec::new();
    for step in steps(analysis) {
        for target in analysis.plan.contenders() {
            let group = GroupId::own(step);
            let judged = analysis.verdicts.headline(analysis.plan, group, target);
            found.extend(judged.filter(|judged| judged.verdict == Verdict::Regressed));
        }
    }
    let difference = |judged: &Judged| judged.estimate.difference();
    found.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    found
}

fn regression(analysis: &Analysis<'_>, judged: &Judged) -> String {
    let size = judged.size.map_or("", |size| size.words());
    format!(
        "{}: {} {}, {size} of {}; {}{}",
        place(analysis, judged),
        of_metric(judged),
        judged.verdict,
        share(judged.margin),
        plural(judged.estimate.n() as u64, "block"),
        doubts(judged)
    )
}

fn disagreement(analysis: &Analysis<'_>, found: &Disagreement<'_>) -> String {
    let Disagreement { throughput, cost } = found;
    let (words, reason) = if throughput.verdict == Verdict::Regressed {
        (
            "slower and not dearer",
            "operations wait for more than processors",
        )
    } else {
        (
            "dearer and not slower",
            "the server does more beside the way of an operation",
        )
    };
    format!(
        "{}: {words}, throughput {} {}, {} {} {}: {reason}",
        place(analysis, throughput),
        figures::ratio(&throughput.estimate),
        throughput.verdict,
        cost.metric.facts().name,
        figures::ratio(&cost.estimate),
        cost.verdict,
    )
}

/// The ratio of a metric, which is named unless it is throughput.
fn of_metric(judged: &Judged) -> String {
    let ratio = figures::ratio(&judged.estimate);
    match judged.metric {
        Metric::Operations => ratio,
        metric => format!("{} {ratio}", metric.facts().name),
    }
}

/// Reasons to doubt a verdict, as the end of a sentence; often none.
fn doubts(judged: &Judged) -> String {
    let doubts: Vec<String> = judged.doubts.iter().map(ToString::to_string).collect();
    if doubts.is_empty() {
        String::new()
    } else {
        format!("; but {}", doubts.join(", and "))
    }
}
