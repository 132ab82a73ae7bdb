//! The load generator and its ceiling, for programs.

use prony_model::{Calibration, ClosedPoint};
use serde::Serialize;

use super::object;
use crate::analysis::Analysis;
use crate::figures::thousandths;

/// The load generator, and all that is known of its ceiling.
pub(crate) fn entry(analysis: &Analysis<'_>) -> impl Serialize {
    object! {
        backend: analysis.run.backend,
        calibration: analysis.calibration.as_ref().map(calibration),
    }
}

fn calibration(calibration: &Calibration) -> impl Serialize {
    object! {
        prony_version: &calibration.prony_version,
        made_at_ms: calibration.made_at_ms,
        closed: calibration.closed.iter().map(ceiling).collect::<Vec<_>>(),
    }
}

/// The ceiling at one number of clients.
fn ceiling(point: &ClosedPoint) -> impl Serialize {
    object! {
        backend: point.backend,
        clients: point.clients,
        threads: point.threads,
        queries_per_second: point.counts.queries_per_second().map(thousandths),
        client_cpu_us_per_query: point.counts.client_us_per_query().map(thousandths),
    }
}
