//! Blocks as plain text for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

use crate::document::{Align, Block, Table};

/// Columns that a report may use.
const WIDTH: usize = 100;

/// Spaces to the left and right of what is in a column, where there is room, and where there is not.
const LOOSE: (u16, u16) = (1, 1);
const TIGHT: (u16, u16) = (1, 0);

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
        Block::Table(table) => parts(table)
            .iter()
            .enumerate()
            .flat_map(|(index, part)| {
                let gap = (index > 0).then(String::new);
                gap.into_iter().chain(drawn(part))
            })
            .collect(),
        Block::List(items) => items
            .iter()
            .flat_map(|item| wrapped(item, "  - ", "    "))
            .collect(),
        Block::Verbatim(lines) => lines.iter().map(|line| format!("{INDENT}{line}")).collect(),
    }
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

/// Divides a table that is too wide into parts that are not, as far as that can be.
fn parts(table: &Table) -> Vec<Table> {
    if fits(table) {
        return vec![table.clone()];
    }
    let columns = table.header.len();
    let alone = |repeated: usize, column| -> Vec<usize> { (0..repeated).chain([column]).collect() };
    let all_fit = (table.repeated..columns)
        .all(|column| fits(&with_columns(table, &alone(table.repeated, column))));
    // Names can be too long for a second repeated column.
    let repeated = if all_fit { table.repeated } else { 1 };
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for column in repeated..columns {
        if let Some(part) = parts.last_mut() {
            part.push(column);
            if fits(&with_columns(table, part)) {
                continue;
            }
            part.pop();
        }
        parts.push(alone(repeated, column));
    }
    if parts.is_empty() {
        return vec![table.clone()];
    }
    parts.iter().map(|part| with_columns(table, part)).collect()
}

fn with_columns(table: &Table, columns: &[usize]) -> Table {
    let pick = |row: &Vec<String>| columns.iter().map(|&column| row[column].clone()).collect();
    Table {
        header: pick(&table.header),
        rows: table.rows.iter().map(pick).collect(),
        ..*table
    }
}

fn fits(table: &Table) -> bool {
    are_narrow(&drawn_with(table, TIGHT))
}

fn are_narrow(lines: &[String]) -> bool {
    lines
        .iter()
        .all(|line| line.trim_end().chars().count() <= WIDTH)
}

/// Columns stand apart as far as there is room for it.
fn drawn(table: &Table) -> Vec<String> {
    let lines = drawn_with(table, LOOSE);
    if are_narrow(&lines) {
        lines
    } else {
        drawn_with(table, TIGHT)
    }
}

fn drawn_with(table: &Table, padding: (u16, u16)) -> Vec<String> {
    let rule = LineStyle::none().fill('─').junction('─');
    let mut drawing = comfy_table::Table::new();
    drawing
        .load_style(TableStyle::new().header_separator(rule))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(table.header.clone())
        .add_rows(table.rows.clone());
    for (index, column) in drawing.column_iter_mut().enumerate() {
        column.set_padding(padding);
        if index > 0 && table.align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawing.lines().collect()
}
