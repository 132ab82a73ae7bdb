//! The section on loading.

use prony_model::{LoadMethod, LoadOutcome};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::analysis::loads::{DoneLoad, Loads, summary};
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{by_target, grouped};
use crate::page::{Detail, cost};
use crate::words;
use crate::words::plural;

/// The section on loading, where it was ever measured.
pub(crate) fn blocks(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let loads = &analysis.loads;
    let nothing = analysis.plan.dataset.load == LoadMethod::None;
    if nothing || loads.iter().all(|load| load.rows_per_second.is_none()) {
        return Vec::new();
    }
    let heading = format!(
        "Load of {}",
        plural(analysis.plan.dataset.rows_total(), "row")
    );
    let mut blocks = vec![
        Block::Heading(heading),
        Block::Paragraph(occasion(loads, analysis.plan.dataset.load)),
        Block::Table(table(analysis)),
    ];
    blocks.extend(in_one_sentence(analysis, "Rows went in by", |load| {
        let outcome = load.row.outcome.as_ref()?;
        Some(outcome.method.clone())
    }));
    blocks.extend(in_one_sentence(
        analysis,
        "Loaded in an earlier run, possibly under other conditions:",
        |load| {
            let known = load.row.reused && load.row.outcome.is_some();
            known.then(String::new)
        },
    ));
    blocks.extend(cost::of_loads(analysis, detail).into_iter().flatten());
    blocks
}

/// The occasion of the loads, which the spread depends on.
fn occasion(loads: &[Loads], method: LoadMethod) -> String {
    // An image of an empty server comes without a load.
    let known = |load: &&DoneLoad| load.row.outcome.is_some();
    let all = || loads.iter().flat_map(|load| &load.done).filter(known);
    let image = "Data is loaded once for each image and not once for each block, so that the \
                 spread is not known";
    let trial = match method {
        LoadMethod::Bulk | LoadMethod::None => {
            "loaded in every trial, because the engine forgets its rows or Prony does not start the \
             server"
        }
        LoadMethod::Inserts => {
            "loaded in every trial by INSERT as from any client, with the server's logs and \
             transactions, and the secondary indexes afterwards, because the load is measured"
        }
    };
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
    let row = |name: &str, figure: &dyn Fn(&Loads) -> Option<Cell>| -> (String, Vec<Cell>) {
        let cells = columns.iter().map(|&t| figure(&analysis.loads[t]).into());
        (name.to_owned(), cells.collect())
    };
    let mean = |summary: &Summary| Cell::figure(figures::mean(summary), summary.mean);
    let seconds = |loads: &Loads, ns: fn(&LoadOutcome) -> u64| {
        let positive = |outcome: &LoadOutcome| (ns(outcome) > 0).then(|| ns(outcome) as f64 / 1e9);
        summary(&loads.done, positive).as_ref().map(mean)
    };
    let mut rows = vec![row("rows/s, indexes included", &|loads| {
        loads.rows_per_second.as_ref().map(mean)
    })];
    if columns.len() > 1 {
        let name = format!("relative to {}", analysis.plan.base_words());
        rows.push(row(&name, &|loads| {
            let estimate = analysis.verdicts.looks.of_pairs(loads.ratio.as_ref()?);
            Some(Cell::figure(figures::ratio(&estimate), estimate.ratio()))
        }));
    }
    rows.push(row("seconds for the rows", &|loads| {
        seconds(loads, |outcome| outcome.rows_ns)
    }));
    rows.push(row("seconds for the indexes", &|loads| {
        seconds(loads, |outcome| outcome.index_ns)
    }));
    rows.retain(|(_, cells)| cells.iter().any(|cell| cell.value.is_some()));
    by_target(analysis, "", &columns, rows).repeating_two()
}

/// One sentence with the targets that something holds for: `A (x, y); B (z).`
fn in_one_sentence(
    analysis: &Analysis<'_>,
    begin: &str,
    text_of: impl Fn(&DoneLoad) -> Option<String>,
) -> Option<Block> {
    let texts = analysis.columns().into_iter().filter_map(|target| {
        let mut loads = analysis.loads[target].done.iter().rev();
        let name = analysis.plan.targets[target].name.as_str();
        Some((loads.find_map(&text_of)?, name))
    });
    let by_text = grouped(texts);
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

/// Warnings about the costs of loads.
pub(crate) fn cost_warnings(analysis: &Analysis<'_>) -> Vec<String> {
    let of_target = |target: usize| {
        let name = &analysis.plan.targets[target].name;
        let warnings = analysis.costs.loads()[target].warnings.iter();
        warnings.map(move |text| format!("{name}, load, {text}"))
    };
    let targets = analysis.all_targets().into_iter();
    targets.flat_map(of_target).collect()
}

/// Loads after which the engine did not become quiet, as warnings.
pub(crate) fn unsettled(analysis: &Analysis<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for target in analysis.all_targets() {
        let name = &analysis.plan.targets[target].name;
        for load in &analysis.loads[target].done {
            let Some(settle) = load.row.settle.as_ref().filter(|s| !s.unmet.is_empty()) else {
                continue;
            };
            let load_of = match load.block {
                Some(block) => format!("{name}, block {block}"),
                None => format!("{name}, image"),
            };
            warnings.push(format!(
                "{load_of}: settling after the load was given up after {}: {}",
                words::seconds(settle.took_ms),
                settle.unmet.join("; ")
            ));
        }
    }
    warnings
}
