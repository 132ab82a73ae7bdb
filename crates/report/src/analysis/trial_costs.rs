//! The costs of one trial at one step, from its samples and counts.

use std::collections::BTreeMap;

use prony_model::{
    Backend, Counter, CpuDisagreement, Effect, Gap, Metric, Moment, NoValue, Plan, Source,
    StepCounts, StepSamples, ThreadUse, Timing, Value, cpu_disagreement,
};
use prony_store::{OutcomeRow, StatementRow};

use crate::analysis::pairing::InBlock;
use crate::analysis::periods::{self, Period};

/// The costs of one trial at one step.
#[derive(Debug, Clone)]
pub(crate) struct TrialCosts {
    /// Counted from 1.
    pub(crate) block: u32,
    pub(crate) operations: u64,
    /// Operations, or rows in steps that scan.
    pub(crate) units: f64,
    pub(crate) values: BTreeMap<Metric, Value>,
    /// The reasons why the other metrics have none.
    pub(crate) without: BTreeMap<Metric, NoValue>,
    /// By how much the server's own counters grew.
    pub(crate) status: BTreeMap<Counter, u64>,
    /// Sizes at the end, in bytes.
    pub(crate) sizes: BTreeMap<Counter, u64>,
    pub(crate) periods: Vec<Period>,
    pub(crate) disagreement: Option<CpuDisagreement>,
    pub(crate) gaps: Vec<(Moment, Gap)>,
    /// Whether there are any samples.
    pub(crate) is_sampled: bool,
    backend: Backend,
}

impl InBlock for TrialCosts {
    fn block(&self) -> Option<u32> {
        Some(self.block)
    }
}

impl TrialCosts {
    /// The costs of a trial with these counts and samples.
    pub(crate) fn of(row: &OutcomeRow, counts: &StepCounts, samples: &StepSamples) -> Self {
        let mut values = BTreeMap::new();
        let mut without = BTreeMap::new();
        for metric in Metric::costs() {
            match metric.value(counts, samples) {
                Ok(value) => drop(values.insert(metric, value)),
                Err(why) => drop(without.insert(metric, why)),
            }
        }
        let gaps = samples.0.iter().flat_map(|sample| {
            let gaps = sample.gaps.iter().cloned();
            gaps.map(|gap| (sample.moment, gap))
        });
        Self {
            block: row.planned.block + 1,
            operations: row.operations,
            units: row.operations as f64 * counts.scanned_rows.unwrap_or(1) as f64,
            values,
            without,
            status: if counts.accompanied {
                BTreeMap::new()
            } else {
                status(samples)
            },
            sizes: sizes(samples),
            periods: periods::of(samples),
            disagreement: cpu_disagreement(samples),
            gaps: gaps.collect(),
            is_sampled: !samples.0.is_empty(),
            backend: row.backend,
        }
    }

    /// Returns `true` if `metric` was measured alike here and there: over the same backend,
    /// instructions by the same counters, and storage by the same accounting. A device has other
    /// users too.
    pub(crate) fn compares_with(&self, other: &Self, metric: Metric) -> bool {
        let alike = match metric {
            Metric::Reads
            | Metric::ReadKb
            | Metric::Writes
            | Metric::WrittenKb
            | Metric::WriteAmplification => self.counters(metric) == other.counters(metric),
            _ => self.is_from(metric, Source::Valgrind) == other.is_from(metric, Source::Valgrind),
        };
        self.backend == other.backend && alike && !self.is_from(metric, Source::Device)
    }

    /// Returns `true` if a metric comes from a source.
    pub(crate) fn is_from(&self, metric: Metric, source: Source) -> bool {
        let mut counters = self.counters(metric).iter();
        counters.any(|counter| counter.source == source)
    }

    /// The kernel interface that carried the connections.
    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// The amount of a metric.
    pub(crate) fn amount(&self, metric: Metric) -> Option<f64> {
        self.values.get(&metric).map(|value| value.amount)
    }

    /// The counters that a metric was computed from.
    fn counters(&self, metric: Metric) -> &'static [Counter] {
        self.values.get(&metric).map_or(&[][..], |value| value.from)
    }
}

/// The counts of a step of a trial that metrics are made of.
pub(crate) fn counts(
    plan: &Plan,
    row: &OutcomeRow,
    threads: &[ThreadUse],
    statements: &[StatementRow],
) -> StepCounts {
    let step = &plan.steps[row.step];
    let writes = step.own().workload.effect != Effect::None;
    let changing = statements.iter().filter(|_| writes);
    StepCounts {
        operations: row.operations,
        scanned_rows: step.own().workload.scanned_rows(plan.dataset.rows),
        clients: row.clients,
        busy_ns: row.busy_ns,
        client_cpu_ns: row.client_user_ns + row.client_system_ns,
        // With several threads, clients of one went on while another waited.
        client_wait_ns: match threads {
            [alone] => alone.run_queue_ns,
            _ => None,
        },
        connects: step.timing == Timing::WholeRun || step.own().reconnect_every.is_some(),
        changed_rows: changing.map(|statement| statement.affected).sum(),
        row_bytes: plan.dataset.schema.row_bytes(),
        table_rows: table_rows(plan, row.step),
        pace: step.own().pace,
        accompanied: step.groups.len() > 1,
    }
}

/// Rows of all tables when the measured time of a step begins: those that were loaded, as long as
/// no step so far adds or deletes any, in its warm-up or after it.
fn table_rows(plan: &Plan, step: usize) -> Option<u64> {
    let keeps = |effect| matches!(effect, Effect::None | Effect::Rewrite);
    let steps = &plan.steps[..=step];
    let mut groups = steps.iter().flat_map(|step| &step.groups);
    groups
        .all(|group| keeps(group.workload.effect))
        .then(|| plan.dataset.rows * u64::from(plan.dataset.tables))
}

/// By how much the server's own counters grew. One that fell is a level, or began anew.
fn status(samples: &StepSamples) -> BTreeMap<Counter, u64> {
    let end = samples.at(Moment::End);
    let own = end.into_iter().flat_map(|sample| sample.values.keys());
    let own = own.filter(|counter| {
        matches!(counter.source, Source::Status | Source::Innodb) && !counter.is_level()
    });
    own.filter_map(|counter| Some((counter.clone(), samples.difference(counter).ok()?)))
        .collect()
}

/// Sizes of files and memory at the end.
fn sizes(samples: &StepSamples) -> BTreeMap<Counter, u64> {
    let end = samples.at(Moment::End);
    let values = end.into_iter().flat_map(|sample| &sample.values);
    values
        .filter(|(counter, _)| counter.source.is_level() && counter.name.ends_with("_bytes"))
        .map(|(counter, value)| (counter.clone(), *value))
        .collect()
}
