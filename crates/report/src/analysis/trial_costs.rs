//! The costs of one trial at one step, from its samples and counts.

use prony_model::{
    Backend, Beside, Counter, CpuDisagreement, Effect, Formula, Gap, Metric, Moment, NoValue, Pace,
    Plan, Source, StepCounts, ThreadUse, Timing, Value, cpu_disagreement,
};
use prony_store::{OutcomeRow, StatementRow};

use crate::analysis::by_metric::ByMetric;
use crate::analysis::pairing::InBlock;
use crate::analysis::periods::{self, Period};
use crate::analysis::readings::Readings;
use crate::analysis::replicates::Replicates;

/// The costs of one trial at one step.
#[derive(Debug, Clone)]
pub(crate) struct TrialCosts {
    /// Counted from 1.
    pub(crate) block: u32,
    /// What the block repeats: see [`Replicates::at`].
    replicate: u32,
    pub(crate) operations: u64,
    /// Statements answered inside the operations.
    pub(crate) queries: u64,
    /// Operations, or rows in steps that scan.
    pub(crate) units: f64,
    pub(crate) values: ByMetric<Value>,
    /// The reasons why the other metrics have none.
    pub(crate) without: ByMetric<NoValue>,
    /// By how much the server's own counters grew.
    pub(crate) status: Growths,
    /// Sizes at the end in bytes, by the places of their counters.
    pub(crate) sizes: Vec<(usize, u64)>,
    /// Empty unless they were asked for.
    pub(crate) periods: Vec<Period>,
    pub(crate) disagreement: Option<CpuDisagreement>,
    pub(crate) gaps: Vec<(Moment, Gap)>,
    /// Whether there are any samples.
    pub(crate) is_sampled: bool,
    /// The kernel interface that carried the connections.
    backend: Backend,
}

/// Growth of counters, by their places in the table of the file. Most stand still.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growths {
    /// A bit for each place, set if the growth is known.
    known: Vec<u64>,
    /// Growths above 0, ascending by place.
    grown: Vec<(usize, u64)>,
}

impl Growths {
    fn insert(&mut self, place: usize, growth: u64) {
        self.known[place / 64] |= 1 << (place % 64);
        if growth > 0 {
            self.grown.push((place, growth));
        }
    }

    /// The growth of a counter. `None` if it is not known.
    pub(crate) fn get(&self, place: usize) -> Option<u64> {
        let word = self.known.get(place / 64)?;
        let is_known = word >> (place % 64) & 1 == 1;
        is_known.then(|| {
            let found = self.grown.binary_search_by_key(&place, |(place, _)| *place);
            found.map_or(0, |index| self.grown[index].1)
        })
    }

    /// Growths above 0, ascending by place.
    pub(crate) fn grown(&self) -> &[(usize, u64)] {
        &self.grown
    }
}

impl InBlock for TrialCosts {
    fn block(&self) -> Option<u32> {
        Some(self.block)
    }

    fn replicate(&self) -> Option<u32> {
        Some(self.replicate)
    }
}

impl TrialCosts {
    /// The costs of a trial with these counts and samples.
    pub(crate) fn of(
        row: &OutcomeRow,
        counts: &StepCounts,
        samples: &Readings<'_>,
        periods: bool,
    ) -> Self {
        Self {
            queries: row.queries,
            periods: if periods {
                periods::of(samples)
            } else {
                Vec::new()
            },
            ..Self::read(
                row.planned.block,
                row.backend,
                (counts, samples),
                Metric::costs(),
            )
        }
    }

    /// The costs of loading the dataset in a trial of a block, counted from 0, per row: those that
    /// the server's counters tell, because nobody counts what the load generator does meanwhile.
    pub(crate) fn of_load(plan: &Plan, block: u32, samples: &Readings<'_>) -> Self {
        let rows = plan.dataset.rows_total();
        let counts = StepCounts {
            operations: rows,
            scanned_rows: None,
            clients: 1,
            busy_ns: 0,
            client_cpu_ns: 0,
            client_wait_ns: None,
            connects: false,
            changed_rows: rows,
            row_bytes: plan.dataset.schema.row_bytes(),
            table_rows: None,
            pace: Pace::default(),
            beside: Beside::Nobody,
            processors: None,
        };
        let counted = |metric: &Metric| !metric.facts().how.counters().is_empty();
        // Loads wait for one answer after the other, and are compared with each other only.
        let alike = Backend::Epoll;
        Self::read(
            block,
            alike,
            (&counts, samples),
            Metric::costs().filter(counted),
        )
    }

    /// These metrics of counts and samples, without periods, in a block counted from 0.
    fn read(
        block: u32,
        backend: Backend,
        (counts, samples): (&StepCounts, &Readings<'_>),
        metrics: impl Iterator<Item = Metric>,
    ) -> Self {
        let all = metrics.map(|metric| (metric, metric.value(counts, samples)));
        let all: Vec<(Metric, Result<Value, NoValue>)> = all.collect();
        let values = all.iter();
        let values = values.filter_map(|(metric, value)| Some((*metric, (*value).ok()?)));
        let without = all.iter();
        let without = without.filter_map(|(metric, value)| Some((*metric, (*value).err()?)));
        let gaps = samples.samples.iter().flat_map(|sample| {
            let gaps = sample.gaps.iter().cloned();
            gaps.map(|gap| (sample.moment, gap))
        });
        Self {
            block: block + 1,
            replicate: block,
            operations: counts.operations,
            queries: 0,
            units: counts.operations as f64 * counts.scanned_rows.unwrap_or(1) as f64,
            values: values.collect(),
            without: without.collect(),
            status: if counts.beside == Beside::Uneven {
                Growths::default()
            } else {
                status(samples)
            },
            sizes: sizes(samples),
            periods: Vec::new(),
            disagreement: cpu_disagreement(samples),
            gaps: gaps.collect(),
            is_sampled: !samples.samples.is_empty(),
            backend,
        }
    }

    /// The same as a part of what its block repeats.
    pub(crate) fn in_replicate(self, replicates: &Replicates) -> Self {
        Self {
            replicate: replicates.at(self.block - 1),
            ..self
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
        self.values.get(metric).map(|value| value.amount)
    }

    /// Returns `true` if an operation has several statements, not counting repetitions of a few.
    pub(crate) fn has_several_queries(&self) -> bool {
        self.queries as f64 > 1.01 * self.operations as f64
    }

    /// The amount of a metric for each query in place of each operation. `None` for metrics that are of
    /// neither.
    pub(crate) fn amount_per_query(&self, metric: Metric) -> Option<f64> {
        let amount = self.amount(metric)?;
        let queries = self.queries as f64 / self.operations as f64;
        let is_known = queries > 0.0 && queries.is_finite();
        match (metric, metric.facts().how) {
            _ if !is_known => None,
            (Metric::Rate | Metric::PerCpuSecond, _) => Some(amount * queries),
            (_, Formula::PerUnit { .. }) => Some(amount / queries),
            _ => None,
        }
    }

    /// The counters that a metric was computed from.
    fn counters(&self, metric: Metric) -> &'static [Counter] {
        self.values.get(metric).map_or(&[][..], |value| value.from)
    }
}

/// The counts of a step of a trial that metrics are made of.
pub(crate) fn counts(
    plan: &Plan,
    row: &OutcomeRow,
    (threads, processors): (&[ThreadUse], Option<u32>),
    statements: &[StatementRow],
    beside: Beside,
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
        processors,
        connects: step.timing == Timing::WholeRun || step.own().reconnect_every.is_some(),
        changed_rows: changing.map(|statement| statement.affected).sum(),
        row_bytes: plan.dataset.schema.row_bytes(),
        table_rows: table_rows(plan, row.step),
        pace: step.own().pace,
        beside,
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
fn status(samples: &Readings<'_>) -> Growths {
    let counters = samples.table.counters.all();
    let mut growths = Growths {
        known: vec![0; counters.len().div_ceil(64)],
        grown: Vec::new(),
    };
    for &place in &samples.table.own {
        if let Ok(growth) = samples.growth(place, counters[place].source) {
            growths.insert(place, growth);
        }
    }
    growths
}

/// Sizes of files and memory at the end.
fn sizes(samples: &Readings<'_>) -> Vec<(usize, u64)> {
    let end = samples.at(Moment::End);
    let value = |&place: &usize| Some((place, end?.value(place)?));
    samples.table.sizes.iter().filter_map(value).collect()
}
