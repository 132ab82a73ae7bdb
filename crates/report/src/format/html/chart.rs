//! Graphs as SVG.
//!
//! No text is measured, because fonts differ between readers. The only text in a drawing are the
//! numbers at axes and line ends, whose places leave room for the widest font; names and units stand
//! around it as HTML, which wraps.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::{self, Positions, Tick};
use crate::chart::{Axis, Chart, Line, Point, Scale};

/// Size of a drawing, in pixels. It is never scaled, so that its text keeps its size on phones.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 210.0;

/// Room around the plot for the numbers.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;

/// Pixels that a digit takes at most, in the size of tick labels.
const DIGIT: f64 = 7.0;

/// Pixels between the numbers of lines.
const LINE_NUMBER: f64 = 12.0;

/// Lines whose band is drawn: more would hide each other.
const BANDS_MAX: usize = 6;

/// Draws a graph. Numbers at the ends of lines are those of the targets in the page's list.
pub(super) fn draw(chart: &Chart, base: usize) -> Markup {
    let Some(plot) = Plot::of(chart) else {
        return html! {};
    };
    html! {
        figure.chart {
            figcaption { (chart.title) }
            span.axis { (chart.y.label) }
            svg role="img" width=(WIDTH) height=(HEIGHT)
                viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
                title { (chart.title) ": " (chart.y.label) " by " (chart.x.label) }
                (plot.axes())
                @if chart.lines.len() <= BANDS_MAX {
                    @for (index, line) in chart.lines.iter().enumerate() { (plot.band(line, index)) }
                }
                @for (index, line) in chart.lines.iter().enumerate() {
                    (plot.line(line, index, line.target == Some(base)))
                }
                @if let Some(limit) = &chart.limit { (plot.limit(limit)) }
                (plot.numbers(&chart.lines))
            }
            span.axis.below { (chart.x.label) }
            (names(&chart.x.scale))
            (key(chart))
            @if !chart.notes.is_empty() {
                ul.notes { @for note in &chart.notes { li { (note) } } }
            }
        }
    }
}

/// The names of places of an axis, whose numbers the drawing shows.
fn names(scale: &Scale) -> Markup {
    let Scale::Names(names) = scale else {
        return html! {};
    };
    html! {
        @if !fit(names) {
            ol.names { @for name in names { li { bdi { (name) } } } }
        }
    }
}

/// The lines that are not those of targets, which the page explains once.
fn key(chart: &Chart) -> Markup {
    let others = || chart.lines.iter().filter(|line| line.target.is_none());
    html! {
        @if others().next().is_some() {
            ol.names {
                @for (index, line) in others().enumerate() {
                    li class=(format!("l{index}")) { span.swatch aria-hidden="true" {} " " bdi { (line.name) } }
                }
            }
        }
    }
}

/// Returns `true` if names have room under their places.
fn fit(names: &[String]) -> bool {
    let longest = names.iter().map(|name| name.chars().count()).max();
    let is_plain = names.iter().all(|name| name.is_ascii());
    let width = (WIDTH - LEFT - RIGHT) / names.len().max(1) as f64;
    is_plain && (longest.unwrap_or(0) + 1) as f64 * DIGIT <= width
}

/// The axes of a graph with their marks.
struct Plot {
    x: Positions,
    y: Positions,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
}

impl Plot {
    /// `None` if there is nothing to draw.
    fn of(chart: &Chart) -> Option<Self> {
        let lines = || chart.lines.iter().chain(&chart.limit);
        let points = || lines().flat_map(|line| &line.points);
        points().next()?;
        let xs = || points().map(|point| point.x);
        let has_bands = chart.lines.len() <= BANDS_MAX;
        let ys = || points().flat_map(move |point| with_interval(*point, has_bands));
        let (x, x_ticks) = horizontal(&chart.x, xs);
        let (y, y_ticks) = vertical(&chart.y, ys);
        Some(Self {
            x,
            y,
            x_ticks,
            y_ticks,
        })
    }

    fn axes(&self) -> Markup {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut grid = String::new();
        for tick in &self.y_ticks {
            let _ = write!(grid, "M{LEFT} {}H{right}", px(self.y.at(tick.value)));
        }
        let mut marks = format!("M{LEFT} {bottom}H{right}");
        for tick in &self.x_ticks {
            let _ = write!(marks, "M{} {bottom}v4", px(self.x.at(tick.value)));
        }
        html! {
            path class="grid" d=(grid) {}
            path class="frame" d=(marks) {}
            @for tick in &self.y_ticks {
                text x=(LEFT - 5.0) y=(px(self.y.at(tick.value) + 4.0)) class="e" { (tick.label) }
            }
            @for tick in self.labelled() {
                text x=(px(self.x.at(tick.value))) y=(HEIGHT - 6.0) class="m" { (tick.label) }
            }
        }
    }

    /// The marks of the horizontal axis that have room for their label.
    fn labelled(&self) -> Vec<&Tick> {
        let mut end = f64::MIN;
        let mut shown = Vec::new();
        for tick in &self.x_ticks {
            let half = (tick.label.chars().count() as f64 + 1.0) * DIGIT / 2.0;
            let at = self.x.at(tick.value);
            if at - half >= end && at + half <= WIDTH + DIGIT {
                shown.push(tick);
                end = at + half;
            }
        }
        shown
    }

    /// The intervals of a line's points as an area.
    fn band(&self, line: &Line, index: usize) -> Markup {
        let known = |point: &&Point| point.interval.is_some();
        let points: Vec<&Point> = line.points.iter().filter(known).collect();
        if points.len() < 2 {
            return html! {};
        }
        let end = |point: &Point, is_high: bool| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            let y = if is_high { high } else { low };
            format!("{} {}", px(self.x.at(point.x)), px(self.y.at(y)))
        };
        let upper = points.iter().map(|point| end(point, true));
        let lower = points.iter().rev().map(|point| end(point, false));
        let path: Vec<String> = upper.chain(lower).collect();
        html! { path class={ "band" (colour(line, index)) } d=(format!("M{}Z", path.join("L"))) {} }
    }

    fn line(&self, line: &Line, index: usize, is_base: bool) -> Markup {
        let at = |point: &Point| (px(self.x.at(point.x)), px(self.y.at(point.y)));
        let path: Vec<String> = line
            .points
            .iter()
            .map(|point| {
                let (x, y) = at(point);
                format!("{x} {y}")
            })
            .collect();
        let mut marks = String::new();
        for point in &line.points {
            let (x, y) = at(point);
            let _ = write!(marks, "M{x} {y}h0");
        }
        let dashed = if is_base { " dashed" } else { "" };
        // Every point of few; many would hide the line.
        let is_sparse = line.points.len() <= 12;
        html! {
            path class={ "line" (dashed) (colour(line, index)) } d=(format!("M{}", path.join("L"))) {}
            @if is_sparse { path class={ "dot" (colour(line, index)) } d=(marks) {} }
        }
    }

    /// A bound, which has no marks and no number.
    fn limit(&self, line: &Line) -> Markup {
        let at = |point: &Point| format!("{} {}", px(self.x.at(point.x)), px(self.y.at(point.y)));
        let path: Vec<String> = line.points.iter().map(at).collect();
        html! { path class="limit" d=(format!("M{}", path.join("L"))) { title { (line.name) } } }
    }

    /// The number of each line at its end, moved apart where lines end near each other.
    fn numbers(&self, lines: &[Line]) -> Markup {
        let room = ((HEIGHT - TOP - BOTTOM) / LINE_NUMBER).floor();
        if lines.len() < 2 || lines.len() as f64 > room {
            return html! {};
        }
        let ends = lines.iter().enumerate().filter_map(|(index, line)| {
            let number = line.target.unwrap_or(index) + 1;
            let colour = colour(line, index);
            Some((self.y.at(line.points.last()?.y), number, colour))
        });
        let mut ends: Vec<(f64, usize, String)> = ends.collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let places: Vec<f64> = ends.iter().map(|(y, ..)| *y).collect();
        let places = apart(&places, LINE_NUMBER, (TOP, HEIGHT - BOTTOM));
        html! {
            @for ((_, number, colour), y) in ends.iter().zip(places) {
                text x=(WIDTH - RIGHT + 6.0) y=(px(y + 4.0)) class={ "number" (colour) } {
                    (number)
                }
            }
        }
    }
}

/// Moves ascending places to at least `gap` from each other, within bounds that have room for all.
fn apart(places: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    let mut moved: Vec<f64> = Vec::with_capacity(places.len());
    for &place in places {
        let least = moved.last().map_or(low, |last| last + gap);
        moved.push(place.max(least));
    }
    let mut most = high;
    for place in moved.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    moved
}

fn with_interval(point: Point, has_band: bool) -> impl Iterator<Item = f64> {
    let interval = point.interval.filter(|_| has_band);
    let (low, high) = interval.unwrap_or((point.y, point.y));
    [point.y, low, high].into_iter()
}

/// The class of a line's colour, after a blank.
fn colour(line: &Line, index: usize) -> String {
    match line.target {
        Some(target) => format!(" v{target}"),
        None => format!(" l{index}"),
    }
}

fn horizontal<I: Iterator<Item = f64>>(
    axis: &Axis,
    values: impl Fn() -> I,
) -> (Positions, Vec<Tick>) {
    let pixels = (LEFT, WIDTH - RIGHT);
    match &axis.scale {
        Scale::FromZero => {
            let most = values().fold(0.0, f64::max);
            let ticks = scale::from_zero(most, 5);
            // To the last figure, and not to the mark after it.
            let ticks: Vec<Tick> = ticks
                .into_iter()
                .filter(|tick| tick.value <= most)
                .collect();
            (Positions::linear((0.0, most), pixels), ticks)
        }
        Scale::Log => {
            let bounds = bounds(values());
            let mut known: Vec<f64> = values().collect();
            known.sort_by(f64::total_cmp);
            known.dedup();
            let ticks = if known.len() <= 12 {
                // Numbers of clients: exactly those that were measured.
                known
                    .into_iter()
                    .map(|value| Tick {
                        value,
                        label: crate::words::separated(&value.to_string()),
                    })
                    .collect()
            } else {
                scale::log(bounds.0, bounds.1, 6)
            };
            (Positions::log(bounds, pixels), ticks)
        }
        Scale::Names(names) => {
            // Half a place of room on both sides.
            let last = names.len() as f64 - 0.5;
            let is_short = fit(names);
            let ticks = names.iter().enumerate().map(|(index, name)| Tick {
                value: index as f64,
                label: if is_short {
                    name.clone()
                } else {
                    (index + 1).to_string()
                },
            });
            (Positions::linear((-0.5, last), pixels), ticks.collect())
        }
    }
}

fn vertical<I: Iterator<Item = f64>>(
    axis: &Axis,
    values: impl Fn() -> I,
) -> (Positions, Vec<Tick>) {
    let pixels = (HEIGHT - BOTTOM, TOP);
    let ends = |ticks: &[Tick]| {
        let first = ticks.first().map_or(0.0, |tick| tick.value);
        (first, ticks.last().map_or(1.0, |tick| tick.value))
    };
    if axis.scale == Scale::Log {
        let bounds = bounds(values());
        let ticks = scale::log(bounds.0, bounds.1, 7);
        return (Positions::log(ends(&ticks), pixels), ticks);
    }
    let ticks = scale::from_zero(values().fold(0.0, f64::max), 4);
    (Positions::linear(ends(&ticks), pixels), ticks)
}

/// The least and the greatest of figures above 0.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut bounds = (f64::MAX, 0.0_f64);
    for value in values.filter(|value| *value > 0.0) {
        bounds = (bounds.0.min(value), bounds.1.max(value));
    }
    if bounds.1 > 0.0 { bounds } else { (1.0, 2.0) }
}

/// A position to a tenth of a pixel.
pub(super) fn px(position: f64) -> String {
    let text = format!("{position:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_lines_do_not_touch() {
        let places = apart(&[10.0, 11.0, 12.0, 199.0, 200.0], 12.0, (8.0, 200.0));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 12.0));
        assert!(places[0] >= 8.0 && places[4] <= 200.0);
    }

    #[test]
    fn positions_have_a_tenth_of_a_pixel() {
        let texts = [1.0, 1.25, -0.01, 340.04].map(px);
        assert_eq!(texts, ["1", "1.2", "0", "340"]);
    }

    fn chart(scale: Scale, points: &[(f64, f64)]) -> Chart {
        let point = |&(x, y): &(f64, f64)| Point {
            x,
            y,
            interval: Some((y * 0.9, y * 1.1)),
        };
        Chart {
            title: "point <query>".into(),
            x: Axis {
                label: "clients".into(),
                scale,
            },
            y: Axis {
                label: "operations/s".into(),
                scale: Scale::FromZero,
            },
            lines: vec![Line {
                name: "mysql-5.0".into(),
                target: Some(1),
                points: points.iter().map(point).collect(),
            }],
            limit: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_graph_has_title_units_and_marks() {
        let drawn = draw(&chart(Scale::Log, &[(1.0, 10.0), (4.0, 30.0)]), 0).into_string();
        for part in [
            "<title>point &lt;query&gt;: operations/s by clients</title>",
            "v1",
            ">4<",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }

    #[test]
    fn a_limit_has_room_and_notes_stand_below() {
        let mut limited = chart(Scale::Log, &[(1.0, 10.0), (4.0, 30.0)]);
        let limit = Line {
            name: "ceiling".into(),
            target: None,
            points: chart(Scale::Log, &[(1.0, 40.0), (4.0, 70.0)]).lines[0]
                .points
                .clone(),
        };
        limited.limit = Some(limit);
        limited.notes = vec!["a < b".into()];
        let drawn = draw(&limited, 0).into_string();
        for part in [
            "class=\"limit\"",
            "<title>ceiling</title>",
            "<li>a &lt; b</li>",
            ">80<",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }

    #[test]
    fn odd_figures_are_drawn() {
        let names = || Scale::Names(vec!["a".into()]);
        for scale in [Scale::FromZero, Scale::Log, names()] {
            for points in [&[(0.0, 0.0)][..], &[(1.0, 1e-9), (1.0, 1e12)]] {
                let drawn = draw(&chart(scale.clone(), points), 0).into_string();
                assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
            }
        }
        assert_eq!(draw(&chart(Scale::Log, &[]), 0).into_string(), "");
    }
}
