//! Values of metrics and raw counts, one for each trial.

use prony_model::{Counter, DebtKind, Metric, TrialKind};
use prony_store::OutcomeRow;

use super::{Measurement, Outcome, Tables, Text};
use crate::analysis::costs as of_step;
use crate::analysis::group::GroupId;
use crate::analysis::measurement;
use crate::analysis::trial_costs::TrialCosts;
use crate::error::ReportError;

/// A value of a metric, or the reason why there is none.
struct Reading {
    metric: Metric,
    amount: Result<f64, String>,
    source: Option<Text<'static>>,
}

impl Tables<'_> {
    /// The values of all metrics of all done trials, by target, step, group of clients, kind of trial
    /// and block. A metric without a value has a row with the reason.
    pub fn measurements(&self) -> impl Iterator<Item = Measurement<'_>> {
        let targets = 0..self.plan().targets.len();
        targets.flat_map(move |target| {
            GroupId::all(self.plan()).flat_map(move |group| {
                let timed = &self.analysis.cells.at(group, target).measurements;
                let timed = timed.iter();
                let timed = timed.flat_map(move |measured| self.timed(group, target, measured));
                let own = group.is_own();
                let costs = || self.analysis.costs.cell(group.step, target);
                let counted = own.then(|| &costs().trials.counted).into_iter().flatten();
                timed.chain(counted.flat_map(move |costs| self.counting(group, target, costs)))
            })
        })
    }

    /// The rows of a timed trial.
    fn timed(
        &self,
        group: GroupId,
        target: usize,
        measured: &measurement::Measurement,
    ) -> Vec<Measurement<'_>> {
        let blank = Measurement {
            block: measured.block_number().into(),
            backend: measured.row().backend.name().into(),
            warnings: measured.warnings.len() as u64,
            ..self.blank(group, target, TrialKind::Timed)
        };
        let figures = Metric::figures().map(|metric| Reading {
            metric,
            amount: measured.reading(metric).map_err(|why| why.to_string()),
            source: None,
        });
        let doubtful = self.analysis.cells.at(group, target).has_warnings();
        let figures = figures.map(|reading| self.row(&blank, group, doubtful, reading));
        let mut rows: Vec<Measurement<'_>> = figures.collect();
        let cell = self.analysis.costs.cell(group.step, target);
        let mut trials = cell.trials.timed.iter();
        let costs = trials.find(|costs| costs.block == measured.block_number());
        if let Some(costs) = costs.filter(|_| group.is_own() && self.analysis.costs.sampled) {
            rows.extend(readings(costs).map(|reading| {
                let doubtful = cell.is_doubtful(reading.metric);
                self.row(&blank, group, doubtful, reading)
            }));
            rows.extend(self.counters(&blank, group, costs));
        }
        rows.extend(measured.debt.iter().map(|(kind, amount)| Measurement {
            metric: debt_metric(*kind).into(),
            value: Some(*amount as f64),
            unit: Some(kind.unit().into()),
            better: "lower".into(),
            ..blank.clone()
        }));
        rows
    }

    /// The rows of a counting trial: what it was run for.
    fn counting(
        &self,
        group: GroupId,
        target: usize,
        costs: &TrialCosts,
    ) -> impl Iterator<Item = Measurement<'_>> {
        let blank = Measurement {
            block: costs.block.into(),
            backend: costs.backend().name().into(),
            ..self.blank(group, target, TrialKind::Counting)
        };
        let cell = self.analysis.costs.cell(group.step, target);
        let counts = |reading: &Reading| reading.metric.facts().taken == TrialKind::Counting;
        let readings: Vec<Reading> = readings(costs).filter(counts).collect();
        readings.into_iter().map(move |reading| {
            let doubtful = cell.is_doubtful(reading.metric);
            self.row(&blank, group, doubtful, reading)
        })
    }

    /// Growth of the server's own counters, for each operation or row.
    fn counters<'a>(
        &'a self,
        blank: &Measurement<'a>,
        group: GroupId,
        costs: &TrialCosts,
    ) -> Vec<Measurement<'a>> {
        let per = of_step::unit(self.plan(), group.step).name();
        let grown = self.grown.iter().filter(|_| costs.units > 0.0);
        let row = |counter: &Counter| {
            let growth = self.analysis.costs.growth(costs, counter)?;
            Some(Measurement {
                metric: counter.to_string().into(),
                value: Some(growth as f64 / costs.units),
                per: Some(per.into()),
                source: Some(counter.to_string().into()),
                ..blank.clone()
            })
        };
        grown.filter_map(row).collect()
    }

    fn blank(&self, group: GroupId, target: usize, kind: TrialKind) -> Measurement<'_> {
        Measurement {
            run: self.run_text(),
            target: self.target_name(target),
            step: self.step_name(group.step),
            clients: self.step_clients(group.step),
            beside: self.beside(group),
            block: 0,
            trial_kind: kind.name().into(),
            metric: "".into(),
            value: None,
            unit: None,
            per: None,
            better: "neither".into(),
            source: None,
            backend: "".into(),
            warnings: 0,
            doubtful: false,
            why_null: None,
        }
    }

    fn row<'a>(
        &'a self,
        blank: &Measurement<'a>,
        group: GroupId,
        doubtful: bool,
        reading: Reading,
    ) -> Measurement<'a> {
        let facts = reading.metric.facts();
        let (value, why_null) = match reading.amount {
            Ok(amount) => (Some(amount), None),
            Err(why) => (None, Some(why.into())),
        };
        Measurement {
            metric: facts.id.into(),
            value,
            unit: Some(facts.unit.into()),
            per: self.per(group.step, reading.metric),
            better: facts.better.name().into(),
            source: reading.source,
            doubtful,
            why_null,
            ..blank.clone()
        }
    }

    /// The raw counts of all done trials: the timed ones, then the counting ones, each by block,
    /// target, step and group of clients.
    ///
    /// # Errors
    /// If the result file can't be read.
    pub fn outcomes(&self) -> Result<Vec<Outcome<'_>>, ReportError> {
        let timed = self.store.outcomes()?;
        let counted = self.store.counted()?;
        let all = timed.into_iter().chain(counted);
        Ok(all.map(|row| self.outcome(&row)).collect())
    }

    fn outcome(&self, row: &OutcomeRow) -> Outcome<'_> {
        let (group, target) = (group_of(row), row.planned.target);
        let is_timed = row.planned.kind == TrialKind::Timed;
        let measurements = &self.analysis.cells.at(group, target).measurements;
        let mut measurements = measurements.iter().filter(|_| is_timed);
        let schedule = measurements.find(|measured| measured.row().trial == row.trial);
        let schedule = schedule.and_then(|measured| measured.schedule);
        Outcome {
            run: self.run_text(),
            target: self.target_name(target),
            step: self.step_name(row.step),
            clients: self.step_clients(row.step),
            beside: self.beside(group),
            block: u64::from(row.planned.block) + 1,
            trial_kind: row.planned.kind.name().into(),
            connections: row.clients.into(),
            operations: row.operations,
            queries: row.queries,
            busy_ns: is_timed.then_some(row.busy_ns),
            errors: row.errors,
            unexpected: row.unexpected,
            planned: schedule.map(|schedule| schedule.planned),
            backlog: schedule.map(|schedule| schedule.backlog),
            left_undone: schedule.map(|schedule| schedule.left),
            client_cpu_us: (row.client_user_ns + row.client_system_ns) as f64 / 1e3,
            threads: row.threads.into(),
            backend: row.backend.name().into(),
            scheduling: row.scheduling.name().into(),
        }
    }
}

/// The group of clients of a row.
pub(super) const fn group_of(row: &OutcomeRow) -> GroupId {
    GroupId {
        step: row.step,
        position: row.group,
    }
}

/// Every metric of costs.
fn readings(costs: &TrialCosts) -> impl Iterator<Item = Reading> {
    Metric::costs().filter_map(|metric| {
        let value = costs.values.get(metric);
        let amount = match value {
            Some(value) => Ok(value.amount),
            None => Err(costs.without.get(metric)?.to_string()),
        };
        let counters = value.map_or(&[][..], |value| value.from);
        let counters: Vec<String> = counters.iter().map(ToString::to_string).collect();
        let source = (!counters.is_empty()).then(|| counters.join(" + ").into());
        Some(Reading {
            metric,
            amount,
            source,
        })
    })
}

fn debt_metric(kind: DebtKind) -> String {
    let word = crate::figures::word(&kind);
    format!("debt.{}", word.replace('-', "_"))
}
