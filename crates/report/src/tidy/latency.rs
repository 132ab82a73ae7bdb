//! Histograms and reporting periods, which are read trial by trial.

use std::collections::BTreeMap;

use prony_model::Schedule;
use prony_store::{OutcomeRow, TrialId};

use super::measurements::group_of;
use super::{Interval, Latency, Tables};
use crate::analysis::times;
use crate::error::{HistogramError, ReportError};

/// Kinds of times, as the column `kind` names them.
const SERVICE: &str = "service";
const RESPONSE: &str = "response";
const SCHEDULE_ERROR: &str = "schedule_error";

/// Schedules by trial, step and group.
type Schedules = BTreeMap<(TrialId, usize, usize), Schedule>;

impl Tables<'_> {
    /// The histograms of all done timed trials, each group of clients of each step at once, by
    /// block, target, step and group. Whole operations come first, then each statement.
    pub fn latency(&self) -> impl Iterator<Item = Result<Vec<Latency<'_>>, ReportError>> {
        let read = || -> Result<(Vec<OutcomeRow>, Schedules), ReportError> {
            let schedules = self.store.schedules()?.into_iter();
            let schedules = schedules.map(|row| ((row.trial, row.step, row.group), row.schedule));
            Ok((self.store.outcomes()?, schedules.collect()))
        };
        let (outcomes, schedules, error) = match read() {
            Ok((outcomes, schedules)) => (outcomes, schedules, None),
            Err(error) => (Vec::new(), Schedules::new(), Some(Err(error))),
        };
        let rows = outcomes.into_iter();
        let rows = rows.map(move |row| self.of_outcome(&row, &schedules));
        error.into_iter().chain(rows)
    }

    fn of_outcome(
        &self,
        row: &OutcomeRow,
        schedules: &Schedules,
    ) -> Result<Vec<Latency<'_>>, ReportError> {
        let (trial, step, group) = (row.trial, row.step, row.group);
        let histogram = |position| self.store.histogram(trial, step, group, position);
        let mut rows = Vec::new();
        let mut add = |kind, position, statement, bytes: Option<Vec<u8>>| {
            let Some(bytes) = bytes else {
                return Ok(());
            };
            let buckets = self.buckets(row, (kind, position, statement), &bytes)?;
            rows.extend(buckets);
            Ok::<(), ReportError>(())
        };
        add(SERVICE, 0, None, histogram(0)?)?;
        if let Some(schedule) = schedules.get(&(trial, step, group)) {
            add(RESPONSE, 0, None, Some(schedule.response.clone()))?;
            add(SCHEDULE_ERROR, 0, None, Some(schedule.error.clone()))?;
        }
        for statement in self.store.statements(trial, step, group)? {
            let bytes = histogram(statement.position)?;
            add(SERVICE, statement.position, Some(statement.name), bytes)?;
        }
        Ok(rows)
    }

    fn buckets(
        &self,
        row: &OutcomeRow,
        (kind, position, statement): (&'static str, usize, Option<String>),
        bytes: &[u8],
    ) -> Result<Vec<Latency<'_>>, HistogramError> {
        let target = row.planned.target;
        let block = row.planned.block + 1;
        let histogram = times::decode(bytes).map_err(|problem| HistogramError {
            target: self.plan().targets[target].name.clone(),
            step: self.plan().steps[row.step].name.clone(),
            block,
            problem,
        })?;
        let bucket = |(nanoseconds, count): (u64, u64)| Latency {
            run: self.run_text(),
            target: self.target_name(target),
            step: self.step_name(row.step),
            clients: self.step_clients(row.step),
            beside: self.beside(group_of(row)),
            block: block.into(),
            position: position as u64,
            kind: kind.into(),
            value_us: nanoseconds as f64 / 1e3,
            statement: statement.clone().map(Into::into),
            count,
        };
        Ok(times::buckets(&histogram).map(bucket).collect())
    }

    /// The reporting periods of all done timed trials, one group of clients in a step of a trial at
    /// once, by block, target, step and group.
    pub fn intervals(&self) -> impl Iterator<Item = Result<Vec<Interval<'_>>, ReportError>> {
        let (outcomes, error) = match self.store.outcomes() {
            Ok(outcomes) => (outcomes, None),
            Err(error) => (Vec::new(), Some(Err(error.into()))),
        };
        let all = outcomes.into_iter().map(|row| self.of_periods(&row));
        error.into_iter().chain(all)
    }

    fn of_periods(&self, row: &OutcomeRow) -> Result<Vec<Interval<'_>>, ReportError> {
        let group = &self.plan().steps[row.step].groups[row.group];
        let is_scheduled = group.pace.is_scheduled();
        let periods = self.store.intervals(row.trial, row.step, row.group)?;
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let rows = periods.into_iter().enumerate().map(|(position, period)| {
            let done = period.operations > 0;
            let time = |nanoseconds: u64| done.then_some(nanoseconds as f64 / 1e3);
            Interval {
                run: self.run_text(),
                target: self.target_name(row.planned.target),
                step: self.step_name(row.step),
                clients: self.step_clients(row.step),
                beside: self.beside(group_of(row)),
                block: u64::from(row.planned.block) + 1,
                position: position as u64 + 1,
                start_s: seconds(period.start_ns),
                end_s: seconds(period.end_ns),
                operations: period.operations,
                queries: period.queries,
                errors: period.errors,
                service_time_p99_us: time(period.latency_ns_p99),
                service_time_max_us: time(period.latency_ns_max),
                response_time_p99_us: time(period.response_ns_p99).filter(|_| is_scheduled),
                backlog: is_scheduled.then_some(period.backlog),
            }
        });
        Ok(rows.collect())
    }
}
