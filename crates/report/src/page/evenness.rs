//! The tables of steps with many intervals: how evenly the servers worked.

use crate::analysis::Analysis;
use crate::analysis::evenness::{self, Evenness};
use crate::analysis::group::GroupId;
use crate::document::{Block, Cell, Table};
use crate::figures::significant;
use crate::page::view::{column_name, with_clients};
use crate::words::count;

/// A table for each step that is shown.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let of_step = |step: usize| {
        let planned = &analysis.plan.steps[step];
        let name = with_clients(analysis, &planned.name, planned);
        let table = table(analysis, step)?;
        let heading = Block::Heading(format!("Evenness of {name}"));
        Some(std::iter::once(heading).chain(table))
    };
    analysis
        .shown_steps()
        .filter_map(of_step)
        .flatten()
        .collect()
}

/// The table of a step, with what it shows before it. `None` if its targets have few intervals.
pub(crate) fn table(analysis: &Analysis<'_>, step: usize) -> Option<[Block; 2]> {
    let columns = analysis.columns().into_iter();
    let known = columns.filter_map(|target| {
        let evenness = evenness::of(analysis.cells.at(GroupId::own(step), target))?;
        Some((target, evenness))
    });
    let known: Vec<(usize, Evenness)> = known.collect();
    let seconds = known.first()?.1.seconds;
    let remark = format!(
        "Operations per second in each interval of {} s, over all blocks: in the median interval, in \
         99 % of the intervals at least, in the slowest; intervals in which no operation ended; and the \
         longest service time in milliseconds.",
        significant(seconds)
    );
    let rows = known.iter().map(|(target, evenness)| {
        let rate = |rate: f64| Cell::figure(significant(rate), rate);
        vec![
            column_name(analysis, *target),
            count(evenness.intervals as u64).into(),
            rate(evenness.median),
            evenness.hundredth.map(rate).into(),
            rate(evenness.slowest),
            count(evenness.idle as u64).into(),
            rate(evenness.longest_ms),
        ]
    });
    let header = [
        "target",
        "intervals",
        "median",
        "99 %",
        "slowest",
        "idle",
        "longest ms",
    ];
    Some([
        Block::Paragraph(remark),
        Block::Table(Table::of_figures(header, rows)),
    ])
}
