//! The table of steps after the writes relative to the same before them.

use crate::analysis::Analysis;
use crate::analysis::before_after::{BeforeAfter, stem};
use crate::document::Block;
use crate::page::view::{Shown, figures_by_target, over_blocks, with_clients};

/// The table of all pairs.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let pairs = analysis.before_after.iter();
    let pairs = pairs.filter(|pair| analysis.shows(pair.after));
    let rows = pairs.map(|pair| {
        let step = &analysis.plan.steps[pair.after];
        let name = with_clients(analysis, &stem(step).join("."), step);
        (name, pair)
    });
    let figure = |pair: &&BeforeAfter, target: usize| {
        let has_warnings = |step| analysis.cell(step, target).has_warnings();
        let pairs = pair.ratios[target].as_ref();
        let shown = pairs.map(|pairs| Shown::ratio(analysis, pairs));
        (shown, has_warnings(pair.before) || has_warnings(pair.after))
    };
    let columns = analysis.columns();
    let Some((table, n)) = figures_by_target(analysis, "step", &columns, rows, figure) else {
        return Vec::new();
    };
    let heading = format!(
        "After the writes relative to before them, {}",
        over_blocks("geometric mean", n)
    );
    vec![Block::Heading(heading), Block::Table(table)]
}
