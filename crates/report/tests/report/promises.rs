//! Promised rates that were kept, and those that were not.

use prony_model::{Plan, Thousandths};
use prony_report::Format;
use serde_json::Value;

use crate::golden::shown;
use crate::paces::{paced_of, paced_plan};
use crate::sample::Sample;

/// Writers beside a step promise this share of their rate. The base does all, the other target 97.9 %.
pub(crate) fn promising(percent: u32) -> Plan {
    let mut plan = paced_plan();
    // Kept by both.
    plan.steps[0].groups.own_mut().sla_percent = Some(Thousandths(50_000));
    plan.steps[1].groups[1].sla_percent = Some(Thousandths(percent * 1000));
    plan
}

fn json(sample: &Sample) -> Value {
    serde_json::from_str(&shown(sample, Format::Json)).unwrap()
}

/// The figures of the step with the writers: of its own clients, then of each group.
fn ratios(json: &Value) -> Vec<&Value> {
    let mut cells = json["cells"].as_array().unwrap().iter();
    let is_other = |cell: &&Value| {
        cell["target"] == "mysql-5.7" && !cell["beside"].as_array().unwrap().is_empty()
    };
    let cell = cells.find(is_other).unwrap();
    let beside = cell["beside"].as_array().unwrap().iter();
    std::iter::once(cell)
        .chain(beside)
        .map(|of| &of["ratio"])
        .collect()
}

#[test]
fn a_kept_promise_changes_nothing_but_is_named() {
    let mut with = json(&paced_of(&promising(97)));
    let without = json(&paced_of(&paced_plan()));
    assert_eq!(ratios(&with), ratios(&without));
    assert!(ratios(&with).iter().all(|ratio| !ratio.is_null()));
    let findings = with["findings"].take();
    assert_eq!(findings, without["findings"]);
}

#[test]
fn a_step_with_a_broken_promise_is_not_compared_and_says_why() {
    let sample = paced_of(&promising(98));
    let json = json(&sample);
    assert!(
        ratios(&json).iter().all(|ratio| ratio.is_null()),
        "{json:#}"
    );
    let of_step = |judged: &&Value| judged["step"] == "read-only.range100";
    let judged = json["verdicts"]["judged"].as_array().unwrap();
    assert!(judged.iter().find(of_step).is_none());
    assert!(!judged.is_empty(), "other steps are compared");
    let text = shown(&sample, Format::Text);
    let words = "97.9 % of 200 operations/s in every block (98 % promised)";
    assert!(text.replace("\n    ", " ").contains(words), "{text}");
    assert!(text.contains("Promised rates not kept"), "{text}");
}
