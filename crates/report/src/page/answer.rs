//! The first part of a report: what the run says, before its figures.

use prony_model::{Metric, Verdict};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Disagreement, Judged};
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{with_clients, with_n};
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

/// What the counts below are about.
fn subject(analysis: &Analysis<'_>) -> String {
    let plan = analysis.plan;
    let least = analysis.verdicts.pairs_min();
    let base = &analysis.base().name;
    let text =
        format!("Steps by their verdicts, relative to {base}; then throughput over all of them.");
    let pairs = analysis.verdicts.iter().map(|judged| judged.estimate.n());
    let most = pairs.max().unwrap_or(0);
    if analysis.verdicts.family == 0 {
        return format!(
            "{text} A verdict takes {least} blocks, and no ratio has more than {most} yet: nothing is \
             called better, worse or equivalent."
        );
    }
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

/// One row for each contender: its steps by verdict, and their geometric mean.
fn counts(analysis: &Analysis<'_>) -> Table {
    const VERDICTS: [Verdict; 4] = [
        Verdict::Regressed,
        Verdict::Improved,
        Verdict::Equivalent,
        Verdict::Inconclusive,
    ];
    let steps = steps(analysis);
    let overall = analysis.overall.first().filter(|all| all.title.is_none());
    let ratios = || overall.into_iter().flat_map(|overall| &overall.targets);
    let n_max = ratios().filter_map(|(_, ratio)| Some(ratio.estimate.as_ref()?.n()));
    let n_max = n_max.max().unwrap_or(0);
    let row = |target: usize| {
        let verdicts: Vec<Option<Verdict>> = steps
            .iter()
            .map(|&step| {
                let group = GroupId::own(step);
                let judged = analysis.verdicts.headline(analysis.plan, group, target)?;
                Some(judged.verdict)
            })
            .collect();
        let count = |wanted: Option<Verdict>| {
            let n = verdicts
                .iter()
                .filter(|verdict| **verdict == wanted)
                .count();
            Cell::figure(n.to_string(), n as f64)
        };
        let ratio = ratios().find(|(of, _)| *of == target);
        let ratio = ratio.and_then(|(_, ratio)| {
            let estimate = ratio.estimate.as_ref()?;
            let text = with_n(figures::ratio(estimate), estimate.n(), n_max);
            Some(Cell::figure(text, estimate.ratio()))
        });
        let name = analysis.plan.targets[target].name.as_str();
        let name = Cell::from(name).marked(analysis.trials.failed(target));
        let counts = VERDICTS.into_iter().map(|verdict| count(Some(verdict)));
        let cells = std::iter::once(name).chain(counts);
        cells.chain([count(None), ratio.into()]).collect()
    };
    let names = VERDICTS.iter().map(ToString::to_string);
    let header = std::iter::once("target".to_owned()).chain(names);
    let header = header.chain(["no ratio".to_owned(), "÷ base".to_owned()]);
    Table::of_figures(header, analysis.plan.contenders().map(row))
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

/// Step, clients and target.
pub(crate) fn place(analysis: &Analysis<'_>, judged: &Judged) -> String {
    let target = &analysis.plan.targets[judged.target].name;
    format!("{}, {target}", step_name(analysis, judged.group))
}

/// The step of a group, with its clients where steps differ in these, and the group's name.
pub(crate) fn step_name(analysis: &Analysis<'_>, group: GroupId) -> String {
    let step = &analysis.plan.steps[group.step];
    group.named(analysis.plan, &with_clients(analysis, &step.name, step))
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
