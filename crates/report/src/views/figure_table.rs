//! Tables of figures: the numbers behind the cells stay with them, for programs and graphs.

use prony_model::Display;

use crate::analysis::Analysis;
use crate::document::{Block, Cell, NONE, Table};
use crate::page::Detail;
use crate::page::view::{over_blocks, with_n};
use crate::views::arrangement::{Grid, Header};
use crate::views::base::Base;
use crate::views::measure::{Figure, Measure, is_of_bases, unit};
use crate::words::{capitalised, listed, sentence};

/// A table of figures with its heading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FigureTable {
    /// The measures: "Queries per second", "Costs".
    pub(crate) title: String,
    /// The bases: "relative to mysql-5.0"; empty without.
    pub(crate) relative: String,
    /// The values that all cells share.
    pub(crate) shared: String,
    /// Heading of the first column.
    pub(crate) first: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<FigureRow>,
    /// The measures of a cell; each column of the arrangement has one for each.
    pub(crate) measures: Vec<Measure>,
    /// The number of blocks behind most figures, with what they make up: "mean of 3 blocks".
    pub(crate) over: String,
}

/// A row of a table of figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FigureRow {
    pub(crate) name: String,
    /// By column.
    pub(crate) figures: Vec<Option<Figure>>,
}

impl FigureTable {
    /// The figures of a grid. `None` if there are none.
    pub(crate) fn of(
        analysis: &Analysis<'_>,
        grid: &Grid,
        measures: &[Measure],
        base: &Base,
    ) -> Option<Self> {
        let figures = |row: usize| {
            let columns = (0..grid.columns.len()).flat_map(|column| {
                let cell = grid.at(row, column);
                let of_cell = move |measure: &Measure| measure.figure(analysis, cell?, base);
                measures.iter().map(of_cell)
            });
            columns.collect::<Vec<_>>()
        };
        let rows: Vec<FigureRow> = (0..grid.rows.len())
            .map(|row| FigureRow {
                name: grid.rows[row].name.clone(),
                figures: figures(row),
            })
            .collect();
        let mut table = Self {
            title: String::new(),
            relative: String::new(),
            shared: grid.shared.clone(),
            first: grid.first.clone(),
            columns: Vec::new(),
            rows,
            measures: measures.to_vec(),
            over: String::new(),
        };
        let n = table.figures().map(|figure| figure.n).max()?;
        table.columns = table.headings(grid);
        table.over = over_blocks(table.kind_of_mean(), n);
        table.title = table.title_of().to_owned();
        if is_of_bases(measures) {
            table.relative = relative(analysis, grid, base);
        }
        Some(table)
    }

    /// The headings of the columns: where a place has several measures, each has its own.
    fn headings(&self, grid: &Grid) -> Vec<String> {
        let alone = self.measures.len() == 1;
        let heading = |measure: &Measure, column: &str| match (column, *measure) {
            ("", measure) => self.measure_heading(measure),
            (column, _) if alone => column.to_owned(),
            (column, measure) => format!("{}, {column}", self.measure_heading(measure)),
        };
        let columns = grid.columns.iter();
        columns
            .flat_map(|column| {
                self.measures
                    .iter()
                    .map(|measure| heading(measure, &column.name))
            })
            .collect()
    }

    fn measure_heading(&self, measure: Measure) -> String {
        match (measure, self.unit()) {
            (Measure::Throughput, other) if other != unit(Display::Rate) => other.to_owned(),
            (Measure::Ratio, unit) if !unit.is_empty() => "ratio".to_owned(),
            (Measure::CostRatio(metric), _) if self.is_of_costs() => {
                metric.facts().heading.to_owned()
            }
            _ => measure.heading(),
        }
    }

    /// All figures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.rows
            .iter()
            .flat_map(|row| row.figures.iter().flatten())
    }

    /// Returns `true` if all figures are relative to a base.
    pub(crate) fn is_relative(&self) -> bool {
        self.measures.iter().all(|measure| measure.is_relative())
    }

    /// The unit of the figures, that of rates of queries if some have it, because a figure without
    /// unit is taken for these.
    pub(crate) fn unit(&self) -> &'static str {
        let rate = unit(Display::Rate);
        let mut units = self.figures().map(|figure| figure.unit);
        let units: Vec<&'static str> = units.by_ref().filter(|unit| !unit.is_empty()).collect();
        match units.first() {
            Some(_) if units.contains(&rate) => rate,
            first => first.copied().unwrap_or_default(),
        }
    }

    fn kind_of_mean(&self) -> &'static str {
        match self.measures.first() {
            Some(measure) if measure.is_relative() => "geometric mean",
            _ => "mean",
        }
    }

    fn title_of(&self) -> &'static str {
        match self.measures[..] {
            [Measure::Throughput | Measure::Operations] => match self.unit() {
                "transactions/s" => "Transactions per second",
                "ms/op" => "Milliseconds per operation",
                _ => "Queries per second",
            },
            [Measure::Throughput, ..] => "Throughput and its ratio",
            [Measure::Ratio, _, ..] => "Throughput and server CPU",
            [Measure::TimeRatio, ..] => "Time of an operation",
            [Measure::Cost(_) | Measure::CostRatio(_), ..] => "Costs",
            _ => "Throughput",
        }
    }

    /// Returns `true` if all figures are costs, or all are relative ones.
    fn is_of_costs(&self) -> bool {
        let mut measures = self.measures.iter();
        measures.all(|measure| matches!(measure, Measure::Cost(_) | Measure::CostRatio(_)))
    }

    /// The heading of people, without the base.
    pub(crate) fn heading(&self) -> String {
        match self.shared.as_str() {
            "" => self.title.clone(),
            shared => format!("{}: {shared}", self.title),
        }
    }

    /// The base and the blocks, as a sentence begins.
    fn remark(&self) -> String {
        match self.relative.as_str() {
            "" => self.over.clone(),
            relative => format!("{relative}, {}", self.over),
        }
    }

    /// The whole heading, for programs.
    pub(crate) fn full_heading(&self) -> String {
        format!("{}; {}", self.heading(), self.remark())
    }

    /// The heading, a sentence on base and blocks, and the table, for people. Spread and
    /// intervals of costs are in the full document.
    pub(crate) fn blocks(&self, detail: Detail) -> [Block; 3] {
        let common = self.unit();
        let n_max = self.figures().map(|figure| figure.n).max().unwrap_or(0);
        let cell = |figure: &Option<Figure>| -> Cell {
            let shown = figure.as_ref().map(|figure| {
                let has_unit = matches!(self.measures[..], [Measure::Throughput, ..])
                    && !figure.unit.is_empty()
                    && figure.unit != common;
                let text = match detail {
                    _ if has_unit => format!("{} {}", figure.text, figure.unit),
                    // Many columns, which a terminal has no room for.
                    Detail::Brief if self.is_of_costs() => figure.plain.clone(),
                    _ => figure.text.clone(),
                };
                let text = with_n(text, figure.n, n_max);
                Cell::figure(text, figure.value).marked(figure.is_doubtful)
            });
            shown.into()
        };
        let rows = self.rows.iter().map(|row| {
            let name = std::iter::once(Cell::from(row.name.clone()));
            name.chain(row.figures.iter().map(cell)).collect()
        });
        let columns = self.columns.iter().cloned();
        let header = std::iter::once(self.first.clone()).chain(columns);
        let table = Table::of_figures(header, rows);
        let remark = Block::Paragraph(sentence(&capitalised(&self.remark())));
        [Block::Heading(self.heading()), remark, Block::Table(table)]
    }

    /// For each column of the arrangement a sentence that lists the figures of all rows, measure after
    /// measure, in their order.
    pub(crate) fn in_sentences(&self, grid: &Grid) -> Vec<String> {
        let sentence = |(place, column): (usize, &Header)| {
            let lists = self.measures.iter().enumerate().map(|(index, &measure)| {
                let figures = self.rows.iter().map(|row| {
                    let figure = row.figures[place * self.measures.len() + index].as_ref();
                    figure.map_or(NONE, |figure| figure.plain.as_str())
                });
                let figures: Vec<&str> = figures.collect();
                format!("{} {}", self.measure_heading(measure), figures.join(", "))
            });
            let lists: Vec<String> = lists.collect();
            format!("{}: {}", column.name, lists.join("; "))
        };
        grid.columns.iter().enumerate().map(sentence).collect()
    }
}

/// The bases of the targets of a grid.
fn relative(analysis: &Analysis<'_>, grid: &Grid, base: &Base) -> String {
    if base.is_previous() {
        return "relative to the target before".to_owned();
    }
    let mut names: Vec<String> = Vec::new();
    for base in grid.cells().filter_map(|cell| base.of(cell.target)) {
        let name = &analysis.plan.targets[base].name;
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    format!("relative to {}", listed(&names))
}
