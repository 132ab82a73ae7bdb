//! The arrangement of cells in tables with rows and columns.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::Aspect;

use crate::analysis::Analysis;
use crate::views::cell::CellId;
use crate::views::key::Key;

/// Keys whose values are the tables, rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Projection {
    pub(crate) table: Vec<Key>,
    pub(crate) row: Vec<Key>,
    pub(crate) col: Vec<Key>,
}

/// The cells of one table.
#[derive(Debug)]
pub(crate) struct Grid {
    /// The values that all cells share.
    pub(crate) shared: String,
    /// Heading of the first column.
    pub(crate) first: String,
    pub(crate) rows: Vec<Header>,
    /// At least one.
    pub(crate) columns: Vec<Header>,
    /// By row and column.
    cells: BTreeMap<(usize, usize), CellId>,
}

/// The heading of a row or of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Empty where there is nothing to tell apart.
    pub(crate) name: String,
    /// The number of clients, if it is what tells rows or columns apart.
    pub(crate) clients: Option<u32>,
}

/// The values of the keys of one axis, with the position of each in the order of its key.
type Place = Vec<(usize, String)>;

impl Grid {
    /// The cell at a place.
    pub(crate) fn at(&self, row: usize, column: usize) -> Option<CellId> {
        self.cells.get(&(row, column)).copied()
    }

    /// The cells of a column.
    pub(crate) fn column(&self, column: usize) -> impl Iterator<Item = CellId> {
        (0..self.rows.len()).filter_map(move |row| self.at(row, column))
    }

    /// All cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = CellId> {
        self.cells.values().copied()
    }
}

/// The grids of `cells`, in order. Where two cells fall on one place, further keys divide the tables:
/// clients, step, the aspects in which targets differ, and at last the target.
pub(crate) fn grids(
    analysis: &Analysis<'_>,
    cells: &[CellId],
    projection: &Projection,
) -> Vec<Grid> {
    let projection = completed(analysis, cells, projection.clone());
    let order = Order::of(analysis, cells, &projection);
    let mut tables: BTreeMap<Place, Vec<CellId>> = BTreeMap::new();
    for &cell in cells {
        let place = order.place(analysis, &projection.table, cell);
        tables.entry(place).or_default().push(cell);
    }
    tables
        .into_iter()
        .map(|(place, cells)| grid(analysis, &projection, &order, &place, &cells))
        .collect()
}

fn grid(
    analysis: &Analysis<'_>,
    projection: &Projection,
    order: &Order,
    place: &Place,
    cells: &[CellId],
) -> Grid {
    let places = |keys: &[Key]| -> Vec<Place> {
        let mut places: Vec<Place> = cells
            .iter()
            .map(|&cell| order.place(analysis, keys, cell))
            .collect();
        places.sort();
        places.dedup();
        places
    };
    let (rows, columns) = (places(&projection.row), places(&projection.col));
    let at = |cell: CellId| {
        let row = order.place(analysis, &projection.row, cell);
        let column = order.place(analysis, &projection.col, cell);
        let found = rows
            .binary_search(&row)
            .ok()
            .zip(columns.binary_search(&column).ok());
        Some((found?, cell))
    };
    let headings = projection.table.iter().zip(place);
    let headings = headings.map(|(key, (_, value))| key.heading(value));
    let headings: Vec<String> = headings.filter(|heading| !heading.is_empty()).collect();
    let names: Vec<String> = projection.row.iter().map(Key::name).collect();
    Grid {
        shared: headings.join(", "),
        first: names.join(", "),
        rows: headers(&projection.row, &rows, false),
        columns: headers(&projection.col, &columns, true),
        cells: cells.iter().filter_map(|&cell| at(cell)).collect(),
    }
}

/// The headings of the rows or columns at `places`. The first column has the unit of a row.
fn headers(keys: &[Key], places: &[Place], with_units: bool) -> Vec<Header> {
    let header = |place: &Place| {
        let values = keys.iter().zip(place);
        let values = values.map(|(key, (_, value))| {
            if with_units || keys.len() > 1 {
                key.heading(value)
            } else {
                value.clone()
            }
        });
        Header {
            name: values.collect::<Vec<_>>().join(", "),
            clients: match (keys, place.as_slice()) {
                ([Key::Clients], [(_, value)]) => value.parse().ok(),
                _ => None,
            },
        }
    };
    places.iter().map(header).collect()
}

/// The projection with the keys that tell cells of one place apart.
fn completed(analysis: &Analysis<'_>, cells: &[CellId], mut projection: Projection) -> Projection {
    let aspects = analysis.plan.varying().into_iter();
    let aspects = aspects.filter(|aspect| *aspect != Aspect::Build);
    let further = [Key::Clients, Key::Step]
        .into_iter()
        .chain(aspects.map(Key::Aspect))
        .chain([Key::Target]);
    let mut places = distinct(analysis, cells, &projection);
    for key in further {
        if places == cells.len() {
            break;
        }
        projection.table.push(key);
        match distinct(analysis, cells, &projection) {
            more if more > places => places = more,
            _ => drop(projection.table.pop()),
        }
    }
    projection
}

/// The number of places that cells fall on.
fn distinct(analysis: &Analysis<'_>, cells: &[CellId], projection: &Projection) -> usize {
    let Projection { table, row, col } = projection;
    let keys = || table.iter().chain(row).chain(col);
    let place =
        |&cell: &CellId| -> Vec<String> { keys().map(|key| key.value(analysis, cell)).collect() };
    let places: BTreeSet<Vec<String>> = cells.iter().map(place).collect();
    places.len()
}

/// The order of the values of each key: numbers of clients ascend, other values follow the plan.
struct Order(Vec<(Key, Vec<String>)>);

impl Order {
    fn of(analysis: &Analysis<'_>, cells: &[CellId], projection: &Projection) -> Self {
        let Projection { table, row, col } = projection;
        let keys = table.iter().chain(row).chain(col);
        let of_key = |key: &Key| {
            let mut values: Vec<String> = Vec::new();
            for &cell in cells {
                let value = key.value(analysis, cell);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            if *key == Key::Clients {
                values.sort_by_key(|value| value.parse::<u32>().ok());
            }
            (key.clone(), values)
        };
        Self(keys.map(of_key).collect())
    }

    fn place(&self, analysis: &Analysis<'_>, keys: &[Key], cell: CellId) -> Place {
        let of_key = |key: &Key| {
            let value = key.value(analysis, cell);
            let known = self.0.iter().find(|(known, _)| known == key);
            let position = known.and_then(|(_, all)| all.iter().position(|other| *other == value));
            (position.unwrap_or(usize::MAX), value)
        };
        keys.iter().map(of_key).collect()
    }
}
