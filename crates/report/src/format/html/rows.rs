//! The table of one step: a row for each target with its interval and a dot for every block.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::blocks::{self, figure};
use super::chart::px;
use super::scale::{self, Positions, Tick};
use crate::page::web::steps::{Fold, StepPart, TargetRow};
use crate::page::web::{SectionPart, WebPage};
use crate::words::share;

/// Size of the picture of a row, in pixels.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 22.0;

/// Room at both ends for half a label.
const SIDE: f64 = 18.0;

/// Pixels that a label takes at most.
const LABEL: f64 = 38.0;

/// The axis of ratios that the rows of a section share.
pub(super) struct RatioAxis {
    positions: Positions,
    ticks: Vec<Tick>,
}

/// The axis that holds every ratio of a section, with its intervals and blocks, and the margins.
pub(super) fn axis_of(section: &SectionPart) -> RatioAxis {
    let mut bounds = (1.0_f64, 1.0_f64);
    for step in &section.steps {
        let mut include = |value: f64| bounds = (bounds.0.min(value), bounds.1.max(value));
        include(1.0 / (1.0 + step.margin));
        include(1.0 + step.margin);
        for row in &step.rows {
            row.blocks.iter().copied().for_each(&mut include);
            if let Some(ratio) = &row.ratio {
                let ends = [ratio.low.as_ref(), ratio.high.as_ref()];
                // One block says nothing of the interval of two, which may be very wide.
                let near = ends.into_iter().flatten().map(|(_, value)| *value);
                near.filter(|value| (1e-3..=1e3).contains(value))
                    .for_each(&mut include);
            }
        }
    }
    let ticks = scale::log(bounds.0, bounds.1, 8);
    let first = ticks.first().map_or(bounds.0, |tick| tick.value);
    let last = ticks.last().map_or(bounds.1, |tick| tick.value);
    RatioAxis {
        positions: Positions::log((first, last), (SIDE, WIDTH - SIDE)),
        ticks,
    }
}

/// The table of a step, and what explains it.
pub(super) fn step(step: &StepPart, axis: &RatioAxis, page: &WebPage) -> Markup {
    let has_ratios = step.rows.iter().any(|row| row.ratio.is_some());
    html! {
        article aria-labelledby=(step.anchor) {
            h3 id=(step.anchor) { bdi { (step.title) } " " a.up href="#map" { "all cells" } }
            div.scroll tabindex="0" role="group" aria-label=(step.title) {
                table.rows {
                    thead { tr {
                        th scope="col" { "target" }
                        @if has_ratios {
                            th scope="col" { (words(step)) } th scope="col" { "95 % interval" }
                            th.verdict scope="col" { "verdict" } th scope="col" { "blocks" }
                        }
                        th scope="col" { (step.unit) }
                        @if has_ratios { td.picture { (head(axis, step)) } }
                    } }
                    tbody { @for of in &step.rows { (row(of, step, axis, has_ratios)) } }
                }
            }
            @for fold in &step.folds { (self::fold(fold, step, page.base)) }
        }
    }
}

/// The heading of ratios.
const fn words(step: &StepPart) -> &'static str {
    if step.is_time {
        "ratio of time"
    } else {
        "ratio"
    }
}

fn fold(fold: &Fold, step: &StepPart, base: usize) -> Markup {
    let label = format!("{}: {}", step.title, fold.summary);
    html! {
        details {
            summary { (fold.summary) span.vh { " of " (step.title) } }
            (blocks::all(&fold.blocks, &label, base))
        }
    }
}

fn row(row: &TargetRow, step: &StepPart, axis: &RatioAxis, has_ratios: bool) -> Markup {
    html! {
        tr id=(row.anchor) class={ "v" (row.target) } {
            th scope="row" {
                span.number { (row.target + 1) } " " (blocks::cell(&row.name))
            }
            @if has_ratios {
                td.figure {
                    @if row.mark { (blocks::mark()) }
                    @match &row.ratio {
                        Some(ratio) => (figure(&ratio.text, ratio.value, &key(step, row, "ratio"))),
                        None => { @if row.is_base { "1" } @else { "-" } }
                    }
                }
                td.figure { (interval(row, step)) }
                td.verdict { (verdict(row)) }
                td.figure { @match &row.ratio { Some(ratio) => (ratio.n), None => "" } }
            }
            td.figure {
                @match &row.absolute {
                    Some((text, value)) => (figure(text, *value, &format!("{}.shown", row.anchor))),
                    None => "-",
                }
            }
            @if has_ratios { td.picture { (picture(row, step, axis)) } }
        }
    }
}

/// The key of a figure of a ratio: those of time have names of their own.
fn key(step: &StepPart, row: &TargetRow, name: &str) -> String {
    match (step.is_time, name) {
        (false, name) => format!("{}.{name}", row.anchor),
        (true, name) => format!("{}.time_{name}", row.anchor),
    }
}

fn interval(row: &TargetRow, step: &StepPart) -> Markup {
    let ends = row
        .ratio
        .as_ref()
        .and_then(|ratio| ratio.low.as_ref().zip(ratio.high.as_ref()));
    html! {
        @if let Some(((low, low_value), (high, high_value))) = ends {
            "[" (figure(low, *low_value, &key(step, row, "low"))) ", "
            (figure(high, *high_value, &key(step, row, "high"))) "]"
        }
    }
}

fn verdict(row: &TargetRow) -> Markup {
    html! {
        @if let Some(sign) = row.sign {
            span aria-hidden="true" { (sign.sign) " " } (sign.words)
            @if !row.doubts.is_empty() {
                span.doubt { "; but " (row.doubts.join(", and ")) }
            }
        }
    }
}

/// The axis above the pictures.
fn head(axis: &RatioAxis, step: &StepPart) -> Markup {
    let mut end = f64::MIN;
    let ticks = axis.ticks.iter().filter(|tick| {
        let at = axis.positions.at(tick.value);
        let has_room = at - LABEL / 2.0 >= end;
        if has_room {
            end = at + LABEL / 2.0;
        }
        has_room
    });
    html! {
        span.vh { "picture: every block, interval and mean" }
        span.axis aria-hidden="true" { (words(step)) "; the margin is " (share(step.margin)) }
        svg width=(WIDTH) height="18" aria-hidden="true" {
            @for tick in ticks {
                text x=(px(axis.positions.at(tick.value))) y="13" class="m" { (tick.label) }
            }
        }
    }
}

fn picture(row: &TargetRow, step: &StepPart, axis: &RatioAxis) -> Markup {
    let at = |value: f64| axis.positions.at(value);
    let (low, high) = (at(1.0 / (1.0 + step.margin)), at(1.0 + step.margin));
    let mut grid = String::new();
    for tick in &axis.ticks {
        let _ = write!(grid, "M{} 0V{HEIGHT}", px(at(tick.value)));
    }
    // Dots in the order of the blocks from above, so that a drift is a slope.
    let mut dots = String::new();
    let count = row.blocks.len().max(2) as f64 - 1.0;
    for (index, &value) in row.blocks.iter().enumerate() {
        let y = 4.0 + (HEIGHT - 8.0) * index as f64 / count;
        let _ = write!(dots, "M{} {}h0", px(at(value)), px(y));
    }
    let ends = row
        .ratio
        .as_ref()
        .and_then(|ratio| ratio.low.as_ref().zip(ratio.high.as_ref()));
    let middle = HEIGHT / 2.0;
    html! {
        svg width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
            rect class="margin" x=(px(low)) y="0" width=(px((high - low).max(1.0)))
                height=(HEIGHT) {}
            path class="grid" d=(grid) {}
            path class="one" d=(format!("M{} 0V{HEIGHT}", px(at(1.0)))) {}
            @if !dots.is_empty() { path class="dots" d=(dots) {} }
            @if let Some(((_, low), (_, high))) = ends {
                path class="interval" d=(format!(
                    "M{} {}v8M{0} {middle}H{}M{2} {1}v8",
                    px(at(*low)), middle - 4.0, px(at(*high))
                )) {}
            }
            @if let Some(ratio) = &row.ratio {
                rect class="mean" x=(px(at(ratio.value) - 3.0)) y=(middle - 3.0) width="6" height="6" {}
            }
        }
    }
}
