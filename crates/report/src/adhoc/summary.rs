//! The end of a load: its figures, and the conditions that must be known beside them.

use std::borrow::Cow;

use prony_model::{Schedule, StepOutcome, ThreadUse};

use super::AdHocLoad;
use crate::analysis::conditions::{StepFacts, Stolen, conditions};
use crate::analysis::scheduling_groups;
use crate::analysis::times::{NsHistogram, decode};

/// A load and its figures.
#[derive(Debug)]
pub struct Summary<'a> {
    pub(super) load: AdHocLoad<'a>,
    /// `None` where nothing was measured.
    pub(super) totals: Option<Totals<'a>>,
    pub(super) warnings: Vec<Warning>,
}

/// The figures of a load: of the whole, or of its intervals until it was stopped.
#[derive(Debug)]
pub(super) struct Totals<'a> {
    /// Mean busy time of a client, which rates are made of.
    pub(super) seconds: f64,
    pub(super) operations: u64,
    pub(super) queries: u64,
    pub(super) operations_per_second: Option<f64>,
    pub(super) queries_per_second: Option<f64>,
    /// Errors of all codes.
    pub(super) errors: u64,
    /// Send to last byte, of whole operations.
    pub(super) service: Option<Cow<'a, NsHistogram>>,
}

/// A condition that should be known beside the figures.
#[derive(Debug, serde::Serialize)]
pub(super) struct Warning {
    pub(super) code: &'static str,
    pub(super) text: String,
}

impl<'a> Summary<'a> {
    /// Derives the figures of a load.
    pub fn of(load: &AdHocLoad<'a>) -> Self {
        Self {
            load: *load,
            totals: match load.outcome {
                Some(outcome) => Some(Totals::of(outcome)),
                None => Totals::so_far(load),
            },
            warnings: load
                .outcome
                .map_or_else(Vec::new, |outcome| warnings(load, outcome)),
        }
    }

    /// The schedule as it was kept.
    pub(super) fn schedule(&self) -> Option<&'a Schedule> {
        self.load.outcome?.groups.own().schedule.as_ref()
    }

    /// Processor time of the server, where it is known.
    pub(super) fn server_us_per_query(&self) -> Option<f64> {
        us_per_query(self.load.outcome?, self.load.server_cpu_ns?)
    }
}

impl<'a> Totals<'a> {
    fn of(outcome: &StepOutcome) -> Self {
        let own = outcome.groups.own();
        Self {
            seconds: own.busy_seconds(),
            operations: own.operations,
            queries: own.queries,
            operations_per_second: own.operations_per_second(),
            queries_per_second: own.queries_per_second(),
            errors: own.errors.iter().map(|error| error.count).sum(),
            service: decode(&own.histogram).ok().map(Cow::Owned),
        }
    }

    /// `None` where there is no interval.
    fn so_far(load: &AdHocLoad<'a>) -> Option<Self> {
        let intervals = &load.intervals.all;
        let seconds = intervals.last()?.end_ns as f64 / 1e9;
        let operations = intervals.iter().map(|interval| interval.operations).sum();
        let queries = intervals.iter().map(|interval| interval.queries).sum();
        let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        Some(Self {
            seconds,
            operations,
            queries,
            operations_per_second: rate(operations),
            queries_per_second: rate(queries),
            errors: intervals.iter().map(|interval| interval.errors).sum(),
            service: load.intervals.service.as_ref().map(Cow::Borrowed),
        })
    }
}

/// Processor time of the load generator.
pub(super) fn client_us_per_query(outcome: &StepOutcome) -> Option<f64> {
    us_per_query(outcome, outcome.client_user_ns + outcome.client_system_ns)
}

fn us_per_query(outcome: &StepOutcome, ns: u64) -> Option<f64> {
    let queries = outcome.groups.own().queries;
    (queries > 0).then(|| ns as f64 / 1e3 / queries as f64)
}

/// A time of a thread as a share of the measured time.
pub(super) fn share(ns: u64, thread: &ThreadUse) -> f64 {
    ns as f64 / thread.wall_ns.max(1) as f64
}

/// The conditions that must be known beside the figures.
fn warnings(load: &AdHocLoad<'_>, outcome: &StepOutcome) -> Vec<Warning> {
    let schedules = outcome.groups.iter().map(|group| group.schedule.as_ref());
    let facts = StepFacts {
        thread_use: &outcome.thread_use,
        schedules: &schedules.collect::<Vec<_>>(),
        stolen: match load.samples {
            [start, .., end] => Stolen::between(start, end),
            _ => None,
        },
        client_host: None,
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
    let group = load.scheduling_groups.and_then(scheduling_groups::note);
    let group = group.map(|text| Warning {
        code: scheduling_groups::CODE,
        text,
    });
    conditions.chain(unexpected).chain(group).collect()
}
