//! Steps with many intervals.

use prony_model::Interval;
use prony_report::{Extent, Format, Screen, StepChoice, render, render_extent};
use serde_json::Value;

use crate::paces::paced;
use crate::sample::{Sample, at, plan};

/// Twenty intervals of a second with 1,000 operations each; the last target stalls in one of them.
pub(crate) fn intervals(stalls: bool) -> Vec<Interval> {
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
    insta::assert_snapshot!(of_step(&sample, "point-query"));
}

/// The tables of evenness of a step, as text.
fn of_step(sample: &Sample, step: &str) -> String {
    let choice = StepChoice {
        names: vec![step.into()],
        ..StepChoice::default()
    };
    let extent = Extent::Steps(choice);
    let screen = Screen::default();
    let text = render_extent(&sample.store, Format::Text, &extent, None, screen).unwrap();
    let of_step = text.split("Evenness of ").nth(1).unwrap();
    let parts: Vec<&str> = of_step.split("\n\n").take(4).collect();
    parts.join("\n\n")
}

#[test]
fn a_group_beside_has_a_row_of_its_own() {
    insta::assert_snapshot!(of_step(&paced(), "read-only.range100"));
}

#[test]
fn programs_get_the_evenness_of_each_group() {
    let sample = paced();
    let json: Value = serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap();
    let mut cells = json["cells"].as_array().unwrap().iter();
    let cell = cells.find(|cell| {
        cell["target"] == "mysql-5.7" && cell["step"].as_str() == Some("read-only.range100")
    });
    let cell = cell.unwrap();
    let shown = |even: &Value| {
        format!(
            "{} {} {} {} {}",
            even["intervals"], even["slowest"], even["idle"], even["longest_ms"], even["slices"][3]
        )
    };
    assert_eq!(shown(&cell["evenness"]), "40 1000.0 0 2.0 1000.0");
    assert_eq!(
        shown(&cell["beside"][0]["evenness"]),
        "40 0.0 2 1000.0 500.0"
    );
    assert_eq!(cell["beside"][1]["evenness"], Value::Null);

    let csv = render(&sample.store, Format::Csv).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name| header.iter().position(|column| *column == name).unwrap();
    let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let of_step = rows.filter(|row| {
        row[column("target")] == "mysql-5.7" && row[column("step")] == "read-only.range100"
    });
    let shown = of_step.map(|row| {
        let names = [
            "beside",
            "intervals",
            "interval_rate_slowest",
            "intervals_idle",
        ];
        let fields: Vec<&str> = names.map(|name| row[column(name)]).to_vec();
        let slice = row[column("slice_rates")].split(';').nth(3);
        format!("{} {}", fields.join(" "), slice.unwrap_or(""))
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            " 20 1000.000 0 1000.000",
            " 20 1000.000 0 1000.000",
            "writers 20 0.000 1 500.000",
            "writers 20 0.000 1 500.000",
            "lookups    ",
            "lookups    ",
        ]
    );
}
