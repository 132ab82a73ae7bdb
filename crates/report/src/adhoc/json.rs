//! The summary for programs, as `docs/formats/load.md` describes it.

use std::collections::BTreeMap;

use prony_model::{Interval, Length, Pace, StatementOutcome, StepOutcome};
use serde::Serialize;

use super::AdHocLoad;
use super::summary::{Summary, Totals, client_us_per_query, share};
use crate::analysis::times::{NsHistogram, Times, decode};
use crate::error::ReportError;
use crate::figures::thousandths;
use crate::format::{object, placed, pretty};

impl Summary<'_> {
    /// As one JSON document.
    ///
    /// # Errors
    /// When it can't be written as JSON.
    pub fn json(&self) -> Result<String, ReportError> {
        let load = &self.load;
        let scheduled = load.step.own().pace.is_scheduled();
        let intervals = load.intervals.all.iter();
        let intervals = intervals.map(|interval| self::interval(interval, scheduled));
        pretty(&object! {
            prony: env!("CARGO_PKG_VERSION"),
            server: server(load),
            work: work(load),
            placed: load.placement.map(placed),
            complete: load.outcome.is_some(),
            figures: self.totals.as_ref().map(|totals| figures(self, totals)),
            intervals: intervals.collect::<Vec<_>>(),
            warnings: &self.warnings,
        })
    }
}

fn server(load: &AdHocLoad<'_>) -> impl Serialize {
    let external = load.target.external.as_ref();
    let intents = load.target.config.intents.iter();
    let settings = intents.map(|(name, value)| (name, value.to_string()));
    object! {
        build: external.is_none().then_some(&load.target.build.id),
        address: external.map(|external| external.address.to_string()),
        version: load.server_version,
        settings: settings.collect::<BTreeMap<_, _>>(),
    }
}

/// The work that was asked of it.
fn work(load: &AdHocLoad<'_>) -> impl Serialize {
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
    object! {
        workload: &own.workload.name,
        parameters: &own.parameters,
        engine: load.target.engine,
        tables: load.dataset.tables,
        rows: load.dataset.rows,
        protocol: load.target.protocol,
        clients: own.clients,
        time_s: time_s,
        operations: operations,
        warmup_s: step.warmup_ms as f64 / 1e3,
        rate: open.map(|(rate, _)| rate.as_f64()),
        arrivals: open.map(|(_, spacing)| spacing),
        think_us: think.map(|think| think.mean_us),
        think_spacing: think.map(|think| think.spacing),
        ramp_s: step.ramp_ms as f64 / 1e3,
        reconnect_every: own.reconnect_every,
        seed: load.seed,
    }
}

fn figures(summary: &Summary<'_>, totals: &Totals<'_>) -> impl Serialize {
    let schedule = summary.schedule();
    let own = summary.load.outcome.map(|outcome| outcome.groups.own());
    let statements = own.map_or(&[][..], |own| &own.statements);
    object! {
        seconds: thousandths(totals.seconds),
        operations: totals.operations,
        queries: totals.queries,
        operations_per_second: totals.operations_per_second.map(thousandths),
        queries_per_second: totals.queries_per_second.map(thousandths),
        service_us: totals.service.as_deref().map(times),
        response_us: schedule.map(|schedule| decoded(&schedule.response)),
        schedule: schedule.map(|schedule| object! {
            planned: schedule.planned,
            backlog: schedule.backlog,
            left: schedule.left,
            error_us: decoded(&schedule.error),
        }),
        statements: statements.iter().map(statement).collect::<Vec<_>>(),
        error_count: totals.errors,
        errors: own.map_or(&[][..], |own| &own.errors),
        client: summary.load.outcome.map(client),
        server_cpu_us_per_query: summary.server_us_per_query().map(thousandths),
    }
}

fn statement(statement: &StatementOutcome) -> impl Serialize {
    object! {
        name: &statement.name,
        count: statement.count,
        rows: statement.rows,
        affected: statement.affected,
        unexpected: statement.unexpected,
        service_us: decoded(&statement.histogram),
    }
}

/// The use of processors by the load generator.
fn client(outcome: &StepOutcome) -> impl Serialize {
    let threads = outcome.thread_use.iter().map(|thread| {
        let share = |ns| thousandths(share(ns, thread));
        object! {
            cpu_share: share(thread.cpu_ns),
            run_queue_share: thread.run_queue_ns.map(share),
        }
    });
    object! {
        threads: outcome.threads,
        backend: outcome.backend,
        scheduling: outcome.scheduling,
        user_us: outcome.client_user_ns as f64 / 1e3,
        system_us: outcome.client_system_ns as f64 / 1e3,
        cpu_us_per_query: client_us_per_query(outcome).map(thousandths),
        thread_use: threads.collect::<Vec<_>>(),
    }
}

fn interval(interval: &Interval, scheduled: bool) -> impl Serialize + use<> {
    let seconds = |ns: u64| thousandths(ns as f64 / 1e9);
    let us = |ns: u64| ns as f64 / 1e3;
    object! {
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

fn decoded(histogram: &[u8]) -> Option<impl Serialize + use<>> {
    decode(histogram).ok().as_ref().map(times)
}

/// Times in microseconds.
fn times(histogram: &NsHistogram) -> impl Serialize + use<> {
    let times = Times::of(histogram);
    object! {
        count: histogram.len(),
        mean: times.map(|times| times.mean),
        p50: times.and_then(|times| times.p50),
        p90: times.and_then(|times| times.p90),
        p95: times.and_then(|times| times.p95),
        p99: times.and_then(|times| times.p99),
        p999: times.and_then(|times| times.p999),
        max: times.map(|times| times.max),
    }
}
