//! A comparison as a page.

use prony_model::{Better, Metric};

use crate::compare::Comparison;
use crate::compare::grid::{Figure, Grid, Labels, Mean, Ratio, Row, Sign};
use crate::compare::key::Key;
use crate::compare::ladder::is_speed;
use crate::compare::projection::Projection;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::words::plural;

/// The footnotes of a page: each text once.
#[derive(Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    fn mark(&mut self, note: &str) -> String {
        let known = self.0.iter().position(|other| other == note);
        let index = known.unwrap_or_else(|| {
            self.0.push(note.to_owned());
            self.0.len() - 1
        });
        format!("[{}]", index + 1)
    }
}

/// The whole page.
pub(super) fn document(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = vec![Block::Title(title(comparison.metric))];
    let runs = comparison.runs.iter().enumerate();
    let line = |(index, (label, about)): (usize, &(String, String))| {
        let label = match letter(comparison, index) {
            Some(letter) => format!("{letter} = {label}"),
            None => label.clone(),
        };
        format!("{label}: {about}")
    };
    blocks.push(Block::List(runs.map(line).collect()));
    if !comparison.notes.is_empty() {
        blocks.push(Block::List(comparison.notes.clone()));
    }
    let mut footnotes = Footnotes::default();
    for grid in &comparison.grids {
        let label = label(&grid.labels);
        if !label.is_empty() {
            blocks.push(Block::Heading(label));
        }
        blocks.push(Block::Table(table(comparison, grid, &mut footnotes)));
    }
    if comparison.grids.is_empty() {
        blocks.push(Block::Paragraph(
            "No cell with figures passes the filter.".into(),
        ));
        return blocks;
    }
    if !footnotes.0.is_empty() {
        let notes = footnotes.0.iter().enumerate();
        let notes = notes.map(|(index, note)| format!("[{}] {note}", index + 1));
        blocks.push(Block::Heading("Notes".into()));
        blocks.push(Block::List(notes.collect()));
    }
    blocks.push(Block::Heading("How to read this".into()));
    blocks.push(Block::List(legend(comparison)));
    blocks
}

/// The letter that stands for a run in the heads of columns, where names of runs would make these wide.
fn letter(comparison: &Comparison, run: usize) -> Option<char> {
    let mut keys = comparison.layout.column.keys.iter();
    let are_shown = keys.any(|(key, _)| *key == Key::Named("run"));
    let mut labels = comparison
        .runs
        .iter()
        .map(|(label, _)| label.chars().count());
    let are_wide = labels.any(|width| width > RUN_WIDTH_MAX);
    let letter = u8::try_from(run)
        .ok()
        .and_then(|run| b'A'.checked_add(run))?;
    (are_shown && are_wide && comparison.runs.len() > 1 && letter.is_ascii_uppercase())
        .then_some(char::from(letter))
}

/// The head of a column.
fn column_head(comparison: &Comparison, labels: &Labels) -> String {
    let keys = comparison.layout.column.keys.iter();
    let parts = keys.zip(labels).map(|((key, _), label)| {
        let mut runs = comparison.runs.iter();
        let run = runs.position(|(name, _)| name == label);
        let run = run.filter(|_| *key == Key::Named("run"));
        match run.and_then(|run| letter(comparison, run)) {
            Some(letter) => letter.to_string(),
            None => label.clone(),
        }
    });
    label(&parts.collect())
}

fn title(metric: Metric) -> String {
    let facts = metric.facts();
    let better = match facts.better {
        Better::Higher => ", more is better",
        Better::Lower => ", less is better",
        Better::Neither => "",
    };
    match metric {
        Metric::Operations => format!("Comparison of throughput, operations per second{better}"),
        _ => format!("Comparison of {}, {}{better}", facts.name, facts.unit),
    }
}

fn legend(comparison: &Comparison) -> Vec<String> {
    let metric = comparison.metric;
    let (above, better, worse) = match metric.facts().better {
        _ if is_speed(metric) => (" is faster", "faster", "slower"),
        Better::Higher => (" is better", "better", "worse"),
        Better::Lower => (" is worse", "better", "worse"),
        Better::Neither => (" is more", "better", "worse"),
    };
    let ratios = format!(
        "Other figures are ratios to it with their 95 % interval: above 1{above}. ▲ {better} and ▼ \
         {worse} (adjusted for the number of comparisons), = equivalent within the step's margin, ~ \
         no difference shown, no sign: too few blocks for a test."
    );
    let mut legend: Vec<String> = LEGEND.map(str::to_owned).into();
    legend.insert(1, ratios);
    if comparison.values {
        legend[0].push_str(" In the other columns the mean stands before the ratio.");
    }
    if !is_speed(metric) {
        legend[3] = legend[3].replacen("A rate", "A figure", 1);
    }
    legend
}

/// Characters of the name of a run that may stand in the head of each of its columns.
const RUN_WIDTH_MAX: usize = 12;

const LEGEND: [&str; 4] = [
    "The first column of figures is the reference: mean over the blocks, with half of their range.",
    "Ratios within a run are paired within its blocks. Between runs, each figure is divided by a \
     build that both runs measured, and the variances are added.",
    "A rate in place of a ratio is not comparable with the reference; its note says why.",
    "`!` a condition makes the figure doubtful; its note says which. `-` not measured.",
];

fn label(labels: &Labels) -> String {
    let parts: Vec<&str> = labels
        .iter()
        .map(String::as_str)
        .filter(|l| !l.is_empty())
        .collect();
    parts.join(" ")
}

fn table(comparison: &Comparison, grid: &Grid, footnotes: &mut Footnotes) -> Table {
    let keys = shown_keys(&comparison.layout.row, grid);
    let names = keys
        .iter()
        .map(|&key| comparison.layout.row.keys[key].0.to_string());
    let mut header: Vec<Cell> = names.map(Cell::from).collect();
    let columns = grid.columns.iter();
    header.extend(columns.map(|labels| Cell::from(column_head(comparison, labels))));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in &grid.rows {
        let mut cells: Vec<Cell> = keys.iter().map(|&k| row.labels[k].clone().into()).collect();
        if let Some(note) = other_work(grid, row) {
            cells[0] = format!("{} {}", row.labels[keys[0]], footnotes.mark(&note)).into();
        }
        let figures = row.figures.iter();
        cells.extend(figures.map(|figure| match figure {
            Some(figure) => cell(figure, comparison.values, footnotes),
            None => Cell::none(),
        }));
        rows.push(cells);
    }
    if grid.means.iter().any(Option::is_some) {
        let mut cells = vec![Cell::from("geometric mean")];
        cells.resize(keys.len().max(1), Cell::from(""));
        cells.extend(grid.means.iter().map(|mean| match mean {
            Some(mean) => mean_cell(mean, footnotes),
            None => Cell::from(""),
        }));
        rows.push(cells);
    }
    let repeated = keys.len().max(1);
    Table {
        repeated,
        ..Table::of_figures(header, rows)
    }
}

/// What is to be said of a row beside which another has the same name and does other work.
fn other_work(grid: &Grid, row: &Row) -> Option<String> {
    let mut namesakes = grid.rows.iter().filter(|other| other.labels == row.labels);
    let is_alone = namesakes.nth(1).is_none();
    let work = row.work.as_ref().filter(|_| !is_alone)?;
    Some(format!(
        "the work of {}, with {}; the row of the same name does other work (dataset, statements, \
         parameters, pace or the time that counts)",
        work.run, work.dataset
    ))
}

/// Positions of the row keys that have a value anywhere; the first always.
fn shown_keys(row: &Projection, grid: &Grid) -> Vec<usize> {
    let has = |&key: &usize| key == 0 || grid.rows.iter().any(|row| !row.labels[key].is_empty());
    (0..row.keys.len()).filter(has).collect()
}

fn cell(figure: &Figure, values: bool, footnotes: &mut Footnotes) -> Cell {
    let rate = || {
        figure
            .summary
            .as_ref()
            .map_or("…".to_owned(), figures::mean)
    };
    let (text, value) = match &figure.ratio {
        Ratio::Of(relation) => {
            let ratio = figures::with_interval(relation.ratio, relation.interval);
            let ratio = signed(figure.sign, &ratio);
            let text = match (&figure.summary, values) {
                (Some(_), true) => format!("{}, {ratio}", rate()),
                _ => ratio,
            };
            (text, Some(relation.ratio))
        }
        _ => (rate(), figure.summary.map(|summary| summary.mean)),
    };
    let marks: Vec<String> = figure
        .notes
        .iter()
        .map(|note| footnotes.mark(note))
        .collect();
    let text = format!("{text} {}", marks.join(""));
    let text = text.trim_end().to_owned();
    let cell = match value {
        Some(value) => Cell::figure(text, value),
        None => text.into(),
    };
    cell.marked(figure.is_doubtful)
}

fn signed(sign: Sign, ratio: &str) -> String {
    match sign {
        Sign::Better => format!("{ratio} ▲"),
        Sign::Worse => format!("{ratio} ▼"),
        Sign::Equivalent => format!("{ratio} ="),
        Sign::NotShown => format!("{ratio} ~"),
        Sign::Untested => ratio.to_owned(),
    }
}

fn mean_cell(mean: &Mean, footnotes: &mut Footnotes) -> Cell {
    let ratio = figures::with_interval(mean.ratio, mean.interval);
    if mean.rows == mean.of {
        return Cell::figure(ratio, mean.ratio);
    }
    let note = format!(
        "over {} of {}: not comparable with means of other rows",
        mean.rows,
        plural(mean.of as u64, "row")
    );
    Cell::figure(format!("{ratio} {}", footnotes.mark(&note)), mean.ratio)
}
