//! The section about variables that differ.

use prony_equality::{Difference, DifferenceKind};

use super::{COLUMNS_MAX, Detail, Effective, shown};
use crate::document::{Align, Block, Table};
use crate::figures::plural;

/// The variables that differ for another reason than that they were asked to.
pub(super) fn blocks(effective: &Effective, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Variables that differ".into())];
    let (known, others): (Vec<&Difference>, Vec<&Difference>) = effective
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
        blocks.push(values(effective, &known));
        blocks.push(Block::List(known.iter().map(|d| reason(d)).collect()));
    }
    if !missing.is_empty() {
        blocks.push(Block::Paragraph(format!(
            "Known to matter, equal where they exist, and missing in some servers: {}.",
            names(&missing)
        )));
    }
    blocks.extend(less_known(effective, &others, detail));
    blocks
}

/// Those that are not known to matter: what somebody caused always, the rest by numbers.
fn less_known(effective: &Effective, others: &[&Difference], detail: Detail) -> Vec<Block> {
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
            blocks.push(values(effective, listed));
        }
    }
    if detail == Detail::Full {
        if !changed.is_empty() {
            blocks.push(Block::Paragraph(
                "Other defaults, not known to matter:".into(),
            ));
            blocks.push(values(effective, &changed));
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
fn values(effective: &Effective, differences: &[&Difference]) -> Block {
    if effective.names.len() > COLUMNS_MAX {
        let item = |difference: &&Difference| {
            let values: Vec<(String, Vec<usize>)> = difference
                .by_value()
                .into_iter()
                .map(|(value, targets)| (shown(value), targets))
                .collect();
            format!("{}: {}", difference.variable, effective.by_value(values))
        };
        return Block::List(differences.iter().map(item).collect());
    }
    let row = |difference: &&Difference| {
        std::iter::once(difference.variable.clone())
            .chain(
                difference
                    .values
                    .iter()
                    .map(|value| shown(value.as_deref())),
            )
            .collect()
    };
    Block::Table(Table {
        header: std::iter::once("variable".to_owned())
            .chain(effective.names.iter().cloned())
            .collect(),
        rows: differences.iter().map(row).collect(),
        align: Align::Left,
        repeated: 1,
    })
}

/// Why a variable matters, and how the difference came about.
fn reason(difference: &Difference) -> String {
    let standing = match difference {
        difference if difference.allowed => ", allowed",
        difference if difference.stops() => ", stops a run",
        _ => "",
    };
    let absent = match &difference.absent {
        Some(absent) if difference.values.iter().any(Option::is_none) => {
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
