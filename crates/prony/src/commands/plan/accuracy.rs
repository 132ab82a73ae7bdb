//! The expected accuracy of ratios in words.

use std::collections::BTreeMap;

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
    let wanted = wanted(plan);
    let groups = calibration.map_or_else(Vec::new, |known| {
        expected(plan, known, &Assumptions::default(), &wanted)
    });
    if groups.is_empty() {
        return vec!["\nExpected accuracy: unknown; run `prony calibrate` first.".to_owned()];
    }
    let mut rows = vec![header(&wanted)];
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
    lines.extend(unresolved(plan, &groups));
    if calibration.is_some_and(Calibration::is_disturbed) {
        lines.push(
            "Other programs disturbed the calibration: run `prony calibrate` again on a quiet \
             machine."
                .to_owned(),
        );
    }
    lines
}

/// The half-widths to reach: that of a campaign, or those that a reader may want.
fn wanted(plan: &Plan) -> Vec<f64> {
    let campaign = plan.campaign.as_ref();
    let of_campaign = campaign.map(|campaign| f64::from(campaign.precision_percent.0) / 1e5);
    of_campaign.map_or_else(|| WANTED.to_vec(), |wanted| vec![wanted])
}

/// A share in percent, with as many decimals as it has, at most three.
fn percent(share: f64) -> String {
    let digits = format!("{:.3}", share * 100.0);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} %")
}

fn header(wanted: &[f64]) -> Vec<String> {
    let wanted = wanted.iter().map(|wanted| format!("±{}", percent(*wanted)));
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

/// The steps and their measured time in a few words.
fn label(plan: &Plan, group: &Accuracy) -> String {
    let time = duration(group.time_ms);
    format!("{}: {time}", named(plan, &group.steps))
}

/// The first of the steps, and how many more there are.
fn named(plan: &Plan, steps: &[usize]) -> String {
    let first = steps.first().and_then(|&step| plan.steps.get(step));
    let Some(first) = first else {
        return String::new();
    };
    let of_first = first.own().clients;
    let alike = plan.steps.iter().all(|step| step.own().clients == of_first);
    let clients = if alike {
        String::new()
    } else {
        format!(", {}", plural(of_first.into(), "client"))
    };
    let more = match steps.len() {
        0 | 1 => String::new(),
        steps => format!(" and {} more", steps - 1),
    };
    format!("{}{clients}{more}", first.name)
}

/// The steps whose margins are smaller than what the plan's blocks can resolve, by margin.
fn unresolved(plan: &Plan, groups: &[Accuracy]) -> Vec<String> {
    let blocks = plural(plan.blocks().into(), "block");
    let mut lines = Vec::new();
    for group in groups {
        let Some(width) = group.half_width else {
            continue;
        };
        let mut by_margin: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &step in &group.steps {
            let margin = plan.steps[step].margin();
            if margin < width {
                by_margin.entry(percent(margin)).or_default().push(step);
            }
        }
        lines.extend(by_margin.into_iter().map(|(margin, steps)| {
            format!(
                "The margin {margin} of {} is below what {blocks} can resolve here (±{:.1} %).",
                named(plan, &steps),
                width * 100.0
            )
        }));
    }
    lines
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
    use prony_model::{Thousandths, Version};
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn margins_that_can_not_be_resolved_are_named() {
        let targets = ["a", "b"].map(|name| testkit::target(name, Version::new(8, 0, 31)));
        let mut steps = ["w", "x", "y", "z"].map(|name| testkit::step(name, 1));
        for (step, thousandths) in steps.iter_mut().zip([1_000, 2_500, 3_000, 1_000]) {
            step.margin_percent = Some(Thousandths(thousandths));
        }
        let plan = testkit::plan("margins", targets.to_vec(), steps.to_vec(), 5);
        let group = Accuracy {
            steps: vec![0, 1, 2, 3],
            time_ms: 5_000,
            noise_clients: 1,
            half_width: Some(0.026),
            changes: Vec::new(),
        };
        assert_eq!(
            unresolved(&plan, std::slice::from_ref(&group)),
            [
                "The margin 1 % of w and 1 more is below what 5 blocks can resolve here (±2.6 %).",
                "The margin 2.5 % of x is below what 5 blocks can resolve here (±2.6 %).",
            ]
        );
        let none = Accuracy {
            half_width: None,
            ..group
        };
        assert!(unresolved(&plan, &[none]).is_empty());
    }

    #[test]
    fn percentages_have_the_decimals_they_need() {
        for (share, expected) in [
            (0.05, "5 %"),
            (0.029, "2.9 %"),
            (0.001, "0.1 %"),
            (0.1, "10 %"),
        ] {
            assert_eq!(percent(share), expected);
        }
    }

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
