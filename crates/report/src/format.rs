//! The formats of reports.

mod csv;
mod json;
mod markdown;
pub(crate) mod text;

pub(crate) use self::json::{object, placed, pretty};

use prony_store::Store;

use crate::analysis::Analysis;
use crate::analysis::settings::{EffectiveTarget, Settings};
use crate::error::ReportError;
use crate::page::{self, Detail};

/// The purpose of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal of 100 columns or more.
    Text,
    /// For documents.
    Markdown,
    /// For spreadsheets: one row per target, step and block.
    Csv,
    /// For programs: everything that the other formats show.
    Json,
}

/// Renders the present state of `store`; ends with a line feed.
///
/// # Errors
/// When the result file can't be read or is damaged.
pub fn render(store: &Store, format: Format) -> Result<String, ReportError> {
    let page = |detail| Ok::<_, ReportError>(page::document(&Analysis::of(store)?, detail));
    match format {
        Format::Text => Ok(text::write(&page(Detail::Brief)?)),
        Format::Markdown => Ok(markdown::write(&page(Detail::Full)?)),
        Format::Csv => csv::write(&Analysis::with_periods(store)?),
        Format::Json => json::write(&Analysis::with_periods(store)?),
    }
}

/// Renders the large changes over the versions of `store`, in the order of its targets; ends with a line
/// feed.
///
/// # Errors
/// When the result file can't be read or is damaged, and for CSV, which has no form for changes.
pub fn lineage(store: &Store, format: Format) -> Result<String, ReportError> {
    let page = || Ok(page::lineage::document(&Analysis::of(store)?));
    match format {
        Format::Text => page().map(|blocks| text::write(&blocks)),
        Format::Markdown => page().map(|blocks| markdown::write(&blocks)),
        Format::Csv => Err(ReportError::LineageAsCsv),
        Format::Json => json::lineage::write(&Analysis::of(store)?),
    }
}

/// Renders the settings of the servers of `targets` and their differences, as a report of its own;
/// ends with a line feed. `allow` is the experiment's.
///
/// # Errors
/// When it can't be written as JSON.
pub fn effective_settings(
    targets: &[EffectiveTarget],
    allow: &[String],
    format: Format,
) -> Result<String, ReportError> {
    let settings = Settings::of(targets, allow)?;
    match format {
        Format::Text => Ok(text::write(&page::settings(&settings, Detail::Brief))),
        Format::Markdown => Ok(markdown::write(&page::settings(&settings, Detail::Full))),
        Format::Csv => Ok(csv::settings(&settings)),
        Format::Json => json::settings(&settings),
    }
}
