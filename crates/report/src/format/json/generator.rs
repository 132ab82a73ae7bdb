//! The load generator and its ceiling, for programs.

use prony_model::{Backend, Calibration};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::figures::thousandths;

/// The load generator.
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

/// The load generator, and all that is known of its ceiling.
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
