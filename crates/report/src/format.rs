//! The formats of reports.

mod csv;
mod html;
mod json;
mod markdown;
pub(crate) mod text;

pub(crate) use self::json::{object, placed, pretty};

use prony_store::Store;

use crate::analysis::settings::{EffectiveTarget, Settings};
use crate::analysis::{Analysis, course};
use crate::error::ReportError;
use crate::page::web::Courses;
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
    /// One page for browsers, complete in one file.
    Html,
}

/// Renders the present state of `store`; ends with a line feed.
///
/// # Errors
/// When the result file can't be read or is damaged.
pub fn render(store: &Store, format: Format) -> Result<String, ReportError> {
    let analysis = Analysis::of(store)?;
    match format {
        Format::Text => Ok(text::write(&page::document(&analysis, Detail::Brief))),
        Format::Markdown => Ok(markdown::write(&page::document(&analysis, Detail::Full))),
        Format::Csv => csv::write(&analysis),
        Format::Json => json::write(&analysis),
        Format::Html => Ok(html::write(&page::web::page(
            &analysis,
            &courses(store, &analysis)?,
        ))),
    }
}

/// Throughput within the steps that are shown, by step and target.
fn courses(store: &Store, analysis: &Analysis<'_>) -> Result<Courses, ReportError> {
    let plan = analysis.plan;
    let of_step = |step: usize| {
        let targets = 0..plan.targets.len();
        let course = |target| {
            if plan.steps[step].warm_only {
                return Ok(Vec::new());
            }
            course::of(store, analysis.cell(step, target))
        };
        targets.map(course).collect::<Result<Vec<_>, _>>()
    };
    let courses = (0..plan.steps.len()).map(of_step).collect::<Result<_, _>>();
    Ok(courses?)
}

/// Renders the large changes over the versions of `store`, in the order of its targets; ends with a line
/// feed.
///
/// # Errors
/// When the result file can't be read or is damaged, and for CSV and HTML, which have no form for
/// changes alone.
pub fn lineage(store: &Store, format: Format) -> Result<String, ReportError> {
    let page = || Ok(page::lineage::document(&Analysis::of(store)?));
    match format {
        Format::Text => page().map(|blocks| text::write(&blocks)),
        Format::Markdown => page().map(|blocks| markdown::write(&blocks)),
        Format::Csv => Err(ReportError::LineageAsCsv),
        Format::Html => Err(ReportError::NoHtml {
            what: "the lineage",
        }),
        Format::Json => json::lineage::write(&Analysis::of(store)?),
    }
}

/// Renders the settings of the servers of `targets` and their differences, as a report of its own;
/// ends with a line feed. `allow` is the experiment's.
///
/// # Errors
/// When it can't be written as JSON, and for HTML, which shows runs only.
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
        Format::Html => Err(ReportError::NoHtml {
            what: "the settings of a plan",
        }),
        Format::Json => json::settings(&settings),
    }
}
