//! Which steps count as the same before and after the writes.

use std::collections::BTreeMap;

use prony_model::{ClientGroup, Group, Pace, Spacing, Step, Think, Thousandths, Timing};
use prony_model::{Display, Plan};
use prony_report::{Format, render};
use serde_json::Value;

use crate::sample::{Sample, plan, step};

/// `X.pre`, a write, and `X`.
fn before_and_after() -> Plan {
    let mut plan = plan(1, &[], 1);
    plan.steps = vec![
        step(0, "point-query.pre", Group::Point, Display::Rate),
        step(1, "update-index", Group::Write, Display::Rate),
        step(2, "point-query", Group::Point, Display::Rate),
    ];
    plan.steps[2].groups.own_mut().workload = plan.steps[0].own().workload.clone();
    plan
}

/// How many pairs there are when the steps before and after are changed so.
fn pairs(change: impl Fn(&mut Step), both: bool) -> usize {
    let mut plan = before_and_after();
    change(&mut plan.steps[0]);
    if both {
        change(&mut plan.steps[2]);
    }
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    let json = render(&sample.store, Format::Json).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    json["before_after"].as_array().unwrap().len()
}

fn beside(step: &mut Step) {
    let workload = step.own().workload.clone();
    step.groups.push(ClientGroup {
        name: Some("writers".into()),
        workload,
        parameters: BTreeMap::new(),
        clients: 1,
        pace: Pace::default(),
        reconnect_every: None,
        sla_percent: None,
    });
}

fn think(step: &mut Step) {
    let spacing = Spacing::Regular;
    let think = Some(Think {
        mean_us: 1000,
        spacing,
    });
    step.groups.own_mut().pace = Pace::Closed { think };
}

#[test]
fn pairs_do_the_same_at_the_same_pace() {
    assert_eq!(pairs(|_| {}, true), 1);
    let changes: [fn(&mut Step); 5] = [
        think,
        beside,
        |step| step.groups.own_mut().reconnect_every = Some(10),
        |step| step.timing = Timing::WholeRun,
        |step| step.groups.own_mut().clients = 2,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        assert_eq!(pairs(change, false), 0, "{index}");
        assert_eq!(pairs(change, true), 1, "{index}");
    }
}

#[test]
fn operations_at_a_rate_make_no_pairs() {
    let rate = |step: &mut Step| {
        step.groups.own_mut().pace = Pace::Open {
            rate: Thousandths(1_000_000),
            spacing: Spacing::Poisson,
        };
    };
    assert_eq!(pairs(rate, true), 0);
}
