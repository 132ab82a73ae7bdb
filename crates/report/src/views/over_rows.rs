//! The ratio over all rows of a table.

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::analysis::overall::{counts, over_groups};
use crate::views::arrangement::Grid;
use crate::views::base::Base;
use crate::views::figure_table::FigureRow;
use crate::views::measure::{Figure, of_estimate};

/// The row with the geometric means of the ratios of throughput of each column. `None` if no column has
/// several rows of one target with a ratio in each.
pub(crate) fn geometric_mean(
    analysis: &Analysis<'_>,
    grid: &Grid,
    base: &Base,
) -> Option<FigureRow> {
    let mean = |column: usize| -> Option<Figure> {
        let target = grid.column(column).next()?.target;
        let cells = grid.column(column);
        let groups: Vec<GroupId> = cells
            .filter(|cell| cell.target == target && counts(analysis.plan, cell.group))
            .map(|cell| cell.group)
            .collect();
        let all = grid
            .column(column)
            .filter(|cell| counts(analysis.plan, cell.group));
        if groups.len() < 2 || all.count() != groups.len() {
            return None;
        }
        let looks = &analysis.verdicts.looks;
        let ratio = over_groups(&groups, target, base.of(target)?, &analysis.cells, looks);
        if ratio.steps < groups.len() {
            return None;
        }
        let has_warnings = |group: GroupId| analysis.cells.at(group, target).has_warnings();
        Some(Figure {
            is_doubtful: groups.into_iter().any(has_warnings),
            ..of_estimate(ratio.estimate.as_ref()?)
        })
    };
    let figures: Vec<Option<Figure>> = (0..grid.columns.len()).map(mean).collect();
    figures.iter().any(Option::is_some).then(|| FigureRow {
        name: "geometric mean".to_owned(),
        figures,
    })
}
