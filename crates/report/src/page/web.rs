//! A report as one page to browse: everything that it shows, with the places that lead to each other.

pub(crate) mod map;
pub(crate) mod reproduce;
mod scaling;
pub(crate) mod steps;

use prony_model::Aspect;

use self::map::HeatMap;
use self::steps::StepPart;
use crate::analysis::Analysis;
use crate::analysis::findings::{self, CellMetric, Finding};
use crate::analysis::group::GroupId;
use crate::chart::Chart;
use crate::document::Block;
use crate::page::findings::{Part as SentencePart, sentence};
use crate::page::{
    Detail, absences, answer, before_after, debt, execution_plans, heading, hosts, identical,
    legend, loads, lsm_levels, response_time, round_trip, sizes, throughput, verdicts, view,
    warnings,
};
use crate::parallel;

/// Everything that a page shows, in reading order.
#[derive(Debug)]
pub(crate) struct WebPage {
    pub(crate) title: String,
    /// May be empty.
    pub(crate) question: String,
    /// The run in a few facts.
    pub(crate) head: Vec<(&'static str, String)>,
    /// One sentence for each finding.
    pub(crate) answer: Vec<Vec<AnswerPart>>,
    /// Findings for those who ask for more.
    pub(crate) more: Vec<Vec<AnswerPart>>,
    pub(crate) targets: Vec<TargetKey>,
    /// Index of the base.
    pub(crate) base: usize,
    /// `true` if targets follow each other by their version alone.
    pub(crate) ordered: bool,
    /// `None` before any trial is done.
    pub(crate) map: Option<HeatMap>,
    pub(crate) sections: Vec<SectionPart>,
    /// Throughput over numbers of clients.
    pub(crate) scaling: Vec<Chart>,
    pub(crate) parts: Vec<Part>,
}

/// A part of a sentence.
#[derive(Debug)]
pub(crate) struct AnswerPart {
    pub(crate) text: String,
    /// The figure behind the text.
    pub(crate) value: Option<f64>,
    /// Anchor of the figure's cell, or of its step.
    pub(crate) anchor: Option<String>,
}

/// A target in the list that explains numbers and colours.
#[derive(Debug)]
pub(crate) struct TargetKey {
    /// Index in the plan; its number on the page is one more.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// Its role in the comparison, if it has one.
    pub(crate) role: Option<&'static str>,
}

/// Steps that belong together.
#[derive(Debug)]
pub(crate) struct SectionPart {
    pub(crate) title: String,
    /// Ratios over the steps.
    pub(crate) summary: Vec<Block>,
    /// Ratios over the targets.
    pub(crate) charts: Vec<Chart>,
    pub(crate) steps: Vec<StepPart>,
}

/// A part of the page with a heading.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Anchor, unique on the page.
    pub(crate) id: String,
    pub(crate) title: String,
    /// `true` if it is folded until the reader opens it.
    pub(crate) folded: bool,
    pub(crate) blocks: Vec<Block>,
}

/// The page of a run.
pub(crate) fn page(analysis: &Analysis<'_>) -> WebPage {
    let plan = analysis.plan;
    let is_done = analysis.trials.counts.done > 0;
    let of_section = |section| steps::section(analysis, section);
    let sections = || analysis.sections.iter().map(of_section).collect();
    let (sections, (scaling, parts)) = parallel::both(
        || is_done.then(sections).unwrap_or_default(),
        || {
            let scaling = is_done.then(|| scaling::charts(analysis));
            (scaling.unwrap_or_default(), parts(analysis))
        },
    );
    let found = if is_done {
        findings::of(analysis)
    } else {
        Vec::new()
    };
    let (shown, more) = answer::brief(&found);
    WebPage {
        title: plan.name.clone(),
        question: plan.question.clone(),
        head: head(analysis),
        answer: sentences(analysis, &shown),
        more: sentences(analysis, &more),
        targets: targets(analysis),
        base: plan.base,
        ordered: plan.varying().iter().all(|aspect| *aspect == Aspect::Build),
        map: is_done.then(|| map::of(analysis)),
        sections,
        scaling,
        parts,
    }
}

/// Findings as sentences, whose figures lead to their cells.
fn sentences(analysis: &Analysis<'_>, found: &[&Finding<'_>]) -> Vec<Vec<AnswerPart>> {
    let shown = found.iter().map(|finding| sentence(analysis, finding).0);
    let part = |part| match part {
        SentencePart::Text(text) => AnswerPart {
            text,
            value: None,
            anchor: None,
        },
        SentencePart::Figure(figure) => AnswerPart {
            text: figure.text,
            value: Some(figure.value),
            anchor: figure.cell.and_then(|cell| place(analysis, cell)),
        },
    };
    shown
        .map(|parts| parts.into_iter().map(part).collect())
        .collect()
}

/// The anchor of a cell; that of its step for the base's twin, which has no row.
fn place(analysis: &Analysis<'_>, cell: CellMetric) -> Option<String> {
    let has_row = analysis.columns().contains(&cell.target);
    let anchor = if has_row {
        anchor(cell.group, cell.target)
    } else {
        step_anchor(cell.group)
    };
    analysis.shows(cell.group.step).then_some(anchor)
}

/// The facts that stand above everything else.
fn head(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    let facts = heading::facts(analysis).into_iter();
    let is_first = |name: &str| matches!(name, "Run" | "Host" | "Work" | "Check" | "Left out");
    facts.filter(|(name, _)| is_first(name)).collect()
}

fn targets(analysis: &Analysis<'_>) -> Vec<TargetKey> {
    let plan = analysis.plan;
    let target = |index: usize| TargetKey {
        index,
        name: plan.targets[index].name.clone(),
        role: match index {
            _ if plan.is_base(index) => Some("base"),
            _ if Some(index) == plan.twin => Some("the base once more"),
            _ => None,
        },
    };
    (0..plan.targets.len()).map(target).collect()
}

/// Everything after the steps.
fn parts(analysis: &Analysis<'_>) -> Vec<Part> {
    let is_done = analysis.trials.counts.done > 0;
    let mut parts = Vec::new();
    if is_done {
        let mut judged = verdicts::of_steps(analysis);
        judged.extend(verdicts::of_metrics(analysis, Detail::Full));
        judged.extend(hosts::blocks(analysis));
        judged.extend(identical::table(analysis, Detail::Full));
        parts.extend(together("All verdicts", judged));
        parts.extend(together("Tables of all steps", tables(analysis)));
        parts.extend(split(response_time::blocks(analysis), false));
    }
    parts.extend(split(loads::blocks(analysis, Detail::Full), false));
    if is_done {
        parts.extend(split(before_after::blocks(analysis), false));
        parts.extend(split(debt::blocks(analysis, Detail::Full), false));
        parts.extend(together("Costs by component", analysis.components.clone()));
        parts.extend(split(sizes::blocks(analysis), true));
        parts.extend(split(lsm_levels::blocks(analysis), true));
    }
    parts.extend(split(servers_settings(analysis), true));
    parts.extend(split(execution_plans::blocks(analysis), true));
    parts.extend(split(warnings::warnings(analysis), false));
    parts.extend(split(warnings::missing_and_failed(analysis), false));
    parts.extend(split(absences::blocks(analysis, Detail::Full), true));
    parts.push(Part {
        title: "Environment".into(),
        blocks: vec![Block::Facts(heading::facts(analysis))],
        ..Part::default()
    });
    parts.extend(reproduce::parts(analysis));
    if is_done {
        parts.push(Part {
            title: "How to read this".into(),
            blocks: vec![Block::List(legend::items(analysis, Detail::Full))],
            ..Part::default()
        });
    }
    for (index, part) in parts.iter_mut().enumerate() {
        part.id = format!("p{}", index + 1);
    }
    parts
}

/// The tables of throughput of all steps together.
fn tables(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for section in &analysis.sections {
        for view in &view::views(analysis.plan, section) {
            let of_section = |text: String| match &section.title {
                Some(title) => Block::Heading(format!("{title}: {text}")),
                None => Block::Heading(text),
            };
            blocks.extend(throughput::absolute(analysis, view, of_section));
            if analysis.compares() {
                blocks.extend(throughput::relative(analysis, view, of_section, None));
            }
            blocks.extend(round_trip::blocks(analysis, view, of_section));
        }
    }
    blocks
}

fn servers_settings(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut blocks = super::settings(&analysis.settings, Detail::Full);
    if let Some(remark) = heading::beside_version(analysis) {
        let at = usize::from(!blocks.is_empty());
        blocks.insert(at, Block::Paragraph(remark));
    }
    blocks
}

/// Blocks with headings of their own as one folded part. `None` without blocks.
fn together(title: &str, blocks: Vec<Block>) -> Option<Part> {
    let below = |block| match block {
        Block::Heading(text) | Block::Section(text) => Block::Subheading(text),
        other => other,
    };
    (!blocks.is_empty()).then(|| Part {
        title: title.to_owned(),
        folded: true,
        blocks: blocks.into_iter().map(below).collect(),
        ..Part::default()
    })
}

/// Divides blocks at their headings. Blocks before the first heading belong to none and are put
/// under a heading of their own.
fn split(blocks: Vec<Block>, folded: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(title) | Block::Section(title) | Block::Title(title) => {
                parts.push(Part {
                    title,
                    folded,
                    ..Part::default()
                });
            }
            block => {
                if parts.is_empty() {
                    parts.push(Part {
                        title: "Remarks".into(),
                        ..Part::default()
                    });
                }
                if let Some(part) = parts.last_mut() {
                    part.blocks.push(block);
                }
            }
        }
    }
    parts
}

/// The anchor of a cell: the row of a target in the table of a step.
pub(crate) fn anchor(group: GroupId, target: usize) -> String {
    format!("{}t{target}", step_anchor(group))
}

/// The anchor of a step.
pub(crate) fn step_anchor(group: GroupId) -> String {
    if group.is_own() {
        format!("s{}", group.step)
    } else {
        format!("s{}g{}", group.step, group.position)
    }
}
