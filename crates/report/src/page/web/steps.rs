//! The details of steps: a row for each target with all its blocks, and what explains it.

use prony_model::{Metric, RatioDisplay};
use prony_stats::Summary;

use crate::analysis::Analysis;
use crate::analysis::cell;
use crate::analysis::course::{self, CoursePoint};
use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::sections::Section;
use crate::analysis::times::Times;
use crate::chart::{Axis, Chart, Line, Point, Scale};
use crate::document::{Block, Cell};
use crate::figures;
use crate::page::view::{by_target, column_name};
use crate::page::web::map::{Sign, unit};
use crate::page::web::{SectionPart, anchor, step_anchor};
use crate::page::{Detail, cost, evenness, section_summaries, server_counters};
use crate::parallel;
use crate::words::{count, plural};

/// Lines of a graph over targets: more can't be told apart.
const LINES_MAX: usize = 8;

/// One group of clients of one step.
#[derive(Debug)]
pub(crate) struct StepPart {
    /// Anchor of the step.
    pub(crate) anchor: String,
    pub(crate) title: String,
    /// Unit of absolute figures.
    pub(crate) unit: &'static str,
    /// `true` if ratios are of time.
    pub(crate) is_time: bool,
    /// The difference below which targets count as equivalent, as a share.
    pub(crate) margin: f64,
    pub(crate) rows: Vec<TargetRow>,
    /// What explains the rows, folded until the reader opens it.
    pub(crate) folds: Vec<Fold>,
}

/// One target in a step.
#[derive(Debug)]
pub(crate) struct TargetRow {
    /// Anchor of the row, which cells of the map lead to.
    pub(crate) anchor: String,
    pub(crate) target: usize,
    pub(crate) name: Cell,
    pub(crate) is_base: bool,
    pub(crate) ratio: Option<RatioShown>,
    pub(crate) sign: Option<Sign>,
    /// Reasons to doubt the verdict.
    pub(crate) doubts: Vec<String>,
    pub(crate) absolute: Option<(String, f64)>,
    /// Ratios of the blocks, in their order.
    pub(crate) blocks: Vec<f64>,
    pub(crate) mark: bool,
}

/// A ratio with its interval, as shown and as computed.
#[derive(Debug)]
pub(crate) struct RatioShown {
    pub(crate) text: String,
    pub(crate) value: f64,
    pub(crate) low: Option<(String, f64)>,
    pub(crate) high: Option<(String, f64)>,
    pub(crate) n: usize,
}

/// Blocks under a summary line.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) summary: String,
    pub(crate) blocks: Vec<Block>,
}

/// The steps of a section with their details.
pub(crate) fn section(analysis: &Analysis<'_>, section: &Section) -> SectionPart {
    let groups = section.steps.iter();
    let groups = groups.flat_map(|&step| GroupId::of_step(analysis.plan, step));
    let groups: Vec<GroupId> = groups.collect();
    SectionPart {
        title: section.title.clone().unwrap_or_else(|| "Steps".into()),
        summary: section_summaries::blocks(analysis, section, Block::Subheading),
        charts: over_targets(analysis, section),
        steps: parallel::map(groups, |group| part(analysis, group)),
    }
}

fn part(analysis: &Analysis<'_>, group: GroupId) -> StepPart {
    let plan = analysis.plan;
    let step = &plan.steps[group.step];
    let targets = analysis.columns().into_iter();
    let rows = targets.map(|target| row(analysis, group, target)).collect();
    let clients = plural(group.of(plan).clients.into(), "client");
    StepPart {
        anchor: step_anchor(group),
        title: format!("{}, {clients}", group.named(plan, &step.name)),
        unit: unit(group.display(plan)),
        is_time: analysis.shows_time(group.step),
        margin: step.margin(),
        rows,
        folds: folds(analysis, group),
    }
}

fn row(analysis: &Analysis<'_>, group: GroupId, target: usize) -> TargetRow {
    let plan = analysis.plan;
    let of_target = analysis.cells.at(group, target);
    let of_base = plan.base_of(target);
    let of_base = of_base.map(|base| analysis.cells.at(group, base));
    let judged = analysis.shown_verdict(group, target);
    let ratio = analysis.shown_ratio(group, target).map(|estimate| {
        let (text, interval) = figures::ratio_parts(&estimate);
        let bounds = interval.zip(estimate.interval);
        RatioShown {
            text,
            value: estimate.ratio(),
            low: bounds.clone().map(|((low, _), of)| (low, of.low)),
            high: bounds.map(|((_, high), of)| (high, of.high)),
            n: estimate.n(),
        }
    });
    let of_base = of_base.filter(|_| ratio.is_some());
    let blocks = of_base.map_or_else(Vec::new, |base| {
        let (mine, other) = (&of_target.measurements, &base.measurements);
        if analysis.shows_time(group.step) {
            cell::time_quotients(mine, other)
        } else {
            cell::quotients(Metric::Operations, mine, other)
        }
    });
    let is_base = plan.is_base(target);
    let shown = of_target.shown(group.display(plan));
    TargetRow {
        anchor: anchor(group, target),
        target,
        name: column_name(analysis, target),
        is_base,
        sign: judged.map(Sign::of),
        doubts: judged.map_or_else(Vec::new, |judged| {
            judged.doubts.iter().map(ToString::to_string).collect()
        }),
        absolute: shown.map(|summary| (figures::mean(summary), summary.mean)),
        blocks: blocks.into_iter().map(|(_, quotient)| quotient).collect(),
        mark: of_target.has_warnings() || of_base.is_some_and(cell::Cell::has_warnings),
        ratio,
    }
}

/// Everything that explains the rows of a step.
fn folds(analysis: &Analysis<'_>, group: GroupId) -> Vec<Fold> {
    let mut folds = Vec::new();
    let mut fold = |summary: &str, blocks: Vec<Block>| {
        if !blocks.is_empty() {
            let summary = summary.to_owned();
            folds.push(Fold { summary, blocks });
        }
    };
    fold("Every block", every_block(analysis, group));
    let mut graphs = Vec::new();
    graphs.extend(course(analysis, group));
    graphs.extend(evenness::tables(analysis, std::iter::once(group)));
    graphs.extend(latencies(analysis, group));
    fold("Time within the step, and latency", graphs);
    if group.is_own() {
        let step = group.step;
        let named = Block::Paragraph;
        let mut costs = cost::blocks(analysis, step, Detail::Full, named);
        costs.extend(server_counters::blocks(
            analysis,
            step,
            Detail::Brief,
            named,
        ));
        fold("Costs", costs);
    }
    fold("Warnings", notes(analysis, group));
    folds
}

/// The warnings about the cells of a group.
fn notes(analysis: &Analysis<'_>, group: GroupId) -> Vec<Block> {
    let of_target = |target: usize| {
        let base = analysis.base_name(target);
        let cell = analysis.cells.at(group, target);
        let name = &analysis.plan.targets[target].name;
        let unequal = cell.unequal.iter().map(|unequal| unequal.warning(base));
        let all = cell.warnings.iter().cloned().chain(unequal);
        all.map(move |text| format!("{name}: {text}."))
            .collect::<Vec<_>>()
    };
    let items: Vec<String> = analysis
        .all_targets()
        .into_iter()
        .flat_map(of_target)
        .collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::List(items)]
}

/// The figures of all blocks as a table.
fn every_block(analysis: &Analysis<'_>, group: GroupId) -> Vec<Block> {
    let columns = analysis.all_targets();
    let measurement = |target: usize, block: u32| -> Option<&Measurement> {
        let measurements = analysis.cells.at(group, target).measurements.iter();
        let mut of_block = measurements.filter(move |m| m.block_number() == block);
        of_block.next()
    };
    let rows = (1..=analysis.plan.blocks()).filter_map(|block| {
        let cells = columns.iter().map(|&target| {
            let rate = measurement(target, block)?.value(Metric::Operations)?;
            Some(Cell::figure(
                figures::significant(rate),
                figures::thousandths(rate),
            ))
        });
        let cells: Vec<Option<Cell>> = cells.collect();
        let is_known = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(Cell::from).collect();
        is_known.then(|| (count(block.into()), cells))
    });
    let rows: Vec<(String, Vec<Cell>)> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Paragraph("Operations per second in each block.".into()),
        Block::Table(by_target(analysis, "block", &columns, rows)),
    ]
}

/// Throughput within the measured time.
fn course(analysis: &Analysis<'_>, group: GroupId) -> Option<Block> {
    let line = |target: usize| {
        let points = course::of(analysis.cells.at(group, target));
        let point = |point: &CoursePoint| Point {
            x: point.at_s,
            y: point.median,
            interval: (point.high > point.low).then_some((point.low, point.high)),
        };
        (points.len() > 1).then(|| Line {
            name: analysis.plan.targets[target].name.clone(),
            target: Some(target),
            points: points.iter().map(point).collect(),
        })
    };
    chart(Chart {
        title: "Throughput within the step: median of the blocks, lowest to highest block".into(),
        x: axis(
            "seconds since the start of the measured time",
            Scale::FromZero,
        ),
        y: axis("operations/s", Scale::FromZero),
        lines: analysis.columns().into_iter().filter_map(line).collect(),
        limit: None,
        notes: Vec::new(),
    })
}

/// A time of operations that is shown, in microseconds; `None` if too few operations support it.
type Percentile = (&'static str, fn(&Times) -> Option<f64>);

/// The times of operations that are shown.
const PERCENTILES: [Percentile; 6] = [
    ("50", |times| times.p50),
    ("90", |times| times.p90),
    ("95", |times| times.p95),
    ("99", |times| times.p99),
    ("99.9", |times| times.p999),
    ("max", |times| Some(times.max)),
];

/// Service times, and response times where operations have an intended start.
fn latencies(analysis: &Analysis<'_>, group: GroupId) -> Vec<Block> {
    let service = |measurement: &Measurement| measurement.service().ok().flatten();
    let response = |measurement: &Measurement| measurement.schedule?.response;
    let titles = [
        ("Service time by percentile", &service as &dyn Fn(&_) -> _),
        ("Response time by percentile", &response),
    ];
    let mut blocks = Vec::new();
    for (title, times) in titles {
        blocks.extend(percentiles(analysis, group, title, times));
    }
    blocks
}

/// A graph of percentiles and the table with its figures.
fn percentiles(
    analysis: &Analysis<'_>,
    group: GroupId,
    title: &str,
    times: &dyn Fn(&Measurement) -> Option<Times>,
) -> Vec<Block> {
    let columns = analysis.columns();
    let summary = |target: usize, percentile: Percentile| {
        let measurements = analysis.cells.at(group, target).measurements.iter();
        let values = measurements.filter_map(|m| times(m).and_then(|times| (percentile.1)(&times)));
        Summary::of(&values.collect::<Vec<f64>>()).ok()
    };
    let line = |target: usize| {
        let points = PERCENTILES
            .iter()
            .enumerate()
            .filter_map(|(index, &percentile)| {
                let summary = summary(target, percentile)?;
                Some(Point {
                    x: index as f64,
                    y: summary.median,
                    interval: (summary.max > summary.min).then_some((summary.min, summary.max)),
                })
            });
        let points: Vec<Point> = points.collect();
        (!points.is_empty()).then(|| Line {
            name: analysis.plan.targets[target].name.clone(),
            target: Some(target),
            points,
        })
    };
    let names = PERCENTILES.iter().map(|(name, _)| (*name).to_owned());
    let drawn = chart(Chart {
        title: format!("{title}: median of the blocks, lowest to highest block"),
        x: axis("percentile of operations", Scale::Names(names.collect())),
        y: axis("µs", Scale::Log),
        lines: columns.iter().filter_map(|&target| line(target)).collect(),
        limit: None,
        notes: Vec::new(),
    });
    let rows = PERCENTILES.iter().map(|&percentile| {
        let cells = columns.iter().map(|&target| {
            let median = summary(target, percentile)?.median;
            Some(Cell::figure(figures::significant(median), median))
        });
        let cells: Vec<Cell> = cells.map(Cell::from).collect();
        (percentile.0.to_owned(), cells)
    });
    let known = rows.filter(|(_, cells)| cells.iter().any(|cell| cell.value.is_some()));
    let known: Vec<(String, Vec<Cell>)> = known.collect();
    if known.is_empty() {
        return Vec::new();
    }
    let table = by_target(analysis, "percentile, µs", &columns, known);
    let mut blocks: Vec<Block> = drawn.into_iter().collect();
    blocks.push(Block::Table(table));
    blocks
}

/// The ratios of a section's steps over the targets: a graph for each number of clients.
fn over_targets(analysis: &Analysis<'_>, section: &Section) -> Vec<Chart> {
    let plan = analysis.plan;
    let columns = analysis.columns();
    if columns.len() < 3 || !analysis.compares() {
        return Vec::new();
    }
    let names: Vec<String> = columns
        .iter()
        .map(|&t| plan.targets[t].name.clone())
        .collect();
    let line = |&step: &usize| {
        let points = columns.iter().enumerate().filter_map(|(place, &target)| {
            let x = place as f64;
            if plan.is_base(target) {
                return Some(Point {
                    x,
                    y: 1.0,
                    interval: None,
                });
            }
            let estimate = analysis.shown_ratio(GroupId::own(step), target)?;
            Some(Point {
                x,
                y: estimate.ratio(),
                interval: estimate.interval.map(|of| (of.low, of.high)),
            })
        });
        let points: Vec<Point> = points.collect();
        (points.len() > 1).then(|| Line {
            name: plan.steps[step].name.clone(),
            target: None,
            points,
        })
    };
    let (quantity, label) = match analysis.display_of(&section.steps) {
        RatioDisplay::Throughput => ("Throughput", "ratio"),
        RatioDisplay::Time => ("Time of an operation", "ratio of time"),
    };
    let mut charts = Vec::new();
    for clients in analysis.client_counts() {
        let of_count = |step: &&usize| plan.steps[**step].own().clients == clients;
        let lines: Vec<Line> = section
            .steps
            .iter()
            .filter(of_count)
            .filter_map(line)
            .collect();
        for (index, lines) in lines.chunks(LINES_MAX).enumerate() {
            let more = if index > 0 { ", continued" } else { "" };
            charts.push(Chart {
                title: format!(
                    "{quantity} relative to {} at {}{more}",
                    analysis.plan.base_words(),
                    plural(clients.into(), "client")
                ),
                x: axis("target", Scale::Names(names.clone())),
                y: axis(
                    &format!("{label} to {}", analysis.plan.base_words()),
                    Scale::FromZero,
                ),
                lines: lines.to_vec(),
                limit: None,
                notes: Vec::new(),
            });
        }
    }
    charts
}

/// An axis with this label.
pub(super) fn axis(label: &str, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        scale,
    }
}

/// `None` without any line of two points.
fn chart(chart: Chart) -> Option<Block> {
    let is_line = chart.lines.iter().any(|line| line.points.len() > 1);
    is_line.then_some(Block::Chart(chart))
}
