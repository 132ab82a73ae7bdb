//! Components of all targets side by side, for the page of a run.

use prony_profile::Components;
use prony_store::Store;

use super::cells::Cells;
use super::page;
use super::question::ExplainQuestion;
use crate::document::Block;
use crate::error::ReportError;

/// Tables of all targets side by side, by step, with the built-in components; for the page of a run.
pub(crate) fn by_component(store: &Store) -> Result<Vec<Block>, ReportError> {
    let components = Components::built_in()?;
    match Cells::read(store, &ExplainQuestion::default(), &components) {
        Ok(cells) => Ok(page::of_all_steps(&cells)),
        // The rest of the page stands without them.
        Err(problem @ (ReportError::Samples { .. } | ReportError::NoSamples { .. })) => {
            let text = format!("There are no components, because Prony failed to {problem}.");
            Ok(vec![Block::Paragraph(text)])
        }
        Err(error) => Err(error),
    }
}
