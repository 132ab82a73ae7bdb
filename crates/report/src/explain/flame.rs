//! Flame graphs as SVG: the width of a function is its cost with all that it calls.
//!
//! A function is coloured by the difference of that cost, not of its own cost alone, so that the way to a
//! difference can be seen. What only the base has is invisible in the graph of the target: the graph of the base
//! stands below it.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use prony_profile::{common_stacks, stacks};

use super::answer::Compared;
use super::question::ExplainUnit;
use crate::words::whole;

/// Pixels.
const WIDTH: f64 = 1_200.0;
const ROW: f64 = 17.0;
const MARGIN: f64 = 10.0;
const HEADING: f64 = 26.0;
/// Narrower functions are left out of a file.
const NARROWEST: f64 = 0.4;
/// The same of a page, which has several graphs and is to stay small.
const NARROWEST_OF_PAGE: f64 = 2.0;
/// Pixels of a letter, at most.
const LETTER: f64 = 6.6;

/// A function in a stack, with what it calls.
#[derive(Default)]
struct Frame {
    /// Cost in base and target together with all that it calls.
    cost: [f64; 2],
    callees: BTreeMap<String, Frame>,
}

impl Frame {
    fn add(&mut self, stack: &[String], cost: [f64; 2]) {
        for (sum, own) in self.cost.iter_mut().zip(cost) {
            *sum += own;
        }
        if let Some((first, rest)) = stack.split_first() {
            self.callees
                .entry(first.clone())
                .or_default()
                .add(rest, cost);
        }
    }

    fn depth(&self) -> usize {
        let below = self.callees.values().map(Self::depth).max();
        1 + below.unwrap_or(0)
    }

    fn difference(&self) -> f64 {
        self.cost[1] - self.cost[0]
    }
}

/// A graph: the side that widths are of.
struct Graph {
    side: usize,
    /// Pixels for each unit of cost.
    scale: f64,
    /// Vertical place of the outermost functions.
    bottom: f64,
    /// The largest difference; 0 for one target alone.
    most: f64,
    /// Pixels of the narrowest function.
    narrowest: f64,
}

/// The picture of a target, and of its base where it has one, as a file.
pub(super) fn svg(two: &Compared<'_>, unit: ExplainUnit) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        draw(two, unit, NARROWEST).into_string()
    )
}

/// The same as a part of a page.
pub(super) fn of_page(two: &Compared<'_>, unit: ExplainUnit) -> String {
    draw(two, unit, NARROWEST_OF_PAGE).into_string()
}

fn draw(two: &Compared<'_>, unit: ExplainUnit, narrowest: f64) -> Markup {
    let mut root = Frame::default();
    let names = if two.is_alone() {
        for (stack, own) in stacks(&two.target.trials) {
            root.add(&stack, [own, own]);
        }
        vec![(1, two.target.name.as_str())]
    } else {
        for (stack, cost) in common_stacks(&two.base.trials, &two.target.trials) {
            root.add(&stack, cost);
        }
        vec![(1, two.target.name.as_str()), (0, two.base.name.as_str())]
    };
    let rows = root.depth() as f64;
    let of_graph = HEADING + rows * ROW + MARGIN;
    let height = of_graph * names.len() as f64 + MARGIN;
    let most = root
        .callees
        .values()
        .map(most_difference)
        .fold(0.0, f64::max);
    let widest = root.cost[0].max(root.cost[1]).max(f64::MIN_POSITIVE);
    let graphs = names.into_iter().enumerate().map(|(index, (side, name))| {
        let top = of_graph * index as f64;
        let graph = Graph {
            side,
            scale: (WIDTH - 2.0 * MARGIN) / widest,
            bottom: top + HEADING + (rows - 1.0) * ROW,
            most,
            narrowest,
        };
        let heading = format!(
            "{}, {}: {} {}",
            two.target.step,
            name,
            whole(root.cost[side]),
            unit.of_operation()
        );
        html! {
            text x=(MARGIN) y=(top + HEADING - 8.0) font-weight="bold" { (heading) }
            (graph.frame("all of sessions", &root, MARGIN, 0))
        }
    });
    html! {
        svg.flame xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox=(format!("0 0 {WIDTH} {height}")) font-family="monospace" font-size="11" {
            rect width="100%" height="100%" fill="white" {}
            @for graph in graphs { (graph) }
        }
    }
}

/// The largest difference of a function below.
fn most_difference(frame: &Frame) -> f64 {
    let below = frame.callees.values().map(most_difference);
    below.fold(frame.difference().abs(), f64::max)
}

impl Graph {
    /// A function with all that it calls, which begins at `left` pixels and is called through `depth` others.
    fn frame(&self, name: &str, frame: &Frame, left: f64, depth: usize) -> Markup {
        let width = frame.cost[self.side] * self.scale;
        if width < self.narrowest {
            return html! {};
        }
        let top = self.bottom - depth as f64 * ROW;
        let room = (width - 4.0) / LETTER;
        let mut at = left;
        let callees = frame.callees.iter().map(|(name, callee)| {
            let drawn = self.frame(name, callee, at, depth + 1);
            at += callee.cost[self.side] * self.scale;
            drawn
        });
        let callees: Vec<Markup> = callees.collect();
        html! {
            g {
                title { (self.about(name, frame)) }
                rect x=(pixels(left)) y=(pixels(top)) width=(pixels(width)) height=(ROW - 1.0)
                    fill=(self.colour(frame)) stroke="white" stroke-width="0.5" {}
                @if room >= 3.0 {
                    text x=(pixels(left + 2.0)) y=(pixels(top + 12.0)) { (shortened(name, room)) }
                }
            }
            @for callee in callees { (PreEscaped(callee.into_string())) }
        }
    }

    fn about(&self, name: &str, frame: &Frame) -> String {
        if self.most <= 0.0 {
            return format!("{name}: {}", whole(frame.cost[self.side]));
        }
        let sign = if frame.difference() < 0.0 { "-" } else { "+" };
        format!(
            "{name}: {} → {} ({sign}{})",
            whole(frame.cost[0]),
            whole(frame.cost[1]),
            whole(frame.difference().abs())
        )
    }

    /// Red for more, blue for fewer, the stronger the larger the difference is.
    fn colour(&self, frame: &Frame) -> String {
        if self.most <= 0.0 {
            return "#f2c48d".to_owned();
        }
        let strength = (frame.difference().abs() / self.most).sqrt().min(1.0);
        let pale = format!("{:.0}", 240.0 - 150.0 * strength);
        if frame.difference() < 0.0 {
            format!("rgb({pale},{pale},245)")
        } else {
            format!("rgb(245,{pale},{pale})")
        }
    }
}

fn pixels(value: f64) -> String {
    format!("{value:.1}")
}

/// The beginning of a name that fits where there is room for this many letters.
fn shortened(name: &str, room: f64) -> String {
    if name.chars().count() as f64 <= room {
        return name.to_owned();
    }
    let fits = |count: &usize| (count + 2) as f64 <= room;
    let kept = name
        .chars()
        .zip(1_usize..)
        .take_while(|(_, count)| fits(count));
    kept.map(|(letter, _)| letter).chain("..".chars()).collect()
}
