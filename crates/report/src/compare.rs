//! Cells of one or several runs side by side, matched by what they are and not by name.
//!
//! Floors as in reports: keys, filters and projections; `runs` and `works` read and match; `ladder`
//! knows what may be compared; `grid` makes tables; `page` and `data` write them.

mod data;
mod filter;
mod grid;
mod key;
mod ladder;
mod page;
mod projection;
mod runs;
mod syntax;
mod works;

use prony_model::Metric;
use prony_store::Store;

use self::filter::Filter;
use self::grid::{Grid, Layout};
use self::projection::Projection;
use self::runs::Run;
use self::works::Works;
use crate::error::ReportError;
use crate::format::{Format, html, markdown, text};
use crate::words::plural;

pub use self::syntax::SyntaxError;

/// What is compared, as the user wrote it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Terms such as `step:scan -target:(a OR b)`; empty for everything.
    pub filter: &'a str,
    /// Keys of tables, such as `section`.
    pub table: &'a str,
    /// Keys of rows, such as `step,clients`.
    pub row: &'a str,
    /// Keys of columns, such as `run,target@(a b)`.
    pub column: &'a str,
    /// Name of the target whose column comes first; `None` for the base of the first run.
    pub base: Option<&'a str>,
    /// What is compared.
    pub metric: Metric,
    /// Ratios stand beside the figures that they are made of.
    pub values: bool,
}

/// All tables, with what is to be said before them.
struct Comparison {
    metric: Metric,
    values: bool,
    layout: Layout,
    /// Of each run its name, and a line about it.
    runs: Vec<(String, String)>,
    notes: Vec<String>,
    grids: Vec<Grid>,
}

/// Compares a metric of runs, each with the name that the user gave it; ends with a line feed.
///
/// # Errors
/// When a filter or projection can't be understood, no run has the base, and when a result file can't
/// be read or is damaged.
pub fn compare(
    stores: &[(Option<String>, &Store)],
    question: &Question<'_>,
    format: Format,
) -> Result<String, ReportError> {
    let layout = Layout {
        filter: Filter::parse(question.filter)?,
        table: Projection::parse("--table", question.table)?,
        row: Projection::parse("--row", question.row)?,
        column: Projection::parse("--col", question.column)?,
        base: question.base.map(str::to_owned),
    };
    let runs = stores.iter();
    let runs = runs.map(|(label, store)| Run::read(store, label.as_deref(), question.metric));
    let mut runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
    check_base(&runs, &layout)?;
    let notes = notes(&runs);
    tell_apart(&mut runs);
    let works = Works::of(&runs);
    let comparison = Comparison {
        runs: runs.iter().map(about).collect(),
        grids: grid::grids(&runs, &works, &layout, question.metric),
        metric: question.metric,
        values: question.values,
        notes,
        layout,
    };
    match format {
        Format::Text => Ok(text::write(&page::document(&comparison))),
        Format::Markdown => Ok(markdown::write(&page::document(&comparison))),
        Format::Html => Ok(html::write_blocks(
            "Comparison",
            &page::document(&comparison),
            comparison.runs.len(),
            0,
        )),
        Format::Csv => Ok(data::csv(&comparison)),
        Format::Json => data::json(&comparison),
    }
}

fn check_base(runs: &[Run], layout: &Layout) -> Result<(), ReportError> {
    let Some(base) = &layout.base else {
        return Ok(());
    };
    let targets = runs.iter().flat_map(|run| &run.plan.targets);
    let mut names: Vec<String> = targets.map(|target| target.name.clone()).collect();
    if names.contains(base) {
        return Ok(());
    }
    names.sort();
    names.dedup();
    Err(ReportError::NoSuchBase {
        base: base.clone(),
        known: names.join(", "),
    })
}

/// Gives runs of one name a number each.
fn tell_apart(runs: &mut [Run]) {
    for index in 1..runs.len() {
        let (before, rest) = runs.split_at_mut(index);
        let label = rest[0].label.clone();
        let mut number = 1;
        while before.iter().any(|run| run.label == rest[0].label) {
            number += 1;
            rest[0].label = format!("{label}#{number}");
        }
    }
}

/// What is to be known of the runs together.
fn notes(runs: &[Run]) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut before = runs[..index].iter();
        let is_same = |other: &&Run| {
            (&other.row.id, other.row.started_at) == (&run.row.id, run.row.started_at)
        };
        if before.any(|other| is_same(&other)) {
            notes.push(format!(
                "{} is given more than once: the same run has no drift, and its ratios to itself say \
                 nothing.",
                run.row.id
            ));
        }
        let first = &runs[0].row.prony_version;
        if run.row.prony_version != *first {
            notes.push(format!(
                "! {} was measured by Prony {}, and {} by {first}: the load generator may differ.",
                run.label, run.row.prony_version, runs[0].label
            ));
        }
    }
    notes
}

fn about(run: &Run) -> (String, String) {
    let host = run.host.as_ref().map_or_else(
        || "unknown host, or several".to_owned(),
        |host| {
            let kernel = host.facts.kernel.as_deref().unwrap_or("unknown");
            format!("{}, kernel {kernel}", host.text())
        },
    );
    let blocks = plural(u64::from(run.plan.blocks()), "block");
    let about = format!("{}, {blocks}, {host}", run.plan.name);
    (run.label.clone(), about)
}
