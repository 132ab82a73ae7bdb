//! A report for people: the choice of the figures and words that they see, in reading order.

mod absences;
pub(crate) mod answer;
mod before_after;
mod canaries;
pub(crate) mod cost;
mod debt;
mod differences;
mod evenness;
mod execution_plans;
pub(crate) mod findings;
mod generator;
pub(crate) mod heading;
mod hosts;
mod identical;
mod legend;
pub(crate) mod lineage;
mod loads;
mod log_excerpt;
mod lsm_levels;
mod placement;
mod ratios;
mod response_time;
mod round_trip;
mod section_summaries;
mod server_counters;
mod settings;
mod sizes;
mod throughput;
mod verdicts;
pub(crate) mod view;
mod warnings;
pub(crate) mod web;

use crate::analysis::Analysis;
use crate::analysis::sections::Section;
use crate::analysis::settings::Settings;
use crate::document::Block;
use crate::words::plural;

/// The extent of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The essentials: fits a screen.
    Brief,
    /// Everything.
    Full,
}

/// The whole report.
pub(crate) fn document(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let is_done = analysis.trials.counts.done > 0;
    let mut blocks = beginning(analysis);
    if is_done {
        blocks.extend(answer::blocks(analysis));
    }
    blocks.push(Block::Facts(heading::facts(analysis)));
    blocks.push(Block::Heading("Targets".into()));
    blocks.push(Block::Table(heading::targets(analysis)));
    blocks.extend(loads::blocks(analysis, detail));
    if is_done {
        blocks.extend(figures(analysis, detail));
    } else {
        blocks.push(no_figures());
    }
    blocks.extend(settings(&analysis.settings, detail));
    blocks.extend(execution_plans::blocks(analysis));
    blocks.extend(warnings::warnings(analysis));
    blocks.extend(absences::blocks(analysis, detail));
    blocks.extend(warnings::missing_and_failed(analysis));
    blocks.extend(web::reproduce::files(analysis));
    if is_done {
        blocks.push(Block::Heading("How to read this".into()));
        blocks.push(Block::List(legend::items(analysis, detail)));
    }
    blocks
}

/// The details of the steps that `analysis` shows.
pub(crate) fn of_steps(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut blocks = beginning(analysis);
    let judged = analysis.plan.steps.iter().filter(|step| !step.warm_only);
    blocks.push(Block::Paragraph(format!(
        "The details of {} of {} with figures; the report without --step, --clients and --section \
         has the answer over all.",
        analysis.shown_steps().count(),
        plural(judged.count() as u64, "step")
    )));
    if analysis.trials.counts.done == 0 {
        blocks.push(no_figures());
        return blocks;
    }
    blocks.extend(figures(analysis, detail));
    blocks.extend(warnings::warnings(analysis));
    blocks.push(Block::Heading("How to read this".into()));
    blocks.push(Block::List(legend::items(analysis, detail)));
    blocks
}

/// The title and the question.
fn beginning(analysis: &Analysis<'_>) -> Vec<Block> {
    let plan = analysis.plan;
    let question = (!plan.question.is_empty()).then(|| plan.question.clone());
    let title = std::iter::once(Block::Title(plan.name.clone()));
    title.chain(question.map(Block::Paragraph)).collect()
}

fn no_figures() -> Block {
    Block::Paragraph("No trial is done yet, so there are no figures.".into())
}

/// The sections on the servers' settings and their differences.
pub(crate) fn settings(all: &Settings, detail: Detail) -> Vec<Block> {
    if all.names.is_empty() {
        return Vec::new();
    }
    let mut blocks = settings::blocks(all, detail);
    if all.names.len() > 1 {
        blocks.extend(differences::blocks(all, detail));
    }
    blocks
}

/// The figures of all steps, and the sections that explain them.
fn figures(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut blocks = verdicts::of_steps(analysis);
    for section in &analysis.sections {
        blocks.extend(of_section(analysis, section, detail));
    }
    if analysis.is_whole {
        blocks.extend(hosts::blocks(analysis));
    }
    blocks.extend(verdicts::of_metrics(analysis, detail));
    blocks.extend(identical::table(analysis, detail));
    blocks.extend(response_time::blocks(analysis));
    blocks.extend(evenness::blocks(analysis));
    blocks.extend(before_after::blocks(analysis));
    if analysis.is_whole {
        blocks.extend(sizes::blocks(analysis));
    }
    blocks.extend(debt::blocks(analysis, detail));
    if analysis.is_whole {
        blocks.extend(lsm_levels::blocks(analysis));
    }
    blocks
}

/// The tables of one section.
fn of_section(analysis: &Analysis<'_>, section: &Section, detail: Detail) -> Vec<Block> {
    let heading = |text| match section.title {
        Some(_) => Block::Subheading(text),
        None => Block::Heading(text),
    };
    let remark = heading::beside_version(analysis).map(Block::Paragraph);
    // Once for a section with a title, else beside each table, where it is looked for.
    let (above, beside) = match section.title {
        Some(_) => (remark, None),
        None => (None, remark),
    };
    let compared = analysis.compares();
    let title = section.title.clone().map(Block::Section);
    let above = above.filter(|_| compared);
    let mut blocks: Vec<Block> = title.into_iter().chain(above).collect();
    let views = view::views(analysis.plan, section);
    for view in &views {
        blocks.extend(throughput::absolute(analysis, view, heading));
        if compared {
            let relative = throughput::relative(analysis, view, heading, beside.as_ref());
            blocks.extend(relative);
        }
    }
    // Below tables whose rows are steps, the summary is in these.
    if views.iter().any(view::View::is_sweep) {
        blocks.extend(section_summaries::blocks(analysis, section, heading));
    }
    // Throughput comes first, and its costs after it.
    for view in &views {
        blocks.extend(round_trip::blocks(analysis, view, heading));
    }
    for &step in &section.steps {
        blocks.extend(cost::blocks(analysis, step, detail, heading));
    }
    for &step in &section.steps {
        blocks.extend(server_counters::blocks(analysis, step, detail, heading));
    }
    blocks
}
