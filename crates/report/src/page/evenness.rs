//! The tables of steps with many intervals: how evenly the servers worked.

use crate::analysis::Analysis;
use crate::analysis::evenness::{self, Evenness, SLICES};
use crate::analysis::group::GroupId;
use crate::document::{Block, Cell, Table};
use crate::figures::significant;
use crate::page::view::{row_name, with_clients};
use crate::words::count;

/// The tables of each step that is shown: of its own clients and the groups beside them.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let of_step = |step: usize| {
        let planned = &analysis.plan.steps[step];
        let name = with_clients(analysis, &planned.name, planned);
        let tables = tables(analysis, GroupId::of_step(analysis.plan, step));
        let heading = Block::Heading(format!("Evenness of {name}"));
        let heading = (!tables.is_empty()).then_some(heading);
        heading.into_iter().chain(tables)
    };
    analysis.shown_steps().flat_map(of_step).collect()
}

/// The tables of some groups of clients, each with what it shows before it; none if all have few
/// intervals.
pub(crate) fn tables(analysis: &Analysis<'_>, groups: impl Iterator<Item = GroupId>) -> Vec<Block> {
    let of_group = |group: GroupId| {
        let columns = analysis.columns().into_iter();
        columns.filter_map(move |target| {
            let evenness = evenness::of(&analysis.cells.at(group, target).measurements)?;
            Some((row_name(analysis, group, target), evenness))
        })
    };
    let known: Vec<(Cell, Evenness)> = groups.flat_map(of_group).collect();
    let Some((_, first)) = known.first() else {
        return Vec::new();
    };
    let mut blocks = vec![
        Block::Paragraph(format!(
            "Operations per second in each interval of {} s, over all blocks: in the median interval, \
             in 99 % of the intervals at least, in the slowest; intervals in which no operation ended; \
             and the longest service time in milliseconds.",
            significant(first.seconds)
        )),
        Block::Table(rates(&known)),
    ];
    if known.iter().any(|(_, evenness)| evenness.slices.is_some()) {
        let remark =
            "Operations per second in each tenth of the measured time, the mean of the blocks.";
        blocks.push(Block::Paragraph(remark.to_owned()));
        blocks.push(Block::Table(slices(&known)));
    }
    blocks
}

fn rate(rate: f64) -> Cell {
    Cell::figure(significant(rate), rate)
}

fn rates(known: &[(Cell, Evenness)]) -> Table {
    let rows = known.iter().map(|(name, evenness)| {
        vec![
            name.clone(),
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
    Table::of_figures(header, rows)
}

fn slices(known: &[(Cell, Evenness)]) -> Table {
    let rows = known.iter().filter_map(|(name, evenness)| {
        let slices = evenness.slices?.map(rate);
        Some(std::iter::once(name.clone()).chain(slices).collect())
    });
    let numbers = (1..=SLICES).map(|slice| slice.to_string());
    Table::of_figures(std::iter::once("target".to_owned()).chain(numbers), rows)
}
