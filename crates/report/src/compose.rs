//! The blocks of a report for people, in reading order.

use prony_model::{Display, Step};

use crate::analysis::Analysis;
use crate::document::Block;
use crate::effective::Detail;
use crate::{explain, heading, remarks, tables};

/// The whole report.
pub(crate) fn document(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Title(analysis.plan.name.clone())];
    if !analysis.plan.question.is_empty() {
        blocks.push(Block::Paragraph(analysis.plan.question.clone()));
    }
    blocks.push(Block::Facts(heading::facts(analysis)));
    blocks.push(Block::Heading("Targets".into()));
    blocks.push(Block::Table(heading::targets(analysis)));
    if analysis.counts.done == 0 {
        blocks.push(Block::Paragraph(
            "No trial is done yet, so there are no figures.".into(),
        ));
    } else {
        for clients in analysis.client_counts() {
            blocks.extend(tables::at_clients(analysis, clients));
        }
    }
    blocks.extend(analysis.effective.blocks(detail));
    blocks.extend(explain::blocks(analysis));
    blocks.extend(remarks::warnings(analysis));
    blocks.extend(remarks::missing_and_failed(analysis));
    if analysis.counts.done > 0 {
        blocks.push(Block::Heading("How to read this".into()));
        blocks.push(Block::List(legend(analysis)));
    }
    blocks
}

fn legend(analysis: &Analysis<'_>) -> Vec<String> {
    let mut items = vec![
        "Queries per second counts the statements that the server answered, BEGIN and COMMIT \
         included."
            .to_owned(),
    ];
    let in_milliseconds = |step: &Step| step.workload.display == Display::Milliseconds;
    if analysis.plan.steps.iter().any(in_milliseconds) {
        items.push(
            "Rows in ms/op show the mean milliseconds of an operation instead: less is faster."
                .to_owned(),
        );
    }
    items.push(
        "± is half the distance between the lowest and the highest block, in percent of the mean. \
         Digits that this spread does not support are not shown."
            .to_owned(),
    );
    if analysis.plan.targets.len() > 1 {
        items.push(format!(
            "Relative figures are operations per second ÷ those of {} in the same block: the \
             geometric mean over the blocks and, in brackets, the lowest and the highest. Above 1 \
             is faster than the base, in every row.",
            analysis.base().name
        ));
    }
    items.push(
        "A block is one fresh start of every target. n is the number of blocks where it differs \
         from the heading. - means that there is no figure, ! that a warning or a failed trial \
         below concerns it."
            .to_owned(),
    );
    items.push(
        "No significance is claimed: intervals and verdicts are not computed yet, and a \
         difference within the ranges may be noise."
            .to_owned(),
    );
    items
}
