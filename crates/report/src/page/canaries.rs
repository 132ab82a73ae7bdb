//! The lines of the heading about canaries, and about the trials that they exclude.

use prony_model::{CanaryChange, CanaryPart};

use crate::analysis::Analysis;
use crate::analysis::canaries::Canaries;
use crate::words::plural;

/// The range of each part over the run, and the number of trials that exceed the bound. `None` if
/// no canary ran.
pub(crate) fn line(analysis: &Analysis<'_>) -> Option<String> {
    let canaries = &analysis.canaries;
    let range = |part: CanaryPart| {
        let [low, high] = canaries.range(part)?.map(percent);
        Some(format!("{} {low} to {high} %", part.words()))
    };
    let ranges: Vec<String> = CanaryPart::ALL.into_iter().filter_map(range).collect();
    if ranges.is_empty() {
        return None;
    }
    let off = canaries.off_count(&analysis.trials);
    let of = plural(analysis.trials.timed_done(), "timed trial");
    Some(format!(
        "{}; {off} of {of} off by more than {}",
        ranges.join(", "),
        bounds(canaries)
    ))
}

/// The excluded trials of each target. `None` if the experiment excludes none.
pub(crate) fn excluded(analysis: &Analysis<'_>) -> Option<String> {
    let rule = analysis.canaries.rule;
    let counts = analysis.trials.excluded();
    if !rule.exclude && counts.is_empty() {
        return None;
    }
    let names = analysis.all_targets().into_iter().filter_map(|target| {
        let count = counts.get(&target)?;
        Some(format!("{} {count}", analysis.plan.targets[target].name))
    });
    let names: Vec<String> = names.collect();
    let counted = if names.is_empty() {
        "no trial".to_owned()
    } else {
        format!("trials of {}", names.join(", "))
    };
    Some(format!(
        "{counted}; the experiment excludes trials whose canary is off by more than {}",
        bounds(&analysis.canaries)
    ))
}

/// The bound, and that on wake-ups where these were measured.
fn bounds(canaries: &Canaries) -> String {
    let rule = canaries.rule;
    let wake_ups = match canaries.range(CanaryPart::WakeUp) {
        Some(_) => format!(
            " (wake-ups {} %)",
            rule.bound_percent_of(CanaryPart::WakeUp)
        ),
        None => String::new(),
    };
    format!("{} %{wake_ups}", rule.bound_percent)
}

/// A change in percent, with its sign.
fn percent(change: CanaryChange) -> String {
    match format!("{:+.1}", change.share * 100.0) {
        zero if zero == "-0.0" || zero == "+0.0" => "0".to_owned(),
        percent => percent,
    }
}
