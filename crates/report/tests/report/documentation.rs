//! What programs read is documented in `docs/formats/report.md`.

use std::collections::BTreeSet;

use prony_model::{
    CanaryMoment, Debt, DebtKind, DefaultPlacement, Gap, Level, LoadOutcome, OptionOrigin,
    RenderedOption, SettleOutcome, Source,
};
use prony_report::{Format, Screen, View, ViewOptions, effective_settings, lineage, render, view};
use prony_testkit::planned;
use serde_json::Value;

use crate::canaries::reading;
use crate::costs::{counting, run_sampled};
use crate::lineage::changing;
use crate::loads::by_inserts;
use crate::paces::paced;
use crate::placement::on_one;
use crate::sample::{Sample, at, plan};
use crate::verdicts::{twins, waiting};

/// A run in which every list of the JSON report has an entry.
pub(crate) fn full() -> Sample {
    let mut plan = plan(2, &[1], 2);
    plan.targets[0].config.intents.clear();
    plan.left_out = vec!["mysql-5.1.72".into()];
    plan.steps[1].name = "point-query.pre".into();
    plan.steps[1].groups.own_mut().workload = plan.steps[0].own().workload.clone();
    plan.steps.swap(0, 1);
    let mut sample = Sample::new(&plan);
    let option = RenderedOption::new("size=1", OptionOrigin::Raw, None, "");
    sample.store.record_options(0, &[option]).unwrap();
    let failed = sample.begin(planned(0, 1));
    sample.store.fail_trial(failed, "", "", at(1)).unwrap();
    let discarded = sample.begin(planned(0, 0));
    sample.store.discard_trial(discarded, "", at(1)).unwrap();
    let excluded = sample.begin(planned(0, 0));
    let canary = (CanaryMoment::Before, reading(1));
    sample
        .store
        .record_canary(excluded, canary.0, &canary.1)
        .unwrap();
    sample.store.exclude_trial(excluded, "", at(1)).unwrap();
    sample
        .store
        .record_warning(prony_store::Subject::Run, "", "")
        .unwrap();
    sample.store.record_plan_text(0, 0, "only", "[]").unwrap();
    let load = LoadOutcome {
        rows: 1,
        rows_ns: 1,
        index_ns: 1,
        method: String::new(),
    };
    let left = Debt {
        kind: DebtKind::L0Files,
        value: 1,
    };
    let settle = SettleOutcome {
        took_ms: 1,
        waited_ms: 1,
        unmet: vec![String::new()],
        debt: vec![left],
        levels: vec![Level {
            level: 0,
            files: 1,
            bytes: 1,
        }],
    };
    let decided = DefaultPlacement::decide(2, Some(3.1));
    sample.store.record_default_placement(decided).unwrap();
    for target in 0..2 {
        let trial = sample.begin(planned(1, target));
        sample
            .store
            .record_trial_load(trial, &load, Some(&settle))
            .unwrap();
        sample.store.record_settle(trial, 0, &settle).unwrap();
        sample.store.record_debt(trial, 0, &[left]).unwrap();
        let placed = sample.store.record_placement(trial, 0, &on_one());
        placed.unwrap();
        let size = [("size".to_owned(), target.to_string())];
        sample.store.record_variables(trial, &size).unwrap();
        sample.record_steps(trial, planned(1, target), |_, _| {});
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample.run(|_| true);
    sample
}

/// A run with costs, gaps and absences.
pub(crate) fn sampled() -> Sample {
    let gap = |reason: &str| Gap {
        source: Source::Device,
        reason: reason.into(),
    };
    let mut sample = Sample::new(&counting(plan(2, &[1], 1)));
    run_sampled(&mut sample, |_, _, taken| taken.gaps.push(gap("")));
    sample.store.record_absence(None, &gap("")).unwrap();
    sample
}

#[test]
fn every_key_is_documented() {
    let sample = full();
    let json: Value = serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap();
    let paced = render(&paced().store, Format::Json).unwrap();
    let paced: Value = serde_json::from_str(&paced).unwrap();
    let sampled = sampled();
    let costs = render(&sampled.store, Format::Json).unwrap();
    let costs: Value = serde_json::from_str(&costs).unwrap();
    let csv = render(&sampled.store, Format::Csv).unwrap();
    let mut keys: BTreeSet<String> = csv
        .lines()
        .next()
        .unwrap()
        .split(',')
        .filter(|column| !column.starts_with("status.") && !column.starts_with("innodb."))
        .map(of_any_metric)
        .collect();
    let settings = effective_settings(&[], &[], Format::Csv).unwrap();
    keys.extend(settings.trim_end().split(',').map(str::to_owned));
    collect(&json, &mut keys);
    collect(&paced, &mut keys);
    collect(&costs, &mut keys);
    for sample in [twins(0.03), waiting(), by_inserts()] {
        let report = render(&sample.store, Format::Json).unwrap();
        collect(&serde_json::from_str(&report).unwrap(), &mut keys);
    }
    let lineage = lineage(&changing().store, Format::Json, Screen::default()).unwrap();
    collect(&serde_json::from_str(&lineage).unwrap(), &mut keys);
    let of_view = |format| {
        view(
            &sampled.store,
            View::Annotated,
            &ViewOptions::default(),
            format,
        )
    };
    collect(
        &serde_json::from_str(&of_view(Format::Json).unwrap()).unwrap(),
        &mut keys,
    );
    let csv = of_view(Format::Csv).unwrap();
    keys.extend(csv.lines().next().unwrap().split(',').map(str::to_owned));
    assert!(keys.len() > 60, "{keys:?}");
    let document = concat!(
        include_str!("../../../../docs/formats/report.md"),
        include_str!("../../../../docs/metrics.md")
    );
    for key in keys {
        assert!(document.contains(&format!("`{key}`")), "{key}");
    }
}

/// The name of a column, without that of the metric that it is about.
fn of_any_metric(column: &str) -> String {
    match column.split_once('.') {
        Some((part, _)) => format!("{part}.METRIC"),
        None => column.to_owned(),
    }
}

/// The keys of the report itself, not of what it passes on from elsewhere. `debt` of a measurement
/// has the words of the result file, which are documented there; `status` those of the server.
fn collect(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                keys.insert(key.clone());
                let foreign = ["facts", "intents", "raw", "parameters", "explain"];
                let by_kind = ["debt", "status"].contains(&key.as_str()) && value.is_object();
                if !by_kind && !foreign.contains(&key.as_str()) {
                    collect(value, keys);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, keys)),
        _ => {}
    }
}
