//! The tables of verdicts: on each step, and on times and costs.

use prony_model::{Metric, RatioDisplay, Verdict};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Doubt, Judged, Needed, Size, headline};
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::Detail;
use crate::page::section_summaries::quantity;
use crate::page::view::{by_target, grouped, more_rows, place, step_name};
use crate::words::{plural, share};

/// Rows of the table on times and costs in text.
const ROWS_MAX: usize = 30;

/// Cells that are named in one sentence.
const NAMED_MAX: usize = 6;

/// The verdict on each step and contender, as soon as there are enough blocks, and the ratios of parts.
pub(crate) fn of_steps(analysis: &Analysis<'_>) -> Vec<Block> {
    if analysis.verdicts.family == 0 {
        return parts(analysis);
    }
    let plan = analysis.plan;
    let columns: Vec<usize> = plan.contenders().collect();
    let judged = |group, target| analysis.shown_headline(group, target);
    let groups = analysis.shown_steps();
    let groups = groups.flat_map(|step| GroupId::of_step(plan, step));
    let groups: Vec<GroupId> = groups
        .filter(|&group| {
            columns
                .iter()
                .any(|&target| judged(group, target).is_some())
        })
        .collect();
    let rows = groups.iter().map(|&group| {
        let cells = columns.iter().map(|&target| {
            let judged = judged(group, target);
            judged.map(|judged| cell(analysis, judged)).into()
        });
        (name(analysis, group), cells.collect())
    });
    let table = by_target(analysis, "step", &columns, rows);
    let shown = || {
        let groups = groups.iter();
        let cells = groups.flat_map(|&group| columns.iter().map(move |&target| (group, target)));
        cells.filter_map(|(group, target)| judged(group, target))
    };
    let mut blocks = vec![
        Block::Heading(format!(
            "Verdicts{} relative to {}",
            match analysis.common_display() {
                Some(RatioDisplay::Time) => " and ratios of time",
                _ => "",
            },
            analysis.plan.base_words()
        )),
        Block::Table(table),
    ];
    let items: Vec<String> = [within(analysis, shown()), lacking(analysis, shown())]
        .into_iter()
        .flatten()
        .chain(doubted(analysis, shown()))
        .collect();
    if !items.is_empty() {
        blocks.push(Block::List(items));
    }
    blocks.extend(parts(analysis));
    blocks
}

/// A step, with the metric that decides it where that is not throughput.
fn name(analysis: &Analysis<'_>, group: GroupId) -> String {
    let metric = headline(group.of(analysis.plan));
    let step = step_name(analysis, group);
    let step = format!("{step}{}", analysis.display_words(&[group.step]));
    if metric == Metric::Operations {
        step
    } else {
        format!("{step}: {}", metric.facts().name)
    }
}

/// Ratio, verdict and size.
fn cell(analysis: &Analysis<'_>, judged: &Judged) -> Cell {
    let estimate = analysis.as_shown(judged);
    let text = format!("{} {}", figures::plain_ratio(&estimate), words(judged));
    Cell::figure(text, estimate.ratio()).marked(!judged.doubts.is_empty())
}

/// Verdict and size in a few words.
fn words(judged: &Judged) -> String {
    let verdict = judged.verdict;
    match (judged.needed, judged.size) {
        (Some(Needed::TooFew { least }), _) => {
            format!("{verdict}, {} of {least} blocks", judged.estimate.n())
        }
        (_, Some(Size::Beyond)) => format!("{verdict}, beyond"),
        (_, Some(Size::MayBeWithin)) => format!("{verdict}, may be within"),
        (_, Some(Size::Within)) => format!("{verdict}, within"),
        (_, None) => verdict.to_string(),
    }
}

/// Cells in words, or their number where they are many.
fn named<'a>(analysis: &Analysis<'_>, cells: impl Iterator<Item = &'a Judged>) -> String {
    let names: Vec<String> = cells.map(|judged| place(analysis, judged)).collect();
    if names.len() > NAMED_MAX {
        let more = names.len() - NAMED_MAX;
        return format!("{}; and {more} more", names[..NAMED_MAX].join("; "));
    }
    names.join("; ")
}

/// Equivalent targets whose difference is known nevertheless.
fn within<'a>(analysis: &Analysis<'_>, shown: impl Iterator<Item = &'a Judged>) -> Option<String> {
    let known = |judged: &&Judged| judged.verdict == Verdict::Equivalent && judged.is_significant();
    let texts = shown.filter(known).map(|judged| {
        let percent = share((judged.estimate.ratio() - 1.0).abs());
        let word = match (judged.metric, judged.is_more()) {
            (Metric::Operations, true) => "faster",
            (Metric::Operations, false) => "slower",
            (_, true) => "more",
            (_, false) => "less",
        };
        format!(
            "{} {word} by {percent}, within the margin of {}",
            place(analysis, judged),
            share(judged.margin)
        )
    });
    let texts: Vec<String> = texts.take(NAMED_MAX).collect();
    (!texts.is_empty()).then(|| format!("Different and equivalent: {}", texts.join("; ")))
}

/// The blocks that inconclusive verdicts lack.
fn lacking<'a>(analysis: &Analysis<'_>, shown: impl Iterator<Item = &'a Judged>) -> Option<String> {
    let lacks = shown.filter_map(|judged| Some((needed_words(judged.needed?), judged)));
    let by_words = grouped(lacks);
    let parts = by_words
        .into_iter()
        .map(|(words, cells)| format!("{words} for {}", named(analysis, cells.into_iter())));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("Inconclusive verdicts lack {}", parts.join("; ")))
}

fn needed_words(needed: Needed) -> String {
    match needed {
        Needed::TooFew { least } => format!("the {least} blocks that a verdict takes"),
        Needed::About(blocks) => format!("about {}", plural(blocks as u64, "more block")),
        Needed::Many => "more than 1,000 blocks".to_owned(),
    }
}

/// The reasons for marks, with the cells that they concern.
fn doubted<'a>(
    analysis: &Analysis<'_>,
    shown: impl Iterator<Item = &'a Judged>,
) -> impl Iterator<Item = String> {
    let doubts = shown.flat_map(|judged| judged.doubts.iter().map(move |&doubt| (doubt, judged)));
    let by_doubt: Vec<(Doubt, Vec<&Judged>)> = grouped(doubts);
    by_doubt.into_iter().map(|(doubt, cells)| {
        format!(
            "Marked !, because {doubt}: {}",
            named(analysis, cells.into_iter())
        )
    })
}

/// Throughput over each section, where there are several.
fn parts(analysis: &Analysis<'_>) -> Vec<Block> {
    let columns: Vec<usize> = analysis.plan.contenders().collect();
    let sections = analysis.overall.iter().filter(|part| part.title.is_some());
    let rows = sections.map(|part| {
        let cells = part.targets.iter().map(|(_, ratio)| {
            let estimate = ratio.shown(analysis.display_of(&part.steps));
            let text = |e| Cell::figure(figures::ratio(e), e.ratio());
            Cell::from(estimate.map(text))
        });
        (
            format!(
                "{}{}",
                part.title.clone().unwrap_or_default(),
                analysis.display_words(&part.steps)
            ),
            cells.collect::<Vec<_>>(),
        )
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() || !analysis.compares() || !analysis.is_whole {
        return Vec::new();
    }
    let heading = format!(
        "{} relative to {}, geometric mean of the steps of each part",
        quantity(analysis.common_display().unwrap_or_default()),
        analysis.plan.base_words()
    );
    vec![
        Block::Heading(heading),
        Block::Table(by_target(analysis, "part", &columns, rows)),
    ]
}

/// The verdicts on times and costs: in text those that found a difference, in documents all.
pub(crate) fn of_metrics(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    if analysis.verdicts.family == 0 {
        return Vec::new();
    }
    let differs = |judged: &Judged| {
        detail == Detail::Full || matches!(judged.verdict, Verdict::Improved | Verdict::Regressed)
    };
    let is_shown = |judged: &&Judged| {
        let group = judged.group;
        analysis.shows(group.step)
            && judged.metric != headline(group.of(analysis.plan))
            && differs(judged)
    };
    let mut rows: Vec<Vec<Cell>> = analysis
        .verdicts
        .iter()
        .filter(is_shown)
        .map(|judged| row(analysis, judged))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let more = match detail {
        Detail::Brief => rows.len().saturating_sub(ROWS_MAX),
        Detail::Full => 0,
    };
    rows.truncate(rows.len() - more);
    let header = ["step", "target", "metric", "ratio", "verdict", "n"];
    let mut blocks = vec![
        Block::Heading(format!(
            "Verdicts on times and costs relative to {}",
            analysis.plan.base_words()
        )),
        Block::Table(Table::of_words(header, rows)),
    ];
    blocks.extend(more_rows(more));
    blocks
}

/// The name of a metric for a narrow column.
fn short(metric: Metric) -> &'static str {
    match metric {
        Metric::ServiceP50 => "service time, p50",
        Metric::ServiceP95 => "service time, p95",
        Metric::ServiceP99 => "service time, p99",
        Metric::ResponseP50 => "response time, p50",
        Metric::ResponseP95 => "response time, p95",
        Metric::ResponseP99 => "response time, p99",
        metric => metric.facts().name,
    }
}

fn row(analysis: &Analysis<'_>, judged: &Judged) -> Vec<Cell> {
    let verdict = match judged.needed {
        Some(needed @ (Needed::About(_) | Needed::Many)) => {
            format!("{}; lacks {}", words(judged), needed_words(needed))
        }
        _ => words(judged),
    };
    let estimate = &judged.estimate;
    let ratio = Cell::figure(figures::ratio(estimate), estimate.ratio());
    vec![
        step_name(analysis, judged.group).into(),
        analysis.plan.targets[judged.target].name.as_str().into(),
        short(judged.metric).into(),
        ratio.marked(!judged.doubts.is_empty()),
        verdict.into(),
        estimate.n().to_string().into(),
    ]
}
