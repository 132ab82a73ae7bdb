//! Steps with many intervals.

use prony_model::Interval;
use prony_report::{Extent, Format, Screen, StepChoice, render_extent};

use crate::sample::{Sample, at, plan};

/// Twenty intervals of a second with 1,000 operations each; the last target stalls in one of them.
fn intervals(stalls: bool) -> Vec<Interval> {
    let second = 1_000_000_000;
    let interval = |number: u64| {
        let is_stalled = stalls && number == 7;
        let operations = if is_stalled { 0 } else { 1000 };
        Interval {
            start_ns: number * second,
            end_ns: (number + 1) * second,
            operations,
            queries: operations,
            errors: 0,
            latency_ns_p99: 0,
            // The operation that was caught ends in the next interval.
            latency_ns_max: if stalls && number == 8 {
                second
            } else {
                2_000_000
            },
            response_ns_p99: 0,
            backlog: 0,
        }
    };
    (0..20).map(interval).collect()
}

#[test]
fn a_stall_is_seen_that_the_mean_hides() {
    let mut sample = Sample::new(&plan(2, &[1], 1));
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |step, outcome| {
            if step == 0 {
                outcome.groups.own_mut().intervals = intervals(planned.target == 1);
            }
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    let choice = StepChoice {
        names: vec!["point-query".into()],
        ..StepChoice::default()
    };
    let extent = Extent::Steps(choice);
    let text = render_extent(
        &sample.store,
        Format::Text,
        &extent,
        None,
        Screen::default(),
    );
    let text = text.unwrap();
    let table = text.split("Evenness of point-query").nth(1).unwrap();
    insta::assert_snapshot!(table.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"));
}
