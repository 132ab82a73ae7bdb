//! Blocks as Markdown, in the dialect of GitHub for its tables.

use crate::document::{Align, Block, Cell, Table};

/// Writes all blocks, with an empty line between them.
pub(crate) fn write(blocks: &[Block]) -> String {
    let texts: Vec<String> = blocks.iter().map(text).collect();
    texts.join("\n")
}

fn text(block: &Block) -> String {
    match block {
        Block::Title(title) => format!("# {}\n", escaped(title)),
        Block::Section(heading) | Block::Heading(heading) => format!("## {}\n", escaped(heading)),
        Block::Subheading(heading) => format!("### {}\n", escaped(heading)),
        Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::Facts(facts) => bullets(
            facts
                .iter()
                .map(|(name, value)| format!("**{name}:** {}", escaped(value))),
        ),
        Block::Table(table) => drawn(table),
        Block::Chart(_) | Block::Picture(_) => String::new(),
        Block::List(items) => bullets(items.iter().map(|item| escaped(item))),
        Block::Verbatim(lines) => {
            // Longer than any fence that a log may contain.
            let fence = "`````";
            format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
        }
    }
}

fn bullets(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    format!("- {}\n", items.join("\n- "))
}

/// Text that is neither markup nor the end of a table's cell.
fn escaped(text: &str) -> String {
    text.replace('\n', " ")
        .replace('<', "&lt;")
        .replace('|', "\\|")
}

fn drawn(table: &Table) -> String {
    let escape = |row: &Vec<Cell>| -> Vec<String> {
        row.iter().map(|cell| escaped(&cell.to_string())).collect()
    };
    let header = escape(&table.header);
    let rows: Vec<Vec<String>> = table.rows.iter().map(escape).collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            std::iter::once(&header)
                .chain(&rows)
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
                .max(3)
        })
        .collect();
    let right = |column: usize| column > 0 && table.align == Align::Right;
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| {
                if right(column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, &width)| {
            if right(column) {
                format!("{}:", "-".repeat(width - 1))
            } else {
                "-".repeat(width)
            }
        })
        .collect();
    line(&header) + &line(&rule) + &rows.iter().map(line).collect::<String>()
}
