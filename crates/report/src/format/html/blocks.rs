//! Blocks of a document as HTML.

use maud::{Markup, PreEscaped, html};

use super::chart;
use crate::document::{Align, Block, Cell, MARK, Table};
use crate::figures::rounded;

/// Digits after the point of values beside their text, as in JSON.
const DECIMALS: i32 = 6;

/// Writes blocks under a heading of the second level. `label` names tables for those who do not see
/// them, unless a subheading does.
pub(super) fn all(blocks: &[Block], label: &str, base: usize) -> Markup {
    let mut label = label;
    let mut parts = Vec::with_capacity(blocks.len());
    let is_chart = |block: &Block| matches!(block, Block::Chart(_));
    // Graphs that follow each other stand side by side.
    for run in blocks.chunk_by(|one, next| is_chart(one) && is_chart(next)) {
        let Some(block) = run.first() else { continue };
        if let Block::Subheading(text) | Block::Heading(text) | Block::Section(text) = block {
            label = text;
        }
        parts.push(if is_chart(block) {
            html! { div.charts { @for block in run { (one(block, label, base)) } } }
        } else {
            one(block, label, base)
        });
    }
    html! { @for part in &parts { (part) } }
}

fn one(block: &Block, label: &str, base: usize) -> Markup {
    match block {
        Block::Title(text)
        | Block::Section(text)
        | Block::Heading(text)
        | Block::Subheading(text) => {
            html! { h3 { (text) } }
        }
        Block::Paragraph(text) => html! { p { (text) } },
        Block::Facts(facts) => html! {
            dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
        },
        Block::Table(of_block) => table(of_block, label),
        Block::Chart(of_block) => chart::draw(of_block, base),
        Block::Picture(svg) => html! {
            div.scroll tabindex="0" role="group" aria-label={ (label) ", as a picture" } {
                (PreEscaped(svg))
            }
        },
        Block::List(items) => html! { ul { @for item in items { li { (item) } } } },
        Block::Verbatim(lines) => html! {
            div.scroll tabindex="0" role="group" aria-label={ (label) ", as text" } {
                pre { (lines.join("\n")) }
            }
        },
    }
}

fn table(table: &Table, label: &str) -> Markup {
    let right = table.align == Align::Right;
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table.right[right] {
                thead { tr {
                    @for cell in &table.header {
                        @if cell.to_string().is_empty() { td {} }
                        @else { th scope="col" { (self::cell(cell)) } }
                    }
                } }
                tbody { @for row in &table.rows { tr {
                    @for (column, cell) in row.iter().enumerate() {
                        @if column == 0 { th scope="row" { (self::cell(cell)) } }
                        @else { td { (self::cell(cell)) } }
                    }
                } } }
            }
        }
    }
}

/// A cell with the figure behind its text.
pub(super) fn cell(cell: &Cell) -> Markup {
    let text = cell.to_string();
    let text = text
        .strip_prefix(MARK)
        .filter(|_| cell.mark)
        .unwrap_or(&text);
    html! {
        @if cell.mark { (mark()) }
        @match cell.value {
            Some(value) => { (figure(text, value, "")) }
            None => { bdi { (text) } }
        }
    }
}

/// The sign of a warning.
pub(super) fn mark() -> Markup {
    html! { span.mark title="a warning concerns it" { "!" span.vh { " warning: " } } }
}

/// A figure as people read it, with its value. `key` names it for programs; may be empty.
pub(super) fn figure(text: &str, value: f64, key: &str) -> Markup {
    let value = rounded(value, DECIMALS);
    let key = (!key.is_empty()).then_some(key);
    html! { data value=(value) data-k=[key] { (text) } }
}
