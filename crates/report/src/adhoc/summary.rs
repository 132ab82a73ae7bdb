//! The end of a load in figures. Its JSON is described in `docs/formats/load.md`.

use std::collections::BTreeMap;

use prony_model::{Interval, Length, Pace, StepOutcome};
use serde::Serialize;

use super::AdHocLoad;
use super::figures::Figures;
use crate::analysis::conditions::{StepFacts, conditions};
use crate::error::ReportError;
use crate::figures::thousandths;
use crate::format::{Placed, pretty};

/// A load and its figures.
#[derive(Debug, Serialize)]
pub struct Summary {
    prony: &'static str,
    pub(super) server: ServerFacts,
    pub(super) work: WorkFacts,
    /// `None` where nothing was measured to the end.
    pub(super) placed: Option<Placed>,
    /// `true` if it came to its end.
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

/// The work that was asked of it.
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

/// A condition that should be known beside the figures.
#[derive(Debug, Serialize)]
pub(super) struct Warning {
    pub(super) code: &'static str,
    pub(super) text: String,
}

impl Summary {
    /// Derives the figures of a load.
    pub fn of(load: &AdHocLoad<'_>) -> Self {
        let intervals = load.intervals;
        let scheduled = load.step.own().pace.is_scheduled();
        let of_interval = |interval| IntervalFigures::of(interval, scheduled);
        Self {
            prony: env!("CARGO_PKG_VERSION"),
            server: ServerFacts::of(load),
            work: WorkFacts::of(load),
            placed: load.placement.cloned().map(Placed),
            complete: load.outcome.is_some(),
            figures: match load.outcome {
                Some(outcome) => Some(Figures::of(outcome, load.server_cpu_ns)),
                None => Figures::so_far(&intervals.all, intervals.service.as_ref()),
            },
            intervals: intervals.all.iter().map(of_interval).collect(),
            warnings: load
                .outcome
                .map_or_else(Vec::new, |outcome| warnings(load, outcome)),
        }
    }

    /// As one JSON document.
    ///
    /// # Errors
    /// When it can't be written as JSON.
    pub fn json(&self) -> Result<String, ReportError> {
        pretty(self)
    }
}

/// The conditions that must be known beside the figures.
fn warnings(load: &AdHocLoad<'_>, outcome: &StepOutcome) -> Vec<Warning> {
    let schedules = outcome.groups.iter().map(|group| group.schedule.as_ref());
    let facts = StepFacts {
        thread_use: &outcome.thread_use,
        schedules: &schedules.collect::<Vec<_>>(),
        edges: match load.samples {
            [start, .., end] => Some([start, end]),
            _ => None,
        },
        cpus: load.cpus,
        placement: load.placement,
        usable: None,
    };
    let conditions = conditions(load.step, &facts).into_iter();
    let conditions = conditions.map(|condition| Warning {
        code: condition.code(),
        text: condition.to_string(),
    });
    let statements = outcome.groups.own().statements.iter();
    let unexpected = statements
        .filter(|statement| statement.unexpected > 0)
        .map(|statement| Warning {
            code: "unexpected",
            text: format!(
                "{} of {} answers of `{}` returned or changed an unexpected number of rows: do \
                 --tables and --rows match the tables?",
                statement.unexpected, statement.count, statement.name
            ),
        });
    conditions.chain(unexpected).collect()
}

impl ServerFacts {
    fn of(load: &AdHocLoad<'_>) -> Self {
        let external = load.target.external.as_ref();
        let intents = load.target.config.intents.iter();
        Self {
            build: external.is_none().then(|| load.target.build.id.clone()),
            address: external.map(|external| external.address.to_string()),
            version: load.server_version.to_owned(),
            settings: intents
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect(),
        }
    }
}

impl WorkFacts {
    fn of(load: &AdHocLoad<'_>) -> Self {
        let step = load.step;
        let own = step.own();
        let (time_s, operations) = match step.length {
            Length::Time { ms } => (Some(ms as f64 / 1e3), None),
            Length::Count { operations } => (None, Some(operations)),
        };
        let (open, think) = match own.pace {
            Pace::Open { rate, spacing } => (Some((rate, spacing)), None),
            Pace::Closed { think } => (None, think),
        };
        Self {
            workload: own.workload.name.clone(),
            parameters: own.parameters.clone(),
            engine: load.target.engine.name(),
            tables: load.dataset.tables,
            rows: load.dataset.rows,
            protocol: load.target.protocol.name(),
            clients: own.clients,
            time_s,
            operations,
            warmup_s: step.warmup_ms as f64 / 1e3,
            rate: open.map(|(rate, _)| rate.as_f64()),
            arrivals: open.map(|(_, spacing)| spacing.name()),
            think_us: think.map(|think| think.mean_us),
            think_spacing: think.map(|think| think.spacing.name()),
            ramp_s: step.ramp_ms as f64 / 1e3,
            reconnect_every: own.reconnect_every,
            seed: load.seed,
        }
    }
}

impl IntervalFigures {
    fn of(interval: &Interval, scheduled: bool) -> Self {
        let seconds = |ns: u64| thousandths(ns as f64 / 1e9);
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
