//! The price of wake-ups, and the placement that follows from it.

use prony_model::{Calibration, PlacementRule, WakeUpPrice, WakeUpWindow, WakeUps};
use serde::Serialize;

use crate::document::{Block, Cell, NONE, Table};
use crate::figures::{rounded, significant};
use crate::format::object;
use crate::words::plural;

/// A table of prices, and the kernel's behaviour in words. Nothing where it was not measured.
pub(super) fn blocks(calibration: &Calibration) -> Vec<Block> {
    let Some(wake_ups) = &calibration.wake_ups else {
        return Vec::new();
    };
    let row = |name: &str, price: Option<WakeUpPrice>| {
        let figure = |of: fn(&WakeUpPrice) -> f64| {
            let value = price.as_ref().map(of);
            value.map_or_else(|| NONE.to_owned(), |ns| format!("{:.1}", ns / 1e3))
        };
        let spread = price.map_or_else(|| NONE.to_owned(), |price| percent(price.spread));
        let cells = [
            name.to_owned(),
            figure(|price| price.wall_ns),
            figure(|price| price.cpu_ns),
            spread,
        ];
        cells.map(Cell::from).to_vec()
    };
    let rows = [
        row("on one processor", wake_ups.on_one()),
        row("across two processors", wake_ups.across_two()),
        row("left to the kernel", wake_ups.left_free()),
    ];
    let header = ["placement", "µs each", "CPU µs", "spread"];
    vec![
        Block::Heading("Wake-ups: a byte to another thread and back".to_owned()),
        Block::Table(Table::of_figures(header, rows)),
        Block::Paragraph(words(calibration.placement, wake_ups)),
    ]
}

fn words(rule: PlacementRule, wake_ups: &WakeUps) -> String {
    let Some(ratio) = wake_ups.across_by_same() else {
        return "Prony may use one processor only, so that nothing is placed.".to_owned();
    };
    let free = match wake_ups.behaviour() {
        None => String::new(),
        Some(free) => {
            let changes = match free.seconds_between_changes {
                None => "it did not change".to_owned(),
                Some(seconds) => format!(
                    "it changed {}, every {} s on average",
                    plural(free.changes as u64, "time"),
                    significant(seconds)
                ),
            };
            format!(
                " Left to the kernel, {} of the time was as on one processor and {} as across two; \
                 {changes}.",
                percent(free.near_same),
                percent(free.near_across)
            )
        }
    };
    format!(
        "Across two processors, a wake-up takes {} times as long as on one; placement by rule: \
         {rule}.{free}",
        significant(ratio)
    )
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The same for programs, with the raw windows.
pub(super) fn entry(wake_ups: &WakeUps) -> impl Serialize + use<> {
    let price = |price: Option<WakeUpPrice>| {
        price.map(|price| {
            object! {
                wall_us: rounded(price.wall_ns / 1e3, 3),
                cpu_us: rounded(price.cpu_ns / 1e3, 3),
                spread: rounded(price.spread, 4),
            }
        })
    };
    let windows = |windows: &[WakeUpWindow]| windows.to_vec();
    let free = wake_ups.behaviour();
    object! {
        same: price(wake_ups.on_one()),
        across: price(wake_ups.across_two()),
        free: price(wake_ups.left_free()),
        across_by_same: wake_ups.across_by_same().map(|ratio| rounded(ratio, 3)),
        near_same: free.map(|free| rounded(free.near_same, 4)),
        near_across: free.map(|free| rounded(free.near_across, 4)),
        changes: free.map(|free| free.changes),
        seconds_between_changes: free
            .and_then(|free| free.seconds_between_changes)
            .map(|seconds| rounded(seconds, 3)),
        windows: object! {
            same: windows(&wake_ups.same),
            across: windows(&wake_ups.across),
            free: windows(&wake_ups.free),
        },
    }
}
