//! The table of steps after the writes relative to the same before them.

use crate::analysis::Analysis;
use crate::analysis::before_after::{BeforeAfter, stem};
use crate::document::{Block, Cell};
use crate::figures;
use crate::page::view::{by_target, over_blocks, with_clients, with_n};

/// The table of all pairs.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let pairs = &analysis.before_after;
    let ratios = pairs.iter().flat_map(|pair| pair.ratios.iter().flatten());
    let Some(n_max) = ratios.map(|pairs| pairs.ratio().n).max() else {
        return Vec::new();
    };
    let cell = |pair: &BeforeAfter, target: usize| {
        let has_warnings = |step| analysis.cell(step, target).has_warnings();
        let figure = pair.ratios[target].as_ref().map(|pairs| {
            let ratio = pairs.ratio();
            let text = with_n(figures::ratio(&ratio), ratio.n, n_max);
            Cell::figure(text, ratio.ratio)
        });
        Cell::from(figure).marked(has_warnings(pair.before) || has_warnings(pair.after))
    };
    let columns = analysis.columns();
    let rows = pairs.iter().map(|pair| {
        let step = &analysis.plan.steps[pair.after];
        let cells = columns.iter().map(|&target| cell(pair, target));
        let name = with_clients(analysis, &stem(step).join("."), step);
        (name, cells.collect())
    });
    let heading = format!(
        "After the writes relative to before them, {}",
        over_blocks("geometric mean", n_max)
    );
    let table = by_target(analysis, "step", &columns, rows);
    vec![Block::Heading(heading), Block::Table(table)]
}
