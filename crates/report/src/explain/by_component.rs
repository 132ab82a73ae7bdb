//! Components of all targets side by side, for the page of a run.

use prony_profile::Components;
use prony_store::Store;

use super::answer::{Explanation, answer};
use super::cells::Cells;
use super::question::ExplainQuestion;
use super::{flame, page};
use crate::analysis::Analysis;
use crate::document::Block;
use crate::error::ReportError;

/// Flame graphs of a page.
const GRAPHS_MOST: usize = 3;

/// Tables of all targets side by side, by step, with graphs over the targets and the built-in components, and flame
/// graphs of what grew most; for the page of a run.
pub(crate) fn by_component(
    store: &Store,
    analysis: &Analysis<'_>,
) -> Result<Vec<Block>, ReportError> {
    let components = Components::built_in()?;
    let question = ExplainQuestion::default();
    let cells = match Cells::read(store, Some(analysis), &question, &components) {
        Ok(cells) => cells,
        // The rest of the page stands without them.
        Err(
            problem @ (ReportError::Samples { .. }
            | ReportError::NoSamples { .. }
            | ReportError::NoProfiles { .. }),
        ) => {
            let text = format!("There are no components, because Prony failed to {problem}.");
            return Ok(vec![Block::Paragraph(text)]);
        }
        Err(error) => return Err(error),
    };
    let plan = analysis.plan;
    let base_of = |target: usize| plan.other_base_of(target).unwrap_or(target);
    let mut blocks = page::of_all_steps(&cells, &base_of);
    if let Explanation::Grown(grown) = answer(&cells, &question) {
        let grown = grown.iter().filter(|two| two.growth() > 1.0);
        for two in grown.take(GRAPHS_MOST) {
            blocks.push(Block::Heading(page::graph_title(two)));
            blocks.push(Block::Picture(flame::of_page(two, cells.unit)));
        }
    }
    Ok(blocks)
}
