//! Numbers of clients between which another target is ahead.

use crate::analysis::Analysis;
use crate::analysis::crossings::{AtClients, Crossing, crossings};
use crate::page::view::over_blocks;
use crate::views::Part;
use crate::views::arrangement::Grid;
use crate::views::base::Base;
use crate::views::figure_table::{FigureRow, FigureTable};
use crate::views::measure::{Figure, Measure, of_estimate};
use crate::words;

/// The table of the crossings of all pairs of columns, and sentences about pairs without. With `written`
/// bases, pairs are of these and each other target.
pub(crate) fn part(
    analysis: &Analysis<'_>,
    grid: &Grid,
    written: &[String],
    bases: &[Base],
) -> Vec<Part> {
    let target = |column: usize| grid.column(column).next().map(|cell| cell.target);
    let is_base = |column: usize, of: usize| {
        let mut bases = bases.iter();
        bases.any(|base| target(of).and_then(|of| base.of(of)) == target(column))
    };
    let is_asked = |of: usize, to: usize| written.is_empty() || is_base(of, to) || is_base(to, of);
    if grid.rows.len() < 2 {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let mut none = Vec::new();
    for to in 0..grid.columns.len() {
        for of in to + 1..grid.columns.len() {
            if !is_asked(of, to) {
                continue;
            }
            let names = [to, of].map(|column| grid.columns[column].name.as_str());
            let known = ratios(analysis, grid, of, to);
            let found = crossings(&known);
            let without = found.is_empty().then(|| without(names, &known)).flatten();
            none.extend(without.map(|text| match grid.shared.as_str() {
                "" => text,
                shared => format!("{shared}: {text}"),
            }));
            rows.extend(found.iter().map(|crossing| row(names, crossing)));
        }
    }
    let table = (!rows.is_empty()).then(|| table(grid, rows));
    let list = (!none.is_empty()).then_some(Part::List(none));
    table.map(Part::Figures).into_iter().chain(list).collect()
}

/// The ratios of the column `of` to the column `to`, in ascending order of clients.
fn ratios(analysis: &Analysis<'_>, grid: &Grid, of: usize, to: usize) -> Vec<AtClients> {
    let known = |row: usize| {
        grid.rows[row].clients?;
        let (mine, other) = (grid.at(row, of)?, grid.at(row, to)?);
        AtClients::of(analysis, mine.group, [mine.target, other.target])
    };
    (0..grid.rows.len()).filter_map(known).collect()
}

/// The row of a crossing: who is ahead before it and after it, and the ratio of the second to the first.
fn row([to, of]: [&str; 2], crossing: &Crossing<'_>) -> FigureRow {
    let (first, then) = if crossing.before.is_ahead() {
        (of, to)
    } else {
        (to, of)
    };
    let ratio = |known: &AtClients| Figure {
        is_doubtful: known.is_doubtful,
        ..of_estimate(&known.ratio)
    };
    let doubt = if crossing.is_resolved() {
        ""
    } else {
        " (not resolved)"
    };
    FigureRow {
        name: format!("{first}, then {then}{doubt}"),
        figures: crossing
            .ratios()
            .iter()
            .flat_map(|known| [clients(known.clients), ratio(known)])
            .map(Some)
            .collect(),
    }
}

/// The sentence on two targets without a crossing. `None` without any ratio.
fn without([to, of]: [&str; 2], known: &[AtClients]) -> Option<String> {
    let (first, last) = (known.first()?, known.last()?);
    if known.iter().all(|known| known.ratio.interval.is_none()) {
        return Some(format!(
            "{to} and {of}: one block has no interval, so no crossing is called"
        ));
    }
    if !known.iter().any(AtClients::is_clear) {
        return Some(format!("{to} and {of}: no difference is shown"));
    }
    let (ahead, behind) = if first.is_ahead() { (of, to) } else { (to, of) };
    let (from, until) = (
        words::count(first.clients.into()),
        words::count(last.clients.into()),
    );
    Some(format!(
        "{ahead} is not behind {behind} from {from} to {until} clients"
    ))
}

fn clients(clients: u32) -> Figure {
    Figure {
        text: words::count(clients.into()),
        plain: words::count(clients.into()),
        value: clients.into(),
        interval: None,
        n: 0,
        unit: "clients",
        is_doubtful: false,
    }
}

fn table(grid: &Grid, mut rows: Vec<FigureRow>) -> FigureTable {
    let figures = rows.iter().flat_map(|row| row.figures.iter().flatten());
    let n = figures.map(|figure| figure.n).max().unwrap_or(0);
    for figure in rows
        .iter_mut()
        .flat_map(|row| row.figures.iter_mut().flatten())
    {
        if figure.unit == "clients" {
            figure.n = n;
        }
    }
    let columns = ["up to clients", "ratio", "from clients", "ratio"];
    FigureTable {
        title: "Crossings of throughput".to_owned(),
        relative: String::new(),
        shared: grid.shared.clone(),
        first: "ahead".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        measures: vec![Measure::Ratio],
        over: over_blocks("geometric mean", n),
    }
}
