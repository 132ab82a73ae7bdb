//! The table of all ratios at a glance: steps × targets, each with the sign of its verdict.

use prony_model::{Display, Metric, RatioDisplay, Verdict};

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Judged, headline};
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::page::view::{short_name, views, with_n};
use crate::page::{heading, throughput};
use crate::words::{count, plural};

/// Contenders up to which ratios have their intervals: more would not fit a terminal.
const WITH_INTERVALS_MAX: usize = 2;

/// The sign of a verdict, which stands behind its ratio.
pub(crate) const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => "▼",
        Verdict::Improved => "▲",
        Verdict::Equivalent => "=",
        Verdict::Inconclusive => "~",
    }
}

/// The table with its legend; the figures of the targets where nothing is compared.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    if !analysis.compares() {
        return absolute(analysis);
    }
    let n_max = analysis.verdicts.iter().map(|judged| judged.estimate.n());
    let n_max = n_max.max().unwrap_or(0);
    let of_time = match analysis.common_display() {
        Some(RatioDisplay::Time) => " of time",
        _ => "",
    };
    let relative = if analysis.plan.has_several_bases() {
        format!(
            "the bases, and ratios{of_time} to {}",
            analysis.plan.base_words()
        )
    } else {
        format!("{}, and ratios{of_time} to it", analysis.plan.base_words())
    };
    let title = format!(
        "{} of {relative}, {}",
        throughput::title(common(analysis)),
        plural(n_max as u64, "block")
    );
    let mut blocks = vec![Block::Heading(title)];
    blocks.extend(heading::beside_version(analysis).map(Block::Paragraph));
    blocks.push(Block::Table(table(analysis, n_max)));
    blocks.push(Block::Paragraph(legend(analysis)));
    blocks
}

/// The absolute figures of all steps.
fn absolute(analysis: &Analysis<'_>) -> Vec<Block> {
    let views = analysis
        .sections
        .iter()
        .flat_map(|section| views(analysis.plan, section));
    let of_view = |view| throughput::absolute(analysis, &view, Block::Heading);
    views.flat_map(of_view).collect()
}

fn table(analysis: &Analysis<'_>, n_max: usize) -> Table {
    let plan = analysis.plan;
    let columns = analysis.columns();
    let several_bases = plan.has_several_bases();
    let with_intervals = plan.contenders().count() <= WITH_INTERVALS_MAX;
    let ratio = |estimate: &Estimate, sign: &str| {
        let text = if with_intervals {
            figures::ratio(estimate)
        } else {
            figures::plain_ratio(estimate)
        };
        let text = with_n(text, estimate.n(), n_max);
        Cell::figure(format!("{text}{sign}"), estimate.ratio())
    };
    let has_verdicts = analysis.verdicts.family > 0;
    let of_judged = |judged: &Judged| {
        let sign = if has_verdicts {
            format!(" {}", sign(judged.verdict))
        } else {
            String::new()
        };
        ratio(&analysis.as_shown(judged), &sign).marked(!judged.doubts.is_empty())
    };
    let common = common(analysis);
    let several = analysis.client_counts().len() > 1;
    let groups = analysis.shown_steps();
    let groups = groups.flat_map(|step| GroupId::of_step(plan, step));
    let steps = groups.map(|group| {
        let figures = columns.iter().map(|&target| {
            if plan.is_base(target) {
                return of_base(analysis, group, target);
            }
            let judged = analysis.shown_headline(group, target);
            judged.map(of_judged).into()
        });
        let name = Cell::from(name(analysis, group, common));
        let clients = count(group.of(plan).clients.into());
        let clients = several.then(|| Cell::from(clients));
        let cells = std::iter::once(name).chain(clients);
        cells.chain(figures).collect()
    });
    // Their column of signs stays empty.
    let blank = if has_verdicts { "  " } else { "" };
    let parts = analysis.overall.iter().rev().map(|part| {
        let title = part.title.as_ref();
        let title = title.map_or_else(|| "all steps".to_owned(), |t| format!("all of {t}"));
        let title = format!("{title}{}", analysis.display_words(&part.steps));
        let display = analysis.display_of(&part.steps);
        let empty = || Cell::from("");
        let ratios = columns.iter().map(|&target| {
            let mut targets = part.targets.iter();
            let Some((_, overall)) = targets.find(|(of, _)| *of == target) else {
                return empty();
            };
            let estimate = overall.shown(display);
            Cell::from(estimate.map(|estimate| ratio(estimate, blank)))
        });
        let cells = std::iter::once(Cell::from(title)).chain(several.then(empty));
        cells.chain(ratios).collect()
    });
    let header = std::iter::once(Cell::from("step")).chain(several.then(|| "clients".into()));
    let targets = columns.iter().map(|&target| heading_of(analysis, target));
    Table {
        // Step and clients, and the base if it is the only one.
        repeated: 1 + usize::from(several) + usize::from(!several_bases),
        ..Table::of_figures(header.chain(targets), steps.chain(parts))
    }
}

/// The heading of a target's column.
fn heading_of(analysis: &Analysis<'_>, target: usize) -> Cell {
    let plan = analysis.plan;
    let base = if plan.has_several_bases() && plan.is_base(target) {
        " (base)"
    } else {
        ""
    };
    let name = Cell::from(format!("{}{base}", short_name(analysis, target)));
    name.marked(analysis.trials.failed(target))
}

/// The unit of most rows, which the heading of the base has.
fn common(analysis: &Analysis<'_>) -> Display {
    let displays = || {
        let steps = analysis.shown_steps().map(GroupId::own);
        steps.map(|group| group.display(analysis.plan))
    };
    if displays().any(|display| display == Display::Rate) {
        return Display::Rate;
    }
    displays().next().unwrap_or(Display::Rate)
}

/// A step, with the unit of the base's figure where that is not the common one.
fn name(analysis: &Analysis<'_>, group: GroupId, common: Display) -> String {
    let plan = analysis.plan;
    let name = group.named(plan, &plan.steps[group.step].name);
    let name = format!("{name}{}", analysis.display_words(&[group.step]));
    match (headline(group.of(plan)), group.display(plan)) {
        (Metric::Operations, display) if display == common => name,
        (Metric::Operations, display) => format!("{name}, {}", throughput::unit(display)),
        (metric, _) => format!("{name}: {}, µs", metric.facts().name),
    }
}

/// The figure of a base.
fn of_base(analysis: &Analysis<'_>, group: GroupId, base: usize) -> Cell {
    let plan = analysis.plan;
    let cell = analysis.cells.at(group, base);
    let summary = match headline(group.of(plan)) {
        Metric::Operations => cell.shown(group.display(plan)),
        metric => cell.summary(metric),
    };
    let figure = summary.map(|summary| Cell::figure(figures::plain(summary), summary.mean));
    Cell::from(figure).marked(cell.has_warnings())
}

/// The meaning of the ratios and their signs.
fn legend(analysis: &Analysis<'_>) -> String {
    let plan = analysis.plan;
    let intervals = if plan.contenders().count() <= WITH_INTERVALS_MAX {
        " [interval of 95 %]"
    } else {
        ""
    };
    let mut metrics = analysis
        .shown_steps()
        .map(|step| headline(plan.steps[step].own()));
    let times = if metrics.any(|metric| metric != Metric::Operations) {
        ", and in rows of a response time slower"
    } else {
        ""
    };
    let signs = if analysis.verdicts.family > 0 {
        "▼ regressed, ▲ improved, = equivalent (within the margin), ~ inconclusive, "
    } else {
        ""
    };
    let rates = format!(
        "operations per second ÷ those of {}{OVER}{intervals}; above 1 is faster{times}",
        analysis.plan.base_words()
    );
    let of_time = format!(
        "time of an operation ÷ that of {}{OVER}{intervals}; above 1 is slower",
        analysis.plan.base_words()
    );
    let ratio = match analysis.common_display() {
        Some(RatioDisplay::Throughput) => rates,
        Some(RatioDisplay::Time) => of_time,
        None => format!("{rates}. In rows `time`: {of_time}"),
    };
    format!("Ratio: {ratio}. {signs}! doubtful (a warning concerns it), - no figure.")
}

/// The blocks that a ratio is computed from, in the legend.
const OVER: &str = " in the same block, geometric mean over the blocks";
