//! The formats of reports.

mod csv;
pub(crate) mod html;
mod json;
pub(crate) mod markdown;
pub(crate) mod text;

pub(crate) use self::csv::quoted as csv_field;
pub(crate) use self::json::{intent, object, placed, pretty};
pub use self::text::Screen;

use std::thread;

use prony_model::{Plan, RatioDisplay};
use prony_store::Store;

use crate::analysis::Analysis;
use crate::analysis::measured::Within;
use crate::analysis::settings::{EffectiveTarget, Settings};
use crate::document::Block;
use crate::error::ReportError;
use crate::explain::by_component::by_component;
use crate::explain::reasons::reasons;
use crate::extent::Extent;
use crate::page::{self, Detail};
use crate::views::{self, View, ViewOptions};

/// The purpose of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
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

/// Renders the present state of `store`, all of it; ends with a line feed. Text is for [`Screen::default`].
///
/// # Errors
/// When the result file can't be read or is damaged.
pub fn render(store: &Store, format: Format) -> Result<String, ReportError> {
    render_extent(store, format, &Extent::Whole, None, Screen::default())
}

/// Renders an extent of the present state of `store`; ends with a line feed. `display` is the form of all
/// ratios, `None` for those that the experiment asks for; `screen` is for text.
///
/// # Errors
/// When the result file can't be read or is damaged, a chosen step is not in the run, or CSV or JSON are
/// asked for some steps only.
pub fn render_extent(
    store: &Store,
    format: Format,
    extent: &Extent,
    display: Option<RatioDisplay>,
    screen: Screen,
) -> Result<String, ReportError> {
    render_plan(store, store.plan(), format, extent, display, screen)
}

/// Renders the same relative to another base: the name of a target, or the `KEY:VALUE` that the base of
/// each target has while it is equal otherwise. Ratios, intervals and verdicts are those of a run with
/// this base: from the same blocks, and adjusted for the comparisons with it.
///
/// # Errors
/// Those of [`render_extent`], and if the run has no such base.
pub fn render_relative(
    store: &Store,
    base: &str,
    format: Format,
    extent: &Extent,
    display: Option<RatioDisplay>,
    screen: Screen,
) -> Result<String, ReportError> {
    let plan = views::rebased(&Analysis::of(store)?, base)?;
    render_plan(store, &plan, format, extent, display, screen)
}

fn render_plan(
    store: &Store,
    plan: &Plan,
    format: Format,
    extent: &Extent,
    display: Option<RatioDisplay>,
    screen: Screen,
) -> Result<String, ReportError> {
    let within = match format {
        Format::Csv | Format::Json => Within::All,
        Format::Text | Format::Markdown if matches!(extent, Extent::Answer) => Within::Nothing,
        Format::Text | Format::Markdown | Format::Html => Within::Operations,
    };
    let mut analysis = Analysis::read(store, plan, within)?;
    analysis.asked_display = display;
    if analysis.is_profiled && !matches!(format, Format::Csv | Format::Json) {
        analysis.reasons = reasons(store, &analysis)?;
    }
    let detail = match format {
        Format::Text => Detail::Brief,
        Format::Markdown => Detail::Full,
        Format::Csv | Format::Json | Format::Html if matches!(extent, Extent::Steps(_)) => {
            return Err(ReportError::StepsOfData);
        }
        Format::Csv => return csv::write(&analysis),
        Format::Json => return json::write(&analysis),
        Format::Html => {
            if analysis.is_profiled {
                analysis.components = by_component(store, &analysis)?;
            }
            let page = page::web::page(&analysis);
            // A large run consists of millions of pieces.
            return Ok(thread::scope(|scope| {
                scope.spawn(|| drop(analysis));
                html::write(&page)
            }));
        }
    };
    let blocks = match extent {
        Extent::Answer => page::answer::page(&analysis),
        Extent::Whole => page::document(&analysis, detail),
        Extent::Steps(choice) => {
            let steps = choice.steps(&analysis)?;
            analysis.restrict(&steps);
            page::of_steps(&analysis, detail)
        }
    };
    Ok(for_people(&blocks, format, screen))
}

/// Renders the large changes over the versions of `store`, in the order of its targets; ends with a line
/// feed.
///
/// # Errors
/// When the result file can't be read or is damaged, and for CSV, which has no form for changes.
pub fn lineage(store: &Store, format: Format, screen: Screen) -> Result<String, ReportError> {
    match format {
        Format::Text | Format::Markdown => {
            let blocks = page::lineage::document(&Analysis::of(store)?);
            Ok(for_people(&blocks, format, screen))
        }
        Format::Csv => Err(ReportError::LineageAsCsv),
        Format::Html => {
            let analysis = Analysis::of(store)?;
            let (plan, blocks) = (analysis.plan, page::lineage::document(&analysis));
            Ok(html::write_blocks(
                &plan.name,
                &blocks,
                plan.targets.len(),
                plan.base,
            ))
        }
        Format::Json => json::lineage::write(&Analysis::of(store)?),
    }
}

/// Blocks as text, or as Markdown.
fn for_people(blocks: &[Block], format: Format, screen: Screen) -> String {
    match format {
        Format::Markdown => markdown::write(blocks),
        _ => text::write_for(blocks, screen),
    }
}

/// Renders a view of `store`, of the cells and in the arrangement that `options` ask for; ends with a line
/// feed.
///
/// # Errors
/// When the result file can't be read or is damaged, and when the options name what the run does not
/// have.
pub fn view(
    store: &Store,
    view: View,
    options: &ViewOptions,
    format: Format,
) -> Result<String, ReportError> {
    let analysis = Analysis::of(store)?;
    let parts = views::parts(&analysis, view, options)?;
    let document = |detail| views::document(&analysis, view, &parts, detail);
    match format {
        Format::Text => Ok(text::write(&views::drawn(document(Detail::Brief)))),
        Format::Markdown => Ok(markdown::write(&document(Detail::Full))),
        Format::Csv => Ok(csv::view::write(&parts)),
        Format::Json => json::view::write(&analysis, view, &parts),
        Format::Html => {
            let plan = analysis.plan;
            let blocks = document(Detail::Full);
            Ok(html::write_blocks(
                &plan.name,
                &blocks,
                plan.targets.len(),
                plan.base,
            ))
        }
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
