//! Noise of the host.

use prony_model::NoisePoint;
use prony_stats::{Fluctuation, Summary};
use serde::Serialize;

use super::{doubt, name, taken};
use crate::document::{Block, Cell, NONE, Table};
use crate::figures::rounded;
use crate::format::object;
use crate::words::whole;

/// Lengths of a mean for which its deviation is shown, in seconds.
const SECONDS: [f64; 3] = [0.25, 1.0, 10.0];

/// A table by number of clients. Nothing where noise was not measured.
pub(super) fn blocks(points: &[NoisePoint]) -> Vec<Block> {
    if points.is_empty() {
        return Vec::new();
    }
    let header = [
        "generator",
        "windows",
        "queries/s",
        "deviation of 0.25 s",
        "of 1 s",
        "of 10 s",
        "taken",
    ];
    vec![
        Block::Heading(
            "Noise of this machine: the same loop, in windows of a quarter of a second".to_owned(),
        ),
        Block::Table(Table::of_figures(header, points.iter().map(row))),
    ]
}

fn row(point: &NoisePoint) -> Vec<Cell> {
    let rates = point.rates();
    let fluctuation = fluctuation(point);
    let deviation = |seconds| match &fluctuation {
        Some(known) => format!("{:.1} %", known.log_deviation(seconds) * 100.0),
        None => NONE.to_owned(),
    };
    let mean = Summary::of_amounts(&rates).ok();
    let [short, second, long] = SECONDS.map(deviation);
    [
        name(point.backend, point.clients),
        rates.len().to_string(),
        mean.map_or_else(|| NONE.to_owned(), |summary| whole(summary.mean)),
        short,
        second,
        long,
        taken(point.host),
    ]
    .map(Cell::from)
    .to_vec()
}

/// The fluctuation of a point. `None` where it has too few windows, or nothing was answered.
fn fluctuation(point: &NoisePoint) -> Option<Fluctuation> {
    Fluctuation::of(&point.rates(), point.window_ms as f64 / 1e3).ok()
}

pub(super) fn entry(point: &NoisePoint) -> impl Serialize {
    let fluctuation = fluctuation(point);
    let deviations = SECONDS.map(|seconds| {
        let known = fluctuation.as_ref();
        let deviation = known.map(|known| rounded(known.log_deviation(seconds), 5));
        object! { seconds: seconds, log_deviation: deviation }
    });
    object! {
        #[serde(flatten)]
        point: point,
        deviations: deviations,
        taken: doubt(point.host),
    }
}
