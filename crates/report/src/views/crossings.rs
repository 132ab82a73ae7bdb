//! Numbers of clients between which another target is ahead.

use crate::analysis::Analysis;
use crate::page::view::over_blocks;
use crate::views::Part;
use crate::views::arrangement::Grid;
use crate::views::base::Base;
use crate::views::cell::CellId;
use crate::views::figure_table::{FigureRow, FigureTable};
use crate::views::measure::{Figure, Measure};
use crate::words;

/// The ratio of two targets at one number of clients.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    clients: u32,
    ratio: Figure,
    /// With both sides exchanged.
    exchanged: Figure,
}

/// Two numbers of clients with another target ahead at each.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Crossing<'a> {
    before: &'a Known,
    after: &'a Known,
}

impl Known {
    fn is_ahead(&self) -> bool {
        self.ratio.value > 1.0
    }

    /// Returns `true` if the interval does not hold 1.
    fn is_clear(&self) -> bool {
        self.ratio
            .interval
            .is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

impl Crossing<'_> {
    fn is_resolved(&self) -> bool {
        self.before.is_clear() && self.after.is_clear()
    }
}

/// Crossings over ascending numbers of clients. Between two ratios that are clear, those that are not
/// don't count; they count at both ends, where nothing else is known.
fn crossings(all: &[Known]) -> Vec<Crossing<'_>> {
    let last = all.len().saturating_sub(1);
    let counts =
        |&(index, known): &(usize, &Known)| known.is_clear() || index == 0 || index == last;
    let counted: Vec<&Known> = all
        .iter()
        .enumerate()
        .filter(counts)
        .map(|(_, known)| known)
        .collect();
    let pairs = counted.windows(2);
    pairs
        .filter_map(|pair| match pair {
            [before, after] if before.is_ahead() != after.is_ahead() => {
                let is_known = before.is_clear() || after.is_clear();
                is_known.then_some(Crossing { before, after })
            }
            _ => None,
        })
        .collect()
}

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
fn ratios(analysis: &Analysis<'_>, grid: &Grid, of: usize, to: usize) -> Vec<Known> {
    let known = |row: usize| {
        let clients = grid.rows[row].clients?;
        let (mine, other): (CellId, CellId) = (grid.at(row, of)?, grid.at(row, to)?);
        let ratio = |of: CellId, to: CellId| {
            let base = Base::one(analysis, to.target);
            Measure::Ratio.figure(analysis, of, &base)
        };
        Some(Known {
            clients,
            ratio: ratio(mine, other)?,
            exchanged: ratio(other, mine)?,
        })
    };
    (0..grid.rows.len()).filter_map(known).collect()
}

/// The row of a crossing: who is ahead before it and after it, and the ratio of the second to the first.
fn row([to, of]: [&str; 2], crossing: &Crossing<'_>) -> FigureRow {
    let Crossing { before, after } = crossing;
    let is_exchanged = before.is_ahead();
    let (first, then) = if is_exchanged { (of, to) } else { (to, of) };
    let ratio = |known: &Known| {
        let ratio = if is_exchanged {
            &known.exchanged
        } else {
            &known.ratio
        };
        ratio.clone()
    };
    let doubt = if crossing.is_resolved() {
        ""
    } else {
        " (not resolved)"
    };
    FigureRow {
        name: format!("{first}, then {then}{doubt}"),
        figures: [before, after]
            .into_iter()
            .flat_map(|known| [clients(known.clients), ratio(known)])
            .map(Some)
            .collect(),
    }
}

/// The sentence on two targets without a crossing. `None` without any ratio.
fn without([to, of]: [&str; 2], known: &[Known]) -> Option<String> {
    let (first, last) = (known.first()?, known.last()?);
    if known.iter().all(|known| known.ratio.interval.is_none()) {
        return Some(format!(
            "{to} and {of}: one block has no interval, so no crossing is called"
        ));
    }
    if !known.iter().any(Known::is_clear) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios with a half-width of their own at 1, 2, 4 … clients.
    fn known(ratios: &[(f64, f64)]) -> Vec<Known> {
        let one = |(index, &(value, half)): (usize, &(f64, f64))| Known {
            clients: 1 << index,
            ratio: Figure {
                value,
                interval: Some((value - half, value + half)),
                unit: "",
                ..clients(1)
            },
            exchanged: clients(1),
        };
        ratios.iter().enumerate().map(one).collect()
    }

    fn shown(ratios: &[(f64, f64)]) -> Vec<(u32, u32, bool)> {
        let known = known(ratios);
        let crossings = crossings(&known);
        let one = |c: &Crossing<'_>| (c.before.clients, c.after.clients, c.is_resolved());
        crossings.iter().map(one).collect()
    }

    #[test]
    fn crossings_lie_between_clear_ratios() {
        let ratios = [
            (0.8, 0.1),
            (0.99, 0.1),
            (1.02, 0.1),
            (0.98, 0.1),
            (1.3, 0.1),
        ];
        assert_eq!(shown(&ratios), [(1, 16, true)]);
        assert_eq!(
            shown(&[(0.8, 0.1), (1.2, 0.1), (0.8, 0.1)]),
            [(1, 2, true), (2, 4, true)]
        );
    }

    #[test]
    fn noise_is_no_crossing() {
        assert_eq!(shown(&[(0.8, 0.1), (1.02, 0.1), (0.8, 0.1)]), []);
        assert_eq!(shown(&[(0.95, 0.1), (1.05, 0.1)]), []);
        assert_eq!(shown(&[(1.2, 0.1)]), []);
        assert_eq!(shown(&[]), []);
    }

    #[test]
    fn ends_that_are_not_clear_leave_a_crossing_open() {
        assert_eq!(shown(&[(0.8, 0.1), (1.05, 0.1)]), [(1, 2, false)]);
    }
}
