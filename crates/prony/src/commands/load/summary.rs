//! Everything that is told in the end. Its JSON is described in `docs/formats/load.md`.

use std::collections::BTreeMap;

use prony_lab::{AdHoc, AdHocEnd, AdHocWarning};
use prony_model::{Interval, Length, Pace};
use serde::Serialize;

use super::figures::{Figures, rounded};

/// A load and what came of it.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    prony: &'static str,
    pub(super) server: ServerFacts,
    pub(super) work: WorkFacts,
    /// Whether it came to its end.
    pub(super) complete: bool,
    /// `None` where nothing was measured.
    pub(super) figures: Option<Figures>,
    intervals: Vec<IntervalFigures>,
    pub(super) warnings: Vec<Warning>,
}

/// The server.
#[derive(Debug, Serialize)]
pub(super) struct ServerFacts {
    pub(super) build: Option<String>,
    pub(super) address: Option<String>,
    pub(super) version: String,
    pub(super) settings: BTreeMap<String, String>,
}

/// What was asked of it.
#[derive(Debug, Serialize)]
pub(super) struct WorkFacts {
    pub(super) workload: String,
    pub(super) parameters: BTreeMap<String, i64>,
    pub(super) engine: &'static str,
    pub(super) tables: u32,
    pub(super) rows: u64,
    pub(super) protocol: &'static str,
    pub(super) clients: u32,
    time_s: Option<f64>,
    operations: Option<u64>,
    warmup_s: f64,
    rate: Option<f64>,
    arrivals: Option<&'static str>,
    think_us: Option<u64>,
    think_spacing: Option<&'static str>,
    ramp_s: f64,
    pub(super) reconnect_every: Option<u64>,
    seed: u64,
}

/// One interval.
#[derive(Debug, Serialize)]
struct IntervalFigures {
    start_s: f64,
    end_s: f64,
    operations: u64,
    queries: u64,
    errors: u64,
    service_us_p99: f64,
    service_us_max: f64,
    response_us_p99: Option<f64>,
    backlog: Option<u64>,
}

/// Something that should be known beside the figures.
#[derive(Debug, Serialize)]
pub(super) struct Warning {
    pub(super) code: &'static str,
    pub(super) text: String,
}

impl Summary {
    pub(super) fn new(
        work: &AdHoc,
        end: &AdHocEnd,
        figures: Option<Figures>,
        intervals: &[Interval],
    ) -> Self {
        let scheduled = work.step.pace.is_scheduled();
        Self {
            prony: env!("CARGO_PKG_VERSION"),
            server: ServerFacts::of(work, end),
            work: WorkFacts::of(work),
            complete: end.outcome.is_some(),
            figures,
            intervals: intervals
                .iter()
                .map(|interval| IntervalFigures::of(interval, scheduled))
                .collect(),
            warnings: end.warnings.iter().map(Warning::of).collect(),
        }
    }

    /// As one JSON document.
    pub(super) fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl ServerFacts {
    fn of(work: &AdHoc, end: &AdHocEnd) -> Self {
        let external = work.target.external.as_ref();
        let own = external.is_none();
        let intents = work.target.config.intents.iter();
        Self {
            build: own.then(|| work.target.build.id.clone()),
            address: external.map(|external| external.address.to_string()),
            version: end.server_version.clone(),
            settings: intents
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect(),
        }
    }
}

impl WorkFacts {
    fn of(work: &AdHoc) -> Self {
        let step = &work.step;
        let (time_s, operations) = match step.length {
            Length::Time { ms } => (Some(ms as f64 / 1e3), None),
            Length::Count { operations } => (None, Some(operations)),
        };
        let (open, think) = match step.pace {
            Pace::Open { rate, spacing } => (Some((rate, spacing)), None),
            Pace::Closed { think } => (None, think),
        };
        Self {
            workload: step.workload.name.clone(),
            parameters: step.parameters.clone(),
            engine: work.target.engine.name(),
            tables: work.dataset.tables,
            rows: work.dataset.rows,
            protocol: work.target.protocol.name(),
            clients: step.clients,
            time_s,
            operations,
            warmup_s: step.warmup_ms as f64 / 1e3,
            rate: open.map(|(rate, _)| rate.as_f64()),
            arrivals: open.map(|(_, spacing)| spacing.name()),
            think_us: think.map(|think| think.mean_us),
            think_spacing: think.map(|think| think.spacing.name()),
            ramp_s: step.ramp_ms as f64 / 1e3,
            reconnect_every: step.reconnect_every,
            seed: work.seed,
        }
    }
}

impl IntervalFigures {
    fn of(interval: &Interval, scheduled: bool) -> Self {
        let seconds = |ns: u64| rounded(ns as f64 / 1e9);
        let us = |ns: u64| ns as f64 / 1e3;
        Self {
            start_s: seconds(interval.start_ns),
            end_s: seconds(interval.end_ns),
            operations: interval.operations,
            queries: interval.queries,
            errors: interval.errors,
            service_us_p99: us(interval.latency_ns_p99),
            service_us_max: us(interval.latency_ns_max),
            response_us_p99: scheduled.then(|| us(interval.response_ns_p99)),
            backlog: scheduled.then_some(interval.backlog),
        }
    }
}

impl Warning {
    fn of(warning: &AdHocWarning) -> Self {
        Self {
            code: warning.code,
            text: warning.text.clone(),
        }
    }
}
