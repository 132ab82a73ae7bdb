//! Blocks as plain text for a terminal.

use crate::document::{Align, Block, Cell, Table};

/// Columns that a report may use.
const WIDTH: usize = 100;

/// The padding of columns where there is room, and where there is not.
const LOOSE: Padding = (1, 1);
const TIGHT: Padding = (1, 0);

/// Spaces before lists, facts and verbatim lines.
const INDENT: &str = "  ";

/// Writes all blocks, with an empty line between them.
pub(crate) fn write(blocks: &[Block]) -> String {
    let mut text = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let follows_heading = index > 0
            && matches!(
                blocks[index - 1],
                Block::Heading(_) | Block::Subheading(_) | Block::Title(_)
            );
        if index > 0 && !follows_heading {
            text.push('\n');
        }
        for line in lines(block) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn lines(block: &Block) -> Vec<String> {
    match block {
        Block::Title(title) => vec![title.clone(), "═".repeat(title.chars().count())],
        Block::Section(title) => vec![title.clone(), "─".repeat(title.chars().count())],
        Block::Heading(heading) | Block::Subheading(heading) => vec![heading.clone()],
        Block::Paragraph(text) => wrapped(text, "", ""),
        Block::Facts(facts) => facts.iter().flat_map(fact).collect(),
        Block::Table(table) => drawn(table),
        Block::Chart(_) => Vec::new(),
        Block::List(items) => items
            .iter()
            .flat_map(|item| wrapped(item, "  - ", "    "))
            .collect(),
        Block::Verbatim(lines) => lines.iter().map(|line| format!("{INDENT}{line}")).collect(),
    }
}

/// The lines of a table, in parts with an empty line between them where it is too wide.
fn drawn(table: &Table) -> Vec<String> {
    let sized = SizedTable::of(table);
    let parts = sized.parts();
    let lines: Vec<Vec<String>> = parts.iter().map(|part| sized.lines(part)).collect();
    lines.join(&String::new())
}

fn fact((name, value): &(&'static str, String)) -> Vec<String> {
    let first = format!("{name:<10}");
    wrapped(value, &first, &" ".repeat(10))
}

/// Breaks prose at spaces, with `first` before the first line and `rest` before the others.
fn wrapped(text: &str, first: &str, rest: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut line_is_empty = true;
    for word in text.split_whitespace() {
        let needed = word.chars().count() + usize::from(!line_is_empty);
        let used = lines.last().map_or(0, |line| line.chars().count());
        if !line_is_empty && used + needed > WIDTH {
            lines.push(rest.to_owned());
            line_is_empty = true;
        }
        if let Some(line) = lines.last_mut() {
            if !line_is_empty {
                line.push(' ');
            }
            line.push_str(word);
        }
        line_is_empty = false;
    }
    lines
}

/// A table with the width of every column.
struct SizedTable<'a> {
    table: &'a Table,
    /// The header, then the rows, as they are written.
    texts: Vec<Vec<String>>,
    widths: Vec<usize>,
}

/// Spaces to the left and right of a column's texts.
type Padding = (usize, usize);

impl<'a> SizedTable<'a> {
    fn of(table: &'a Table) -> Self {
        let rows = std::iter::once(&table.header).chain(&table.rows);
        let text = |cell: &Cell| cell.to_string().replace(['\n', '\t'], " ");
        let texts: Vec<Vec<String>> = rows.map(|row| row.iter().map(text).collect()).collect();
        let width = |column: usize| texts.iter().map(|row| row[column].chars().count()).max();
        let columns = 0..table.header.len();
        Self {
            widths: columns.map(|column| width(column).unwrap_or(0)).collect(),
            table,
            texts,
        }
    }

    /// The parts into which it is divided, as columns, so that each part fits where possible.
    fn parts(&self) -> Vec<Vec<usize>> {
        let columns = self.widths.len();
        let all: Vec<usize> = (0..columns).collect();
        if self.fits(&all, TIGHT) {
            return vec![all];
        }
        let alone =
            |repeated: usize, column| -> Vec<usize> { (0..repeated).chain([column]).collect() };
        let mut others = self.table.repeated..columns;
        let all_fit = others.all(|column| self.fits(&alone(self.table.repeated, column), TIGHT));
        // Names can be too long for a second repeated column.
        let repeated = if all_fit { self.table.repeated } else { 1 };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for column in repeated..columns {
            if let Some(part) = parts.last_mut() {
                part.push(column);
                if self.fits(part, TIGHT) {
                    continue;
                }
                part.pop();
            }
            parts.push(alone(repeated, column));
        }
        if parts.is_empty() { vec![all] } else { parts }
    }

    fn width(&self, columns: &[usize], (left, right): Padding) -> usize {
        let widths = columns.iter().map(|&column| self.widths[column]);
        let padded: usize = widths.map(|width| left + width + right).sum();
        padded + columns.len().saturating_sub(1)
    }

    fn fits(&self, columns: &[usize], padding: Padding) -> bool {
        self.width(columns, padding) <= WIDTH
    }

    /// The lines of one part. Columns stand apart where there is room for it.
    fn lines(&self, columns: &[usize]) -> Vec<String> {
        let is_loose = self.fits(columns, LOOSE);
        let padding = if is_loose { LOOSE } else { TIGHT };
        let mut lines = self
            .texts
            .iter()
            .map(|row| self.line(row, columns, padding));
        let header = lines.next();
        let rule = "─".repeat(self.width(columns, padding));
        header.into_iter().chain([rule]).chain(lines).collect()
    }

    fn line(&self, row: &[String], columns: &[usize], (left, right): Padding) -> String {
        let cells = columns.iter().map(|&column| {
            let (text, width) = (&row[column], self.widths[column]);
            if column > 0 && self.table.align == Align::Right {
                format!("{:left$}{text:>width$}{:right$}", "", "")
            } else {
                format!("{:left$}{text:<width$}{:right$}", "", "")
            }
        });
        cells.collect::<Vec<_>>().join(" ")
    }
}
