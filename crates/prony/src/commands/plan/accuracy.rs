//! The expected accuracy of ratios in words.

use prony_model::{Calibration, Plan};
use prony_plan::{Accuracy, Assumptions, Change, accuracy as expected, has_accuracy};

use crate::words::{duration, plural, table};

/// Half-widths that a reader may want, as shares of a ratio.
const WANTED: [f64; 3] = [0.05, 0.02, 0.01];

/// Expected half-widths of the ratios of throughput, and what reaches smaller ones. Empty where the
/// plan compares nothing that is measured for a time.
pub(super) fn accuracy(plan: &Plan, calibration: Option<&Calibration>) -> Vec<String> {
    if !has_accuracy(plan) {
        return Vec::new();
    }
    let groups = calibration.map_or_else(Vec::new, |known| {
        expected(plan, known, &Assumptions::default(), &WANTED)
    });
    if groups.is_empty() {
        return vec!["\nExpected accuracy: unknown; run `prony calibrate` first.".to_owned()];
    }
    let mut rows = vec![header()];
    rows.extend(groups.iter().map(|group| row(plan, group)));
    let blocks = plural(plan.blocks().into(), "block");
    let mut lines = vec![format!(
        "\nExpected half-width of the 95 % interval of relative QPS with {blocks}, and the change \
         that reaches\nothers soonest, with the time of the whole run:"
    )];
    lines.extend(table(&rows).lines().map(|line| format!("  {line}")));
    lines.push(
        "This is the noise of this machine with a null server. A real server adds its own: these \
         are lower\nbounds."
            .to_owned(),
    );
    if calibration.is_some_and(Calibration::is_disturbed) {
        lines.push(
            "Other programs disturbed the calibration: run `prony calibrate` again on a quiet \
             machine."
                .to_owned(),
        );
    }
    lines
}

fn header() -> Vec<String> {
    let wanted = WANTED.map(|wanted| format!("±{:.0} %", wanted * 100.0));
    let first = ["step", "expected"].map(str::to_owned);
    first.into_iter().chain(wanted).collect()
}

fn row(plan: &Plan, group: &Accuracy) -> Vec<String> {
    let expected = group.half_width.map_or_else(
        || "none with 1 block".to_owned(),
        |width| format!("±{:.1} %", width * 100.0),
    );
    let first = [label(plan, group), expected];
    let changes = group.changes.iter().copied().map(change);
    first.into_iter().chain(changes).collect()
}

/// The steps in a few words.
fn label(plan: &Plan, group: &Accuracy) -> String {
    let time = duration(group.time_ms);
    let first = group.steps.first().and_then(|&step| plan.steps.get(step));
    let Some(first) = first else {
        return time;
    };
    let of_first = first.own().clients;
    let alike = plan.steps.iter().all(|step| step.own().clients == of_first);
    let clients = if alike {
        String::new()
    } else {
        format!(", {}", plural(of_first.into(), "client"))
    };
    let more = match group.steps.len() {
        0 | 1 => String::new(),
        steps => format!(" and {} more", steps - 1),
    };
    format!("{}{clients}{more}: {time}", first.name)
}

fn change(change: Change) -> String {
    match change {
        Change::Reached => "reached".to_owned(),
        Change::Blocks { blocks, run_ms } => {
            format!("{}, {}", plural(blocks.into(), "block"), roughly(run_ms))
        }
        Change::Time { time_ms, run_ms } => {
            format!("{} each, {}", duration(time_ms), roughly(run_ms))
        }
        Change::OutOfReach => "out of reach".to_owned(),
    }
}

/// A time in minutes, or in hours from two of them on.
fn roughly(ms: u64) -> String {
    let minutes = ms.div_ceil(60_000);
    if minutes < 120 {
        format!("{minutes} min")
    } else {
        format!("{:.1} h", minutes as f64 / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_name_the_time_of_the_run() {
        for (given, expected) in [
            (Change::Reached, "reached"),
            (Change::OutOfReach, "out of reach"),
            (
                Change::Blocks {
                    blocks: 12,
                    run_ms: 3_599_000,
                },
                "12 blocks, 60 min",
            ),
            (
                Change::Time {
                    time_ms: 12_600,
                    run_ms: 7_200_000,
                },
                "12 s each, 2.0 h",
            ),
        ] {
            assert_eq!(change(given), expected);
        }
    }
}
