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
    let cells = Cells::read(store, &ExplainQuestion::default(), &components)?;
    Ok(page::of_all_steps(&cells))
}
