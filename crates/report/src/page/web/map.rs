//! The map of all cells: steps as rows, targets as columns.

use prony_model::{Display, Metric, RatioDisplay, Verdict};

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Judged, Size};
use crate::figures;
use crate::page::web::anchor;
use crate::words::{plural, share};

/// The map.
#[derive(Debug)]
pub(crate) struct HeatMap {
    /// Indices of the targets, the base first.
    pub(crate) columns: Vec<usize>,
    pub(crate) rows: Vec<MapRow>,
    /// `true` if any cell has a ratio.
    pub(crate) compares: bool,
    /// The form of all ratios; `None` if sections differ.
    pub(crate) display: Option<RatioDisplay>,
    /// `true` if any cell has a cost relative to the base.
    pub(crate) has_costs: bool,
    /// Number of blocks of most ratios.
    pub(crate) blocks: usize,
}

/// One row of the map.
#[derive(Debug)]
pub(crate) enum MapRow {
    /// The title of the steps that follow.
    Section(String),
    /// A group of clients in a step.
    Step {
        name: String,
        clients: u32,
        /// Unit of its absolute figures.
        unit: &'static str,
        /// By column.
        cells: Vec<MapCell>,
    },
    /// The ratios of several steps together.
    Overall {
        name: String,
        /// By column.
        cells: Vec<Option<MapFigure>>,
    },
}

/// One cell of the map.
#[derive(Debug)]
pub(crate) struct MapCell {
    /// Anchor of the row with its details.
    pub(crate) anchor: String,
    /// Name of the target, step and clients.
    pub(crate) label: String,
    /// Relative throughput, or time. `None` for the base, and without a ratio.
    pub(crate) ratio: Option<MapFigure>,
    /// `true` if the ratio is of time.
    pub(crate) is_time: bool,
    pub(crate) sign: Option<Sign>,
    pub(crate) absolute: Option<(String, f64)>,
    /// Processor time of the server for an operation, relative to the base.
    pub(crate) cost: Option<MapFigure>,
    /// `true` if a warning concerns it.
    pub(crate) mark: bool,
}

/// A ratio to be coloured.
#[derive(Debug)]
pub(crate) struct MapFigure {
    pub(crate) text: String,
    pub(crate) value: f64,
    /// The ratio above which a cell counts as better: its inverse where less is better.
    pub(crate) goodness: f64,
    pub(crate) margin: f64,
    /// The sentence that a pointer shows.
    pub(crate) hint: String,
}

/// A verdict as one character and in words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sign {
    pub(crate) sign: &'static str,
    pub(crate) words: &'static str,
}

/// Every sign, for the legend.
pub(crate) const SIGNS: [Sign; 6] = [
    Sign {
        sign: "▼",
        words: "regressed, beyond the margin",
    },
    Sign {
        sign: "▽",
        words: "regressed, may be within the margin",
    },
    Sign {
        sign: "▲",
        words: "improved, beyond the margin",
    },
    Sign {
        sign: "△",
        words: "improved, may be within the margin",
    },
    Sign {
        sign: "=",
        words: "equivalent",
    },
    Sign {
        sign: "~",
        words: "inconclusive",
    },
];

impl Sign {
    /// The sign of a verdict.
    pub(crate) fn of(judged: &Judged) -> Self {
        let is_beyond = judged.size == Some(Size::Beyond);
        let index = match (judged.verdict, is_beyond) {
            (Verdict::Regressed, true) => 0,
            (Verdict::Regressed, false) => 1,
            (Verdict::Improved, true) => 2,
            (Verdict::Improved, false) => 3,
            (Verdict::Equivalent, _) => 4,
            (Verdict::Inconclusive, _) => 5,
        };
        SIGNS[index]
    }
}

/// The map of a run.
pub(crate) fn of(analysis: &Analysis<'_>) -> HeatMap {
    let columns = analysis.columns();
    let mut rows = Vec::new();
    for section in &analysis.sections {
        rows.extend(section.title.clone().map(MapRow::Section));
        for &step in &section.steps {
            for group in GroupId::of_step(analysis.plan, step) {
                rows.push(row(analysis, group, &columns));
            }
        }
        if analysis.sections.len() > 1 {
            rows.extend(overall(analysis, section.title.as_ref(), &columns));
        }
    }
    rows.extend(overall(analysis, None, &columns));
    let cells = || {
        rows.iter().flat_map(|row| match row {
            MapRow::Step { cells, .. } => cells.as_slice(),
            _ => &[],
        })
    };
    HeatMap {
        compares: analysis.compares(),
        display: analysis.common_display(),
        has_costs: cells().any(|cell| cell.cost.is_some()),
        blocks: analysis
            .verdicts
            .iter()
            .map(|judged| judged.estimate.n())
            .max()
            .unwrap_or(0),
        rows,
        columns,
    }
}

fn row(analysis: &Analysis<'_>, group: GroupId, columns: &[usize]) -> MapRow {
    let plan = analysis.plan;
    MapRow::Step {
        name: format!(
            "{}{}",
            group.named(plan, &plan.steps[group.step].name),
            analysis.display_words(&[group.step])
        ),
        clients: group.of(plan).clients,
        unit: unit(group.display(plan)),
        cells: columns
            .iter()
            .map(|&target| cell(analysis, group, target))
            .collect(),
    }
}

fn cell(analysis: &Analysis<'_>, group: GroupId, target: usize) -> MapCell {
    let plan = analysis.plan;
    let figures_of = analysis.cells.at(group, target);
    let judged = |metric| analysis.verdicts.get(group, target, metric);
    let estimate = analysis.shown_ratio(group, target);
    let throughput = analysis.shown_verdict(group, target);
    let is_time = analysis.shows_time(group.step);
    let margin =
        |metric| judged(metric).map_or_else(|| plan.steps[group.step].margin(), |j| j.margin);
    let cost = judged(Metric::ServerCpu).filter(|_| group.is_own());
    let base = plan.base_of(target).filter(|_| estimate.is_some());
    let of_base = base.is_some_and(|base| analysis.cells.at(group, base).has_warnings());
    let doubts = throughput.is_some_and(|judged| !judged.doubts.is_empty());
    MapCell {
        anchor: anchor(group, target),
        label: format!(
            "{}, {}, {}",
            group.named(plan, &plan.steps[group.step].name),
            plural(group.of(plan).clients.into(), "client"),
            plan.targets[target].name
        ),
        sign: throughput.map(Sign::of),
        ratio: estimate.map(|estimate| MapFigure {
            goodness: goodness(&estimate, is_time),
            ..figure(&estimate, margin(Metric::Operations), throughput)
        }),
        is_time,
        absolute: figures_of
            .shown(group.display(plan))
            .map(|summary| (figures::plain(summary), summary.mean)),
        cost: cost.map(|judged| MapFigure {
            goodness: 1.0 / judged.estimate.ratio(),
            ..figure(&judged.estimate, judged.margin, Some(judged))
        }),
        mark: figures_of.has_warnings() || of_base || doubts,
    }
}

/// The ratio above which a cell counts as better.
fn goodness(estimate: &Estimate, is_time: bool) -> f64 {
    if is_time {
        1.0 / estimate.ratio()
    } else {
        estimate.ratio()
    }
}

fn figure(estimate: &Estimate, margin: f64, judged: Option<&Judged>) -> MapFigure {
    let verdict = judged.map_or_else(String::new, |judged| {
        let words = match judged.adjusted_p {
            Some(_) => Sign::of(judged).words,
            None => "too few blocks for a verdict",
        };
        format!("; {words} ({})", share(judged.margin))
    });
    MapFigure {
        text: figures::plain_ratio(estimate),
        value: estimate.ratio(),
        goodness: estimate.ratio(),
        margin,
        hint: format!(
            "{}, {}{verdict}",
            figures::ratio(estimate),
            plural(estimate.n() as u64, "block")
        ),
    }
}

/// The ratios of a section, or of all steps. `None` for a single step.
fn overall(analysis: &Analysis<'_>, title: Option<&String>, columns: &[usize]) -> Option<MapRow> {
    let mut parts = analysis.overall.iter();
    let part = parts.find(|part| part.title.as_ref() == title)?;
    let most = part.targets.iter().map(|(_, ratio)| ratio.steps).max()?;
    if most < 2 {
        return None;
    }
    let margin = analysis
        .plan
        .steps
        .first()
        .map_or(0.0, prony_model::Step::margin);
    let display = analysis.display_of(&part.steps);
    let cell = |target: &usize| {
        let (_, ratio) = part.targets.iter().find(|(of, _)| of == target)?;
        let estimate = ratio.shown(display)?;
        Some(MapFigure {
            goodness: goodness(estimate, display == RatioDisplay::Time),
            ..figure(estimate, margin, None)
        })
    };
    let words = analysis.display_words(&part.steps);
    Some(MapRow::Overall {
        name: match title {
            Some(_) => format!("geometric mean of {most} steps{words}"),
            None => format!("geometric mean of all {most} steps{words}"),
        },
        cells: columns.iter().map(cell).collect(),
    })
}

/// The unit of absolute figures.
pub(crate) const fn unit(display: Display) -> &'static str {
    match display {
        Display::Rate => "queries/s",
        Display::Transactions => "transactions/s",
        Display::Milliseconds => "ms/op",
    }
}
