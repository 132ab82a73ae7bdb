//! Graphs of letters, for terminals.

use crate::chart::{Chart, Line, Scale};
use crate::figures;

/// Columns that a bar may have beside short names.
const BAR: usize = 50;

/// Columns of a name and its bar together, so that a figure has room beside them.
const NAME_AND_BAR: usize = 85;

/// Letters that fill a place from nothing to all of it.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Columns of a figure of a line.
const PLACE: usize = 2;

/// Bars of a graph with one line over names, else a row of columns for each line. All heights are in
/// proportion, from 0 to the greatest figure.
pub(crate) fn lines(chart: &Chart) -> Vec<String> {
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let most = points().map(|point| point.y).fold(0.0, f64::max);
    match (&chart.x.scale, chart.lines.as_slice()) {
        (Scale::Names(names), [only]) => bars(names, only, most),
        (scale, lines) => columns(chart, scale, lines, most),
    }
}

fn bars(names: &[String], line: &Line, most: f64) -> Vec<String> {
    let width = width(names.iter());
    let longest = BAR.min(NAME_AND_BAR.saturating_sub(width)).max(1);
    let bars = names.iter().enumerate().map(|(index, name)| {
        let mut points = line.points.iter();
        let point = points.find(|point| (point.x - index as f64).abs() < 0.5);
        let bar = point.map_or_else(
            || "-".to_owned(),
            |point| {
                let bar = "█".repeat(level(point.y, most, longest));
                format!("{bar} {}", figures::significant(point.y))
            },
        );
        format!("{name:width$} {bar}")
    });
    bars.collect()
}

fn columns(chart: &Chart, scale: &Scale, lines: &[Line], most: f64) -> Vec<String> {
    let mut places: Vec<f64> = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.x))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let width = width(lines.iter().map(|line| &line.name));
    let rows = lines.iter().map(|line| {
        let letters = places.iter().map(|&place| {
            let point = line
                .points
                .iter()
                .find(|point| point.x.total_cmp(&place).is_eq());
            let letter = point.map(|point| LEVELS[level(point.y, most, LEVELS.len() - 1)]);
            String::from(letter.unwrap_or(' ')).repeat(PLACE)
        });
        format!("{:width$} {}", line.name, letters.collect::<String>())
    });
    let name = |place: f64| match scale {
        Scale::Names(names) => {
            let mut all = names.iter().enumerate();
            let found = all.find(|(index, _)| (*index as f64 - place).abs() < 0.5);
            found.map_or_else(String::new, |(_, name)| name.clone())
        }
        Scale::Log | Scale::FromZero => format!("{place}"),
    };
    let ends = places.first().zip(places.last());
    let ends = ends.map(|(&first, &last)| format!("{} to {}", name(first), name(last)));
    let axes = [
        format!("{}: {}", chart.x.label, ends.unwrap_or_default()),
        format!("height: 0 to {}", figures::significant(most)),
    ];
    rows.chain(axes).collect()
}

/// The share of `most` in steps of which `all` are the whole; at least one of a figure above 0.
fn level(value: f64, most: f64, all: usize) -> usize {
    let mut steps = 0..all;
    if value <= 0.0 || most <= 0.0 {
        return 0;
    }
    let reached = |step: &usize| value / most * all as f64 <= *step as f64 + 0.5;
    steps.find(reached).unwrap_or(all).max(1)
}

fn width<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_in_proportion() {
        for (value, expected) in [
            (0.0, 0),
            (0.01, 1),
            (25.0, 2),
            (50.0, 4),
            (94.0, 8),
            (100.0, 8),
        ] {
            assert_eq!(level(value, 100.0, 8), expected, "{value}");
        }
        assert_eq!(level(1.0, 0.0, 8), 0);
    }
}
