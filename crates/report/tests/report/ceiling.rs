//! What is said of the load generator's ceiling, and where nothing is.

use prony_model::{
    Backend, Calibration, Family, HostUse, IntentValue, PlacementRule, Plan, Processors,
    WantedPlacement,
};
use prony_report::{Format, render};
use serde_json::Value;

use crate::paces::{calibration, paced_of, paced_plan};
use crate::sample::{Sample, at};

/// The line of the heading.
fn line(sample: &Sample) -> String {
    let text = render(&sample.store, Format::Text).unwrap();
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("Generator"));
    let first = lines.next().unwrap();
    let more = lines
        .take_while(|line| line.starts_with(' '))
        .map(str::trim);
    std::iter::once(first)
        .chain(more)
        .collect::<Vec<_>>()
        .join(" ")
}

fn with(change: impl Fn(&mut Plan)) -> Sample {
    let mut plan = paced_plan();
    change(&mut plan);
    paced_of(&plan)
}

/// Sets the clients of the first step; the second has 4 and 3 beside them.
fn with_clients(clients: u32) -> String {
    line(&with(|plan| {
        plan.steps[0].groups.own_mut().clients = clients;
    }))
}

#[test]
fn it_is_named_for_the_least_and_the_greatest_number_of_clients() {
    let of_one = "Generator io-uring, 2 threads; ceiling on this machine (prepared point query, unix \
                  socket) 45,000 queries/s at 1 client and 208,000 queries/s at 8 clients";
    assert_eq!(with_clients(1), of_one);
    let of_four = "Generator io-uring, 2 threads; ceiling on this machine (prepared point query, unix \
                   socket) 208,000 queries/s at 8 clients";
    assert_eq!(with_clients(4), of_four);
    // More than were ever measured.
    assert_eq!(with_clients(9), of_four);
}

/// The line of the heading, and the ceilings of io-uring at 1 and at 8 clients, from a calibration
/// that is changed before.
fn of_calibration(change: impl Fn(&mut Calibration)) -> (String, Value) {
    let (line, report) = reported(change);
    (line, report["generator"]["calibration"].clone())
}

/// The line of the heading, and the whole report.
fn reported(change: impl Fn(&mut Calibration)) -> (String, Value) {
    let mut sample = with(|plan| plan.steps[0].groups.own_mut().clients = 1);
    let mut changed = calibration();
    change(&mut changed);
    sample.store.record_calibration(&changed, at(2)).unwrap();
    let json = render(&sample.store, Format::Json).unwrap();
    (line(&sample), serde_json::from_str(&json).unwrap())
}

#[test]
fn a_struck_ceiling_casts_doubt_on_its_step() {
    let doubted = |queries: Option<u64>| -> Vec<String> {
        let (_, report) = reported(|known| {
            let counts = &mut known.closed[1].counts;
            counts.queries = queries.unwrap_or(counts.queries);
        });
        let judged = report["verdicts"]["judged"].as_array().unwrap().clone();
        let doubted = judged.into_iter().filter(|one| {
            let doubts = one["doubts"].as_array().unwrap();
            doubts.contains(&"ceiling".into()) && one["metric"] == "operations_per_second"
        });
        doubted
            .map(|one| one["step"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(doubted(Some(200)), ["point-query.rate"]);
    assert_eq!(doubted(None), [""; 0]);
}

#[test]
fn a_ceiling_below_a_step_is_struck() {
    let (line, json) = of_calibration(|known| known.closed[1].counts.queries = 200);
    assert!(
        line.contains("100 queries/s at 1 client (struck: a step reached more, "),
        "{line}"
    );
    assert!(line.ends_with("208,000 queries/s at 8 clients"), "{line}");
    let struck = |point: usize| json["closed"][point]["struck"].as_f64();
    assert!(struck(1).unwrap() > 100.0);
    assert_eq!([struck(0), struck(2)], [None, None]);
}

#[test]
fn a_disturbed_ceiling_is_marked() {
    let (line, json) = of_calibration(|known| {
        for (point, idle_ns) in [(1, 1_180_000_000), (2, 1_500_000_000)] {
            known.closed[point].host = Some(HostUse {
                processors: 1,
                wall_ns: 2_000_000_000,
                idle_ns,
                interrupt_ns: 0,
                steal_ns: 20_000_000,
                own_ns: 500_000_000,
            });
        }
    });
    let marked = "at 1 client (disturbed: others took 16 % of the processors) and 208,000";
    assert!(line.contains(marked), "{line}");
    assert_eq!(json["closed"][1]["disturbed"], true);
    assert_eq!(json["closed"][1]["taken"], 0.16);
    assert_eq!(json["closed"][2]["disturbed"], false);
    assert_eq!(json["closed"][0]["taken"], Value::Null);
}

/// Points in the protocol of PostgreSQL too, at twice the rates.
fn of_postgresql(known: &mut Calibration) {
    let points = known.closed.clone().into_iter().map(|mut point| {
        point.family = Family::Postgresql;
        point.counts.queries *= 2;
        point
    });
    known.closed.extend(points);
}

#[test]
fn it_is_that_of_the_targets_protocols() {
    let line_of = |families: [Family; 3]| {
        let mut sample = with(|plan| {
            plan.steps[0].groups.own_mut().clients = 1;
            for (target, family) in plan.targets.iter_mut().zip(families) {
                target.build.family = family;
            }
        });
        let mut known = calibration();
        of_postgresql(&mut known);
        sample.store.record_calibration(&known, at(2)).unwrap();
        line(&sample)
    };
    let [mysql, postgresql] = [
        "45,000 queries/s at 1 client and 208,000 queries/s at 8 clients",
        "90,000 queries/s at 1 client and 415,000 queries/s at 8 clients",
    ];
    let expected = |ceilings: &str| {
        format!(
            "Generator io-uring, 2 threads; ceiling on this machine (prepared point query, unix \
             socket) {ceilings}"
        )
    };
    let (my, maria, pg) = (Family::Mysql, Family::Mariadb, Family::Postgresql);
    assert_eq!(line_of([my, maria, my]), expected(mysql));
    assert_eq!(line_of([pg, pg, pg]), expected(postgresql));
    let both = format!("mysql {mysql}; postgresql {postgresql}");
    assert_eq!(line_of([my, pg, maria]), expected(&both));
}

#[test]
fn a_calibration_without_a_targets_protocol_says_nothing_of_it() {
    let sample = with(|plan| {
        for target in &mut plan.targets {
            target.build.family = Family::Postgresql;
        }
    });
    assert_eq!(line(&sample), "Generator io-uring, 2 threads");
}

#[test]
fn it_is_not_compared_with_other_work() {
    let none = "Generator io-uring, 2 threads";
    let asks = |name: &'static str, value: IntentValue| {
        with(move |plan| {
            let intents = &mut plan.targets[1].config.intents;
            intents.insert(name.into(), value.clone());
        })
    };
    assert_eq!(line(&asks("tls", IntentValue::Flag(true))), none);
    assert_ne!(line(&asks("tls", IntentValue::Flag(false))), none);
    let on_named = with(|plan| {
        let processors = Processors {
            generator: "1".parse().ok(),
            ..Processors::default()
        };
        plan.targets[1].placement = Some(WantedPlacement::Sets(processors));
    });
    assert_eq!(line(&on_named), none);
    let by_rule = with(|plan| {
        plan.placement = Some(WantedPlacement::Rule(PlacementRule::Together));
    });
    assert_ne!(line(&by_rule), none);
    let many = with(|plan| {
        for step in &mut plan.steps {
            step.groups.own_mut().clients = 9;
        }
    });
    assert_eq!(line(&many), none);
}

#[test]
fn it_is_of_the_host_that_the_run_was_last_on() {
    let none = "Generator io-uring, 2 threads";
    let mut sample = paced_of(&paced_plan());
    let first = line(&sample);
    assert_ne!(first, none);
    let other = r#"{"cpu_model": "Example CPU @ 2.00GHz", "cpus": 2, "kernel": "6.1.0-19-amd64"}"#;
    sample.store.record_host(other, at(500)).unwrap();
    assert_eq!(line(&sample), none);
    let json = render(&sample.store, Format::Json).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["generator"]["calibration"], Value::Null);
    assert_eq!(json["generator"]["backend"], Backend::IoUring.name());
    let mut of_other = calibration();
    of_other.host.kernel = Some("6.1.0-19-amd64".into());
    let stored = sample.store.record_calibration(&of_other, at(501));
    stored.unwrap();
    assert_eq!(line(&sample), first);
}
