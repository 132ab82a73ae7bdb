//! Blocks as plain text for a terminal.

use crate::document::{Align, Block, Cell, MARK, Table};

/// Greatest width of prose: longer lines are hard to read.
const PROSE_MAX: usize = 100;

/// Least width: below it, tables can't be divided into readable parts.
const WIDTH_MIN: usize = 40;

/// The padding of columns where there is room, and where there is not.
const LOOSE: Padding = (1, 1);
const TIGHT: Padding = (1, 0);

/// Spaces before lists, facts and verbatim lines.
const INDENT: &str = "  ";

/// Begins bold text, a sign of something worse, a sign of something better, and ends each.
const BOLD: &str = "\x1b[1m";
const WORSE: &str = "\x1b[33m";
const BETTER: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// The place that text is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of tables; prose has 100 at most, and at least 40 are used.
    pub width: usize,
    /// Headings, and the signs that words or shapes tell too, are emphasised by escape sequences.
    pub colour: bool,
}

impl Default for Screen {
    /// A file, or a pipe: 100 columns without colour.
    fn default() -> Self {
        Self {
            width: 100,
            colour: false,
        }
    }
}

/// Writes all blocks for a file, with an empty line between them.
pub(crate) fn write(blocks: &[Block]) -> String {
    write_for(blocks, Screen::default())
}

/// Writes all blocks, with an empty line between them.
pub(crate) fn write_for(blocks: &[Block], screen: Screen) -> String {
    let width = screen.width.max(WIDTH_MIN);
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
        for line in lines(block, width) {
            let line = line.trim_end();
            if screen.colour {
                text.push_str(&painted(block, line));
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
    }
    text
}

/// A line with the emphasis of its block.
fn painted(block: &Block, line: &str) -> String {
    match block {
        Block::Title(_) | Block::Section(_) | Block::Heading(_) | Block::Subheading(_) => {
            format!("{BOLD}{line}{PLAIN}")
        }
        Block::Table(_) => line
            .replace('▼', &format!("{WORSE}▼{PLAIN}"))
            .replace('▲', &format!("{BETTER}▲{PLAIN}"))
            .replace(MARK, &format!("{BOLD}{MARK}{PLAIN}")),
        _ => line.to_owned(),
    }
}

fn lines(block: &Block, width: usize) -> Vec<String> {
    let prose = width.min(PROSE_MAX);
    match block {
        Block::Title(title) => vec![title.clone(), "═".repeat(title.chars().count())],
        Block::Section(title) => vec![title.clone(), "─".repeat(title.chars().count())],
        Block::Heading(heading) | Block::Subheading(heading) => vec![heading.clone()],
        Block::Paragraph(text) => wrapped(text, ["", ""], prose),
        Block::Facts(facts) => facts.iter().flat_map(|one| fact(one, prose)).collect(),
        Block::Table(table) => drawn(table, width),
        Block::Chart(_) | Block::Picture(_) => Vec::new(),
        Block::List(items) => items
            .iter()
            .flat_map(|item| wrapped(item, ["  - ", "    "], prose))
            .collect(),
        Block::Verbatim(lines) => lines.iter().map(|line| format!("{INDENT}{line}")).collect(),
    }
}

/// The lines of a table, in parts with an empty line between them where it is too wide.
fn drawn(table: &Table, width: usize) -> Vec<String> {
    let sized = SizedTable::of(table, width);
    let parts = sized.parts();
    let lines: Vec<Vec<String>> = parts.iter().map(|part| sized.lines(part)).collect();
    lines.join(&String::new())
}

fn fact((name, value): &(&'static str, String), width: usize) -> Vec<String> {
    let first = format!("{name:<10}");
    wrapped(value, [&first, &" ".repeat(10)], width)
}

/// Breaks prose at spaces, with `first` before the first line and `rest` before the others.
fn wrapped(text: &str, [first, rest]: [&str; 2], width: usize) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut line_is_empty = true;
    for word in text.split_whitespace() {
        let needed = word.chars().count() + usize::from(!line_is_empty);
        let used = lines.last().map_or(0, |line| line.chars().count());
        if !line_is_empty && used + needed > width {
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
    /// Columns of the screen.
    screen: usize,
}

/// Spaces to the left and right of a column's texts.
type Padding = (usize, usize);

impl<'a> SizedTable<'a> {
    fn of(table: &'a Table, screen: usize) -> Self {
        let rows = std::iter::once(&table.header).chain(&table.rows);
        let text = |cell: &Cell| cell.to_string().replace(['\n', '\t'], " ");
        let texts: Vec<Vec<String>> = rows.map(|row| row.iter().map(text).collect()).collect();
        let width = |column: usize| texts.iter().map(|row| row[column].chars().count()).max();
        let columns = 0..table.header.len();
        Self {
            widths: columns.map(|column| width(column).unwrap_or(0)).collect(),
            table,
            texts,
            screen,
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
        self.width(columns, padding) <= self.screen
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

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Vec<Block> {
        let row = |name: &str| {
            let cells = (0..6).map(|_| Cell::from("0.497 [0.488, 0.506] ▼").marked(true));
            std::iter::once(Cell::from(name)).chain(cells).collect()
        };
        let header = ["step", "a", "b", "c", "d", "e", "f"];
        vec![
            Block::Title("quickstart".into()),
            Block::Paragraph("word ".repeat(100)),
            Block::Table(Table::of_figures(header, [row("insert"), row("delete")])),
        ]
    }

    fn widest(width: usize) -> usize {
        let screen = Screen {
            width,
            colour: false,
        };
        let text = write_for(&blocks(), screen);
        text.lines().map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn tables_take_the_width_of_the_screen() {
        assert_eq!(write(&blocks()), write_for(&blocks(), Screen::default()));
        for width in [60, 80, 100, 120] {
            assert!(widest(width) <= width, "{width}");
        }
        // All columns side by side, and none wider than needed.
        assert!(widest(500) > 160 && widest(500) == widest(200));
        assert_eq!(widest(0), widest(40));
    }

    #[test]
    fn colour_changes_no_character() {
        let screen = Screen {
            width: 100,
            colour: true,
        };
        let mut coloured = write_for(&blocks(), screen);
        assert!(coloured.contains(WORSE) && coloured.contains(BOLD));
        for sequence in [BOLD, WORSE, BETTER, PLAIN] {
            coloured = coloured.replace(sequence, "");
        }
        assert_eq!(coloured, write(&blocks()));
    }
}
