//! The load generator and its ceiling, for programs.

use prony_model::{Calibration, ClosedPoint};
use serde::Serialize;

use super::object;
use crate::analysis::Analysis;
use crate::figures::{rounded, thousandths};

/// The load generator, and all that is known of its ceiling.
pub(crate) fn entry(analysis: &Analysis<'_>) -> impl Serialize {
    object! {
        backend: analysis.run.backend,
        calibration: analysis
            .calibration
            .as_ref()
            .map(|known| calibration(analysis, known)),
    }
}

fn calibration(analysis: &Analysis<'_>, calibration: &Calibration) -> impl Serialize + use<> {
    let closed = calibration.closed.iter();
    object! {
        prony_version: calibration.prony_version.clone(),
        made_at_ms: calibration.made_at_ms,
        placement: calibration.placement,
        closed: closed.map(|point| ceiling(analysis, point)).collect::<Vec<_>>(),
    }
}

/// The ceiling at one number of clients. A struck one has the rate that a step reached.
fn ceiling(analysis: &Analysis<'_>, point: &ClosedPoint) -> impl Serialize + use<> {
    object! {
        family: point.family,
        backend: point.backend,
        clients: point.clients,
        threads: point.threads,
        queries_per_second: point.counts.queries_per_second().map(thousandths),
        client_cpu_us_per_query: point.counts.client_us_per_query().map(thousandths),
        struck: analysis.struck.reached(point).map(thousandths),
        taken: point.host.and_then(|host| host.taken()).map(|taken| rounded(taken.share(), 4)),
        disturbed: point.host.is_some_and(|host| host.is_disturbed()),
    }
}
