//! The table of identical servers: the base and its twin.

use crate::analysis::Analysis;
use crate::analysis::identical::{Comparison, Identical};
use crate::document::{Block, Table};
use crate::figures;
use crate::page::Detail;
use crate::page::view::step_name;

/// The table of all comparisons, for documents.
pub(crate) fn table(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let Identical { all, .. } = &analysis.verdicts.identical;
    if detail == Detail::Brief {
        return Vec::new();
    }
    let row = |one: &Comparison| {
        let holds = match one.estimate.excludes_one() {
            None => "-",
            Some(false) => "yes",
            Some(true) => "no",
        };
        vec![
            step_name(analysis, one.group).into(),
            one.metric.facts().name.into(),
            figures::ratio(&one.estimate).into(),
            one.estimate.n().to_string().into(),
            holds.into(),
        ]
    };
    let shown = all.iter().filter(|one| analysis.shows(one.group.step));
    let rows: Vec<_> = shown.map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let header = ["step", "metric", "ratio", "n", "holds 1"];
    vec![
        Block::Heading("Identical servers".into()),
        Block::Table(Table::of_words(header, rows)),
    ]
}
