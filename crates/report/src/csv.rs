//! One row per target, step and block, for spreadsheets. RFC 4180, line ends of Unix.

mod spent;

use prony_model::{DebtKind, Pace};
use prony_store::Store;

use crate::analysis::Analysis;
use crate::cell::Measurement;
use crate::csv::spent::Columns;
use crate::figures::word;
use crate::latency::Latency;
use crate::loads::DoneLoad;
use crate::paced::Kept;
use crate::place::Place;
use crate::render::ReportError;
use crate::sections;
use crate::warned;

/// The columns before those for debt.
const HEADER: [&str; 24] = [
    "target",
    "server_version",
    "engine",
    "base",
    "step",
    "clients",
    "block",
    "operations",
    "queries",
    "queries_per_second",
    "operations_per_second",
    "latency_us_mean",
    "latency_us_p50",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_max",
    "errors",
    "unexpected",
    "client_cpu_us_per_operation",
    "warnings",
    "section",
    "phase",
    "warm_only",
    "timing",
];

/// The columns after those for debt: of paces, groups and reconnecting.
const PACED: [&str; 15] = [
    "backend",
    "beside",
    "rate",
    "planned",
    "backlog",
    "left",
    "response_us_mean",
    "response_us_p50",
    "response_us_p95",
    "response_us_p99",
    "response_us_max",
    "schedule_error_us_p99",
    "connects",
    "connect_us_mean",
    "connect_us_p99",
];

/// The phase, and the step, under which loads are listed.
const LOAD: &str = "load";

/// Writes the header and all rows, by target: its loads, then by step and block.
pub(crate) fn write(analysis: &Analysis<'_>, store: &Store) -> Result<String, ReportError> {
    let debts = DebtKind::all().map(|kind| format!("debt_{}", word(&kind).replace('-', "_")));
    let header = HEADER.map(str::to_owned).into_iter().chain(debts);
    let header = header.chain(PACED.map(str::to_owned));
    let costs = Columns::of(analysis);
    let header = header.chain(costs.header());
    let mut text = line(&header.collect::<Vec<_>>());
    let parts = sections::parts(analysis.plan);
    for target in 0..analysis.plan.targets.len() {
        for load in &analysis.loads[target].rows {
            let fields = load_row(analysis, load).map(|mut row| {
                row.resize(row.len() + costs.header().len(), String::new());
                line(&row)
            });
            text.extend(fields);
        }
        for step in 0..analysis.plan.steps.len() {
            let section = sections::title(&parts, step).unwrap_or_default();
            for place in Place::of_step(analysis.plan, step) {
                for measurement in &analysis.cell_at(place, target).measurements {
                    let latency = Latency::of(measurement, place, analysis, store)?;
                    let block = measurement.block();
                    let mut row = row(analysis, section, measurement, place, latency);
                    row.extend(costs.fields(analysis, place, target, block));
                    text.push_str(&line(&row));
                }
            }
        }
    }
    Ok(text)
}

/// What every row says of its target.
fn target_fields(analysis: &Analysis<'_>, index: usize) -> [String; 4] {
    let target = &analysis.plan.targets[index];
    let version = analysis.builds[index].as_ref().map(|b| &b.server_version);
    [
        target.name.clone(),
        version.cloned().unwrap_or_default(),
        target.engine.name().to_owned(),
        yes_or_no(index == analysis.plan.base),
    ]
}

/// A load as if it were a step whose operations are rows. `None` where nothing is known of it.
fn load_row(analysis: &Analysis<'_>, load: &DoneLoad) -> Option<Vec<String>> {
    let outcome = load.row.outcome.as_ref()?;
    let mut row = target_fields(analysis, load.row.target).to_vec();
    row.resize(
        HEADER.len() + DebtKind::all().count() + PACED.len(),
        String::new(),
    );
    for (column, value) in [
        ("step", LOAD.to_owned()),
        (
            "block",
            load.block
                .map_or_else(String::new, |block| block.to_string()),
        ),
        ("operations", outcome.rows.to_string()),
        ("operations_per_second", figure(outcome.rows_per_second())),
        ("phase", LOAD.to_owned()),
        ("warm_only", yes_or_no(false)),
    ] {
        if let Some(place) = HEADER.iter().position(|name| *name == column) {
            row[place] = value;
        }
    }
    Some(row)
}

fn row(
    analysis: &Analysis<'_>,
    section: &str,
    measurement: &Measurement,
    place: Place,
    latency: Option<Latency>,
) -> Vec<String> {
    let row = measurement.row();
    let step = &analysis.plan.steps[row.step];
    let of_step = [
        step.name.clone(),
        row.clients.to_string(),
        measurement.block().to_string(),
        row.operations.to_string(),
        row.queries.to_string(),
        figure(measurement.queries_per_second()),
        figure(measurement.operations_per_second()),
        figure(latency.map(|latency| latency.mean)),
        figure(latency.and_then(|latency| latency.p50)),
        figure(latency.and_then(|latency| latency.p95)),
        figure(latency.and_then(|latency| latency.p99)),
        figure(latency.map(|latency| latency.max)),
        row.errors.to_string(),
        row.unexpected.to_string(),
        figure(measurement.client_cpu_us_per_operation()),
        warnings(analysis, measurement, place).to_string(),
        section.to_owned(),
        step.phase.as_ref().map(word).unwrap_or_default(),
        yes_or_no(step.warm_only),
        word(&step.timing),
    ];
    let debts = DebtKind::all().map(|kind| {
        let value = measurement.debt.get(&kind);
        value.map_or_else(String::new, u64::to_string)
    });
    target_fields(analysis, row.planned.target)
        .into_iter()
        .chain(of_step)
        .chain(debts)
        .chain(paced(analysis, measurement, place))
        .collect()
}

/// What belongs to paces, groups and reconnecting.
fn paced(analysis: &Analysis<'_>, measurement: &Measurement, place: Place) -> [String; 15] {
    let work = place.work(analysis.plan);
    let rate = match work.pace {
        Pace::Open { rate, .. } => rate.to_string(),
        Pace::Closed { .. } => String::new(),
    };
    let kept = measurement.kept;
    let counted = |of: fn(&Kept) -> u64| kept.as_ref().map(of).map_or_else(String::new, text);
    let response = kept.and_then(|kept| kept.response);
    let error = kept.and_then(|kept| kept.error);
    let connects = measurement.connects;
    let connect = connects.and_then(|connects| connects.latency);
    [
        measurement.row().backend.name().to_owned(),
        work.group.unwrap_or_default().to_owned(),
        rate,
        counted(|kept| kept.planned),
        counted(|kept| kept.backlog),
        counted(|kept| kept.left),
        figure(response.map(|latency| latency.mean)),
        figure(response.and_then(|latency| latency.p50)),
        figure(response.and_then(|latency| latency.p95)),
        figure(response.and_then(|latency| latency.p99)),
        figure(response.map(|latency| latency.max)),
        figure(error.and_then(|latency| latency.p99)),
        connects.map_or_else(String::new, |connects| text(connects.count)),
        figure(connect.map(|latency| latency.mean)),
        figure(connect.and_then(|latency| latency.p99)),
    ]
}

fn text(count: u64) -> String {
    count.to_string()
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// Number of stored warnings about these clients in this trial. Those about the whole trial are
/// counted with the steps' own clients.
fn warnings(analysis: &Analysis<'_>, measurement: &Measurement, place: Place) -> usize {
    let row = measurement.row();
    analysis
        .warnings
        .iter()
        .filter(|warning| warning.trial == Some(row.trial))
        .filter(|warning| match warning.step {
            Some(_) => warned::said_of(analysis.plan, warning, place).is_some(),
            None => place.is_own(),
        })
        .count()
}

/// A figure to thousandths; empty where there is none.
fn figure(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

pub(crate) fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\n", fields.join(","))
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }
}
