//! What drove the load, and what it can reach on the host.

use std::collections::BTreeSet;

use prony_model::{Backend, Calibration, Step, Target};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::cell::Measurement;
use crate::figures::{plural, rounded, significant};

/// What drove the load, for programs.
#[derive(Serialize)]
pub(crate) struct GeneratorEntry<'a> {
    backend: Option<Backend>,
    calibration: Option<CalibrationEntry<'a>>,
}

#[derive(Serialize)]
struct CalibrationEntry<'a> {
    prony_version: &'a str,
    made_at_ms: u64,
    closed: Vec<CeilingEntry>,
}

/// The ceiling at one number of clients.
#[derive(Serialize)]
struct CeilingEntry {
    backend: Backend,
    clients: u32,
    threads: u32,
    queries_per_second: Option<f64>,
    client_cpu_us_per_query: Option<f64>,
}

/// What drove the load in one line. `None` where that is not decided yet.
pub(crate) fn line(analysis: &Analysis<'_>) -> Option<String> {
    let measured = || analysis.measurements().map(Measurement::row);
    let backends: BTreeSet<Backend> = measured()
        .map(|row| row.backend)
        .chain(analysis.run.backend)
        .collect();
    let names: Vec<&str> = backends.iter().copied().map(Backend::name).collect();
    if names.is_empty() {
        return None;
    }
    let threads = measured().map(|row| row.threads).max();
    let threads = threads.map(|threads| plural(threads.into(), "thread"));
    let known = std::iter::once(names.join(" and ")).chain(threads);
    let known: Vec<String> = known.collect();
    let ceiling = backends.first().and_then(|&b| ceiling(analysis, b));
    Some(match ceiling {
        Some(ceiling) if backends.len() == 1 => format!("{}; {ceiling}", known.join(", ")),
        _ => known.join(", "),
    })
}

/// The ceiling for the least and the greatest number of clients of the plan, each at the nearest
/// measured number that is not smaller. `None` where none is, and where the generator was to do
/// more than when it was measured, or with less.
fn ceiling(analysis: &Analysis<'_>, backend: Backend) -> Option<String> {
    let other_work = |target: &Target| target.is_encrypted() || target.binds_clients();
    if analysis.plan.targets.iter().any(other_work) {
        return None;
    }
    let calibration = analysis.calibration.as_ref()?;
    let clients = || analysis.plan.steps.iter().map(Step::all_clients);
    let ends = [clients().min()?, clients().max()?];
    let points = ends.into_iter().filter_map(|clients| {
        let point = calibration.at_or_above(backend, clients)?;
        Some((point.clients, point.counts.queries_per_second()?))
    });
    let mut points: Vec<(u32, f64)> = points.collect();
    points.dedup_by_key(|(clients, _)| *clients);
    let rates: Vec<String> = points
        .into_iter()
        .map(|(clients, rate)| {
            let clients = plural(clients.into(), "client");
            format!("{} queries/s at {clients}", significant(rate))
        })
        .collect();
    (!rates.is_empty()).then(|| {
        let rates = rates.join(" and ");
        format!("ceiling on this machine (prepared point query, unix socket) {rates}")
    })
}

/// What drove the load, and all that is known of its ceiling.
pub(crate) fn entry<'a>(analysis: &'a Analysis<'_>) -> GeneratorEntry<'a> {
    let of = |calibration: &'a Calibration| CalibrationEntry {
        prony_version: &calibration.prony_version,
        made_at_ms: calibration.made_at_ms,
        closed: calibration
            .closed
            .iter()
            .map(|point| CeilingEntry {
                backend: point.backend,
                clients: point.clients,
                threads: point.threads,
                queries_per_second: point.counts.queries_per_second().map(thousandths),
                client_cpu_us_per_query: point.counts.client_us_per_query().map(thousandths),
            })
            .collect(),
    };
    GeneratorEntry {
        backend: analysis.run.backend,
        calibration: analysis.calibration.as_ref().map(of),
    }
}

fn thousandths(value: f64) -> f64 {
    rounded(value, 3)
}
