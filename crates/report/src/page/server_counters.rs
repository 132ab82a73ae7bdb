//! The servers' own counters while they were measured, as far as they explain figures.

use prony_model::{Counter, EXPLAINING, StatusFacts, StatusUnit};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{by_target, more_rows};
use crate::page::{Detail, cost};

/// Rows of the table of one step that the text report shows; the other formats show all.
const ROWS_MAX: usize = 12;

/// Counters that show the work of a statement, whether targets differ in it or not.
const ALWAYS: [&str; 6] = [
    "handler_read_key",
    "handler_read_next",
    "handler_read_rnd_next",
    "innodb_buffer_pool_read_requests",
    "innodb_data_fsyncs",
    "bytes_sent",
];

/// Amounts per operation below this are those of something else that went on.
const LEAST: f64 = 0.01;

/// The same of bytes.
const LEAST_BYTES: f64 = 1.0;

/// The factor by which less is enough per row, in steps that scan.
const ROWS: f64 = 10.0;

/// Rows named longer than this stand without explanation in the text report: tables must fit.
const NAME_MAX: usize = 50;

/// Means farther apart than this differ, where the ranges over the blocks do not meet either.
const APART: f64 = 0.02;

/// The same where there is one block only, whose spread is not known.
const APART_ALONE: f64 = 0.05;

/// The table of one step, where any counter explains it.
pub(crate) fn blocks(
    analysis: &Analysis<'_>,
    step: usize,
    detail: Detail,
    heading: impl Fn(String) -> Block,
) -> Vec<Block> {
    let mut shown: Vec<&StatusFacts> = EXPLAINING
        .iter()
        .filter(|facts| {
            let counter = facts.counter();
            let explains = || ALWAYS.contains(&facts.name) || differs(analysis, step, &counter);
            is_there(analysis, step, facts) && (detail == Detail::Full || explains())
        })
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let more = match detail {
        Detail::Brief => shown.len().saturating_sub(ROWS_MAX),
        Detail::Full => 0,
    };
    shown.truncate(shown.len() - more);
    let text = cost::title(analysis, "What the server counted in", step);
    let mut blocks = vec![
        heading(text),
        Block::Table(table(analysis, step, &shown, detail)),
    ];
    blocks.extend(more_rows(more));
    blocks
}

/// Returns `true` if some target has more than nothing of it.
fn is_there(analysis: &Analysis<'_>, step: usize, facts: &StatusFacts) -> bool {
    let counter = facts.counter();
    let least = match facts.unit {
        StatusUnit::Bytes => LEAST_BYTES,
        _ => LEAST,
    };
    let mut cells = analysis.costs.step(step).iter().enumerate();
    cells.any(|(target, cell)| {
        let mean = analysis.costs.mean_growth(step, target, &counter);
        cell.per_operation(mean) >= least && mean >= least / ROWS
    })
}

/// Returns `true` if some target has clearly more or less of it than the base.
fn differs(analysis: &Analysis<'_>, step: usize, counter: &Counter) -> bool {
    let of = |target| analysis.costs.status(step, target, counter);
    let mut others = analysis.plan.contenders();
    others.any(|target| {
        let base = analysis.plan.base_of(target).and_then(of);
        base.zip(of(target))
            .is_some_and(|(base, other)| are_apart(&base, &other))
    })
}

fn are_apart(one: &Summary, other: &Summary) -> bool {
    let greater = one.mean.max(other.mean);
    let apart = (one.mean - other.mean).abs() / greater;
    if one.n < 2 || other.n < 2 {
        return apart > APART_ALONE;
    }
    apart > APART && (one.max < other.min || other.max < one.min)
}

fn table(analysis: &Analysis<'_>, step: usize, shown: &[&StatusFacts], detail: Detail) -> Table {
    let columns = analysis.columns();
    let rows = shown.iter().map(|facts| {
        let counter = facts.counter();
        let cells = columns.iter().map(|&target| {
            let summary = analysis.costs.status(step, target, &counter);
            let figure = summary.map(|all| Cell::figure(figures::plain(&all), all.mean));
            figure.into()
        });
        (name(facts, detail), cells.collect())
    });
    by_target(analysis, "counter", &columns, rows)
}

fn name(facts: &StatusFacts, detail: Detail) -> String {
    let unit = match facts.unit.symbol() {
        // Said by the words already, or counted by one.
        "" | "rows" | "pages" => String::new(),
        unit => format!(", {unit}"),
    };
    let name = format!("{}: {}{unit}", facts.name, facts.what);
    if detail == Detail::Brief && name.chars().count() > NAME_MAX {
        return format!("{}{unit}", facts.name);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_apart_in(one: &[f64], other: &[f64]) -> bool {
        let of = |values| Summary::of_amounts(values).unwrap();
        are_apart(&of(one), &of(other))
    }

    #[test]
    fn noise_is_no_difference() {
        assert!(are_apart_in(&[1.0, 1.01], &[1.1, 1.12]));
        assert!(!are_apart_in(&[1.0, 1.2], &[1.1, 1.4]));
        assert!(!are_apart_in(&[1.0, 1.0], &[1.01, 1.01]));
        assert!(are_apart_in(&[0.0, 0.0], &[0.5, 0.6]));
        assert!(!are_apart_in(&[1.0], &[1.04]));
        assert!(are_apart_in(&[1.0], &[1.06]));
        assert!(!are_apart_in(&[0.0, 0.0], &[0.0, 0.0]));
    }

    #[test]
    fn counters_that_are_always_shown_exist() {
        for name in ALWAYS {
            assert!(EXPLAINING.iter().any(|facts| facts.name == name), "{name}");
        }
    }
}
