//! Tables of cells: each compared with the one in the first column of its row.

use std::collections::BTreeMap;

use prony_model::{Better, Metric};
use prony_stats::{Interval, LogRatio, Summary, benjamini_hochberg, row_means};

use crate::analysis::estimate::LEVEL;
use crate::compare::filter::Filter;
use crate::compare::key::Key;
use crate::compare::ladder::{Kind, Of, Refusal, Relation, is_speed, relate};
use crate::compare::projection::{Order, Projection, numbers};
use crate::compare::runs::{Place, Run};
use crate::compare::works::Works;
use crate::words::plural;

/// Level of significance of signs, over all cells of a comparison.
const ALPHA: f64 = 0.05;

/// Values of the keys of a projection.
pub(crate) type Labels = Vec<String>;

/// What is compared with what.
pub(crate) struct Layout {
    pub(crate) filter: Filter,
    pub(crate) table: Projection,
    pub(crate) row: Projection,
    pub(crate) column: Projection,
    /// Name of the target whose columns come first.
    pub(crate) base: Option<String>,
}

/// One table.
pub(crate) struct Grid {
    pub(crate) labels: Labels,
    pub(crate) columns: Vec<Labels>,
    pub(crate) rows: Vec<Row>,
    /// Geometric means by column; none for the first.
    pub(crate) means: Vec<Option<Mean>>,
}

/// One row.
pub(crate) struct Row {
    pub(crate) labels: Labels,
    /// The work that all its cells do; `None` where rows are not about steps.
    pub(crate) work: Option<RowWork>,
    /// One for each column; `None` where nothing was measured.
    pub(crate) figures: Vec<Option<Figure>>,
}

/// The work of a row, in words.
pub(crate) struct RowWork {
    /// The first run that does it.
    pub(crate) run: String,
    /// Tables and rows.
    pub(crate) dataset: String,
}

/// What a cell of a table shows.
pub(crate) struct Figure {
    /// `None` where several cells of runs fall together.
    pub(crate) summary: Option<Summary>,
    /// The reference of its row, or the ratio to it, or the reason why there is none.
    pub(crate) ratio: Ratio,
    pub(crate) sign: Sign,
    /// Remarks for the reader.
    pub(crate) notes: Vec<String>,
    /// A condition makes the figure doubtful.
    pub(crate) is_doubtful: bool,
}

/// The comparison of a figure with the reference of its row.
pub(crate) enum Ratio {
    /// It is the reference.
    Reference,
    /// Nothing to compare it with.
    None,
    Of(Relation),
}

/// What is known of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Better,
    Worse,
    Equivalent,
    NotShown,
    /// Too few blocks, no ratio, or a metric that is neither good nor bad.
    Untested,
}

/// Geometric mean of the ratios of a column.
pub(crate) struct Mean {
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    pub(crate) rows: usize,
    /// Rows of the table.
    pub(crate) of: usize,
}

impl Sign {
    /// The word for programs.
    pub(crate) const fn word(self, metric: Metric) -> &'static str {
        match self {
            Self::Better if is_speed(metric) => "faster",
            Self::Worse if is_speed(metric) => "slower",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::NotShown => "not-shown",
            Self::Untested => "untested",
        }
    }
}

/// A cell of a run with its place in the layout. Cells of other work never share a row by its name.
struct Placed {
    run: usize,
    place: Place,
    work: usize,
    table: Labels,
    row: Labels,
    column: Labels,
}

/// All tables.
pub(crate) fn grids(runs: &[Run], works: &Works, layout: &Layout, metric: Metric) -> Vec<Grid> {
    let placed = placed(runs, works, layout);
    let tables = ordered(placed.iter().map(|cell| &cell.table), &layout.table);
    let mut grids: Vec<Grid> = tables
        .into_iter()
        .map(|labels| {
            let cells: Vec<&Placed> = placed.iter().filter(|c| c.table == labels).collect();
            grid(runs, works, layout, labels, &cells)
        })
        .collect();
    sign(&mut grids, metric.facts().better);
    grids
}

fn placed(runs: &[Run], works: &Works, layout: &Layout) -> Vec<Placed> {
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut places: Vec<&Place> = run.cells.keys().collect();
        let base = layout.base.as_deref();
        let is_base = |place: &Place| match base {
            Some(name) => run.target(*place).name == name,
            None => run.plan.is_base(place.target),
        };
        places.sort_by_key(|place| (!is_base(place), **place));
        for &place in places {
            let work = works.of[index][place.step];
            let value = |key: &Key| run.value(place, &works.all[work].name, key);
            let labels = |projection: &Projection| -> Option<Labels> {
                let keys = projection.keys.iter();
                keys.map(|(key, order)| match (value(key), order) {
                    (value, Order::Chosen(values)) => values.contains(&value).then_some(value),
                    (value, _) => Some(value),
                })
                .collect()
            };
            if !layout.filter.holds(value) {
                continue;
            }
            let all = (
                labels(&layout.table),
                labels(&layout.row),
                labels(&layout.column),
            );
            if let (Some(table), Some(row), Some(column)) = all {
                found.push(Placed {
                    run: index,
                    place,
                    work,
                    table,
                    row,
                    column,
                });
            }
        }
    }
    found
}

/// Different labels in their order.
fn ordered<'a>(all: impl Iterator<Item = &'a Labels>, projection: &Projection) -> Vec<Labels> {
    let mut different: Vec<Labels> = Vec::new();
    for labels in all {
        if !different.contains(labels) {
            different.push(labels.clone());
        }
    }
    // Sorting is stable, so the first key decides if it is sorted by last.
    for (position, (_, order)) in projection.keys.iter().enumerate().rev() {
        match order {
            Order::Given => {}
            Order::Number => different.sort_by_key(|labels| numbers(&labels[position])),
            Order::Chosen(values) => different
                .sort_by_key(|labels| values.iter().position(|value| *value == labels[position])),
        }
    }
    different
}

fn grid(runs: &[Run], works: &Works, layout: &Layout, labels: Labels, cells: &[&Placed]) -> Grid {
    let columns = ordered(cells.iter().map(|cell| &cell.column), &layout.column);
    let names_steps = |(key, _): &(Key, Order)| *key == Key::Named("step");
    let by_work = layout.row.keys.iter().any(names_steps);
    let row_key = |cell: &Placed| (by_work.then_some(cell.work), cell.row.clone());
    let mut by_row: BTreeMap<(Option<usize>, Labels), Vec<&Placed>> = BTreeMap::new();
    let mut keys = Vec::new();
    for cell in cells {
        let key = row_key(cell);
        if !by_row.contains_key(&key) {
            keys.push(key.clone());
        }
        by_row.entry(key).or_default().push(cell);
    }
    // By place in the plan, and not by target: a target may lack steps.
    if by_work {
        keys.sort_by_key(|(work, _)| *work);
    }
    let order = ordered(keys.iter().map(|(_, labels)| labels), &layout.row);
    keys.sort_by_key(|(_, labels)| order.iter().position(|other| other == labels));
    let rows: Vec<Row> = keys
        .iter()
        .map(|key| row(runs, works, &columns, key, &by_row[key]))
        .collect();
    let means = (0..columns.len())
        .map(|column| mean(&rows, column))
        .collect();
    Grid {
        labels,
        columns,
        rows,
        means,
    }
}

fn row(
    runs: &[Run],
    works: &Works,
    columns: &[Labels],
    (work, labels): &(Option<usize>, Labels),
    cells: &[&Placed],
) -> Row {
    let of_column = |column: &Labels| -> Vec<&Placed> {
        let cells = cells.iter().copied();
        cells.filter(|cell| cell.column == *column).collect()
    };
    // Where the first column has nothing, cells are compared with the base of their own run.
    let (reference, own) = match columns.first().map(of_column).as_deref() {
        Some([only]) => (Some(*only), cells),
        Some([]) => (None, cells),
        _ => (None, &[][..]),
    };
    let figures = columns.iter().map(|column| match of_column(column)[..] {
        [] => None,
        [only] => Some(figure(runs, works, only, reference, own)),
        ref several => Some(Figure {
            summary: None,
            ratio: Ratio::None,
            sign: Sign::Untested,
            notes: vec![format!(
                "{} cells fall together here: add a key in which they differ to --row, --col or \
                 --table",
                several.len()
            )],
            is_doubtful: false,
        }),
    });
    let first = cells.first().filter(|_| work.is_some());
    let work = first.map(|cell| {
        let run = &runs[cell.run];
        let dataset = &run.plan.dataset;
        RowWork {
            run: run.label.clone(),
            dataset: format!(
                "{} of {}",
                plural(u64::from(dataset.tables), "table"),
                plural(dataset.rows, "row")
            ),
        }
    });
    Row {
        figures: figures.collect(),
        labels: labels.clone(),
        work,
    }
}

fn figure(
    runs: &[Run],
    works: &Works,
    cell: &Placed,
    reference: Option<&Placed>,
    row: &[&Placed],
) -> Figure {
    let run = &runs[cell.run];
    let measured = &run.cells[&cell.place];
    let values: Vec<f64> = measured.values.values().copied().collect();
    let n = values.len();
    let warned = measured.warnings.iter();
    let mut notes: Vec<String> = warned
        .map(|(code, blocks)| format!("{code} in {} of {n} blocks", blocks.len()))
        .collect();
    let mut is_doubtful = !notes.is_empty();
    let of = |placed: &Placed| -> Of<'_> { (placed.run, &runs[placed.run], placed.place) };
    let to_own = |notes: &mut Vec<String>| {
        let own = own_base(run, cell, row);
        let relation = own.and_then(|own| relate(works, of(cell), of(own)).ok());
        let Some(relation) = relation else {
            return Ratio::None;
        };
        let base = run.plan.base_of(cell.place.target).unwrap_or(run.plan.base);
        let base = &run.plan.targets[base].name;
        notes.push(format!("relative to {base} of its own run {}", run.label));
        Ratio::Of(relation)
    };
    let ratio = match reference {
        None => to_own(&mut notes),
        Some(reference) if same(reference, cell) => Ratio::Reference,
        Some(reference) => match relate(works, of(cell), of(reference)) {
            Ok(relation) => Ratio::Of(relation),
            Err(refusal) => {
                notes.push(refusal.to_string());
                match refusal {
                    Refusal::OtherHost(_) => to_own(&mut notes),
                    _ => Ratio::None,
                }
            }
        },
    };
    if let Ratio::Of(relation) = &ratio {
        match &relation.kind {
            Kind::Paired => {}
            Kind::Through(name) => notes.push(format!("between runs, through {name} in both")),
            Kind::Drift => notes.push(
                "the same build in two runs, unpaired: the ratio is the drift between them".into(),
            ),
        }
        is_doubtful |= !relation.doubts.is_empty();
        notes.extend(relation.doubts.iter().cloned());
    }
    Figure {
        summary: Summary::of(&values).ok(),
        ratio,
        sign: Sign::Untested,
        notes,
        is_doubtful,
    }
}

fn same(a: &Placed, b: &Placed) -> bool {
    (a.run, a.place) == (b.run, b.place)
}

/// The cell of the base of a run in the same row, unless it is the cell itself.
fn own_base<'a>(run: &Run, cell: &Placed, row: &[&'a Placed]) -> Option<&'a Placed> {
    let mut own = row.iter().copied().filter(|other| other.run == cell.run);
    let base = run.plan.base_of(cell.place.target);
    own.find(|other| Some(other.place.target) == base && !same(other, cell))
}

/// The geometric mean over the rows with a ratio, if there are two and all came about alike.
fn mean(rows: &[Row], column: usize) -> Option<Mean> {
    let figures = rows.iter().filter_map(|row| row.figures[column].as_ref());
    let relations: Vec<&Relation> = figures
        .filter_map(|figure| match &figure.ratio {
            Ratio::Of(relation) => Some(relation),
            _ => None,
        })
        .collect();
    let first = relations.first()?;
    if relations.len() < 2 || relations.iter().any(|other| other.kind != first.kind) {
        return None;
    }
    let first_parts = relations.iter().map(|relation| &relation.parts.0);
    let a = group(&first_parts.collect::<Vec<_>>())?;
    let second: Vec<_> = relations
        .iter()
        .filter_map(|r| r.parts.1.as_ref())
        .collect();
    let (ratio, interval) = match second.len() {
        0 => (a.ratio(), a.interval(LEVEL)),
        n if n == relations.len() => {
            let quotient = a.over(&group(&second)?);
            (quotient.ratio(), quotient.interval(LEVEL))
        }
        _ => return None,
    };
    Some(Mean {
        ratio,
        interval,
        rows: relations.len(),
        of: rows.len(),
    })
}

/// The mean over steps within the blocks that all have.
fn group(parts: &[&crate::compare::ladder::Logs]) -> Option<prony_stats::LogRatio> {
    let maps = parts.iter().map(|logs| logs.iter().copied().collect());
    let maps: Vec<BTreeMap<u32, f64>> = maps.collect();
    let blocks: std::collections::BTreeSet<u32> =
        maps.iter().flat_map(|map| map.keys().copied()).collect();
    let rows = blocks
        .iter()
        .map(|block| maps.iter().map(|map| map.get(block).copied()).collect());
    let rows: Vec<Vec<Option<f64>>> = rows.collect();
    LogRatio::of(&row_means(&rows).ok()?).ok()
}

/// Decides the signs, with p-values adjusted for each other over all tables.
fn sign(grids: &mut [Grid], better: Better) {
    let rows = grids.iter_mut().flat_map(|grid| &mut grid.rows);
    let figures = rows.flat_map(|row| row.figures.iter_mut().flatten());
    let tested = figures.filter_map(|figure| match &figure.ratio {
        Ratio::Of(relation) => {
            let (p, equivalence) = (relation.p_value?, relation.equivalence_p);
            let ratio = relation.ratio;
            Some((&mut figure.sign, ratio, p, equivalence))
        }
        _ => None,
    });
    let tested: Vec<_> = tested.collect();
    let p_values: Vec<f64> = tested.iter().map(|tested| tested.2).collect();
    let adjusted = benjamini_hochberg(&p_values);
    for ((sign, ratio, _, equivalence), p) in tested.into_iter().zip(adjusted) {
        *sign = if equivalence.is_some_and(|p| p < ALPHA) {
            Sign::Equivalent
        } else if p >= ALPHA {
            Sign::NotShown
        } else {
            match better {
                Better::Neither => Sign::Untested,
                Better::Higher if ratio > 1.0 => Sign::Better,
                Better::Lower if ratio < 1.0 => Sign::Better,
                Better::Higher | Better::Lower => Sign::Worse,
            }
        };
    }
}
