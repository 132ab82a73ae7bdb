//! The section about variables that differ.

use prony_equality::{Difference, DifferenceKind};

use crate::analysis::settings::Settings;
use crate::document::{Block, Cell, Table};
use crate::page::Detail;
use crate::page::settings::{COLUMNS_MAX, by_value, shown};
use crate::words::plural;

/// The variables that differ for another reason than that they were asked to.
pub(super) fn blocks(all: &Settings, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Variables that differ".into())];
    let (known, others): (Vec<&Difference>, Vec<&Difference>) = all
        .differences
        .iter()
        .partition(|difference| difference.matters.is_some());
    let (missing, known): (Vec<&Difference>, Vec<&Difference>) =
        known.into_iter().partition(|d| only_in_some(d));
    if known.is_empty() {
        blocks.push(Block::Paragraph(
            "None of those known to matter for speed has different values.".into(),
        ));
    } else {
        blocks.push(Block::Paragraph("Known to matter for speed:".into()));
        blocks.push(values(all, &known));
        blocks.push(Block::List(known.iter().map(|d| reason(d)).collect()));
    }
    if !missing.is_empty() {
        blocks.push(Block::Paragraph(format!(
            "Known to matter, equal where they exist, and missing in some servers: {}.",
            names(&missing)
        )));
    }
    blocks.extend(less_known(all, &others, detail));
    blocks
}

/// Variables that are not known to matter: those that a setting caused always, the rest by numbers.
fn less_known(all: &Settings, others: &[&Difference], detail: Detail) -> Vec<Block> {
    let mut blocks = Vec::new();
    let of = |kind: DifferenceKind| -> Vec<&Difference> {
        others.iter().filter(|d| d.kind == kind).copied().collect()
    };
    let raw = of(DifferenceKind::RawOption);
    let adjusted = of(DifferenceKind::Adjusted);
    let changed = of(DifferenceKind::DefaultChanged);
    let missing = of(DifferenceKind::OnlyInSome);
    for (what, listed) in [
        ("Set by raw options, not known to matter:", &raw),
        ("Adjusted by a server, not known to matter:", &adjusted),
    ] {
        if !listed.is_empty() {
            blocks.push(Block::Paragraph(what.into()));
            blocks.push(values(all, listed));
        }
    }
    if detail == Detail::Full {
        if !changed.is_empty() {
            blocks.push(Block::Paragraph(
                "Other defaults, not known to matter:".into(),
            ));
            blocks.push(values(all, &changed));
        }
        if !missing.is_empty() {
            blocks.push(Block::Paragraph(format!(
                "In some servers only, not known to matter: {}.",
                names(&missing)
            )));
        }
    } else if !changed.is_empty() || !missing.is_empty() {
        blocks.push(Block::Paragraph(format!(
            "Not known to matter: {} with another default, {} in some servers only; JSON and \
             Markdown list them.",
            plural(changed.len() as u64, "variable"),
            missing.len()
        )));
    }
    blocks
}

fn only_in_some(difference: &Difference) -> bool {
    difference.kind == DifferenceKind::OnlyInSome
}

fn names(differences: &[&Difference]) -> String {
    let names: Vec<&str> = differences.iter().map(|d| d.variable.as_str()).collect();
    names.join(", ")
}

/// Values by target: as a table, or as a list where there are too many targets.
fn values(all: &Settings, differences: &[&Difference]) -> Block {
    if all.names.len() > COLUMNS_MAX {
        let item = |difference: &&Difference| {
            let values: Vec<(String, Vec<usize>)> = difference
                .by_value()
                .into_iter()
                .map(|(value, targets)| (shown(value), targets))
                .collect();
            format!("{}: {}", difference.variable, by_value(all, values))
        };
        return Block::List(differences.iter().map(item).collect());
    }
    let row = |difference: &&Difference| {
        let values = difference.values.iter();
        let values = values.map(|value| Cell::from(shown(value.as_deref())));
        let name = Cell::from(difference.variable.clone());
        std::iter::once(name).chain(values).collect()
    };
    let header = std::iter::once("variable".to_owned()).chain(all.names.iter().cloned());
    Block::Table(Table::of_words(header, differences.iter().map(row)))
}

/// The reason why a variable matters, and the origin of the difference.
fn reason(difference: &Difference) -> String {
    let standing = match difference {
        difference if difference.allowed => ", allowed",
        difference if difference.stops() => ", stops a run",
        difference if difference.shipped => ", as shipped",
        _ => "",
    };
    let absent = match &difference.absent {
        Some(absent) if difference.is_missing_somewhere() => {
            format!("; where it is missing, as {}", shown(Some(absent)))
        }
        _ => String::new(),
    };
    format!(
        "{} ({}{standing}): {}{absent}",
        difference.variable,
        difference.kind.meaning(),
        difference.matters.as_deref().unwrap_or_default()
    )
}
