//! What operations cost the server: the metrics of every cell, their summaries and ratios.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{
    Backend, CostUnit, Counter, CpuDisagreement, Effect, Gap, Metric, Moment, NoValue, Plan,
    Source, StepCounts, StepSamples, Timing, TrialKind, Value, cpu_disagreement,
};
use prony_stats::{PairedRatio, Summary};
use prony_store::{OutcomeRow, Store, StoreError, TrialId};

use crate::doubts;
use crate::periods::{self, Period};
use crate::tables::MARK;

/// The costs of all cells.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// By step, then by target, in the order of the plan.
    cells: Vec<Vec<CellCosts>>,
    /// Whether anything was ever sampled: older files have nothing of this.
    pub(crate) sampled: bool,
    /// What trials, or the whole run, are without, and why.
    pub(crate) absences: Vec<(Option<TrialId>, Gap)>,
}

/// The costs of one cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellCosts {
    /// Of the trials that measure, in the order of the blocks.
    pub(crate) timed: Vec<Spent>,
    /// Of the trials that count.
    pub(crate) counted: Vec<Spent>,
    /// What the metrics amount to over the blocks.
    pub(crate) figures: BTreeMap<Metric, Figure>,
    /// Rows that an operation goes through in steps that scan, else 1.
    rows: f64,
    /// What the server counted, per operation or row.
    pub(crate) status: BTreeMap<Counter, Summary>,
    /// Conditions to be shown beside the figures, each a fragment without final period.
    pub(crate) notes: Vec<String>,
    /// The metrics that they are about.
    pub(crate) doubtful: BTreeSet<Metric>,
}

/// What one trial spent on a step.
#[derive(Debug, Clone)]
pub(crate) struct Spent {
    /// Counted from 1.
    pub(crate) block: u32,
    pub(crate) operations: u64,
    /// Operations, or rows in steps that scan.
    pub(crate) units: f64,
    pub(crate) values: BTreeMap<Metric, Value>,
    /// Why the other metrics have none.
    pub(crate) without: BTreeMap<Metric, NoValue>,
    /// By how much the server's own counters grew.
    pub(crate) status: BTreeMap<Counter, u64>,
    /// Sizes at the end, in bytes.
    pub(crate) sizes: BTreeMap<Counter, u64>,
    pub(crate) periods: Vec<Period>,
    pub(crate) disagreement: Option<CpuDisagreement>,
    pub(crate) gaps: Vec<(Moment, Gap)>,
    backend: Backend,
}

/// A metric over the blocks.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) summary: Summary,
    /// To the base, paired within blocks. `None` for the base.
    pub(crate) ratio: Option<PairedRatio>,
    /// From which trials it is.
    pub(crate) taken: TrialKind,
}

impl Costs {
    /// Reads and derives everything.
    pub(crate) fn read(store: &Store) -> Result<Self, StoreError> {
        let plan = store.plan();
        let mut costs = Self {
            cells: vec![vec![CellCosts::default(); plan.targets.len()]; plan.steps.len()],
            sampled: false,
            absences: store.absences()?,
        };
        let waits = waits(store)?;
        for row in store.outcomes()? {
            let spent = costs.spent(store, &waits, &row)?;
            costs.cells[row.step][row.planned.target].timed.push(spent);
        }
        for row in store.counted()? {
            let spent = costs.spent(store, &waits, &row)?;
            costs.cells[row.step][row.planned.target]
                .counted
                .push(spent);
        }
        if costs.sampled {
            costs.derive(plan);
        }
        Ok(costs)
    }

    /// Marks what follows from the time of operations in a cell about which something must be said.
    pub(crate) fn doubt_times(&mut self, step: usize, target: usize) {
        self.cells[step][target].doubtful.extend([
            Metric::RoundTrip,
            Metric::ServerOnly,
            Metric::ServerShare,
            Metric::Rate,
        ]);
    }

    pub(crate) fn cell(&self, step: usize, target: usize) -> &CellCosts {
        &self.cells[step][target]
    }

    /// The costs of a step, by target.
    pub(crate) fn step(&self, step: usize) -> &[CellCosts] {
        &self.cells[step]
    }

    /// All cells.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &CellCosts> {
        self.cells.iter().flatten()
    }

    /// Whether a metric comes from a source anywhere.
    pub(crate) fn has_from(&self, metric: Metric, source: Source) -> bool {
        let mut spent = self.cells().flat_map(|cell| &cell.timed);
        spent.any(|spent| spent.is_from(metric, source))
    }

    /// The server's own counters that grew anywhere.
    pub(crate) fn counters(&self) -> BTreeSet<&Counter> {
        let spent = self.cells().flat_map(|cell| &cell.timed);
        let grown = spent.flat_map(|spent| &spent.status);
        grown
            .filter(|(_, growth)| **growth > 0)
            .map(|(counter, _)| counter)
            .collect()
    }

    fn spent(
        &mut self,
        store: &Store,
        waits: &Waits,
        row: &OutcomeRow,
    ) -> Result<Spent, StoreError> {
        let samples = store.samples(row.trial, row.step)?;
        self.sampled |= !samples.0.is_empty();
        let counts = counts(store, waits, row)?;
        Ok(Spent::of(row, &counts, &samples))
    }

    /// Derives what the blocks amount to, and what relates targets to the base.
    fn derive(&mut self, plan: &Plan) {
        for (step, cells) in plan.steps.iter().zip(&mut self.cells) {
            let rows = step.workload.scanned_rows(plan.dataset.rows).unwrap_or(1);
            for cell in cells.iter_mut() {
                cell.rows = rows as f64;
                cell.summarise();
                cell.notes = doubts::notes(cell);
                cell.doubtful = doubts::metrics(cell);
                if step.workload.effect != Effect::None {
                    doubts::simulated_writes(cell);
                }
            }
            if step.warm_only {
                continue;
            }
            let base = cells[plan.base].clone();
            for (target, cell) in cells.iter_mut().enumerate() {
                if target != plan.base {
                    cell.compare(&base);
                }
            }
        }
    }
}

/// How long the generator waited for a processor, by trial and step, in nanoseconds.
type Waits = BTreeMap<(TrialId, usize), u64>;

/// Reads that for the steps that one thread drove.
fn waits(store: &Store) -> Result<Waits, StoreError> {
    let mut threads: BTreeMap<(TrialId, usize), Vec<Option<u64>>> = BTreeMap::new();
    for row in store.thread_uses()? {
        let waited = threads.entry((row.trial, row.step)).or_default();
        waited.push(row.used.run_queue_ns);
    }
    let alone = threads
        .into_iter()
        .filter_map(|(key, waited)| match waited[..] {
            [Some(ns)] => Some((key, ns)),
            _ => None,
        });
    Ok(alone.collect())
}

/// What the outcome and the plan say of a step of a trial.
fn counts(store: &Store, waits: &Waits, row: &OutcomeRow) -> Result<StepCounts, StoreError> {
    let plan = store.plan();
    let step = &plan.steps[row.step];
    let changes = step.workload.effect != Effect::None;
    let statements = if changes {
        store.statements(row.trial, row.step)?
    } else {
        Vec::new()
    };
    Ok(StepCounts {
        operations: row.operations,
        scanned_rows: step.workload.scanned_rows(plan.dataset.rows),
        clients: row.clients,
        busy_ns: row.busy_ns,
        client_cpu_ns: row.client_user_ns + row.client_system_ns,
        client_wait_ns: waits.get(&(row.trial, row.step)).copied(),
        connects: step.timing == Timing::WholeRun || step.reconnect_every.is_some(),
        changed_rows: statements.iter().map(|statement| statement.affected).sum(),
        row_bytes: plan.dataset.schema.row_bytes(),
        table_rows: table_rows(plan, row.step),
        pace: step.pace,
        accompanied: !step.beside.is_empty(),
    })
}

/// Rows of all tables when the measured time of a step begins: those that were loaded, as long as no
/// step so far adds or deletes any, in its warm-up or after it.
fn table_rows(plan: &Plan, step: usize) -> Option<u64> {
    let keeps = |effect| matches!(effect, Effect::None | Effect::Rewrite);
    let steps = &plan.steps[..=step];
    let mut effects = steps.iter().flat_map(|step| {
        let groups = step.beside.iter().map(|group| group.workload.effect);
        std::iter::once(step.workload.effect).chain(groups)
    });
    effects
        .all(keeps)
        .then(|| plan.dataset.rows * u64::from(plan.dataset.tables))
}

impl Spent {
    fn of(row: &OutcomeRow, counts: &StepCounts, samples: &StepSamples) -> Self {
        let mut values = BTreeMap::new();
        let mut without = BTreeMap::new();
        for metric in Metric::all() {
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
            backend: row.backend,
        }
    }

    /// Whether `metric` was measured alike here and there: over the same backend, instructions by
    /// the same counters, and storage by the same accounting.
    fn compares_with(&self, other: &Self, metric: Metric) -> bool {
        let alike = match metric {
            Metric::Reads
            | Metric::ReadKb
            | Metric::Writes
            | Metric::WrittenKb
            | Metric::WriteAmplification => self.from(metric) == other.from(metric),
            _ => self.is_from(metric, Source::Valgrind) == other.is_from(metric, Source::Valgrind),
        };
        self.backend == other.backend && alike
    }

    /// The counters that a metric was computed from.
    fn from(&self, metric: Metric) -> &'static [Counter] {
        self.values.get(&metric).map_or(&[][..], |value| value.from)
    }

    /// Whether a metric comes from a source.
    pub(crate) fn is_from(&self, metric: Metric, source: Source) -> bool {
        let mut counters = self.from(metric).iter();
        counters.any(|counter| counter.source == source)
    }
}

/// By how much the server's own counters grew. What fell is a level, or began anew.
fn status(samples: &StepSamples) -> BTreeMap<Counter, u64> {
    let Some(end) = samples.at(Moment::End) else {
        return BTreeMap::new();
    };
    let own = end.values.keys();
    let own = own.filter(|counter| {
        matches!(counter.source, Source::Status | Source::Innodb) && !counter.is_level()
    });
    own.filter_map(|counter| Some((counter.clone(), samples.difference(counter).ok()?)))
        .collect()
}

/// What takes room at the end.
fn sizes(samples: &StepSamples) -> BTreeMap<Counter, u64> {
    let end = samples.at(Moment::End);
    let values = end.into_iter().flat_map(|sample| &sample.values);
    values
        .filter(|(counter, _)| counter.source.is_level() && counter.name.ends_with("_bytes"))
        .map(|(counter, value)| (counter.clone(), *value))
        .collect()
}

impl CellCosts {
    /// The trials that a metric is taken from.
    pub(crate) fn of(&self, metric: Metric) -> (TrialKind, &[Spent]) {
        let has = |spent: &Spent| spent.values.contains_key(&metric);
        if metric.facts().taken == TrialKind::Counting && self.counted.iter().any(has) {
            (TrialKind::Counting, &self.counted)
        } else {
            (TrialKind::Timed, &self.timed)
        }
    }

    /// Its values, with what they are values of.
    pub(crate) fn values(&self, metric: Metric) -> impl Iterator<Item = (&Spent, &Value)> {
        let (_, spent) = self.of(metric);
        spent
            .iter()
            .filter_map(move |spent| Some((spent, spent.values.get(&metric)?)))
    }

    /// Whether so few operations have any of it that a ratio would be one of accidents.
    pub(crate) fn is_rare(&self, metric: Metric) -> bool {
        let figure = self.figures.get(&metric);
        let mean = figure.map_or(0.0, |figure| figure.summary.mean);
        self.per_operation(mean) < metric.facts().least
    }

    /// What costs so much per row, or per operation, costs per operation.
    pub(crate) fn per_operation(&self, cost: f64) -> f64 {
        cost * self.rows
    }

    /// What stands before a figure about which something must be said.
    pub(crate) fn mark(&self, metric: Metric) -> &'static str {
        if self.doubtful.contains(&metric) {
            MARK
        } else {
            ""
        }
    }

    /// The same of a ratio, which is as doubtful as what it is relative to.
    pub(crate) fn mark_beside(&self, base: Option<&Self>, metric: Metric) -> &'static str {
        match base {
            Some(base) if !base.mark(metric).is_empty() => MARK,
            _ => self.mark(metric),
        }
    }

    fn summarise(&mut self) {
        for metric in Metric::all() {
            let values: Vec<f64> = self.values(metric).map(|(_, value)| value.amount).collect();
            let (taken, _) = self.of(metric);
            if let Ok(summary) = Summary::of_amounts(&values) {
                let figure = Figure {
                    summary,
                    ratio: None,
                    taken,
                };
                self.figures.insert(metric, figure);
            }
        }
        let mut grown: BTreeMap<Counter, Vec<f64>> = BTreeMap::new();
        for spent in self.timed.iter().filter(|spent| spent.units > 0.0) {
            for (counter, growth) in &spent.status {
                let amounts = grown.entry(counter.clone()).or_default();
                amounts.push(*growth as f64 / spent.units);
            }
        }
        for (counter, amounts) in grown {
            if let Ok(summary) = Summary::of_amounts(&amounts) {
                self.status.insert(counter, summary);
            }
        }
    }

    fn compare(&mut self, base: &Self) {
        let ratios: Vec<(Metric, Option<PairedRatio>)> = self
            .figures
            .keys()
            .map(|&metric| (metric, self.ratio_to(base, metric)))
            .collect();
        for (metric, ratio) in ratios {
            if let Some(figure) = self.figures.get_mut(&metric) {
                figure.ratio = ratio;
            }
        }
    }

    /// A metric ÷ that of `base`, from the blocks in which both were measured alike. `None` also
    /// where one of both is too little to be compared.
    fn ratio_to(&self, base: &Self, metric: Metric) -> Option<PairedRatio> {
        if self.of(metric).0 != base.of(metric).0 || self.is_rare(metric) || base.is_rare(metric) {
            return None;
        }
        let pairs: Vec<(f64, f64)> = self
            .values(metric)
            .filter_map(|(mine, value)| {
                let mut others = base.values(metric);
                let (_, other) = others.find(|(other, _)| {
                    other.block == mine.block && mine.compares_with(other, metric)
                })?;
                // A device has other users too.
                if mine.is_from(metric, Source::Device) {
                    return None;
                }
                Some((value.amount, other.amount))
            })
            .collect();
        // No ratio of nothing to something.
        PairedRatio::of(&pairs).ok()
    }
}

/// What costs of a step are divided by.
pub(crate) fn unit(plan: &Plan, step: usize) -> CostUnit {
    let workload = &plan.steps[step].workload;
    match workload.scanned_rows(plan.dataset.rows) {
        Some(_) => CostUnit::Row,
        None => CostUnit::Operation,
    }
}
