//! How the data came into the servers, and how fast.

use prony_model::LoadOutcome;
use prony_stats::{PairedRatio, Summary};
use prony_store::{LoadRow, Store, StoreError};

use crate::analysis::Analysis;
use crate::document::{Align, Block, Table};
use crate::figures::{self, plural};
use crate::tables::{NONE, column_name};

/// The loads of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Load {
    /// Of its image, or of each of its done trials.
    pub(crate) rows: Vec<DoneLoad>,
    /// Rows per second, index included.
    pub(crate) rows_per_second: Option<Summary>,
    /// Rows per second ÷ those of the base. `None` for the base.
    pub(crate) ratio: Option<PairedRatio>,
}

/// One load.
#[derive(Debug, Clone)]
pub(crate) struct DoneLoad {
    pub(crate) row: LoadRow,
    /// The block of its trial, from 1; `None` for an image.
    pub(crate) block: Option<u32>,
}

impl DoneLoad {
    pub(crate) fn rows_per_second(&self) -> Option<f64> {
        let outcome = self.row.outcome.as_ref()?;
        outcome.rows_per_second()
    }
}

impl Load {
    fn summary(&self, figure: impl Fn(&LoadOutcome) -> Option<f64>) -> Option<Summary> {
        let outcomes = self
            .rows
            .iter()
            .filter_map(|load| load.row.outcome.as_ref());
        let values: Vec<f64> = outcomes.filter_map(figure).collect();
        Summary::of(&values).ok()
    }

    /// Loads of trials are paired within their blocks; images have none, so that one is compared
    /// with the other. The load of an image and that of a trial are not alike.
    fn ratio_to(&self, base: &Self) -> Option<PairedRatio> {
        let pairs: Vec<(f64, f64)> = self
            .rows
            .iter()
            .filter_map(|mine| {
                let mut others = base.rows.iter();
                let other = others.find(|other| mine.block.is_some() && other.block == mine.block);
                Some((mine.rows_per_second()?, other?.rows_per_second()?))
            })
            .collect();
        let images = self
            .rows
            .iter()
            .chain(&base.rows)
            .all(|load| load.block.is_none());
        let means = || {
            if !images {
                return None;
            }
            let (mine, other) = (
                self.rows_per_second.as_ref()?,
                base.rows_per_second.as_ref()?,
            );
            PairedRatio::of(&[(mine.mean, other.mean)]).ok()
        };
        PairedRatio::of(&pairs).ok().or_else(means)
    }
}

/// The loads of all targets, in the order of the plan.
pub(crate) fn read(analysis: &Analysis<'_>, store: &Store) -> Result<Vec<Load>, StoreError> {
    let mut loads = vec![Load::default(); analysis.plan.targets.len()];
    for row in store.loads()? {
        let trial = row.trial.and_then(|id| analysis.trial(id));
        let block = trial.map(|trial| trial.planned.block + 1);
        let rows = &mut loads[row.target].rows;
        if block.is_none() {
            // An image that was made again takes the place of the one before.
            rows.retain(|load| load.block.is_some());
        }
        rows.push(DoneLoad { row, block });
    }
    for load in &mut loads {
        load.rows_per_second = load.summary(LoadOutcome::rows_per_second);
    }
    let base = loads[analysis.plan.base].clone();
    for target in analysis.contenders() {
        loads[target].ratio = loads[target].ratio_to(&base);
    }
    Ok(loads)
}

/// The section on loading, where it was ever measured.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let loads = &analysis.loads;
    if loads.iter().all(|load| load.rows_per_second.is_none()) {
        return Vec::new();
    }
    let rows = analysis.plan.dataset.rows * u64::from(analysis.plan.dataset.tables);
    let heading = format!("Load of {}", plural(rows, "row"));
    let mut blocks = vec![
        Block::Heading(heading),
        Block::Paragraph(occasion(loads)),
        Block::Table(table(analysis)),
    ];
    blocks.extend(grouped(analysis, "Rows went in by", |load| {
        let outcome = load.row.outcome.as_ref()?;
        Some(outcome.method.clone())
    }));
    blocks.extend(grouped(
        analysis,
        "Loaded in an earlier run, maybe under other conditions:",
        |load| {
            let known = load.row.reused && load.row.outcome.is_some();
            known.then(String::new)
        },
    ));
    blocks
}

/// When data was loaded, which decides what the figures are worth.
fn occasion(loads: &[Load]) -> String {
    let all = || loads.iter().flat_map(|load| &load.rows);
    let image = "Data is loaded once for each image and not once for each block, so that the \
                 spread is not known";
    let trial = "loaded in every trial, because the engine forgets its rows or Prony does not \
                 start the server";
    match (
        all().any(|load| load.block.is_none()),
        all().any(|load| load.block.is_some()),
    ) {
        (true, true) => format!("{image}; some data is {trial}."),
        (true, false) => format!("{image}."),
        _ => format!("Data is {trial}."),
    }
}

fn table(analysis: &Analysis<'_>) -> Table {
    let columns = analysis.columns();
    let row = |name: &str, figure: &dyn Fn(&Load) -> Option<String>| -> Vec<String> {
        let cells = columns
            .iter()
            .map(|&target| figure(&analysis.loads[target]).unwrap_or_else(|| NONE.to_owned()));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let seconds = |load: &Load, ns: fn(&LoadOutcome) -> u64| {
        let positive = |outcome: &LoadOutcome| (ns(outcome) > 0).then(|| ns(outcome) as f64 / 1e9);
        load.summary(positive)
            .map(|summary| figures::mean(&summary))
    };
    let mut rows = vec![row("rows/s, indexes included", &|load| {
        load.rows_per_second.as_ref().map(figures::mean)
    })];
    if columns.len() > 1 {
        let name = format!("relative to {}", analysis.base().name);
        rows.push(row(&name, &|load| load.ratio.as_ref().map(figures::ratio)));
    }
    rows.push(row("seconds for the rows", &|load| {
        seconds(load, |outcome| outcome.rows_ns)
    }));
    rows.push(row("seconds for the indexes", &|load| {
        seconds(load, |outcome| outcome.index_ns)
    }));
    rows.retain(|row| row[1..].iter().any(|cell| cell != NONE));
    let header = columns.iter().map(|&target| column_name(analysis, target));
    Table {
        header: std::iter::once(String::new()).chain(header).collect(),
        rows,
        align: Align::Right,
        repeated: 2,
    }
}

/// One sentence that says of which targets something holds: `A (x, y); B (z).`
fn grouped(
    analysis: &Analysis<'_>,
    begin: &str,
    said: impl Fn(&DoneLoad) -> Option<String>,
) -> Option<Block> {
    let mut by_text: Vec<(String, Vec<&str>)> = Vec::new();
    for target in analysis.columns() {
        let name = analysis.plan.targets[target].name.as_str();
        let loads = &analysis.loads[target].rows;
        let Some(text) = loads.iter().rev().find_map(&said) else {
            continue;
        };
        match by_text.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push(name),
            None => by_text.push((text, vec![name])),
        }
    }
    let items: Vec<String> = by_text
        .iter()
        .map(|(text, names)| match text.as_str() {
            "" => names.join(", "),
            text if by_text.len() == 1 => text.to_owned(),
            text => format!("{text} ({})", names.join(", ")),
        })
        .collect();
    (!items.is_empty()).then(|| Block::Paragraph(format!("{begin} {}.", items.join("; "))))
}

/// Loads after which the engine did not become quiet, as warnings.
pub(crate) fn unsettled(analysis: &Analysis<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for target in analysis.columns() {
        let name = &analysis.plan.targets[target].name;
        for load in &analysis.loads[target].rows {
            let Some(settle) = load.row.settle.as_ref().filter(|s| !s.unmet.is_empty()) else {
                continue;
            };
            let place = match load.block {
                Some(block) => format!("{name}, block {block}"),
                None => format!("{name}, image"),
            };
            warnings.push(format!(
                "{place}: settling after the load was given up after {}: {}",
                figures::seconds(settle.took_ms),
                settle.unmet.join("; ")
            ));
        }
    }
    warnings
}
